/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo run`: a command that can be recorded later. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "cli/input/record_options.h"
#include "cli/verbs/record/nothing_traced.h"
#include "cli/verbs/record/record_agent.h"
#include "recorder/launch/launch.h"
#include "recorder/runtime/counts_left.h"
#include "recorder/runtime/rundir.h"

struct options {
	uint64_t ring_size;
	int64_t block;
	int malloc;
	bool flight, functions;
	struct filter_wishes filter;
};

static const struct opt opts[] = {
	{ "ring-size", 0, OPT_SIZE, offsetof(struct options, ring_size), "SIZE",
	  "shared memory per thread of the command (256K, 4M)", NULL },
	{ "block", 0, OPT_TIME, offsetof(struct options, block), "TIME",
	  "let a thread of the command wait so long for room instead of dropping an event (5ms, at "
	  "most 1s); never threads of real-time priority",
	  NULL },
	{ "flight", 0, OPT_FLAG, offsetof(struct options, flight), NULL,
	  "keep the latest events in shared memory while no recorder is running", NULL },
	CLI_OPT_MALLOC(struct options),
	CLI_OPT_FUNCTIONS(struct options),
	FILTER_OPTS(struct options, filter),
	CLI_OPT_END
};

/* Return: malloc'ed text of the rules; "" without; NULL with @err. */
static char *read_rules(const struct filter_wishes *wishes, struct kymo_err *err)
{
	struct filter_rules rules = { 0 };
	char *text = NULL;

	if (filter_wish(wishes, &rules, err) == 0) {
		text = filter_rules_join(&rules);
		if (!text)
			(void)err_no_memory(err);
	}
	filter_rules_free(&rules);
	return text;
}

/* Tracing never stops a program; but the user should know that it will not be traced. */
static void warn_in_vain(const char *command)
{
	char text[PATH_MAX + 64];
	struct rundir dir;
	struct kymo_err err;

	if (rundir_open(&dir, NULL, true, &err) < 0) {
		fprintf(stderr, "kymo run: %s cannot be recorded: %s\n", command, err.text);
		return;
	}
	(void)counts_left_end(&dir);
	if (cli_no_room(dir.path, text, sizeof(text)))
		fprintf(stderr, "kymo run: %s cannot be recorded: %s; free some, or choose another place with KYMO_DIR\n", command, text);
	rundir_close(&dir);
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options options = { 0 };
	struct launch launch = { .fallback_libdir = KYMO_LIBDIR };
	char **environment = NULL, *rules;

	if (opt_parse(opts, &options, &argc, &argv, NULL, err) < 0)
		return -1;
	if (argc == 0)
		return err_set(err, KYMO_EXIT_USAGE,
			       "no command to run; write it after the options: kymo run -- CMD");
	if (options.block < 0 || options.block > BLOCK_MAX_NS)
		return err_set(err, KYMO_EXIT_USAGE, "--block must be at most 1s");
	launch.ring_size = options.ring_size;
	launch.block_ns = options.block;
	launch.flight = options.flight;
	launch.malloc = options.malloc;
	launch.malloc_sums = options.malloc == CLI_MALLOC_SUMS;
	launch.functions = options.functions;
	rules = launch_find(argv[0], err) < 0 ? NULL : read_rules(&options.filter, err);
	if (rules) {
		launch.rules = *rules ? rules : NULL;
		launch.plain = warn_foreign("run", argv);
		environment = launch_environment(&launch, err);
		if (environment && rclpy_check(argv, environment, err) < 0) {
			launch_free(environment);
			environment = NULL;
		}
	}
	free(rules);
	if (!environment)
		return -1;
	warn_in_vain(argv[0]);
	if (!launch.plain)
		warn_not_traceable(argv);
	if (!launch.plain)
		record_agent_hint("run", "this program", "start \"kymo agent\"");
	(void)execvpe(argv[0], argv, environment);
	(void)err_set(err, KYMO_EXIT_INPUT, "cannot start %s: %s", argv[0], strerror(errno));
	launch_free(environment);
	return -1;
}

const struct verb verb_run = {
	.name = "run",
	.synopsis = "-- CMD [ARG...]",
	.summary = "run a command so that it can be recorded at any time",
	.description =
		"Starts the command with libkymo-ros2.so preloaded and becomes it. While no recorder is running, "
		"the program only keeps the facts of its start (nodes, topics, callbacks) in shared memory; an "
		"event costs it a load and a branch.\n\n"
		"With --flight the command is its own flight recorder: it keeps its latest events in its shared "
		"memory, as many as fit into a ring per thread (--ring-size). Older events are overwritten. \"kymo "
		"snapshot\" writes them into a trace at any time, also after the command has died. A recording "
		"that starts meanwhile gets everything from then on.\n\n"
		"If kymo can see that the command cannot be recorded, it says so before the command begins: a "
		"launch prefix that takes LD_PRELOAD away (env -i, sudo), a static or a setuid program.\n\n"
		"Rules (--node, --topic and so on) are passed on in KYMO_FILTER of the command's environment. Its "
		"recorder applies them.",
	.examples =
		"kymo run -- ros2 run demo_nodes_cpp talker\n"
		"kymo record\n"
		"kymo run --flight --ring-size 4M -- ros2 run demo_nodes_cpp talker\n"
		"kymo snapshot\n",

	.opts = opts,
	.run = run,
};
