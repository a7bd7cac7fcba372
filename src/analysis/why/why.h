/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Analysis of single late instances: the parts of their time, and the callbacks that blocked them.
 *
 * An instance is an arrival of a chain, or one run of a callback from the publication of its
 * message or the due time of its timer. An instance is a sequence of hops, alternating between
 * topics and callbacks:
 *
 *   callback |-- executing ---|                                                 |-- executing -|
 *            start            publish call  handed over               taken     start
 *                             |-- publish --|-- queued ...|-- transport -|-- take --|
 *   timer    due |-- queued ... |-- late --| start
 *
 * The time between "handed over" and "taken" (for a timer: "due" and "start") is waiting time. If
 * the thread that then received the message ran other callbacks, the instance was *queued* behind
 * these callbacks. In the remaining time, if another thread of the process ran a callback of the
 * same mutually exclusive group, the instance was queued behind that callback. The remaining time
 * is *transport* (for a timer: *late*), or is split into *dds*, *network* and *cache* where the
 * middleware was followed. CARET's events, which kymo also records, name the groups. Without them a
 * callback of the same node on another thread is the best guess, and the part is marked as
 * `is_assumed`.
 *
 * The parts of an instance add up to its latency, to the nanosecond.
 *
 * Context of all functions: not thread-safe; allocate.
 */
#ifndef KYMO_ANALYSIS_WHY_H
#define KYMO_ANALYSIS_WHY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/chains/chains.h"
#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "base/histogram.h"

/* ---- instances ---- */

struct why_hop {
	const struct model_callback *callback;		/* this is set, */
	const struct model_publisher *publisher;	/* or this */
	/* Of a publisher: the link to the callback before it. */
	enum chains_link link;
	enum chains_call call;
	/* Of a timer at the start of the instance; 0: unknown. */
	int64_t due_ns;
	struct chains_hop at;
};

struct why_instance {
	int64_t begin_ns, total_ns;	/* total_ns < 0: the instance does not exist */
	unsigned hops;
	struct why_hop *hop;
};

/**
 * why_of_arrival() - convert @arrival of @path, which must have its hops. @out: free it with
 * why_free().
 *
 * Return: 0, or -1: out of memory.
 */
int why_of_arrival(struct why_instance *out, const struct chains_path *path,
		   const struct chains_arrival *arrival);
void why_free(struct why_instance *instance);

/* ---- runs of callbacks as instances ---- */

#define WHY_CALLBACK_HOPS 2

struct why_run {
	int64_t total_ns;		/* -1: the run does not exist */
	bool is_startup;                /* model_is_startup() */
	struct why_hop hop[WHY_CALLBACK_HOPS];
	unsigned hops;
	struct why_awaits *awaits; /* of a coroutine, counted reference; NULL: none */
};

struct why_callback {
	struct histogram total;
	struct histogram startup;       /* of these, the runs that are start-up */
	struct why_run *worst;		/* what is not start-up first, then longest first */
	unsigned worst_count;
	struct why_run near, named, at;
};

struct why_callbacks_options {
	/* Number of longest runs to keep of each callback, at least 1. */
	unsigned worst;
	uint32_t near_index;		/* of this callback, keep also the run nearest to near_ns */
	int64_t near_ns;		/* 0: keep no such run */
	/* Keep also the run of each callback that received this publication; 0: none. */
	uint64_t named_id;
	int64_t at_ns; /* keep also the run of each callback that is under way then; 0: none */
	int64_t begin_ns, end_ns; /* only runs that start inside */
};

struct why_callbacks;

/** why_callbacks_create() - listen to @model. Return: 0, or -1 with @err. */
int why_callbacks_create(struct why_callbacks **callbacks, struct model *model,
			 const struct why_callbacks_options *options, struct kymo_err *err);

/** why_callbacks_forget() - forget all runs, for results of one interval after the other. */
void why_callbacks_forget(struct why_callbacks *callbacks);

/** why_callback() - the callback with this index in the model; NULL: it did not run. */
const struct why_callback *why_callback(const struct why_callbacks *callbacks, uint32_t index);

/** why_run_begin() - where @run begins, in ns; it ends total_ns later. */
int64_t why_run_begin(const struct why_run *run);

/** why_of_run() - convert @run. @out: free it with why_free(). Return: 0, or -1: out of memory. */
int why_of_run(struct why_instance *out, const struct why_run *run);

/* ---- other runs in the same time ---- */

struct why_window {
	int64_t begin_ns, end_ns;
};

struct why_others;

/**
 * why_others_create() - keep all runs that overlap one of the windows in @window.
 *
 * Return: 0, or -1 with @err.
 */
int why_others_create(struct why_others **others, struct model *model,
		      const struct why_window *window, unsigned windows, struct kymo_err *err);

/**
 * why_others_follow() - before the pass: keep also what overlaps a window that is found while the
 * trace is read
 * @latest: sets @window to the one found so far; it may replace it. Return: false: none
 */
void why_others_follow(struct why_others *others,
		       bool (*latest)(void *context, struct why_window *window), void *context);

/** why_others_are_whole() - after the pass: is all that overlaps the window of @latest kept? Else a
 * second pass is needed, with that window. */
bool why_others_are_whole(const struct why_others *others);

/* ---- parts ---- */

enum why_kind {
	WHY_EXECUTING, /* the callback runs, until it publishes or returns */
	WHY_PUBLISH,   /* from the publish call until the middleware has the message */
	WHY_TRANSPORT, /* on its way, and the trace does not say where */
	/* Only where the path inside the middleware is recorded (model_path.c), instead of
	 * transport: */
	WHY_DDS, /* the middleware writes it, or reads it */
	WHY_NETWORK,
	WHY_CACHE,  /* in the reader's cache, where the subscription can take it */
	WHY_QUEUED, /* waiting for the run of another callback */
	WHY_TAKE,   /* from the take to the start of the callback */
	WHY_LATE,   /* a timer was due, and no known run blocked it */
	WHY_CACHED, /* stored by one callback until another one published it */
	/* Only with kernel events, see why_cpu.h: */
	WHY_PREEMPTED, /* the thread could run, but another thread had the CPU */
	WHY_BLOCKED,   /* the callback slept: a lock, a wait */
	/* The callback touched a page that was not mapped, until the kernel had mapped it. */
	WHY_PAGE_FAULT,
	/* The thread waited for Python's global interpreter lock. */
	WHY_GIL,
	WHY_AWAITED, /* a coroutine awaited something, until it went on */
};

struct why_part {
	enum why_kind kind;
	/*
	 * Number of the hop in the instance: the callback, or for time between callbacks the next
	 * one.
	 */
	unsigned hop;
	/*
	 * QUEUED: the callback that the instance waited for. EXECUTING, BLOCKED, PAGE_FAULT and
	 * GIL: what ran within the callback of the hop; NULL: that one itself
	 */
	const struct model_callback *callback;
	/* The thread of this part; QUEUED: the thread of that callback. */
	const struct model_thread *thread;
	/*
	 * PREEMPTED: the thread on the CPU; BLOCKED: the thread that woke it; GIL: the thread that
	 * had the lock; 0: idle CPU; -1: unknown
	 */
	int32_t by_tid;
	char by[16];			/* name of by_tid; by_tid and by are of the longest piece */
	/* BLOCKED: the system call in which it slept, of the longest piece; NULL: unknown */
	const char *call;
	struct model_await await; /* AWAITED: what; of the longest piece */
	/* QUEUED: because of a callback group or node, on another thread */
	bool is_group;
	bool is_assumed;		/* no event names the group */
	int64_t begin_ns, end_ns;	/* begin of the first piece, end of the last piece */
	int64_t ns, longest_ns;		/* sum of all pieces; the longest piece */
	unsigned pieces;		/* number of pieces, separated by other parts */
	/* Page faults that began in this part, and how many of them read from a disk. */
	unsigned faults, major;
};

/** why_is_same_await() - do they wait for the same? */
bool why_is_same_await(const struct model_await *a, const struct model_await *b);

struct why_parts {
	/* Ordered by begin; all pieces with the same hop, kind and callback are one part. */
	struct why_part *part;
	unsigned count, size;
};

struct why_cpu;

/**
 * why_cut() - split @instance into @out: free it with why_parts_free()
 * @because: for each QUEUED part, what the other callback did in that time: EXECUTING, PREEMPTED,
 *   BLOCKED and PAGE_FAULT parts with that `callback`. The parts of one hop, callback and is_group
 *   add up to the QUEUED part. Empty without @cpu. Free it with why_parts_free()
 * @cpu: NULL: the trace has no kernel events
 *
 * Return: 0, or -1: out of memory.
 */
int why_cut(struct why_parts *out, struct why_parts *because, const struct why_instance *instance,
	    const struct why_others *others, const struct why_cpu *cpu);
void why_parts_free(struct why_parts *parts);

/**
 * why_parts_add() - for why_cut(): add @part to the part of the same hop, kind and callback, or as
 * a new part; an empty part is ignored. Return: 0, or -1: out of memory.
 */
int why_parts_add(struct why_parts *parts, struct why_part part);

/** why_parts_copy() - @out: free it with why_parts_free(). Return: 0, or -1: out of memory. */
int why_parts_copy(struct why_parts *out, const struct why_parts *parts);

/** why_is_way() - is it time between publish and take that no callback explains? */
bool why_is_way(enum why_kind kind);

/**
 * why_join_ways() - where the trace splits the way of a message to @hop in only one of two
 * instances of a chain, replace dds, network, cache and transport by one part, transport, in both
 *
 * Return: true: they were replaced.
 */
bool why_join_ways(struct why_parts *a, struct why_parts *b, unsigned hop);

/**
 * why_part_in() - the part of @parts that corresponds to @part of another instance of the chain, or
 * NULL.
 */
const struct why_part *why_part_in(const struct why_parts *parts, const struct why_part *part);

/**
 * why_part_error() - the largest error of @part if it compares the clocks of two hosts; 0: all its
 * times are of one clock
 * @instance: the instance of the part
 */
int64_t why_part_error(const struct why_instance *instance, const struct why_part *part);

/** why_total_error() - the largest error of total_ns, from the hosts of its begin and its end. */
int64_t why_total_error(const struct why_instance *instance);

/** why_kind_name() - "executing", "publish", "transport", "dds", "network", "cache", "queued",
 * "take", "late", "cached", "preempted", "blocked", "page_fault". */
const char *why_kind_name(enum why_kind kind);

/* ---- runs of other callbacks, for why_cut() ---- */

struct why_other {
	const struct model_callback *callback;
	const struct model_thread *thread;
	int64_t start_ns, end_ns;
};

/** why_other() - the runs that an executor called, in order of their start. Return: NULL after the
 * last. */
const struct why_other *why_other(const struct why_others *others, unsigned index);

/** why_inner() - the runs that began within another run, in order of their start, outer ones first.
 * Return: NULL after the last. */
const struct why_other *why_inner(const struct why_others *others, unsigned index);

/**
 * why_waits() - is the whole of [@from_ns, @to_ns] inside one wait for work of an executor on
 * @thread?
 */
bool why_waits(const struct why_others *others, const struct model_thread *thread, int64_t from_ns,
	       int64_t to_ns);

/* A wait for Python's global interpreter lock. */
struct why_gil {
	const struct model_thread *thread, *by; /* NULL: no event of it is in the trace */
	int64_t start_ns, end_ns;
	int32_t tid; /* of @by; 0: not known */
};

/** why_gil() - the first wait of @thread that ends after @ns; NULL: none. The others follow with
 * why_gil_next(). */
const struct why_gil *why_gil(const struct why_others *others, const struct model_thread *thread,
			      int64_t ns);
const struct why_gil *why_gil_next(const struct why_others *others, const struct why_gil *wait);

/**
 * why_waited_until() - the end of the last wait for work on @thread that overlaps [@from_ns,
 * @to_ns] by at least @least_ns, but at most @to_ns; @from_ns if no such wait exists.
 */
int64_t why_waited_until(const struct why_others *others, const struct model_thread *thread,
			 int64_t from_ns, int64_t to_ns, int64_t least_ns);

/* For pass_add(). */
extern const struct pass_ops why_callbacks_pass;
extern const struct pass_ops why_others_pass;

#endif
