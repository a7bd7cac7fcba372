/* SPDX-License-Identifier: Apache-2.0 */
/* See explain.h. */
#include "top/explain.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "report/why/report_why.h"
#include "top/executor_threads.h"

static int ask(const struct source *source, const struct board_row *row, struct table *table,
	       struct kymo_err *err)
{
	struct why_options options = {
		.format = TABLE_TEXT, .worst = 1, .begin_ns = INT64_MIN, .end_ns = INT64_MAX
	};
	const char *path = source_path(source);
	struct kymo_ctf_reader *reader;
	struct board_totals totals;
	char text[8192];
	bool lost;
	int rc;

	(void)board_ask(source_board(source), row, text, sizeof(text));
	*(row->page == BOARD_CHAINS ? &options.pattern : &options.callback) = text;
	board_totals(source_board(source), &totals);
	if (source_kind(source) != SOURCE_COMPLETE && totals.begin_ns) {
		options.begin_ns = totals.begin_ns;
		options.end_ns = totals.end_ns;
	}
	if (kymo_ctf_open(path, &reader, err) < 0)
		return -1;
	rc = why_run(reader, path, &options, table, &lost, err);
	kymo_ctf_close(reader);
	return rc < 0 ? -1 : 0;
}

/* Return: why there is nothing to explain; NULL: there is. */
static const char *refusal(const struct source *source, const struct board_row *row)
{
	if (!*row->ask)
		return "Choose a callback, a topic, a chain, an executor or a span: threads "
		       "have nothing to explain here.";
	if (source_kind(source) == SOURCE_COUNTING)
		return "The programs only count how often something happens. Press c: then "
		       "kymo times them, and can explain what took long.";
	if (!source_path(source))
		return "This session is too long to keep it here: the events of its last "
		       "minute are not there any more. "
		       "Write it into a directory (kymo live URL -o DIR) and ask \"kymo "
		       "why DIR\".";
	return NULL;
}

static void answer(const struct source *source, const struct board_row *row, unsigned width,
		   FILE *out)
{
	struct kymo_err err = { 0 };
	struct table *table;
	int rc;

	if (table_open(&table, out, TABLE_TEXT) < 0)
		return;
	table_fit(table, width);
	rc = ask(source, row, table, &err);
	(void)table_close(table);
	if (rc < 0 && err.status == KYMO_EXIT_EMPTY && source_kind(source) != SOURCE_COMPLETE)
		fprintf(out, "kymo times these programs only since a moment ago, and has nothing to explain yet: "
			"wait until the row has durations, and ask again.\n");
	else if (rc < 0)
		fprintf(out, "cannot explain it: %s\n", err.text);
}

static void put_threads(const struct source *source, const struct board_row *executor,
			unsigned width, FILE *out)
{
	struct table *table;

	if (table_open(&table, out, TABLE_TEXT) < 0)
		return;
	table_fit(table, width);
	(void)executor_threads(table, source_board(source), executor);
	(void)table_close(table);
	(void)fputs("\nIts longest run:\n", out);
}

char *explain_row(const struct source *source, const struct board_row *row, unsigned width)
{
	struct board_values values;
	const struct board_row *worst;
	char *text = NULL;
	const char *no;
	size_t size;
	FILE *out;

	board_values(source_board(source), row, &values);
	worst = values.worst_of ? values.worst_of : row;
	no = refusal(source, worst);
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	if (row->page == BOARD_EXECUTORS)
		put_threads(source, row, width, out);
	if (no)
		(void)fputs(no, out);
	else
		answer(source, worst, width, out);
	(void)fclose(out);
	return text;
}
