/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exporters of `kymo export`, one for each kind of output; some are used by other verbs, too.
 */
#ifndef KYMO_CLI_EXPORT_H
#define KYMO_CLI_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/opt.h"
#include "base/selection.h"
#include "cli/common/common.h"
#include "cli/input/input_traces.h"

enum export_format { /* as the choices of --format */
		     EXPORT_PERFETTO,
		     EXPORT_SQLITE,
		     EXPORT_CSV,
		     EXPORT_JSON,
		     EXPORT_PARQUET,
		     EXPORT_DOT,
		     EXPORT_SVG,
		     EXPORT_FLAME,
		     EXPORT_ARCHITECTURE,
		     EXPORT_CTF,
		     EXPORT_CARET,
		     EXPORT_CHROME,
		     EXPORT_HTML,
		     EXPORT_ROWBINARY,
		     EXPORT_MCAP,
		     EXPORT_OTLP,
		     EXPORT_FORMATS
};

/* as the choices of --ctf */
enum export_ctf_version { EXPORT_CTF_KEEP = -1, EXPORT_CTF_1_8, EXPORT_CTF_2 };

struct behaviours;
struct kymo_ctf_reader;
struct summary_windows_options;

/*
 * What is to be exported, and where to. Members that an exporter does not mention mean nothing to
 * it.
 */
struct export_request {
	const char *verb;		/* that prints messages */
	int format;                     /* enum export_format, or EXPORT_BY_SUFFIX */
	struct cli_traces traces;
	char name[CLI_PATH_MAX];	/* of the first trace, for titles and names of files */
	const char *output;		/* NULL: named after the trace; "-": standard output */
	struct cli_times times;
	struct selection selection;
	bool force;			/* overwrite */
	bool quiet;			/* no progress, no summary */
	bool strict;                    /* the verb's: losses change its exit status */

	/* graph: also /rosout, /parameter_events and unused services */
	bool all;
	struct opt_list table;          /* tables: only these; none: all but events */

	int of;				/* flame graph: 1: of functions */
	int ctf;			/* ctf: enum export_ctf_version */
	/* Windows of the summary */
	int64_t window_ns;           /* 0: not given */
	const char *robot, *software; /* NULL: not given */

	const char *model; /* file of behaviours, for tables and Perfetto; NULL: none */
	const struct behaviours *behaviours; /* that it names */

	/* Perfetto */
	bool executors;			/* also what executors did */
	int level;			/* of compression */
	uint64_t split;			/* bytes of a part, about; 0: one file */
	bool follow;			/* go on with what is being recorded */
	/* with follow: a descriptor that is closed when the recording ends; -1: signals end it */
	int until_closed;
	const struct archive_member *member;	/* place in an archive; NULL: a file of its own */
};

#define EXPORT_BY_SUFFIX (-1)

/**
 * export_check() - choose the format, if the options do not, and check that the options of `kymo
 * export` fit together; @traces: operands
 *
 * Return: 0, or -1 with @err (KYMO_EXIT_USAGE).
 */
int export_check(struct export_request *request, int traces, struct kymo_err *err);

/*
 * Each exporter writes what @request says, with progress and a summary on stderr.
 *
 * @lost: set to whether events were lost while recording
 * Return: 0; -1 with @err filled; then nothing incomplete is left behind, if nothing else is said.
 * Context: allocate, block.
 */

/**
 * export_perfetto() - a file for Perfetto or Chrome; of several traces one file. With follow: until
 * the recording ends.
 */
int export_perfetto(const struct export_request *request, bool *lost, struct kymo_err *err);

/** export_archive() - a Perfetto file of each trace, all in one archive. */
int export_archive(const struct export_request *request, bool *lost, struct kymo_err *err);

/** export_tables() - SQLite, CSV, JSON Lines or Parquet. */
int export_tables(const struct export_request *request, bool *lost, struct kymo_err *err);

#define EXPORT_WINDOWS "fleet_windows" /* as the name of a table */

/** export_windows() - windows of the summary, as Parquet files or for ClickHouse. */
int export_windows(const struct export_request *request, bool *lost, struct kymo_err *err);

/** export_otlp() - windows as OTLP's JSON, into a directory. */
int export_otlp(const struct export_request *request, bool *lost, struct kymo_err *err);

#define EXPORT_WINDOW_NS 60000000000ll /* without --window */

/**
 * export_each_window() - read the trace, with progress; @options: who takes the windows. Return: 0,
 * or -1 with @err.
 */
int export_each_window(const struct export_request *request, struct kymo_ctf_reader *reader,
		       const struct summary_windows_options *options, struct kymo_err *err);

struct window_source;
struct config;
/**
 * export_source() - whose windows they are; the texts are those of @request, @config and @reader.
 */
void export_source(const struct export_request *request, const struct config *config,
		   const struct kymo_ctf_reader *reader, struct window_source *source);

/** export_mcap() - time series, of several traces in one file. */
int export_mcap(const struct export_request *request, bool *lost, struct kymo_err *err);

/** export_graph() - the dependency graph: dot, or SVG through graphviz. */
int export_graph(const struct export_request *request, bool *lost, struct kymo_err *err);

/** export_page() - the page of `kymo report --html`. */
int export_page(const struct export_request *request, bool *lost, struct kymo_err *err);

/** export_flame() - the flame graph of spans: SVG, or folded stacks if the output ends in .folded.
 */
int export_flame(const struct export_request *request, bool *lost, struct kymo_err *err);

/** export_architecture() - CARET's architecture file, of the nodes of all traces. */
int export_architecture(const struct export_request *request, bool *lost, struct kymo_err *err);

/**
 * export_ctf() - plain CTF of one trace, in a new directory. After a failure what was written
 * stays.
 */
int export_ctf(const struct export_request *request, bool *lost, struct kymo_err *err);

/**
 * export_caret() - what caret_analyze reads, in a new directory. After a failure what was written
 * stays.
 *
 * Of several traces, each of one host, it writes a directory for each below the output, with times
 * of the first host's clock.
 */
int export_caret(const struct export_request *request, bool *lost, struct kymo_err *err);

/* ---- outputs ---- */

/** export_name() - the last part of the path of @trace; "." has a name, too. Return: 0; -1 with @err. */
int export_name(const char *trace, char name[CLI_PATH_MAX], struct kymo_err *err);

/**
 * export_output() - the path that @request says, or its name with @suffix. Return: @made or the
 * path.
 */
const char *export_output(const struct export_request *request, const char *suffix,
			  char made[CLI_PATH_MAX + 16]);

/** export_is_stdout() - is @path "-"? */
bool export_is_stdout(const char *path);

/** export_shown() - @path for messages: "standard output" for "-". */
const char *export_shown(const char *path);


/** export_unwritable() - the error for a @path that cannot be written, of errno. Return: -1. */
int export_unwritable(const char *path, struct kymo_err *err);

/** export_remove() - a part of an export would look like the whole; only a regular file is removed.
 */
void export_remove(const char *path);

/**
 * export_open() - the file @path, for something binary; "-" for standard output
 * @made: set to whether the file is new
 *
 * Return: a descriptor, or -1 with @err. Context: blocks.
 */
int export_open(const char *path, bool force, bool *made, struct kymo_err *err);

#endif
