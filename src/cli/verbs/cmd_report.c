/* SPDX-License-Identifier: Apache-2.0 */
/* kymo report: which callback was slow, which message late, and which callback it waited for. */
#include <string.h>
#include <unistd.h>

#include "cli/input/found.h"
#include "cli/input/input_captures.h"
#include "cli/input/answer.h"
#include "analysis/behaviour/behaviour.h"
#include "analysis/capture/capture.h"
#include "analysis/sched/sched.h"
#include "cli/common/common.h"
#include "cli/common/screen.h"
#include "accounts/accounts.h"
#include "cli/input/report_page.h"
#include "cli/input/report_summary.h"
#include "cli/input/report_told.h"
#include "cli/verbs/report/report_wishes.h"
#include "report/report.h"
#include "report/sections/expect.h"
#include "report/why/report_why.h"

static const struct opt opts[] = {
	{ "format", 'f', OPT_CHOICE, offsetof(struct report_wishes, format), NULL,
	  "how to print; summary: a small file, with --output", "table|json|csv|summary" },
	{ "html", 0, OPT_FLAG, offsetof(struct report_wishes, html), NULL,
	  "write a page for browsers, one file that needs no network: -o FILE (default: the trace's "
	  "name with .html)",
	  NULL },
	CLI_OPT_OUTPUT(struct report_wishes, "FILE", "where --html and --format summary go"),
	{ "force", 0, OPT_FLAG, offsetof(struct report_wishes, force), NULL,
	  "overwrite a file of --html or --format summary that already exists", NULL },
	CLI_OPT_QUIET(struct report_wishes),
	CLI_OPT_SCREEN(0),
	{ "section", 's', OPT_LIST, offsetof(struct report_wishes, section), "NAME",
	  "print this section; may be repeated; help: list all sections", NULL },
	CLI_OPT_SELECTION(struct report_wishes, 'n'),
	{ "sort", 0, OPT_CHOICE, offsetof(struct report_wishes, sort), NULL,
	  "order of callbacks, topics and spans; except for node: largest first",
	  REPORT_SORT_CHOICES },
	{ "limit", 0, OPT_U64, offsetof(struct report_wishes, limit), "N",
	  "print at most N rows per section (default: 20 in a table, else all)", NULL },
	{ "all", 'a', OPT_FLAG, offsetof(struct report_wishes, all), NULL,
	  "print all rows of each section; start-up counts as a finding, too", NULL },
	CLI_OPT_WINDOW(struct report_wishes, "what begins"),
	CLI_OPT_OVER_TIME(struct report_wishes, "section"),
	CLI_OPT_MODEL(struct report_wishes, "section behaviour"),
	CLI_OPT_CAPTURE(struct report_wishes, "section wire and the table packets"),
	CLI_OPT_CLOCK(struct report_wishes),
	{ "architecture", 0, OPT_TEXT, offsetof(struct report_wishes, architecture), "FILE",
	  "an architecture file of CARET, for paths and message contexts", NULL },
	{ "path", 0, OPT_LIST, offsetof(struct report_wishes, path), "PATH",
	  "a path of that file by name, or '/node -> /topic -> /node'; may be repeated "
	  "(default: all paths of the file)",
	  NULL },
	{ "realtime", 0, OPT_LIST, offsetof(struct report_wishes, realtime), "CALLBACK",
	  "callbacks and spans that must not allocate, wait for a mutex or have a page fault: a "
	  "node, a callback, or a span as 'category:name', with * if you like; '!CALLBACK' leaves "
	  "out; may be repeated (default: what programs name with kymo_realtime())",
	  NULL },
	{ "realtime-file", 0, OPT_LIST, offsetof(struct report_wishes, realtime_file), "FILE",
	  "the same from a file: one per line, # begins a comment; may be repeated", NULL },
	{ "expect", 'x', OPT_LIST, offsetof(struct report_wishes, expect), "FILE",
	  "what is expected, as caret_report's callback_list.csv: frequencies, and bounds of "
	  "response times; "
	  "exit with 5 if it did not happen; --html shows the verdicts in the page; may be repeated",
	  NULL },
	{ "check", 0, OPT_TEXT, offsetof(struct report_wishes, check), "FILE",
	  "with --html: show in the page whether the budgets of this file are kept, see kymo check; "
	  "exit with 5 if one is violated",
	  NULL },
	{ "first-callback", 0, OPT_FLAG, offsetof(struct report_wishes, first_callback), NULL,
	  "paths begin at the callback that publishes, not at the publication", NULL },
	{ "last-callback", 0, OPT_FLAG, offsetof(struct report_wishes, last_callback), NULL,
	  "paths end at the end of the last callback, not at its start", NULL },
	CLI_OPT_MERGE(struct report_wishes),
	CLI_OPT_STRICT(struct report_wishes),
	CLI_OPT_END
};

/* What kymo why says of the trace, if the whole report was asked for, of everything. */
static int ask_why(struct answer *answer, struct report_options *report,
		   const struct report_wishes *o, struct why_said *said, struct kymo_err *err)
{
	const struct why_options why = {
		.format = report->format,
		.worst = 1,
		.all_topics = o->all,
		.begin_ns = report->begin_ns,
		.end_ns = report->end_ns,
		.clock = report->clock,
		.align = report->align,
		.told_lost = report->told_lost,
		.progress = progress_trace,
		.context = &answer->progress,
	};

	if (report->first || report->summary || report->sections ||
	    selection_any(report->selection) ||
	    !reader_declares(answer->reader, "ros2:callback_start"))
		return 0;
	report->told_worst = said->worst;
	report->told_why = said->why;
	return why_say(answer->reader, &why, said, err);
}

/* The first screen answers "what is wrong?". Whoever asks for something else gets tables. */
static bool wants_first(const struct report_options *report, const struct report_wishes *o)
{
	return o->format == TABLE_TEXT && !report->sections && !o->all && !opt_screen.wide &&
	       !o->sort && !o->limit && !selection_any(report->selection) && !report->paths &&
	       !report->expect && !report->realtimes && !report->behaviours && !report->captures;
}

static int print_report(struct answer *answer, struct report_options *report,
			const struct report_wishes *o, struct kymo_err *err)
{
	struct report_explainer explainer = { answer, report };
	struct why_said said;

	report->first = wants_first(report, o);
	if (sched_is_there(answer->reader)) {
		report->explain = report_explain;
		report->explain_context = &explainer;
	}
	if (answer_begin(answer, report->format, err) || ask_why(answer, report, o, &said, err))
		return -1;
	/* Some sections are printed while the trace is read: they are progress enough. */
	answer->progress.on &= !o->quiet && (!report->sections || !isatty(STDOUT_FILENO));
	report->progress = progress_trace;
	report->progress_context = &answer->progress;
	if (answer->kept) {
		report->looked_into = kept_needs;
		report->looked_into_context = &answer->kept->kept;
	}
	return report_run(answer->reader, answer->traces.name, report, answer->table, &answer->lost,
			  err);
}

/* With the traces open. Return: exit status. */
static int answer_report(struct answer *answer, struct report_options *report,
			 struct report_paths *paths, const struct report_wishes *o,
			 struct kymo_err *err)
{
	struct accounts accounts[CLI_TRACES_MAX];
	struct found_keeper found;
	int status;

	found_open(&found, &answer->traces, &o->times);
	/* `kymo ls` shows what the first screen does. */
	report->summarized = o->all ? NULL : found_put;
	report->summarized_context = &found;
	if (o->quiet)
		answer->warnings = 0;
	report->align = answer->align;
	report->clock = answer->clock;
	report->trace = answer->traces.path;
	report->traces = answer->traces.count;
	/*
	 * Init events are needed wherever they are, so the window is the report's, not the
	 * reader's.
	 */
	report->begin_ns = paths->caret.begin_ns = answer->begin_ns;
	report->end_ns = paths->caret.end_ns = answer->end_ns;
	for (unsigned i = 0; i < answer->traces.count; i++)
		report_told(answer->traces.path[i], answer->reader, &accounts[i], report, o->quiet);
	/* The recorder may be killed before a file changes: the answer would then be another. */
	if (report->told_growing)
		kept_close(&answer->kept->kept);
	status = print_report(answer, report, o, err);
	found_close(&found);
	for (unsigned i = 0; i < answer->traces.count; i++)
		accounts_free(&accounts[i]);
	if (status == KYMO_EXIT_OK && (expectations_broken(report->expect) ||
				       *report->not_realtime || *report->behaviour_failed))
		status = KYMO_EXIT_BUDGET;
	return answer_close(answer, status, o->strict);
}

static int check_output(const struct report_wishes *o, struct kymo_err *err)
{
	if (o->html)
		return report_wishes_check_html(o, err);
	if (o->check)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--check is for the page of --html; kymo check -c FILE prints the "
			       "verdicts");
	if (o->format == REPORT_FORMAT_SUMMARY && !o->output)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--format summary needs a file to write: --output FILE");
	if (o->format != REPORT_FORMAT_SUMMARY && o->output)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--output is for --html and --format summary; write the others "
			       "with > FILE");
	if (o->output && (o->section.count || selection_any(&o->selection)))
		return err_set(err, KYMO_EXIT_USAGE,
			       "a summary is of all nodes and topics, and has no sections");
	if (o->output && !o->force && !access(o->output, F_OK))
		return cli_exists(o->output, err);
	if (o->force && !o->output)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--force only works with --html or --format summary; nothing else "
			       "writes a file");
	return 0;
}

static int list_sections(int format)
{
	struct table *table;

	screen_page();
	if (cli_table("report", format, &table))
		return KYMO_EXIT_FAILED;
	report_list_sections(table);
	return cli_close("report", table, KYMO_EXIT_OK);
}

/* What depends on no file but the traces, and is short. */
static bool is_kept(const struct report_wishes *o)
{
	return !o->section.count && !o->output && !o->model && !o->capture.count &&
	       !o->path.count && !o->architecture && !o->expect.count && !o->realtime_file.count;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	char operand[2048], command[4096];
	struct report_wishes o = { 0 };
	struct report_paths paths = { .architecture = NULL };
	struct realtime_names realtime = { 0 };
	bool not_realtime = false, behaviour_failed = false;
	struct behaviours *behaviours = NULL;
	struct captures *captures = NULL;
	struct report_options report;
	struct answer_kept kept;
	struct answer answer;
	int status = -1;

	answer_command(&kept, "report", argc, argv);
	report_page_command(command, sizeof(command), "report", argc, argv);
	if (opt_parse(opts, &o, &argc, &argv, NULL, err) || check_output(&o, err))
		return -1;
	if (o.html)
		return report_html(argc, argv, command, &o, err);
	if (report_summary_named(argc, argv))
		return report_summaries(argc, argv, &o, err);
	if (o.section.count && !strcmp(o.section.item[0], "help"))
		return list_sections(o.format);
	if (is_kept(&o) && answer_recall(&kept, argc, argv)) {
		kept_close(&kept.kept);
		return KYMO_EXIT_OK;
	}
	report = (struct report_options){
		.format = o.format == REPORT_FORMAT_SUMMARY ? TABLE_TEXT : o.format,
		.summary = o.output,
		.section = o.section.item,
		.sections = o.section.count,
		.not_realtime = &not_realtime,
		.behaviour_failed = &behaviour_failed,
		.selection = &o.selection,
		.sort = o.sort,
		.limit = o.limit,
		.window_ns = o.window_ns,
		.unlimited = o.all,
		.operand = cli_operand(operand, sizeof(operand), argc, argv),
	};
	if ((o.model && behaviours_read(&behaviours, o.model, err)) || cli_captures("report", &o.capture, &captures, err)) {
		behaviours_free(behaviours);
		return -1;
	}
	report.behaviours = behaviours;
	report.captures = captures;
	if (!report_wishes_read(&o, &report, &realtime, &paths, err) &&
	    !answer_open(&answer, "report", argc, argv, &o.times, err)) {
		answer.kept = &kept;
		status = answer_report(&answer, &report, &paths, &o, err);
	}
	kept_close(&kept.kept);
	report_paths_free(&paths);
	realtime_names_free(&realtime);
	expectations_free(report.expect);
	behaviours_free(behaviours);
	captures_free(captures);
	return status;
}

const struct verb verb_report = {
	.name = "report",
	.synopsis = "[TRACE...]",
	.summary = "show which callbacks were slow, which messages late, and why",
	.description =
		"Reads a ROS 2 trace (of kymo, LTTng, ros2_tracing or CARET) and prints, slowest "
		"first: each callback with its durations, each topic with its latency from publish "
		"to the start of the callback, which callbacks blocked others, and what was lost. "
		"Without TRACE: the newest trace.\n\n"
		"For programs that use kymo.h, report prints spans with their durations, counters "
		"and instants. A span is unfinished if its end is not in the trace: it ended "
		"together with the span around it, or where events were lost. Its duration is not "
		"counted.\n\n"
		"Traces of several hosts are read as one. The hosts' clocks are compared by the "
		"messages between them; the section hosts shows how well that works. A latency "
		"that is not longer than the error is printed as \"<error\" (null in JSON, empty "
		"in CSV).\n\n"
		"If you choose no section, these are printed if the trace has something for them: "
		"hosts, callbacks, topics, waits, spans, counters, instants and loss. Others: "
		"publications, takes, intervals, utilisation (regularity and load); cputime, "
		"memory, profile (from the kernel's and libc's events of LTTng, if the trace has "
		"them); cycles; realtime, node-costs, process-costs (allocations, lock waits, page "
		"faults); communications (each publisher and subscription), frequency, "
		"service-calls, executors, lifecycle; processes, nodes, publishers, subscriptions, "
		"timers, services, clients; windows (callbacks and topics over time, in windows of "
		"--window); callback_instances (every run of every callback), messages, and each "
		"other table of kymo query.\n\n"
		"A path leads through nodes and topics: '/camera -> /image -> /detector'. With a "
		"path, or with CARET's --architecture file, response-times shows its response time "
		"in CARET's four cases, response-segments where the time went, and response-rows "
		"each response.\n\n"
		"A message was never received if it was published while a subscription existed "
		"that did not take it; it counts once for each such subscription. A message whose "
		"publisher is not in the trace was received, but its publication is not in the "
		"trace. Quantiles are within 0.1 %, everything else is exact. A wait is blocked "
		"time if other callbacks run on the thread that then runs the "
		"waiting callback.\n\n" CLI_CLOCK_HELP "\n\n"
		"--format summary writes a small file without the single events: counters, "
		"distributions and worst instances, which report reads instead of traces; several "
		"files add up (docs/answers/summary.md).\n\n"
		"--model FILE names activities, regions and states of your robot by the events at "
		"which they begin and end; the section behaviour says how long they were, and "
		"whether they kept their budgets (docs/answers/behaviour.md).\n\n"
		"Exit status: 0; 3 when TRACE is not a trace; 4 when events were lost, with "
		"--strict; 5 when something was not as expected (FAILED or NOT_MEASURED), with "
		"--expect, or longer than its budget, with --model, or not real-time, with "
		"--realtime or --section realtime; 6 when there was nothing to show (the output "
		"says why).",
	.examples = "kymo report\n"
		    "kymo report TRACE --html -o robot.html\n"
		    "kymo report TRACE --node '/perception/*' --sort p99\n"
		    "kymo report TRACE --section waits --begin +10s --end +20s\n"
		    "kymo report TRACE --section windows --window 5s --node /controller\n"
		    "kymo report TRACE --expect callback_list.csv\n"
		    "kymo report TRACE --realtime-file realtime.txt\n"
		    "kymo report left-robot right-robot\n"
		    "kymo report TRACE --format summary -o monday.summary\n"
		    "kymo report TRACE --path '/camera -> /image -> /detector' "
		    "-s response-segments\n"
		    "kymo report TRACE --section callback_instances --format csv > instances.csv",
	.common = "section node topic begin end limit wide format",
	.groups = "What is shown: section node topic process sort limit all window begin end clock "
		  "merge\n"
		  "How it is printed: format output force wide color no-pager quiet\n"
		  "What is expected: expect realtime realtime-file model strict\n"
		  "Paths: path architecture first-callback last-callback",
	.opts = opts,
	.run = run,
};
