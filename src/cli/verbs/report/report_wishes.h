/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the user asks of `kymo report`: the values of its options, and what their files say; the
 * page of --html, and tables of summaries. Context: the main thread; allocates, blocks.
 */
#ifndef KYMO_CLI_REPORT_WISHES_H
#define KYMO_CLI_REPORT_WISHES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/common/common.h"
#include "cli/input/report_paths.h"
#include "cli/input/trace_time.h"
#include "report/report.h"
#include "report/sections/realtime_names.h"

struct report_wishes {
	int format;
	const char *output;
	struct opt_list section;
	struct selection selection;
	int sort;
	uint64_t limit;
	int64_t window_ns;
	const char *model;
	struct opt_list capture;
	bool all;
	struct cli_times times;
	const char *architecture, *check;
	struct opt_list path, expect, realtime, realtime_file;
	bool first_callback, last_callback;
	bool strict, html, force, quiet;
};

/**
 * report_wishes_read() - everything that options and their files say
 * @report: gets the names of @realtime, the paths of @paths and what is expected
 * @realtime, @paths: empty; to be freed by the caller, also after an error
 *
 * Return: 0; -1 with @err, which names the file and the place.
 */
int report_wishes_read(const struct report_wishes *wishes, struct report_options *report,
		       struct realtime_names *realtime, struct report_paths *paths,
		       struct kymo_err *err);

/** report_wishes_check_html() - do the options go with --html? Return: 0; -1 with @err. */
int report_wishes_check_html(const struct report_wishes *wishes, struct kymo_err *err);

/**
 * report_summaries() - a table of summaries instead of traces, or one summary of all
 * @argv: files of summaries
 *
 * Return: exit status; -1 with @err.
 */
int report_summaries(int argc, char **argv, const struct report_wishes *wishes,
		     struct kymo_err *err);

/**
 * report_html() - the page of summaries or of traces, with the verdicts of --check
 * @argv: traces, or files of summaries
 * @command: what the page says that it was made with
 *
 * Return: exit status, KYMO_EXIT_BUDGET if a budget is violated; -1 with @err.
 */
int report_html(int argc, char **argv, const char *command, const struct report_wishes *wishes,
		struct kymo_err *err);

#endif
