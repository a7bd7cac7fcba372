/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bootstrap of blocks that do not overlap (Carlstein 1986), for one run a side; see blocks.h.
 *
 * The idea: the blocks are drawn once, DRAWS times for each side, and all metrics share these
 * draws. A draw is a number for each block: how often it was drawn. The values of a metric in all
 * blocks are sorted once. A quantile of a draw is then found by adding up counts, each times how
 * often its block was drawn. No values are copied.
 */
#include "compare/blocks.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "compare/compare_internal.h"

#define DRAWS 400u
#define SIDES 2u

/* Values of an entity in a block. */
struct cell {
	uint64_t value, count;
	unsigned block;
};

struct side {
	const struct blocks *blocks;
	struct compare_found *found; /* the entities of all blocks, by name; `run` is the block */
	unsigned founds, founds_size;
	uint8_t (*times)[BLOCKS_MAX]; /* [DRAWS]: how often each block was drawn */
	unsigned alike;    /* of a row: how many of one name it is, */
	struct cell *cell; /* and what happened in all of them */
	unsigned cells, cells_size;
};

/* ---- blocks that could also have been ---- */

static uint32_t draw_number(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)(*state * 2685821657736338717u >> 32);
}

static bool draw_blocks(struct side *side, uint64_t *state)
{
	side->times = calloc(DRAWS, sizeof(*side->times));
	for (unsigned d = 0; side->times && d < DRAWS; d++)
		for (unsigned i = 0; i < side->blocks->count; i++)
			side->times[d][draw_number(state) % side->blocks->count]++;
	return side->times;
}

static bool gather(struct side *side)
{
	for (unsigned b = 0; b < side->blocks->count; b++)
		for (unsigned i = 0; i < side->blocks->block[b]->entities; i++) {
			if (!ARRAY_ROOM(side->found, side->founds, side->founds_size))
				return false;
			side->found[side->founds++] =
				(struct compare_found){ side->blocks->block[b]->entity[i], b };
		}
	if (side->founds)
		qsort(side->found, side->founds, sizeof(*side->found), compare_found_order);
	return true;
}

/* The first of the blocks of @entity, which come in turn. Return: NULL: it is in none. */
static const struct compare_found *first_of(const struct side *side,
					    const struct summary_entity *entity)
{
	const struct compare_found key = { entity, 0 };
	unsigned low = 0, high = side->founds;

	while (low < high) {
		const unsigned middle = low + (high - low) / 2;

		if (compare_found_order(&side->found[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < side->founds && compare_found_same(&side->found[low], &key)
		       ? &side->found[low]
		       : NULL;
}

/* ---- one row ---- */

static int by_value(const void *left, const void *right)
{
	const struct cell *a = left, *b = right;

	return (a->value > b->value) - (a->value < b->value);
}

/* The values of @row in all blocks; of a rate, how often it happened in each. */
static bool take_cells(struct side *side, const struct compare_row *row,
		       const struct metric *metric)
{
	const struct compare_found *at = first_of(side, row->entity), *key = at;

	side->cells = 0;
	for (; at && at < side->found + side->founds && compare_found_same(at, key); at++) {
		struct cell cell = { .block = at->run, .value = 1 };
		unsigned bucket = 0;

		if (metric->unit == COMPARE_PER_SECOND)
			cell.count = at->entity->count[metric->count];
		while (metric->unit == COMPARE_PER_SECOND ||
		       histogram_next(&at->entity->histogram[metric->of], &bucket, &cell.value,
				      &cell.count)) {
			if (!ARRAY_ADD(side->cell, side->cells, side->cells_size, cell))
				return false;
			if (metric->unit == COMPARE_PER_SECOND)
				break;
		}
	}
	if (side->cells)
		qsort(side->cell, side->cells, sizeof(*side->cell), by_value);
	return true;
}

/* The logarithm of the quantile, or of how often it happened, in draw @at. NAN: nothing did. */
static double drawn(const struct side *side, const struct metric *metric, unsigned at)
{
	const uint8_t *times = side->times[at];
	uint64_t count = 0, rank, seen = 0;
	unsigned i = 0;

	for (unsigned c = 0; c < side->cells; c++)
		count += times[side->cell[c].block] * side->cell[c].count;
	if (!count)
		return (double)NAN;
	if (metric->unit == COMPARE_PER_SECOND)
		return log((double)count / side->blocks->count / side->alike);
	rank = (uint64_t)ceil(metric->quantile * (double)count);
	for (; i < side->cells; i++) {
		seen += times[side->cell[i].block] * side->cell[i].count;
		if (seen >= rank && seen)
			break;
	}
	return log(fmax((double)side->cell[i].value, 1));
}

static int by_number(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static void set_interval(struct compare_row *row, const struct metric *metric,
			 const struct side side[SIDES])
{
	double change[DRAWS];
	unsigned count = 0, bound;

	for (unsigned d = 0; d < DRAWS; d++) {
		const double one = (metric->is_less_worse ? -1 : 1) *
				   (drawn(&side[1], metric, d) - drawn(&side[0], metric, d));

		if (isfinite(one))
			change[count++] = one;
	}
	if (count < DRAWS / 2)
		return;
	qsort(change, count, sizeof(*change), by_number);
	bound = (unsigned)(CHANGE_ERROR * count);
	row->change.low = fmin(change[bound], row->change.estimate);
	row->change.high = fmax(change[count - 1 - bound], row->change.estimate);
}

static bool judge_row(struct compare_row *row, const struct compare_options *options,
		      struct side side[SIDES])
{
	const struct metric *metric = metric_named(row->entity->kind, row->metric);

	if (row->verdict.verdict != VERDICT_UNKNOWN ||
	    (metric->unit != COMPARE_NS && metric->unit != COMPARE_PER_SECOND))
		return true;
	side[0].alike = row->base_alike;
	side[1].alike = row->new_alike;
	if (!take_cells(&side[0], row, metric) || !take_cells(&side[1], row, metric))
		return false;
	set_interval(row, metric, side);
	if (isfinite(row->change.low))
		row->verdict.is_suspect = row->change.low > compare_limit(options, row);
	return true;
}

int blocks_judge(struct comparison *comparison, const struct compare_options *options,
		 const struct blocks *base, const struct blocks *new, struct kymo_err *err)
{
	struct side side[SIDES] = { { .blocks = base }, { .blocks = new } };
	uint64_t state = 0x9e3779b97f4a7c15u;
	bool done = true;

	if (base->count < BLOCKS_LEAST || new->count < BLOCKS_LEAST)
		return 0;
	for (unsigned s = 0; s < SIDES; s++)
		done = done && draw_blocks(&side[s], &state) && gather(&side[s]);
	for (unsigned i = 0; done && i < comparison->rows; i++)
		done = judge_row(&comparison->row[i], options, side);
	for (unsigned s = 0; s < SIDES; s++) {
		free(side[s].found);
		free(side[s].times);
		free(side[s].cell);
	}
	if (!done)
		return err_no_memory(err);
	comparison->has_blocks = true;
	compare_sort(comparison);
	return 0;
}
