/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When to look at pairs that are still being recorded, and how sure each look must be.
 *
 * Who looks after each pair and stops at the first finding finds something in equal programs far
 * more often than 2 of 100 times. So the looks and what each may spend of these 2 of 100 are fixed
 * before the first pair is recorded: after n of N pairs, all looks together may have spent
 * (n / N) ^ 2 of it. What one look cannot spend (with n pairs, p has steps of 1 / 2^n), the next
 * ones have. Each look is an exact test, and the chance that any of them cries wolf is at most the
 * sum of what they spent. The same holds for the ends of intervals and their 5 of 100.
 *
 * Six pairs are looked at once: of five, no p is below 1/32. But often it is known long before that
 * nothing can be found any more, whatever the pairs will be that are still to come
 * (looks_are_open). Who stops then finds exactly what all pairs would have found.
 *
 * Context of all functions: wait-free.
 */
#ifndef KYMO_COMPARE_LOOKS_H
#define KYMO_COMPARE_LOOKS_H

#include <stdbool.h>

#include "compare/change.h"

#define LOOKS_MAX 8u
#define LOOKS_PAIRS_LEAST 6u /* fewer pairs can prove nothing */
/* What a look may spend that is not of the plan, so that it finds nothing. */
#define LOOKS_NOTHING 1e-9

struct looks {
	unsigned count; /* the last one is after all pairs */
	struct look {
		unsigned pairs;
		double alarm, error; /* for struct change_design */
	} look[LOOKS_MAX];
};

/** looks_plan() - the looks at up to @pairs pairs, of which there are LOOKS_PAIRS_LEAST or more. */
void looks_plan(struct looks *looks, unsigned pairs);

/** looks_at() - the look after @pairs pairs; NULL: none is due. */
const struct look *looks_at(const struct looks *looks, unsigned pairs);

/**
 * looks_are_open() - can a look after more than @pairs pairs still find that a metric grew by more
 * than @most?
 * @difference: [@pairs] of its logarithms, new less base
 *
 * The pairs to come add values to those that an interval's end and p are counted from, and take
 * none away. So an end that is too low stays too low, and a p that is too large stays too large.
 * Return: false: never, whatever they will be.
 */
bool looks_are_open(const struct looks *looks, const double *difference, unsigned pairs,
		    double most);

#endif
