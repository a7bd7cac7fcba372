/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Periodic loops (include/kymo/loop.h): how late each cycle woke, how long it took, what it missed.
 *
 *   due             woke                       ended        due
 *    |---latency---->|===========busy===========>|             |---latency---->|=====
 *
 * A loop is a span whose begin has the fields `cycle` and `latency_ns`. The instants NAME_missed
 * and NAME_overrun of its thread, inside the span, belong to the cycle. NAME_sleep is the sleep
 * before a cycle. A program that emits these events without kymo_loop_wait() has a loop, too.
 *
 * A loop belongs to one thread: two threads with a loop of the same name are two loops. Memory
 * depends on the number of loops, not of cycles. All times are nanoseconds since the Unix epoch.
 */
#ifndef KYMO_ANALYSIS_LOOPS_H
#define KYMO_ANALYSIS_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/pass/pass.h"
#include "analysis/spans/spans.h"
#include "base/err.h"
#include "base/histogram.h"

struct loop {
	uint32_t index; /* from 0, in order of appearance */
	const struct spans_name *name;
	const struct model_thread *thread;
	int64_t first_ns, last_ns;  /* begin of the first and of the last cycle that counts */
	uint64_t cycles;            /* that began */
	uint64_t unfinished;        /* without an end */
	uint64_t missed;            /* ended after their deadline */
	uint64_t overruns, skipped; /* ended after the next one was due; periods left out */
	int64_t late_max_ns;        /* the most that a cycle ended after its deadline */
	struct histogram period;    /* from due to due of successive cycles */
	struct histogram latency;   /* from due to woken */
	struct histogram busy;      /* from woken to ended */
	struct histogram response;  /* from due to ended */
};

struct loop_cycle {
	const struct loop *loop;
	uint64_t number; /* as the program counts them, from 1 */
	int64_t due_ns, begin_ns;
	int64_t end_ns;  /* unfinished: where it ends at the latest */
	bool unfinished; /* its end is not in the trace */
	bool is_missed, is_overrun;
	int64_t missed_ns, overrun_ns; /* by how much; 0: not at all */
	uint64_t skipped;
};

typedef void (*loops_on_cycle)(void *context, const struct loop_cycle *cycle);

struct loops;

/**
 * loops_create() - listen to @spans, which must stay valid
 * @begin_ns, @end_ns: only cycles that begin in [begin, end] count; INT64_MIN, INT64_MAX for all
 * Context: allocates as loops and threads appear.
 * Return: 0, or -1 with @err filled.
 */
int loops_create(struct loops **loops, struct spans *spans, int64_t begin_ns, int64_t end_ns,
		 struct kymo_err *err);
void loops_destroy(struct loops *loops);

/** loops_failed() - was there no memory for all of them? */
bool loops_failed(const struct loops *loops);

/** loops_forget() - count from 0 again, for results of one interval after the other; the loops
 * stay.
 */
void loops_forget(struct loops *loops);

/** loops_listen() - report each cycle that counts at its end; one listener. */
void loops_listen(struct loops *loops, loops_on_cycle on_cycle, void *context);

unsigned loops_count(const struct loops *loops);
const struct loop *loops_at(const struct loops *loops, unsigned index);

/** loops_is_sleep() - is @name the sleep of a loop of @process? */
bool loops_is_sleep(const struct loops *loops, const struct model_process *process,
		    const struct spans_name *name);

/* For pass_add(). */
extern const struct pass_ops loops_pass;

#endif
