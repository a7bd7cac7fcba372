/* SPDX-License-Identifier: Apache-2.0 */
/* The tables as Parquet files: a column keeps its name, and its values are those of `kymo query`.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/parquet/parquet.h"
#include "export/rows/rows_internal.h"

struct parquets {
	const struct rows_options *options;
	struct parquet_column *column[TABLES];
	struct parquet *file[TABLES];
	FILE *out[TABLES];
};

static enum parquet_type type_of(enum tables_type type)
{
	switch (type) {
	case TABLES_BOOL:
		return PARQUET_BOOL;
	case TABLES_REAL:
		return PARQUET_DOUBLE;
	case TABLES_TEXT:
		return PARQUET_TEXT;
	default:
		return PARQUET_INT64;
	}
}

static int unwritable(unsigned table, struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_FAILED, "cannot write the table %s: %s",
		       tables_table[table].name, strerror(errno));
}

static int open_out(struct parquets *all, unsigned table, struct kymo_err *err)
{
	char *path;

	all->out[table] = all->options->out;
	if (!all->options->path)
		return 0;
	if (asprintf(&path, "%s/%s.parquet", all->options->path, tables_table[table].name) < 0)
		return err_no_memory(err);
	all->out[table] = fopen(path, "we");
	free(path);
	return all->out[table] ? 0 : unwritable(table, err);
}

static int open_table(struct parquets *all, unsigned table, struct kymo_err *err)
{
	const struct tables_table *of = &tables_table[table];
	struct parquet_column *column = calloc(of->columns, sizeof(*column));

	all->column[table] = column;
	if (!column)
		return err_no_memory(err);
	for (unsigned i = 0; i < of->columns; i++)
		column[i] = (struct parquet_column){ of->column[i].name,
						     type_of(of->column[i].type), i == 0 };
	if (open_out(all, table, err))
		return -1;
	return parquet_create(&all->file[table], all->out[table], column, of->columns,
			      all->options->version, err);
}

static int put_row(void *context, const struct tables_row *row, struct kymo_err *err)
{
	const struct parquets *all = context;
	const unsigned table = tables_row_table(row);
	struct parquet *file = all->file[table];
	struct tables_value value;

	for (unsigned i = 0; i < tables_table[table].columns; i++) {
		tables_value(row, i, &value);
		if (value.is == TABLES_VALUE_INTEGER)
			parquet_i64(file, i, value.integer);
		else if (value.is == TABLES_VALUE_REAL)
			parquet_f64(file, i, value.real);
		else if (value.is == TABLES_VALUE_TEXT)
			parquet_text(file, i, value.text);
	}
	return parquet_row(file, err);
}

/* Without @complete what was written is about to be removed. */
static int close_tables(struct parquets *all, bool complete, struct kymo_err *err)
{
	int status = complete ? 0 : -1;

	for (unsigned i = 0; i < TABLES; i++) {
		if (status)
			parquet_drop(all->file[i]);
		else
			status = parquet_close(all->file[i], err);
		if (all->out[i] &&
		    (all->options->path ? fclose(all->out[i]) : fflush(all->out[i])) && !status)
			status = unwritable(i, err);
		free(all->column[i]);
	}
	return status;
}

int parquet_export(struct tables *tables, const struct rows_options *options,
		   struct rows_result *result, struct kymo_err *err)
{
	struct parquets all = { .options = options };
	int status = 0;

	for (unsigned i = 0; i < TABLES && !status; i++)
		if (options->tables & TABLES_BIT(i))
			status = open_table(&all, i, err);
	if (!status)
		status = rows_pass(tables, options, result, put_row, &all, err);
	return close_tables(&all, !status, err);
}
