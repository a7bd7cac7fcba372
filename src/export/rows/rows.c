/* SPDX-License-Identifier: Apache-2.0 */
/* The pass over a trace, and files of lines. See rows.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/rows/rows_internal.h"

int rows_pass(struct tables *tables, const struct rows_options *options, struct rows_result *result,
	      int (*take)(void *context, const struct tables_row *row, struct kymo_err *err),
	      void *context, struct kymo_err *err)
{
	const struct tables_request request = { .tables = options->tables };
	const struct tables_row *row;
	struct tables_scan *scan;
	int more;

	*result = (struct rows_result){ 0 };
	if (tables_scan(tables, &request, &scan, err))
		return -1;
	while ((more = tables_next(scan, &row, err)) > 0) {
		if (take(context, row, err)) {
			more = -1;
			break;
		}
		result->rows++;
		result->of_table[tables_row_table(row)]++;
	}
	tables_scan_end(scan);
	return more;
}

/* ---- files of lines ---- */

struct lines {
	const struct rows_options *options;
	const struct line_format *format;
	FILE *out[TABLES];
};

void lines_integer(FILE *out, int64_t value)
{
	char digits[24], *at = digits + sizeof(digits);
	uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;

	do
		*--at = (char)('0' + left % 10);
	while (left /= 10);
	if (value < 0)
		*--at = '-';
	fwrite_unlocked(at, 1, (size_t)(digits + sizeof(digits) - at), out);
}

static int write_error(unsigned table, struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_FAILED, "cannot write the table %s: %s",
		       tables_table[table].name, strerror(errno));
}

static int open_table(struct lines *lines, unsigned table, struct kymo_err *err)
{
	const struct rows_options *options = lines->options;
	char *path;

	if (options->path) {
		if (asprintf(&path, "%s/%s.%s", options->path, tables_table[table].name,
			     lines->format->suffix) < 0)
			return err_no_memory(err);
		lines->out[table] = fopen(path, "we");
		free(path);
	} else {
		lines->out[table] = options->out;
	}
	if (!lines->out[table])
		return write_error(table, err);
	if (lines->format->head)
		lines->format->head(lines->out[table], table);
	return 0;
}

static int write_line(void *context, const struct tables_row *row, struct kymo_err *err)
{
	const struct lines *lines = context;
	unsigned table = tables_row_table(row);

	lines->format->row(lines->out[table], row);
	return ferror(lines->out[table]) ? write_error(table, err) : 0;
}

static int close_tables(struct lines *lines, struct kymo_err *err)
{
	int status = 0;

	for (unsigned i = 0; i < TABLES; i++) {
		FILE *out = lines->out[i];

		if (!out)
			continue;
		if ((lines->options->path ? fclose(out) : fflush(out)) && !status)
			status = write_error(i, err);
	}
	return status;
}

int lines_export(struct tables *tables, const struct rows_options *options,
		 const struct line_format *format, struct rows_result *result, struct kymo_err *err)
{
	struct lines lines = { .options = options, .format = format };
	int status = 0;

	for (unsigned i = 0; i < TABLES && !status; i++)
		if (options->tables & TABLES_BIT(i))
			status = open_table(&lines, i, err);
	if (!status)
		status = rows_pass(tables, options, result, write_line, &lines, err);
	return close_tables(&lines, status ? NULL : err) ? -1 : status;
}
