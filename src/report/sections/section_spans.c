/* SPDX-License-Identifier: Apache-2.0 */
/* The sections about what programs say of themselves: spans, instants, counters. */
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
	{ "unfinished", "Unfinished" },
	{ "pid", NULL },
	{ "host", NULL },
};

static double span_key(const struct report *report, const struct spans_row *row)
{
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
	{ "category", "Category" }, { "name", "Counter" }, { "process", "Process" },
	{ "count", "Count" }, { "min", "Min" }, { "mean", "Mean" }, { "max", "Max" }, { "last", "Last" },
	{ "pid", NULL }, { "host", NULL },
};

static double counter_key(const struct report *report, const struct spans_row *row)
{
	return report->options->sort == REPORT_SORT_COUNT ? (double)row->count : 0;
}

static void counter_row(struct report *report, const struct report_row *found)
{
	const struct spans_row *row = found->of;
	struct table *t = report->table;

	cells_name(report, row);
	table_u64(t, row->count);
	if (row->count) {
		table_f64(t, row->min);
		table_f64(t, row->sum / (double)row->count);
		table_f64(t, row->max);
		table_f64(t, row->last);
	} else {
		cells_none(t, 4);
	}
	cells_process(report, row);
}

void report_counters(struct report *report)
{
	table_section(report->table, "counters", "Counters", counter_columns, COUNT_OF(counter_columns));
	print_rows(report, SPANS_OF_COUNTERS, counter_key, counter_row);
}
