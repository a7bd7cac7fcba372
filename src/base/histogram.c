/* SPDX-License-Identifier: Apache-2.0 */
/* Log-linear histogram; see histogram.h. */
#include "base/histogram.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Group 0 is [0, 512), group g >= 1 is [512 << (g - 1), 512 << g): the position of the highest bit. */
static unsigned group_of(uint64_t value)
{
	return value < HISTOGRAM_BUCKETS ? 0 : 64 - 9 - (unsigned)__builtin_clzll(value);
}

/* The 512 buckets of group g >= 1 are 1 << (g - 1) wide each. */
static unsigned bucket_of(uint64_t value, unsigned group)
{
	return group ? (unsigned)(value >> (group - 1)) - HISTOGRAM_BUCKETS : (unsigned)value;
}

static uint64_t middle_of(unsigned group, unsigned bucket)
{
	if (!group)
		return bucket;
	return ((uint64_t)(bucket + HISTOGRAM_BUCKETS) << (group - 1)) + ((1ull << (group - 1)) >> 1);
}

__extension__ typedef unsigned __int128 wide;

static wide squares_of(const struct histogram *histogram)
{
	return (wide)histogram->squares[1] << 64 | histogram->squares[0];
}

static void add_square(struct histogram *histogram, uint64_t value)
{
	wide squares = squares_of(histogram) + (wide)value * value;

	histogram->squares[0] = (uint64_t)squares;
	histogram->squares[1] = (uint64_t)(squares >> 64);
}

int histogram_add(struct histogram *histogram, uint64_t value)
{
	unsigned group = group_of(value);
	uint32_t *bucket;

	if (!histogram->group[group]) {
		histogram->group[group] = calloc(HISTOGRAM_BUCKETS, sizeof(**histogram->group));
		if (!histogram->group[group])
			return -ENOMEM;
	}
	bucket = &histogram->group[group][bucket_of(value, group)];
	if (*bucket < UINT32_MAX)
		++*bucket;
	if (!histogram->count || value < histogram->min)
		histogram->min = value;
	if (value > histogram->max)
		histogram->max = value;
	histogram->count++;
	histogram->sum += value;
	add_square(histogram, value);
	return 0;
}

uint64_t histogram_quantile(const struct histogram *histogram, double q)
{
	uint64_t rank, seen = 0, value;
	unsigned group, bucket;

	if (!histogram->count)
		return 0;
	rank = (uint64_t)(q * (double)histogram->count);
	if ((double)rank < q * (double)histogram->count)
		rank++;
	if (rank <= 1)
		return histogram->min;
	if (rank >= histogram->count)
		return histogram->max;
	for (group = 0; group < HISTOGRAM_GROUPS; group++) {
		if (!histogram->group[group])
			continue;
		for (bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
			seen += histogram->group[group][bucket];
			if (seen < rank)
				continue;
			value = middle_of(group, bucket);
			if (value < histogram->min)
				return histogram->min;
			return value > histogram->max ? histogram->max : value;
		}
	}
	return histogram->max;
}

double histogram_mean(const struct histogram *histogram)
{
	return histogram->count ? (double)histogram->sum / (double)histogram->count : 0;
}

/*
 * The mean of the squares minus the square of the mean would lose all digits when the values are
 * large and close together. So the values are counted from q, the mean without its fraction:
 * sum((v - q)^2) = sum(v^2) - 2 q sum(v) + n q^2 is exact in 128 bits, and small.
 */
double histogram_deviation(const struct histogram *histogram)
{
	const uint64_t count = histogram->count, q = count ? histogram->sum / count : 0;
	double around, fraction, variance;

	if (count < 2)
		return 0;
	around = (double)(squares_of(histogram) - 2 * (wide)q * histogram->sum +
			  (wide)q * q * count);
	fraction = (double)(histogram->sum % count) / (double)count;
	variance = around / (double)count - fraction * fraction;
	return variance > 0 ? sqrt(variance) : 0;
}

void histogram_clear(struct histogram *histogram)
{
	if (!histogram->count)
		return;
	for (unsigned group = 0; group < HISTOGRAM_GROUPS; group++)
		if (histogram->group[group])
			memset(histogram->group[group], 0,
			       HISTOGRAM_BUCKETS * sizeof(**histogram->group));
	histogram->count = histogram->sum = histogram->min = histogram->max = 0;
	histogram->squares[0] = histogram->squares[1] = 0;
}

void histogram_free(struct histogram *histogram)
{
	unsigned group;

	for (group = 0; group < HISTOGRAM_GROUPS; group++)
		free(histogram->group[group]);
	*histogram = (struct histogram){ 0 };
}
