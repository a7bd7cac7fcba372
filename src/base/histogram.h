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
 * Some values are kept first, and then put into their buckets together. Buckets are far from each
 * other: the processor loads those of several values at the same time, where it would wait for that
 * of each.
 *
 * Context of all functions: not thread-safe, not even those that only read: the first of them after
 * a value puts it into its bucket. Only they, and those that count values, allocate.
 */
#ifndef KYMO_BASE_HISTOGRAM_H
#define KYMO_BASE_HISTOGRAM_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Buckets are numbered by value: those of [0, 512), [512, 1024), [1024, 2048), ... up to 2^64. */
#define HISTOGRAM_BUCKETS 512 /* of a power of two */
#define HISTOGRAM_BLOCK 32    /* buckets that are allocated together */
#define HISTOGRAM_PENDING 32  /* values that are put into their buckets together */
#define HISTOGRAM_BLOCKS (HISTOGRAM_BUCKETS / HISTOGRAM_BLOCK)

struct histogram {
	uint64_t count;
	uint64_t sum;
	uint64_t squares[2];    /* sum of the squares: the lower and the upper 64 bits */
	uint64_t min, max;	/* 0 when count is 0 */
	struct histogram_table *table; /* NULL: no values */
	uint16_t first, blocks, pendings;
};

struct histogram_table {
	/* The numbers of the buckets of `pendings` values, which the buckets do not count yet. */
	uint16_t pending[HISTOGRAM_PENDING];
	uint32_t *block[]; /* `blocks` places, from block number `first` on; NULL: no values */
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

/* For histogram_add(): a table without places. Return: 0, or -ENOMEM. */
int histogram_begin(struct histogram *histogram);

/** histogram_settle() - put the pending values into their buckets. Return: 0; -ENOMEM: some of them
 * are in none. */
int histogram_settle(struct histogram *histogram);

/** histogram_add() - count one value. Return: 0, or -ENOMEM. Context: allocates now and then. */
static inline int histogram_add(struct histogram *histogram, uint64_t value)
{
	__extension__ typedef unsigned __int128 wide;
	const wide square = (wide)value * value;

	if (__builtin_expect(!histogram->table, 0) && histogram_begin(histogram))
		return -ENOMEM;
	histogram->table->pending[histogram->pendings++] = (uint16_t)histogram_number(value);
	if (value < histogram->min || !histogram->count)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
	histogram->count++;
	histogram->sum += value;
	histogram->squares[1] += (uint64_t)(square >> 64) +
				 __builtin_add_overflow(histogram->squares[0], (uint64_t)square,
							&histogram->squares[0]);
	return histogram->pendings == HISTOGRAM_PENDING ? histogram_settle(histogram) : 0;
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
