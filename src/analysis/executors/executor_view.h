/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executors, their callbacks and what blocked them: executor_waits.h summed up. An executor is the set of threads that share callbacks: two
 * threads that ran the same callback belong to one executor, even without events of executors. Memory depends on the number of threads,
 * callbacks, and pairs of callbacks that waited for each other.
 *
 * Context of all functions: not thread-safe; allocate; do not block.
 */
#ifndef KYMO_ANALYSIS_EXECUTORS_VIEW_H
#define KYMO_ANALYSIS_EXECUTORS_VIEW_H

#include "analysis/executors/executor_waits.h"
#include "analysis/pass/pass.h"

struct view_callback {
	uint64_t runs;			/* that no other run called */
	int64_t running_ns;		/* they took */
	uint64_t blocked;		/* of them: waited behind others */
	int64_t thread_ns, group_ns;	/* behind the thread, behind the callback group */
	int64_t worst_ns;		/* the longest of both together */
};

/* One callback waited behind another one. */
struct view_pair {
	const struct model_callback *callback, *by;
	bool is_group, is_assumed;	/* as in struct waits_piece */
	uint64_t count;			/* of waits */
	int64_t ns, worst_ns;
};

struct view_thread {
	const struct model_thread *thread;	/* NULL: it ran no callback */
	bool has_states;		/* its executor's events are in the trace */
	int64_t wait_for_work_ns;
};

struct view;

/** view_create() - of runs and states that begin in [@begin_ns, @end_ns]. Return: 0, or -1 with @err. */
int view_create(struct view **view, struct model *model, int64_t begin_ns, int64_t end_ns, struct kymo_err *err);

/* By index of the model's object; a zeroed one when nothing happened to it. */
const struct view_callback *view_callback(const struct view *view, unsigned index);
const struct view_thread *view_thread(const struct view *view, unsigned index);

/** view_pair() - in order of appearance. Return: NULL behind the last. */
const struct view_pair *view_pair(const struct view *view, unsigned index);

/** view_executor_of() - the thread that stands for the executor that thread @index is of, by index: the first of them. */
unsigned view_executor_of(const struct view *view, unsigned index);

/** view_executor_of_callback() - likewise, that ran callback @index. Return: -1: it did not run. */
int view_executor_of_callback(const struct view *view, unsigned index);

/* For pass_add(). */
extern const struct pass_ops view_pass;

#endif
