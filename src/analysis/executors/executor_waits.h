/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time that each run of a callback waited before it began, and the runs that it waited for. It
 * listens to a model:
 *
 *   thread A  ....[ another callback runs ]........[ the callback ]     waits for the thread
 *   thread B  ............[ one of its callback group ]............     waits for the group, while the thread was free
 *                    |<-------- wait ------------->|
 *                    ready                         taken, or due timer's start
 *
 * A wait begins when the message was handed over to the middleware, or when the timer was due (one
 * period after its previous start). It ends when the message was received, or when the timer's
 * callback started. Callbacks on the thread that then ran the callback explain one part of the
 * wait. Callbacks of its mutually exclusive group on other threads of the process may explain
 * another part. Without events that name groups, callbacks of the same node are the best guess.
 * `kymo why` splits single instances by the same rules, but for one: it leaves out what the thread
 * ran before its executor slept (why_idle_until()).
 *
 * Nested runs have no waits and block no other run. Memory depends on the number of threads and
 * callbacks: the latest WAITS_RUNS runs of each thread are kept.
 *
 * Context of all functions: not thread-safe; allocate; do not block.
 */
#ifndef KYMO_ANALYSIS_WAITS_H
#define KYMO_ANALYSIS_WAITS_H

#include "analysis/model/model.h"

#define WAITS_RUNS 512u		/* power of two */

/* One callback that a run waited for. */
struct waits_piece {
	const struct model_callback *by;
	const struct model_thread *thread;	/* its thread; the latest, if there were several */
	/* True: it held the callback group on another thread; false: it held the thread. */
	bool is_group;
	bool is_assumed;		/* no event names the group */
	int64_t ns;
	unsigned runs;			/* number of runs of this callback */
};

/* The time to_ns - from_ns consists of thread_ns, group_ns, and time without a known cause. */
struct waits_wait {
	const struct model_instance *instance;
	int64_t from_ns, to_ns;
	int64_t thread_ns, group_ns;
	/* False: the callback, or one that ran meanwhile on another thread, has no group and no
	 * node in the trace. So it may have waited for its group longer than group_ns. */
	bool is_judged;
	/* In order of time; one entry per callback and is_group. */
	const struct waits_piece *piece;
	unsigned pieces;
};

struct waits;

/**
 * waits_create() - listen to @model; call @wait when a run has returned, in order of end.
 *
 * Return: 0, or -1 with @err.
 */
int waits_create(struct waits **waits, struct model *model,
		 void (*wait)(void *context, const struct waits_wait *wait), void *context,
		 struct kymo_err *err);
void waits_destroy(struct waits *waits);

/** waits_failed() - did memory run out? */
bool waits_failed(const struct waits *waits);

#endif
