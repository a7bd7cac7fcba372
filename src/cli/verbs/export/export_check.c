/* SPDX-License-Identifier: Apache-2.0 */
/* What options of `kymo export` require and exclude, and the format that a suffix means. */
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "cli/verbs/export/export.h"
#include "export/pft/pft.h"

#define SPLIT_LEAST (64u << 10)

/* One table, or a directory of tables, may be called .json as Chrome's file is. */
static bool may_be_json(int format, const char *suffix)
{
	return format == EXPORT_JSON && !strcmp(suffix, ".json");
}

static bool may_be_svg(int format, const char *suffix)
{
	return format == EXPORT_FLAME && !strcmp(suffix, ".svg");
}

/* Without --format, the suffix of the file chooses; a name without one is Perfetto's. */
static int choose_format(struct export_request *options, struct kymo_err *err)
{
	static const struct {
		const char *suffix;
		enum export_format format;
	} known[] = {
		{ ".pftrace", EXPORT_PERFETTO }, { ".perfetto-trace", EXPORT_PERFETTO },
		{ ".tar", EXPORT_PERFETTO },     { ".sqlite", EXPORT_SQLITE },
		{ ".dot", EXPORT_DOT },          { ".svg", EXPORT_SVG },
		{ ".json", EXPORT_CHROME },      { ".yaml", EXPORT_ARCHITECTURE },
		{ ".folded", EXPORT_FLAME },      { ".parquet", EXPORT_PARQUET },
		{ ".html", EXPORT_HTML },         { ".mcap", EXPORT_MCAP },
	};
	const char *output = options->output ? options->output : "";
	const char *name = text_base_name(output);

	for (size_t i = 0; i < COUNT_OF(known); i++) {
		if (!text_ends_with(name, known[i].suffix))
			continue;
		if (options->format == EXPORT_BY_SUFFIX)
			options->format = (int)known[i].format;
		if (options->format != (int)known[i].format &&
		    !may_be_json(options->format, known[i].suffix) &&
		    !may_be_svg(options->format, known[i].suffix))
			return err_set(err, KYMO_EXIT_USAGE,
				       "-o %s: %s is the suffix of another format than --format; "
				       "leave out --format, or choose another name",
				       output, known[i].suffix);
		return 0;
	}
	if (options->format != EXPORT_BY_SUFFIX)
		return 0;
	options->format = EXPORT_PERFETTO;
	if (!strchr(name + strspn(name, "."), '.'))
		return 0;
	if (text_ends_with(name, ".csv") || text_ends_with(name, ".jsonl"))
		return err_set(err, KYMO_EXIT_USAGE,
			       "-o %s: %s is written as a file for each table, into a directory: "
			       "--format %s -o DIR; one table: --format %s --table NAME -o - > %s",
			       output, text_ends_with(name, ".csv") ? "CSV" : "JSON Lines",
			       text_ends_with(name, ".csv") ? "csv" : "json",
			       text_ends_with(name, ".csv") ? "csv" : "json", output);
	return err_set(err, KYMO_EXIT_USAGE,
		       "-o %s: unknown suffix; known are .pftrace, .perfetto-trace, .tar, .sqlite, "
		       ".parquet, .mcap, .dot, .svg, .html, .folded, .json and .yaml; for another "
		       "name choose the format with --format",
		       output);
}

static int check_windows(const struct export_request *options, struct kymo_err *err)
{
	const struct opt_list *table = &options->table;
	bool windows = false;

	for (unsigned i = 0; i < table->count; i++)
		windows |= !strcmp(table->item[i], EXPORT_WINDOWS);
	if (windows && options->format != EXPORT_PARQUET && options->format != EXPORT_ROWBINARY)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--table " EXPORT_WINDOWS
			       " requires --format parquet or rowbinary");
	if (!windows && options->format == EXPORT_ROWBINARY)
		return err_set(err, KYMO_EXIT_USAGE,
			       "--format rowbinary requires --table " EXPORT_WINDOWS
			       ", the windows of the summary");
	if (!windows && options->format != EXPORT_OTLP &&
	    (options->window_ns || options->robot || options->software))
		return err_set(err, KYMO_EXIT_USAGE,
			       "--window, --robot and --software require --table " EXPORT_WINDOWS
			       " or --format otlp");
	return 0;
}

/* What does not fit together. The first row that is wrong is the error. */
static int check(const struct export_request *o, int traces, struct kymo_err *err)
{
	const char *output = o->output ? o->output : "";
	const int format = o->format;
	const bool perfetto = format == EXPORT_PERFETTO, chrome = format == EXPORT_CHROME;
	const bool selects = selection_any(&o->selection), clock = o->times.clock;
	const bool parts = o->split || o->follow, is_stdout = !strcmp(output, "-");
	const bool archive = traces > 1 || text_ends_with(output, ".tar");
	const struct { bool is_wrong; const char *why; } rows[] = {
		{ o->table.count && !(format >= EXPORT_SQLITE && format < EXPORT_DOT) &&
		  format != EXPORT_ROWBINARY,
		  "--table requires --format sqlite, csv, json or parquet" },
		{ (selects || o->times.begin || o->times.end) &&
		  (format == EXPORT_ARCHITECTURE || format == EXPORT_CARET),
		  "--begin, --end, --node and --topic do not work with --format caret and "
		  "caret-architecture" },
		{ selects && format == EXPORT_HTML,
		  "--node, --topic and --process do not work with --format html: the page is of "
		  "everything; choose a window with --begin and --end" },
		{ selects && format == EXPORT_CTF,
		  "--node, --topic and --process do not work with --format ctf; choose a window "
		  "with --begin and --end" },
		{ selects && format == EXPORT_FLAME,
		  "--node, --topic and --process do not work with --format flamegraph" },
		{ clock && format >= EXPORT_ARCHITECTURE && !chrome && format != EXPORT_HTML,
		  "--clock does not work with --format caret, caret-architecture, ctf and mcap: "
		  "events keep the times they were recorded with, and the simulation's times are "
		  "among them" },
		{ clock && o->follow, "--clock sim requires a complete trace; leave out --follow" },
		{ clock && archive && perfetto && !text_ends_with(output, ".pftrace"),
		  "--clock sim only works with one file: each trace of an archive has times of its "
		  "own; write one file for all with -o NAME.pftrace" },
		{ o->level != PFT_LEVEL_DEFAULT && !perfetto,
		  "--compress requires --format perfetto" },
		{ parts && !perfetto, "--split and --follow require --format perfetto" },
		{ o->of && format != EXPORT_FLAME, "--of requires --format flamegraph" },
		{ o->ctf != EXPORT_CTF_KEEP && format != EXPORT_CTF,
		  "--ctf requires --format ctf" },
		{ o->executors && !perfetto && !chrome,
		  "--executors requires --format perfetto or chrome" },
		{ o->model && format > EXPORT_PARQUET && !chrome,
		  "--model requires --format perfetto, chrome, sqlite, csv, json or parquet" },
		{ o->split && o->split < SPLIT_LEAST,
		  "--split must be at least 64K: each part begins with all names and tracks" },
		{ o->split && is_stdout, "--split writes several files; name the first with -o" },
		{ traces > 1 && format == EXPORT_CTF,
		  "--format ctf only works with one trace: its metadata describe one clock, which "
		  "cannot follow that of another host; export each trace into a directory of its "
		  "own and give babeltrace2 all of them, or use `kymo dump`, which prints them by "
		  "one clock" },
		{ perfetto && parts && archive,
		  "--split and --follow only work with one trace, and without an archive (.tar)" },
		{ traces > 1 && perfetto && is_stdout,
		  "an archive of several traces cannot go to standard output; name a file with "
		  "-o" },
		{ o->follow && o->times.end, "--follow does not work with --end" },
		{ o->all && format != EXPORT_DOT && format != EXPORT_SVG,
		  "--all requires --format dot or svg" },
	};

	for (unsigned i = 0; i < COUNT_OF(rows); i++)
		if (rows[i].is_wrong)
			return err_set(err, KYMO_EXIT_USAGE, "%s", rows[i].why);
	return 0;
}

int export_check(struct export_request *request, int traces, struct kymo_err *err)
{
	if (choose_format(request, err))
		return -1;
	return check(request, traces, err) ? -1 : check_windows(request, err);
}
