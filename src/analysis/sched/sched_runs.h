/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel's scheduler did with the runs of callbacks, and with the threads that they ran on: sched.h and a model, in one
 * pass. Create it before model_attach() or spans_attach(), and give it each event before the model.
 *
 * The parts of a run add up to its duration, to the nanosecond. What they are is known only if the kernel had a thread of that
 * number on a CPU when the run began, and when it ended: in another pid namespace that number belongs to another thread.
 *
 * Context of all functions: not thread-safe; allocate; do not block.
 */
#ifndef KYMO_ANALYSIS_SCHED_RUNS_H
#define KYMO_ANALYSIS_SCHED_RUNS_H

#include "analysis/model/model.h"
#include "analysis/sched/sched.h"
#include "base/err.h"

/* A thread that had the CPU meanwhile. */
struct sched_by {
	int32_t tid;		/* 0: nobody, it was idle; -1: not known, or one too many */
	char name[SCHED_COMM_SIZE];
	int64_t ns;
	uint64_t count;		/* of times */
};

struct sched_run {
	const struct model_instance *instance;
	bool is_known;			/* else the rest is 0 */
	struct sched_usage usage;	/* from its start to its end */
	struct sched_usage own;		/* without the runs that began inside it */
	const struct sched_by *by;	/* in order of appearance */
	unsigned bys;
};

/* Any member may be NULL. */
struct sched_runs_listener {
	/* A callback returned. In order of end. */
	void (*run)(void *context, const struct sched_run *run);
	/* Of any thread of the machine; its texts are lent. */
	void (*spell)(void *context, const struct sched_spell *spell);
};

/** sched_usage_add() - @more on top of @sum. */
void sched_usage_add(struct sched_usage *sum, const struct sched_usage *more);

struct sched_runs;

/** sched_runs_create() - listen to @model. @listener must stay valid. Return: 0, or -1: no memory. */
int sched_runs_create(struct sched_runs **runs, struct model *model, const struct kymo_ctf_reader *reader,
		      const struct sched_runs_listener *listener, void *context);
void sched_runs_destroy(struct sched_runs *runs);

/** sched_runs_window() - sched_runs_thread() is about [@begin_ns, @end_ns]; before the first event. All runs are reported. */
void sched_runs_window(struct sched_runs *runs, int64_t begin_ns, int64_t end_ns);

/** sched_runs_event() - the next event or loss, before the model gets it. Return: 0, or -1: no memory. */
int sched_runs_event(struct sched_runs *runs, const struct kymo_ctf_event *event);

/**
 * sched_runs_thread() - what @thread did up to the latest event, inside of the window
 *
 * Return: whether it is known: nine of ten of its own events came while the kernel had it on a CPU.
 */
bool sched_runs_thread(const struct sched_runs *runs, const struct model_thread *thread, struct sched_usage *usage);

#endif
