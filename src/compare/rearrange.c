/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All selections of runs, or random ones, as bit masks; see rearrange.h.
 *
 * The idea: selections of unpaired runs follow each other in colexicographic order (Knuth, The Art
 * of Computer Programming 4A, 7.2.1.3), and turned pairs as binary numbers. Both orders begin
 * behind the real arrangement and come round to the one before it. Random selections are shuffled
 * as by Fisher and Yates; of random pairs each is turned or not, by one bit.
 */
#include "compare/rearrange.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TABLE 256u /* selections of eight runs */

/* How many rearrangements there are; CHANGE_ALL + 1: more than that. */
static unsigned number_of(const struct change_design *design)
{
	const unsigned runs = design->bases + design->news;
	double number = 1;

	if (design->paired)
		return design->bases > 12 ? CHANGE_ALL + 1 : 1u << design->bases;
	for (unsigned i = 0; i < design->news && number <= CHANGE_ALL; i++)
		number = number * (runs - i) / (i + 1);
	return number > CHANGE_ALL ? CHANGE_ALL + 1 : (unsigned)(number + 0.5);
}

/* As the runs were: the new ones are the last ones; no pair is turned round. */
static void real(uint8_t *row, const struct change_design *design)
{
	memset(row, 0, design->bases);
	if (!design->paired)
		memset(row + design->bases, 1, design->news);
}

/*
 * The next selection of as many runs, in the order of the numbers that the bytes are, highest last:
 * the first pair "1 0" of neighbours becomes "0 1", and the ones before it move to the front. The
 * real selection is the last one, so what follows it is the first.
 */
static void next_selection(uint8_t *row, unsigned width)
{
	unsigned ones = 0, i;

	for (i = 0; i + 1 < width && !(row[i] && !row[i + 1]); i++)
		ones += row[i];
	if (i + 1 < width) {
		row[i] = 0;
		row[i + 1] = 1;
	} else {
		ones += row[i];
		i = width;
	}
	memset(row, 1, ones);
	memset(row + ones, 0, i - ones);
}

/* The next number in binary. */
static void next_number(uint8_t *row, unsigned width)
{
	for (unsigned i = 0; i < width; i++) {
		row[i] = !row[i];
		if (row[i])
			return;
	}
}

/* xorshift64* by Vigna, of a fixed seed: the same runs give the same answer. */
static uint32_t draw(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)(*state * 2685821657736338717u >> 32);
}

static void shuffle(uint8_t *row, const struct change_design *design, unsigned width,
		    uint64_t *state)
{
	if (design->paired) {
		for (unsigned i = 0; i < width; i++)
			row[i] = draw(state) & 1;
		return;
	}
	real(row, design);
	for (unsigned i = width; i > 1; i--) {
		const unsigned other = draw(state) % i;
		const uint8_t one = row[i - 1];

		row[i - 1] = row[other];
		row[other] = one;
	}
}

/* Of the new runs, those whose bit is not set leave; of pairs, those are turned whose bit is. */
static void put(struct rearrangements *all, const struct change_design *design, unsigned at,
		const uint8_t *from)
{
	uint8_t *mask = all->mask + (size_t)at * all->bytes;

	for (unsigned i = 0; i < all->width; i++) {
		mask[i / 8] |= (uint8_t)(from[i] << (i % 8));
		all->moves[at] += design->paired ? from[i] : i >= design->bases && !from[i];
	}
}

int rearrangements_make(struct rearrangements *all, const struct change_design *design)
{
	const unsigned number = number_of(design);
	const bool every = number <= CHANGE_ALL;
	uint64_t state = 0x9e3779b97f4a7c15u;
	uint8_t *row;

	all->width = design->paired ? design->bases : design->bases + design->news;
	all->bytes = all->width / 8 + 1;
	all->count = every ? number : CHANGE_DRAWS + 1;
	all->mask = calloc(all->count, all->bytes);
	all->table = calloc(all->bytes, TABLE * sizeof(*all->table));
	all->moves = calloc(all->count, sizeof(*all->moves));
	row = calloc(all->width + 1, sizeof(*row));
	if (!all->mask || !all->table || !all->moves || !row) {
		free(row);
		rearrangements_free(all);
		return -ENOMEM;
	}
	real(row, design);
	put(all, design, 0, row);
	for (unsigned i = 1; i < all->count; i++) {
		if (!every)
			shuffle(row, design, all->width, &state);
		else if (design->paired)
			next_number(row, all->width);
		else
			next_selection(row, all->width);
		put(all, design, i, row);
	}
	free(row);
	return 0;
}

void rearrangements_free(struct rearrangements *all)
{
	free(all->mask);
	free(all->table);
	free(all->moves);
	*all = (struct rearrangements){ 0 };
}

/* ---- sums ---- */

/* @table[bits]: the sum of those of the @count values whose bit is set. */
static void add_up(double table[TABLE], const double *value, unsigned count)
{
	table[0] = 0;
	for (unsigned i = 0; i < count; i++)
		for (unsigned bits = 0; bits < 1u << i; bits++)
			table[bits | 1u << i] = table[bits] + value[i];
}

void rearrangements_sums(const struct rearrangements *all, const double *value, double *sum)
{
	for (unsigned at = 0; at < all->bytes; at++)
		add_up(all->table + (size_t)at * TABLE, value + 8 * at,
		       at + 1 < all->bytes ? 8 : all->width - 8 * at);
	for (unsigned i = 0; i < all->count; i++) {
		const uint8_t *mask = all->mask + (size_t)i * all->bytes;

		sum[i] = 0;
		for (unsigned at = 0; at < all->bytes; at++)
			sum[i] += all->table[(size_t)at * TABLE + mask[at]];
	}
}
