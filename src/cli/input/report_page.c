/* SPDX-License-Identifier: Apache-2.0 */
/* See report_page.h. */
#include "cli/input/report_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/sched/sched.h"
#include "base/text.h"
#include "cli/common/common.h"
#include "cli/input/report_told.h"
#include "report/report.h"
#include "report/sections/expect.h"

char *report_page_command(char *buffer, size_t size, const char *verb, int argc, char **argv)
{
	char word[1024];

	snprintf(buffer, size, "kymo %s", verb);
	for (int i = 0; i < argc; i++) {
		const size_t used = strlen(buffer);

		snprintf(buffer + used, size - used, " %s",
			 text_shell(word, sizeof(word), argv[i]));
	}
	return buffer;
}

/* The traces as a shell takes them, also if none was named. Return: @buffer. */
static char *operand_of(const struct cli_traces *traces, char *buffer, size_t size)
{
	char word[4 * CLI_PATH_MAX];

	*buffer = '\0';
	for (unsigned i = 0; i < traces->count; i++) {
		const size_t used = strlen(buffer);

		snprintf(buffer + used, size - used, "%s%s", i ? " " : "",
			 text_shell(word, sizeof(word), traces->path[i]));
	}
	return buffer;
}

/* After the first trace, in the current directory. Return: @buffer. */
static char *default_name(const struct cli_traces *traces, char *buffer, size_t size)
{
	char *whole = realpath(traces->path[0], NULL), name[256] = "";

	if (whole)
		text_trace_name(name, sizeof(name), whole);
	snprintf(buffer, size, "%s.html", *name && *name != '/' ? name : "trace");
	free(whole);
	return buffer;
}

static int write_page(struct answer *answer, struct report_options *report,
		      const struct accounts *accounts, const struct report_page_request *request,
		      struct kymo_err *err)
{
	struct report_explainer explainer = { answer, report };
	struct report_told_fired fired;
	int status;

	if (!request->overwrite && strcmp(report->page, "-") != 0 && !access(report->page, F_OK))
		return cli_exists(report->page, err);
	if (sched_is_there(answer->reader)) {
		report->explain = report_explain;
		report->explain_context = &explainer;
	}
	if (answer_begin(answer, TABLE_TEXT, err))
		return -1;
	answer->progress.on &= !request->quiet;
	report->progress = progress_trace;
	report->progress_context = &answer->progress;
	if (report_told_fired(accounts, answer, &fired, report, err))
		return -1;
	status = report_run(answer->reader, answer->traces.name, report, answer->table,
			    &answer->lost, err);
	progress_clear(&answer->progress);
	if (status == KYMO_EXIT_OK && !request->quiet && strcmp(report->page, "-") != 0)
		fprintf(stderr, "page: %s\n", report->page);
	if (status != KYMO_EXIT_OK || !expectations_broken(report->expect))
		return status;
	if (!request->quiet)
		fprintf(stderr, "not as expected: %u\n", expectations_broken(report->expect));
	return KYMO_EXIT_BUDGET;
}

int report_page_write(const struct report_page_request *request, int argc, char **argv,
		      struct kymo_err *err)
{
	struct accounts accounts[CLI_TRACES_MAX];
	char operand[4 * CLI_PATH_MAX], name[CLI_PATH_MAX];
	struct report_options report = {
		.page_stream = stdout,
		.page_version = "kymo " KYMO_VERSION,
		.page_command = request->command,
		.realtime = request->realtime,
		.realtimes = request->realtimes,
		.expect = request->expect,
		.paths = request->paths,
		.judge = request->judge,
		.not_realtime = &(bool){ false },
		.behaviour_failed = &(bool){ false },
	};
	struct answer answer;
	int status;

	if (answer_open(&answer, request->verb, argc, argv, request->times, err))
		return -1;
	if (request->quiet)
		answer.warnings = 0;
	report.align = answer.align;
	report.clock = answer.clock;
	report.trace = answer.traces.path;
	report.traces = answer.traces.count;
	report.begin_ns = answer.begin_ns;
	report.end_ns = answer.end_ns;
	if (request->paths) {
		request->paths->begin_ns = answer.begin_ns;
		request->paths->end_ns = answer.end_ns;
	}
	report.operand = operand_of(&answer.traces, operand, sizeof(operand));
	report.page = request->output ? request->output
				      : default_name(&answer.traces, name, sizeof(name));
	for (unsigned i = 0; i < answer.traces.count; i++)
		report_told(answer.traces.path[i], answer.reader, &accounts[i], &report,
			    request->quiet);
	status = write_page(&answer, &report, &accounts[0], request, err);
	for (unsigned i = 0; i < answer.traces.count; i++)
		accounts_free(&accounts[i]);
	if (request->lost)
		*request->lost = answer.lost;
	return answer_close(&answer, status, request->strict);
}
