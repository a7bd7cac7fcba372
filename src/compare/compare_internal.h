/* SPDX-License-Identifier: Apache-2.0 */
/* What compare.c (verdicts) and compare_values.c (values of all runs) share. */
#ifndef KYMO_COMPARE_COMPARE_INTERNAL_H
#define KYMO_COMPARE_COMPARE_INTERNAL_H

#include "compare/compare.h"
#include "compare/metrics.h"

/* Entities of all runs, those of one name side by side. */
struct found {
	const struct summary_entity *entity;
	unsigned run; /* base runs first */
};

struct comparing {
	const struct compare_options *options;
	const struct summary *run[COMPARE_RUNS_MAX];
	unsigned runs;
	struct found *found;
	unsigned founds, capacity;
	struct comparison *out;
	unsigned rows_size, values, values_size, appeared_size, gone_size;
};

/** compare_values() - the rows of all entities, with the values of all runs. Return: false without
 * memory. */
bool compare_values(struct comparing *c);

/**
 * compare_segments() - the segments of a chain on both sides, at quantile @q of all of them
 * @found: the chain in all runs
 *
 * Return: false without memory.
 */
bool compare_segments(struct compare_row *row, const struct found *found, unsigned bases,
		      unsigned runs, double q);

#endif
