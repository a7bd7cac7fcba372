/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a trace for its tables: one event at a time, until a requested row is in the queue. */
#include "analysis/tables/tables_internal.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/stats/stats_windows.h"

#define TICK_EVENTS 0xffffu	/* a power of two minus one */

/* ---- filters ---- */

static bool holds(enum tables_relation relation, int64_t left, int64_t right)
{
	switch (relation) {
	case TABLES_EQ:
		return left == right;
	case TABLES_GT:
		return left > right;
	case TABLES_GE:
		return left >= right;
	case TABLES_LT:
		return left < right;
	case TABLES_LE:
		return left <= right;
	}
	return false;
}

static bool is_wanted(const struct tables_scan *scan, const struct tables_row *row)
{
	const struct tables_filter *filter = scan->request.filter;
	struct tables_value value;

	for (unsigned i = 0; i < scan->request.filters; i++, filter++) {
		if (filter->table != row->table)
			continue;
		(filter->elapsed ? tables_elapsed : tables_value)(row, filter->column, &value);
		if (value.is == TABLES_VALUE_INTEGER && !filter->text ?
			    !holds(filter->relation, value.integer, filter->number) :
		    value.is != TABLES_VALUE_TEXT || !filter->text ||
			    strcmp(value.text, filter->text) != 0)
			return false;
	}
	return tables_is_chosen(scan->tables, row);
}

/* ---- reading ---- */

static int tick(struct tables_scan *scan, struct kymo_err *err)
{
	const struct tables *tables = scan->tables;
	double done = 0;

	if (!tables->tick)
		return 0;
	if (scan->end_ns > scan->begin_ns && scan->event.clock_ns > scan->begin_ns)
		done = (double)(scan->event.clock_ns - scan->begin_ns) /
		       (double)(scan->end_ns - scan->begin_ns);
	if (tables->tick(tables->tick_context, scan->events, done < 1 ? done : 1))
		return err_set(err, KYMO_EXIT_FAILED, "interrupted");
	return 0;
}

/* Finds the time and the id after which no row of the only requested table can pass the filters. */
static void find_last(struct tables_scan *scan)
{
	const struct tables_filter *filter = scan->request.filter;

	scan->past_ns = INT64_MAX;
	scan->past_id = INT64_MAX;
	if (__builtin_popcountll(scan->request.tables) != 1)
		return;
	for (unsigned i = 0; i < scan->request.filters; i++, filter++) {
		if (filter->text || filter->relation == TABLES_GT || filter->relation == TABLES_GE)
			continue;
		scan->past_table = filter->table;
		if (!filter->column && tables_numbered(filter->table) &&
		    filter->number < scan->past_id)
			scan->past_id = filter->number;
		if (filter->column == tables_order(filter->table) &&
		    filter->elapsed == (scan->tables->clock != NULL) &&
		    filter->number < scan->past_ns)
			scan->past_ns = filter->number;
	}
}

static bool is_past(const struct tables_scan *scan)
{
	return scan->event.ns > scan->past_ns ||
	       (scan->past_id < INT64_MAX &&
		(int64_t)scan->last_id[scan->past_table] >= scan->past_id);
}

static void any_row(struct tables_scan *scan)
{
	struct tables_row *row = tables_row_new(scan, TABLE_events);

	if (row) {
		row->any.event = &scan->event;
		row->any.scan = scan;
	}
}

static int finish(struct tables_scan *scan, struct kymo_err *err)
{
	scan->ended = true;
	if (scan->lost > scan->tables->lost)
		scan->tables->lost = scan->lost;
	if (scan->costs)
		costs_finish(scan->costs);
	if (scan->windows)
		windows_finish(scan->windows);
	if (scan->behaviour)
		behaviour_finish(scan->behaviour);
	if (scan->model) {
		spans_finish(scan->spans);
		model_finish(scan->model);
		if (scan->capture)
			capture_finish(scan->capture);
		tables_kernel_finish(scan);
	}
	return scan->out_of_memory || (scan->waits && waits_failed(scan->waits)) ||
			       (scan->windows && windows_failed(scan->windows)) ||
			       (scan->loops && loops_failed(scan->loops)) ||
			       (scan->behaviour && behaviour_failed(scan->behaviour)) ||
			       (scan->capture && capture_failed(scan->capture))
		       ? err_no_memory(err)
		       : 0;
}

static int take_event(struct tables_scan *scan, struct kymo_err *err)
{
	const struct kymo_ctf_event *event = &scan->event;

	if (event->bound == KYMO_CTF_LOSS)
		scan->lost += event->lost;
	else
		any_row(scan);
	if (!scan->model)
		return 0;
	if (scan->windows)
		windows_advance(scan->windows, event->ns);
	if ((scan->costs && costs_event(scan->costs, event)) ||
	    (scan->runs && sched_runs_event(scan->runs, event)) ||
	    spans_event(scan->spans, event) || model_event(scan->model, event))
		return err_no_memory(err);
	if (scan->behaviour)
		(void)behaviour_event(scan->behaviour, event);
	tables_samples_event(scan, event);
	tables_point(scan, event);
	return 0;
}

static int read_on(struct tables_scan *scan, struct kymo_err *err)
{
	bool past = is_past(scan);
	int more = past ? 0 : kymo_ctf_next(scan->reader, &scan->event, err);

	if (more < 0)
		return -1;
	if (past) {
		/* Open runs and spans cannot pass the filters either. */
		scan->ended = true;
		return 0;
	}
	if (!more)
		return finish(scan, err);
	if (take_event(scan, err))
		return -1;
	if (scan->out_of_memory)
		return err_no_memory(err);
	return ++scan->events & TICK_EVENTS ? 0 : tick(scan, err);
}

/* ---- objects ---- */

static const enum model_kind kinds[TABLES] = {
#define OBJECTS(name, type, kind, text) [TABLE_##name] = kind,
#define ROWS(...)
#define COLUMN(...)
#define END
#include "analysis/tables/tables.def"
};

/* If a filter requests one id, skip to the only object with this id. */
static bool object_skip(struct tables_scan *scan)
{
	const struct tables_filter *filter = scan->request.filter;

	for (unsigned i = 0; i < scan->request.filters; i++, filter++) {
		if (filter->table != scan->object_table || filter->column ||
		    filter->relation != TABLES_EQ)
			continue;
		if (filter->number <= scan->object_index || filter->number > UINT32_MAX)
			return false;
		scan->object_index = (unsigned)filter->number - 1;
	}
	return true;
}

static bool next_object(struct tables_scan *scan)
{
	const struct model *model = scan->model ? scan->model : scan->tables->model;
	struct tables_row *row = &scan->object;

	for (; scan->object_table < TABLES; scan->object_table++, scan->object_index = 0) {
		if (!tables_wants(scan, scan->object_table) ||
		    !tables_table[scan->object_table].of_objects)
			continue;
		while (object_skip(scan) &&
		       (row->it = model_object(model, kinds[scan->object_table],
					       scan->object_index))) {
			scan->object_index++;
			row->table = scan->object_table;
			row->clock = scan->tables->clock;
			if (is_wanted(scan, row))
				return true;
		}
	}
	return false;
}

/* ---- a scan ---- */

static int attach(struct tables_scan *scan, struct kymo_err *err)
{
	return model_create(&scan->model, err) || spans_create(&scan->spans, scan->model, err) ||
			       tables_listen(scan, err) || tables_waits_attach(scan, err) ||
			       tables_windows_attach(scan, err) || tables_loops_attach(scan, err) ||
			       tables_behaviours_attach(scan, err) ||
			       tables_packets_attach(scan, err) ||
			       tables_samples_attach(scan, err) ||
			       tables_costs_attach(scan, err) || tables_kernel_attach(scan, err) ||
			       spans_attach(scan->spans, scan->reader, err)
		       ? -1
		       : 0;
}

/* If only events are requested, the reader itself applies the window. */
static int set_window(struct tables_scan *scan, struct kymo_err *err)
{
	int64_t begin = INT64_MIN, end = INT64_MAX;
	int order = tables_order(TABLE_events);

	for (unsigned i = 0; i < scan->request.filters; i++) {
		const struct tables_filter *filter = &scan->request.filter[i];

		if (filter->column != order)
			continue;
		if (filter->relation <= TABLES_GE && filter->number > begin)
			begin = filter->number;
		if ((filter->relation == TABLES_EQ || filter->relation >= TABLES_LT) &&
		    filter->number < end)
			end = filter->number;
	}
	if (!scan->request.without_id || scan->tables->clock ||
	    (begin == INT64_MIN && end == INT64_MAX))
		return 0;
	return kymo_ctf_window(scan->reader, begin, end, err);
}

static void find_extent(struct tables_scan *scan)
{
	scan->begin_ns = UINT64_MAX;
	for (unsigned i = 0; i < kymo_ctf_stream_count(scan->reader); i++) {
		const struct kymo_ctf_stream_info *info = kymo_ctf_stream(scan->reader, i);

		if (info->begin_ns && info->begin_ns < scan->begin_ns)
			scan->begin_ns = info->begin_ns;
		if (info->end_ns > scan->end_ns)
			scan->end_ns = info->end_ns;
	}
}

static int start(struct tables_scan *scan, struct kymo_err *err)
{
	if (tables_reader(scan->tables, &scan->reader, err))
		return -1;
	kymo_ctf_threads(scan->reader, 0);
	simclock_attach(scan->tables->clock, scan->reader);
	find_extent(scan);
	if (scan->request.tables != TABLES_BIT(TABLE_events))
		return attach(scan, err);
	return kymo_ctf_bind(scan->reader, NULL, 0, err) || set_window(scan, err) ? -1 : 0;
}

static uint64_t object_tables(void)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < TABLES; i++)
		mask |= tables_table[i].of_objects ? TABLES_BIT(i) : 0;
	return mask;
}

int tables_scan(struct tables *tables, const struct tables_request *request,
		struct tables_scan **result, struct kymo_err *err)
{
	struct tables_scan *scan = calloc(1, sizeof(*scan));
	unsigned filters;
	struct tables_filter *filter = tables_filters(tables, request, &filters);
	int status = 0;

	if (!scan || !filter) {
		free(scan);
		free(filter);
		return err_no_memory(err);
	}
	scan->tables = tables;
	scan->request = *request;
	scan->request.filter = filter;
	scan->request.filters = filters;
	find_last(scan);
	/* The objects are in the model of an earlier pass. */
	if (request->tables && !(request->tables & ~object_tables())) {
		scan->ended = true;
		status = tables_learn(tables, err);
	} else {
		status = start(scan, err);
	}
	if (status) {
		tables_scan_end(scan);
		return -1;
	}
	*result = scan;
	return 0;
}

void tables_scan_end(struct tables_scan *scan)
{
	if (!scan)
		return;
	for (unsigned i = 0; scan->reader && i < kymo_ctf_warning_count(scan->reader); i++)
		tables_keep_warning(scan->tables, kymo_ctf_warning(scan->reader, i));
	if (scan->model)
		model_code_files(scan->model, tables_keep_file, scan->tables);
	tables_spans_free(scan);
	tables_samples_free(scan);
	loops_destroy(scan->loops);
	spans_destroy(scan->spans);
	sched_runs_destroy(scan->runs);
	waits_destroy(scan->waits);
	windows_destroy(scan->windows);
	behaviour_destroy(scan->behaviour);
	capture_destroy(scan->capture);
	costs_destroy(scan->costs);
	model_destroy(scan->model);
	kymo_ctf_close(scan->reader);
	free((void *)scan->request.filter);
	free(scan->queue);
	free(scan->json);
	free(scan);
}

int tables_next(struct tables_scan *scan, const struct tables_row **row, struct kymo_err *err)
{
	struct tables_row *next;

	for (;;) {
		while ((next = tables_row_next(scan))) {
			if (!is_wanted(scan, next))
				continue;
			*row = next;
			return 1;
		}
		if (scan->texts.count)
			tables_spans_settle(scan);
		if (scan->ended && (tables_leaks_next(scan) || tables_packets_next(scan)))
			continue;
		if (scan->out_of_memory)
			return err_no_memory(err);
		if (scan->ended)
			break;
		if (read_on(scan, err))
			return -1;
	}
	*row = &scan->object;
	return next_object(scan);
}
