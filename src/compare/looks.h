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
 * Context of all functions: wait-free.
 */
#ifndef KYMO_COMPARE_LOOKS_H
#define KYMO_COMPARE_LOOKS_H

#include "compare/change.h"

#define LOOKS_MAX 8u
#define LOOKS_PAIRS_LEAST 6u /* fewer pairs can prove nothing */

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

#endif
