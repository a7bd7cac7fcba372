/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in a chain a change is.
 *
 * Segments of all runs are matched by what they are and whose they are, and averaged for each
 * side. The part of a grown chain is the segment that grew most, if it grew by more than
 * PART_LEAST of what the chain grew by.
 */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "compare/compare_internal.h"

#define PART_LEAST 0.1 /* of the growth of the chain */

static struct compare_segment *find(struct compare_row *row, unsigned *capacity,
				    const struct summary_segment *from)
{
	for (unsigned i = 0; i < row->segments; i++)
		if (row->segment[i].what == from->what && !strcmp(row->segment[i].who, from->who) &&
		    !strcmp(row->segment[i].by, from->by))
			return &row->segment[i];
	if (!ARRAY_ROOM(row->segment, row->segments, *capacity))
		return NULL;
	row->segment[row->segments++] =
		(struct compare_segment){ .what = from->what, .who = from->who, .by = from->by };
	return &row->segment[row->segments - 1];
}

/* Of one run; of several windows only the mean is known. */
static double value_of(const struct summary_entity *chain, const struct summary_segment *segment,
		       double q)
{
	for (unsigned i = 0; i < SUMMARY_QUANTILES; i++)
		if (fabs(q - summary_quantile_at(i)) < 1e-9 &&
		    segment->quantile[SUMMARY_QUANTILES - 1])
			return (double)segment->quantile[i];
	return (double)segment->ns / fmax((double)chain->count[SUMMARY_RUNS], 1);
}

bool compare_segments(struct compare_row *row, const struct compare_found *found, unsigned bases,
		      unsigned runs, double q)
{
	unsigned capacity = 0;
	double most;

	for (unsigned r = 0; r < runs; r++)
		for (unsigned i = 0; i < found[r].entity->segments; i++) {
			const struct summary_segment *from = &found[r].entity->segment[i];
			struct compare_segment *segment = find(row, &capacity, from);
			const double value = value_of(found[r].entity, from, q);

			if (!segment)
				return false;
			if (r < bases)
				segment->base += value / bases;
			else
				segment->new += value / (runs - bases);
		}
	most = PART_LEAST * (row->new - row->base);
	for (unsigned i = 0; i < row->segments && row->new > row->base; i++) {
		const struct compare_segment *segment = &row->segment[i];

		if (segment->new - segment->base > most) {
			most = segment->new - segment->base;
			row->part = segment;
		}
	}
	return true;
}
