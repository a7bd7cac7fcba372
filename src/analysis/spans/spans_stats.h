/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of each span, instant and counter per process. Memory depends on the number of names,
 * processes and threads, not of events.
 */
#ifndef KYMO_ANALYSIS_SPANS_STATS_H
#define KYMO_ANALYSIS_SPANS_STATS_H

#include <stdint.h>

#include "analysis/pass/pass.h"
#include "analysis/spans/spans.h"
#include "base/err.h"
#include "base/histogram.h"

enum spans_table { SPANS_OF_SPANS, SPANS_OF_INSTANTS, SPANS_OF_COUNTERS, SPANS_TABLES };

/* Statistics of one name in one process. */
struct spans_row {
	const struct spans_name *name;
	const struct model_process *process;
	unsigned threads;		/* number of threads that used it */
	int64_t first_ns, last_ns;	/* first and last begin that counts; 0: none */
	struct histogram duration;	/* spans with an end */
	int64_t longest_at_ns;          /* begin of the longest of these, the first of several, */
	const struct model_thread *longest_on; /* its thread, */
	const struct spans_track *longest_in;  /* and its track; NULL: none */
	struct histogram self;          /* of these, the time outside of the spans inside */
	uint64_t unfinished;		/* spans without an end */
	uint64_t count;			/* number of instants, or of numeric values of a counter */
	double min, max, sum, last;	/* values of a counter */
};

struct spans_stats;

/**
 * spans_stats_create() - listen to @spans
 * @begin_ns, @end_ns: only events that begin in [begin, end] count; INT64_MIN, INT64_MAX for all
 * Context: allocates as names and threads appear.
 * Return: 0, or -1 with @err filled.
 */
int spans_stats_create(struct spans_stats **stats, struct spans *spans, int64_t begin_ns,
		       int64_t end_ns, struct kymo_err *err);
void spans_stats_destroy(struct spans_stats *stats);

/** spans_stats_forget() - count from 0 again, for results of one interval after the other; the rows
 * stay. */
void spans_stats_forget(struct spans_stats *stats);

unsigned spans_stats_count(const struct spans_stats *stats, enum spans_table table);
const struct spans_row *spans_stats_row(const struct spans_stats *stats, enum spans_table table,
					unsigned index);

/* For pass_add(). */
extern const struct pass_ops spans_stats_pass;

#endif
