/* SPDX-License-Identifier: Apache-2.0 */
/* kymo report: which callback was slow, which message late, and behind whom it waited. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/input/answer.h"
#include "cli/common/common.h"
#include "accounts/accounts.h"
#include "cli/input/report_paths.h"
#include "cli/input/trace_time.h"
#include "report/sections/realtime_names.h"
#include "report/report.h"
#include "report/sections/expect.h"

struct options {
	int format;
	struct opt_list section;
	struct selection selection;
	int sort;
	uint64_t limit;
	bool all;
	struct cli_times times;
	const char *architecture;
	struct opt_list path, expect, realtime, realtime_file;
	bool first_callback, last_callback;
	bool strict;
};

static const struct opt opts[] = {
	CLI_OPT_FORMAT(struct options),
	{ "section", 's', OPT_LIST, offsetof(struct options, section), "NAME",
	  "show this section; may be given several times", NULL },
	CLI_OPT_SELECTION(struct options, 'n'),
	{ "sort", 0, OPT_CHOICE, offsetof(struct options, sort), NULL,
	  "order of callbacks, topics and spans; all but node: largest first", REPORT_SORT_CHOICES },
	{ "limit", 0, OPT_U64, offsetof(struct options, limit), "N",
	  "at most N rows a section (default: 20 as table, else all)", NULL },
	{ "all", 'a', OPT_FLAG, offsetof(struct options, all), NULL,
	  "all rows of each section, as table too", NULL },
	CLI_OPT_WINDOW(struct options, "what begins"),
	CLI_OPT_CLOCK(struct options),
	{ "architecture", 0, OPT_TEXT, offsetof(struct options, architecture), "FILE",
	  "an architecture file of CARET, for paths and message contexts", NULL },
	{ "path", 0, OPT_LIST, offsetof(struct options, path), "PATH",
	  "a path of that file by name, or '/node -> /topic -> /node'; may be given several times "
	  "(default: all paths of the file)", NULL },
	{ "realtime", 0, OPT_LIST, offsetof(struct options, realtime), "CALLBACK",
	  "these callbacks and spans must not allocate, wait for a mutex or have a page fault: a node, a callback, or a span "
	  "as 'category:name', may have *; "
	  "'!CALLBACK' leaves out; may be given several times (default: what programs name with kymo_realtime())", NULL },
	{ "realtime-file", 0, OPT_LIST, offsetof(struct options, realtime_file), "FILE",
	  "the same from a file: one a line, # begins a comment; may be given several times", NULL },
	{ "expect", 'x', OPT_LIST, offsetof(struct options, expect), "FILE",
	  "what is expected, as caret_report's callback_list.csv: frequencies, and bounds of response times; "
	  "exit with 5 if it did not happen; may be given several times", NULL },
	{ "first-callback", 0, OPT_FLAG, offsetof(struct options, first_callback), NULL,
	  "paths begin at the callback that publishes, not at the publication", NULL },
	{ "last-callback", 0, OPT_FLAG, offsetof(struct options, last_callback), NULL,
	  "paths end at the end of the last callback, not at its start", NULL },
	CLI_OPT_STRICT(struct options),
	CLI_OPT_END
};

/* What the recorder says. */
static void ask_recorder(const char *path, struct accounts *accounts, struct report_options *report)
{
	char problem[512], time[TEXT_QUANTITY_MAX];

	accounts_read(accounts, path, problem);
	if (*problem)
		fprintf(stderr, "kymo report: warning: %s\n", problem);
	if (accounts->removed.times)
		fprintf(stderr, "kymo report: %" PRIu64 " events are not there: somebody removed the trace directory, or a part of it, "
			"while it was written\n", accounts->removed.events);
	if (accounts->chunks.removed)
		fprintf(stderr, "kymo report: %" PRIu64 " chunks with %" PRIu64 " events were removed while recording, to "
			"keep the limit on its size\n", accounts->chunks.removed, accounts->chunks.removed_events);
	if (accounts->root.pause_count)
		fprintf(stderr, "kymo report: the recorder paused %" PRIu64 " times, for %s in all: nothing was recorded "
			"then\n", accounts->root.pause_count, text_ns(time, (int64_t)accounts->root.paused_ns));
	report->told_lost += accounts->dropped + accounts->unwritten;
	if (report->traces > 1)
		return;
	report->told_rules = accounts->rules;
	if (*accounts->snapshot_text) {
		report->told_snapshot = accounts->snapshot_text;
		report->told_snapshot_ns = accounts->snapshot_at_ns;
	}
}

/* Of the command line and the files it names. */
static int read_realtime(struct realtime_names *names, const struct options *o, struct kymo_err *err)
{
	for (unsigned i = 0; i < o->realtime.count; i++)
		if (realtime_names_add(names, o->realtime.item[i], err))
			return err_wrap(err, "--realtime");
	for (unsigned i = 0; i < o->realtime_file.count; i++)
		if (realtime_names_file(names, o->realtime_file.item[i], err))
			return -1;
	return 0;
}

/* Everything that options and their files say. */
static int read_options(const struct options *o, struct report_options *report, struct realtime_names *realtime,
			struct report_paths *paths, struct kymo_err *err)
{
	if (read_realtime(realtime, o, err) || report_paths_read(paths, o->architecture, &o->path, err))
		return -1;
	report->realtime = (const char *const *)realtime->name;
	report->realtimes = realtime->count;
	if (paths->caret.paths) {
		paths->caret.first_callback = o->first_callback;
		paths->caret.last_callback = o->last_callback;
		report->paths = &paths->caret;
	}
	for (unsigned i = 0; i < o->expect.count; i++)
		if (expectations_read(&report->expect, o->expect.item[i], err))
			return -1;
	return report_check(report, err);
}

static int print_report(struct answer *answer, struct report_options *report, const struct options *o, struct kymo_err *err)
{
	if (answer_begin(answer, o->format, err))
		return -1;
	/* Some sections are printed while the trace is read: they are progress enough. */
	answer->progress.on &= !report->sections || !isatty(STDOUT_FILENO);
	report->progress = progress_trace;
	report->progress_context = &answer->progress;
	return report_run(answer->reader, answer->traces.name, report, answer->table, &answer->lost, err);
}

/* With the traces open. Return: exit status. */
static int answer_report(struct answer *answer, struct report_options *report, struct report_paths *paths, const struct options *o,
			 struct kymo_err *err)
{
	struct accounts accounts[CLI_TRACES_MAX];
	int status;

	report->align = answer->align;
	report->clock = answer->clock;
	report->trace = answer->traces.path;
	report->traces = answer->traces.count;
	/* Init events are needed wherever they are, so the window is the report's, not the reader's. */
	report->begin_ns = paths->caret.begin_ns = answer->begin_ns;
	report->end_ns = paths->caret.end_ns = answer->end_ns;
	for (unsigned i = 0; i < answer->traces.count; i++)
		ask_recorder(answer->traces.path[i], &accounts[i], report);
	status = print_report(answer, report, o, err);
	for (unsigned i = 0; i < answer->traces.count; i++)
		accounts_free(&accounts[i]);
	if (status == KYMO_EXIT_OK && (expectations_broken(report->expect) || *report->not_realtime))
		status = KYMO_EXIT_BUDGET;
	return answer_close(answer, status, o->strict, err);
}

static int run(int argc, char **argv)
{
	struct options o = { 0 };
	struct report_paths paths = { .architecture = NULL };
	struct realtime_names realtime = { 0 };
	struct kymo_err err = { 0 };
	bool not_realtime = false;
	struct report_options report;
	struct answer answer;
	int status;

	if (opt_parse(opts, &o, &argc, &argv, NULL, &err))
		return cli_fail("report", &err);
	report = (struct report_options){
		.format = o.format,
		.section = o.section.item,
		.sections = o.section.count,
		.not_realtime = &not_realtime,
		.selection = &o.selection,
		.sort = o.sort,
		.limit = o.limit,
		.unlimited = o.all,
	};
	if (read_options(&o, &report, &realtime, &paths, &err) || answer_open(&answer, "report", argc, argv, &o.times, &err))
		status = cli_fail("report", &err);
	else
		status = answer_report(&answer, &report, &paths, &o, &err);
	report_paths_free(&paths);
	realtime_names_free(&realtime);
	expectations_free(report.expect);
	return status;
}

const struct verb verb_report = {
	.name = "report",
	.synopsis = "[TRACE...]",
	.summary = "say which callbacks were slow, which messages late, and why",
	.description =
		"Reads a ROS 2 trace (of kymo, LTTng, ros2_tracing or CARET) and prints, slowest\n"
		"first, each callback with its durations, each topic with its latency from publish\n"
		"to the start of the callback, who had to wait behind whom, and what was lost.\n"
		"Without TRACE it takes the newest one.\n"
		"\n"
		"Of programs that use kymo.h it prints the spans with their durations, the counters\n"
		"and the instants. A span whose end is not in the trace is unfinished: it ended with\n"
		"what it was in, or where events were lost, and its duration is not counted.\n"
		"\n"
		"Traces of several hosts are read as one. The hosts' clocks are compared by the messages\n"
		"between them, and the section hosts says how well; a latency that is not longer than\n"
		"the error is written as \"<error\" (null in JSON, empty in CSV).\n"
		"\n"
		"Sections: hosts, callbacks, topics, waits, spans, counters, instants and loss are shown when\n"
		"none is named, as far as the trace has something of their kind. Others: publications,\n"
		"takes, intervals, utilisation (regularity and load); cputime, memory, profile (of the\n"
		"kernel's and libc's events of LTTng, if the trace has them); cycles; realtime, node-costs,\n"
		"process-costs (allocations, lock waits, page faults); communications (each\n"
		"publisher and subscription), frequency, service-calls, executors, lifecycle; processes,\n"
		"nodes, publishers, subscriptions, timers, services, clients; callback_instances\n"
		"(every run of every callback), messages, and each other table of kymo query.\n"
		"\n"
		"A path goes through nodes and topics: '/camera -> /image -> /detector'. With one, or\n"
		"with CARET's --architecture file, response-times shows its response time in CARET's\n"
		"four cases, response-segments where the time went, response-rows each one.\n"
		"\n"
		"Untaken messages were published while a subscription was there, yet never taken;\n"
		"unpublished ones were taken, but their publication is not in the trace.\n"
		"Quantiles are within 0.1 %, everything else is exact. A wait is blocked while other\n"
		"callbacks run on the thread that then runs the waiting one.\n"
		"\n"
		CLI_CLOCK_HELP "\n"
		"\n"
		"Exit status: 0; 3 when TRACE is not a trace; 4 when events were lost, with\n"
		"--strict; 5 when something was not as expected (FAILED or NOT_MEASURED), with --expect, or not real-time, with --realtime or --section realtime; 6 when there was nothing to show (the output says why).",
	.examples =
		"kymo report\n"
		"kymo report TRACE --node '/perception/*' --sort p99\n"
		"kymo report TRACE --section waits --begin +10s --end +20s\n"
		"kymo report TRACE --expect callback_list.csv\n"
		"kymo report TRACE --realtime-file realtime.txt\n"
		"kymo report left-robot right-robot\n"
		"kymo report TRACE --path '/camera -> /image -> /detector' --section response-segments\n"
		"kymo report TRACE --section callback_instances --format csv > instances.csv",
	.opts = opts,
	.run = run,
};
