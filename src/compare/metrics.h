/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of each kind of entity, and how much each may grow. Context of all functions: they do
 * not allocate or block. */
#ifndef KYMO_COMPARE_METRICS_H
#define KYMO_COMPARE_METRICS_H

#include <stdbool.h>

#include "compare/compare.h"

struct metric {
	enum summary_kind kind;
	const char *name;
	enum compare_unit unit;
	bool is_less_worse;
	enum summary_distribution of; /* NS: which distribution */
	double quantile;              /* NS: which quantile */
	enum summary_counter count;   /* PER_SECOND: what is counted; SHARE: of this ... */
	bool is_per_input;            /* PER_RUN of a chain: instead of the count, its inputs */
	enum summary_counter other;   /* ... and this together, the share of this; PER_RUN: this
					 for one of the other */
	bool is_among;                /* SHARE: `other` is a part of `count` */
	bool is_rare;                 /* NS: a few instances have this quantile */
	struct verdict_limit limit;
};

/** metric_at() - the metrics of @kind in turn; NULL behind the last one. */
const struct metric *metric_at(enum summary_kind kind, unsigned at);

/** metric_named() - the metric of @kind with @name; NULL: there is none. */
const struct metric *metric_named(enum summary_kind kind, const char *name);

/**
 * metric_of() - the logarithm of @metric in one run
 * @entity: of @summary
 * @log: natural; valid only with true
 *
 * Return: false: too few instances. A quantile q needs 10 / (1 - q), so that ten instances are
 * beyond it, a low one 2 / q, and p50 of goals 4; rates and shares need 10.
 */
bool metric_of(const struct metric *metric, const struct summary *summary,
	       const struct summary_entity *entity, double *log);

/** metric_count() - the denominator of shares and numbers per run: how often it could happen. */
uint64_t metric_count(const struct metric *metric, const struct summary *summary,
		      const struct summary_entity *entity);

/** metric_alike() - how many entities are @entity, so that a rate is that of one of them. */
double metric_alike(const struct summary_entity *entity);

/** metric_unlog() - from a logarithm of metric_of() back to the unit. */
double metric_unlog(const struct metric *metric, double log);

/** metric_base() - what limits are compared with: the value, of shares what metric_of() takes the
 * logarithm of. */
double metric_base(const struct metric *metric, double value);

#endif
