/* SPDX-License-Identifier: Apache-2.0 */
/* kymo why: where the time of the worst instance of a chain or a callback went. */
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/input/answer.h"
#include "cli/common/common.h"
#include "cli/input/fired.h"
#include "cli/input/found.h"
#include "cli/input/input_captures.h"
#include "cli/input/input_model.h"
#include "cli/input/trace_time.h"
#include "report/why/report_why.h"

struct options {
	int format;
	uint64_t worst;
	const char *at;
	bool all, latest;
	struct cli_times times;
	struct opt_list capture;
	const char *model;
	bool strict;
};

static const struct opt opts[] = {
	CLI_OPT_FORMAT(struct options),
	CLI_OPT_SCREEN(0),
	{ "worst", 'w', OPT_U64, offsetof(struct options, worst), "N",
	  "explain the N longest instances (default 1, at most 100)", NULL },
	{ "at", 0, OPT_TEXT, offsetof(struct options, at), "TIME",
	  "explain what was under way at TIME; of a snapshot also 'trigger': what fired", NULL },
	{ "latest", 'l', OPT_FLAG, offsetof(struct options, latest), NULL,
	  "assume that a timer that publishes uses what its node received last", NULL },
	{ "all", 'a', OPT_FLAG, offsetof(struct options, all), NULL,
	  "also start-up instances, and chains over /rosout and /parameter_events", NULL },
	CLI_OPT_MODEL_OPERAND(struct options),
	CLI_OPT_CAPTURE(struct options, "packets that were lost or sent again"),
	CLI_OPT_WINDOW(struct options, "instances that begin"),
	CLI_OPT_CLOCK(struct options),
	CLI_OPT_MERGE(struct options),
	CLI_OPT_STRICT(struct options),
	CLI_OPT_END
};

/*
 * ---- operands: a trace exists, a chain has an arrow, a message is a decimal number, everything
 * else is a callback; one without a name is its address, 0x... ----
 */

static int read_operand(struct why_options *why, const char *operand, struct kymo_err *err)
{
	if (strstr(operand, "->"))
		why->pattern = operand;
	else if (strncmp(operand, "0x", 2) == 0 || !text_read_u64(operand, &why->message))
		why->callback = operand;
	else if (!why->message)
		return err_set(err, KYMO_EXIT_USAGE, "invalid message number 0: messages are numbered from 1");
	return 0;
}

static bool is_path(const char *operand)
{
	return access(operand, F_OK) == 0 || cli_means_path(operand);
}

/* A path that exists, or whose directory exists, is a trace. Of several operands of which none is
 * such a path, the first that is not a chain must be a trace, too. */
static bool is_trace(int argc, char **argv, int i)
{
	if (is_path(argv[i]))
		return true;
	for (int k = 0; k < argc; k++)
		if (is_path(argv[k]))
			return false;
	return argc > 1 && !strstr(argv[i], "->") && (i == 0 || (i == 1 && strstr(argv[0], "->")));
}

static int read_operands(int *argc, char **argv, struct why_options *why, struct kymo_err *err)
{
	int count = *argc, kept = 0, asked = -1;

	for (int i = 0; i < count; i++) {
		if (is_trace(count, argv, i))
			continue;
		if (asked >= 0)
			return err_set(err, KYMO_EXIT_USAGE, "'%s' and '%s': only one chain, callback or message at a time; if one of "
				       "the two is a trace, its path does not exist", argv[asked], argv[i]);
		asked = i;
	}
	if (asked >= 0 && read_operand(why, argv[asked], err))
		return -1;
	for (int i = 0; i < count; i++)
		if (i != asked)
			argv[kept++] = argv[i];
	*argc = kept;
	return 0;
}

static int read_asked(int *argc, char **argv, const char *file, struct why_options *why,
		      struct behaviours **model, struct kymo_err *err)
{
	const char *name, *operand;
	int kind;

	if (!file)
		return read_operands(argc, argv, why, err);
	kind = cli_model_operand(file, model, argc, argv, &name, &operand, err);
	if (kind >= 0)
		*(kind == BEHAVIOUR_CHAIN ? &why->pattern : &why->callback) = operand;
	return kind < 0 ? -1 : 0;
}

/* --at: a time, or "trigger", which names what fired, too. @fired: keeps the name. */
static int read_at(struct answer *answer, const char *at, struct why_options *why,
		   struct fired *fired, struct kymo_err *err)
{
	struct accounts accounts;
	char problem[512];
	int64_t first_ns;
	bool is_snapshot;

	if (strcmp(at, "trigger") != 0)
		return cli_first_time(answer->reader, &first_ns, err) ||
		       cli_read_point("at", at, first_ns, answer->clock, &why->at_ns, err) ? -1 : 0;
	accounts_read(&accounts, answer->traces.path[0], problem);
	is_snapshot = fired_read(fired, &accounts);
	accounts_free(&accounts);
	if (!is_snapshot || answer->clock)
		return err_set(err, KYMO_EXIT_USAGE, "--at trigger requires a snapshot of the flight recorder, and the system's clock; write a time");
	if (fired->window_ns) {
		answer->begin_ns = fired->at_ns - fired->window_ns;
		answer->end_ns = fired->at_ns;
	} else {
		why->at_ns = fired->at_ns;
	}
	if (!why->pattern && !why->callback && *fired->name)
		fired_ask(fired, why);
	return 0;
}

static int explain(struct answer *answer, struct answer_kept *kept, const struct options *o,
		   struct why_options *why, struct kymo_err *err)
{
	struct found_keeper found;
	struct fired fired;
	int status;

	answer->kept = kept;
	found_open(&found, &answer->traces, &o->times);
	why->begin_ns = answer->begin_ns;
	why->end_ns = answer->end_ns;
	why->align = answer->align;
	why->clock = answer->clock;
	why->format = o->format;
	why->worst = o->worst ? (unsigned)o->worst : 1;
	why->all_topics = o->all;
	why->latest = o->latest;
	why->told_lost = cli_traces_lost(&answer->traces, "why");
	why->progress = progress_trace;
	why->context = &answer->progress;
	why->summarized = found_put;
	why->summarized_context = &found;
	status = (o->at && read_at(answer, o->at, why, &fired, err)) ||
				 answer_begin(answer, o->format, err)
			 ? -1
			 : why_run(answer->reader, answer->traces.name, why, answer->table,
				   &answer->lost, err);
	found_close(&found);
	return answer_close(answer, status, o->strict);
}

static int answer_asked(int argc, char **argv, const struct options *o, struct why_options *why,
			struct answer_kept *kept, struct kymo_err *err)
{
	struct captures *captures = NULL;
	struct answer answer;
	char operand[4096];
	int status = -1;

	why->operand = cli_operand(operand, sizeof(operand), argc, argv);

	if (o->capture.count || o->model)
		*kept->command = '\0';		/* an answer is kept for traces alone */
	if (answer_recall(kept, argc, argv))
		return KYMO_EXIT_OK;
	if (!cli_captures("why", &o->capture, &captures, err) &&
	    !answer_open_about(&answer, "why", argc, argv, &o->times,
			       o->model ? NULL : why->callback, err)) {
		why->captures = captures;
		status = explain(&answer, kept, o, why, err);
	}
	captures_free(captures);
	return status;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options o = { .worst = 1 };
	struct why_options why = { 0 };
	struct behaviours *model = NULL;
	struct answer_kept kept = { 0 };
	int status = -1;

	answer_command(&kept, "why", argc, argv);
	if (opt_parse(opts, &o, &argc, &argv, NULL, err))
		return -1;
	if (o.worst > WHY_WORST_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "--worst must be at most %u", WHY_WORST_MAX);
	if (!read_asked(&argc, argv, o.model, &why, &model, err))
		status = answer_asked(argc, argv, &o, &why, &kept, err);
	behaviours_free(model);
	kept_close(&kept.kept);
	return status;
}

const struct verb verb_why = {
	.name = "why",
	.synopsis = "[TRACE...] ['FROM -> TO' | CALLBACK | ACTION | SPAN | MESSAGE | NAME "
		    "--model FILE]",
	.summary = "explain the worst instance of a chain, callback, action, loop or span",
	.description =
		"Says in one sentence why the worst instance of a chain or callback took longer "
		"than a usual one. Then it shows where all of its time went: parts that add up to "
		"its latency to the nanosecond, next to those of the instance nearest to the "
		"median. If you name nothing, why takes the chain or callback whose worst instance "
		"is farthest above its median. Without TRACE: the newest trace.\n\n"
		"You name a chain as for `kymo flow`. CALLBACK is a glob for a node (all its "
		"callbacks; the worst is taken), or for a callback as `kymo report` names it: "
		"'/planner /scan', '/costmap timer 96 ms'. The latency of a callback is from the "
		"publish call, or from when its timer was due, until it returns. Of several "
		"processes of one name, add the process: '/scan -> /cmd_vel (planner 4711)'. MESSAGE "
		"is a number as in `kymo flow --worst`: why shows the longest chain that contains the "
		"message, or, if the message was lost, between which two points and why, as far as "
		"that is known.\n\n"
		"Parts: executing (a callback, until it publishes or returns), publish (the "
		"publish call), transport, queued (behind another callback, on the thread that "
		"then took the message, or in its callback group), take (until the callback "
		"starts), late (a timer was due and nothing held it up), cached (until a later "
		"publication used it). If the trace has the kernel's events (`kymo record "
		"--kernel`): preempted (another thread had the CPU) and blocked (it slept while it "
		"executed).\n\n"
		"ACTION is a glob for the name of an action, such as '/navigate'; 'action /navigate' "
		"if a node has this name, too. why takes its longest goal apart, from when the client "
		"sent it until the client took the result: request, accepting, queued (accepted, "
		"until it executes), executing, canceling, kept (ended, until the server sent the "
		"result), answer (the result on its way). HELD BY: the callback that the executor ran "
		"meanwhile.\n\n"
		"SPAN is a glob for a loop or a span of a program that uses kymo.h: 'step' or "
		"'control:step'. A loop's worst cycle is counted from when it was due. Its parts: "
		"late (until the thread woke), running (the time of each span without the spans "
		"inside it), and preempted and blocked. In a trace without ROS 2, you need not "
		"name one.\n\n"
		"With --model, NAME is an activity or a region of your own model that begins and "
		"ends as a chain, a callback or a span does.\n\n"
		"Traces of several hosts are read as one. Their clocks are compared by the "
		"messages between them. A transport time between hosts is wrong by up to the error "
		"of that comparison; if it is not longer than the error, it is printed as "
		"\"<error\" and never given as the reason.\n\n"
		"With --at, why explains the instance that was under way at that time rather than "
		"the worst: the one of what you name that began or ended nearest to it, else the "
		"one farthest above its median. In a snapshot of the flight recorder, --at trigger "
		"is the instance that fired the trigger.\n\n"
		"With --capture, why says whether a packet of the message, or of one before it, "
		"was lost or sent again, and shows the packets of each message on the way.\n\n"
		"An operand that is an existing path, or a path in an existing directory, is a "
		"trace. To name a callback that is also a path, write it "
		"as a glob: '/tmp*' is not a directory.\n\n" CLI_CLOCK_HELP "\n\n"
		"Exit status: 0; 3 when TRACE is not a trace; 4 when events were lost, with "
		"--strict; 6 when there was nothing to show (the output says why).",
	.examples = "kymo why\n"
		    "kymo why TRACE '/scan -> /cmd_vel'\n"
		    "kymo why TRACE /perception/obstacle_detector --worst 5\n"
		    "kymo why TRACE '/costmap timer*' --begin +10s\n"
		    "kymo why TRACE /navigate\n"
		    "kymo why TRACE control:step\n"
		    "kymo why TRACE --at 20:25:36.5\n"
		    "kymo why SNAPSHOT --at trigger\n"
		    "kymo why TRACE '/scan -> /cmd_vel' --capture robot.pcap\n"
		    "kymo why left-robot right-robot '/scan -> /cmd_vel'\n"
		    "kymo why TRACE 'scan to wheels' --model robot.yaml\n"
		    "kymo why TRACE 1234 --format json",
	.common = "worst at latest begin end all wide format",
	.opts = opts,
	.run = run,
};
