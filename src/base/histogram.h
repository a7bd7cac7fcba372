/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distribution of durations in bounded memory: count, sum, minimum, maximum and standard deviation
 * are exact, quantiles come from log-linear buckets.
 *
 * A value v below 1024 has its own bucket. From there on each power of two is split into 512
 * buckets, so a bucket is at most v / 512 wide and its middle is within 0.1 % of every value in
 * it. Buckets are allocated in blocks of 32 (128 bytes) when the first value of a block arrives.
 * There are places for the blocks of a power of two only between the least and the largest one that
 * has values. So an empty histogram takes 64 bytes, and one with few values some hundred.
 *
 * Context of all functions: not thread-safe; only those that count values allocate.
 */
#ifndef KYMO_BASE_HISTOGRAM_H
#define KYMO_BASE_HISTOGRAM_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Buckets are numbered by value: those of [0, 512), [512, 1024), [1024, 2048), ... up to 2^64. */
#define HISTOGRAM_BUCKETS 512 /* of a power of two */
#define HISTOGRAM_BLOCK 32 /* buckets that are allocated together */
#define HISTOGRAM_BLOCKS (HISTOGRAM_BUCKETS / HISTOGRAM_BLOCK)

struct histogram {
	uint64_t count;
	uint64_t sum;
	uint64_t squares[2];    /* sum of the squares: the lower and the upper 64 bits */
	uint64_t min, max;	/* 0 when count is 0 */
	/* From block number `first` on, `blocks` places for blocks; NULL: no values. */
	uint32_t **block;
	uint16_t first, blocks;
};

/*
 * The number of the bucket of @value. Below 1024 it is the value; from there on, the number of the
 * power of two and the nine bits behind the highest one.
 */
static inline unsigned histogram_number(uint64_t value)
{
	const unsigned shift = 54 - (unsigned)__builtin_clzll(value | HISTOGRAM_BUCKETS);

	return shift * HISTOGRAM_BUCKETS + (unsigned)(value >> shift);
}

/* The bucket with this number; its block is allocated. Return: NULL without memory. */
uint32_t *histogram_extend(struct histogram *histogram, unsigned number);

/* The bucket with this number; NULL: its block has no values. */
static inline uint32_t *histogram_bucket(const struct histogram *histogram, unsigned number)
{
	const unsigned at = number / HISTOGRAM_BLOCK - histogram->first;
	uint32_t *block = at < histogram->blocks ? histogram->block[at] : NULL;

	return block ? &block[number % HISTOGRAM_BLOCK] : NULL;
}

/** histogram_add() - count one value. Return: 0, or -ENOMEM. Context: allocates now and then. */
static inline int histogram_add(struct histogram *histogram, uint64_t value)
{
	__extension__ typedef unsigned __int128 wide;
	const unsigned number = histogram_number(value);
	uint32_t *bucket = histogram_bucket(histogram, number);
	const wide square = (wide)value * value;

	if (__builtin_expect(!bucket, 0)) {
		bucket = histogram_extend(histogram, number);
		if (!bucket)
			return -ENOMEM;
	}
	*bucket += *bucket < UINT32_MAX;
	if (value < histogram->min || !histogram->count)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
	histogram->count++;
	histogram->sum += value;
	histogram->squares[1] += (uint64_t)(square >> 64) +
				 __builtin_add_overflow(histogram->squares[0], (uint64_t)square,
							&histogram->squares[0]);
	return 0;
}

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

/**
 * histogram_merge() - count all values of @from in @into, too
 *
 * Buckets are fixed, so merging is exact: the result equals a histogram that was given all values,
 * to the last count.
 * Return: 0, or -ENOMEM (@into has a part of @from then). Context: allocates now and then.
 */
int histogram_merge(struct histogram *into, const struct histogram *from);

/**
 * histogram_next() - walk the buckets that have values, lowest first
 * @at: 0 to begin; moved on by each call
 * @middle, @count: the middle of the bucket, and how many values it has
 *
 * Return: false at the end.
 */
bool histogram_next(const struct histogram *histogram, unsigned *at, uint64_t *middle,
		    uint64_t *count);

/** histogram_at_least() - how many values are in buckets whose middle is at least @least. */
uint64_t histogram_at_least(const struct histogram *histogram, uint64_t least);

/**
 * histogram_fill() - @count values near @value in the buckets alone: the caller sets count, sum,
 * squares, min and max
 *
 * For a histogram that was written as buckets and sums. Return: 0, or -ENOMEM. Context: allocates
 * now and then.
 */
int histogram_fill(struct histogram *histogram, uint64_t value, uint64_t count);

/*
 * Coarse buckets, for files: 16 in each power of two. The middle of a coarse bucket is within 1/32
 * (3.2 %) of every value in it. Two histograms that are made coarse and merged equal those that are
 * merged and made coarse.
 */
#define HISTOGRAM_COARSE_MAX 976u /* bucket numbers are below it */

/** histogram_coarse() - the number of the coarse bucket that @value is in. */
unsigned histogram_coarse(uint64_t value);
/** histogram_coarse_middle() - the middle of coarse bucket @bucket, which is below
 * HISTOGRAM_COARSE_MAX. */
uint64_t histogram_coarse_middle(unsigned bucket);

/** histogram_clear() - count from 0 again, and keep the memory of the buckets. */
void histogram_clear(struct histogram *histogram);

void histogram_free(struct histogram *histogram);

#endif
