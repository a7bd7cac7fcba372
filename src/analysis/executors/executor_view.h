/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executors, their callbacks, and the runs that blocked those callbacks: sums of executor_waits.h.
 * An executor is a set of threads that share callbacks: two threads that ran the same callback
 * belong to one executor, even without events of executors. Memory depends on the number of
 * threads, callbacks, and pairs of callbacks that waited for each other.
 *
 * Context of all functions: not thread-safe; allocate; do not block.
 */
#ifndef KYMO_ANALYSIS_EXECUTORS_VIEW_H
#define KYMO_ANALYSIS_EXECUTORS_VIEW_H

#include "analysis/executors/executor_waits.h"
#include "analysis/pass/pass.h"

/* One wait for other runs, and the run that waited. */
struct view_wait {
	int64_t from_ns, to_ns; /* as in struct waits_wait */
	int64_t blocked_ns;     /* for thread and group together */
	int64_t start_ns, duration_ns;
	const struct model_thread *thread;
	const struct model_publisher *publisher; /* of its message; NULL: a timer */
};

struct view_callback {
	uint64_t runs;               /* runs that were not nested in another run */
	int64_t running_ns;          /* total duration of these runs */
	uint64_t blocked;            /* number of these runs that waited for other runs */
	int64_t thread_ns, group_ns; /* waiting time for the thread, and for the callback group */
	int64_t worst_ns;            /* the longest wait for thread and group together */
	struct view_wait steady;     /* the longest one of a run that is not start-up */
};

/* One callback waited for another one. */
struct view_pair {
	const struct model_callback *callback, *by;
	bool is_group, is_assumed;	/* as in struct waits_piece */
	uint64_t count;			/* number of waits */
	int64_t ns, worst_ns;
	int64_t steady_ns; /* the longest wait of a run that is not start-up */
};

struct view_thread {
	const struct model_thread *thread;	/* NULL: the thread ran no callback */
	bool has_states;		/* the trace has its executor's events */
	int64_t wait_for_work_ns;
};

struct executor_view;

/**
 * view_create() - sum up runs and states that begin in [@begin_ns, @end_ns].
 *
 * Return: 0, or -1 with @err.
 */
int view_create(struct executor_view **view, struct model *model, int64_t begin_ns, int64_t end_ns,
		struct kymo_err *err);

/** view_forget() - sum up from 0 again, for results of one interval after the other. What ran where
 * stays known. */
void view_forget(struct executor_view *view);

/**
 * view_listen() - call @wait for each run inside the window that waited for other runs; one
 * listener.
 */
void view_listen(struct executor_view *view,
		 void (*wait)(void *context, const struct waits_wait *wait), void *context);

/* By index in the model; zeroed when nothing happened to the callback. */
const struct view_callback *view_callback(const struct executor_view *view, unsigned index);
const struct view_thread *view_thread(const struct executor_view *view, unsigned index);

/** view_pair() - in order of appearance. Return: NULL after the last. */
const struct view_pair *view_pair(const struct executor_view *view, unsigned index);

/**
 * view_executor_of() - the index of the thread that represents the executor of thread @index: its
 * first thread.
 */
unsigned view_executor_of(const struct executor_view *view, unsigned index);

/**
 * view_executor_of_callback() - the same for the executor that ran callback @index.
 *
 * Return: -1: the callback did not run.
 */
int view_executor_of_callback(const struct executor_view *view, unsigned index);

#define VIEW_TIDS_MAX 64u /* that executor_name() shows */

/** executor_name() - "multi_threaded_executor: threads 12, 13"
 * @type: of the executor; "": not known
 * @threads: how many it has; VIEW_TIDS_MAX of them at most are in @tid, which is sorted
 * Return: @buffer. */
char *executor_name(const char *type, int64_t *tid, unsigned threads, char *buffer, size_t size);

/** executor_type() - the type of an executor with callbacks of type @type and @other, "" unknown */
const char *executor_type(const char *type, const char *other);

/**
 * view_first_callback() - the callbacks that the executor of thread @executor ran, in order of
 * their index: view_next_callback() gives the one after each. @executor represents its executor.
 *
 * Return: its index; -1 after the last.
 */
int view_first_callback(struct executor_view *view, unsigned executor);
int view_next_callback(const struct executor_view *view, int index);

/**
 * view_next_thread() - the threads of an executor, from the one that represents it, in order of
 * their index.
 *
 * Return: the index of the thread after thread @index; -1 after the last.
 */
int view_next_thread(struct executor_view *view, int index);

/* For pass_add(). */
extern const struct pass_ops view_pass;

#endif
