/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of `kymo query` as files. See export.h. */
#include "cli/verbs/export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/common/progress.h"
#include "cli/input/trace_time.h"
#include "cli/input/input_traces.h"
#include "export/rows/rows.h"

static const struct {
	const char *suffix;
	int (*write)(struct tables *tables, const struct rows_options *options,
		     struct rows_result *result, struct kymo_err *err);
	const char *of_table;		/* suffix of a table's file; NULL: all are in one file */
} formats[] = {
	[EXPORT_SQLITE] = { ".sqlite", sqlite_export, NULL },
	[EXPORT_CSV] = { "-csv", csv_export, "csv" },
	[EXPORT_JSON] = { "-json", json_export, "jsonl" },
	[EXPORT_PARQUET] = { "-parquet", parquet_export, "parquet" },
};

/* ---- which tables, and when ---- */

static int unknown_table(const char *name, struct kymo_err *err)
{
	struct text_nearest best = { 0 };

	for (unsigned i = 0; i < TABLES; i++)
		text_nearest_try(&best, name, tables_table[i].name);
	if (best.name)
		return err_set(err, KYMO_EXIT_USAGE,
			       "option --table: no table is called '%s'; did you mean %s?", name,
			       best.name);
	return err_set(err, KYMO_EXIT_USAGE, "option --table: no table is called '%s'; `kymo query --schema` "
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

static int prepare_file(const char *path, bool force, struct kymo_err *err)
{
	struct stat status;

	if (lstat(path, &status))
		return errno == ENOENT ? 0 : export_unwritable(path, err);
	if (!S_ISREG(status.st_mode))
		return err_set(err, KYMO_EXIT_FAILED, "cannot write %s: not a regular file; choose another name with -o", path);
	if (!force)
		return cli_exists(path, err);
	if (unlink(path))
		return export_unwritable(path, err);
	return 0;
}

static int table_path(char path[CLI_PATH_MAX], const char *directory, unsigned table, int format)
{
	int length = snprintf(path, CLI_PATH_MAX, "%s/%s.%s", directory, tables_table[table].name,
			      formats[format].of_table);

	return length < CLI_PATH_MAX ? 0 : -1;
}

/* The directory may be there; files of ours in it are not to be overwritten. */
static int prepare_directory(const char *path, const struct export_request *request,
			     uint64_t tables, bool *made, struct kymo_err *err)
{
	char file[CLI_PATH_MAX];
	struct stat status;

	*made = !mkdir(path, 0777);
	if (!*made && errno != EEXIST)
		return export_unwritable(path, err);
	if (stat(path, &status) || !S_ISDIR(status.st_mode))
		return err_set(err, KYMO_EXIT_FAILED, "cannot write into %s: not a directory; choose another name with -o", path);
	for (unsigned i = 0; i < TABLES && !request->force; i++) {
		if (!(tables & TABLES_BIT(i)))
			continue;
		if (table_path(file, path, i, request->format))
			return err_set(err, KYMO_EXIT_FAILED, "the path '%.100s...' is too long", path);
		if (!lstat(file, &status))
			return cli_exists(file, err);
	}
	return 0;
}

/* A part of an export would look like the whole. */
static void remove_output(const char *path, const struct export_request *request, uint64_t tables,
			  bool made)
{
	char file[CLI_PATH_MAX];

	if (request->format == EXPORT_SQLITE) {
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

static int write_tables(struct tables *tables, const struct export_request *request,
			const struct rows_options *options, struct rows_result *result,
			struct kymo_err *err)
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

static void summary(const struct tables *tables, const char *output,
		    const struct rows_result *result)
{
	char clean[4096];
	unsigned filled = 0;

	cli_tables_warn("export", tables);
	for (unsigned i = 0; i < TABLES; i++)
		filled += result->of_table[i] > 0;
	text_clean(clean, sizeof(clean), output);
	fprintf(stderr, "%s: %" PRIu64 " rows in %u %s\n", clean, result->rows, filled,
		filled == 1 ? "table" : "tables");
}

static int to_stdout(struct tables *tables, const struct export_request *request,
		     struct rows_options *options, struct rows_result *result, struct kymo_err *err)
{
	if (request->format == EXPORT_SQLITE)
		return err_set(err, KYMO_EXIT_USAGE, "a database cannot go to standard output; choose a file with -o");
	if (__builtin_popcountll(options->tables) != 1)
		return err_set(err, KYMO_EXIT_USAGE, "only one table can go to standard output; choose it with --table, "
			       "or choose a directory with -o");
	if (request->format == EXPORT_PARQUET && isatty(STDOUT_FILENO))
		return err_set(err, KYMO_EXIT_USAGE, "cannot write a binary file to a terminal; choose a file with -o, or "
			       "redirect standard output");
	options->out = stdout;
	return write_tables(tables, request, options, result, err);
}

/* One table of Parquet may be a file instead of a directory. */
static bool is_one_file(const struct export_request *request, const char *output)
{
	return request->format == EXPORT_PARQUET && text_ends_with(output, ".parquet");
}

static int to_one_file(struct tables *tables, const struct export_request *request,
		       const char *output, struct rows_options *options, struct rows_result *result,
		       struct kymo_err *err)
{
	int status;

	if (__builtin_popcountll(options->tables) != 1)
		return err_set(err, KYMO_EXIT_USAGE,
			       "-o %s: a file of Parquet has one table; choose it with --table, or "
			       "choose a directory with --format parquet -o DIR",
			       output);
	if (prepare_file(output, request->force, err))
		return -1;
	options->out = fopen(output, "we");
	if (!options->out)
		return export_unwritable(output, err);
	status = write_tables(tables, request, options, result, err);
	if (fclose(options->out) && !status)
		status = export_unwritable(output, err);
	if (status)
		(void)unlink(output);
	return status;
}

static int to_files(struct tables *tables, const struct export_request *request, const char *output,
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

int export_tables(const struct export_request *request, bool *lost, struct kymo_err *err)
{
	struct rows_options options = { .version = KYMO_VERSION, .trace = request->traces.name };
	char made_up[CLI_PATH_MAX + 16];
	const char *output = export_output(request, formats[request->format].suffix, made_up);
	struct simclock *clock = NULL;
	struct rows_result result;
	struct tables *tables;
	int status;

	for (unsigned i = 0; i < request->table.count; i++)
		if (request->format == EXPORT_PARQUET &&
		    !strcmp(request->table.item[i], EXPORT_WINDOWS))
			return export_windows(request, lost, err);
	if (choose_tables(&request->table, &options.tables, err) ||
	    tables_open(&tables, request->traces.path, request->traces.count, err))
		return -1;
	if (cli_select_tables(tables, request->traces.name, &request->selection, &request->times,
			      &clock, err)) {
		tables_close(tables);
		simclock_free(clock);
		return -1;
	}
	tables_set_behaviours(tables, request->behaviours);
	if (export_is_stdout(output))
		status = to_stdout(tables, request, &options, &result, err);
	else if (is_one_file(request, output))
		status = to_one_file(tables, request, output, &options, &result, err);
	else
		status = to_files(tables, request, output, &options, &result, err);
	if (!status && !request->quiet) {
		cli_print_hosts("export", tables_align(tables));
		summary(tables, export_shown(output), &result);
	}
	*lost = tables_lost(tables);
	tables_close(tables);
	simclock_free(clock);
	return status;
}
