/* SPDX-License-Identifier: Apache-2.0 */
/* The pass over a trace, and files of lines. See rows.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "export/rows_internal.h"

/* A window is about what happened; objects are there whenever they were made. */
static unsigned make_filters(const struct rows_options *options, struct tables_filter *filter)
{
	unsigned count = 0;

	for (unsigned i = 0; i < TABLES; i++) {
		int window = tables_window(i);

		if (window < 0)
			continue;
		if (options->begin_ns != INT64_MIN)
			filter[count++] = (struct tables_filter){ .table = (uint8_t)i,
				.column = (uint8_t)window, .relation = TABLES_GE,
				.number = options->begin_ns };
		if (options->end_ns != INT64_MAX)
			filter[count++] = (struct tables_filter){ .table = (uint8_t)i,
				.column = (uint8_t)window, .relation = TABLES_LE,
				.number = options->end_ns };
	}
	return count;
}

/* Columns that name nodes or topics. A row with several of them is about each. */
struct names {
	const char *glob;
	uint64_t columns[TABLES];	/* masks */
};

static void find_names(struct names *names, const char *glob, const char *own_table,
		       const char *own_column, const char *const *columns)
{
	names->glob = glob;
	for (unsigned i = 0; i < TABLES && glob; i++) {
		names->columns[i] = 0;
		for (const char *const *name = columns; *name; name++)
			if (tables_column(i, *name) >= 0)
				names->columns[i] |= UINT64_C(1) << tables_column(i, *name);
		if (strcmp(tables_table[i].name, own_table) == 0)
			names->columns[i] |= UINT64_C(1) << tables_column(i, own_column);
	}
}

static bool is_named(const struct names *names, const struct tables_row *row)
{
	uint64_t columns = names->glob ? names->columns[tables_row_table(row)] : 0;
	struct tables_value value;

	if (!columns)
		return true;
	for (; columns; columns &= columns - 1) {
		tables_value(row, (unsigned)__builtin_ctzll(columns), &value);
		if (value.is == TABLES_VALUE_TEXT && text_ros_glob(names->glob, value.text))
			return true;
	}
	return false;
}

int rows_pass(struct tables *tables, const struct rows_options *options, struct rows_result *result,
	      int (*take)(void *context, const struct tables_row *row, struct err *err),
	      void *context, struct err *err)
{
	struct tables_filter filter[2 * TABLES];
	struct tables_request request = { .tables = options->tables, .filter = filter };
	const struct tables_row *row;
	struct names nodes, topics;
	struct tables_scan *scan;
	int more;

	*result = (struct rows_result){ 0 };
	find_names(&nodes, options->node, "nodes", "full_name", (const char *const[]){ "node",
		   "publisher_node", "subscriber_node", "client_node", "service_node", NULL });
	find_names(&topics, options->topic, "topics", "name", (const char *const[]){ "topic_name", NULL });
	request.filters = make_filters(options, filter);
	if (tables_scan(tables, &request, &scan, err))
		return -1;
	while ((more = tables_next(scan, &row, err)) > 0) {
		if (!is_named(&nodes, row) || !is_named(&topics, row))
			continue;
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

static int write_error(unsigned table, struct err *err)
{
	return err_set(err, EXIT_FAILED, "The table %s cannot be written: %s.",
		       tables_table[table].name, strerror(errno));
}

static int open_table(struct lines *lines, unsigned table, struct err *err)
{
	const struct rows_options *options = lines->options;
	char *path;

	if (options->path) {
		if (asprintf(&path, "%s/%s.%s", options->path, tables_table[table].name,
			     lines->format->suffix) < 0)
			return err_set(err, EXIT_FAILED, "There is no memory left for the export.");
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

static int take_line(void *context, const struct tables_row *row, struct err *err)
{
	const struct lines *lines = context;
	unsigned table = tables_row_table(row);

	lines->format->row(lines->out[table], row);
	return ferror(lines->out[table]) ? write_error(table, err) : 0;
}

static int close_tables(struct lines *lines, struct err *err)
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
		 const struct line_format *format, struct rows_result *result, struct err *err)
{
	struct lines lines = { .options = options, .format = format };
	int status = 0;

	for (unsigned i = 0; i < TABLES && !status; i++)
		if (options->tables & TABLES_BIT(i))
			status = open_table(&lines, i, err);
	if (!status)
		status = rows_pass(tables, options, result, take_line, &lines, err);
	return close_tables(&lines, status ? NULL : err) ? -1 : status;
}
