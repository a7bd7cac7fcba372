/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far may the quantile of a robot be from that of its trace? A bound is one of the measured
 * values themselves, so nothing is assumed of the distribution.
 *
 * Of n independent values, the number that lie below the true q-quantile is binomial (n, q). So the
 * k-th smallest value is above the true quantile in P(Binomial(n, q) <= k - 1) of all cases. The
 * upper bound is the smallest k for which this reaches the confidence; the lower bound is the same
 * seen from the other end. (Distribution-free confidence bounds for a percentile: Hahn and Meeker,
 * Statistical Intervals, 1991, chapter 5.2; David and Nagaraja, Order Statistics, 2003, chapter
 * 7.1.)
 *
 * Context of all functions: reentrant; they do not allocate or block.
 */
#ifndef KYMO_CHECK_BOUND_H
#define KYMO_CHECK_BOUND_H

#include <stdint.h>

/**
 * bound_upper() - which of @n sorted values, from 1, is an upper bound of their quantile @q
 * @q: 0 to 1, both excluded
 * @confidence: 0.5 or more, below 1
 *
 * Return: 0: so few values have no such bound.
 */
uint64_t bound_upper(uint64_t n, double q, double confidence);

/** bound_lower() - the same for a lower bound. */
uint64_t bound_lower(uint64_t n, double q, double confidence);

/** bound_instances() - how many values there must be for an upper bound of @q. */
uint64_t bound_instances(double q, double confidence);

#endif
