/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/looks.h"

#include <math.h>
#include <stddef.h>

#define STEP 2u /* pairs between two looks, at least */

/* The rearrangements of @pairs pairs among which p is counted; see rearrange.c. */
static double ways_of(unsigned pairs)
{
	return pairs > 12 ? CHANGE_DRAWS + 1.0 : (double)(1u << pairs);
}

/* What may be spent at a look: as many steps of p as fit into what all looks may have spent. */
static double may_spend(double spent, double total, double share, double ways)
{
	const double steps = floor((total * share - spent) * ways + 1e-9);

	return steps > 0 ? steps / ways : 0;
}

void looks_plan(struct looks *looks, unsigned pairs)
{
	const unsigned rest = pairs > LOOKS_PAIRS_LEAST ? pairs - LOOKS_PAIRS_LEAST : 0;
	const unsigned step =
		rest > STEP * (LOOKS_MAX - 2) ? (rest - 1) / (LOOKS_MAX - 2) + 1 : STEP;
	double alarm = 0, error = 0;

	*looks = (struct looks){ 0 };
	for (unsigned at = LOOKS_PAIRS_LEAST;; at += step) {
		struct look look = { .pairs = at + STEP <= pairs ? at : pairs };
		const double share = (double)look.pairs / pairs, ways = ways_of(look.pairs);

		look.alarm = may_spend(alarm, CHANGE_ALARM, share * share, ways);
		look.error = may_spend(error, CHANGE_ERROR, share * share, ways);
		/* A look that could not find anything is none. */
		if (look.alarm > 0 && look.error > 0) {
			looks->look[looks->count++] = look;
			alarm += look.alarm;
			error += look.error;
		}
		if (look.pairs == pairs)
			return;
	}
}

const struct look *looks_at(const struct looks *looks, unsigned pairs)
{
	for (unsigned i = 0; i < looks->count; i++)
		if (looks->look[i].pairs == pairs)
			return &looks->look[i];
	return NULL;
}
