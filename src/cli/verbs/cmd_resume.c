/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo resume`: the end of `kymo pause` or of `kymo record --paused`. */
#include "cli/ask.h"

static int run(int argc, char **argv)
{
	return ask_switch("resume", argc, argv);
}

const struct verb verb_resume = {
	.name = "resume",
	.synopsis = "",
	.summary = "make the active recorder go on after a pause",
	.description =
		"Puts the session of the runtime directory ($KYMO_DIR, else /dev/shm/kymo-UID) and all its "
		"processes into state RECORD, after \"kymo pause\" or \"kymo record --paused\". When it returns, "
		"every process records.\n\n"
		"Exit status 6 when nobody records; 0 also when it records already.",
	.examples = "kymo record --paused &\nkymo resume\n",
	.opts = ask_opts,
	.run = run,
};
