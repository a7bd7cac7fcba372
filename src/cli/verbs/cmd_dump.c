/* SPDX-License-Identifier: Apache-2.0 */
/* kymo dump: every event of a trace, as babeltrace2 prints it, as JSON lines, or as columns. */
#include <limits.h>
#include <time.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "cli/common/screen.h"
#include "cli/input/answer.h"
#include "cli/input/event_print.h"
#include "cli/input/trace_time.h"
#include "cli/verbs/dump/dump_columns.h"

struct dump_options {
	int format;
	uint64_t count;
	struct opt_list event;
	struct selection selection;
	struct cli_times times;
	bool follow, strict;
};

static const struct opt opts[] = { { "format", 'f', OPT_CHOICE,
				     offsetof(struct dump_options, format), NULL, "how to print",
				     "text|json|columns" },
				   CLI_OPT_SCREEN(0),
				   CLI_OPT_EVENT_PRINT(struct dump_options),
				   CLI_OPT_SELECTION(struct dump_options, 0),
				   CLI_OPT_WINDOW(struct dump_options, "what is"),
				   CLI_OPT_CLOCK(struct dump_options),
				   CLI_OPT_MERGE(struct dump_options),
				   { "follow", 'F', OPT_FLAG, offsetof(struct dump_options, follow),
				     NULL, "continue with new events until interrupted", NULL },
				   CLI_OPT_STRICT(struct dump_options),
				   CLI_OPT_END };

enum { DUMP_TEXT, DUMP_JSON, DUMP_COLUMNS };

/* How often a growing trace is read again. */
#define FOLLOW_NS 100000000

struct dump {
	const struct dump_options *options;
	struct events events;
	struct event_print print;
};

static int follow(struct dump *d, struct kymo_err *err)
{
	const struct timespec pause = {.tv_nsec = FOLLOW_NS};

	d->print.stop = cli_stop_signals();
	for (;;) {
		if (event_print_all(&d->print, err) < 0)
			return -1;
		if (fflush(stdout) || event_print_is_over(&d->print))
			return 0;
		(void)nanosleep(&pause, NULL);
		if (kymo_ctf_refresh(d->events.reader, err) < 0)
			return -1;
	}
}

/*
 * Why nothing was printed. A trace without events was still shown whole; otherwise the options left
 * out everything.
 */
static int explain_nothing(const struct dump *d)
{
	const struct dump_options *o = d->options;
	bool window = o->times.begin || o->times.end, objects = selection_any(&o->selection);

	if (!o->event.count && !events_limited(&d->events)) {
		fprintf(stderr, "kymo dump: the trace has no event\n");
		return KYMO_EXIT_OK;
	}
	fprintf(stderr, "kymo dump: nothing to show: no event %s%s%s; `kymo %s\n",
		o->event.count ? "matches --event" : "is in the trace",
		window ? " between --begin and --end" : "",
		objects ? " that belongs to --node, --topic and --process" : "",
		o->event.count ? "events` shows the names of all"
		: objects      ? "report --section nodes` and `--section topics` show what there is"
			       : "info` shows its begin and end");
	return KYMO_EXIT_EMPTY;
}

/* Columns are for programs, and of a whole trace. */
static int check_columns(const struct dump_options *o, struct kymo_err *err)
{
	if (o->format != DUMP_COLUMNS)
		return 0;
	if (o->follow || o->count || o->times.clock || selection_any(&o->selection))
		return err_set(err, KYMO_EXIT_USAGE,
			       "--format columns works with --event, --begin and --end only; "
			       "use --format json");
	if (isatty(STDOUT_FILENO))
		return err_set(err, KYMO_EXIT_USAGE,
			       "--format columns writes binary data for programs, and standard "
			       "output is a terminal; use --format json, or a pipe");
	return 0;
}

static int print_columns(struct dump *d, struct kymo_err *err)
{
	struct dump_columns done = { 0 };
	const int status = dump_columns(&d->events, &d->options->event, &done, err);

	d->print.printed = done.printed;
	d->print.lost = done.lost;
	return status;
}

static int print_events(struct dump *d, struct kymo_err *err)
{
	if (d->options->format == DUMP_COLUMNS)
		return print_columns(d, err);
	return d->options->follow ? follow(d, err) : event_print_all(&d->print, err);
}

/* Lines are cut at the edge of the screen. A pager would hold back what --follow prints. */
static void dress(const struct dump_options *o)
{
	opt_screen.no_pager |= o->follow;
	if (o->format != DUMP_COLUMNS)
		screen_page();
	if (o->format == DUMP_TEXT)
		screen_chop();
}

static int dump_run(int argc, char **argv, struct kymo_err *err)
{
	struct dump_options options = { 0 };
	struct dump dump = { .options = &options };
	struct answer answer;
	int status = KYMO_EXIT_OK;

	if (opt_parse(opts, &options, &argc, &argv, NULL, err) || check_columns(&options, err) ||
	    (options.follow ? answer_follow : answer_open)(&answer, "dump", argc, argv,
							   &options.times, err))
		return -1;
	answer.warnings = UINT_MAX;
	cli_print_hosts("dump", answer.align);
	dress(&options);
	/* On a terminal the events themselves show the progress. */
	dump.events = (struct events){
		.reader = answer.reader,
		.selection = &options.selection,
		.clock = answer.clock,
		.begin_ns = answer.begin_ns,
		.end_ns = answer.end_ns,
		.growing = options.follow,
		.quiet = isatty(STDOUT_FILENO),
	};
	dump.print = (struct event_print){
		.verb = "dump",
		.events = &dump.events,
		.names = &options.event,
		.most = options.count,
		.json = options.format == DUMP_JSON,
	};
	if (events_open(&dump.events, err) || print_events(&dump, err) < 0)
		status = -1;
	events_close(&dump.events);
	(void)fflush(stdout);
	answer.lost = dump.print.lost;
	if (status == KYMO_EXIT_OK && !dump.print.printed && !options.follow)
		status = explain_nothing(&dump);
	return answer_close(&answer, status, options.strict);
}

const struct verb verb_dump = {
	.name = "dump",
	.synopsis = "[TRACE...]",
	.summary = "print the events of a trace",
	.description =
		"Prints every event of all CTF traces below TRACE in time order, one per line, "
		"exactly as babeltrace2 does: local time, difference to the line before, host, "
		"name, packet context, event contexts, fields. Without TRACE: the newest trace. "
		"Lost events and damaged places are reported on standard error.\n\n"
		"Traces of several hosts are read as one. Times are then those of the first host's "
		"clock; the other clocks are compared to it by the messages between the hosts. "
		"Standard error and `kymo report --section hosts` show how well that works. With "
		"--follow, times are those of each host's wall clock.\n\n"
		"With --clock sim the time is what the simulation's clock showed, in seconds.\n\n"
		"--format json prints one object per line: ts_ns (since the epoch), clock_ns (the "
		"trace's clock), name, trace, host, stream, packet, context, event_context, "
		"fields.\n\n"
		"--format columns is for programs that read millions of events: lines of JSON, and "
		"batches of columns as binary numbers. kymo.Handler of the Python package reads "
		"it.\n\n"
		"--follow prints the events that exist, then new ones while a recorder writes "
		"them. A packet is read when all of it is in its file, so an event appears as late "
		"as the recorder writes it. Events of one stream keep their order; an event of "
		"another stream may be older than the line before.\n\n"
		"--node and --topic keep events that name the node or topic by a handle, and "
		"events that happen in the callbacks of these nodes. --process keeps events by the "
		"name of the process's main thread, or by pid. To find out which event belongs "
		"where, kymo reads the trace once before.\n\n" CLI_CLOCK_HELP,
	.examples = "kymo dump -n 20\n"
		    "kymo dump ~/.ros/tracing/my_session --event 'ros2:callback_*'\n"
		    "kymo dump my_session --node /planner --event 'ros2:*init'\n"
		    "kymo dump left-robot right-robot --format json\n"
		    "kymo dump my_session --begin +1.5s --end +2s --format json",
	.common = "count event node begin end follow format",
	.opts = opts,
	.run = dump_run,
};
