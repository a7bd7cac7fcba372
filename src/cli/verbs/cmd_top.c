/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo top`: what a robot does now. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/common/attaching.h"
#include "cli/common/common.h"
#include "cli/input/access_options.h"
#include "cli/input/answer.h"
#include "cli/input/input_runs.h"
#include "cli/input/kept_copy.h"
#include "top/top.h"

#define INTERVAL_LEAST_NS 100000000

struct options {
	int format, page, count;
	int64_t interval;
	struct selection selection;
	struct access_wishes access;
	bool once, all, attach, strict;
};

static const struct opt opts[] = {
	{ "once", '1', OPT_FLAG, offsetof(struct options, once), NULL,
	  "wait for one interval, print a table, and end; needs no terminal", NULL },
	{ "format", 'f', OPT_CHOICE, offsetof(struct options, format), NULL,
	  "how to print, with --once; json has all pages", "table|json|csv" },
	{ "page", 0, OPT_CHOICE, offsetof(struct options, page), NULL,
	  "what to show first, or with --once", "callbacks|topics|chains|executors|threads|spans" },
	{ "interval", 0, OPT_TIME, offsetof(struct options, interval), "TIME",
	  "time between two looks (default 1s)", NULL },
	{ "count", 0, OPT_CHOICE, offsetof(struct options, count), NULL,
	  "programs that nobody records only count, without durations; auto (default): from 100 "
	  "programs on",
	  "auto|always|never" },
	CLI_OPT_SELECTION(struct options, 0),
	{ "all", 'a', OPT_FLAG, offsetof(struct options, all), NULL,
	  "also start-up: callbacks and messages of /rosout and /parameter_events, and first "
	  "instances as findings", NULL },
	{ "attach", 0, OPT_FLAG, offsetof(struct options, attach), NULL,
	  "attach to PID, or to all ROS 2 programs that run: kymo help attach", NULL },
	ACCESS_OPTS(struct options, access),
	CLI_OPT_STRICT(struct options),
	CLI_OPT_END
};

/* A number is a process, unless there is such a file. */
static int read_operand(const char *operand, struct top_options *top, struct url *url,
			struct kymo_err *err)
{
	struct cli_traces traces;
	uint64_t number;

	if (url_is_one(operand)) {
		if (url_parse(operand, URL_VIEWER, url, err) < 0)
			return -1;
		if (!url->session[0])
			return err_set(err, KYMO_EXIT_USAGE,
				       "no session in the URL; \"kymo live %s\" lists the relay's "
				       "sessions",
				       operand);
		top->url = url;
		return 0;
	}
	if (access(operand, F_OK) < 0 && text_read_u64(operand, &number)) {
		if (!number || number > INT32_MAX)
			return err_set(err, KYMO_EXIT_USAGE, "invalid process number %s", operand);
		top->pid = (int)number;
		return 0;
	}
	top->trace = operand;
	cli_traces_one(&traces, operand);
	return cli_traces_distinct(&traces, err) ? -1 : cli_one_run_below("top", &traces, err);
}

/* Names in @hint the programs that top does not see, or attaches to them. */
static int attach(const struct options *options, char *operand, const struct top_options *top,
		  char hint[ATTACHING_HINT_MAX], struct kymo_err *err)
{
	const struct attaching attaching = {
		.who = { .item = { operand }, .count = top->pid > 0 },
		.all = !top->pid,
		.quiet = true,
	};

	if (options->attach && (top->trace || top->url))
		return err_set(err, KYMO_EXIT_USAGE,
			       "--attach is for programs that run, not for a trace");
	if (options->attach)
		return attaching_on("top", &attaching, err);
	if (!top->trace && !top->url && !top->pid)
		(void)attaching_hint(hint);
	return 0;
}

/* Prints what was kept of the trace, or the table, and keeps it. */
static int show_once(const struct options *options, struct top_options *top,
		     struct answer_kept *kept, char *operand, struct kymo_err *err)
{
	struct top_said said = { 0 };
	struct kept_copy copy;
	bool keeps, whole;
	int rc;

	if (!top->trace)
		*kept->command = '\0';
	if (answer_recall(kept, 1, &operand))
		return KYMO_EXIT_OK;
	keeps = *kept->kept.path != '\0';
	top->out = keeps ? kept_copy_open(&copy) : stdout;
	rc = top_once(top, (enum table_format)options->format, &said, err);
	whole = keeps && kept_copy_close(&copy);
	if (rc == KYMO_EXIT_OK && whole && said.is_whole && !said.lost &&
	    answer_is_clean(&kept->traces))
		kept_put(&kept->kept, copy.text, copy.size);
	if (keeps)
		free(copy.text);
	return rc == KYMO_EXIT_OK && said.lost && options->strict ? KYMO_EXIT_LOSS : rc;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options options = { .interval = 1000000000 };
	struct top_options top = { .version = KYMO_VERSION };
	struct access access = { 0 };
	struct answer_kept kept;
	struct url url = { 0 };
	char hint[ATTACHING_HINT_MAX] = "";
	int rc;

	answer_command(&kept, "top", argc, argv);
	kept.is_plain = true;
	if (opt_parse(opts, &options, &argc, &argv, NULL, err) < 0)
		return -1;
	if (argc > 1)
		return err_set(err, KYMO_EXIT_USAGE,
			       "unexpected operand '%s': name one process, trace or session",
			       argv[1]);
	if (options.interval < INTERVAL_LEAST_NS)
		return err_set(err, KYMO_EXIT_USAGE, "--interval must be at least 100ms");
	if (!options.once && (options.format != TABLE_TEXT || options.strict))
		return err_set(err, KYMO_EXIT_USAGE, "--format and --strict require --once");
	if (argc && read_operand(argv[0], &top, &url, err) < 0)
		return -1;
	if (attach(&options, argc ? argv[0] : NULL, &top, hint, err) < 0)
		return -1;
	top.hint = hint;
	rc = top.url ? access_wish(&options.access, &url, &access, err) : 0;
	top.tls = access.tls;
	top.token = &access.token;
	top.selection = &options.selection;
	top.all = options.all;
	top.interval_ns = options.interval;
	top.page = options.page;
	top.count = options.count;
	if (rc == 0)
		rc = options.once ? show_once(&options, &top, &kept, argv[0], err)
				  : top_screen(&top, err);
	kept_close(&kept.kept);
	access_free(&access);
	return rc;
}

const struct verb verb_top = {
	.name = "top",
	.synopsis = "[PID | TRACE | URL]",
	.summary =
		"watch what a robot does now: callbacks, topics, chains, spans",
	.description = "Shows what stands out, and tables that you can sort, filter and ask, "
		       "redrawn every second. Press ? for the keys.\n\n"
		       "Without an operand, top watches all programs that were started with \"kymo "
		       "run\", or with PID one of them. It takes their events into memory (64 MiB "
		       "at most) and forgets them again. If a recorder runs, top reads beside it "
		       "and changes nothing in its trace; else the programs wait again when top "
		       "ends. With --count always, and from 100 programs on, they only count "
		       "meanwhile, without durations; the key c switches.\n\n"
		       "--attach first makes programs traceable that were started without kymo, as "
		       "\"kymo attach\" does; they stay so.\n\n"
		       "With TRACE, top shows a whole trace; a trace that is being recorded is "
		       "shown from now on. URL is a session of a relay, as with \"kymo live\".\n\n"
		       "Rates, busy and CPU are those of the last five intervals. Usually (the "
		       "median), worst and waited are those of the last 60 intervals, or of the "
		       "whole trace. Waited is the longest wait behind other callbacks. Enter "
		       "explains the worst one as \"kymo why\" does.\n\n"
		       "--once prints one table, or with --format json all pages, for scripts.\n\n"
		       "Exit status: 0; 4 when events were lost, with --once --strict; 6 when "
		       "there is nothing to show.",
	.examples = "kymo top\n"
		    "kymo top --once --count always\n"
		    "kymo top --once --format json --page topics\n"
		    "kymo top traces/robot/walk-20261120-200115\n"
		    "kymo top net://robot/walk\n",
	.opts = opts,
	.common = "once format page interval count node topic",
	.run = run,
};
