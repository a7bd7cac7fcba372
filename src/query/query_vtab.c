/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a trace as virtual tables. Each exists under its name without being created
 * ("eponymous"). What is read under which conditions is in query_plan.c.
 */
#include <string.h>

#include "query/query_internal.h"

struct vtab {
	sqlite3_vtab base;
	struct query *query;
	unsigned table;
};

struct vtab_cursor {
	sqlite3_vtab_cursor base;
	struct query_plan plan;
	bool read_before;		/* a join reads it again */
	bool at_end;

	sqlite3_value *held[QUERY_CONDITIONS_MAX];	/* texts that the scan compares with */

	struct tables_scan *scan;	/* it comes from the trace, */
	const struct tables_row *row;
	sqlite3_stmt *kept;		/* or from the store */
	char *kept_plan;		/* the text of its plan */
	struct tables_value value;
};

/* ---- connecting ---- */

static int on_connect(sqlite3 *db, void *context, int argc, const char *const *argv,
		      sqlite3_vtab **result, char **error)
{
	const struct tables_table *table;
	struct vtab *vtab = sqlite3_malloc(sizeof(*vtab));
	sqlite3_str *text = sqlite3_str_new(db);
	char *sql;
	int number = tables_find(argv[0]), status;

	(void)argc;
	if (number < 0 || !vtab) {
		sqlite3_free(vtab);
		sqlite3_free(sqlite3_str_finish(text));
		return vtab ? SQLITE_ERROR : SQLITE_NOMEM;
	}
	table = &tables_table[number];
	sqlite3_str_appendall(text, "CREATE TABLE x(");
	for (unsigned i = 0; i < table->columns; i++)
		sqlite3_str_appendf(text, "%s\"%w\" %s", i ? ", " : "", table->column[i].name,
				    tables_type_sql(table->column[i].type));
	sqlite3_str_appendall(text, ")");
	sql = sqlite3_str_finish(text);
	((struct query *)context)->declaring = true;
	status = sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;
	((struct query *)context)->declaring = false;
	sqlite3_free(sql);
	if (status) {
		*error = sqlite3_mprintf("%s", sqlite3_errmsg(db));
		sqlite3_free(vtab);
		return status;
	}
	sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	memset(vtab, 0, sizeof(*vtab));
	vtab->query = context;
	vtab->table = (unsigned)number;
	*result = &vtab->base;
	return SQLITE_OK;
}

static int on_disconnect(sqlite3_vtab *base)
{
	sqlite3_free(base);
	return SQLITE_OK;
}

static int on_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct vtab *vtab = (struct vtab *)base;

	return query_plan(vtab->query, vtab->table, info);
}

/* ---- reading ---- */

static int on_open(sqlite3_vtab *base, sqlite3_vtab_cursor **result)
{
	struct vtab_cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	(void)base;
	if (!cursor)
		return SQLITE_NOMEM;
	memset(cursor, 0, sizeof(*cursor));
	*result = &cursor->base;
	return SQLITE_OK;
}

static void drop_kept(struct vtab_cursor *cursor)
{
	sqlite3_finalize(cursor->kept);
	cursor->kept = NULL;
	sqlite3_free(cursor->kept_plan);
	cursor->kept_plan = NULL;
}

static void end_scan(struct vtab_cursor *cursor)
{
	tables_scan_end(cursor->scan);
	cursor->scan = NULL;
	for (unsigned i = 0; i < QUERY_CONDITIONS_MAX; i++) {
		sqlite3_value_free(cursor->held[i]);
		cursor->held[i] = NULL;
	}
}

static int on_close(sqlite3_vtab_cursor *base)
{
	struct vtab_cursor *cursor = (struct vtab_cursor *)base;

	end_scan(cursor);
	drop_kept(cursor);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int fail(struct vtab_cursor *cursor, const struct kymo_err *err)
{
	struct vtab *vtab = (struct vtab *)cursor->base.pVtab;

	if (vtab->query->stopped)
		return SQLITE_INTERRUPT;
	sqlite3_free(vtab->base.zErrMsg);
	vtab->base.zErrMsg = sqlite3_mprintf("%s", err->text);
	return SQLITE_ERROR;
}

static int on_next(sqlite3_vtab_cursor *base)
{
	struct vtab_cursor *cursor = (struct vtab_cursor *)base;
	struct kymo_err err = { 0 };
	int more;

	if (cursor->kept) {
		more = sqlite3_step(cursor->kept);
		cursor->at_end = more != SQLITE_ROW;
		return more == SQLITE_ROW || more == SQLITE_DONE ? SQLITE_OK : more;
	}
	more = tables_next(cursor->scan, &cursor->row, &err);
	cursor->at_end = more <= 0;
	return more < 0 ? fail(cursor, &err) : SQLITE_OK;
}

/*
 * Values of a type that the column does not have are left to SQLite, which checks every row again.
 * Return: the number of filters; -1: no row can match.
 */
static int make_filters(struct vtab_cursor *cursor, unsigned table, sqlite3_value **argv,
			struct tables_filter *filter)
{
	int count = 0;

	for (unsigned i = 0; i < cursor->plan.conditions; i++) {
		const struct query_condition *condition = &cursor->plan.condition[i];
		bool is_text = tables_table[table].column[condition->column].type == TABLES_TEXT;
		int type = sqlite3_value_type(argv[i]);

		if (type == SQLITE_NULL)
			return -1;
		if (type != (is_text ? SQLITE_TEXT : SQLITE_INTEGER))
			continue;
		if (is_text) {
			cursor->held[i] = sqlite3_value_dup(argv[i]);
			if (!cursor->held[i])
				continue;
		}
		filter[count++] = (struct tables_filter){
			.table = (uint8_t)table,
			.column = condition->column,
			.relation = condition->relation,
			.number = is_text ? 0 : sqlite3_value_int64(argv[i]),
			.text = is_text ? (const char *)sqlite3_value_text(cursor->held[i]) : NULL,
		};
	}
	return count;
}

static int read_trace(struct vtab_cursor *cursor, sqlite3_value **argv)
{
	struct vtab *vtab = (struct vtab *)cursor->base.pVtab;
	struct tables_filter filter[QUERY_CONDITIONS_MAX];
	int filters = make_filters(cursor, vtab->table, argv, filter);
	struct tables_request request = {
		.tables = TABLES_BIT(vtab->table),
		.filter = filter,
		.filters = filters < 0 ? 0 : (unsigned)filters,
		.without_id = !(cursor->plan.columns & 1),
	};
	struct kymo_err err = { 0 };

	cursor->at_end = true;
	if (filters < 0)
		return SQLITE_OK;
	if (tables_scan(vtab->query->tables, &request, &cursor->scan, &err))
		return fail(cursor, &err);
	return on_next(&cursor->base);
}

static int read_kept(struct vtab_cursor *cursor, const char *plan, sqlite3_value **argv)
{
	struct vtab *vtab = (struct vtab *)cursor->base.pVtab;
	struct query_store *store;
	struct kymo_err err = { 0 };
	int status;

	if (!cursor->kept || strcmp(cursor->kept_plan, plan) != 0) {
		drop_kept(cursor);
		status = query_store(vtab->query, vtab->table, cursor->plan.columns, &store, &err);
		if (status == SQLITE_NOMEM)
			return status;
		if (status)
			return fail(cursor, &err);
		cursor->kept_plan = sqlite3_mprintf("%s", plan);
		cursor->kept = query_store_select(store, cursor->plan.condition,
						  cursor->plan.conditions);
		if (!cursor->kept || !cursor->kept_plan) {
			drop_kept(cursor);
			return SQLITE_NOMEM;
		}
	}
	sqlite3_reset(cursor->kept);
	for (unsigned i = 0; i < cursor->plan.conditions; i++) {
		status = sqlite3_bind_value(cursor->kept, (int)i + 1, argv[i]);
		if (status)
			return status;
	}
	return on_next(&cursor->base);
}

static int on_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
		     sqlite3_value **argv)
{
	struct vtab_cursor *cursor = (struct vtab_cursor *)base;
	unsigned table = ((struct vtab *)base->pVtab)->table;
	bool again = cursor->read_before && !tables_table[table].of_objects;

	(void)number, (void)argc;
	end_scan(cursor);
	cursor->read_before = true;
	query_plan_read(&cursor->plan, plan);
	return again ? read_kept(cursor, plan, argv) : read_trace(cursor, argv);
}

static int on_eof(sqlite3_vtab_cursor *base)
{
	return ((struct vtab_cursor *)base)->at_end;
}

static int on_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct vtab_cursor *cursor = (struct vtab_cursor *)base;
	struct tables_value *value = &cursor->value;

	if (cursor->kept) {
		sqlite3_result_value(context, sqlite3_column_value(cursor->kept, column));
		return SQLITE_OK;
	}
	tables_value(cursor->row, (unsigned)column, value);
	switch (value->is) {
	case TABLES_VALUE_INTEGER:
		sqlite3_result_int64(context, value->integer);
		break;
	case TABLES_VALUE_REAL:
		sqlite3_result_double(context, value->real);
		break;
	case TABLES_VALUE_TEXT:
		sqlite3_result_text(context, value->text, -1, SQLITE_TRANSIENT);
		break;
	case TABLES_VALUE_NULL:
		break;
	}
	return SQLITE_OK;
}

static int on_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
	struct vtab_cursor *cursor = (struct vtab_cursor *)base;

	if (cursor->kept) {
		*rowid = sqlite3_column_int64(cursor->kept,
					      sqlite3_column_count(cursor->kept) - 1);
		return SQLITE_OK;
	}
	tables_value(cursor->row, 0, &cursor->value);
	*rowid = cursor->value.integer;
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.iVersion = 2,
	.xConnect = on_connect,
	.xBestIndex = on_best_index,
	.xDisconnect = on_disconnect,
	.xDestroy = on_disconnect,
	.xOpen = on_open,
	.xClose = on_close,
	.xFilter = on_filter,
	.xNext = on_next,
	.xEof = on_eof,
	.xColumn = on_column,
	.xRowid = on_rowid,
};

int query_register_tables(struct query *query)
{
	int status = SQLITE_OK;

	for (unsigned i = 0; i < TABLES && !status; i++)
		status = sqlite3_create_module_v2(query->db, tables_table[i].name, &module, query,
						  NULL);
	return status;
}
