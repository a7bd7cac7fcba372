/* SPDX-License-Identifier: Apache-2.0 */
/* The connection and its limits, statements, and errors that name their place. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "query/query_internal.h"

struct query_statement {
	struct query *query;
	sqlite3_stmt *sqlite;
};

/* ---- limits ---- */

/* SQL may read and compute, nothing else. */
static int authorize(void *context, int action, const char *first, const char *second,
		     const char *database, const char *trigger)
{
	static const char *const pragmas[] = {
		"table_info", "table_xinfo", "table_list", "function_list", "compile_options",
	};

	(void)database, (void)trigger;
	if (((struct query *)context)->declaring)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return second && sqlite3_stricmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_PRAGMA:
		for (size_t i = 0; first && i < COUNT_OF(pragmas); i++)
			if (sqlite3_stricmp(first, pragmas[i]) == 0)
				return SQLITE_OK;
		return SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

/* SQLite sorts and joins in files what does not fit. Only values of absurd size need more. */
#define MEMORY_MAX ((sqlite3_int64)1 << 30)

static void set_limits(struct query *query)
{
	sqlite3 *db = query->db;
	static const struct {
		int what, most;
	} limits[] = {
		{ SQLITE_LIMIT_LENGTH, 256 << 20 },
		{ SQLITE_LIMIT_SQL_LENGTH, 1 << 20 },
		{ SQLITE_LIMIT_COLUMN, QUERY_COLUMNS_MAX },
		{ SQLITE_LIMIT_EXPR_DEPTH, 500 },
		{ SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(limits); i++)
		sqlite3_limit(db, limits[i].what, limits[i].most);
	sqlite3_hard_heap_limit64(MEMORY_MAX);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	/* Otherwise a misspelt column "text" would silently be the text 'text'. */
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_set_authorizer(db, authorize, query);
}

/* ---- life ---- */

static int on_tick(void *context, uint64_t events, double done)
{
	struct query *query = context;

	if (query->stopped)
		return 1;
	if (query->tick)
		query->tick(query->tick_context, events, done);
	return 0;
}

int query_open(struct query **result, struct tables *tables, struct kymo_err *err)
{
	struct query *query = calloc(1, sizeof(*query));
	int status;

	if (!query)
		return err_no_memory(err);
	query->tables = tables;
	status = sqlite3_open_v2(":memory:", &query->db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
				 NULL);
	if (!status)
		status = query_register_tables(query);
	if (!status)
		status = query_register_functions(query->db);
	if (status) {
		query_close(query);
		return err_set(err, KYMO_EXIT_FAILED, "cannot start SQLite: %s", sqlite3_errstr(status));
	}
	set_limits(query);
	tables_watch(tables, on_tick, query);
	*result = query;
	return 0;
}

void query_close(struct query *query)
{
	if (!query)
		return;
	tables_watch(query->tables, NULL, NULL);
	sqlite3_close_v2(query->db);
	for (unsigned i = 0; i < TABLES; i++)
		query_store_free(query->store[i]);
	free(query);
}

void query_watch(struct query *query, void (*tick)(void *context, uint64_t events, double done),
		 void *context)
{
	query->tick = tick;
	query->tick_context = context;
}

void query_interrupt(struct query *query)
{
	query->stopped = 1;
	sqlite3_interrupt(query->db);
}

bool query_complete(const char *sql)
{
	return sqlite3_complete(sql);
}

/* ---- errors ---- */

#define LINE_MAX_SHOWN 100

/* The line of @sql in which @offset lies, and a mark below the place. */
static void show_place(struct kymo_err *err, const char *sql, int offset)
{
	const char *line = sql + offset, *end = sql + offset;
	char shown[LINE_MAX_SHOWN + 1], clean[4 * LINE_MAX_SHOWN + 1];
	size_t used = strlen(err->text);
	int before, length;

	while (line > sql && line[-1] != '\n' && end - line < LINE_MAX_SHOWN / 2)
		line--;
	end += strcspn(end, "\n");
	length = end - line < LINE_MAX_SHOWN ? (int)(end - line) : LINE_MAX_SHOWN;
	/* A tab is shown one column wide, so the mark below is at the right place. */
	for (int i = 0; i < length; i++)
		shown[i] = isspace((unsigned char)line[i]) ? ' ' : line[i];
	shown[length] = 0;
	text_clean(clean, sizeof(clean), shown);
	before = (int)(sql + offset - line);
	shown[before < length ? before : length] = 0;
	snprintf(err->text + used, sizeof(err->text) - used, "\n  %s\n  %*s^", clean,
		 (int)text_width(shown), "");
}

static const char *nearest_table(const char *name)
{
	struct text_nearest best = { 0 };

	for (unsigned i = 0; i < TABLES; i++)
		text_nearest_try(&best, name, tables_table[i].name);
	return best.name;
}

/* The column most like @name, among those of the tables that @sql mentions. */
static const char *nearest_column(const char *sql, const char *name)
{
	const char *dot = strrchr(name, '.');
	struct text_nearest best = { 0 };

	name = dot ? dot + 1 : name;
	for (unsigned i = 0; i < TABLES; i++) {
		if (!strcasestr(sql, tables_table[i].name))
			continue;
		for (unsigned j = 0; j < tables_table[i].columns; j++)
			text_nearest_try(&best, name, tables_table[i].column[j].name);
	}
	return best.name;
}

static void advise(struct kymo_err *err, const char *sql, const char *message)
{
	static const char table[] = "no such table: ", column[] = "no such column: ";
	const char *near = NULL, *where = "`kymo query --schema` lists all tables";
	size_t used = strlen(err->text);

	if (!strncmp(message, table, sizeof(table) - 1)) {
		near = nearest_table(message + sizeof(table) - 1);
	} else if (!strncmp(message, column, sizeof(column) - 1)) {
		near = nearest_column(sql, message + sizeof(column) - 1);
		where = "write texts in single quotes; `kymo query --schema` lists all columns";
	} else if (!strcmp(message, "not authorized")) {
		where = "only statements that read are allowed, such as SELECT";
	} else {
		return;
	}
	if (near)
		snprintf(err->text + used, sizeof(err->text) - used, "; did you mean %s?", near);
	else
		snprintf(err->text + used, sizeof(err->text) - used, "; %s", where);
}

/* The place of the last error in its statement, or -1: not known, as always before SQLite 3.38. */
static int place_of_error(sqlite3 *db)
{
#if SQLITE_VERSION_NUMBER >= 3038000
	return sqlite3_error_offset(db);
#else
	(void)db;
	return -1;
#endif
}

static int fail(struct query *query, const char *sql, enum kymo_exit status, struct kymo_err *err)
{
	const char *message = sqlite3_errmsg(query->db);
	int offset = place_of_error(query->db);

	if (query->stopped)
		return err_set(err, KYMO_EXIT_FAILED, "interrupted");
	err_set(err, status, "%.600s", message);
	advise(err, sql, message);
	if (offset >= 0 && (size_t)offset <= strlen(sql))
		show_place(err, sql, offset);
	return -1;
}

/* ---- statements ---- */

int query_begin(struct query *query, const char *sql, const char **rest,
		struct query_statement **result, struct kymo_err *err)
{
	struct query_statement *statement;
	sqlite3_stmt *sqlite = NULL;

	query->stopped = 0;
	do {
		if (sqlite3_prepare_v2(query->db, sql, -1, &sqlite, rest))
			return fail(query, sql, KYMO_EXIT_USAGE, err);
		if (!sqlite && *rest == sql)
			return 0;
		sql = *rest;
	} while (!sqlite && *sql);
	if (!sqlite)
		return 0;
	statement = calloc(1, sizeof(*statement));
	if (!statement) {
		sqlite3_finalize(sqlite);
		return err_no_memory(err);
	}
	statement->query = query;
	statement->sqlite = sqlite;
	*result = statement;
	return 1;
}

void query_end(struct query_statement *statement)
{
	if (!statement)
		return;
	sqlite3_finalize(statement->sqlite);
	free(statement);
}

unsigned query_columns(const struct query_statement *statement)
{
	return (unsigned)sqlite3_column_count(statement->sqlite);
}

const char *query_column(const struct query_statement *statement, unsigned column)
{
	const char *name = sqlite3_column_name(statement->sqlite, (int)column);

	return name ? name : "";
}

int query_type(const struct query_statement *statement, unsigned column)
{
	const char *declared = sqlite3_column_decltype(statement->sqlite, (int)column);

	for (int type = TABLES_ID; declared && type <= TABLES_TEXT; type++)
		if (sqlite3_stricmp(declared, tables_type_sql(type)) == 0)
			return type;
	return -1;
}

int query_step(struct query_statement *statement, struct kymo_err *err)
{
	int status = sqlite3_step(statement->sqlite);

	if (status == SQLITE_ROW)
		return 1;
	if (status == SQLITE_DONE)
		return 0;
	return fail(statement->query, sqlite3_sql(statement->sqlite), KYMO_EXIT_FAILED, err);
}

static void blob_text(struct query_statement *statement, unsigned column,
		      struct tables_value *value)
{
	const unsigned char *bytes = sqlite3_column_blob(statement->sqlite, (int)column);
	int size = sqlite3_column_bytes(statement->sqlite, (int)column);
	unsigned used = 0;

	value->scratch[0] = 0;
	for (int i = 0; i < size && used + 6 < sizeof(value->scratch); i++, used += 2)
		snprintf(value->scratch + used, sizeof(value->scratch) - used, "%02x%s", bytes[i],
			 i + 1 < size && used + 8 >= sizeof(value->scratch) ? "..." : "");
	value->is = TABLES_VALUE_TEXT;
	value->text = value->scratch;
}

void query_value(struct query_statement *statement, unsigned column, struct tables_value *value)
{
	switch (sqlite3_column_type(statement->sqlite, (int)column)) {
	case SQLITE_INTEGER:
		value->is = TABLES_VALUE_INTEGER;
		value->integer = sqlite3_column_int64(statement->sqlite, (int)column);
		break;
	case SQLITE_FLOAT:
		value->is = TABLES_VALUE_REAL;
		value->real = sqlite3_column_double(statement->sqlite, (int)column);
		break;
	case SQLITE_TEXT:
		value->is = TABLES_VALUE_TEXT;
		value->text = (const char *)sqlite3_column_text(statement->sqlite, (int)column);
		break;
	case SQLITE_BLOB:
		blob_text(statement, column, value);
		break;
	default:
		value->is = TABLES_VALUE_NULL;
	}
}
