/* SPDX-License-Identifier: Apache-2.0 */
/* The sections about paths through nodes: CARET's response times, whole, by segment, one by one. */
#include "report/report_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "base/text.h"

/* As text, a path that is reported in one line is named by its two ends. */
static void cell_path(struct report *report, const struct arch_path *path)
{
	char text[512];

	if (report->options->format != TABLE_TEXT || !strstr(path->name, "->")) {
		table_text(report->table, path->name);
		return;
	}
	snprintf(text, sizeof(text), "%s ... %s", path->hop[0].node, path->hop[path->hops - 1].node);
	table_text(report->table, text);
}

static const char *problem(const struct caret_path *path)
{
	if (path->problem)
		return path->problem;
	return path->complete ? NULL : "no message reached the end of the path";
}

/* Where a path begins on one host and ends on another: how far its times can be trusted. */
static void hosts_of_path(struct report *report, const struct caret_path *path)
{
	const struct model_process *first = path->process[0],
				   *last = path->process[path->records.columns - 1];
	char ns[TEXT_QUANTITY_MAX];
	const char *operand = report->options->operand ? report->options->operand : "";
	int64_t error_ns = 0;

	for (size_t i = 0; i < path->count[CARET_ALL]; i++) {
		int64_t one = caret_path_error(path, 0, path->records.columns - 1,
					       path->response[CARET_ALL][i].start_ns);

		error_ns = one > error_ns ? one : error_ns;
	}
	if (!error_ns)
		return;
	if (error_ns == KYMO_CTF_ERROR_UNKNOWN)
		table_note(report->table, "%s begins on %s and ends on %s, whose clocks do not compare: so how long it takes is not known "
			   "(kymo report%s%s --section hosts).", path->path->name, first->hostname, last->hostname,
			   *operand ? " " : "", operand);
	else
		table_note(report->table, "%s begins on %s and ends on %s: its times are wrong by up to %s.", path->path->name,
			   first->hostname, last->hostname, text_ns(ns, error_ns));
}

/* Paths about which nothing can be said, and why. */
static void problems(struct report *report)
{
	static const struct table_column columns[] = { { "path", "Path" }, { "problem", "Problem" } };
	bool any = false;

	for (unsigned i = 0; i < caret_path_count(report->caret); i++) {
		const struct caret_path *path = caret_path(report->caret, i);

		if (!problem(path))
			continue;
		if (report->options->format == TABLE_TEXT) {
			table_note(report->table, "%s: %s.", path->path->name, problem(path));
			continue;
		}
		if (!any)
			table_section(report->table, "path-problems", "Paths without a result", columns,
				      COUNT_OF(columns));
		any = true;
		table_text(report->table, path->path->name);
		table_text(report->table, problem(path));
	}
}

/* ---- whole ---- */

static const struct table_column response_columns[] = {
	{ "path", "Path" }, { "case", "Case" }, { "count", "Count" }, { "min_ns", "Min" },
	{ "mean_ns", "Mean" }, { "p50_ns", "p50" }, { "p99_ns", "p99" }, { "max_ns", "Max" },
	{ "sum_ns", NULL }, { "error_ns", NULL }, { "rows", NULL }, { "complete", NULL }, { "reversed", NULL },
};

/*
 * Between hosts: what is not longer than the error of their clocks is no fact; unknown: nothing is.
 */
static void cell_within(struct table *t, int64_t ns, int64_t error_ns)
{
	CELL_IF(t, error_ns != KYMO_CTF_ERROR_UNKNOWN, table_ns_within(t, ns, error_ns));
}

static void cell_error(struct table *t, int64_t error_ns)
{
	CELL_IF(t, error_ns != KYMO_CTF_ERROR_UNKNOWN, table_ns(t, error_ns));
}

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* min, mean, p50, p99, max, sum of @value, which gets sorted; by how much they may be wrong. */
static void cells_exact(struct table *t, int64_t *value, size_t count, int64_t error_ns)
{
	int64_t sum = 0, mean;

	if (!count) {
		cells_none(t, 6);
		cell_error(t, error_ns);
		return;
	}
	qsort(value, count, sizeof(*value), by_value);
	for (size_t i = 0; i < count; i++)
		sum += value[i];
	mean = (sum + (int64_t)count / 2) / (int64_t)count;
	cell_within(t, value[0], error_ns);
	cell_within(t, mean, error_ns);
	cell_within(t, value[(count - 1) / 2], error_ns);
	cell_within(t, value[(count * 99 + 99) / 100 - 1], error_ns);
	cell_within(t, value[count - 1], error_ns);
	CELL_IF(t, !error_ns || mean > error_ns, table_i64(t, sum));
	cell_error(t, error_ns);
}

static void response_row(struct report *report, const struct caret_path *path,
			 enum caret_case which)
{
	size_t count = path->count[which];
	int64_t *value = malloc((count + 1) * sizeof(*value));
	unsigned last = path->records.columns - 1;
	struct table *t = report->table;
	int64_t error_ns = 0;

	for (size_t i = 0; value && i < count; i++) {
		const struct caret_response *response = &path->response[which][i];

		value[i] = response->value_ns;
		error_ns = larger(error_ns, caret_path_error(path, 0, last, response->start_ns));
	}
	cell_path(report, path->path);
	table_text(t, caret_case_name(which));
	table_u64(t, count);
	cells_exact(t, value, value ? count : 0, error_ns);
	table_u64(t, path->records.rows);
	table_u64(t, path->complete);
	table_u64(t, path->reversed);
	free(value);
}

void report_responses(struct report *report)
{
	table_section(report->table, "response-times", "Response times of paths", response_columns,
		      COUNT_OF(response_columns));
	for (unsigned i = 0; i < caret_path_count(report->caret); i++) {
		const struct caret_path *path = caret_path(report->caret, i);

		if (path->problem || !path->complete)
			continue;
		for (unsigned which = 0; which < CARET_CASES; which++)
			response_row(report, path, which);
		report->rows++;
	}
	for (unsigned i = 0; i < caret_path_count(report->caret); i++)
		if (!caret_path(report->caret, i)->problem &&
		    caret_path(report->caret, i)->complete)
			hosts_of_path(report, caret_path(report->caret, i));
	problems(report);
}

/* ---- by segment ---- */

static const struct table_column segment_columns[] = {
	{ "path", "Path" }, { "case", "Case" }, { "position", NULL }, { "segment", "Segment" },
	{ "count", "Count" }, { "min_ns", "Min" }, { "mean_ns", "Mean" }, { "p50_ns", "p50" },
	{ "p99_ns", "p99" }, { "max_ns", "Max" }, { "sum_ns", NULL }, { "error_ns", NULL },
};

/* Of the segment that begins at column @at of a stack, about @ns. */
static int64_t segment_error(const struct caret_path *path, enum caret_case which, unsigned at,
			     int64_t ns)
{
	bool external = which == CARET_WORST_WITH_EXTERNAL;

	return external && !at ? 0 : caret_path_error(path, at - external, at + 1 - external, ns);
}

/* What the segment that begins at column @at of a stack is. */
static const char *segment_name(const struct caret_path *path, enum caret_case which, unsigned at)
{
	bool external = which == CARET_WORST_WITH_EXTERNAL;

	return external && !at ? "[worst - best] response time" : path->column[at - external];
}

static void segment_rows(struct report *report, const struct caret_path *path,
			 enum caret_case which)
{
	const struct records *stack = &path->stack[which];
	int64_t *value = malloc((stack->rows + 1) * sizeof(*value));
	struct table *t = report->table;

	for (unsigned at = 0; value && at + 1 < stack->columns; at++) {
		int64_t error_ns = 0;

		for (size_t i = 0; i < stack->rows; i++) {
			const int64_t *row = records_row(stack, i);

			value[i] = row[at + 1] - row[at];
			error_ns = larger(error_ns, segment_error(path, which, at, row[at]));
		}
		cell_path(report, path->path);
		table_text(t, caret_case_name(which));
		table_u64(t, at);
		table_text(t, segment_name(path, which, at));
		table_u64(t, stack->rows);
		cells_exact(t, value, stack->rows, error_ns);
		report->rows++;
	}
	free(value);
}

void report_segments(struct report *report)
{
	table_section(report->table, "response-segments", "Response times of paths, by segment",
		      segment_columns, COUNT_OF(segment_columns));
	for (unsigned i = 0; i < caret_path_count(report->caret); i++) {
		const struct caret_path *path = caret_path(report->caret, i);

		for (unsigned which = 0; !path->problem && which < CARET_CASES; which++)
			segment_rows(report, path, which);
	}
	problems(report);
}

/* ---- one by one ---- */

static const struct table_column row_columns[] = {
	{ "path", "Path" }, { "case", "Case" }, { "start_ns", "Start" },
	{ "position", NULL }, { "segment", "Segment" }, { "duration_ns", "Duration" }, { "error_ns", NULL },
};

static void one_row(struct report *report, const struct caret_path *path, enum caret_case which,
		    int64_t start_ns, unsigned position, const char *segment, int64_t duration_ns,
		    int64_t error_ns)
{
	struct table *t = report->table;

	cell_path(report, path->path);
	table_text(t, caret_case_name(which));
	table_time(t, start_ns);
	table_u64(t, position);
	table_text(t, segment);
	cell_within(t, duration_ns, error_ns);
	cell_error(t, error_ns);
}

/* The whole has the segment "", position 0; the segments of the stacks are counted from 1. */
static void all_rows(struct report *report, const struct caret_path *path, enum caret_case which,
		     unsigned *shown, unsigned *all)
{
	const struct records *stack = &path->stack[which];

	for (size_t i = 0; i < path->count[which]; i++)
		if ((*all)++ < report_limit(report)) {
			one_row(report, path, which, path->response[which][i].start_ns, 0, "",
				path->response[which][i].value_ns,
				caret_path_error(path, 0, path->records.columns - 1,
						 path->response[which][i].start_ns));
			(*shown)++;
		}
	for (size_t i = 0; i < stack->rows; i++)
		for (unsigned at = 0; at + 1 < stack->columns; at++) {
			const int64_t *row = records_row(stack, i);

			if ((*all)++ >= report_limit(report))
				continue;
			one_row(report, path, which, row[0], at + 1, segment_name(path, which, at),
				row[at + 1] - row[at], segment_error(path, which, at, row[at]));
			(*shown)++;
		}
}

void report_response_rows(struct report *report)
{
	unsigned shown = 0, all = 0;

	table_section(report->table, "response-rows", "Response times of paths, one by one", row_columns,
		      COUNT_OF(row_columns));
	for (unsigned i = 0; i < caret_path_count(report->caret); i++)
		for (unsigned which = 0; which < CARET_CASES; which++)
			if (!caret_path(report->caret, i)->problem)
				all_rows(report, caret_path(report->caret, i), which, &shown, &all);
	report_more(report, shown, all);
	report->rows += all;
	problems(report);
}
