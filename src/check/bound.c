/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks of values that bound a quantile; see bound.h for the idea and its sources.
 *
 * P(Binomial(n, q) >= k) falls with k, so the smallest k that is good enough is found by halving.
 * The first term comes from lgamma(), so n may be large. A lower bound of q is an upper bound of 1
 * - q, counted from the other end.
 */
#include "check/bound.h"

#include <math.h>

/*
 * P(Binomial(n, q) >= k), for k > n q: there the terms fall, each by the ratio to its neighbour, so
 * the sum ends as soon as they are too small to count.
 */
static double tail(uint64_t n, double q, uint64_t k)
{
	const double all = (double)n, first = (double)k;
	double term, sum;

	if (k > n)
		return 0;
	term = exp(lgamma(all + 1) - lgamma(first + 1) - lgamma(all - first + 1) + first * log(q) +
		   (all - first) * log1p(-q));
	sum = term;
	for (double at = first; at < all && term > sum * 1e-17; at++) {
		term *= (all - at) / (at + 1) * q / (1 - q);
		sum += term;
	}
	return sum;
}

uint64_t bound_upper(uint64_t n, double q, double confidence)
{
	/* Half of the values are expected at or below n q, so no k up to there is one. */
	uint64_t below = (uint64_t)((double)n * q), reached = n + 1;

	if (!n)
		return 0;
	while (below + 1 < reached) {
		const uint64_t middle = below + (reached - below) / 2;

		if (tail(n, q, middle) <= 1 - confidence)
			reached = middle;
		else
			below = middle;
	}
	return reached <= n ? reached : 0;
}

uint64_t bound_lower(uint64_t n, double q, double confidence)
{
	const uint64_t upper = bound_upper(n, 1 - q, confidence);

	return upper ? n + 1 - upper : 0;
}

uint64_t bound_instances(double q, double confidence)
{
	/* All n are below the quantile in q^n of all cases. */
	return (uint64_t)ceil(log(1 - confidence) / log(q) - 1e-9);
}
