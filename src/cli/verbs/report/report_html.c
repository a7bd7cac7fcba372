/* SPDX-License-Identifier: Apache-2.0 */
/* kymo report --html. */
#include <stdio.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/input/report_page.h"
#include "cli/input/report_summary.h"
#include "cli/verbs/check/check_page.h"
#include "cli/verbs/report/report_wishes.h"
#include "report/sections/expect.h"

/* The page has everything, of all nodes and topics. */
int report_wishes_check_html(const struct report_wishes *wishes, struct kymo_err *err)
{
	if (wishes->format)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--html is a format of its own; leave out --format");
	if (wishes->section.count || selection_any(&wishes->selection) || wishes->sort ||
	    wishes->limit || wishes->model || wishes->capture.count || wishes->window_ns)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--html writes a page of everything; leave out --section, --node, "
			       "--topic, --process, --sort, --limit, --window, --model and "
			       "--capture");
	if ((wishes->path.count || wishes->architecture) && !wishes->expect.count)
		return err_set(err, KYMO_EXIT_USAGE,
			       "with --html, --path and --architecture are for response times of "
			       "--expect FILE; name that file");
	return 0;
}

static int of_summaries(int argc, char **argv, const char *command,
			const struct report_wishes *wishes, const struct report_judge *judge,
			struct kymo_err *err)
{
	bool lost = false;
	int status;

	if (wishes->expect.count)
		return err_set(err, KYMO_EXIT_USAGE, "--expect needs a trace; a summary has no "
			       "values over time");
	if (wishes->html)
		status = report_summary_page(argc, argv, wishes->output, command, judge, &lost,
					     err);
	else
		status = report_summary(argc, argv, wishes->format, wishes->output, &lost, err);
	return status == KYMO_EXIT_OK && lost && wishes->strict ? KYMO_EXIT_LOSS : status;
}

static int page_of(int argc, char **argv, const char *command, const struct report_wishes *wishes,
		   const struct report_judge *judge, struct kymo_err *err)
{
	struct report_paths paths = { .architecture = NULL };
	struct realtime_names realtime = { 0 };
	struct report_options read = { .page = wishes->output };
	struct report_page_request request = {
		.verb = "report",
		.command = command,
		.output = wishes->output,
		.overwrite = wishes->force,
		.quiet = wishes->quiet,
		.times = &wishes->times,
		.strict = wishes->strict,
		.judge = judge,
	};
	int status = report_wishes_read(wishes, &read, &realtime, &paths, err);

	request.realtime = read.realtime;
	request.realtimes = read.realtimes;
	request.expect = read.expect;
	request.paths = read.paths ? &paths.caret : NULL;
	if (!status)
		status = report_page_write(&request, argc, argv, err);
	report_paths_free(&paths);
	realtime_names_free(&realtime);
	expectations_free(read.expect);
	return status;
}

static bool is_directory(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISDIR(status.st_mode);
}

/* Some write the page's file where traces stand. A trace may have such a name, too. */
static int check_operands(int argc, char **argv, struct kymo_err *err)
{
	for (int i = 0; i < argc; i++)
		if (text_ends_with(argv[i], ".html") && !is_directory(argv[i]))
			return err_set(err, KYMO_EXIT_USAGE,
				       "'%s' is no trace; name the page's file with -o", argv[i]);
	return 0;
}

int report_html(int argc, char **argv, const char *command, const struct report_wishes *wishes,
		struct kymo_err *err)
{
	const bool is_summary = report_summary_named(argc, argv);
	struct check_page check = { 0 };
	const struct report_judge *judge = wishes->check ? &check.judge : NULL;
	int status = check_operands(argc, argv, err);

	if (!status && wishes->check)
		status = check_page_open(&check, wishes->check, err);
	if (!status)
		status = is_summary ? of_summaries(argc, argv, command, wishes, judge, err)
				    : page_of(argc, argv, command, wishes, judge, err);
	if (status == KYMO_EXIT_OK && check_page_violated(&check)) {
		if (!wishes->quiet)
			fprintf(stderr, "budgets violated: %u\n", check_page_violated(&check));
		status = KYMO_EXIT_BUDGET;
	}
	check_page_close(&check);
	return status;
}

int report_summaries(int argc, char **argv, const struct report_wishes *wishes,
		     struct kymo_err *err)
{
	return of_summaries(argc, argv, NULL, wishes, NULL, err);
}
