/* SPDX-License-Identifier: Apache-2.0 */
/* The sections about what programs say of themselves: spans, instants, counters. */
#include "report/report_internal.h"
#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>


struct sorted_row {
	double key;
	const struct spans_row *row;
};

typedef double (*row_key)(const struct report *report, const struct spans_row *row);
typedef void (*row_print)(struct report *report, const struct spans_row *row);

/* Equal keys: by category, then name, then process. */
static int by_key_and_name(const void *a, const void *b)
{
	const struct sorted_row *x = a, *y = b;
	int order;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	order = strcmp(x->row->name->category, y->row->name->category);
	if (!order)
		order = strcmp(x->row->name->name, y->row->name->name);
	if (!order)
		order = x->row->process->index < y->row->process->index ? -1 : 1;
	return order;
}

static void print_rows(struct report *report, enum spans_table table, row_key key, row_print print)
{
	unsigned count = spans_stats_count(report->spans_stats, table), all = 0, i;
	struct sorted_row *rows = calloc(count ? count : 1, sizeof(*rows));

	for (i = 0; rows && i < count; i++) {
		const struct spans_row *row = spans_stats_row(report->spans_stats, table, i);

		if (report_wants_process(report, row->process))
			rows[all++] = (struct sorted_row){ .row = row, .key = key(report, row) };
	}
	if (rows)
		qsort(rows, all, sizeof(*rows), by_key_and_name);
	for (i = 0; rows && i < all && i < report_limit(report); i++)
		print(report, rows[i].row);
	report_more(report, i, all);
	report->rows += all;
	free(rows);
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

static void cell_rate(struct table *t, double rate)
{
	if (rate > 0)
		table_f64(t, rate);
	else
		table_none(t);
}

/* ---- spans ---- */

static const struct table_column span_columns[] = {
	{ "category", "Category" }, { "name", "Span" }, { "process", "Process" },
	{ "threads", "Threads" }, { "count", "Count" }, { "rate_hz", "Hz" }, { "min_ns", "Min" },
	{ "mean_ns", "Mean" }, { "p50_ns", "p50" }, { "p99_ns", "p99" }, { "max_ns", "Max" },
	{ "total_ns", "Total" }, { "unfinished", "Unfinished" }, { "pid", NULL }, { "host", NULL },
};

static double span_key(const struct report *report, const struct spans_row *row)
{
	return report_sort_key(report->options->sort, &row->duration, row->duration.count,
			       stats_rate(row->duration.count, row->first_ns, row->last_ns));
}

/* Spans that never ended have a count and no durations. */
static void cell_duration(struct table *t, const struct histogram *h, double ns)
{
	if (h->count)
		table_ns(t, (int64_t)(ns + 0.5));
	else
		table_none(t);
}

static void span_row(struct report *report, const struct spans_row *row)
{
	const struct histogram *h = &row->duration;
	struct table *t = report->table;

	cells_name(report, row);
	table_u64(t, row->threads);
	table_u64(t, h->count);
	cell_rate(t, stats_rate(h->count, row->first_ns, row->last_ns));
	cell_duration(t, h, (double)h->min);
	cell_duration(t, h, histogram_mean(h));
	cell_duration(t, h, (double)histogram_quantile(h, 0.5));
	cell_duration(t, h, (double)histogram_quantile(h, 0.99));
	cell_duration(t, h, (double)h->max);
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

static void instant_row(struct report *report, const struct spans_row *row)
{
	cells_name(report, row);
	table_u64(report->table, row->threads);
	table_u64(report->table, row->count);
	cell_rate(report->table, stats_rate(row->count, row->first_ns, row->last_ns));
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

static void counter_row(struct report *report, const struct spans_row *row)
{
	struct table *t = report->table;

	cells_name(report, row);
	table_u64(t, row->count);
	if (row->count) {
		table_f64(t, row->min);
		table_f64(t, row->sum / (double)row->count);
		table_f64(t, row->max);
		table_f64(t, row->last);
	} else {
		for (unsigned i = 0; i < 4; i++)
			table_none(t);
	}
	cells_process(report, row);
}

void report_counters(struct report *report)
{
	table_section(report->table, "counters", "Counters", counter_columns, COUNT_OF(counter_columns));
	print_rows(report, SPANS_OF_COUNTERS, counter_key, counter_row);
}
