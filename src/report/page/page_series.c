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

static void track_halve(struct page_track *track)
{
	for (unsigned i = 0; track->cell && i < PAGE_COLUMNS; i++) {
		struct page_cell cell = { 0 };

		if (2 * i < PAGE_COLUMNS) {
			cell = track->cell[2 * i];
			cell_merge(&cell, &track->cell[2 * i + 1]);
		}
		track->cell[i] = cell;
	}
}

static void heat_halve(struct page_heat *heat)
{
	for (unsigned i = 0; heat->count && i < PAGE_HEAT_COLUMNS; i++)
		for (unsigned row = 0; row < PAGE_HEAT_ROWS; row++) {
			const uint32_t *left = &heat->count[2 * i * PAGE_HEAT_ROWS + row];

			heat->count[i * PAGE_HEAT_ROWS + row] =
				2 * i < PAGE_HEAT_COLUMNS ? left[0] + left[PAGE_HEAT_ROWS] : 0;
		}
}

static void halve(struct page_series *series)
{
	for (unsigned what = 0; what < PAGE_WHATS; what++)
		for (uint32_t i = 0; i < series->tracks[what]; i++)
			track_halve(&series->track[what][i]);
	for (uint32_t i = 0; i < series->heats; i++)
		heat_halve(&series->heat[i]);
	series->shift++;
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
		halve(series);
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

static void on_span(void *context, const struct spans_event *event)
{
	if (!event->unfinished)
		add(context, PAGE_SPANS, event->name->index, event->begin_ns,
		    event->ns - event->begin_ns);
}

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
	if (model_listen(model, &listener, series) ||
	    spans_listen(spans, &spans_listener, series)) {
		page_series_destroy(series);
		return err_set(err, KYMO_EXIT_FAILED, "too many analyses listen at once");
	}
	*out = series;
	return 0;
}

PASS_LISTENER(page_series);

/* ---- afterwards ---- */

const struct page_cell *page_track(const struct page_series *series, enum page_what what,
				   uint32_t index)
{
	return index < series->tracks[what] ? series->track[what][index].cell : NULL;
}

const uint32_t *page_heat(const struct page_series *series, uint32_t index)
{
	return index < series->heats ? series->heat[index].count : NULL;
}
