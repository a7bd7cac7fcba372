/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo detach`: undoes `kymo attach`. */
#include "cli/common/attaching.h"
#include "cli/common/common.h"

static const struct opt opts[] = {
	{ "pid", 'p', OPT_LIST, offsetof(struct attaching, who), "PID|NAME",
	  "detach from this process, or from those of this name; may be repeated", NULL },
	{ "all", 0, OPT_FLAG, offsetof(struct attaching, all), NULL,
	  "detach from all processes (default)", NULL },
	{ "max-pause", 0, OPT_TIME, offsetof(struct attaching, max_pause), "TIME",
	  "give up before a thread of the program is stopped for longer (5ms)", NULL },
	CLI_OPT_QUIET(struct attaching),
	CLI_OPT_END
};

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct attaching attaching = { 0 };

	if (opt_parse(opts, &attaching, &argc, &argv, NULL, err) < 0 ||
	    cli_no_operands(argc, argv, err) < 0)
		return -1;
	if (attaching.max_pause < 0)
		return err_set(err, KYMO_EXIT_USAGE, "--max-pause must be above 0");
	attaching.all |= !attaching.who.count;
	return attaching_off("detach", &attaching, err) < 0 ? -1 : KYMO_EXIT_OK;
}

const struct verb verb_detach = {
	.name = "detach",
	.synopsis = "",
	.summary = "let programs run again as before \"kymo attach\"",
	.description = "Lets the libraries of the program call again what they called before. "
		       "kymo's library stays in the program's memory, and "
		       "nothing calls it. A recorder need not run for that, and may have died. You "
		       "can attach again at any time.\n\n"
		       "A program that \"kymo run\" started cannot be detached.\n\n"
		       "Exit status: 0 detached; 1 a program could not be detached; 2 wrong usage; "
		       "3 no such program; 6 kymo is attached to no program.",
	.examples = "kymo detach\n"
		    "kymo detach -p driver\n",
	.opts = opts,
	.run = run,
};
