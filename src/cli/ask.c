/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/common.h"
#include "recorder/control/control.h"
#include "recorder/runtime/states.h"

#define SWITCH_NS 30000000000	/* a recorder writes what there is before it pauses */

int ask_open(struct rundir *dir, struct domain_info *info, struct kymo_err *err)
{
	int rc = rundir_open(dir, NULL, false, err);

	if (rc == 1)
		return states_nobody(dir->path, err);
	if (rc == 0)
		rc = domain_inspect(dir, info, err);
	if (rc < 0)
		return -1;
	if (info->active)
		return 0;
	rc = states_nobody(dir->path, err);
	rundir_close(dir);
	return rc;
}

int ask_for(const struct rundir *dir, const struct domain_info *info, const char *what, int64_t timeout_ns,
	    struct json_object **reply, struct kymo_err *err)
{
	struct json_object *request = json_object_new_object();
	int rc;

	json_object_object_add(request, "request", json_object_new_string(what));
	rc = control_ask(dir, request, (int)(timeout_ns / 1000000), reply, err);
	json_object_put(request);
	if (rc == 1)
		return err_set(err, KYMO_EXIT_FAILED, "process %d records but cannot be asked to %s: a program that "
			       "records itself ends its session itself; a kymo record ends with \"kill -INT %d\"",
			       info->pid, what, info->pid);
	return rc;
}

/* ---- pause and resume ---- */

struct options {
	bool quiet;
};

const struct opt ask_opts[] = {
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

static void tell(struct json_object *reply)
{
	struct json_object *state = NULL, *changed = NULL, *trace = NULL, *processes = NULL, *recorded = NULL;
	char clean[4 * 1024];
	bool paused;

	(void)json_object_object_get_ex(reply, "state", &state);
	(void)json_object_object_get_ex(reply, "changed", &changed);
	(void)json_object_object_get_ex(reply, "trace", &trace);
	(void)json_object_object_get_ex(reply, "processes", &processes);
	(void)json_object_object_get_ex(reply, "recorded", &recorded);
	paused = state && strcmp(json_object_get_string(state), states_name(KYMO_STATE_PREPARE)) == 0;
	text_clean(clean, sizeof clean, trace ? json_object_get_string(trace) : "?");
	fprintf(stderr, "%s%s: %" PRIu64 " processes, %" PRIu64 " events so far\ntrace: %s\n%s",
		paused ? "pauses" : "records", json_object_get_boolean(changed) ? "" : " already",
		json_object_get_uint64(processes), json_object_get_uint64(recorded), clean,
		paused ? "next:  kymo resume, or kymo stop\n" : "");
}

int ask_switch(const char *verb, int argc, char **argv)
{
	struct options options = { 0 };
	struct json_object *reply = NULL;
	struct domain_info info;
	struct rundir dir;
	struct kymo_err err;
	int rc;

	if (opt_parse(ask_opts, &options, &argc, &argv, NULL, &err) < 0)
		return cli_fail(verb, &err);
	if (argc) {
		(void)err_set(&err, KYMO_EXIT_USAGE, "'%s': there are no operands", argv[0]);
		return cli_fail(verb, &err);
	}
	rc = ask_open(&dir, &info, &err);
	if (rc == 0) {
		rc = ask_for(&dir, &info, verb, SWITCH_NS, &reply, &err);
		rundir_close(&dir);
	}
	if (rc == 0 && !options.quiet)
		tell(reply);
	json_object_put(reply);
	return rc < 0 ? cli_fail(verb, &err) : KYMO_EXIT_OK;
}
