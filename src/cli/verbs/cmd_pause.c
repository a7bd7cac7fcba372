/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo pause`: the recorder of the runtime directory goes on, but keeps no runtime events. */
#include "cli/ask.h"

static int run(int argc, char **argv)
{
	return ask_switch("pause", argc, argv);
}

const struct verb verb_pause = {
	.name = "pause",
	.synopsis = "",
	.summary = "make the active recorder pause",
	.description =
		"Puts the session of the runtime directory ($KYMO_DIR, else /dev/shm/kymo-UID) and all its "
		"processes into state PREPARE: the facts of their start (nodes, topics, callbacks) are "
		"taken as before, runtime events are off and cost a load and a branch. When it returns, every "
		"event of before is in the trace. The pause is noted in the trace's kymo.json.\n\n"
		"Exit status 6 when nobody records; 0 also when it pauses already.",
	.examples = "kymo pause\nkymo resume\n",
	.opts = ask_opts,
	.run = run,
};
