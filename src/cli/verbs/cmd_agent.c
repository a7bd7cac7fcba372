/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo agent`: the traced processes as CARET's command line knows them, over DDS. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/common/common.h"
#include "caret/agent/agent.h"
#include "caret/agent/sim_clock.h"


struct options {
	struct opt_list domains;
	const char *output, *marker;
	int active, graph;
	uint64_t sim_rate;
	bool quiet;
};

static const struct opt opts[] = {
	{ "domain", 'd', OPT_LIST, offsetof(struct options, domains), "N",
	  "ROS domain to serve (default $ROS_DOMAIN_ID, else 0); may be repeated", NULL },
	{ "active", 0, OPT_CHOICE, offsetof(struct options, active), NULL,
	  "what counts as an active session: kymo's own, LTTng's (which \"ros2 caret record\" creates), or a marker file; "
	  "always: a Start requires none; it begins a recording that an End ends",
	  "kymo|lttng|file|always" },
	{ "marker", 0, OPT_TEXT, offsetof(struct options, marker), "FILE",
	  "with --active file: the marker file (default caret_lttng_session_started in $TMPDIR, else /tmp)", NULL },
	CLI_OPT_OUTPUT(struct options, "DIR", "where a recording goes that a Start begins, as DIR/session-... (default: as kymo record)"),
	{ "graph", 0, OPT_CHOICE, offsetof(struct options, graph), NULL,
	  "which ROS 2 shows the processes in its graph: up to Humble, or from Iron on; auto: that of the processes",
	  "auto|iron|humble" },
	{ "sim-rate", 0, OPT_U64, offsetof(struct options, sim_rate), "HZ",
	  "record the time of a simulation HZ times a second, from /clock in each domain (default 1; 0: never)", NULL },
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

static void say(void *context, const char *text)
{
	char verb[] = "agent";

	(void)context;
	cli_say(verb, text);
}

static void print_line(void *context, const char *text)
{
	char clean[1024];

	(void)context;
	text_clean(clean, sizeof clean, text);
	printf("%s\n", clean);
	(void)fflush(stdout);
}

static int add_domain(struct agent_options *agent, const char *text, const char *from,
		      struct kymo_err *err)
{
	uint32_t number;

	if (cli_ros_domain(text, from, &number, err))
		return -1;
	for (unsigned i = 0; i < agent->domain_count; i++)
		if (agent->domain[i] == number)
			return 0;
	if (agent->domain_count == AGENT_DOMAINS_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "too many domains: an agent serves at most %u", AGENT_DOMAINS_MAX);
	agent->domain[agent->domain_count++] = number;
	return 0;
}

static int parse(int argc, char **argv, struct options *options, struct agent_options *agent,
		 struct kymo_err *err)
{
	const char *domain = getenv("ROS_DOMAIN_ID");
	int rc = 0;

	if (opt_parse(opts, options, &argc, &argv, NULL, err) < 0 ||
	    cli_no_operands(argc, argv, err) < 0)
		return -1;
	for (unsigned i = 0; rc == 0 && i < options->domains.count; i++)
		rc = add_domain(agent, options->domains.item[i], "--domain", err);
	if (rc == 0 && !options->domains.count)
		rc = add_domain(agent, domain && *domain ? domain : "0", "ROS_DOMAIN_ID", err);
	agent->active = (struct active){ (enum active_kind)options->active, options->marker };
	agent->graph = (enum agent_graph)options->graph;
	agent->sim_rate = options->sim_rate <= SIM_CLOCK_RATE_MAX ? (unsigned)options->sim_rate : 0;
	if (rc == 0 && options->sim_rate > SIM_CLOCK_RATE_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "--sim-rate must be at most %u a second", SIM_CLOCK_RATE_MAX);
	if (rc == 0 && options->marker && agent->active.kind != ACTIVE_FILE)
		return err_set(err, KYMO_EXIT_USAGE, "--marker requires --active file");
	if (rc == 0 && options->output && agent->active.kind == ACTIVE_KYMO)
		return err_set(err, KYMO_EXIT_USAGE, "-o requires --active lttng, file or always; else choose the directory with "
			       "\"kymo record --wait -o DIR\"");
	return rc;
}

static void ready(void *context)
{
	const struct agent_options *agent = context;

	for (unsigned i = 0; i < agent->domain_count; i++)
		printf("serves ROS domain %u\n", agent->domain[i]);
	(void)fflush(stdout);
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct agent_options agent = { .say = say, .ready = ready };
	struct options options = { .sim_rate = 1 };
	char output[CLI_PATH_MAX];
	char **words = calloc((size_t)argc + 1, sizeof *words);	/* as given: parsing moves them */
	int given = argc, rc;

	if (words)
		memcpy(words, argv, (size_t)argc * sizeof *words);
	rc = words ? parse(argc, argv, &options, &agent, err) : err_no_memory(err);
	if (rc == 0)
		rc = caret_enter("agent", given, words, KYMO_LIBDIR, err);
	free(words);
	if (rc == 0 && options.output)
		rc = cli_absolute(output, sizeof output, options.output, err);
	if (rc < 0)
		return -1;
	agent.output = options.output ? output : NULL;
	agent.report = options.quiet ? NULL : print_line;
	if (options.quiet)
		agent.ready = NULL;
	agent.context = &agent;
	(void)signal(SIGPIPE, SIG_IGN);
	return agent_run(&agent, err);
}

const struct verb verb_agent = {
	.name = "agent",
	.synopsis = "",
	.summary = "act for the traced processes in the ROS graph, for CARET's record",
	.description = "Takes part in a ROS domain as CARET's nodes in the traced programs would, "
		       "one agent for all of them. \"ros2 caret record\", or any node that "
		       "publishes /caret/start_record and /caret/end_record, counts the processes, "
		       "starts them, and sees the state of each on /caret/status. Nothing of this "
		       "runs in the traced programs. CYCLONEDDS_URI, "
		       "ROS_AUTOMATIC_DISCOVERY_RANGE, ROS_STATIC_PEERS and ROS_LOCALHOST_ONLY "
		       "choose the network, as for ROS 2.\n\n"
		       "A Start makes the session of \"kymo record --wait\" record. If there is no "
		       "such session, the agent only answers the Start, which may be meant for "
		       "other hosts; the same holds for an End while a session is active. Start's "
		       "select_nodes, ignore_nodes, select_topics and ignore_topics are filters, "
		       "in the form of CARET's variables.\n\n"
		       "With --active lttng, LTTng's session counts, which \"ros2 caret record\" "
		       "creates: a Start begins a recording of kymo beside it, and an End ends "
		       "that recording. --active file uses a marker file, as CARET does for "
		       "containers. With --active always, each Start begins a recording and the "
		       "next End ends it: \"kymo record --hosts\" on another machine needs "
		       "that.\n\n"
		       "If a node publishes the time of a simulation on /clock, the agent records "
		       "it beside the programs, once a second and wherever its rate changes, for "
		       "\"kymo report --clock sim\".\n\n"
		       "A program that starts late records at once. If the recorder dies, all wait "
		       "for the next Start. Programs of other ROS domains are left alone.",
	.examples = "kymo agent &\n"
		    "kymo record --wait -o /data/trace\n"
		    "kymo agent --domain 0 --domain 42\n"
		    "kymo agent --active lttng -o /data/traces\n"
		    "kymo agent --active always -o /data/traces\n",
	.opts = opts,
	.run = run,
};
