/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What callbacks and spans did that real-time code avoids: allocations, page faults, waits for mutexes, and system calls (without
 * those that wait for such a mutex). In one pass with a model, and with spans if costs_spans() was called.
 *
 * What happens in a run that began inside another run counts for both; `own` counts it for the innermost callback only. Memory that
 * a run frees counts for that run, whichever thread allocated it, if the allocation is in the trace. Page faults count if their event
 * names the thread (kymo's events; LTTng's with the context tid). Spans on custom tracks are left out.
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

enum costs_kind { COSTS_ALLOCATION, COSTS_FREE, COSTS_LOCK, COSTS_FAULT, COSTS_MAJOR, COSTS_CALL, COSTS_KINDS };

/* The thread that held the mutex of the longest wait. */
struct costs_holder {
	int64_t ns;			/* how long that was; 0: none was waited for to its end */
	int32_t tid;			/* 0: not known (LTTng's events do not say) */
	char name[COSTS_NAME_MAX];	/* of the thread; "": it has no event before */
	/* What it was in: a callback, then this is its index + 1, or a span; or nothing that is known. */
	uint32_t callback;
	const struct spans_name *span;
};

struct costs_use {
	uint64_t count[COSTS_KINDS];	/* FAULT: with the MAJOR ones */
	uint64_t bytes;			/* allocated, all together */
	int64_t growth, peak;		/* bytes allocated less freed: in the end, and at most */
	int64_t lock_ns;		/* waited for mutexes */
	int64_t call_ns;		/* in system calls whose begin and end are in the trace */
	struct costs_holder holder;
};

/* The system calls of one name. */
struct costs_call {
	const char *name;		/* LTTng's, of the reader */
	uint64_t count;
	int64_t ns, longest_ns;		/* of those whose begin and end are in the trace */
	/* Of a sum of runs: */
	uint64_t with, most;		/* runs that have one; in one run */
	int64_t first_ns;		/* start of the first such run, ... */
	const struct model_thread *thread;	/* ... and which it was on */
};

struct costs_calls {
	struct costs_call *call;	/* in order of appearance */
	uint32_t count, room;
};

/* The runs of a callback that returned, or of a span that ended. */
struct costs_sum {
	uint64_t runs;
	uint64_t with[COSTS_KINDS];	/* runs in which it happened */
	uint64_t most[COSTS_KINDS];	/* in one run */
	int64_t first_ns[COSTS_KINDS];	/* start of the first such run */
	const struct model_thread *thread[COSTS_KINDS];	/* which it was on */
	struct costs_use sum;		/* peak: the largest */
	struct costs_calls calls;	/* COSTS_CALL, by name */
	struct costs_use own;		/* of callbacks: without those that ran inside; also of runs that did not return */
};

/* The spans of one name in a process. */
struct costs_span {
	const struct spans_name *name;
	const struct model_process *process;
	struct costs_sum sum;
};

/* All that the threads of a process did, in callbacks or not. */
struct costs_process {
	const char *hostname;
	int32_t pid;
	char name[COSTS_NAME_MAX];	/* of its main thread, or of the first one seen */
	struct costs_use use;		/* peak: of all its threads together, since the trace began */
};

/* A system call of any thread. */
struct costs_made {
	const struct system_call *call;
	int32_t pid;			/* of its thread; 0: not known so far */
	bool waits_for_mutex;		/* so it counts as that */
	uint64_t run;			/* of a callback, the innermost in which it was made; 0: in none */
	uint32_t callback;		/* index of that */
};

struct costs;

/** costs_create() - listen to @model, before model_attach(). Return: 0, or -1 with @err. */
int costs_create(struct costs **costs, struct model *model, const struct kymo_ctf_reader *reader, struct kymo_err *err);
void costs_destroy(struct costs *costs);

/** costs_spans() - count for @spans, too. They must live as long. Return: 0, or -1: they have too many listeners. */
int costs_spans(struct costs *costs, struct spans *spans);

/** costs_realtime() - what programs named as real-time, as spans_realtime(); NULL without costs_spans(), too. */
const struct spans_realtime *costs_realtime(const struct costs *costs, unsigned index);

/** costs_listen() - @run is called for each run of a callback that returned. */
void costs_listen(struct costs *costs,
		  void (*run)(void *context, const struct model_instance *instance, const struct costs_use *use), void *context);

/** costs_listen_calls() - @made is called for each system call when it has returned, or when it is clear that its end is not in the trace. */
void costs_listen_calls(struct costs *costs, void (*made)(void *context, const struct costs_made *made), void *context);

/** costs_finish() - the whole trace was read: report the system calls that did not return. */
void costs_finish(struct costs *costs);

/** costs_event() - the next event, before the spans and the model get it. Return: 0, or -1: no memory. */
int costs_event(struct costs *costs, const struct kymo_ctf_event *event);

/** costs_add() - @more to @use; its peak is that of the sum so far. */
void costs_add(struct costs_use *use, const struct costs_use *more);

/** costs_callback() - of the callback with that index of the model; NULL: no run of it returned. */
const struct costs_sum *costs_callback(const struct costs *costs, uint32_t index);

/** costs_own() - what was done by the callback with that index itself; NULL: it did not run. */
const struct costs_use *costs_own(const struct costs *costs, uint32_t index);

/** costs_span() - by index, in order of their first end; NULL behind the last one. */
const struct costs_span *costs_span(const struct costs *costs, uint32_t index);

/** costs_process() - by index, in order of appearance; NULL behind the last one. */
const struct costs_process *costs_process(const struct costs *costs, uint32_t index);

/** costs_seen() - did the trace have an event of @kind, in a callback or elsewhere? LOCK: or of allocations, which are recorded together. */
bool costs_seen(const struct costs *costs, enum costs_kind kind);

/**
 * costs_look() - does a trace contain events of libc (allocations and mutexes), of page faults and of system calls? If so, a count of 0 means none.
 * @reader: of its own for this; read up to the first event of libc's, which may be the whole trace
 *
 * Context: as above, but blocks. Return: 0, or -1 with @err.
 */
int costs_look(struct kymo_ctf_reader *reader, bool *libc, bool *faults, bool *calls, struct kymo_err *err);

/* For pass_add(). Only runs that start inside its window count; processes have all. */
extern const struct pass_ops costs_pass;

#endif
