/* SPDX-License-Identifier: Apache-2.0 */
/* kymo export: a trace in the format of another tool. */
#include <stdio.h>
#include <string.h>

#include "cli/input/trace_time.h"
#include "cli/verbs/export/export.h"
#include "export/pft/pft.h"

#define SPLIT_LEAST (64u << 10)

struct options {
	int format;
	const char *output;
	int compress;		/* index of the choice: 0 none, else the level */
	struct opt_list table;
	struct cli_times times;
	struct selection selection;
	uint64_t split;
	bool all, executors, follow, force, strict, quiet;
};

static const struct opt opts[] = {
	{ "format", 'f', OPT_CHOICE, offsetof(struct options, format), NULL,
	  "what to write", "perfetto|sqlite|csv|json|dot|svg|caret-architecture|ctf|caret|chrome" },
	CLI_OPT_OUTPUT(struct options, "FILE", "where to write, - for standard output "
		       "(default: the trace's name with .pftrace, .tar for several traces, .sqlite, -csv, -json, .dot, .svg, -ctf, -caret or "
		       ".trace.json, or architecture.yaml, here)"),
	{ "table", 'T', OPT_LIST, offsetof(struct options, table), "NAME",
	  "sqlite, csv, json: only this table; may be given several times (default: all but events)",
	  NULL },
	CLI_OPT_WINDOW(struct options, "what begins"),
	CLI_OPT_CLOCK(struct options),
	CLI_OPT_SELECTION(struct options, 'n'),
	{ "all", 'a', OPT_FLAG, offsetof(struct options, all), NULL,
	  "dot, svg: /rosout, /parameter_events and unused services, too", NULL },
	{ "compress", 0, OPT_CHOICE, offsetof(struct options, compress), NULL,
	  "perfetto: how hard to compress (default: 6)", "none|1|2|3|4|5|6|7|8|9" },
	{ "executors", 0, OPT_FLAG, offsetof(struct options, executors), NULL,
	  "perfetto, chrome: also what the threads of executors did besides callbacks", NULL },
	{ "split", 0, OPT_SIZE, offsetof(struct options, split), "SIZE",
	  "perfetto: several files of about SIZE, NAME.1.pftrace, NAME.2.pftrace, ..., of which each opens alone", NULL },
	{ "follow", 'F', OPT_FLAG, offsetof(struct options, follow), NULL,
	  "perfetto: go on with what is being recorded, until interrupted; the file opens at any time", NULL },
	{ "force", 0, OPT_FLAG, offsetof(struct options, force), NULL,
	  "overwrite what is there", NULL },
	CLI_OPT_STRICT(struct options),
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

static bool is_selection(const struct options *options)
{
	return options->times.begin || options->times.end || selection_any(&options->selection);
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length > strlen(end) && !strcmp(text + length - strlen(end), end);
}

static int check(const struct options *options, int traces, struct kymo_err *err)
{
	bool graph = options->format == EXPORT_DOT || options->format == EXPORT_SVG;
	bool tables = options->format >= EXPORT_SQLITE && options->format < EXPORT_DOT;

	if (options->table.count && !tables)
		return err_set(err, KYMO_EXIT_USAGE, "--table goes with --format sqlite, csv or json");
	if (is_selection(options) && (options->format == EXPORT_ARCHITECTURE || options->format == EXPORT_CARET))
		return err_set(err, KYMO_EXIT_USAGE, "--begin, --end, --node and --topic do not go with --format "
			       "caret and caret-architecture");
	if (selection_any(&options->selection) && options->format == EXPORT_CTF)
		return err_set(err, KYMO_EXIT_USAGE, "of all that selects, only --begin and --end go with --format ctf");
	if (options->times.clock && options->format >= EXPORT_ARCHITECTURE && options->format != EXPORT_CHROME)
		return err_set(err, KYMO_EXIT_USAGE, "--clock does not go with --format caret, caret-architecture and ctf: "
			       "events keep the times they were recorded with, and those of the simulation are among them");
	if (options->times.clock && options->follow)
		return err_set(err, KYMO_EXIT_USAGE, "--clock sim goes with a trace that is complete, not with --follow");
	if (options->times.clock && traces > 1 && options->format == EXPORT_PERFETTO &&
	    !(options->output && ends_with(options->output, ".pftrace")))
		return err_set(err, KYMO_EXIT_USAGE, "--clock sim goes with one file: each trace of an archive has times of its own; "
			       "write one of all with -o NAME.pftrace");
	if (options->compress != PFT_LEVEL_DEFAULT && options->format != EXPORT_PERFETTO)
		return err_set(err, KYMO_EXIT_USAGE, "--compress goes with --format perfetto");
	if ((options->split || options->follow) && options->format != EXPORT_PERFETTO)
		return err_set(err, KYMO_EXIT_USAGE, "--split and --follow go with --format perfetto");
	if (options->executors && options->format != EXPORT_PERFETTO && options->format != EXPORT_CHROME)
		return err_set(err, KYMO_EXIT_USAGE, "--executors goes with --format perfetto or chrome");
	if (options->split && options->split < SPLIT_LEAST)
		return err_set(err, KYMO_EXIT_USAGE, "--split is at least 64K: each part begins with all names and tracks");
	if (options->split && options->output && !strcmp(options->output, "-"))
		return err_set(err, KYMO_EXIT_USAGE, "--split makes files; name the first with -o");
	if (traces > 1 && options->format == EXPORT_CTF)
		return err_set(err, KYMO_EXIT_USAGE, "--format ctf takes one trace: its metadata have one clock a trace, which cannot follow "
			       "that of another host. Export each into a directory of its own and give babeltrace2 all of them; "
			       "`kymo dump` prints them by one clock");
	if (traces > 1 && options->format == EXPORT_PERFETTO && (options->split || options->follow))
		return err_set(err, KYMO_EXIT_USAGE, "--split and --follow go with one trace");
	if (traces > 1 && options->format == EXPORT_PERFETTO && options->output && !strcmp(options->output, "-"))
		return err_set(err, KYMO_EXIT_USAGE, "an archive of several traces is a file; name it with -o");
	if (options->follow && options->times.end)
		return err_set(err, KYMO_EXIT_USAGE, "--follow has no --end");
	if (options->all && !graph)
		return err_set(err, KYMO_EXIT_USAGE, "--all goes with --format dot or svg");
	return 0;
}

/* A file has all traces, an archive (the default for several) has a file of each. */
static int export_perfetto_or_archive(const struct export_request *request, bool *lost, struct kymo_err *err)
{
	const bool one_file = request->traces.count == 1 || (request->output && ends_with(request->output, ".pftrace"));

	return one_file ? export_perfetto(request, lost, err) : export_archive(request, lost, err);
}

static int run(int argc, char **argv)
{
	static int (*const exporters[EXPORT_FORMATS])(const struct export_request *request, bool *lost, struct kymo_err *err) = {
		[EXPORT_PERFETTO] = export_perfetto_or_archive, [EXPORT_CHROME] = export_perfetto,
		[EXPORT_SQLITE] = export_tables, [EXPORT_CSV] = export_tables, [EXPORT_JSON] = export_tables,
		[EXPORT_DOT] = export_graph, [EXPORT_SVG] = export_graph, [EXPORT_ARCHITECTURE] = export_architecture,
		[EXPORT_CTF] = export_ctf, [EXPORT_CARET] = export_caret,
	};
	struct options options = { .compress = PFT_LEVEL_DEFAULT };
	struct export_request request = { .verb = "export", .until_closed = -1 };
	struct kymo_err err = { 0 };
	bool lost = false;

	if (opt_parse(opts, &options, &argc, &argv, NULL, &err) || check(&options, argc, &err) ||
	    cli_traces(&request.traces, argc, argv, &err) ||
	    (options.format != EXPORT_PERFETTO && cli_traces_distinct(&request.traces, &err)) ||
	    export_name(request.traces.path[0], request.name, &err))
		return cli_fail("export", &err);
	request.format = (enum export_format)options.format;
	request.output = options.output;
	request.times = options.times;
	request.selection = &options.selection;
	request.force = options.force;
	request.quiet = options.quiet;
	request.all = options.all;
	request.table = &options.table;
	request.executors = options.executors;
	request.level = options.compress;
	request.split = options.split;
	request.follow = options.follow;
	if (exporters[options.format](&request, &lost, &err))
		return cli_fail("export", &err);
	return options.strict && lost ? KYMO_EXIT_LOSS : KYMO_EXIT_OK;
}

const struct verb verb_export = {
	.name = "export",
	.synopsis = "[TRACE...]",
	.summary = "write a trace in the format of another tool",
	.description =
		"Writes TRACE, or without it the newest trace, in the format of another tool. "
		"perfetto is for https://ui.perfetto.dev and for SQL with its trace processor; sqlite, "
		"csv and json are the tables of `kymo query`, for everything else; dot and svg are the "
		"dependency graph. What is there already is only overwritten with --force. The trace is read and written as a stream: memory does "
		"not grow with it.\n"
		"\n"
		"sqlite: one database with all tables, indexed by time and by the ids that joins go by, "
		"with the documentation of every column in the table columns. csv: a directory with a file "
		"TABLE.csv a table. json: a directory with a file TABLE.jsonl a table, an object a line. "
		"With --table and -o - one table of csv or json goes to standard output. --begin and --end "
		"concern what happened; objects are always there. --node, --topic and --process "
		"leave out rows that name others only; tables that name none are whole.\n"
		"\n"
		"perfetto: callbacks are slices of category \"callback\" on their threads, as many as `kymo "
		"report` counts. A callback whose end is not in the trace has the category "
		"\"unfinished\": an instant where it began, or an open slice if it ran when the "
		"trace ended. Below \"ROS 2\" each node has tracks with an instant per message "
		"published, taken or dropped, its lifecycle states, the runs of its timers, and the "
		"calls of its services and clients. Arrows lead from a callback over the messages it "
		"published to the callbacks that got them, and from a request over the service to the "
		"response. Below \"ROS 2 topics\" are counters of rate, latency, waiting and dropped "
		"messages; with --executors, what executors did besides stands beside their threads (it is most of a "
		"file, if it is there). Where events were "
		"lost while recording stands \"TRACE DATA LOST\" with their number. --node and --topic "
		"leave in what names none: spans, timers with --topic.\n"
		"\n"
		"--split cuts the file into parts that open alone, and together when they are put one behind "
		"the other again; spans that go on are cut with it. --follow writes what a recorder writes, a "
		"moment later; the file can be opened meanwhile, and when all is killed.\n"
		"\n"
		"Several traces, of hosts that were recorded each on its own, become one archive (.tar) of a "
		"file each and a manifest that names the hosts; it opens as a whole. With -o NAME.pftrace they become "
		"one file, as a directory with all of them does, with the arrows between hosts, which viewers draw "
		"within a file only. The hosts' clocks are then compared by the messages between them, as in `kymo report`; in an "
		"archive, times are aligned by the hosts' wall clocks. What --begin and --end say counts "
		"for each trace of an archive, and from the first begin of all in one file.\n"
		"\n"
		"chrome: the same in Chrome's JSON, for programs that read only that: larger, without "
		"clocks, and arrows begin at messages instead of callbacks.\n"
		"\n"
		"Spans, instants and counters of programs that use kymo.h stand on their threads, on "
		"their custom tracks and on counter tracks, with their fields as arguments and their "
		"flows as arrows. A span whose end is not in the trace ends with what it is in, or "
		"where events were lost, and has the argument \"unfinished\".\n"
		"\n"
		"dot, svg: nodes with their callbacks, and the topics between them, with counts, rates, "
		"durations and latencies. Red: messages were lost or runs did not end; orange, dashed: "
		"no publisher, no subscriber, no message, or never ran. svg is drawn by graphviz's "
		"program dot, which must be installed.\n"
		"\n"
		"caret-architecture: CARET's architecture file, with the names that `ros2 caret "
		"create_architecture_file` gives; see docs/caret.md.\n"
		"\n"
		"caret: the trace as CARET records it, for `ros2 caret` and caret_analyze: a new directory with CTF; see "
		"docs/caret.md for what they want of a trace. Of several traces, each of one host, there is a directory each in it, with "
		"times of the first host's clock: caret_analyze takes a list of them.\n"
		"\n"
		"ctf: the trace again as plain CTF 1.8 for babeltrace2 and others, in a new directory: "
		"compressed files are unpacked, what is not whole is left out, and with --begin and --end there "
		"are only the events of that window, and the facts of kymo's traces up to its end.\n"
		"\n"
		"Times are CLOCK_MONOTONIC there, and nanoseconds since 1970 in tables. --clock sim: those of the "
		"simulation, in tables as its clock said; perfetto and chrome go on where it jumped back, "
		"so that nothing comes to lie upon what was before.\n"
		"\n"
		CLI_CLOCK_HELP,
	.examples =
		"kymo export\n"
		"kymo export session-20261120220000 -o /tmp/robot.pftrace\n"
		"kymo export session-20261120220000 --compress none -o - | gzip > robot.gz\n"
		"kymo export --follow -o live.pftrace\n"
		"kymo export left-robot right-robot -o robots.tar\n"
		"kymo export left-robot right-robot -o robots.pftrace\n"
		"kymo export --format sqlite -o robot.sqlite\n"
		"kymo export --format csv --table messages --begin +10s --end +20s -o - > messages.csv\n"
		"kymo export --format svg -o robot.svg\n"
		"kymo export --format caret -o for_caret && ros2 caret check_ctf for_caret\n"
		"kymo export left-robot right-robot --format caret -o for_caret\n"
		"kymo export --format ctf --begin +10s --end +20s -o piece && babeltrace2 piece\n",
	.opts = opts,
	.run = run,
};
