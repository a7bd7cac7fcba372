/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of sched_runs.h by callback, and by the thread that had the CPU instead. Memory depends on
 * the number of callbacks and of threads that kept them from running.
 *
 * Context of all functions: not thread-safe; allocate; do not block.
 */
#ifndef KYMO_ANALYSIS_SCHED_TOTALS_H
#define KYMO_ANALYSIS_SCHED_TOTALS_H

#include "analysis/pass/pass.h"
#include "analysis/sched/sched_runs.h"

struct sched_callback {
	uint64_t runs;			/* runs that returned */
	/* Runs with known scheduler states; the following members are about these runs only. */
	uint64_t known;
	int64_t duration_ns;		/* equals the sum of usage.ns */
	struct sched_usage usage;
	struct sched_usage own;		/* without nested runs */
};

/* A thread that had the CPU while runs of a callback were ready to run. */
struct sched_instead {
	const struct model_callback *callback;
	int32_t tid;			/* as in struct sched_by */
	char name[SCHED_COMM_SIZE];	/* its latest name */
	int64_t ns;
	uint64_t count;
};

struct sched_totals;

/**
 * sched_totals_create() - sum up runs that start in [@begin_ns, @end_ns], and the threads' totals
 * in that time; as sched_runs_create().
 *
 * Return: 0, or -1 with @err.
 */
int sched_totals_create(struct sched_totals **totals, struct model *model,
			const struct kymo_ctf_reader *reader, int64_t begin_ns, int64_t end_ns,
			struct kymo_err *err);

/** sched_totals_callback() - by index in the model; zeroed when the callback did not run. */
const struct sched_callback *sched_totals_callback(const struct sched_totals *totals,
						   unsigned index);

/** sched_totals_instead() - in order of appearance. Return: NULL after the last. */
const struct sched_instead *sched_totals_instead(const struct sched_totals *totals, unsigned index);

/** sched_totals_runs() - for sched_runs_thread(). */
const struct sched_runs *sched_totals_runs(const struct sched_totals *totals);

/* For pass_add(). */
extern const struct pass_ops sched_totals_pass;

#endif
