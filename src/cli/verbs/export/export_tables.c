/* SPDX-License-Identifier: Apache-2.0 */
/* See export_tables.h. */
#include "cli/verbs/export/export_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/common.h"
#include "cli/progress.h"
#include "cli/input/trace_time.h"
#include "cli/input/input_traces.h"
#include "export/rows/rows.h"

static const struct {
	const char *suffix;
	int (*write)(struct tables *tables, const struct rows_options *options,
		     struct rows_result *result, struct kymo_err *err);
	const char *of_table;		/* suffix of a table's file; NULL: all are in one file */
} formats[] = {
	[TABLES_SQLITE] = { ".sqlite", sqlite_export, NULL },
	[TABLES_CSV] = { "-csv", csv_export, "csv" },
	[TABLES_JSON] = { "-json", json_export, "jsonl" },
};

/* ---- which tables, and when ---- */

static int unknown_table(const char *name, struct kymo_err *err)
{
	unsigned best_distance = UINT_MAX;
	const char *best = NULL;

	for (unsigned i = 0; i < TABLES; i++) {
		unsigned distance = text_distance(name, tables_table[i].name);

		if (distance < best_distance && text_is_near(name, tables_table[i].name, distance)) {
			best = tables_table[i].name;
			best_distance = distance;
		}
	}
	if (best)
		return err_set(err, KYMO_EXIT_USAGE, "option --table: there is no table '%s'; did you mean %s?",
			       name, best);
	return err_set(err, KYMO_EXIT_USAGE, "option --table: there is no table '%s'; `kymo query --schema` "
		       "shows all", name);
}

static int choose_tables(const struct opt_list *list, uint64_t *tables, struct kymo_err *err)
{
	*tables = 0;
	for (unsigned i = 0; i < TABLES && !list->count; i++)
		*tables |= i == TABLE_events ? 0 : TABLES_BIT(i);
	for (unsigned i = 0; i < list->count; i++) {
		int table = tables_find(list->item[i]);

		if (table < 0)
			return unknown_table(list->item[i], err);
		*tables |= TABLES_BIT(table);
	}
	return 0;
}

/* ---- where to ---- */

static int refuse(const char *path, struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_FAILED, "%s is there already; name another place with -o, or overwrite "
		       "it with --force.", path);
}

static int unwritable(const char *path, struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_FAILED, "%s cannot be written: %s; name another place with -o.", path,
		       strerror(errno));
}

static int prepare_file(const char *path, bool force, struct kymo_err *err)
{
	struct stat status;

	if (lstat(path, &status))
		return errno == ENOENT ? 0 : unwritable(path, err);
	if (!S_ISREG(status.st_mode))
		return err_set(err, KYMO_EXIT_FAILED, "%s is no file; name one with -o.", path);
	if (!force)
		return refuse(path, err);
	if (unlink(path))
		return unwritable(path, err);
	return 0;
}

static int table_path(char path[CLI_PATH_MAX], const char *directory, unsigned table,
		      enum tables_format format)
{
	int length = snprintf(path, CLI_PATH_MAX, "%s/%s.%s", directory, tables_table[table].name,
			      formats[format].of_table);

	return length < CLI_PATH_MAX ? 0 : -1;
}

/* The directory may be there; files of ours in it are not to be overwritten. */
static int prepare_directory(const char *path, const struct export_tables *request,
			     uint64_t tables, bool *made, struct kymo_err *err)
{
	char file[CLI_PATH_MAX];
	struct stat status;

	*made = !mkdir(path, 0777);
	if (!*made && errno != EEXIST)
		return unwritable(path, err);
	if (stat(path, &status) || !S_ISDIR(status.st_mode))
		return err_set(err, KYMO_EXIT_FAILED, "%s is no directory; name one with -o.", path);
	for (unsigned i = 0; i < TABLES && !request->force; i++) {
		if (!(tables & TABLES_BIT(i)))
			continue;
		if (table_path(file, path, i, request->format))
			return err_set(err, KYMO_EXIT_FAILED, "the path '%.100s...' is too long", path);
		if (!lstat(file, &status))
			return refuse(file, err);
	}
	return 0;
}

/* A part of an export would look like the whole. */
static void remove_output(const char *path, const struct export_tables *request, uint64_t tables,
			  bool made)
{
	char file[CLI_PATH_MAX];

	if (request->format == TABLES_SQLITE) {
		(void)unlink(path);
		return;
	}
	for (unsigned i = 0; i < TABLES; i++)
		if ((tables & TABLES_BIT(i)) && !table_path(file, path, i, request->format))
			(void)unlink(file);
	if (made)
		(void)rmdir(path);
}

/* ---- the export ---- */

static int on_tick(void *context, uint64_t events, double done)
{
	progress_show(context, events, done);
	return 0;
}

static int write_tables(struct tables *tables, const struct export_tables *request,
			const struct rows_options *options, struct rows_result *result, struct kymo_err *err)
{
	struct progress progress;
	int status;

	progress_begin(&progress, request->quiet);
	tables_watch(tables, on_tick, &progress);
	status = formats[request->format].write(tables, options, result, err);
	tables_watch(tables, NULL, NULL);
	progress_clear(&progress);
	return status;
}

static void tell(const struct tables *tables, const char *output, const struct rows_result *result)
{
	char clean[4096];
	unsigned filled = 0;

	for (unsigned i = 0; i < tables_warnings(tables); i++) {
		text_clean(clean, sizeof(clean), tables_warning(tables, i));
		fprintf(stderr, "kymo export: warning: %s\n", clean);
	}
	if (tables_lost(tables))
		fprintf(stderr, "kymo export: warning: %" PRIu64 " events were lost while recording; the "
			"table lost_events says where\n", tables_lost(tables));
	for (unsigned i = 0; i < TABLES; i++)
		filled += result->of_table[i] > 0;
	text_clean(clean, sizeof(clean), output);
	fprintf(stderr, "%s: %" PRIu64 " rows in %u %s\n", clean, result->rows, filled,
		filled == 1 ? "table" : "tables");
}

static int to_stdout(struct tables *tables, const struct export_tables *request,
		     struct rows_options *options, struct rows_result *result, struct kymo_err *err)
{
	if (request->format == TABLES_SQLITE)
		return err_set(err, KYMO_EXIT_USAGE, "A database cannot go to standard output; name a file "
			       "with -o.");
	if (__builtin_popcountll(options->tables) != 1)
		return err_set(err, KYMO_EXIT_USAGE, "Standard output takes one table: choose it with --table, "
			       "or name a directory with -o.");
	options->out = stdout;
	return write_tables(tables, request, options, result, err);
}

static int to_files(struct tables *tables, const struct export_tables *request, const char *output,
		    struct rows_options *options, struct rows_result *result, struct kymo_err *err)
{
	bool made = false;
	int status;

	if (formats[request->format].of_table ?
		    prepare_directory(output, request, options->tables, &made, err) :
		    prepare_file(output, request->force, err))
		return -1;
	options->path = output;
	status = write_tables(tables, request, options, result, err);
	if (status)
		remove_output(output, request, options->tables, made);
	return status;
}

int export_tables(const struct export_tables *request, bool *lost, struct kymo_err *err)
{
	struct rows_options options = { .version = KYMO_VERSION, .trace = request->traces->name };
	char made_up[CLI_PATH_MAX + 16];
	const char *output = request->output;
	struct simclock *clock = NULL;
	struct rows_result result;
	struct tables *tables;
	int status;

	if (choose_tables(request->table, &options.tables, err) ||
	    tables_open(&tables, request->traces->path, request->traces->count, err))
		return -1;
	if (cli_clock_of(request->clock, tables, request->traces->name, &clock, err) ||
	    cli_select_tables(tables, clock, request->selection, request->begin, request->end, err)) {
		tables_close(tables);
		simclock_free(clock);
		return -1;
	}
	if (!output) {
		snprintf(made_up, sizeof(made_up), "%s%s", request->name,
			 formats[request->format].suffix);
		output = made_up;
	}
	if (strcmp(output, "-") == 0) {
		status = to_stdout(tables, request, &options, &result, err);
		output = "standard output";
	} else {
		status = to_files(tables, request, output, &options, &result, err);
	}
	if (!status && !request->quiet)
		cli_tell_hosts("export", tables_align(tables));
	if (!status && !request->quiet)
		tell(tables, output, &result);
	*lost = tables_lost(tables);
	tables_close(tables);
	simclock_free(clock);
	return status;
}
