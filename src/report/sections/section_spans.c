/* SPDX-License-Identifier: Apache-2.0 */
/* The sections about what programs say of themselves: spans, instants, counters. */
#include <math.h>
#include <string.h>

#include "report/report_internal.h"
#include "base/array.h"

typedef double (*row_key)(const struct report *report, const struct spans_row *row);
typedef void (*row_print)(struct report *report, const struct report_row *row);

/* Equal keys: by category, then name, then process. */
static void print_rows(struct report *report, enum spans_table table, row_key key, row_print print)
{
	struct report_rows rows = { 0 };

	for (unsigned i = 0; i < spans_stats_count(report->spans_stats, table); i++) {
		const struct spans_row *row = spans_stats_row(report->spans_stats, table, i);

		if (report_wants_process(report, row->process))
			REPORT_ROW(&rows, .index = row->process->index, .of = row,
				   .key = key(report, row), .name = row->name->category,
				   .then = row->name->name);
	}
	report_rows_print(report, &rows, print);
}

static void cells_name(struct report *report, const struct spans_row *row)
{
	char buffer[128];

	table_text(report->table, row->name->category);
	table_text(report->table, row->name->name);
	table_text(report->table, report->options->format == TABLE_TEXT ?
			      report_process(report, row->process, buffer, sizeof(buffer)) :
			      row->process->name);
}

static void cells_process(struct report *report, const struct spans_row *row)
{
	table_i64(report->table, row->process->pid);
	table_text(report->table, row->process->hostname);
}

/* p50, p99 and max; a distribution of nothing has none. */
static void cells_p50_p99_max(struct table *table, const struct histogram *durations)
{
	if (!durations->count) {
		cells_none(table, 3);
		return;
	}
	table_ns(table, (int64_t)histogram_quantile(durations, 0.5));
	table_ns(table, (int64_t)histogram_quantile(durations, 0.99));
	table_ns(table, (int64_t)durations->max);
}

/* ---- loops ---- */

static const struct table_column loop_columns[] = {
	{ "category", "Category" },
	{ "name", "Loop" },
	{ "thread", "Thread" },
	{ "cycles", "Cycles" },
	{ "period_ns", "Period" },
	{ "latency_p50_ns", "Late p50" },
	{ "latency_p99_ns", "p99" },
	{ "latency_max_ns", "Max" },
	{ "busy_p50_ns", "Busy p50" },
	{ "busy_p99_ns", "p99" },
	{ "busy_max_ns", "Max" },
	{ "missed", "Missed" },
	{ "overruns", "Overrun" },
	{ "skipped", "Skipped" },
	{ "late_max_ns", NULL },
	{ "unfinished", NULL },
	{ "tid", NULL },
	{ "process", NULL },
	{ "pid", NULL },
	{ "host", NULL },
};

static void loop_row(struct report *report, const struct report_row *found)
{
	const struct loop *loop = found->of;
	struct table *t = report->table;

	table_text(t, loop->name->category);
	table_text(t, loop->name->name);
	table_text(t, loop->thread->name);
	table_u64(t, loop->cycles);
	CELL_IF(t, loop->period.count,
		table_ns(t, (int64_t)histogram_quantile(&loop->period, 0.5)));
	cells_p50_p99_max(t, &loop->latency);
	cells_p50_p99_max(t, &loop->busy);
	table_u64(t, loop->missed);
	table_u64(t, loop->overruns);
	table_u64(t, loop->skipped);
	CELL_IF(t, loop->missed, table_ns(t, loop->late_max_ns));
	table_u64(t, loop->unfinished);
	table_i64(t, loop->thread->tid);
	table_text(t, loop->thread->process->name);
	table_i64(t, loop->thread->process->pid);
	table_text(t, loop->thread->process->hostname);
}

/* The loop with the longest way from due to ended comes first. */
void report_loops(struct report *report)
{
	struct report_rows rows = { 0 };

	table_section(report->table, "loops",
		      "Loops: how late each cycle woke, and how long it took", loop_columns,
		      COUNT_OF(loop_columns));
	for (unsigned i = 0; i < loops_count(report->loops); i++) {
		const struct loop *loop = loops_at(report->loops, i);

		if (loop->cycles && report_wants_process(report, loop->thread->process))
			REPORT_ROW(&rows, .index = i, .of = loop, .key = (double)loop->response.max,
				   .name = loop->name->category, .then = loop->name->name);
	}
	report_rows_print(report, &rows, loop_row);
}

/* ---- spans ---- */

static const struct table_column span_columns[] = {
	{ "category", "Category" },
	{ "name", "Span" },
	{ "process", "Process" },
	{ "threads", "Threads" },
	{ "count", "Count" },
	{ "rate_hz", "Hz" },
	{ "min_ns", "Min" },
	{ "mean_ns", "Mean" },
	{ "p50_ns", "p50" },
	{ "p99_ns", "p99" },
	{ "max_ns", "Max" },
	{ "deviation_ns", "Deviation" },
	{ "total_ns", "Total" },
	{ "self_ns", "Self" },
	{ "self_p50_ns", NULL },
	{ "self_p99_ns", NULL },
	{ "self_max_ns", NULL },
	{ "unfinished", "Unfinished" },
	{ "pid", NULL },
	{ "host", NULL },
};

static double span_key(const struct report *report, const struct spans_row *row)
{
	/* How long a loop sleeps does not compare with what others did. */
	if (loops_is_sleep(report->loops, row->process, row->name))
		return -1;
	return report_sort_key(
		report->options->sort, &row->duration, row->duration.count,
		report_rate(report, row->duration.count, row->first_ns, row->last_ns));
}

static void span_row(struct report *report, const struct report_row *found)
{
	const struct spans_row *row = found->of;
	const struct histogram *h = &row->duration;
	struct table *t = report->table;

	cells_name(report, row);
	table_u64(t, row->threads);
	table_u64(t, h->count);
	cell_rate(t, report_rate(report, h->count, row->first_ns, row->last_ns));
	cells_histogram(t, h, 0); /* spans that never ended have a count and no durations */
	cell_deviation(t, h, 0);
	table_ns(t, (int64_t)h->sum);
	table_ns(t, (int64_t)row->self.sum);
	cells_p50_p99_max(t, &row->self);
	table_u64(t, row->unfinished);
	cells_process(report, row);
}

void report_spans(struct report *report)
{
	table_section(report->table, "spans",
		      report->options->sort == REPORT_SORT_MAX ? "Spans, slowest first" : "Spans",
		      span_columns, COUNT_OF(span_columns));
	print_rows(report, SPANS_OF_SPANS, span_key, span_row);
}

/* ---- instants ---- */

static const struct table_column instant_columns[] = {
	{ "category", "Category" }, { "name", "Instant" }, { "process", "Process" },
	{ "threads", "Threads" }, { "count", "Count" }, { "rate_hz", "Hz" }, { "pid", NULL },
	{ "host", NULL },
};

static double count_key(const struct report *report, const struct spans_row *row)
{
	return report->options->sort == REPORT_SORT_NODE ? 0 : (double)row->count;
}

static void instant_row(struct report *report, const struct report_row *found)
{
	const struct spans_row *row = found->of;

	cells_name(report, row);
	table_u64(report->table, row->threads);
	table_u64(report->table, row->count);
	cell_rate(report->table, report_rate(report, row->count, row->first_ns, row->last_ns));
	cells_process(report, row);
}

void report_instants(struct report *report)
{
	table_section(report->table, "instants", "Instants", instant_columns, COUNT_OF(instant_columns));
	print_rows(report, SPANS_OF_INSTANTS, count_key, instant_row);
}

/* ---- counters: their values have units of their own, so they are not compared ---- */

static const struct table_column counter_columns[] = {
	{ "category", "Category" }, { "name", "Counter" },
	{ "process", "Process" },   { "count", "Count" },
	{ "min", "Min" },           { "mean", "Mean" },
	{ "max", "Max" },           { "last", "Last" },
	{ "unit", NULL },           { "pid", NULL },
	{ "host", NULL },
};

static double counter_key(const struct report *report, const struct spans_row *row)
{
	return report->options->sort == REPORT_SORT_COUNT ? (double)row->count : 0;
}

/* A value in the unit of its counter; files have the number alone. */
static void cell_value(struct report *report, const struct spans_unit *unit, double value)
{
	const bool is_text = report->options->format == TABLE_TEXT;

	if (is_text && unit && unit->ns != 0 && fabs(value * unit->ns) < 1e18)
		table_ns(report->table, (int64_t)llround(value * unit->ns));
	else if (is_text && unit && strcmp(unit->name, "bytes") == 0 && fabs(value) < 1e18)
		table_bytes_i64(report->table, (int64_t)llround(value));
	else
		table_f64(report->table, value);
}

static void counter_row(struct report *report, const struct report_row *found)
{
	const struct spans_row *row = found->of;
	struct spans_unit known;
	const struct spans_unit *unit = spans_unit(&known, row->name->name) ? &known : NULL;
	struct table *t = report->table;

	cells_name(report, row);
	table_u64(t, row->count);
	if (row->count) {
		cell_value(report, unit, row->min);
		cell_value(report, unit, row->sum / (double)row->count);
		cell_value(report, unit, row->max);
		cell_value(report, unit, row->last);
	} else {
		cells_none(t, 4);
	}
	CELL_IF(t, unit, table_text(t, unit->name));
	cells_process(report, row);
}

void report_counters(struct report *report)
{
	table_section(report->table, "counters", "Counters", counter_columns, COUNT_OF(counter_columns));
	print_rows(report, SPANS_OF_COUNTERS, counter_key, counter_row);
}
