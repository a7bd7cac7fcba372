/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that a join reads again and again. See query_internal.h. */
#include <stdlib.h>

#include "query/query_internal.h"

struct query_store {
	sqlite3 *db;
	unsigned table;
	uint64_t columns;	/* that are kept; others are NULL */
	uint64_t indexed;
};

#define KEPT(store, column) ((store)->columns >> (column) & 1)

static int execute(sqlite3 *db, char *sql)
{
	int status = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return status;
}

/* "c0, NULL, c2": what is kept, by its number. */
static char *column_list(const struct query_store *store)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	for (unsigned i = 0; i < tables_table[store->table].columns; i++) {
		if (i)
			sqlite3_str_appendall(text, ", ");
		if (KEPT(store, i))
			sqlite3_str_appendf(text, "c%u", i);
		else
			sqlite3_str_appendall(text, "NULL");
	}
	return sqlite3_str_finish(text);
}

static int create(struct query_store *store, sqlite3_stmt **insert)
{
	sqlite3_str *table = sqlite3_str_new(NULL), *values = sqlite3_str_new(NULL);
	char *names, *places, *sql;
	int status;

	for (unsigned i = 0; i < tables_table[store->table].columns; i++)
		if (KEPT(store, i)) {
			sqlite3_str_appendf(table, ", c%u", i);
			sqlite3_str_appendf(values, ", ?%u", i + 1);
		}
	names = sqlite3_str_finish(table);
	places = sqlite3_str_finish(values);
	status = execute(store->db, sqlite3_mprintf(
		"PRAGMA journal_mode = off; PRAGMA synchronous = off; BEGIN;"
		"CREATE TABLE t(n INTEGER PRIMARY KEY%s)", names ? names : ""));
	sql = sqlite3_mprintf("INSERT INTO t VALUES (NULL%s)", places ? places : "");
	if (!status)
		status = sql ? sqlite3_prepare_v2(store->db, sql, -1, insert, NULL) : SQLITE_NOMEM;
	sqlite3_free(sql);
	sqlite3_free(names);
	sqlite3_free(places);
	return status;
}

static int add_row(const struct query_store *store, sqlite3_stmt *insert,
		   const struct tables_row *row)
{
	struct tables_value value;
	int status = SQLITE_OK;

	for (unsigned i = 0; i < tables_table[store->table].columns && !status; i++) {
		if (!KEPT(store, i))
			continue;
		tables_value(row, i, &value);
		if (value.is == TABLES_VALUE_INTEGER)
			status = sqlite3_bind_int64(insert, (int)i + 1, value.integer);
		else if (value.is == TABLES_VALUE_REAL)
			status = sqlite3_bind_double(insert, (int)i + 1, value.real);
		else if (value.is == TABLES_VALUE_TEXT)
			status = sqlite3_bind_text(insert, (int)i + 1, value.text, -1,
						   SQLITE_TRANSIENT);
		else
			status = sqlite3_bind_null(insert, (int)i + 1);
	}
	if (status || sqlite3_step(insert) != SQLITE_DONE)
		return status ? status : sqlite3_errcode(store->db);
	return sqlite3_reset(insert);
}

static int fill(struct query_store *store, struct tables *tables, sqlite3_stmt *insert,
		struct kymo_err *err)
{
	struct tables_request request = { .tables = TABLES_BIT(store->table) };
	const struct tables_row *row;
	struct tables_scan *scan;
	int status = SQLITE_OK, more = 0;

	if (tables_scan(tables, &request, &scan, err))
		return SQLITE_ERROR;
	while (!status && (more = tables_next(scan, &row, err)) > 0)
		status = add_row(store, insert, row);
	tables_scan_end(scan);
	if (status)
		err_set(err, KYMO_EXIT_FAILED, "cannot keep the table %s in a temporary file: %s",
			tables_table[store->table].name, sqlite3_errstr(status));
	return more < 0 ? SQLITE_ERROR : status;
}

void query_store_free(struct query_store *store)
{
	if (!store)
		return;
	sqlite3_close_v2(store->db);	/* when the last statement on it is gone */
	free(store);
}

int query_store(struct query *query, unsigned table, uint64_t columns, struct query_store **result,
		struct kymo_err *err)
{
	struct query_store *store = query->store[table];
	sqlite3_stmt *insert = NULL;
	int status;

	*result = store;
	if (store && !(columns & ~store->columns))
		return SQLITE_OK;
	if (store)
		columns |= store->columns;
	store = calloc(1, sizeof(*store));
	if (!store)
		return SQLITE_NOMEM;
	store->table = table;
	store->columns = columns;
	status = sqlite3_open_v2("", &store->db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
				 NULL);
	if (!status)
		status = create(store, &insert);
	if (status)
		err_set(err, KYMO_EXIT_FAILED, "cannot create a temporary file for the table %s: %s",
			tables_table[table].name, sqlite3_errstr(status));
	else
		status = fill(store, query->tables, insert, err);
	sqlite3_finalize(insert);
	if (status) {
		query_store_free(store);
		return status;
	}
	query_store_free(query->store[table]);
	query->store[table] = *result = store;
	return SQLITE_OK;
}

/* A statement uses one index; an index for an equality is the best. */
static void make_index(struct query_store *store, const struct query_condition *conditions,
		       unsigned count)
{
	unsigned best = 0;

	for (unsigned i = 0; i < count; i++)
		if (conditions[i].relation == TABLES_EQ) {
			best = i;
			break;
		}
	if (!count || store->indexed >> conditions[best].column & 1)
		return;
	/* Without it everything is slower, not wrong. */
	(void)execute(store->db, sqlite3_mprintf("CREATE INDEX i%u ON t(c%u)", conditions[best].column,
						 conditions[best].column));
	store->indexed |= UINT64_C(1) << conditions[best].column;
}

sqlite3_stmt *query_store_select(struct query_store *store,
				 const struct query_condition *conditions, unsigned count)
{
	static const char *const relations[] = { "=", ">", ">=", "<", "<=" };
	char *list = column_list(store), *sql;
	sqlite3_str *text = sqlite3_str_new(NULL);
	sqlite3_stmt *select = NULL;

	make_index(store, conditions, count);
	sqlite3_str_appendf(text, "SELECT %s, n FROM t", list ? list : "");
	sqlite3_free(list);
	for (unsigned i = 0; i < count; i++)
		sqlite3_str_appendf(text, " %s c%u %s ?%u", i ? "AND" : "WHERE", conditions[i].column,
				    relations[conditions[i].relation], i + 1);
	sqlite3_str_appendall(text, " ORDER BY n");
	sql = sqlite3_str_finish(text);
	if (sql && sqlite3_prepare_v2(store->db, sql, -1, &select, NULL))
		select = NULL;
	sqlite3_free(sql);
	return select;
}
