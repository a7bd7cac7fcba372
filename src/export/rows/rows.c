/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass over a trace, and files of lines: CSV (RFC 4180, plain newlines; NULL is an empty
 * field), and JSON Lines (one object a line with all columns, what is not known as null). See
 * rows.h.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
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

/* How a kind of file is written. */
struct format {
	const char *suffix; /* of the file: "csv" */
	bool is_json;
};

struct lines {
	const struct rows_options *options;
	struct format format;
	FILE *out[TABLES];
};

/* A decimal number; a format would be too slow here. */
static void put_integer(FILE *out, int64_t value)
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

static void put_head(FILE *out, const struct tables_table *table)
{
	for (unsigned i = 0; i < table->columns; i++) {
		fputs(i ? "," : "", out);
		fputs(table->column[i].name, out);
	}
	fputc('\n', out);
}

static void put_text(FILE *out, const char *text, bool is_json)
{
	if (is_json)
		text_put_json(out, text);
	else
		text_put_csv(out, text, true);
}

static void put_value(FILE *out, const struct tables_value *value, bool is_json)
{
	char real[TEXT_QUANTITY_MAX];

	if (value->is == TABLES_VALUE_INTEGER)
		put_integer(out, value->integer);
	else if (value->is == TABLES_VALUE_REAL && (!is_json || isfinite(value->real)))
		fputs_unlocked(text_f64_exact(real, value->real), out);
	else if (value->is == TABLES_VALUE_TEXT)
		put_text(out, value->text, is_json);
	else if (is_json)
		fputs_unlocked("null", out);
}

static void put_row(FILE *out, const struct tables_row *row, bool is_json)
{
	const struct tables_table *table = &tables_table[tables_row_table(row)];
	struct tables_value value;

	for (unsigned i = 0; i < table->columns; i++) {
		if (is_json) {
			fputs_unlocked(i ? ",\"" : "{\"", out);
			fputs_unlocked(table->column[i].name, out);
			fputs_unlocked("\":", out);
		} else if (i) {
			putc_unlocked(',', out);
		}
		tables_value(row, i, &value);
		put_value(out, &value, is_json);
	}
	fputs_unlocked(is_json ? "}\n" : "\n", out);
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
			     lines->format.suffix) < 0)
			return err_no_memory(err);
		lines->out[table] = fopen(path, "we");
		free(path);
	} else {
		lines->out[table] = options->out;
	}
	if (!lines->out[table])
		return write_error(table, err);
	if (!lines->format.is_json)
		put_head(lines->out[table], &tables_table[table]);
	return 0;
}

static int write_line(void *context, const struct tables_row *row, struct kymo_err *err)
{
	const struct lines *lines = context;
	unsigned table = tables_row_table(row);

	put_row(lines->out[table], row, lines->format.is_json);
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

/* A file for each table, or options->out. */
static int lines_export(struct tables *tables, const struct rows_options *options,
			struct format format, struct rows_result *result, struct kymo_err *err)
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

int csv_export(struct tables *tables, const struct rows_options *options,
	       struct rows_result *result, struct kymo_err *err)
{
	return lines_export(tables, options, (struct format){"csv", false}, result, err);
}

int json_export(struct tables *tables, const struct rows_options *options,
		struct rows_result *result, struct kymo_err *err)
{
	return lines_export(tables, options, (struct format){"jsonl", true}, result, err);
}
