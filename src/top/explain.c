/* SPDX-License-Identifier: Apache-2.0 */
/* See explain.h. */
#include "top/explain.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/why/report_why.h"

static int ask(const struct source *source, const struct board_row *row, struct table *table,
	       struct kymo_err *err)
{
	struct why_options options = {
		.format = TABLE_TEXT, .worst = 1, .begin_ns = INT64_MIN, .end_ns = INT64_MAX
	};
	const char *path = source_path(source);
	struct kymo_ctf_reader *reader;
	struct board_totals totals;
	bool lost;
	int rc;

	if (row->page == BOARD_CHAINS)
		options.pattern = row->ask;
	else
		options.callback = row->ask;
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

static char *sentence(const char *text)
{
	return strdup(text);
}

char *explain_row(const struct source *source, const struct board_row *row, unsigned width)
{
	struct kymo_err err = { 0 };
	struct board_values values;
	struct table *table;
	char *text = NULL;
	size_t size;
	FILE *out;
	int rc;

	board_values(source_board(source), row, &values);
	if (values.worst_of)
		row = values.worst_of;
	if (!*row->ask)
		return sentence("Choose a callback, a topic, a chain, an executor or a span: threads "
				"have nothing to explain here.");
	if (source_kind(source) == SOURCE_COUNTING)
		return sentence("The programs only count how often something happens. Press c: then "
				"kymo times them, and can explain what took long.");
	if (!source_path(source))
		return sentence("This session is too long to keep it here: the events of its last "
				"minute are not there any more. "
				"Write it into a directory (kymo live URL -o DIR) and ask \"kymo "
				"why DIR\".");
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	if (table_open(&table, out, TABLE_TEXT) < 0) {
		(void)fclose(out);
		return text;
	}
	table_fit(table, width);
	rc = ask(source, row, table, &err);
	(void)table_close(table);
	if (rc < 0 && err.status == KYMO_EXIT_EMPTY && source_kind(source) != SOURCE_COMPLETE)
		fprintf(out, "kymo times these programs only since a moment ago, and has nothing to explain yet: "
			"wait until the row has durations, and ask again.\n");
	else if (rc < 0)
		fprintf(out, "cannot explain it: %s\n", err.text);
	(void)fclose(out);
	return text;
}
