/* SPDX-License-Identifier: Apache-2.0 */
/* kymo dump: every event of a trace, as babeltrace2 prints it or as JSON lines. */
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/events.h"
#include "cli/trace_time.h"
#include "ctf/reader.h"

struct dump_options {
	int format;
	uint64_t count;
	struct opt_list event;
	struct selection selection;
	const char *begin, *end;
	bool follow, strict;
};

static const struct opt opts[] = {
	{ "format", 'f', OPT_CHOICE, offsetof(struct dump_options, format), NULL, "how to print",
	  "text|json" },
	{ "count", 'n', OPT_U64, offsetof(struct dump_options, count), "COUNT",
	  "stop after COUNT events", NULL },
	{ "event", 'e', OPT_LIST, offsetof(struct dump_options, event), "GLOB",
	  "only events whose name matches, such as 'ros2:callback_*'; may be repeated", NULL },
	CLI_OPT_SELECTION(struct dump_options, 0),
	CLI_OPT_WINDOW(struct dump_options, "what is"),
	{ "follow", 'F', OPT_FLAG, offsetof(struct dump_options, follow), NULL,
	  "go on with what is being recorded, until interrupted", NULL },
	CLI_OPT_STRICT(struct dump_options),
	CLI_OPT_END
};

/* How often a trace that grows is looked at. */
#define FOLLOW_NS 100000000

static volatile sig_atomic_t interrupted;

struct dump {
	const struct dump_options *options;
	struct ctf_reader *reader;
	uint64_t printed, lost;
	struct events events;
	const struct ctf_event_class *last_class;
	bool last_wanted;
};

static bool wanted(struct dump *d, const struct ctf_event *event)
{
	if (!d->options->event.count)
		return true;
	if (event->class == d->last_class)
		return d->last_wanted;
	d->last_class = event->class;
	d->last_wanted = false;
	for (unsigned i = 0; i < d->options->event.count && !d->last_wanted; i++)
		d->last_wanted = !fnmatch(d->options->event.item[i], event->class->name, 0);
	return d->last_wanted;
}

static void tell_loss(struct dump *d, const struct ctf_event *event)
{
	const struct ctf_stream_info *stream = ctf_stream(d->reader, event->stream);
	int64_t offset = event->ns - (int64_t)event->clock_ns;
	char begin[CLI_TIME_MAX], end[CLI_TIME_MAX];

	d->lost += event->lost + event->lost_packets;
	cli_print_point(begin, (int64_t)event->loss_begin_ns + offset);
	cli_print_point(end, (int64_t)event->loss_end_ns + offset);
	fflush(stdout);
	if (event->lost)
		fprintf(stderr, "kymo dump: %s: the tracer lost %llu events between %s and %s\n",
			stream->path, (unsigned long long)event->lost, begin, end);
	if (event->lost_packets)
		fprintf(stderr, "kymo dump: %s: %llu packets are missing between %s and %s\n",
			stream->path, (unsigned long long)event->lost_packets, begin, end);
}

static int print_events(struct dump *d, struct err *err)
{
	struct ctf_event event;
	int more;

	while ((more = events_next(&d->events, &event, err)) > 0) {
		if (event.bound == CTF_LOSS) {
			progress_clear(&d->events.progress);
			tell_loss(d, &event);
			continue;
		}
		if (!wanted(d, &event))
			continue;
		if (d->options->format)
			ctf_print_event_json(d->reader, &event, stdout);
		else
			ctf_print_event(d->reader, &event, stdout);
		if (++d->printed == d->options->count || ferror(stdout) || interrupted)
			break;
	}
	progress_clear(&d->events.progress);
	return more < 0 ? -1 : 0;
}

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

static int follow(struct dump *d, struct err *err)
{
	const struct timespec pause = { .tv_nsec = FOLLOW_NS };
	const struct sigaction action = { .sa_handler = interrupt };

	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	for (;;) {
		if (print_events(d, err) < 0)
			return -1;
		if (fflush(stdout) || ferror(stdout) || interrupted ||
		    (d->options->count && d->printed == d->options->count))
			return 0;
		(void)nanosleep(&pause, NULL);
		if (ctf_refresh(d->reader, err) < 0)
			return -1;
	}
}

/* Nothing on the output needs a reason. A trace that has no event is shown, one that was left out is not. */
static int tell_nothing(const struct dump *d)
{
	const struct dump_options *o = d->options;
	bool window = o->begin || o->end, objects = selection_any(&o->selection);

	if (!o->event.count && !events_limited(&d->events)) {
		fprintf(stderr, "kymo dump: the trace has no event\n");
		return EXIT_OK;
	}
	fprintf(stderr, "kymo dump: nothing to show: no event %s%s%s; `kymo %s\n",
		o->event.count ? "matches --event" : "is in the trace",
		window ? " between --begin and --end" : "",
		objects ? " that is of --node, --topic and --process" : "",
		o->event.count ? "list` shows the names of all" :
		objects ? "report --section nodes` and `--section topics` show what there is" :
			  "info` shows its begin and end");
	return EXIT_EMPTY;
}

static int dump_run(int argc, char **argv)
{
	struct dump_options options = { 0 };
	struct dump dump = { .options = &options };
	char path[CLI_PATH_MAX];
	struct err err = { 0 };
	int status = EXIT_OK;

	if (opt_parse(opts, &options, &argc, &argv, NULL, &err) || cli_trace(argc, argv, path, &err))
		return cli_fail("dump", &err);
	if (ctf_open(path, &dump.reader, &err))
		return cli_fail("dump", &err);
	ctf_threads(dump.reader, 0);
	ctf_growing(dump.reader, options.follow);
	/* On the terminal itself the events are progress enough. */
	dump.events = (struct events){ .reader = dump.reader, .selection = &options.selection,
				       .begin = options.begin, .end = options.end,
				       .growing = options.follow, .quiet = isatty(STDOUT_FILENO) };
	if (events_open(&dump.events, &err) || (options.follow ? follow : print_events)(&dump, &err) < 0)
		status = cli_fail("dump", &err);
	events_close(&dump.events);
	(void)fflush(stdout);
	for (unsigned i = 0; i < ctf_warning_count(dump.reader); i++)
		fprintf(stderr, "kymo dump: warning: %s\n", ctf_warning(dump.reader, i));
	if (status == EXIT_OK && !dump.printed && !options.follow)
		status = tell_nothing(&dump);
	ctf_close(dump.reader);
	if ((status == EXIT_OK || status == EXIT_EMPTY) && dump.lost && options.strict)
		status = EXIT_LOSS;
	return status;
}

const struct verb verb_dump = {
	.name = "dump",
	.synopsis = "[TRACE]",
	.summary = "print the events of a trace",
	.description =
		"Prints every event of all CTF traces below TRACE in time order, one a line, exactly as "
		"babeltrace2 does: local time, difference to the line before, host, name, packet "
		"context, event contexts, fields. Without TRACE: the newest trace. Lost events and "
		"damaged places are told on stderr.\n\n"
		"--format json prints one object a line: ts_ns (since the epoch), clock_ns (the trace's "
		"clock), name, trace, stream, packet, context, event_context, fields.\n\n"
		"--follow prints what is there and then what comes, while somebody records it: packets when "
		"all of one is in its file, so an event comes as late as the recorder writes it. Events of "
		"one stream keep their order; others that come later may be older.\n\n"
		"--node and --topic: what names them by a handle, and what happens in the callbacks of these "
		"nodes; --process: by the name of the process's main thread, or by pid. To know whose events "
		"are, the trace is read once before.\n\n"
		CLI_TIME_HELP,
	.examples =
		"kymo dump -n 20\n"
		"kymo dump ~/.ros/tracing/my_session --event 'ros2:callback_*'\n"
		"kymo dump my_session --node /planner --event 'ros2:*init'\n"
		"kymo dump my_session --begin +1.5s --end +2s --format json",
	.opts = opts,
	.run = dump_run,
};
