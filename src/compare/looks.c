/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The looks at pairs that are still being recorded; see looks.h.
 *
 * The idea is alpha spending (Lan and DeMets 1983) with the square of the share of pairs as the
 * spending function (the power family of Kim and DeMets 1987). The looks are not treated as
 * dependent: what they spend is added up, which is on the safe side and needs no distribution. An
 * exact test of n pairs has steps of 1 / 2^n, so a look spends whole steps, and the rest stays for
 * the next look.
 *
 * looks_are_open() counts the means of all selections of pairs, as change.c does for its interval
 * and p. Pairs to come only add selections, so a count that is already too large stays too large.
 */
#include "compare/looks.h"

#include <math.h>
#include <stddef.h>

#define STEP 2u	      /* pairs between two looks, at least */
#define PAIRS_ALL 12u /* with up to so many pairs, all rearrangements count; see rearrange.c */
#define TIE 1e-12     /* rounding */

/* The rearrangements of @pairs pairs among which p is counted. */
static double ways_of(unsigned pairs)
{
	return pairs > PAIRS_ALL ? CHANGE_DRAWS + 1.0 : (double)(1u << pairs);
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

/* ---- what the pairs to come cannot change ---- */

/* The mean of those pairs whose bit is set. */
static double typical(const double *difference, unsigned bits)
{
	double sum = 0;
	unsigned count = 0;

	for (unsigned i = 0; bits >> i; i++)
		if (bits >> i & 1) {
			sum += difference[i];
			count++;
		}
	return sum / count;
}

/* How many means of some of the pairs are @most or less. */
static double count_up_to(const double *difference, unsigned pairs, double most)
{
	unsigned count = 0;

	for (unsigned bits = 1; bits < 1u << pairs; bits++)
		count += typical(difference, bits) <= most + TIE;
	return count;
}

bool looks_are_open(const struct looks *looks, const double *difference, unsigned pairs,
		    double most)
{
	const bool is_counted = pairs <= PAIRS_ALL;
	const double small = is_counted ? count_up_to(difference, pairs, most) : 0;
	const double down = is_counted ? count_up_to(difference, pairs, 0) : 0;

	for (unsigned i = 0; i < looks->count; i++) {
		const struct look *look = &looks->look[i];
		const double ways = ways_of(look->pairs);

		if (look->pairs <= pairs)
			continue;
		/* The lower end is the value of this rank, and p counts those that are not above 0.
		 */
		if (look->pairs > PAIRS_ALL || (small < floor(look->error * ways + 1e-9) &&
						1 + down <= look->alarm * ways + 1e-9))
			return true;
	}
	return false;
}
