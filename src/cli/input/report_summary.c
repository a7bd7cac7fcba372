/* SPDX-License-Identifier: Apache-2.0 */
/* See report_summary.h. */
#include "cli/input/report_summary.h"

#include <stdio.h>
#include <string.h>

#include "cli/common/common.h"
#include "report/first/first.h"
#include "report/report.h"
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

/* Return: the sum of all files, with its @name; NULL with @err. */
static struct summary *sum_of(int argc, char **argv, char name[64], bool *lost,
			      struct kymo_err *err)
{
	struct summary *sum = summary_new();

	if (!sum) {
		(void)err_no_memory(err);
		return NULL;
	}
	snprintf(name, 64, "%d summaries", argc);
	if (read_all(sum, argc, argv, err)) {
		summary_free(sum);
		return NULL;
	}
	*lost = sum->trust.lost_events || sum->trust.lost_packets;
	return sum;
}

int report_summary(int argc, char **argv, int format, const char *output, bool *lost,
		   struct kymo_err *err)
{
	char name[64];
	struct summary *sum = sum_of(argc, argv, name, lost, err);
	int status;

	if (!sum)
		return -1;
	if (format == REPORT_FORMAT_SUMMARY)
		status = summary_write(sum, output, err) ? -1 : KYMO_EXIT_OK;
	else
		status = print(sum, argc > 1 ? name : argv[0], format, err);
	summary_free(sum);
	return status;
}

/* "robot.summary" becomes "robot.html", here. Return: @buffer. */
static char *page_name(const char *file, char *buffer, size_t size)
{
	const char *slash = strrchr(file, '/'), *name = slash && slash[1] ? slash + 1 : file;
	const char *dot = strrchr(name, '.');

	snprintf(buffer, size, "%.*s.html", (int)(dot && dot > name ? dot - name : 512), name);
	return buffer;
}

int report_summary_page(int argc, char **argv, const char *output, const char *command,
			const struct report_judge *judge, bool *lost, struct kymo_err *err)
{
	char name[64], file[CLI_PATH_MAX];
	struct summary *sum = sum_of(argc, argv, name, lost, err);
	const struct report_options options = {
		.begin_ns = INT64_MIN,
		.end_ns = INT64_MAX,
		.page = output ? output : page_name(argv[0], file, sizeof(file)),
		.page_stream = stdout,
		.page_version = "kymo " KYMO_VERSION,
		.page_command = command,
		.judge = judge,
		.trace = (const char *const *)argv,
		.traces = (unsigned)argc,
	};
	int status;

	if (!sum)
		return -1;
	status = report_page_of_summary(sum, argc > 1 ? name : argv[0], &options, err);
	if (!status && strcmp(options.page, "-") != 0)
		fprintf(stderr, "page: %s\n", options.page);
	if (!status && !first_has_rows(sum))
		status = KYMO_EXIT_EMPTY;
	summary_free(sum);
	return status;
}
