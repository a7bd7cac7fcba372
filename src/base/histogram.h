/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distribution of durations in bounded memory: count, sum, minimum, maximum and standard deviation
 * are exact, quantiles come from log-linear buckets.
 *
 * A value v below 1024 has its own bucket. From there on each power of two is split into 512
 * buckets, so a bucket is at most v / 512 wide and its middle is within 0.1 % of every value in
 * it. The buckets of a power of two (2 KiB) are allocated when its first value arrives; a
 * typical callback needs three to eight of them.
 */
#ifndef KYMO_BASE_HISTOGRAM_H
#define KYMO_BASE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_GROUPS 56	/* [0, 512), [512, 1024), [1024, 2048), ... up to 2^64 */
#define HISTOGRAM_BUCKETS 512

struct histogram {
	uint64_t count;
	uint64_t sum;
	uint64_t squares[2];    /* sum of the squares: the lower and the upper 64 bits */
	uint64_t min, max;	/* 0 when count is 0 */
	uint32_t *group[HISTOGRAM_GROUPS];
};

/** histogram_add() - count one value. Return: 0, or -ENOMEM. Context: allocates now and then. */
int histogram_add(struct histogram *histogram, uint64_t value);

/**
 * histogram_quantile() - the value that a share of @q (0..1) of the values does not exceed
 *
 * Nearest rank; within 0.1 % of the exact answer, and never outside of [min, max].
 * Return: 0 when the histogram is empty.
 */
uint64_t histogram_quantile(const struct histogram *histogram, double q);

/** histogram_mean() - the exact mean, 0 when empty. */
double histogram_mean(const struct histogram *histogram);

/**
 * histogram_deviation() - the standard deviation: the root of the mean squared difference from the
 * mean; 0 with fewer than two values.
 */
double histogram_deviation(const struct histogram *histogram);

/** histogram_clear() - count from 0 again, and keep the memory of the buckets. */
void histogram_clear(struct histogram *histogram);

void histogram_free(struct histogram *histogram);

#endif
