/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened over time, for the page's charts, in bounded memory: for each callback, topic and
 * chain a row of columns with the count, the smallest and the largest value, and for each topic a
 * heat map.
 *
 * Columns are 2^shift ns wide. When an event lies behind the last column, pairs of columns become
 * one, of all rows at once: a trace fills between half of the columns and all of them.
 *
 * Context of all functions: not thread-safe; allocate.
 */
#ifndef KYMO_REPORT_PAGE_SERIES_H
#define KYMO_REPORT_PAGE_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/spans/loops.h"
#include "analysis/spans/spans.h"

#define PAGE_COLUMNS 640u
#define PAGE_HEAT_COLUMNS (PAGE_COLUMNS / 4)
/* Two rows for each power of two: below 1.5 times it, and above. */
#define PAGE_HEAT_ROWS 80u

enum page_what {
	PAGE_RUNS,    /* of a callback: how long it ran, by its start */
	PAGE_LATE,    /* of a timer's callback: how late it began */
	PAGE_LATENCY, /* of a topic: from the publish call to the start of the callback */
	PAGE_CHAIN,   /* of a chain: from end to end, by its begin */
	PAGE_LOST,    /* of a topic: messages never received; no values */
	PAGE_SPANS,   /* of a span: how long it took */
	PAGE_WHATS
};

struct page_cell {
	uint32_t count;
	int64_t min_ns, max_ns;
};

struct page_track {
	struct page_cell *cell; /* [PAGE_COLUMNS]; NULL: nothing happened */
	unsigned shift; /* of these columns; behind that of the series until they are used again */
};

struct page_heat {
	uint32_t *count; /* [PAGE_HEAT_COLUMNS][PAGE_HEAT_ROWS]; NULL: nothing */
	unsigned shift;  /* as in struct page_track */
	unsigned last;   /* column behind which nothing is */
};

struct page_series {
	struct model *model;
	int64_t begin_ns, end_ns; /* only what begins inside */
	int64_t origin_ns;        /* begin of the first column; INT64_MIN: nothing happened yet */
	unsigned shift;
	struct page_track *track[PAGE_WHATS]; /* by index of what it is of, a span by its name */
	uint32_t tracks[PAGE_WHATS];
	struct page_heat *heat; /* by index of the topic */
	uint32_t heats;
	unsigned first_row; /* of those that are bound for has_functions */
	bool has_functions; /* the trace has calls of functions */
	bool failed;
};

/** page_track() - the columns of the object with @index; NULL: nothing happened. */
const struct page_cell *page_track(const struct page_series *series, enum page_what what,
				   uint32_t index);

/** page_heat() - the heat map of the topic with @index; NULL: nothing was received. */
const uint32_t *page_heat(const struct page_series *series, uint32_t index);

#endif
