/* SPDX-License-Identifier: Apache-2.0 */
/* kymo disable: undo kymo enable. */
#include <stdio.h>

#include "cli/common/common.h"
#include "cli/verbs/enable_options.h"

struct options {
	struct enable_for whom;
};

static const struct opt opts[] = {
	ENABLE_FOR_OPTS(struct options, whom, "of this user (default)", "of this colcon workspace"),
	CLI_OPT_END
};

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options o = { 0 };
	struct enable_place place;
	int rc;

	if (opt_parse(opts, &o, &argc, &argv, NULL, err) < 0 ||
	    cli_no_operands(argc, argv, err) < 0)
		return -1;
	if (enable_for_place(&o.whom, &place, err) < 0)
		return -1;
	rc = enable_remove(&place, err);
	if (rc < 0)
		return -1;
	if (!rc)
		printf("nothing to do: %s does not exist\n", place.file);
	else
		printf("removed %s\nRunning programs and shells keep the library until they end.\n%s", place.file,
		       o.whom.workspace ? "" : "For services: systemctl --user daemon-reload, and restart them\n");
	return KYMO_EXIT_OK;
}

const struct verb verb_disable = {
	.name = "disable",
	.synopsis = "[--user | --workspace DIR]",
	.summary = "undo \"kymo enable\"",
	.description = "Removes what \"kymo enable\" wrote, and the directories that it created, if nothing else is in them. Programs that "
		       "run keep the library until they end; services of \"systemctl --user\" get it until "
		       "\"systemctl --user daemon-reload\".\n\n"
		       "Exit status: 0, also if it was off; 1 it could not be removed, or somebody else wrote the file; 2 wrong usage; "
		       "3 not a workspace.",
	.examples = "kymo disable\n"
		    "kymo disable --workspace ~/ros2_ws\n",
	.opts = opts,
	.run = run,
};
