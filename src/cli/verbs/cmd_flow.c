/* SPDX-License-Identifier: Apache-2.0 */
/* kymo flow: messages followed through callbacks, from a sensor to an actuator. */
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/input/answer.h"
#include "cli/input/input_captures.h"
#include "cli/common/common.h"
#include "cli/input/trace_time.h"
#include "report/flow/flow.h"

#define WORST_MAX 1000	/* instances of a chain */

struct options {
	int format;
	struct selection selection;
	uint64_t limit, chain, worst, message;
	bool all, latest, suggest;
	const char *at;
	struct cli_times times;
	struct opt_list capture;
	bool strict;
};

static const struct opt opts[] = {
	CLI_OPT_FORMAT(struct options),
	CLI_OPT_SCREEN(0),
	CLI_OPT_SELECTION(struct options, 'n'),
	{ "chain", 'c', OPT_U64, offsetof(struct options, chain), "N",
	  "show only the chain with this number, with its segments", NULL },
	{ "worst", 'w', OPT_U64, offsetof(struct options, worst), "N",
	  "show the N longest instances of each chain (default 1, at most 1000)", NULL },
	{ "message", 'm', OPT_U64, offsetof(struct options, message), "ID",
	  "show what led to this publication and what followed, as a tree", NULL },
	{ "at", 0, OPT_TEXT, offsetof(struct options, at), "TIME",
	  "show the first chain that begins then or later, as a tree", NULL },
	{ "latest", 'l', OPT_FLAG, offsetof(struct options, latest), NULL,
	  "assume that a timer that publishes uses what its node received last", NULL },
	{ "suggest", 0, OPT_FLAG, offsetof(struct options, suggest), NULL,
	  "list message links that the times suggest, with the evidence", NULL },
	{ "all", 'a', OPT_FLAG, offsetof(struct options, all), NULL,
	  "also chains over /rosout and /parameter_events", NULL },
	{ "limit", 0, OPT_U64, offsetof(struct options, limit), "N",
	  "show at most N chains (default: 20 in a table, else all)", NULL },
	CLI_OPT_CAPTURE(struct options, "times of packets"),
	CLI_OPT_WINDOW(struct options, "chains that begin"),
	CLI_OPT_CLOCK(struct options),
	CLI_OPT_MERGE(struct options),
	CLI_OPT_STRICT(struct options),
	CLI_OPT_END
};

/* A chain has an arrow. A directory may have one in its name, too, but it exists. */
static bool is_chain(const char *operand)
{
	return strstr(operand, "->") && access(operand, F_OK) != 0;
}

/* What is not a chain, but could be a callback, a span or a loop: which commands show it. */
static int name_others(int argc, char **argv, int at, struct kymo_err *err)
{
	char what[300], trace[300] = "";

	for (int i = 0; i < argc && argc > 1 && !*trace; i++)
		if (i != at)
			text_shell(trace, sizeof(trace), argv[i]);
	text_shell(what, sizeof(what), argv[at]);
	return err_set(err, KYMO_EXIT_USAGE,
		       "'%.200s' is neither a trace nor a chain such as '/lidar -> /cmd_vel'; for a "
		       "callback, a span or a loop, type \"kymo why%s%s %s\" (the worst one, part by "
		       "part) or \"kymo report%s%s --all\" (all distributions)",
		       argv[at], *trace ? " " : "", trace, what, *trace ? " " : "", trace);
}

static int read_chain(int *argc, char **argv, const char **pattern, struct kymo_err *err)
{
	for (int i = 0; i < *argc; i++) {
		if (!is_chain(argv[i]))
			continue;
		if (*pattern)
			return err_set(err, KYMO_EXIT_USAGE, "'%s' and '%s': only one chain at a time", *pattern,
				       argv[i]);
		*pattern = argv[i];
		memmove(&argv[i], &argv[i + 1], (size_t)(*argc - i) * sizeof(*argv));
		(*argc)--;
		i--;
	}
	for (int i = 0; i < *argc; i++)
		if (access(argv[i], F_OK) != 0 && (*argc > 1 || !cli_means_path(argv[i])))
			return name_others(*argc, argv, i, err);
	return 0;
}

static int check_suggest(const struct options *o, const char *pattern, struct kymo_err *err)
{
	if (o->suggest && (pattern || o->chain || o->message || o->at || o->latest))
		return err_set(err, KYMO_EXIT_USAGE,
			       "--suggest goes without --chain, --message, --at, --latest and a "
			       "chain such as '/lidar -> /cmd_vel'");
	return 0;
}

static int read_at(const struct answer *answer, const char *at, int64_t *at_ns, struct kymo_err *err)
{
	int64_t first_ns;

	return at && (cli_first_time(answer->reader, &first_ns, err) ||
		      cli_read_point("at", at, first_ns, answer->clock, at_ns, err)) ? -1 : 0;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options o = { .worst = 1 };
	struct flow_options flow = {.at_ns = INT64_MIN};
	struct captures *captures = NULL;
	struct answer answer;
	int status;

	if (opt_parse(opts, &o, &argc, &argv, NULL, err) ||
	    read_chain(&argc, argv, &flow.pattern, err) ||
	    check_suggest(&o, flow.pattern, err) ||
	    cli_captures("flow", &o.capture, &captures, err))
		return -1;
	if (answer_open(&answer, "flow", argc, argv, &o.times, err)) {
		captures_free(captures);
		return -1;
	}
	flow.captures = captures;
	flow.format = o.format;
	flow.selection = &o.selection;
	flow.limit = o.limit;
	flow.chain = o.chain;
	flow.worst = o.worst < WORST_MAX ? (unsigned)o.worst : WORST_MAX;
	flow.all_topics = o.all;
	flow.latest = o.latest;
	flow.suggest = o.suggest;
	flow.begin_ns = answer.begin_ns;
	flow.end_ns = answer.end_ns;
	flow.message = o.message;
	flow.align = answer.align;
	flow.clock = answer.clock;
	flow.several = answer.traces.count > 1;
	flow.told_lost = cli_traces_lost(&answer.traces, "flow");
	flow.progress = progress_trace;
	flow.context = &answer.progress;
	status = read_at(&answer, o.at, &flow.at_ns, err) || answer_begin(&answer, o.format, err)
			 ? -1
			 : flow_run(answer.reader, answer.traces.name, &flow, answer.table,
				    &answer.lost, err);
	captures_free(captures);
	return answer_close(&answer, status, o.strict);
}

const struct verb verb_flow = {
	.name = "flow",
	.synopsis = "[TRACE...] ['FROM -> TO']",
	.summary = "follow messages through callbacks: chains, latency, where they stop",
	.description = "A callback publishes a message, another callback receives it and publishes "
		       "in turn: that is a "
		       "chain. It leads from a timer, or from a message of unknown origin, to a "
		       "callback that publishes "
		       "nothing. If you name no chain, flow lists all different chains of the "
		       "trace, the longest first: "
		       "how many began and arrived, and their end-to-end latency. For the first "
		       "three it also shows how "
		       "long each segment took, where chains stopped and why, and the longest "
		       "instance. Without TRACE: "
		       "the newest trace.\n\n"
		       "You name a chain as a list of nodes, topics or NODE:TOPIC with \"->\" "
		       "between them; globs are "
		       "allowed, and anything may lie between two of them. A chain that begins or "
		       "ends with a topic does "
		       "so where the publish call begins; with a node, where its callback starts "
		       "or returns.\n\n"
		       "Segments: run (the callback, until it publishes), publish (the publish "
		       "call, until the "
		       "middleware has the message), transport (until the message is taken), wait "
		       "(the part of that time "
		       "in which the taking thread ran other callbacks), take (until the callback "
		       "starts), and cached "
		       "(stored by a callback until another callback publishes). They add up to "
		       "the latency.\n\n"
		       "Traces of several hosts are read as one. Their clocks are compared by the "
		       "messages between them; "
		       "a time that is not longer than the error of that comparison is printed as "
		       "\"<error\".\n\n"
		       "With --capture, flow shows when the packets of messages were on the wire, and which were lost or sent "
		       "again: of each topic of the chains, of the longest instances, and of the message of --message.\n\n"
		       "\"~>\" is an indirect link: a message_link of the trace, or an assumption "
		       "of --latest.\n\n" CLI_CLOCK_HELP "\n\n"
		       "Exit status: 0; 3 when TRACE is not a trace; 4 when events were lost, with "
		       "--strict; 6 when "
		       "there was nothing to show (the output says why).",
	.examples = "kymo flow\n"
		    "kymo flow TRACE '/scan -> /cmd_vel'\n"
		    "kymo flow TRACE '/scan -> /perception/* -> /base_driver:/cmd_vel' -w 10\n"
		    "kymo flow TRACE --chain 2 --begin +10s --end +20s\n"
		    "kymo flow TRACE --message 1234",
	.common = "chain worst message at node topic begin wide",
	.opts = opts,
	.run = run,
};
