/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo attach`: makes running programs traceable that were started without kymo. */
#include <stdlib.h>

#include "attach/attach.h"
#include "base/array.h"
#include "cli/common/attaching.h"
#include "cli/common/common.h"
#include "cli/common/screen.h"

struct options {
	struct attaching attaching;
	int format;
};

static const struct opt opts[] = {
	{ "pid", 'p', OPT_LIST, offsetof(struct options, attaching.who), "PID|NAME",
	  "attach to this process, or to those of this name; may be repeated", NULL },
	{ "all", 0, OPT_FLAG, offsetof(struct options, attaching.all), NULL,
	  "attach to all ROS 2 programs that you may trace", NULL },
	{ "max-pause", 0, OPT_TIME, offsetof(struct options, attaching.max_pause), "TIME",
	  "give up before a thread of the program is stopped for longer (5ms)", NULL },
	{ "ring-size", 0, OPT_SIZE, offsetof(struct options, attaching.ring_size), "SIZE",
	  "shared memory per thread of the program (256K, 4M)", NULL },
	{ "quiet", 'q', OPT_FLAG, offsetof(struct options, attaching.quiet), NULL,
	  "print errors only", NULL },
	CLI_OPT_FORMAT(struct options),
	CLI_OPT_END
};

static const char *const kinds[] = {
	[ATTACH_OTHER] = "",
	[ATTACH_ROS2] = "can be attached",
	[ATTACH_STARTED] = "started with kymo",
	[ATTACH_ATTACHED] = "attached",
	[ATTACH_DETACHED] = "detached",
};

/* Without -p and --all: what there is. */
static int list(int format, struct kymo_err *err)
{
	static const struct table_column columns[] = { { "process", "Process" },
						       { "pid", "PID" },
						       { "state", "State" } };
	struct attach_found *found;
	const int count = attach_find(NULL, &found, err);
	struct table *table;
	unsigned shown = 0, ready = 0;

	if (count < 0)
		return -1;
	if (cli_table("attach", format, &table)) {
		free(found);
		return KYMO_EXIT_FAILED;
	}
	table_section(table, "processes", NULL, columns, COUNT_OF(columns));
	for (int i = 0; i < count; i++) {
		if (found[i].kind == ATTACH_OTHER)
			continue;
		table_text(table, found[i].name);
		table_u64(table, found[i].pid);
		table_text(table, kinds[found[i].kind]);
		shown++;
		ready += found[i].kind == ATTACH_ROS2 || found[i].kind == ATTACH_DETACHED;
	}
	free(found);
	table_note(table, ready	  ? "Attach with: kymo attach -p PID, or kymo attach --all"
			  : shown ? "Record with: kymo record"
				  : "No ROS 2 program that you may trace is running.");
	return cli_close("attach", table, shown ? KYMO_EXIT_OK : KYMO_EXIT_EMPTY);
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options options = { 0 };

	if (opt_parse(opts, &options, &argc, &argv, NULL, err) < 0 ||
	    cli_no_operands(argc, argv, err) < 0)
		return -1;
	if (options.attaching.max_pause < 0)
		return err_set(err, KYMO_EXIT_USAGE, "--max-pause must be above 0");
	if (!options.attaching.all && !options.attaching.who.count)
		return list(options.format, err);
	return attaching_on("attach", &options.attaching, err) < 0 ? -1 : KYMO_EXIT_OK;
}

const struct verb verb_attach = {
	.name = "attach",
	.synopsis = "",
	.summary = "make a running program traceable that was started without kymo",
	.description = "Loads libkymo-ros2.so into the running program, by its own dynamic linker, "
		       "and lets its libraries call kymo's functions. From then on the program is "
		       "as if \"kymo run\" had started it. Without -p and --all, lists the "
		       "programs.\n\n"
		       "One thread of the program, one that is waiting and has no real-time "
		       "priority if there is such a thread, is stopped for a fraction of a "
		       "millisecond; all others run on. How long it was stopped is printed.\n\n"
		       "Objects that existed before (nodes, topics, callbacks) get their names "
		       "when the program uses them: kymo asks its libraries. \"kymo info\" says "
		       "how many facts were asked or inferred. \"kymo detach\" undoes it.\n\n"
		       "You may attach to your own programs; root may attach to all. If the kernel "
		       "does not allow it, the error says what would. The program is unharmed "
		       "then.\n\n"
		       "Exit status: 0 attached; 1 a program could not be attached; 2 wrong usage; "
		       "3 no such program; 6 there is no ROS 2 program.",
	.examples = "kymo attach\n"
		    "kymo attach --all\n"
		    "kymo attach -p driver --max-pause 1ms\n"
		    "kymo record\n",
	.opts = opts,
	.run = run,
};
