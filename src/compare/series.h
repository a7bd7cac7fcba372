/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics from commit to commit: the runs of each commit are added in order, and each metric that
 * enough commits have is searched for change points.
 *
 *   struct series *series = series_new(0.05, NULL);
 *   series_add(series, commit, summary) ...  each run, oldest commit first
 *   series_find(series)
 *   for (i = 0; (change = series_change(series, i)); i++)
 *
 * Context of all functions: not thread-safe; they allocate and do not block.
 */
#ifndef KYMO_COMPARE_SERIES_H
#define KYMO_COMPARE_SERIES_H

#include "compare/metrics.h"
#include "compare/points.h"
#include "summary/summary.h"

struct series;

struct series_change {
	enum summary_kind kind;
	const char *name, *of, *label;
	const struct metric *metric;
	unsigned before_commit,
		commit;       /* the last one of the old level, the first of the new one */
	double before, after; /* in the unit of the metric */
	double p;
	bool is_worse;
};

/** series_new() - @limit: a smaller change is none, 0.05; @only: glob of names, or NULL. Return:
 * NULL without memory. */
struct series *series_new(double limit, const char *only);
void series_free(struct series *series);

/** series_add() - a run of commit number @commit, which never falls. Return: 0; -ENOMEM. */
int series_add(struct series *series, unsigned commit, const struct summary *summary);

/** series_find() - after the last run. Return: 0; -ENOMEM. */
int series_find(struct series *series);

/** series_change() - the latest change first, then the largest; NULL behind the last one. */
const struct series_change *series_change(const struct series *series, unsigned at);

/** series_metrics() - how many metrics there are, and how many of them enough commits have. */
unsigned series_metrics(const struct series *series, unsigned *searched);

#endif
