/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of time, filled while the trace is read; see page_series.h. */
#include "report/page/page_series.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/report_internal.h"

#define SHIFT_FIRST 10u

/* ---- columns ---- */

static void cell_merge(struct page_cell *into, const struct page_cell *from)
{
	if (!from->count)
		return;
	if (!into->count || from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (!into->count || from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	into->count += from->count;
}

/* Where column @at is when columns have been joined in pairs @times times. */
static unsigned joined_at(unsigned at, unsigned times)
{
	return times < 32 ? at >> times : 0;
}

/* Columns become wider when the trace goes on; those of a track do when it is used again. */
static void track_widen(struct page_track *track, unsigned shift)
{
	const unsigned times = shift - track->shift;

	for (unsigned i = 1; times && i < PAGE_COLUMNS; i++) {
		const struct page_cell cell = track->cell[i];

		if (!cell.count)
			continue;
		track->cell[i] = (struct page_cell){ 0 };
		cell_merge(&track->cell[joined_at(i, times)], &cell);
	}
	track->shift = shift;
}

static void column_move(uint32_t *restrict to, uint32_t *restrict from)
{
	for (unsigned row = 0; row < PAGE_HEAT_ROWS; row++)
		to[row] += from[row];
	memset(from, 0, PAGE_HEAT_ROWS * sizeof(*from));
}

static void heat_widen(struct page_heat *heat, unsigned shift)
{
	const unsigned times = shift - heat->shift;

	if (!times)
		return;
	for (unsigned i = 1; i <= heat->last; i++)
		column_move(&heat->count[joined_at(i, times) * PAGE_HEAT_ROWS],
			    &heat->count[i * PAGE_HEAT_ROWS]);
	heat->last = joined_at(heat->last, times);
	heat->shift = shift;
}

/* The column of @ns; what is before the first event is in the first one. */
static unsigned column_of(struct page_series *series, int64_t ns)
{
	uint64_t since;

	if (series->origin_ns == INT64_MIN) {
		series->origin_ns = model_facts(series->model)->first_ns;
		if (!series->origin_ns || series->origin_ns > ns)
			series->origin_ns = ns;
	}
	since = ns > series->origin_ns ? (uint64_t)ns - (uint64_t)series->origin_ns : 0;
	while (since >> series->shift >= PAGE_COLUMNS)
		series->shift++;
	return (unsigned)(since >> series->shift);
}

static void add(struct page_series *series, enum page_what what, uint32_t index, int64_t ns,
		int64_t value_ns)
{
	struct page_track *track = ARRAY_AT(series->track[what], series->tracks[what], index);
	struct page_cell cell = { 1, value_ns, value_ns };
	unsigned column;

	if (ns < series->begin_ns || ns > series->end_ns)
		return;
	if (track && !track->cell)
		track->cell = calloc(PAGE_COLUMNS, sizeof(*track->cell));
	if (!track || !track->cell) {
		series->failed = true;
		return;
	}
	column = column_of(series, ns);
	track_widen(track, series->shift);
	cell_merge(&track->cell[column], &cell);
}

static unsigned heat_row(uint64_t value_ns)
{
	unsigned power, row;

	if (!value_ns)
		return 0;
	power = 63 - (unsigned)__builtin_clzll(value_ns);
	row = 2 * power + (power && (value_ns >> (power - 1) & 1));
	return row < PAGE_HEAT_ROWS ? row : PAGE_HEAT_ROWS - 1;
}

static void add_heat(struct page_series *series, uint32_t index, int64_t ns, int64_t value_ns)
{
	struct page_heat *heat = ARRAY_AT(series->heat, series->heats, index);
	unsigned column;

	if (ns < series->begin_ns || ns > series->end_ns)
		return;
	if (heat && !heat->count)
		heat->count =
			calloc((size_t)PAGE_HEAT_COLUMNS * PAGE_HEAT_ROWS, sizeof(*heat->count));
	if (!heat || !heat->count) {
		series->failed = true;
		return;
	}
	column = column_of(series, ns) / (PAGE_COLUMNS / PAGE_HEAT_COLUMNS);
	heat_widen(heat, series->shift);
	if (column > heat->last)
		heat->last = column;
	heat->count[column * PAGE_HEAT_ROWS + heat_row((uint64_t)value_ns)]++;
}

/* ---- what happens ---- */

static void on_instance(void *context, const struct model_instance *instance)
{
	struct page_series *series = context;
	const uint32_t index = instance->callback->index;
	int64_t late_ns;

	add(series, PAGE_RUNS, index, instance->start_ns, instance->duration_ns);
	if (!instance->callback->timer || !instance->due_ns)
		return;
	late_ns = instance->start_ns - instance->due_ns;
	add(series, PAGE_LATE, index, instance->start_ns, late_ns > 0 ? late_ns : 0);
}

/* As stats.h has the latency of a topic: only where the clocks of the two hosts compare. */
static void on_taken(void *context, const struct model_message *message)
{
	struct page_series *series = context;
	int64_t latency_ns = message->callback_ns - message->publish_ns;

	if (!message->topic || !message->callback || !message->publish_ns ||
	    model_clock_error(message->publish_thread->process, message->take_thread->process,
			      message->take_ns) == KYMO_CTF_ERROR_UNKNOWN)
		return;
	latency_ns = latency_ns > 0 ? latency_ns : 0;
	add(series, PAGE_LATENCY, message->topic->index, message->publish_ns, latency_ns);
	add_heat(series, message->topic->index, message->publish_ns, latency_ns);
}

static void on_dropped(void *context, const struct model_message *message, enum model_drop why)
{
	(void)why;
	if (message->topic && message->subscription && message->publish_ns)
		add(context, PAGE_LOST, message->topic->index, message->publish_ns, 0);
}

void page_series_arrived(struct page_series *series, const struct chains_path *path,
			 const struct chains_arrival *arrival)
{
	const int64_t ns = arrival->total_ns > 0 ? arrival->total_ns : 0;

	add(series, PAGE_CHAIN, path->index, arrival->begin_ns, ns);
}

static void on_span(void *context, const struct spans_event *event)
{
	if (!event->unfinished)
		add(context, PAGE_SPANS, event->name->index, event->begin_ns,
		    event->ns - event->begin_ns);
}

/* Functions have a flame graph, for which the trace is read again: are there any? */
static const struct kymo_ctf_bind functions[] = {
	{ "lttng_ust_cyg_profile_fast:func_entry", { NULL } },
	{ "lttng_ust_cyg_profile:func_entry", { NULL } },
};

/* ---- life cycle ---- */

static const struct model_listener listener = { .instance = on_instance,
						.taken = on_taken,
						.dropped = on_dropped };
static const struct spans_listener spans_listener = { .end = on_span };

static void page_series_destroy(struct page_series *series)
{
	if (!series)
		return;
	for (unsigned what = 0; what < PAGE_WHATS; what++) {
		for (uint32_t i = 0; i < series->tracks[what]; i++)
			free(series->track[what][i].cell);
		free(series->track[what]);
	}
	for (uint32_t i = 0; i < series->heats; i++)
		free(series->heat[i].count);
	free(series->heat);
	free(series);
}

int page_series_create(struct page_series **out, struct model *model, struct spans *spans,
		       int64_t begin_ns, int64_t end_ns, struct kymo_err *err)
{
	struct page_series *series = calloc(1, sizeof(*series));

	if (!series)
		return err_no_memory(err);
	*series = (struct page_series){ .model = model,
					.begin_ns = begin_ns,
					.end_ns = end_ns,
					.origin_ns = INT64_MIN,
					.shift = SHIFT_FIRST };
	if (model_listen(model, &listener, series, err) ||
	    spans_listen(spans, &spans_listener, series, err) ||
	    model_bind_also(model, functions, COUNT_OF(functions), &series->first_row, err)) {
		page_series_destroy(series);
		return -1;
	}
	*out = series;
	return 0;
}

static void page_series_pass_rows(const void *analysis, int *first, int *end)
{
	const struct page_series *series = analysis;

	*first = (int)series->first_row;
	*end = (int)(series->first_row + COUNT_OF(functions));
}

static int page_series_event(struct page_series *series, const struct kymo_ctf_event *event)
{
	series->has_functions |= event->bound >= (int)series->first_row &&
				 event->bound < (int)(series->first_row + COUNT_OF(functions));
	return 0;
}

static bool page_series_failed(const struct page_series *series)
{
	return series->failed;
}

PASS_EVENT(page_series)
PASS_FAILED(page_series)
PASS_DESTROY(page_series)
const struct pass_ops page_series_pass = {
	.turn = PASS_AFTER_MODEL,
	.rows = page_series_pass_rows,
	.event = page_series_pass_event,
	.failed = page_series_pass_failed,
	.destroy = page_series_pass_destroy,
};

/* ---- afterwards ---- */

const struct page_cell *page_track(const struct page_series *series, enum page_what what,
				   uint32_t index)
{
	if (index >= series->tracks[what] || !series->track[what][index].cell)
		return NULL;
	track_widen(&series->track[what][index], series->shift);
	return series->track[what][index].cell;
}

const uint32_t *page_heat(const struct page_series *series, uint32_t index)
{
	if (index >= series->heats || !series->heat[index].count)
		return NULL;
	heat_widen(&series->heat[index], series->shift);
	return series->heat[index].count;
}
