/* SPDX-License-Identifier: Apache-2.0 */
/* kymo export: a trace in the format of another tool. */
#include "analysis/behaviour/behaviour.h"
#include "base/text.h"
#include "cli/input/input_runs.h"
#include "cli/input/trace_time.h"
#include "cli/verbs/export/export.h"
#include "export/pft/pft.h"

static const struct opt opts[] = {
	{ "format", 'f', OPT_CHOICE, offsetof(struct export_request, format), NULL,
	  "format of the output (default: by the suffix of -o, else perfetto)",
	  "perfetto|sqlite|csv|json|parquet|dot|svg|flamegraph|caret-architecture|ctf|caret|chrome|"
	  "html|rowbinary|mcap|otlp" },
	CLI_OPT_OUTPUT(struct export_request, "FILE",
		       "where to write; - for standard output (default: in the current directory, "
		       "the trace's name with .pftrace, .tar for several traces, .sqlite, -csv, "
		       "-json, -parquet, .dot, .svg, -flame.svg, -ctf, -caret, -otlp, .trace.json, "
		       ".html or .mcap, or architecture.yaml)"),
	{ "table", 'T', OPT_LIST, offsetof(struct export_request, table), "NAME",
	  "sqlite, csv, json, parquet: only this table; may be repeated (default: all except events)",
	  NULL },
	{ "of", 0, OPT_CHOICE, offsetof(struct export_request, of), NULL,
	  "flamegraph: of which part of a program (default: spans)", "spans|functions" },
	{ "ctf", 0, OPT_CHOICE, offsetof(struct export_request, ctf), NULL,
	  "ctf: the version of CTF (default: as the trace)", "1.8|2" },
	{ "window", 0, OPT_TIME, offsetof(struct export_request, window_ns), "TIME",
	  "fleet_windows, otlp: length of the windows (default 60s)", NULL },
	{ "robot", 0, OPT_TEXT, offsetof(struct export_request, robot), "NAME",
	  "fleet_windows, otlp: name of the robot (default: of kymo.yaml, else the host's name)", NULL },
	{ "software", 0, OPT_TEXT, offsetof(struct export_request, software), "VERSION",
	  "fleet_windows, otlp: version of the robot's software (default: of kymo.yaml)", NULL },
	CLI_OPT_WINDOW(struct export_request, "what begins"),
	CLI_OPT_CLOCK(struct export_request),
	CLI_OPT_MODEL(struct export_request, "track Behaviour and the table behaviours"),
	CLI_OPT_MERGE(struct export_request),
	CLI_OPT_SELECTION(struct export_request, 'n'),
	{ "all", 'a', OPT_FLAG, offsetof(struct export_request, all), NULL,
	  "dot, svg: also /rosout, /parameter_events and unused services", NULL },
	{ "compress", 0, OPT_CHOICE, offsetof(struct export_request, level), NULL,
	  "perfetto: how hard to compress (default 6)", "none|1|2|3|4|5|6|7|8|9" },
	{ "executors", 0, OPT_FLAG, offsetof(struct export_request, executors), NULL,
	  "perfetto, chrome: also what the threads of executors did besides callbacks", NULL },
	{ "split", 0, OPT_SIZE, offsetof(struct export_request, split), "SIZE",
	  "perfetto: several files of about SIZE, NAME.1.pftrace, NAME.2.pftrace, ...; each opens "
	  "alone",
	  NULL },
	{ "follow", 'F', OPT_FLAG, offsetof(struct export_request, follow), NULL,
	  "perfetto: continue with what is being recorded until interrupted; the file opens at any "
	  "time",
	  NULL },
	{ "force", 0, OPT_FLAG, offsetof(struct export_request, force), NULL,
	  "overwrite existing files", NULL },
	CLI_OPT_STRICT(struct export_request),
	CLI_OPT_QUIET(struct export_request),
	CLI_OPT_END,
};

/* A file has all traces, an archive (the default for several) has a file of each. */
static int export_perfetto_or_archive(const struct export_request *request, bool *lost,
				      struct kymo_err *err)
{
	const char *output = request->output ? request->output : "";
	const bool one_file = request->traces.count == 1 ? !text_ends_with(output, ".tar")
							 : text_ends_with(output, ".pftrace");

	return one_file ? export_perfetto(request, lost, err) : export_archive(request, lost, err);
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	static int (*const exporters[EXPORT_FORMATS])(const struct export_request *request,
						      bool *lost, struct kymo_err *err) = {
		[EXPORT_PERFETTO] = export_perfetto_or_archive,
		[EXPORT_CHROME] = export_perfetto,
		[EXPORT_SQLITE] = export_tables,
		[EXPORT_CSV] = export_tables,
		[EXPORT_JSON] = export_tables,
		[EXPORT_PARQUET] = export_tables,
		[EXPORT_DOT] = export_graph,
		[EXPORT_SVG] = export_graph,
		[EXPORT_FLAME] = export_flame,
		[EXPORT_ARCHITECTURE] = export_architecture,
		[EXPORT_CTF] = export_ctf,
		[EXPORT_CARET] = export_caret,
		[EXPORT_HTML] = export_page,
		[EXPORT_ROWBINARY] = export_windows,
		[EXPORT_MCAP] = export_mcap,
		[EXPORT_OTLP] = export_otlp,
	};
	struct export_request request = {
		.verb = "export",
		.format = EXPORT_BY_SUFFIX,
		.level = PFT_LEVEL_DEFAULT,
		.until_closed = -1,
		.ctf = EXPORT_CTF_KEEP,
	};
	struct behaviours *behaviours = NULL;
	bool lost = false;
	int status;

	if (opt_parse(opts, &request, &argc, &argv, NULL, err) ||
	    export_check(&request, argc, err) ||
	    cli_traces(&request.traces, argc, argv, err) ||
	    (request.format != EXPORT_PERFETTO && cli_traces_distinct(&request.traces, err)) ||
	    (!request.times.merge && cli_one_run_below("export", &request.traces, err)) ||
	    export_name(request.traces.path[0], request.name, err))
		return -1;
	if (request.model && behaviours_read(&behaviours, request.model, err))
		return -1;
	request.behaviours = behaviours;
	status = exporters[request.format](&request, &lost, err);
	behaviours_free(behaviours);
	if (status)
		return -1;
	return request.strict && lost ? KYMO_EXIT_LOSS : KYMO_EXIT_OK;
}

const struct verb verb_export = {
	.name = "export",
	.synopsis = "[TRACE...]",
	.summary = "write a trace in the format of another tool",
	.description =
		"Writes TRACE, or without it the newest trace, in the format of another tool. "
		"perfetto is for https://ui.perfetto.dev and for SQL with its trace processor; "
		"sqlite, csv, json and parquet contain the tables of `kymo query`; dot and svg "
		"show the dependency graph. An existing file is only overwritten with --force. The "
		"trace is read and written as a stream: memory does not grow with it.\n\n"
		"perfetto: callbacks are slices of category \"callback\" on their threads, as many "
		"as `kymo report` counts. A callback whose end is not in the trace has the "
		"category \"unfinished\": an instant where it began, or an open slice if it ran "
		"when the trace ended. Below \"ROS 2\" each node has tracks with an instant per "
		"message published, taken or dropped, its lifecycle states, the runs of its "
		"timers, and the calls of its services and clients. Arrows lead from a callback "
		"over the messages it published to the callbacks that received them, and from a "
		"request over the service to the response. Below \"ROS 2 topics\" are counters of "
		"rate, latency, waiting and dropped messages. With --executors, tracks beside the "
		"threads show what executors did besides callbacks; that is most of a file. "
		"\"TRACE DATA LOST\" marks where events were lost while recording, with their "
		"number. --node and --topic keep what has no node or topic: spans, and timers with "
		"--topic.\n\n"
		"--split cuts the file into parts. Each opens alone; put one after the other, they "
		"open together. Spans that go on are cut with the file. --follow writes what a "
		"recorder writes, a moment later; the file can be opened meanwhile, and also after "
		"the recorder and kymo export were killed.\n\n"
		"Several traces, each of one host, become one archive (.tar) with a file for each "
		"and a manifest that names the hosts; it opens as a whole. With -o NAME.pftrace "
		"they become one file, as a directory that contains all of them does. Viewers draw "
		"arrows within a file only, so only one file has the arrows between hosts. In one "
		"file, the hosts' clocks are compared by the messages between them, as in `kymo "
		"report`; in an archive, times are aligned by the hosts' wall clocks. --begin and "
		"--end count for each trace of an archive, and from the first begin of all in one "
		"file.\n\n"
		"chrome: the same as Chrome's JSON, for programs that only read that. It is "
		"larger, has no clocks, and arrows begin at messages instead of callbacks.\n\n"
		"Spans, instants and counters of programs that use kymo.h are on their threads, on "
		"their custom tracks and on counter tracks, with their fields as arguments and "
		"their flows as arrows. A span whose end is not in the trace ends with the span "
		"around it, or where events were lost, and has the argument \"unfinished\".\n\n"
		"sqlite: one database with all tables, indexed by time and by the ids that joins "
		"use; the table columns documents every column. csv: a directory with a file "
		"TABLE.csv for each table. json: a directory with a file TABLE.jsonl for each "
		"table, one object per line. With --table and -o - one table of csv, json or "
		"parquet goes to standard output. parquet: a directory with a file TABLE.parquet "
		"for each table, or with --table and -o NAME.parquet one file, for DuckDB, "
		"ClickHouse, pandas and others. --table fleet_windows writes, for each window of "
		"time, a row for each callback, topic, chain and others, with their distributions, "
		"into DIR/date=DAY/robot=NAME/TRACE.parquet: docs/answers/fleet.md explains the "
		"columns. rowbinary: the same rows for ClickHouse, to standard output without -o. "
		"--begin and --end choose what happened; objects always exist. --node, --topic and "
		"--process leave out rows that name others; tables that name none stay whole.\n\n"
		"dot, svg: nodes with their callbacks, and the topics between them, with counts, "
		"rates, durations and latencies. Red: messages were lost or runs did not end. "
		"Orange, dashed: no publisher, no subscriber, no message, or it never ran. "
		"Graphviz's program dot draws svg; it must be installed.\n\n"
		"html: the page of `kymo report --html`, one file for browsers that needs no "
		"network.\n\n"
		"flamegraph: the spans of programs that use kymo.h, by the time that each stack of "
		"spans took itself, with threads as roots: an SVG file that a browser searches and "
		"zooms, or with -o NAME.folded a line of text for each stack, in nanoseconds, for "
		"other tools. Sleeps of loops are left out. --of functions: of the functions of "
		"programs, from call stacks (kymo record --stacks) or from their entries and exits "
		"(--functions).\n\n"
		"caret-architecture: CARET's architecture file, with the names that `ros2 caret "
		"create_architecture_file` chooses; see docs/caret.md.\n\n"
		"caret: the trace as CARET records it, for `ros2 caret` and caret_analyze: a new "
		"directory with CTF. docs/caret.md explains what they need in a trace. Several "
		"traces, each of one host, become directories in it, with times of the first "
		"host's clock: caret_analyze accepts a list of them.\n\n"
		"mcap: time series for Foxglove and PlotJuggler, to be opened beside a bag: "
		"latencies of topics and chains, durations of callbacks and services, lost "
		"messages, loops, spans and counters of programs, and the findings as a log; see "
		"docs/answers/mcap.md.\n\n"
		"ctf: the trace again as plain CTF for babeltrace2 and others, in a new directory. "
		"--ctf 1.8 and --ctf 2 convert between the versions of CTF, if the fields of the "
		"trace exist in both. Compressed files are unpacked, and damaged packets are left "
		"out. With --begin and --end it contains only the events of that window, and the "
		"facts of kymo's traces up to its end.\n\n"
		"Times are CLOCK_MONOTONIC in perfetto, chrome, caret and ctf, and nanoseconds "
		"since 1970 in tables. With --clock sim they are those of the simulation, in "
		"tables as its clock showed them; in perfetto and chrome time goes on where the "
		"simulation jumped back, so that nothing covers what was "
		"before.\n\n" CLI_CLOCK_HELP,
	.examples =
		"kymo export\n"
		"kymo export session-20261120220000 -o /tmp/robot.pftrace\n"
		"kymo export session-20261120220000 --compress none -o - | gzip > robot.gz\n"
		"kymo export --follow -o live.pftrace\n"
		"kymo export left-robot right-robot -o robots.tar\n"
		"kymo export left-robot right-robot -o robots.pftrace\n"
		"kymo export --format sqlite -o robot.sqlite\n"
		"kymo export -f csv --table messages --begin +10s --end +20s -o - > m.csv\n"
		"kymo export --format parquet -o robot\n"
		"kymo export --table messages -o messages.parquet\n"
		"kymo export --format parquet --table fleet_windows --robot r2d2 -o fleet\n"
		"kymo export --format rowbinary --table fleet_windows -o windows.rowbinary\n"
		"kymo export --format otlp -o robot-otlp\n"
		"kymo export --format svg -o robot.svg\n"
		"kymo export -o robot.html\n"
		"kymo export -o robot.mcap\n"
		"kymo export --format flamegraph -o flame.svg\n"
		"kymo export --format flamegraph --of functions -o functions.svg\n"
		"kymo export --format caret -o for_caret && ros2 caret check_ctf for_caret\n"
		"kymo export left-robot right-robot --format caret -o for_caret\n"
		"kymo export session-20261120220000 --format ctf --ctf 1.8 -o older\n"
		"kymo export --format ctf --begin +10s --end +20s -o piece && babeltrace2 piece\n",
	.common = "output format node topic begin end",
	.opts = opts,
	.run = run,
};
