/* SPDX-License-Identifier: Apache-2.0 */
/* See report_summary.h. */
#include "cli/input/report_summary.h"

#include <stdio.h>
#include <string.h>

#include "cli/common/common.h"
#include "report/first/first.h"
#include "summary/summary_file.h"

bool report_summary_named(int argc, char **argv)
{
	int files = 0;

	for (int i = 0; i < argc; i++)
		files += summary_is_file(argv[i]);
	return argc && files == argc;
}

static int read_all(struct summary *sum, int argc, char **argv, struct kymo_err *err)
{
	for (int i = 0; i < argc; i++) {
		struct summary *one;
		int status;

		if (summary_read(&one, argv[i], err))
			return -1;
		status = summary_merge(sum, one);
		summary_free(one);
		if (status)
			return err_no_memory(err);
	}
	return 0;
}

static int print(const struct summary *summary, const char *name, int format, struct kymo_err *err)
{
	const struct first_options options = { .name = name, .operand = "", .is_file = true };
	struct table *table;

	if (cli_table("report", format, &table))
		return err_no_memory(err);
	if (format != TABLE_TEXT) {
		first_print_machine(table, summary, &options);
	} else if (first_has_rows(summary)) {
		first_print(table, summary, &options);
		first_print_next(table, summary, &options);
	} else {
		table_value_text(table, "why_empty", "Nothing to show",
				 "No callback ran, and no span ended.");
	}
	if (table_close(table))
		return err_set(err, KYMO_EXIT_FAILED, "cannot write the output");
	return first_has_rows(summary) ? KYMO_EXIT_OK : KYMO_EXIT_EMPTY;
}

int report_summary(int argc, char **argv, int format, const char *output, bool *lost,
		   struct kymo_err *err)
{
	struct summary *sum = summary_new();
	char name[64];
	int status = -1;

	if (!sum)
		return err_no_memory(err);
	snprintf(name, sizeof(name), "%d summaries", argc);
	if (!read_all(sum, argc, argv, err)) {
		*lost = sum->trust.lost_events || sum->trust.lost_packets;
		if (format == REPORT_FORMAT_SUMMARY)
			status = summary_write(sum, output, err) ? -1 : KYMO_EXIT_OK;
		else
			status = print(sum, argc > 1 ? name : argv[0], format, err);
	}
	summary_free(sum);
	return status;
}
