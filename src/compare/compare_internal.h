/* SPDX-License-Identifier: Apache-2.0 */
/* What compare.c (verdicts) and compare_values.c (values of all runs) share.
 * Context: as compare.h. */
#ifndef KYMO_COMPARE_COMPARE_INTERNAL_H
#define KYMO_COMPARE_COMPARE_INTERNAL_H

#include "compare/compare.h"
#include "compare/metrics.h"

/* Entities of all runs, those of one name side by side. */
struct compare_found {
	const struct summary_entity *entity;
	unsigned run; /* base runs first */
};

/** compare_found_order() - by kind, name, owner and run, for qsort(). */
int compare_found_order(const void *left, const void *right);
/** compare_found_same() - is it the same entity? */
bool compare_found_same(const struct compare_found *a, const struct compare_found *b);

struct comparing {
	const struct compare_options *options;
	const struct summary *run[COMPARE_RUNS_MAX];
	unsigned runs;
	struct compare_found *found;
	unsigned founds, capacity;
	struct comparison *out;
	unsigned rows_size, values, values_size, appeared_size, gone_size, numbers_size;
};

/** compare_sort() - the rows of @comparison by verdict, suspects first, then by how much they
 * changed. */
void compare_sort(struct comparison *comparison);

/** compare_values() - the rows of all entities, with the values of all runs. Return: false without
 * memory. */
bool compare_values(struct comparing *c);

/** compare_likely() - list likely renames of gone entities. Return: false without memory. */
bool compare_likely(struct comparing *c);

/**
 * compare_segments() - the segments of a chain on both sides, at quantile @q of all of them
 * @found: the chain in all runs
 *
 * Return: false without memory.
 */
bool compare_segments(struct compare_row *row, const struct compare_found *found, unsigned bases,
		      unsigned runs, double q);

#endif
