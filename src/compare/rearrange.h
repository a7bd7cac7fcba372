/* SPDX-License-Identifier: Apache-2.0 */
/* The rearrangements of the runs of a comparison: all, or random ones. Private to src/compare. */
#ifndef KYMO_COMPARE_REARRANGE_H
#define KYMO_COMPARE_REARRANGE_H

#include <stddef.h>

#include "compare/change.h"

struct rearrangements {
	double *rows;    /* [count][width] */
	double *moved;   /* [count][width]: 1: leaves "new", -1: comes in; paired: as the rows */
	unsigned *moves; /* [count]: how many leave */
	unsigned count; /* the first one is how the runs really were */
	unsigned width; /* runs; paired: pairs */
};

/**
 * rearrangements_make() - all rearrangements of @design, or CHANGE_DRAWS random ones and the real
 * one
 *
 * A row has a number for each run: 1: it counts as new; paired, for each pair: 1: it is turned
 * round; else 0.
 * Random ones are the same in each call. Return: 0; -ENOMEM.
 */
int rearrangements_make(struct rearrangements *all, const struct change_design *design);
void rearrangements_free(struct rearrangements *all);

static inline const double *rearrangements_moved(const struct rearrangements *all, unsigned at)
{
	return all->moved + (size_t)at * all->width;
}

static inline const double *rearrangements_row(const struct rearrangements *all, unsigned at)
{
	return all->rows + (size_t)at * all->width;
}

#endif
