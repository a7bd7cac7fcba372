/* SPDX-License-Identifier: Apache-2.0 */
/* The rearrangements of the runs of a comparison: all, or random ones. Private to src/compare.
 * Context: rearrangements_make() allocates; one thread for each struct, because the sums use its
 * tables. None blocks. */
#ifndef KYMO_COMPARE_REARRANGE_H
#define KYMO_COMPARE_REARRANGE_H

#include <stdint.h>

#include "compare/change.h"

struct rearrangements {
	/*
	 * [count][bytes], bit i of byte i / 8: run i counts as new; paired: pair i is turned round
	 */
	uint8_t *mask;
	unsigned *moves; /* [count]: how many runs leave "new"; paired: how many pairs are turned */
	unsigned count;  /* the first one is how the runs really were */
	unsigned width;  /* runs; paired: pairs */
	unsigned bytes;  /* of a mask */
	double *table;   /* private */
};

/**
 * rearrangements_make() - all rearrangements of @design, or CHANGE_DRAWS random ones and the real
 * one
 *
 * Random ones are the same in each call. Return: 0; -ENOMEM.
 */
int rearrangements_make(struct rearrangements *all, const struct change_design *design);
void rearrangements_free(struct rearrangements *all);

/**
 * rearrangements_sums() - for each rearrangement, the sum of the values of its mask
 * @value: [width]
 * @sum: [count]
 *
 * First it adds up the 256 selections of each eight values, and then a table's entry for each byte
 * of a mask: an eighth of the additions, and masks and tables stay in the cache.
 */
void rearrangements_sums(const struct rearrangements *all, const double *value, double *sum);

#endif
