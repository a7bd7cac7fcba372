/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo pause` and `kymo resume`: the recorder of the runtime directory keeps no runtime events, or
 * records again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json_get.h"
#include "base/text.h"
#include "cli/common/ask.h"
#include "cli/common/common.h"
#include "recorder/runtime/states.h"

#define SWITCH_NS 30000000000	/* a recorder writes what there is before it pauses */

struct options {
	bool quiet;
};

static const struct opt opts[] = {
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

static void summary(struct json_object *reply)
{
	const char *state = json_get_text(reply, "state"), *trace = json_get_text(reply, "trace");
	const bool paused = state && strcmp(state, states_name(KYMO_STATE_PREPARE)) == 0;
	char clean[4 * 1024];

	text_clean(clean, sizeof clean, trace ? trace : "?");
	fprintf(stderr, "%s%s: %" PRIu64 " processes, %" PRIu64 " events so far\ntrace: %s\n%s", paused ? "pauses" : "records",
		json_object_get_boolean(json_get(reply, "changed")) ? "" : " already", json_get_u64(reply, "processes"),
		json_get_u64(reply, "recorded"), clean, paused ? "next:  kymo resume, or kymo stop\n" : "");
}

static int change(const char *verb, int argc, char **argv, struct kymo_err *err)
{
	struct options options = { 0 };
	struct json_object *reply = NULL;
	struct domain_info info;
	struct rundir dir;
	int rc;

	if (opt_parse(opts, &options, &argc, &argv, NULL, err) < 0 ||
	    cli_no_operands(argc, argv, err) < 0)
		return -1;
	rc = ask_open(&dir, &info, err);
	if (rc == 0) {
		rc = ask_for(&dir, &info, verb, SWITCH_NS, &reply, err);
		rundir_close(&dir);
	}
	if (rc == 0 && !options.quiet)
		summary(reply);
	json_object_put(reply);
	return rc;
}

static int run_pause(int argc, char **argv, struct kymo_err *err)
{
	return change("pause", argc, argv, err);
}

static int run_resume(int argc, char **argv, struct kymo_err *err)
{
	return change("resume", argc, argv, err);
}

const struct verb verb_pause = {
	.name = "pause",
	.synopsis = "",
	.summary = "pause the active recorder",
	.description =
		"Pauses the session of the runtime directory ($KYMO_DIR, else /dev/shm/kymo-UID): all its "
		"processes get the state PREPARE. Runtime events are off and cost a load and a branch. The facts "
		"of the start (nodes, topics, callbacks) are still recorded.\n\n"
		"When the verb returns, every event from before the pause is in the trace. The trace's kymo.json "
		"lists the pause.\n\n"
		"Exit status: 0, also when the recorder already pauses; 6 when no recorder is running.",
	.examples = "kymo pause\nkymo resume\n",
	.opts = opts,
	.run = run_pause,
};

const struct verb verb_resume = {
	.name = "resume",
	.synopsis = "",
	.summary = "let the active recorder go on after a pause",
	.description =
		"Ends a pause that \"kymo pause\" or \"kymo record --paused\" began: the session of the runtime "
		"directory ($KYMO_DIR, else /dev/shm/kymo-UID) and all its processes get the state RECORD. When "
		"the verb returns, every process records.\n\n"
		"Exit status: 0, also when the recorder already records; 6 when no recorder is running.",
	.examples = "kymo record --paused &\nkymo resume\n",
	.opts = opts,
	.run = run_resume,
};
