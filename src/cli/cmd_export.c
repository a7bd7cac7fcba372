/* SPDX-License-Identifier: Apache-2.0 */
/* kymo export: a trace in the format of another tool. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/common.h"
#include "cli/export_architecture.h"
#include "cli/export_ctf.h"
#include "cli/export_graph.h"
#include "cli/export_tables.h"
#include "cli/info_accounts.h"
#include "cli/progress.h"
#include "cli/trace_time.h"
#include "ctf/reader.h"
#include "export/perfetto.h"
#include "export/pft.h"

/* As the choices of --format; behind Perfetto come those of enum tables_format. */
enum { FORMAT_PERFETTO, FORMAT_TABLES, FORMAT_DOT = FORMAT_TABLES + 3, FORMAT_SVG,
       FORMAT_ARCHITECTURE, FORMAT_CTF, FORMAT_CHROME };

struct options {
	int format;
	const char *output;
	int compress;		/* index of the choice: 0 none, else the level */
	struct opt_list table;
	const char *begin, *end;
	struct selection selection;
	bool all, force, strict, quiet;
};

static const struct opt opts[] = {
	{ "format", 'f', OPT_CHOICE, offsetof(struct options, format), NULL,
	  "what to write", "perfetto|sqlite|csv|json|dot|svg|caret-architecture|ctf|chrome" },
	CLI_OPT_OUTPUT(struct options, "FILE", "where to write, - for standard output "
		       "(default: the trace's name with .pftrace, .sqlite, -csv, -json, .dot, .svg, -ctf or "
		       ".trace.json, or architecture.yaml, here)"),
	{ "table", 'T', OPT_LIST, offsetof(struct options, table), "NAME",
	  "sqlite, csv, json: only this table; may be given several times (default: all but events)",
	  NULL },
	CLI_OPT_WINDOW(struct options, "what begins"),
	CLI_OPT_SELECTION(struct options, 'n'),
	{ "all", 'a', OPT_FLAG, offsetof(struct options, all), NULL,
	  "dot, svg: /rosout, /parameter_events and unused services, too", NULL },
	{ "compress", 0, OPT_CHOICE, offsetof(struct options, compress), NULL,
	  "perfetto: how hard to compress (default: 6)", "none|1|2|3|4|5|6|7|8|9" },
	{ "force", 0, OPT_FLAG, offsetof(struct options, force), NULL,
	  "overwrite what is there", NULL },
	CLI_OPT_STRICT(struct options),
	CLI_OPT_QUIET(struct options),
	CLI_OPT_END
};

/* The last part of @trace as the user would name it: "." has a name too. */
static int trace_name(const char *trace, char name[CLI_PATH_MAX], struct err *err)
{
	char *whole = realpath(trace, NULL);
	const char *base;

	if (!whole)
		return err_set(err, EXIT_INPUT, "%s: %s.", trace, strerror(errno));
	base = strrchr(whole, '/') + 1;
	snprintf(name, CLI_PATH_MAX, "%s", *base ? base : "trace");
	free(whole);
	return 0;
}

static bool is_stdout(const char *path)
{
	return strcmp(path, "-") == 0;
}

/* Return: a descriptor, or -1 with @err. @made: the file was not there before. */
static int open_output(const char *path, bool force, bool *made, struct err *err)
{
	struct stat status;
	int fd;

	*made = false;
	if (is_stdout(path)) {
		if (isatty(STDOUT_FILENO))
			return err_set(err, EXIT_USAGE, "The trace is binary and standard output is "
				       "a terminal; name a file with -o, or redirect.");
		return STDOUT_FILENO;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd >= 0) {
		*made = true;
		return fd;
	}
	if (errno == EEXIST && !force && !stat(path, &status) && S_ISREG(status.st_mode))
		return err_set(err, EXIT_FAILED, "%s is there already; name another file with -o, or "
			       "overwrite it with --force.", path);
	fd = errno == EEXIST ? open(path, O_WRONLY | O_TRUNC | O_CLOEXEC) : -1;
	if (fd < 0 && errno == EISDIR)
		return err_set(err, EXIT_FAILED, "%s is a directory; name a file with -o.", path);
	if (fd < 0)
		return err_set(err, EXIT_FAILED, "%s cannot be written: %s; name another file "
			       "with -o.", path, strerror(errno));
	return fd;
}


static void tell(const struct ctf_reader *reader, const struct perfetto_result *result,
		 const char *output, bool selected)
{
	uint64_t of_programs = result->spans + result->instants + result->counters;
	char bytes[TEXT_QUANTITY_MAX], clean[4096];

	for (unsigned i = 0; i < ctf_warning_count(reader); i++) {
		text_clean(clean, sizeof(clean), ctf_warning(reader, i));
		fprintf(stderr, "kymo export: warning: %s\n", clean);
	}
	if (result->lost_events || result->lost_packets)
		fprintf(stderr, "kymo export: warning: %" PRIu64 " events and %" PRIu64
			" packets were lost while recording; \"TRACE DATA LOST\" marks where\n",
			result->lost_events, result->lost_packets);
	fprintf(stderr, "%s: ", is_stdout(output) ? "standard output" : output);
	if (result->callbacks || !of_programs)
		fprintf(stderr, "%" PRIu64 " callbacks ", result->callbacks);
	if (result->callbacks && of_programs)
		fputs("and ", stderr);
	if (of_programs)
		fprintf(stderr, "%" PRIu64 " spans, %" PRIu64 " instants and %" PRIu64 " counter values ",
			result->spans, result->instants, result->counters);
	fprintf(stderr, "from %" PRIu64 " events, %s", result->events, text_bytes(bytes, result->bytes));
	if (result->unfinished_spans)
		fprintf(stderr, "; %" PRIu64 " spans did not end", result->unfinished_spans);
	if (result->unfinished)
		fprintf(stderr, "; %" PRIu64 " callbacks did not end", result->unfinished);
	fputs("\n", stderr);
	if (!result->callbacks && !of_programs && selected)
		fputs("No callback and no span is in that window, or of that node and topic; `kymo report` "
		      "says when and what there are.\n", stderr);
	else if (!result->callbacks && !of_programs)
		fputs("There is neither a ROS 2 callback nor a span in this trace; `kymo info` says what "
		      "is.\n", stderr);
	else if (!is_stdout(output))
		fputs("Open it at https://ui.perfetto.dev (it stays in your browser).\n", stderr);
}

static bool is_selection(const struct options *options)
{
	return options->begin || options->end || selection_any(&options->selection);
}

/* What the recorder knows beside the trace. */
static void ask_recorder(const char *trace, struct accounts *accounts,
			 struct perfetto_options *perfetto)
{
	struct pft_clocks *clock;
	char problem[512];

	accounts_read(accounts, trace, problem);
	if (*problem)
		fprintf(stderr, "kymo export: warning: %s\n", problem);
	perfetto->told_lost = accounts->dropped + accounts->unwritten;
	clock = calloc(accounts->clock_count + 1, sizeof(*clock));
	for (unsigned i = 0; clock && i < accounts->clock_count; i++) {
		clock[i].monotonic_ns = accounts->clock[i].monotonic_ns;
		clock[i].realtime_ns = accounts->clock[i].realtime_ns;
		clock[i].boottime_ns = accounts->clock[i].boottime_ns;
	}
	perfetto->clock = clock;
	perfetto->clocks = clock ? accounts->clock_count : 0;
}

static int export(struct ctf_reader *reader, const struct options *options,
		  struct perfetto_options *perfetto, const char *output, struct err *err)
{
	struct perfetto_result result;
	struct progress progress;
	bool made;
	int status;

	perfetto->fd = open_output(output, options->force, &made, err);
	if (perfetto->fd < 0)
		return -1;
	progress_begin(&progress, options->quiet);
	progress_extent(&progress, reader);
	perfetto->progress = progress_trace;
	perfetto->context = &progress;
	status = perfetto_export(reader, perfetto, &result, err);
	progress_clear(&progress);
	if (!is_stdout(output)) {
		if (close(perfetto->fd) && !status)
			status = err_set(err, EXIT_FAILED, "Writing failed: %s.", strerror(errno));
		if (status && made)
			(void)unlink(output);	/* a part of it would look like the whole */
	}
	if (status)
		return err_wrap(err, "%s", is_stdout(output) ? "standard output" : output);
	if (!options->quiet)
		tell(reader, &result, output, is_selection(options));
	return options->strict && (result.lost_events || result.lost_packets) ? EXIT_LOSS : EXIT_OK;
}

static int run_perfetto(const struct options *options, const char *trace, const char *name)
{
	struct perfetto_options perfetto = { .version = KYMO_VERSION, .trace_name = name,
					     .selection = &options->selection,
					     .begin_ns = INT64_MIN, .end_ns = INT64_MAX };
	char output[CLI_PATH_MAX + sizeof(".trace.json")];
	struct accounts accounts;
	struct ctf_reader *reader;
	struct err err = { 0 };
	int status;

	if (ctf_open(trace, &reader, &err))
		return cli_fail("export", &err);
	ctf_threads(reader, 0);
	perfetto.chrome = options->format == FORMAT_CHROME;
	snprintf(output, sizeof(output), "%s.%s", name, perfetto.chrome ? "trace.json" : "pftrace");
	perfetto.level = options->compress;
	if (cli_read_window(reader, options->begin, options->end, &perfetto.begin_ns, &perfetto.end_ns,
			    &err)) {
		ctf_close(reader);
		return cli_fail("export", &err);
	}
	ask_recorder(trace, &accounts, &perfetto);
	status = export(reader, options, &perfetto, options->output ? options->output : output, &err);
	free((void *)perfetto.clock);
	accounts_free(&accounts);
	ctf_close(reader);
	return status < 0 ? cli_fail("export", &err) : status;
}

static int run_tables(const struct options *options, const char *trace, const char *name)
{
	struct export_tables request = {
		.format = (enum tables_format)(options->format - FORMAT_TABLES),
		.trace = trace,
		.name = name,
		.output = options->output,
		.table = &options->table,
		.begin = options->begin,
		.end = options->end,
		.selection = &options->selection,
		.force = options->force,
		.quiet = options->quiet,
	};
	struct err err = { 0 };
	bool lost = false;

	if (export_tables(&request, &lost, &err))
		return cli_fail("export", &err);
	return options->strict && lost ? EXIT_LOSS : EXIT_OK;
}

static int run_graph(const struct options *options, const char *trace, const char *name)
{
	struct export_graph request = {
		.svg = options->format == FORMAT_SVG,
		.trace = trace,
		.name = name,
		.output = options->output,
		.selection = &options->selection,
		.begin = options->begin,
		.end = options->end,
		.all = options->all,
		.force = options->force,
		.quiet = options->quiet,
	};
	struct err err = { 0 };
	bool lost = false;

	if (export_graph(&request, &lost, &err))
		return cli_fail("export", &err);
	return options->strict && lost ? EXIT_LOSS : EXIT_OK;
}

static int run_architecture(const struct options *options, const char *trace)
{
	struct export_architecture request = {
		.trace = trace,
		.output = options->output,
		.force = options->force,
		.quiet = options->quiet,
	};
	struct err err = { 0 };
	bool lost = false;

	if (export_architecture(&request, &lost, &err))
		return cli_fail("export", &err);
	return options->strict && lost ? EXIT_LOSS : EXIT_OK;
}

static int run_ctf(const struct options *options, const char *trace, const char *name)
{
	struct export_ctf request = {
		.trace = trace,
		.name = name,
		.output = options->output,
		.begin = options->begin,
		.end = options->end,
		.quiet = options->quiet,
	};
	struct err err = { 0 };
	bool lost;

	if (export_ctf(&request, &lost, &err))
		return cli_fail("export", &err);
	return options->strict && lost ? EXIT_LOSS : EXIT_OK;
}

static int check(const struct options *options, struct err *err)
{
	bool graph = options->format == FORMAT_DOT || options->format == FORMAT_SVG;
	bool tables = options->format >= FORMAT_TABLES && options->format < FORMAT_DOT;

	if (options->table.count && !tables)
		return err_set(err, EXIT_USAGE, "--table goes with --format sqlite, csv or json");
	if (is_selection(options) && options->format == FORMAT_ARCHITECTURE)
		return err_set(err, EXIT_USAGE, "--begin, --end, --node and --topic do not go with --format "
			       "caret-architecture");
	if (selection_any(&options->selection) && options->format == FORMAT_CTF)
		return err_set(err, EXIT_USAGE, "of all that selects, only --begin and --end go with --format ctf");
	if (options->compress != PFT_LEVEL_DEFAULT && options->format != FORMAT_PERFETTO)
		return err_set(err, EXIT_USAGE, "--compress goes with --format perfetto");
	if (options->all && !graph)
		return err_set(err, EXIT_USAGE, "--all goes with --format dot or svg");
	return 0;
}

static int run(int argc, char **argv)
{
	struct options options = { .compress = PFT_LEVEL_DEFAULT };
	char trace[CLI_PATH_MAX], name[CLI_PATH_MAX];
	struct err err = { 0 };

	if (opt_parse(opts, &options, &argc, &argv, NULL, &err) || check(&options, &err) ||
	    cli_trace(argc, argv, trace, &err) || trace_name(trace, name, &err))
		return cli_fail("export", &err);
	if (options.format == FORMAT_PERFETTO || options.format == FORMAT_CHROME)
		return run_perfetto(&options, trace, name);
	if (options.format == FORMAT_ARCHITECTURE)
		return run_architecture(&options, trace);
	if (options.format == FORMAT_CTF)
		return run_ctf(&options, trace, name);
	return options.format >= FORMAT_DOT ? run_graph(&options, trace, name) :
					      run_tables(&options, trace, name);
}

const struct verb verb_export = {
	.name = "export",
	.synopsis = "[TRACE]",
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
		"messages; what executors did stands beside their threads. Where events were "
		"lost while recording stands \"TRACE DATA LOST\" with their number. --node and --topic "
		"leave in what names none: spans, timers with --topic.\n"
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
		"ctf: the trace again as plain CTF 1.8 for babeltrace2 and others, in a new directory: "
		"compressed files are unpacked, what is not whole is left out, and with --begin and --end there "
		"are only the events of that window, and the facts of kymo's traces up to its end.\n"
		"\n"
		"Times are CLOCK_MONOTONIC there, and nanoseconds since 1970 in tables.\n"
		"\n"
		CLI_TIME_HELP,
	.examples =
		"kymo export\n"
		"kymo export session-20261120220000 -o /tmp/robot.pftrace\n"
		"kymo export session-20261120220000 --compress none -o - | gzip > robot.gz\n"
		"kymo export --format sqlite -o robot.sqlite\n"
		"kymo export --format csv --table messages --begin +10s --end +20s -o - > messages.csv\n"
		"kymo export --format svg -o robot.svg\n"
		"kymo export --format ctf --begin +10s --end +20s -o piece && babeltrace2 piece\n",
	.opts = opts,
	.run = run,
};
