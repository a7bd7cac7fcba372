/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo live`: what a relay's session, or a trace directory, brings while it comes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>

#include "base/array.h"
#include "cli/input/access_options.h"
#include "cli/common/common.h"
#include "cli/common/screen.h"
#include "cli/verbs/live/live_show.h"
#include "live/live.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

#define INTERVAL_LEAST_NS 10000000

struct options {
	int format;
	uint64_t count;
	struct opt_list event;
	struct selection selection;
	const char *output;
	struct access_wishes access;
	int64_t interval;
	bool now, reconnect, top, all, quiet, strict;
};

static const struct opt opts[] = {
	{ "format", 'f', OPT_CHOICE, offsetof(struct options, format), NULL,
	  "how to print; csv is for tables: those of --top, and the list of sessions",
	  "text|json|csv" },
	CLI_OPT_SCREEN(0),
	CLI_OPT_EVENT_PRINT(struct options),
	CLI_OPT_SELECTION(struct options, 0),
	{ "now", 0, OPT_FLAG, offsetof(struct options, now), NULL,
	  "leave out older events (default: from the session's beginning)", NULL },
	CLI_OPT_OUTPUT(struct options, "DIR", "write a trace directory instead of printing events"),
	{ "top", 0, OPT_FLAG, offsetof(struct options, top), NULL,
	  "instead of events, print tables of what happened in the last second: callbacks, topics, "
	  "processes, events",
	  NULL },
	{ "all", 'a', OPT_FLAG, offsetof(struct options, all), NULL,
	  "with --top: also callbacks and messages of /rosout and /parameter_events", NULL },
	{ "interval", 0, OPT_TIME, offsetof(struct options, interval), "TIME",
	  "time between tables (default 1s)", NULL },
	{ "reconnect", 0, OPT_FLAG, offsetof(struct options, reconnect), NULL,
	  "when the relay goes away, wait for it and continue", NULL },
	ACCESS_OPTS(struct options, access),
	CLI_OPT_QUIET(struct options),
	CLI_OPT_STRICT(struct options),
	CLI_OPT_END
};

struct viewing {
	const struct options *options;
	const char *directory;		/* NULL: the relay at */
	struct url url;
	struct access access;
	struct live_show show;
	struct live_counts counts;
	struct table *table;		/* of sessions; NULL: not begun */
};

static void say(void *context, const char *text)
{
	const struct viewing *watch = context;

	if (watch->options->quiet)
		return;
	(void)fflush(stdout);
	fprintf(stderr, "kymo live: %s\n", text);
}

/* ---- the list of sessions ---- */

static const struct table_column columns[] = {
	{ "host", "host" }, { "session", "session" }, { "streams", "streams" }, { "viewers", "viewers" },
	{ "live_timer_ns", "live timer" }, { "id", NULL },
};

/* A relay that cannot be reached has no list. */
static int begin_list(struct viewing *watch, struct kymo_err *err)
{
	if (watch->table)
		return 0;
	if (table_open(&watch->table, stdout, (enum table_format)watch->options->format) < 0)
		return err_no_memory(err);
	screen_dress(watch->table);
	table_section(watch->table, "sessions", NULL, columns, COUNT_OF(columns));
	return 0;
}

static int list_session(void *context, const struct wire_listed_session *session,
			struct kymo_err *err)
{
	struct viewing *watch = context;

	if (begin_list(watch, err) < 0)
		return -1;
	table_text(watch->table, session->host);
	table_text(watch->table, session->name);
	table_u64(watch->table, session->streams);
	table_u64(watch->table, session->viewers);
	if (session->live_timer)
		table_ns(watch->table, (int64_t)session->live_timer * 1000);
	else
		table_none(watch->table);
	table_u64(watch->table, session->session);
	return 0;
}

/* ---- a session ---- */

static int on_data(void *context, struct live *live, bool final, struct kymo_err *err)
{
	struct viewing *watch = context;
	int rc;

	if (final)
		live_count(live, &watch->counts);
	if (watch->options->output && !watch->options->top)
		return 0;
	if (live_show_refresh(&watch->show, live_path(live), live_has_news(live), err) < 0)
		return -1;
	if (!watch->show.reader)
		return 0;
	rc = live_show_until(&watch->show, live_until(live, watch->show.reader), err);
	if (rc == 0)
		live_forget(live, watch->show.reader, watch->show.until);
	return rc == 0 && final && watch->options->top ? live_show_block(&watch->show, err) : rc;
}

static int on_tick(void *context, struct live *live, struct kymo_err *err)
{
	struct viewing *watch = context;

	(void)live;
	return live_show_block(&watch->show, err);
}

static int watch_session(struct viewing *watch, struct kymo_err *err)
{
	const struct options *options = watch->options;
	struct live_options live = {
		.url = &watch->url,
		.tls = watch->access.tls,
		.token = &watch->access.token,
		.output = options->output,
		.from_now = options->now,
		.reconnect = options->reconnect,
		.session = list_session,
		.update = on_data,
		.tick = options->top ? on_tick : NULL,
		.period_ns = options->interval,
		.say = say,
		.context = watch,
	};

	return live_run(&live, err);
}

static int list_sessions(struct viewing *watch, struct kymo_err *err)
{
	int rc = watch_session(watch, err);

	if (rc == 0 && !watch->table) {
		rc = begin_list(watch, err);
		if (rc == 0)
			table_note(watch->table,
				   "Record one: kymo record --relay net://HOST -- COMMAND");
	}
	if (watch->table && cli_close("live", watch->table, KYMO_EXIT_OK) != KYMO_EXIT_OK && rc == 0)
		rc = err_set(err, KYMO_EXIT_FAILED, "cannot write to standard output");
	return rc;
}

/* Lines of events end at the edge of the screen. A pager would hold back what comes. */
static void dress(const struct options *options)
{
	if (options->top || options->output || options->format != FORMAT_TEXT)
		return;
	opt_screen.no_pager = true;
	screen_page();
	screen_chop();
}

static int show_events(struct viewing *watch, struct kymo_err *err)
{
	const struct options *options = watch->options;
	int rc;

	dress(options);
	watch->show = (struct live_show){
		.selection = &options->selection,
		.tables = options->top,
		.all = options->all,
		.format = (enum table_format)options->format,
		.print = { .verb = "live",
			   .names = &options->event,
			   .most = options->count,
			   .json = options->format == FORMAT_JSON },
	};
	watch->show.from_now = options->now;
	if (watch->directory) {
		rc = live_dir(watch->directory, &watch->show, options->interval, options->quiet,
			      err);
	} else {
		watch->show.print.stop = live_stopped();
		rc = watch_session(watch, err);
		if (live_was_cut()) { /* as the user wished; nobody reads the rest */
			__fpurge(stdout);
			clearerr(stdout);
		}
	}
	live_show_end(&watch->show);
	if (rc == 0 && options->top && !watch->show.shown && !watch->directory && !*live_stopped())
		rc = err_set(err, KYMO_EXIT_EMPTY, "%s",
			     options->now ? "the session has ended, and nothing happened since you "
					    "asked; leave out --now to see what it recorded"
					  : "the session has ended without an event");
	if (rc == 0 && options->output && !options->quiet)
		fprintf(stderr, "kymo live: %s: %" PRIu64 " packets of %" PRIu64 " streams, %" PRIu64 " bytes\n", options->output,
			watch->counts.packets, watch->counts.streams, watch->counts.bytes);
	return rc;
}

static int check_url(struct viewing *watch, const char *operand, struct kymo_err *err)
{
	const struct options *options = watch->options;

	if (url_parse(operand, URL_VIEWER, &watch->url, err) < 0)
		return -1;
	if (!watch->url.session[0] && (options->output || options->count || options->event.count))
		return err_set(err, KYMO_EXIT_USAGE, "no session in the URL; `kymo live URL` without options lists the relay's sessions");
	return access_wish(&options->access, &watch->url, &watch->access, err);
}

static int check(struct viewing *watch, int argc, char **argv, struct kymo_err *err)
{
	const struct options *options = watch->options;

	if (argc != 1)
		return err_set(err, KYMO_EXIT_USAGE, "name what to watch: a relay, such as net://127.0.0.1, its session, such as "
			       "net://127.0.0.1/host/NAME/SESSION, or a trace directory");
	if (url_is_one(argv[0])) {
		if (check_url(watch, argv[0], err) < 0)
			return -1;
	} else {
		watch->directory = argv[0];
		if (options->output || options->reconnect)
			return err_set(err, KYMO_EXIT_USAGE, "--output and --reconnect require a relay, and %s is not a URL", argv[0]);
	}
	if (options->interval < INTERVAL_LEAST_NS)
		return err_set(err, KYMO_EXIT_USAGE, "--interval must be at least 10ms");
	if (options->all && !options->top)
		return err_set(err, KYMO_EXIT_USAGE, "--all requires --top");
	if (options->top && (options->count || options->event.count))
		return err_set(err, KYMO_EXIT_USAGE, "--top counts all events; leave out --count and --event");
	if ((watch->directory || watch->url.session[0]) && options->format == FORMAT_CSV &&
	    !options->top)
		return err_set(err, KYMO_EXIT_USAGE, "--format csv requires --top; choose text or json for events");
	return 0;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options options = { .interval = 1000000000 };
	struct viewing watch = {.options = &options};
	int rc;

	if (opt_parse(opts, &options, &argc, &argv, NULL, err) < 0)
		return -1;
	rc = check(&watch, argc, argv, err);
	if (rc == 0)
		rc = (watch.directory || watch.url.session[0] ? show_events : list_sessions)(&watch,
											     err);
	access_free(&watch.access);
	if (rc < 0)
		return -1;
	return options.strict && watch.show.print.lost + watch.counts.missed ? KYMO_EXIT_LOSS
									     : KYMO_EXIT_OK;
}

const struct verb verb_live = {
	.name = "live",
	.synopsis = "URL|DIR",
	.summary = "watch a relay's session, or a trace directory, while it grows",
	.description =
		"Reads a session of `kymo relay` or of lttng-relayd: URL is "
		"net://HOST[:PORT]/host/HOSTNAME/SESSION, as with babeltrace2, or net://HOST[:PORT]/SESSION; "
		"nets:// with TLS. Without a session, live lists the sessions of the relay. If the session does "
		"not exist yet, live waits for it.\n\n"
		"Prints the events from the session's beginning, as `kymo dump` does, of all its processes in "
		"time order: an event is shown as soon as no stream can bring an earlier one. If a stream is "
		"silent for a while, live does not wait for it. Losses are reported on standard error.\n\n"
		"With a directory: reads a trace while another program writes it, on this machine or on a shared "
		"file system. With `kymo relay` and `kymo record`, live uses their locks and synchronisation "
		"points, else the clock. Ends when the writer has gone, or, if that cannot be known, with Ctrl-C.\n\n"
		"--top prints tables of what happened since the table before: rates of events, processes and "
		"topics, durations of callbacks, latencies of messages, losses. On a terminal they are redrawn.\n\n"
		"-o DIR writes a trace directory with index files instead, which can be read while it grows.\n\n"
		"Ends when the session ends, with Ctrl-C, or with an error when the relay goes away.",
	.examples =
		"kymo live net://127.0.0.1\n"
		"kymo live net://127.0.0.1/host/$(hostname)/robot\n"
		"kymo live net://robot/robot --now --event 'ros2:callback_*'\n"
		"kymo live net://robot/robot --now --top\n"
		"kymo live net://robot/robot -o my_session --reconnect\n"
		"kymo live traces/robot/walk-20261120-200115\n",
	.opts = opts,
	.run = run,
};
