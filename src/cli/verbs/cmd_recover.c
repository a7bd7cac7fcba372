/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo recover`: what processes that died left in shared memory becomes a trace. */

#include "cli/common/common.h"
#include "cli/verbs/record/recorded.h"

struct options {
	const char *output;
	bool strict, quiet;
	int format;
};

static const struct opt opts[] = {
	CLI_OPT_OUTPUT(struct options, "DIR", "where the trace goes, new or empty"),
	CLI_OPT_STRICT(struct options),
	CLI_OPT_FORMAT(struct options),
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

static int run(int argc, char **argv, struct kymo_err *err)
{
	char verb[] = "recover";
	struct session_options session = {
		.version = KYMO_VERSION, .only_dead = true, .say = cli_say, .context = verb
	};
	struct options options = { 0 };
	struct session_stats stats;
	char output[CLI_PATH_MAX];
	int status;

	if (opt_parse(opts, &options, &argc, &argv, NULL, err) < 0 ||
	    cli_no_operands(argc, argv, err) < 0)
		return -1;
	session.output = options.output ? options.output : output;
	if ((!options.output && cli_new_session(output, err) < 0) ||
	    recorded_once(&session, &stats, err) < 0)
		return -1;
	if (!stats.processes || !stats.bytes) {
		cli_say("recover", "no process that died while it was recorded has left events, so there is no trace");
		return KYMO_EXIT_EMPTY;
	}
	status = recorded_print("recover", &stats, NULL, NULL, session.output, options.format,
				options.quiet);
	return status == KYMO_EXIT_OK && options.strict && recorded_lossy(&stats) ? KYMO_EXIT_LOSS
										  : status;
}

const struct verb verb_recover = {
	.name = "recover",
	.synopsis = "",
	.summary = "save what recorded processes left in shared memory when they died",
	.description = "If a recorder and the programs it records are killed, events that were not "
		       "written yet stay in shared memory until the machine restarts. recover "
		       "writes them into a trace: every complete event, and all names. Then it "
		       "frees the memory. Programs that still run are left alone; recover and "
		       "\"kymo info\" name those with events.\n\n"
		       "\"kymo record\" also writes such remains into its trace; those of programs "
		       "that recorded themselves go into a trace beside it, DIR-recovered.",
	.examples = "kymo recover -o crash\n",
	.opts = opts,
	.run = run,
};
