/* SPDX-License-Identifier: Apache-2.0 */
/* See query_print.h. */
#include "cli/verbs/query/query_print.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/common/screen.h"
#include "cli/input/trace_time.h"

/* ---- results ---- */

/* How the values of a column are written for people. */
enum look { LOOK_PLAIN, LOOK_TIME, LOOK_DURATION, LOOK_ADDRESS };

struct result {
	struct table *table;
	struct query_statement *statement;
	enum table_format format;
	unsigned columns;
	/* In turns: the table needs those of a section until the next one has begun. */
	struct names {
		struct table_column column[QUERY_COLUMNS_MAX];
		char name[QUERY_COLUMNS_MAX][64];
	} names[2];
	enum look look[QUERY_COLUMNS_MAX];
};

static enum look look_of(const struct query_statement *statement, unsigned column)
{
	const char *name = query_column(statement, column);

	switch (query_type(statement, column)) {
	case TABLES_TIME:
	case TABLES_WALL:
		return LOOK_TIME;
	case TABLES_DURATION:
		return LOOK_DURATION;
	case TABLES_ADDRESS:
		return LOOK_ADDRESS;
	case -1:
		/* A computed one: "max(duration_ns)", or an alias that says what it is. */
		return (text_ends_with(name, "_ns") || text_ends_with(name, "_ns)")) && strncasecmp(name, "count", 5) ?
		       LOOK_DURATION : LOOK_PLAIN;
	default:
		return LOOK_PLAIN;
	}
}

/* Names of columns are keys in JSON, so each must be different. */
static void name_column(const struct query_statement *statement, struct names *names,
			unsigned column)
{
	const char *name = query_column(statement, column);
	char *own = names->name[column];
	size_t size = sizeof(names->name[column]);
	unsigned same = 1;

	snprintf(own, size, "%s", name);
	for (unsigned i = 0; i < column; i++)
		if (!strcmp(names->name[i], own)) {
			snprintf(own, size, "%.50s_%u", name, ++same);
			i = UINT_MAX;	/* from the beginning: the new name may be another's */
		}
	names->column[column] = (struct table_column){ own, own };
}

static void begin_section(struct result *result, unsigned number)
{
	struct names *names = &result->names[number % 2];
	char key[32];

	result->columns = query_columns(result->statement);
	if (result->columns > QUERY_COLUMNS_MAX)
		result->columns = QUERY_COLUMNS_MAX;
	for (unsigned i = 0; i < result->columns; i++) {
		name_column(result->statement, names, i);
		result->look[i] = look_of(result->statement, i);
	}
	snprintf(key, sizeof(key), number > 1 ? "rows_%u" : "rows", number);
	if (result->columns)
		table_section(result->table, key, NULL, names->column, result->columns);
}

/* Longer than three years is a point in time. */
#define DURATION_MAX 100000000000000000ll

static void print_integer(struct result *result, enum look look, int64_t value)
{
	char point[CLI_TIME_MAX];

	if (look == LOOK_DURATION && (value > DURATION_MAX || value < -DURATION_MAX))
		look = LOOK_TIME;
	if (look == LOOK_PLAIN || result->format != TABLE_TEXT)
		table_i64(result->table, value);
	else if (look == LOOK_ADDRESS)
		table_hex(result->table, (uint64_t)value);
	else if (look == LOOK_TIME)
		table_text(result->table, cli_print_point(point, value));
	else
		table_ns(result->table, value);
}

static void print_row(struct result *result)
{
	struct tables_value value;

	for (unsigned i = 0; i < result->columns; i++) {
		query_value(result->statement, i, &value);
		switch (value.is) {
		case TABLES_VALUE_INTEGER:
			print_integer(result, result->look[i], value.integer);
			break;
		case TABLES_VALUE_REAL:
			if (result->format == TABLE_TEXT && result->look[i] == LOOK_DURATION &&
			    fabs(value.real) < DURATION_MAX)
				table_ns(result->table, llround(value.real));
			else
				table_f64(result->table, value.real);
			break;
		case TABLES_VALUE_TEXT:
			table_text(result->table, value.text);
			break;
		case TABLES_VALUE_NULL:
			table_none(result->table);
			break;
		}
	}
}

static void on_progress(void *context, uint64_t events, double done)
{
	progress_show(context, events, done);
}

static int run_statements(struct result *result, struct query *query, const char *sql, FILE *out,
			  struct progress *progress, struct kymo_err *err)
{
	const bool shared = isatty(STDOUT_FILENO);
	unsigned number = 0;
	int more;

	while ((more = query_begin(query, sql, &sql, &result->statement, err)) > 0) {
		begin_section(result, ++number);
		while ((more = query_step(result->statement, err)) > 0) {
			if (shared)
				progress_clear(progress);
			print_row(result);
			if (ferror(out))
				break;
		}
		query_end(result->statement);
		if (more)
			break;
	}
	return more < 0 ? -1 : 0;
}

int query_print(struct query *query, const char *sql, enum table_format format, FILE *out,
		struct progress *progress, struct kymo_err *err)
{
	struct result *result = calloc(1, sizeof(*result));
	int status, closed;

	if (!result || table_open(&result->table, out, format)) {
		free(result);
		return err_no_memory(err);
	}
	result->format = format;
	screen_dress(result->table);
	table_whole(result->table);
	query_watch(query, on_progress, progress);
	status = run_statements(result, query, sql, out, progress, err);
	query_watch(query, NULL, NULL);
	progress_clear(progress);
	closed = table_close(result->table);
	free(result);
	if (!status && closed && closed != -EPIPE)
		return err_set(err, KYMO_EXIT_FAILED, "cannot write the output: %s", strerror(-closed));
	return status;
}

/* Line by line: below the message are the statement, and a mark below the place of the error. */
void query_print_error(const char *prefix, const struct kymo_err *err)
{
	char line[sizeof(err->text)], clean[4 * sizeof(err->text) + 1];
	const char *at = err->text;

	fflush(stdout);
	fputs(prefix, stderr);
	for (;;) {
		size_t length = strcspn(at, "\n");

		memcpy(line, at, length);
		line[length] = 0;
		text_clean(clean, sizeof(clean), line);
		if (at == err->text)
			screen_say(stderr, (unsigned)strlen(prefix), 2, clean);
		else
			fprintf(stderr, "%s\n", clean);
		if (!at[length])
			return;
		at += length + 1;
	}
}

/* ---- definitions ---- */

/* "DURATION INTEGER" is called duration here. */
static const char *type_word(enum tables_type type, char word[16])
{
	const char *sql = tables_type_sql(type);
	unsigned i;

	for (i = 0; i < 15 && sql[i] && sql[i] != ' '; i++)
		word[i] = (char)(sql[i] | 0x20);
	word[i] = 0;
	return word;
}

static void print_columns(struct table *out, unsigned number, bool with_table)
{
	const struct tables_table *table = &tables_table[number];
	char word[16];

	for (unsigned i = 0; i < table->columns; i++) {
		if (with_table)
			table_text(out, table->name);
		table_text(out, table->column[i].name);
		table_text(out, type_word(table->column[i].type, word));
		table_text(out, tables_type_unit(table->column[i].type));
		table_text(out, table->column[i].text);
	}
}

int query_print_schema(int number, enum table_format format, FILE *out)
{
	static const struct table_column tables[] = {
		{ "table", "Table" }, { "text", "Rows" },
	};
	static const struct table_column columns[] = {
		{ "table", "Table" }, { "column", "Column" }, { "type", "Type" },
		{ "unit", "Unit" }, { "text", "What it is" },
	};
	unsigned first = number < 0 ? 0 : (unsigned)number;
	unsigned end = number < 0 ? TABLES : first + 1;
	struct table *table;
	char title[256];

	if (table_open(&table, out, format))
		return -ENOMEM;
	if (out == stdout)
		screen_dress(table);
	if (format != TABLE_TEXT) {
		table_section(table, "columns", NULL, columns, 5);
		for (unsigned i = first; i < end; i++)
			print_columns(table, i, true);
		table_section(table, "tables", NULL, tables, 2);
	}
	for (unsigned i = first; i < end; i++) {
		if (format != TABLE_TEXT) {
			table_text(table, tables_table[i].name);
			table_text(table, tables_table[i].text);
			continue;
		}
		snprintf(title, sizeof(title), "%s: %s", tables_table[i].name, tables_table[i].text);
		table_section(table, tables_table[i].name, title, columns + 1, 4);
		print_columns(table, i, false);
	}
	return table_close(table);
}
