/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One late instance taken apart: where its time went, and who blocked it.
 *
 * An instance is an arrival of a chain, or one run of a callback from where its message was published or its
 * timer was due. It is a row of hops, topics and callbacks in turn:
 *
 *   callback |-- executing ---|                                                 |-- executing -|
 *            start            publish call  handed over               taken     start
 *                             |-- publish --|-- queued ...|-- transport -|-- take --|
 *   timer    due |-- queued ... |-- late --| start
 *
 * Between handing over and take (of a timer: due and start), the time in which the thread that then took the message
 * ran other callbacks is *queued* behind them; what is left of it, in which another thread of the process ran a callback of the
 * same mutually exclusive group, is queued behind that one. The rest is *transport* (of a timer: *late*).
 * Which groups there are CARET's events tell, which kymo records, too; without them a callback of the same node on
 * another thread is the best guess, and the part says so (`is_assumed`).
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
	const struct model_callback *callback;		/* either this, */
	const struct model_publisher *publisher;	/* or this */
	enum chains_link link;				/* of a publisher to the callback before */
	enum chains_call call;
	int64_t due_ns;					/* of a timer that begins the instance; 0: not known */
	struct chains_hop at;
};

struct why_instance {
	int64_t begin_ns, total_ns;	/* total_ns < 0: there is none */
	unsigned hops;
	struct why_hop *hop;
};

/** why_of_arrival() - @arrival of @path, kept with its hops. @out: why_free(). Return: 0, or -1: no memory. */
int why_of_arrival(struct why_instance *out, const struct chains_path *path,
		   const struct chains_arrival *arrival);
void why_free(struct why_instance *instance);

/* ---- runs of callbacks as instances ---- */

#define WHY_CALLBACK_HOPS 2

struct why_run {
	int64_t total_ns;		/* -1: none */
	struct why_hop hop[WHY_CALLBACK_HOPS];
	unsigned hops;
};

struct why_callback {
	struct histogram total;
	int64_t previous_ns;		/* its start before; 0: none */
	struct why_run *worst;		/* longest first */
	unsigned worst_count;
	struct why_run near, named;
};

struct why_callbacks_options {
	unsigned worst;			/* runs to keep of each, 1 or more */
	uint32_t near_index;		/* of this callback also the run nearest to near_ns */
	int64_t near_ns;		/* 0: of none */
	uint64_t named_id;		/* and of each the one that got this publication; 0: none */
	int64_t begin_ns, end_ns;	/* runs that start inside */
};

struct why_callbacks;

/** why_callbacks_create() - listen to @model. Return: 0, or -1 with @err. */
int why_callbacks_create(struct why_callbacks **callbacks, struct model *model,
			 const struct why_callbacks_options *options, struct kymo_err *err);

/** why_callback() - of the callback with that index of the model; NULL: it did not run. */
const struct why_callback *why_callback(const struct why_callbacks *callbacks, uint32_t index);

/** why_of_run() - @out: why_free(). Return: 0, or -1: no memory. */
int why_of_run(struct why_instance *out, const struct why_run *run);

/* ---- what else ran meanwhile ---- */

struct why_window {
	int64_t begin_ns, end_ns;
};

struct why_others;

/** why_others_create() - keep the runs that overlap one of @window. Return: 0, or -1 with @err. */
int why_others_create(struct why_others **others, struct model *model, const struct why_window *window,
		      unsigned windows, struct kymo_err *err);

/* ---- parts ---- */

enum why_kind {
	WHY_EXECUTING,	/* the callback, until it publishes or returns */
	WHY_PUBLISH,	/* the publish call, until the middleware has the message */
	WHY_TRANSPORT,
	WHY_QUEUED,	/* behind the run of another callback */
	WHY_TAKE,	/* the take until the callback starts */
	WHY_LATE,	/* a timer was due, and nothing is known to have blocked it */
	WHY_CACHED,	/* stored by a callback until another one published it */
	/* Only with the kernel's events, see why_cpu.h: */
	WHY_PREEMPTED,	/* the thread could run, and another one had the CPU */
	WHY_BLOCKED,	/* the thread executed and slept: a lock, a wait */
	WHY_PAGE_FAULT,	/* the thread executed and touched a page that was not there, until the kernel had brought it */
};

struct why_part {
	enum why_kind kind;
	unsigned hop;			/* of the instance: the callback, or the one it leads to */
	const struct model_callback *callback;	/* QUEUED: the callback that it waited for */
	const struct model_thread *thread;	/* it happened on; QUEUED: that of the callback */
	int32_t by_tid;			/* PREEMPTED: who ran; BLOCKED: who woke it; 0: nobody, the CPU was idle; -1: not known */
	char by[16];			/* its name; both of the longest piece */
	const char *call;		/* BLOCKED: the system call that it slept in, of the longest piece; NULL: not known */
	bool is_group;			/* QUEUED: by a callback group or node, on another thread */
	bool is_assumed;		/* no event says the group */
	int64_t begin_ns, end_ns;	/* of the first and the last piece */
	int64_t ns, longest_ns;		/* of all pieces; of one */
	unsigned pieces;		/* with something else between them */
	unsigned faults, major;		/* page faults that began in it, and those of them that were read from a disk */
};

struct why_parts {
	struct why_part *part;		/* by begin; pieces of one hop, kind and callback are one part */
	unsigned count, size;
};

struct why_cpu;

/**
 * why_cut() - @instance into @out: why_parts_free()
 * @because: what those did that it was queued behind, while it was: EXECUTING, PREEMPTED, BLOCKED and PAGE_FAULT with their
 *	`callback`.
 *	Those of one hop, callback and is_group add up to the QUEUED part. None without @cpu. why_parts_free()
 * @cpu: NULL: the trace has no events of the kernel
 *
 * Return: 0, or -1: no memory.
 */
int why_cut(struct why_parts *out, struct why_parts *because, const struct why_instance *instance,
	    const struct why_others *others, const struct why_cpu *cpu);
void why_parts_free(struct why_parts *parts);

/** why_part_in() - the part of @parts that is the same as @part of another instance of the chain, or NULL. */
const struct why_part *why_part_in(const struct why_parts *parts, const struct why_part *part);

/**
 * why_part_error() - by how much @part may be wrong because two hosts' clocks are compared in it; 0: one clock told it
 * @instance: that it was cut from
 */
int64_t why_part_error(const struct why_instance *instance, const struct why_part *part);

/** why_total_error() - the same of total_ns: of the hosts where it begins and ends. */
int64_t why_total_error(const struct why_instance *instance);

/** why_kind_name() - "executing", "publish", "transport", "queued", "take", "late", "cached", "preempted",
 * "blocked", "page_fault". */
const char *why_kind_name(enum why_kind kind);

/* ---- the runs of others, for why_cut() ---- */

struct why_other {
	const struct model_callback *callback;
	const struct model_thread *thread;
	int64_t start_ns, end_ns;
};

/** why_other() - the runs in order of their start. Return: NULL behind the last. */
const struct why_other *why_other(const struct why_others *others, unsigned index);

/** why_waits() - whether all of [@from_ns, @to_ns] is in one wait for work of an executor on @thread. */
bool why_waits(const struct why_others *others, const struct model_thread *thread, int64_t from_ns, int64_t to_ns);

/** why_waited_until() - the end of its last wait of which @least_ns or more are in [@from_ns, @to_ns], or @from_ns; @to_ns at most. */
int64_t why_waited_until(const struct why_others *others, const struct model_thread *thread, int64_t from_ns, int64_t to_ns,
			 int64_t least_ns);

/* For pass_add(). */
extern const struct pass_ops why_callbacks_pass;
extern const struct pass_ops why_others_pass;

#endif
