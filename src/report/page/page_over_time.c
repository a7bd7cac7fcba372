/* SPDX-License-Identifier: Apache-2.0 */
/* Series and heat maps of a page: of the entities that can be worst most columns, of others fewer.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"
#include "report/page/page_internal.h"

#define COLUMNS_LEAST 40u

/* One series: columns of an object that belongs to an entity. */
struct over_time_row {
	enum page_what what;
	uint32_t index;
	int number; /* of the entity */
	unsigned of; /* callbacks that have this name: a page shows the one with the worst */
	uint64_t rank;
	const struct page_cell *cell;
};

struct rows {
	struct over_time_row *row;
	unsigned count, size;
};

/* ---- which there are ---- */

static void add(struct page *page, struct rows *rows, enum page_what what, uint32_t index,
		int number)
{
	const struct page_cell *cell = page_track(page->report->series, what, index);
	struct over_time_row row = { what, index, number, 1, 0, cell };

	if (!cell || number < 0)
		return;
	for (unsigned i = 0; i < PAGE_COLUMNS; i++)
		if (cell[i].count && (uint64_t)cell[i].max_ns > row.rank)
			row.rank = (uint64_t)cell[i].max_ns;
	if (!ARRAY_ROOM(rows->row, rows->count, rows->size))
		page->failed = true;
	else
		rows->row[rows->count++] = row;
}

static void add_callbacks(struct page *page, struct rows *rows)
{
	const struct model *model = page->report->model;

	for (unsigned i = 0; i < model_count(model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(model, i);

		add(page, rows, PAGE_RUNS, i, page_callback_number(page, callback));
		if (page_track(page->report->series, PAGE_LATE, i))
			add(page, rows, PAGE_LATE, i, page_timer_number(page, callback));
	}
}

static void add_topics(struct page *page, struct rows *rows)
{
	const struct model *model = page->report->model;

	for (unsigned i = 0; i < model_count(model, MODEL_TOPIC); i++) {
		const int number = page_number(page, SUMMARY_TOPIC, model_topic(model, i)->name);

		add(page, rows, PAGE_LATENCY, i, number);
		add(page, rows, PAGE_LOST, i, number);
	}
}

static void add_chains(struct page *page, struct rows *rows)
{
	const struct chains *chains = page->report->chains;

	for (unsigned i = 0; i < chains_path_count(chains); i++) {
		const struct chains_path *path = chains_path(chains, i);

		if (path->stats && path->stats->total.count && chains_is_chain(chains, path))
			add(page, rows, PAGE_CHAIN, i, page_chain_number(page, path));
	}
}

/* A name of several processes is several entities, but one row of columns: it is left out. */
static void add_spans(struct page *page, struct rows *rows)
{
	const struct spans_stats *stats = page->report->spans_stats;

	for (unsigned i = 0; i < spans_stats_count(stats, SPANS_OF_SPANS); i++) {
		const struct spans_row *row = spans_stats_row(stats, SPANS_OF_SPANS, i);
		unsigned same = 0;
		char name[512];
		int number;

		for (unsigned k = 0; k < spans_stats_count(stats, SPANS_OF_SPANS); k++)
			same += spans_stats_row(stats, SPANS_OF_SPANS, k)->name == row->name;
		if (same != 1)
			continue;
		snprintf(name, sizeof(name), "%s:%s", row->name->category, row->name->name);
		number = page_number_in(page, SUMMARY_SPAN, name, row->process);
		if (number < 0)
			number = page_number_in(page, SUMMARY_LOOP, name, row->process);
		add(page, rows, PAGE_SPANS, row->name->index, number);
	}
}

static int by_rank(const void *a, const void *b)
{
	const struct over_time_row *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	return x->number != y->number ? x->number - y->number : (int)x->what - (int)y->what;
}

/* Of rows of one entity, the page shows the worst. @rows are sorted. */
static void keep_worst(struct page *page, struct rows *rows)
{
	const unsigned entities = page->shown_count;
	unsigned *known = calloc((size_t)entities * PAGE_WHATS + 1, sizeof(*known));
	unsigned kept = 0;

	page->failed |= !known;
	for (unsigned i = 0; known && i < rows->count; i++) {
		const struct over_time_row *row = &rows->row[i];
		unsigned *at = &known[(size_t)row->number * PAGE_WHATS + row->what];

		if (*at) {
			rows->row[*at - 1].of++;
			continue;
		}
		rows->row[kept++] = *row;
		*at = kept;
	}
	if (known)
		rows->count = kept;
	free(known);
}

/* ---- one of them ---- */

/* The cells with values, if @joined neighbours become one. */
static unsigned cells_of(const struct over_time_row *row, unsigned joined)
{
	unsigned cells = 0;

	for (unsigned i = 0; i < PAGE_COLUMNS; i += joined) {
		uint64_t count = 0;

		for (unsigned k = i; k < i + joined; k++)
			count += row->cell[k].count;
		cells += count > 0;
	}
	return cells;
}

static struct page_cell cell_at(const struct over_time_row *row, unsigned at, unsigned joined)
{
	struct page_cell cell = { 0 };

	for (unsigned k = at; k < at + joined; k++) {
		const struct page_cell *one = &row->cell[k];

		if (!one->count)
			continue;
		if (!cell.count || one->min_ns < cell.min_ns)
			cell.min_ns = one->min_ns;
		if (!cell.count || one->max_ns > cell.max_ns)
			cell.max_ns = one->max_ns;
		cell.count += one->count;
	}
	return cell;
}

enum member { MEMBER_AT, MEMBER_COUNT, MEMBER_MIN, MEMBER_MAX };

static void put_member(struct page *page, const char *key, const struct over_time_row *row,
		       unsigned joined, enum member member)
{
	unsigned last = 0;

	json_text_open(&page->json, key, '[');
	for (unsigned i = 0; i < PAGE_COLUMNS; i += joined) {
		const struct page_cell cell = cell_at(row, i, joined);
		const int64_t value[] = { (int64_t)(i / joined - last), cell.count, cell.min_ns,
					  cell.max_ns };

		if (!cell.count)
			continue;
		json_text_i64(&page->json, NULL, value[member]);
		last = i / joined;
	}
	json_text_close(&page->json, ']');
}

static void put_row(struct page *page, const struct over_time_row *row, unsigned joined)
{
	static const char *const names[PAGE_WHATS] = { "runs",    "late", "latency",
						       "latency", "lost", "spans" };

	json_text_open(&page->json, NULL, '{');
	json_text_i64(&page->json, "entity", row->number);
	json_text_string(&page->json, "what", names[row->what]);
	json_text_u64(&page->json, "joined", joined);
	if (row->of > 1)
		json_text_u64(&page->json, "of", row->of);
	put_member(page, "at", row, joined, MEMBER_AT);
	put_member(page, "count", row, joined, MEMBER_COUNT);
	if (row->what != PAGE_LOST) {
		put_member(page, "min", row, joined, MEMBER_MIN);
		put_member(page, "max", row, joined, MEMBER_MAX);
	}
	json_text_close(&page->json, '}');
}

/* ---- heat maps ---- */

/* [column, row, count, ...], each pair after the first as the distance from the one before. */
static void put_heat(struct page *page, const struct over_time_row *row)
{
	const uint32_t *heat = page_heat(page->report->series, row->index);
	unsigned last = 0;

	json_text_open(&page->json, NULL, '{');
	json_text_i64(&page->json, "entity", row->number);
	json_text_open(&page->json, "cells", '[');
	for (unsigned i = 0; i < PAGE_HEAT_COLUMNS * PAGE_HEAT_ROWS; i++) {
		if (!heat[i])
			continue;
		json_text_u64(&page->json, NULL, i - last);
		json_text_u64(&page->json, NULL, heat[i]);
		last = i;
	}
	json_text_close(&page->json, ']');
	json_text_close(&page->json, '}');
}

static void put_heats(struct page *page, const struct rows *rows)
{
	unsigned heats = 0;

	json_text_open(&page->json, "heat", '[');
	for (unsigned i = 0; i < rows->count && heats < PAGE_HEATS; i++) {
		if (rows->row[i].what != PAGE_LATENCY)
			continue;
		put_heat(page, &rows->row[i]);
		heats++;
	}
	json_text_close(&page->json, ']');
}

/* ---- gaps between publications ---- */

struct gaps {
	int number; /* of the topic */
	const struct histogram *interval;
};

static int by_longest(const void *a, const void *b)
{
	const struct gaps *x = a, *y = b;

	return ORDER(y->interval->max, x->interval->max) ?: x->number - y->number;
}

/* Of the topics with the longest gaps. */
static void put_gaps(struct page *page)
{
	const struct report *report = page->report;
	struct gaps *gaps = calloc(model_count(report->model, MODEL_TOPIC) + 1, sizeof(*gaps));
	unsigned count = 0;

	page->failed |= !gaps;
	for (unsigned i = 0; gaps && i < model_count(report->model, MODEL_TOPIC); i++) {
		const struct histogram *interval = &intervals_topic(report->intervals, i)->interval;
		const int number =
			page_number(page, SUMMARY_TOPIC, model_topic(report->model, i)->name);

		if (interval->count && number >= 0)
			gaps[count++] = (struct gaps){ number, interval };
	}
	if (count)
		qsort(gaps, count, sizeof(*gaps), by_longest);
	json_text_open(&page->json, "gaps", '[');
	for (unsigned i = 0; i < count && i < PAGE_GAPS; i++) {
		json_text_open(&page->json, NULL, '{');
		json_text_i64(&page->json, "entity", gaps[i].number);
		page_put_distribution(page, "gap", gaps[i].interval);
		json_text_close(&page->json, '}');
	}
	json_text_close(&page->json, ']');
	free(gaps);
}

/* ---- all ---- */

/*
 * Neighbours are joined where the columns that are left would not do for the rest. When none is
 * left, the rows that follow, which harm least, still get a coarse picture.
 */
static unsigned joined_for(const struct over_time_row *row, unsigned left, unsigned rows)
{
	const unsigned share = left / rows > COLUMNS_LEAST ? left / rows : COLUMNS_LEAST;
	unsigned joined = 1;

	while (PAGE_COLUMNS / joined / 2 >= COLUMNS_LEAST && cells_of(row, joined) > 8 * share &&
	       joined < 16)
		joined *= 2;
	while (rows * COLUMNS_LEAST > left && joined < (left ? 16 : 32))
		joined *= 2;
	return joined;
}

void page_put_series(struct page *page)
{
	const struct page_series *series = page->report->series;
	struct rows rows = { 0 };
	unsigned left = PAGE_CELLS;

	json_text_open(&page->json, "columns", '{');
	if (series->origin_ns != INT64_MIN) {
		page_put_time(page, "origin", series->origin_ns);
		json_text_u64(&page->json, "width", UINT64_C(1) << series->shift);
	}
	json_text_u64(&page->json, "count", PAGE_COLUMNS);
	json_text_u64(&page->json, "heat_rows", PAGE_HEAT_ROWS);
	json_text_u64(&page->json, "heat_joined", PAGE_COLUMNS / PAGE_HEAT_COLUMNS);
	json_text_close(&page->json, '}');
	add_callbacks(page, &rows);
	add_topics(page, &rows);
	add_chains(page, &rows);
	add_spans(page, &rows);
	if (rows.count)
		qsort(rows.row, rows.count, sizeof(*rows.row), by_rank);
	keep_worst(page, &rows);
	json_text_open(&page->json, "series", '[');
	for (unsigned i = 0; i < rows.count; i++) {
		const unsigned joined = joined_for(&rows.row[i], left, rows.count - i);
		const unsigned cells = cells_of(&rows.row[i], joined);

		put_row(page, &rows.row[i], joined);
		left -= cells < left ? cells : left;
	}
	json_text_close(&page->json, ']');
	put_heats(page, &rows);
	put_gaps(page);
	free(rows.row);
}
