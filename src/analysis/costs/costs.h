/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The costs of callbacks and spans that real-time code avoids: allocations, page faults, waits for
 * mutexes, and system calls (except system calls that wait for such a mutex). The analysis runs in
 * one pass with a model, and with spans if costs_spans() was called.
 *
 * An event in a run that began inside another run counts for both runs; `own` counts it for the
 * innermost callback only. Freed memory counts for the run that freed it, regardless of the thread
 * that allocated it, if the allocation is in the trace. Page faults count only if their event names
 * the thread (kymo's events; LTTng's with the context tid). Spans on custom tracks are not counted.
 *
 * Context of all functions: not thread-safe; allocate; do not block.
 */
#ifndef KYMO_ANALYSIS_COSTS_H
#define KYMO_ANALYSIS_COSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "analysis/spans/spans.h"
#include "analysis/system/system_calls.h"
#include "ctf/read/reader.h"

#define COSTS_NAME_MAX 32

enum costs_kind {
	COSTS_ALLOCATION,
	COSTS_FREE,
	COSTS_LOCK,
	COSTS_FAULT,
	COSTS_MAJOR,
	COSTS_CALL,
	COSTS_KINDS
};

/* The thread that held the mutex during the longest wait. */
struct costs_holder {
	int64_t ns;			/* length of the wait; 0: no wait has ended */
	int32_t tid;			/* 0: unknown (LTTng's events do not contain it) */
	char name[COSTS_NAME_MAX];	/* of the thread; "": it had no earlier event */
	/*
	 * What the thread was running: a callback (its index + 1) or a span; or neither, if
	 * unknown.
	 */
	uint32_t callback;
	const struct spans_name *span;
};

struct costs_use {
	uint64_t count[COSTS_KINDS]; /* FAULT includes MAJOR */
	uint64_t bytes;              /* total allocated bytes */
	int64_t growth, peak;        /* bytes allocated minus freed: at the end, and the maximum */
	int64_t lock_ns;             /* waiting time for mutexes */
	/* Time in system calls; only calls with begin and end in the trace. */
	int64_t call_ns;
	struct costs_holder holder;
};

/* All system calls of one name. */
struct costs_call {
	const char *name;		/* without prefix; belongs to the reader */
	uint64_t count;
	int64_t ns, longest_ns;		/* only calls with begin and end in the trace */
	/* For a sum of runs only: */
	uint64_t with, most;		/* number of runs with such a call; most calls in one run */
	int64_t first_ns;		/* start of the first run with such a call, ... */
	const struct model_thread *thread;	/* ... and the thread of that run */
};

struct costs_calls {
	struct costs_call *call;	/* in order of appearance */
	uint32_t count, room;
};

/* All runs of one callback that returned, or of one span that ended. */
struct costs_sum {
	uint64_t runs;
	uint64_t with[COSTS_KINDS];	/* runs in which it happened */
	uint64_t most[COSTS_KINDS];	/* most in one run */
	int64_t first_ns[COSTS_KINDS];	/* start of the first such run */
	const struct model_thread *thread[COSTS_KINDS];	/* thread of that run */
	struct costs_use sum;		/* peak: the largest of the runs */
	struct costs_calls calls;	/* COSTS_CALL, by name */
	/* Of callbacks: without nested runs; includes runs that did not return. */
	struct costs_use own;
};

/* All spans of one name in one process. */
struct costs_span {
	const struct spans_name *name;
	const struct model_process *process;
	struct costs_sum sum;
};

/* Everything that the threads of a process did, inside and outside of callbacks. */
struct costs_process {
	const char *hostname;
	int32_t pid;
	char name[COSTS_NAME_MAX]; /* of its main thread, or of the first thread in the trace */
	/* Peak: of all its threads together, since the start of the trace. */
	struct costs_use use;
};

/* A system call of any thread. */
struct costs_made {
	const struct system_call *call;
	int32_t pid;			/* process of the thread; 0: not known yet */
	bool waits_for_mutex;		/* it waits for a mutex and is counted as such */
	/* Id of the innermost callback run that made the call; 0: none. */
	uint64_t run;
	uint32_t callback;		/* index of that callback */
};

/* A block of memory that was allocated and never freed. */
struct costs_leak {
	int64_t ns; /* when it was allocated */
	uint64_t address, bytes;
	uint32_t trace;
	int32_t pid, tid;
	/* Id of the innermost callback run that allocated it; 0: none; index of that callback. */
	uint64_t run;
	uint32_t callback;
};

struct costs;

/** costs_create() - listen to @model, before model_attach(). Return: 0, or -1 with @err. */
int costs_create(struct costs **costs, struct model *model, const struct kymo_ctf_reader *reader,
		 struct kymo_err *err);
void costs_destroy(struct costs *costs);

/**
 * costs_spans() - also count for @spans, which must stay valid.
 *
 * Return: 0, or -1 with @err.
 */
int costs_spans(struct costs *costs, struct spans *spans, struct kymo_err *err);

/**
 * costs_realtime() - the real-time names of programs, as spans_realtime(); NULL also without
 * costs_spans().
 */
const struct spans_realtime *costs_realtime(const struct costs *costs, unsigned index);

/** costs_listen() - call @run for each run of a callback that returned. */
void costs_listen(struct costs *costs,
		  void (*run)(void *context, const struct model_instance *instance,
			      const struct costs_use *use),
		  void *context);

/**
 * costs_listen_calls() - call @made for each system call when it has returned, or when its end is
 * known to be missing in the trace.
 */
void costs_listen_calls(struct costs *costs,
			void (*made)(void *context, const struct costs_made *made), void *context);

/** costs_listen_leaks() - keep the blocks that are not freed; memory grows with their number. */
void costs_listen_leaks(struct costs *costs);

/**
 * costs_leaks() - the @count blocks that were not freed so far, by time; only after
 * costs_listen_leaks(), and after the last event
 *
 * Return: valid until costs_destroy(); NULL: out of memory.
 */
const struct costs_leak *costs_leaks(struct costs *costs, uint64_t *count);

/** costs_finish() - the whole trace was read: report the system calls that did not return. */
void costs_finish(struct costs *costs);

/**
 * costs_event() - process one event, before the spans and the model.
 *
 * Return: 0, or -1: out of memory.
 */
int costs_event(struct costs *costs, const struct kymo_ctf_event *event);

/** costs_add() - add @more to @use; the peak is that of the sum so far. */
void costs_add(struct costs_use *use, const struct costs_use *more);

/**
 * costs_callback() - the sums of the callback with this index in the model; NULL: no run of it
 * returned.
 */
const struct costs_sum *costs_callback(const struct costs *costs, uint32_t index);

/** costs_own() - the costs of the callback itself, without nested runs; NULL: it did not run. */
const struct costs_use *costs_own(const struct costs *costs, uint32_t index);

/** costs_span() - by index, in order of their first end; NULL after the last. */
const struct costs_span *costs_span(const struct costs *costs, uint32_t index);

/** costs_process() - by index, in order of appearance; NULL after the last. */
const struct costs_process *costs_process(const struct costs *costs, uint32_t index);

/**
 * costs_seen() - did the trace have any event of @kind? For LOCK also events of allocations count,
 * because they are recorded together.
 */
bool costs_seen(const struct costs *costs, enum costs_kind kind);

/**
 * costs_look() - does a trace contain events of libc (allocations and mutexes), of page faults and
 * of system calls? If so, a count of 0 means that none happened.
 * @reader: a reader for this function alone; it is read up to the first event of libc, possibly to
 *   the end
 *
 * Context: as above, but blocks. Return: 0, or -1 with @err.
 */
int costs_look(struct kymo_ctf_reader *reader, bool *libc, bool *faults, bool *calls,
	       struct kymo_err *err);

/* For pass_add(). Only runs that start inside the window count; for processes everything counts. */
extern const struct pass_ops costs_pass;

#endif
