/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each run of a callback waited for before it began; it listens to a model:
 *
 *   thread A  ....[ another callback runs ]........[ the callback ]     behind the thread
 *   thread B  ............[ one of its callback group ]............     behind the group, where the thread was free
 *                    |<-------- wait ------------->|
 *                    ready                         taken, or due timer's start
 *
 * A wait begins when the message was handed over to the middleware, or the timer was due (one period after its start before), and
 * ends when the message was received, or the timer's callback started. Callbacks on the thread that then ran it explain a part of
 * the wait. Callbacks of its mutually exclusive group on other threads of the process may explain what is left; without events that
 * name groups, callbacks of its node are the best guess. `kymo why` takes single instances apart by the same rules.
 *
 * Only runs that no other run called have waits, and only such runs block others. Memory depends on the number of threads and
 * callbacks: a thread's latest WAITS_RUNS runs are known.
 *
 * Context of all functions: not thread-safe; allocate; do not block.
 */
#ifndef KYMO_ANALYSIS_WAITS_H
#define KYMO_ANALYSIS_WAITS_H

#include "analysis/model/model.h"
#include "base/err.h"

#define WAITS_RUNS 512u		/* power of two */

/* One callback that a run waited behind. */
struct waits_piece {
	const struct model_callback *by;
	const struct model_thread *thread;	/* it ran on; the latest, if several */
	bool is_group;			/* it held the callback group, on another thread; else the thread */
	bool is_assumed;		/* no event says the group */
	int64_t ns;
	unsigned runs;			/* of it */
};

/* The parts of to_ns - from_ns: thread_ns, group_ns, and what nothing is known to have blocked. */
struct waits_wait {
	const struct model_instance *instance;
	int64_t from_ns, to_ns;
	int64_t thread_ns, group_ns;
	const struct waits_piece *piece;	/* in order of time; one for each callback and is_group */
	unsigned pieces;
};

struct waits;

/** waits_create() - listen to @model; @wait is called when the run has returned, in order of end. Return: 0, or -1: no memory. */
int waits_create(struct waits **waits, struct model *model, void (*wait)(void *context, const struct waits_wait *wait),
		 void *context);
void waits_destroy(struct waits *waits);

/** waits_failed() - did memory run out? */
bool waits_failed(const struct waits *waits);

#endif
