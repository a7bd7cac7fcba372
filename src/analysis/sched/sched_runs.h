/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's effect on the runs of callbacks and on their threads: joins sched.h and a model,
 * in one pass. Create it before model_attach() or spans_attach(), and give it each event before the
 * model.
 *
 * The parts of a run add up to its duration, to the nanosecond. They are known only if the kernel
 * had a thread with that tid on a CPU at the start and at the end of the run: in another pid
 * namespace, the tid belongs to a different thread.
 *
 * Context of all functions: not thread-safe; allocate; do not block.
 */
#ifndef KYMO_ANALYSIS_SCHED_RUNS_H
#define KYMO_ANALYSIS_SCHED_RUNS_H

#include "analysis/model/model.h"
#include "analysis/sched/sched.h"
#include "analysis/sched/sched_io.h"

/* A thread that had the CPU while a run was ready to run. */
struct sched_by {
	int32_t tid;		/* 0: idle CPU; -1: unknown, or a sum of further threads */
	char name[SCHED_COMM_SIZE];
	int64_t ns;
	uint64_t count;		/* number of spells */
};

struct sched_run {
	const struct model_instance *instance;
	bool is_known;			/* otherwise all other members are 0 */
	struct sched_usage usage;	/* from start to end of the run */
	struct sched_usage own;		/* without nested runs */
	const struct sched_by *by;	/* in order of appearance */
	unsigned bys;
};

/* Any member may be NULL. */
struct sched_runs_listener {
	/* A callback returned. In order of end. */
	void (*run)(void *context, const struct sched_run *run);
	/* A spell of any thread of the machine; its texts are valid during the call only. */
	void (*spell)(void *context, const struct sched_spell *spell);
	/*
	 * The thread of a run waited for a disk or the network. @instance: the run as it began; a
	 * wait in a nested run is reported for the outer one, too. The wait is valid during the
	 * call only.
	 */
	void (*io)(void *context, const struct model_instance *instance,
		   const struct sched_io *wait);
};

/** sched_usage_add() - add @more to @sum. */
void sched_usage_add(struct sched_usage *sum, const struct sched_usage *more);

struct sched_runs;

/**
 * sched_runs_create() - listen to @model. @listener must stay valid.
 *
 * Return: 0, or -1 with @err.
 */
int sched_runs_create(struct sched_runs **runs, struct model *model,
		      const struct kymo_ctf_reader *reader,
		      const struct sched_runs_listener *listener, void *context,
		      struct kymo_err *err);
void sched_runs_destroy(struct sched_runs *runs);

/**
 * sched_runs_window() - limit sched_runs_thread() to [@begin_ns, @end_ns]; call it before the first
 * event. All runs are reported anyway.
 */
void sched_runs_window(struct sched_runs *runs, int64_t begin_ns, int64_t end_ns);

/**
 * sched_runs_event() - process one event or loss, before the model.
 *
 * Return: 0, or -1: out of memory.
 */
int sched_runs_event(struct sched_runs *runs, const struct kymo_ctf_event *event);

/**
 * sched_runs_thread() - the totals of @thread inside the window, up to the latest event
 *
 * Return: whether they are known: at nine of ten of its own events, the kernel had the thread on a
 * CPU.
 */
bool sched_runs_thread(const struct sched_runs *runs, const struct model_thread *thread,
		       struct sched_usage *usage);

#endif
