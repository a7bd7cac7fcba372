/* SPDX-License-Identifier: Apache-2.0 */
/* kymo enable: programs start with the preload library, until kymo disable. */
#include <stdio.h>

#include "base/array.h"
#include "cli/common/common.h"
#include "cli/verbs/enable_options.h"
#include "recorder/doctor/doctor.h"

struct options {
	struct enable_for whom;
	bool flight, status;
	int format;
};

static const struct opt opts[] = {
	ENABLE_FOR_OPTS(struct options, whom, "all programs of this user that systemd or the desktop starts (default)",
			"programs started after \"source DIR/install/setup.bash\", of a colcon workspace"),
	{ "flight", 0, OPT_FLAG, offsetof(struct options, flight), NULL,
	  "programs keep their latest events in shared memory while no recorder is running", NULL },
	{ "status", 0, OPT_FLAG, offsetof(struct options, status), NULL, "only show whether it is enabled, and change nothing", NULL },
	CLI_OPT_FORMAT(struct options),
	CLI_OPT_END
};

static const struct table_column columns[] = {
	{ "for", "FOR" }, { "state", "STATE" }, { "library", "LIBRARY" }, { "file", "FILE" },
};

static int show(const struct options *o, const struct enable_place *place)
{
	static const char *const states[] = { "off", "on", "library missing", "not kymo's file" };
	char library[PATH_MAX];
	const enum enable_state state = enable_look(place, library);
	struct table *table;

	if (cli_table("enable", o->format, &table))
		return KYMO_EXIT_FAILED;
	table_section(table, "enabled", NULL, columns, COUNT_OF(columns));
	table_text(table, *place->index ? "workspace" : "user");
	table_text(table, states[state]);
	table_text(table, library);
	table_text(table, place->file);
	return cli_close("enable", table, state == ENABLE_OFF ? KYMO_EXIT_EMPTY : KYMO_EXIT_OK);
}

/* A library that the loader refuses would make every program of the user complain. */
static void found(void *context, const struct doctor_found *found)
{
	if (found->result == DOCTOR_PROBLEM)
		(void)err_set(context, KYMO_EXIT_FAILED, "%s; %s", found->text,
			      found->remedy ? found->remedy : "ask kymo doctor");
}

static int write_switch(const struct options *o, const struct enable_place *place,
			struct kymo_err *err)
{
	struct doctor doctor = { .libdir = KYMO_LIBDIR, .found = found, .context = err };
	int rc;

	doctor_library(&doctor);
	if (doctor.problems)
		return -1;
	rc = enable_write(place, KYMO_LIBDIR, o->flight, err);
	if (rc < 0)
		return -1;
	printf("%s %s\n", rc ? "wrote" : "nothing to do: it is as you want it,", place->file);
	if (*place->index)
		printf("Running programs go on without kymo, and so does this shell. For others:\n"
		       "  open a new shell, source %s, and start the programs\n", place->setup);
	else
		puts("Running programs go on without kymo. For others:\n"
		     "  services     systemctl --user daemon-reload, and restart them\n"
		     "  the desktop  log in again\n"
		     "  ssh          does not read this file: kymo enable --workspace DIR");
	printf("Undo with: kymo disable%s%s\n", o->whom.workspace ? " --workspace " : "", o->whom.workspace ? o->whom.workspace : "");
	return KYMO_EXIT_OK;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options o = { 0 };
	struct enable_place place;

	if (opt_parse(opts, &o, &argc, &argv, NULL, err) < 0 ||
	    cli_no_operands(argc, argv, err) < 0)
		return -1;
	if (enable_for_place(&o.whom, &place, err) < 0)
		return -1;
	return o.status ? show(&o, &place) : write_switch(&o, &place, err);
}

const struct verb verb_enable = {
	.name = "enable",
	.synopsis = "[--user | --workspace DIR]",
	.summary = "prepare all programs of a user or a workspace for recording",
	.description = "Does permanently what \"kymo run\" does for one command: programs start with libkymo-ros2.so, and \"kymo record\" "
		       "can record them at any time. For a user, it writes ~/.config/environment.d/50-kymo.conf, which systemd "
		       "reads for services and the desktop. For a workspace, it adds a package without programs to the install "
		       "space, which setup.bash, setup.sh and setup.zsh read; colcon build leaves that package alone.\n\n"
		       "You can repeat it. It refuses a library that the dynamic loader rejects, and files that somebody else wrote.\n\n"
		       "Exit status: 0; 1 it could not be written; 2 wrong usage; 3 not a workspace; 6 with --status: it is off.",
	.examples = "kymo enable\n"
		    "kymo enable --status\n"
		    "kymo enable --workspace ~/ros2_ws --flight\n",
	.opts = opts,
	.run = run,
};
