/* SPDX-License-Identifier: Apache-2.0 */
/* kymo flow: messages followed through callbacks, from a sensor to an actuator. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/input/answer.h"
#include "cli/input/input_captures.h"
#include "cli/input/input_model.h"
#include "cli/common/common.h"
#include "cli/input/trace_time.h"
#include "report/flow/flow.h"
#include "report/why/report_why.h"

#define WORST_MAX 1000u /* instances of a chain */

struct options {
	int format;
	struct selection selection;
	uint64_t limit, chain, worst, message;
	bool all, latest, suggest;
	const char *at;
	struct cli_times times;
	struct opt_list capture;
	const char *model;
	bool strict;
};

static const struct opt opts[] = {
	CLI_OPT_FORMAT(struct options),
	CLI_OPT_SCREEN(0),
	CLI_OPT_SELECTION(struct options, 'n'),
	{ "chain", 'c', OPT_U64, offsetof(struct options, chain), "N",
	  "show only the chain with this number, with its segments", NULL },
	{ "worst", 'w', OPT_U64, offsetof(struct options, worst), "N",
	  "show the N longest instances of each chain (default 1, at most 1000; of a loop or span at "
	  "most 100)",
	  NULL },
	{ "message", 'm', OPT_U64, offsetof(struct options, message), "ID",
	  "show what led to this publication and what followed, as a tree", NULL },
	{ "at", 0, OPT_TEXT, offsetof(struct options, at), "TIME",
	  "show the first chain that begins then or later, as a tree; of ACTION or SPAN the one that runs then",
	  NULL },
	{ "latest", 'l', OPT_FLAG, offsetof(struct options, latest), NULL,
	  "assume that a timer that publishes uses what its node received last", NULL },
	{ "suggest", 0, OPT_FLAG, offsetof(struct options, suggest), NULL,
	  "list message links that the times suggest, with the evidence", NULL },
	{ "all", 'a', OPT_FLAG, offsetof(struct options, all), NULL,
	  "also chains over /rosout and /parameter_events, and each of many of one name", NULL },
	{ "limit", 0, OPT_U64, offsetof(struct options, limit), "N",
	  "show at most N chains (default: 20 in a table, else all)", NULL },
	CLI_OPT_MODEL_OPERAND(struct options),
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

/* Take operand @i out, which is no trace. */
static const char *take(int *argc, char **argv, int i)
{
	const char *operand = argv[i];

	memmove(&argv[i], &argv[i + 1], (size_t)(*argc - i) * sizeof(*argv));
	(*argc)--;
	return operand;
}

/* Return: a chain, an action, a loop or a span in @asked; NULL: none. */
static int read_operands(int *argc, char **argv, const char **asked, struct kymo_err *err)
{
	const bool alone = *argc == 1;

	*asked = NULL;
	for (int i = 0; i < *argc; i++) {
		if (!is_chain(argv[i]) &&
		    (access(argv[i], F_OK) == 0 || (alone && cli_means_path(argv[i]))))
			continue;
		if (*asked)
			return err_set(
				err, KYMO_EXIT_USAGE,
				"'%s' and '%s': only one chain, action, loop or span at a time; if one "
				"of the two is a trace, its path does not exist",
				*asked, argv[i]);
		*asked = take(argc, argv, i--);
	}
	return 0;
}

/* @span is no chain, action, loop or span; it may be a callback, unless it is of --model. */
static void name_others(struct answer *answer, const struct options *o, const char *span)
{
	char what[300], of[300], text[1600];

	text_shell(what, sizeof(what), span);
	text_shell(of, sizeof(of), answer->traces.name);
	if (o->model)
		(void)snprintf(text, sizeof(text), "this trace has no span '%.200s' (of --model)",
			       span);
	else
		(void)snprintf(
			text, sizeof(text),
			"'%.200s' is neither a trace, nor a chain such as '/lidar -> /cmd_vel', nor "
			"an action, loop or span of this trace. For a callback, type \"kymo why %s "
			"%s\" (the worst one, part by part) or \"kymo report %s --all\" (all "
			"distributions).",
			span, of, what, of);
	table_value_text(answer->table, "trace", "Trace", answer->traces.name);
	table_value_text(answer->table, "why_empty", "Nothing to show", text);
}

static int check(const struct options *o, const char *pattern, struct kymo_err *err)
{
	if (o->worst > WORST_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "--worst must be at most %u", WORST_MAX);
	if (o->suggest && (pattern || o->chain || o->message || o->at || o->latest))
		return err_set(err, KYMO_EXIT_USAGE,
			       "--suggest goes without --chain, --message, --at, --latest and a "
			       "chain such as '/lidar -> /cmd_vel'");
	return 0;
}

static int read_at(const struct answer *answer, const char *at, int64_t *at_ns,
		   struct kymo_err *err)
{
	int64_t first_ns;

	return at && (cli_first_time(answer->reader, &first_ns, err) ||
		      cli_read_point("at", at, first_ns, answer->clock, at_ns, err))
		       ? -1
		       : 0;
}

/* What is asked about chains, so not about spans. */
static bool asks_chains(const struct options *o, const struct flow_options *flow)
{
	return flow->pattern || o->chain || o->message || o->latest || o->suggest ||
	       o->capture.count || selection_any(&o->selection);
}

/* Return: as why_flow_spans(): 0: it is about chains; 2: said why nothing is shown. */
static int try_spans(struct answer *answer, const struct options *o,
		     const struct flow_options *flow, const char *span, struct kymo_err *err)
{
	const struct why_options why = {
		.format = flow->format,
		.callback = span,
		.at_ns = flow->at_ns == INT64_MIN ? 0 : flow->at_ns,
		.worst = flow->worst ? flow->worst : 1,
		.begin_ns = flow->begin_ns,
		.end_ns = flow->end_ns,
		.clock = flow->clock,
		.operand = flow->operand,
		.progress = flow->progress,
		.context = flow->context,
	};
	int status;

	if (span ? false : asks_chains(o, flow) || reader_declares(answer->reader, "ros2:*"))
		return 0;
	if (flow->worst > WHY_WORST_MAX)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--worst must be at most %u for an action, loop or span",
			       WHY_WORST_MAX);
	status = 0;
	if (span)
		status = why_flow_goals(answer->reader, answer->traces.name, &why, answer->table,
					err);
	if (!status)
		status = why_flow_spans(answer->reader, answer->traces.name, &why, answer->table,
					err);
	answer->lost |= status > 0 && flow->told_lost;
	if (status || !span)
		return status;
	name_others(answer, o, span);
	return 2;
}

static int show(struct answer *answer, const struct options *o, const struct flow_options *flow,
		const char *span, struct kymo_err *err)
{
	const int status = try_spans(answer, o, flow, span, err);

	if (status)
		return status < 0 ? -1 : status == 1 ? KYMO_EXIT_OK : KYMO_EXIT_EMPTY;
	return flow_run(answer->reader, answer->traces.name, flow, answer->table, &answer->lost,
			err);
}

static int read_model_name(int *argc, char **argv, const char *file, struct flow_options *flow,
			   const char **span, struct behaviours **model, struct kymo_err *err)
{
	const char *name, *operand;
	const int kind = cli_model_operand(file, model, argc, argv, &name, &operand, err);

	if (kind == BEHAVIOUR_CALLBACK)
		return err_set(err, KYMO_EXIT_USAGE,
			       "'%.200s' is a callback, and flow follows chains and spans; "
			       "kymo why explains it: kymo why --model FILE NAME",
			       name);
	if (kind >= 0)
		*(kind == BEHAVIOUR_CHAIN ? &flow->pattern : span) = operand;
	return kind < 0 ? -1 : 0;
}

/* What was asked for, and whether the options suit it. */
static int read_asked(int *argc, char **argv, const struct options *o, struct flow_options *flow,
		      const char **span, struct behaviours **model, struct kymo_err *err)
{
	const char *asked = NULL;

	if (o->model ? read_model_name(argc, argv, o->model, flow, span, model, err)
		     : read_operands(argc, argv, &asked, err))
		return -1;
	if (asked)
		*(is_chain(asked) ? &flow->pattern : span) = asked;
	if (check(o, flow->pattern, err))
		return -1;
	if (*span && asks_chains(o, flow))
		return err_set(
			err, KYMO_EXIT_USAGE,
			"'%.200s' is no chain such as '/lidar -> /cmd_vel'; an action, loop or span "
			"goes without --chain, --message, --latest, --suggest, --capture and a "
			"selection",
			*span);
	return 0;
}

static int answer_asked(int argc, char **argv, const struct options *o, struct flow_options *flow,
			const char *span, struct answer_kept *kept, struct kymo_err *err)
{
	struct answer answer;
	char operand[4096];
	int status;

	flow->operand = cli_operand(operand, sizeof(operand), argc, argv);
	if (o->capture.count || o->model)
		*kept->command = '\0'; /* an answer is kept for traces alone */
	if (answer_recall(kept, argc, argv))
		return KYMO_EXIT_OK;
	if (answer_open_about(&answer, "flow", argc, argv, &o->times, o->model ? NULL : span, err))
		return -1;
	answer.kept = kept;
	flow->format = o->format;
	flow->selection = &o->selection;
	flow->limit = o->limit;
	flow->chain = o->chain;
	flow->worst = (unsigned)o->worst;
	flow->all_topics = o->all;
	flow->unfolded = o->all || opt_screen.wide;
	flow->latest = o->latest;
	flow->suggest = o->suggest;
	flow->begin_ns = answer.begin_ns;
	flow->end_ns = answer.end_ns;
	flow->message = o->message;
	flow->align = answer.align;
	flow->clock = answer.clock;
	flow->several = answer.traces.count > 1;
	flow->told_lost = cli_traces_lost(&answer.traces, "flow");
	flow->progress = progress_trace;
	flow->context = &answer.progress;
	status = read_at(&answer, o->at, &flow->at_ns, err) || answer_begin(&answer, o->format, err)
			 ? -1
			 : show(&answer, o, flow, span, err);
	return answer_close(&answer, status, o->strict);
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options o = { .worst = 1 };
	struct flow_options flow = { .at_ns = INT64_MIN };
	struct captures *captures = NULL;
	struct behaviours *model = NULL;
	const char *span = NULL;
	struct answer_kept kept = { 0 };
	int status;

	answer_command(&kept, "flow", argc, argv);
	if (opt_parse(opts, &o, &argc, &argv, NULL, err) ||
	    read_asked(&argc, argv, &o, &flow, &span, &model, err) ||
	    cli_captures("flow", &o.capture, &captures, err)) {
		behaviours_free(model);
		return -1;
	}
	flow.captures = captures;
	status = answer_asked(argc, argv, &o, &flow, span, &kept, err);
	captures_free(captures);
	behaviours_free(model);
	kept_close(&kept.kept);
	return status;
}

const struct verb verb_flow = {
	.name = "flow",
	.synopsis = "[TRACE...] ['FROM -> TO' | ACTION | SPAN | NAME --model FILE]",
	.summary = "follow messages through callbacks: chains, latency, where they stop",
	.description = "A callback publishes a message, another callback receives it and publishes "
		       "in turn: that is a chain. It leads from a timer, or from a message of "
		       "unknown origin, to a callback that publishes nothing. If you name no "
		       "chain, flow lists all different chains of the trace, the longest first: "
		       "how many began and arrived, and their end-to-end latency. For the first "
		       "three it also shows how long each segment took, where chains stopped and "
		       "why, and the longest instance. Without TRACE: the newest trace.\n\n"
		       "You name a chain as a list of nodes, topics or NODE:TOPIC with \"->\" "
		       "between them; globs are allowed, and anything may lie between two of them. "
		       "A chain that begins or ends with a topic does so where the publish call "
		       "begins; with a node, where its callback starts or returns. Of several "
		       "processes of one name, add the process: '/scan -> /cmd_vel (planner "
		       "4711)', of several hosts '(planner 4711 @left)'. More than two chains that "
		       "differ in their processes only are one row, \"144 x /scan -> ...\": --all "
		       "lists each.\n\n"
		       "Segments: run (the callback, until it publishes), publish (the publish "
		       "call, until the middleware has the message), transport (until the message "
		       "is taken), wait (the part of that time in which the taking thread ran "
		       "other callbacks), take (until the callback starts), and cached (stored by "
		       "a callback until another callback publishes). They add up to the "
		       "latency.\n\n"
		       "Traces of several hosts are read as one. Their clocks are compared by the "
		       "messages between them; a time that is not longer than the error of that "
		       "comparison is printed as \"<error\".\n\n"
		       "With --capture, flow shows when the packets of messages were on the wire, "
		       "and which were lost or sent again: of each topic of the chains, of the "
		       "longest instances, and of the message of --message.\n\n"
		       "ACTION is a glob for the name of an action, such as '/navigate', or "
		       "'action /navigate'. flow shows its worst goal step by step, at the client "
		       "and at the server, with each message of feedback, next to a usual goal.\n\n"
		       "SPAN is a glob for a loop or a span of a program that uses kymo.h: 'step' "
		       "or 'control:step'. flow shows its worst cycle or its longest instance, "
		       "with every span inside, next to the median and the longest span of that "
		       "name. In a trace without ROS 2, you need not name one.\n\n"
		       "With --model, NAME is an activity or a region of your own model that begins "
		       "and ends as a chain or a span does.\n\n"
		       "\"~>\" is an indirect link: a message_link of the trace, or an assumption "
		       "of --latest.\n\n" CLI_CLOCK_HELP "\n\n"
		       "Exit status: 0; 3 when TRACE is not a trace; 4 when events were lost, with "
		       "--strict; 6 when there was nothing to show (the output says why).",
	.examples = "kymo flow\n"
		    "kymo flow TRACE '/scan -> /cmd_vel'\n"
		    "kymo flow TRACE '/scan -> /perception/* -> /base_driver:/cmd_vel' -w 10\n"
		    "kymo flow TRACE --chain 2 --begin +10s --end +20s\n"
		    "kymo flow TRACE --message 1234\n"
		    "kymo flow TRACE /navigate\n"
		    "kymo flow TRACE control:step\n"
		    "kymo flow TRACE 'scan to wheels' --model robot.yaml",
	.common = "chain worst message at node topic begin wide",
	.opts = opts,
	.run = run,
};
