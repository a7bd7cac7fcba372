/* SPDX-License-Identifier: Apache-2.0 */
/* Log-linear histogram; see histogram.h. */
#include "base/histogram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t middle_of(unsigned number)
{
	const unsigned shift = number < 2 * HISTOGRAM_BUCKETS ? 0 : number / HISTOGRAM_BUCKETS - 1;

	return ((uint64_t)(number - shift * HISTOGRAM_BUCKETS) << shift) + ((1ull << shift) >> 1);
}

__extension__ typedef unsigned __int128 wide;

static wide squares_of(const struct histogram *histogram)
{
	return (wide)histogram->squares[1] << 64 | histogram->squares[0];
}

/*
 * Makes places for the blocks of the power of two that block number @at is of, and of those between
 * it and the others. Return: false without memory.
 */
static bool make_places(struct histogram *histogram, unsigned at)
{
	const unsigned had = histogram->blocks, begin = histogram->first;
	unsigned first = at - at % HISTOGRAM_BLOCKS, end = first + HISTOGRAM_BLOCKS;
	struct histogram_table *larger;

	if (had && begin < first)
		first = begin;
	if (had && begin + had > end)
		end = begin + had;
	larger = calloc(1, sizeof(*larger) + (end - first) * sizeof(*larger->block));
	if (!larger)
		return false;
	if (histogram->table)
		memcpy(larger->pending, histogram->table->pending, sizeof(larger->pending));
	if (had)
		memcpy(larger->block + (begin - first), histogram->table->block,
		       had * sizeof(*larger->block));
	free(histogram->table);
	histogram->table = larger;
	histogram->first = (uint16_t)first;
	histogram->blocks = (uint16_t)(end - first);
	return true;
}

/* The bucket with this number; NULL: its block has no values. */
static inline uint32_t *bucket_of(const struct histogram *histogram, unsigned number)
{
	const unsigned at = number / HISTOGRAM_BLOCK - histogram->first;
	uint32_t *block = at < histogram->blocks ? histogram->table->block[at] : NULL;

	return block ? &block[number % HISTOGRAM_BLOCK] : NULL;
}

/* The bucket with this number; its block is allocated. Return: NULL without memory. */
static uint32_t *extend(struct histogram *histogram, unsigned number)
{
	const unsigned at = number / HISTOGRAM_BLOCK;
	uint32_t **block;

	if (at - histogram->first >= histogram->blocks && !make_places(histogram, at))
		return NULL;
	block = &histogram->table->block[at - histogram->first];
	if (!*block)
		*block = calloc(HISTOGRAM_BLOCK, sizeof(**block));
	return *block ? &(*block)[number % HISTOGRAM_BLOCK] : NULL;
}

int histogram_begin(struct histogram *histogram)
{
	histogram->table = calloc(1, sizeof(*histogram->table));
	return histogram->table ? 0 : -ENOMEM;
}

int histogram_settle(struct histogram *histogram)
{
	int status = 0;

	for (unsigned i = 0; i < histogram->pendings; i++) {
		const unsigned number = histogram->table->pending[i];
		uint32_t *bucket = bucket_of(histogram, number);

		if (__builtin_expect(!bucket, 0))
			bucket = extend(histogram, number);
		if (bucket)
			*bucket += *bucket < UINT32_MAX;
		else
			status = -ENOMEM;
	}
	histogram->pendings = 0;
	return status;
}

static int fill(struct histogram *histogram, unsigned number, uint64_t count)
{
	uint32_t *at = bucket_of(histogram, number);

	if (!at)
		at = extend(histogram, number);
	if (!at)
		return -ENOMEM;
	*at = count > UINT32_MAX - *at ? UINT32_MAX : *at + (uint32_t)count;
	return 0;
}

int histogram_fill(struct histogram *histogram, uint64_t value, uint64_t count)
{
	return fill(histogram, histogram_number(value), count);
}

/* The next bucket with values, from number *@at on. Return: NULL: none. */
static const uint32_t *next_of(const struct histogram *histogram, unsigned *at)
{
	unsigned first, end, now;

	/* Where the values are kept is no part of what the histogram says. */
	if (histogram->pendings)
		(void)histogram_settle((struct histogram *)histogram);
	first = histogram->first * HISTOGRAM_BLOCK;
	end = first + histogram->blocks * HISTOGRAM_BLOCK;
	now = *at > first ? *at : first;
	for (; now < end; now += HISTOGRAM_BLOCK - now % HISTOGRAM_BLOCK) {
		const uint32_t *block = histogram->table->block[(now - first) / HISTOGRAM_BLOCK];
		unsigned i = now % HISTOGRAM_BLOCK;

		while (block && i < HISTOGRAM_BLOCK && !block[i])
			i++;
		if (!block || i == HISTOGRAM_BLOCK)
			continue;
		*at = now - now % HISTOGRAM_BLOCK + i;
		return &block[i];
	}
	return NULL;
}

int histogram_merge(struct histogram *into, const struct histogram *from)
{
	wide squares = squares_of(into) + squares_of(from);
	unsigned at = 0;

	if (!from->count)
		return 0;
	for (const uint32_t *count; (count = next_of(from, &at)); at++)
		if (fill(into, at, *count))
			return -ENOMEM;
	if (!into->count || from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	into->count += from->count;
	into->sum += from->sum;
	into->squares[0] = (uint64_t)squares;
	into->squares[1] = (uint64_t)(squares >> 64);
	return 0;
}

bool histogram_next(const struct histogram *histogram, unsigned *at, uint64_t *middle,
		    uint64_t *count)
{
	const uint32_t *found = next_of(histogram, at);

	if (!found)
		return false;
	*middle = middle_of(*at);
	*count = *found;
	++*at;
	return true;
}

uint64_t histogram_at_least(const struct histogram *histogram, uint64_t least)
{
	uint64_t middle, count, sum = 0;
	unsigned at = 0;

	while (histogram_next(histogram, &at, &middle, &count))
		sum += middle >= least ? count : 0;
	return sum;
}

/* From 16 on, the five highest bits of a value and their position are the number of its bucket. */
unsigned histogram_coarse(uint64_t value)
{
	unsigned shift;

	if (value < 16)
		return (unsigned)value;
	shift = 63 - 4 - (unsigned)__builtin_clzll(value);
	return shift * 16 + (unsigned)(value >> shift);
}

uint64_t histogram_coarse_middle(unsigned bucket)
{
	const unsigned shift = bucket < 32 ? 0 : bucket / 16 - 1;

	return ((uint64_t)(bucket - shift * 16) << shift) + (shift ? 1ull << (shift - 1) : 0);
}

uint64_t histogram_quantile(const struct histogram *histogram, double q)
{
	uint64_t rank, seen = 0, value, count;
	unsigned at = 0;

	if (!histogram->count)
		return 0;
	rank = (uint64_t)(q * (double)histogram->count);
	if ((double)rank < q * (double)histogram->count)
		rank++;
	if (rank <= 1)
		return histogram->min;
	if (rank >= histogram->count)
		return histogram->max;
	while (histogram_next(histogram, &at, &value, &count)) {
		seen += count;
		if (seen < rank)
			continue;
		if (value < histogram->min)
			return histogram->min;
		return value > histogram->max ? histogram->max : value;
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
	for (unsigned i = 0; i < histogram->blocks; i++)
		if (histogram->table->block[i])
			memset(histogram->table->block[i], 0, HISTOGRAM_BLOCK * sizeof(uint32_t));
	histogram->count = histogram->sum = histogram->min = histogram->max = 0;
	histogram->squares[0] = histogram->squares[1] = 0;
	histogram->pendings = 0;
}

void histogram_free(struct histogram *histogram)
{
	for (unsigned i = 0; i < histogram->blocks; i++)
		free(histogram->table->block[i]);
	free(histogram->table);
	*histogram = (struct histogram){ 0 };
}
