/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of analysis/tables/tables.h as files: SQLite, CSV, JSON Lines, Parquet. One pass over
 * the trace writes all of them. Rows are written as they become known; memory does not grow with
 * them.
 */
#ifndef KYMO_EXPORT_ROWS_H
#define KYMO_EXPORT_ROWS_H

#include <stdint.h>
#include <stdio.h>

#include "analysis/tables/tables.h"
#include "base/err.h"

struct rows_options {
	const char *path;		/* the file, or an existing directory; NULL: `out` */
	FILE *out;			/* CSV, JSON and Parquet of one table only */
	uint64_t tables;		/* TABLES_BIT() of each */
	const char *version;		/* of kymo */
	const char *trace;		/* path of the trace, for people */
};

struct rows_result {
	uint64_t rows;
	uint64_t of_table[TABLES];
};

/*
 * Read the trace of @tables once and write what @options chooses, without what tables_select() left
 * out. tables_watch() reports the progress.
 * Context: allocate, block.
 * Return: 0, or -1 with @err filled; what was written then is incomplete.
 */

/** sqlite_export() - a database with the tables, indexes, and `columns`, which documents them */
int sqlite_export(struct tables *tables, const struct rows_options *options,
		  struct rows_result *result, struct kymo_err *err);

/** csv_export() - a file TABLE.csv a table in the directory options->path, each with a header
 * line */
int csv_export(struct tables *tables, const struct rows_options *options,
	       struct rows_result *result, struct kymo_err *err);

/** json_export() - a file TABLE.jsonl a table in the directory options->path, one object a line */
int json_export(struct tables *tables, const struct rows_options *options,
		struct rows_result *result, struct kymo_err *err);

/** parquet_export() - a file TABLE.parquet a table in the directory options->path, or one at
 * options->out */
int parquet_export(struct tables *tables, const struct rows_options *options,
		   struct rows_result *result, struct kymo_err *err);

#endif
