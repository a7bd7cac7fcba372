/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables as a SQLite database: every table with its columns, with an index on its time and on the
 * ids that joins use. Two more tables describe them: `columns` documents each column, `trace` names
 * the trace and the version of kymo.
 */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "export/rows/rows_internal.h"
#include "base/array.h"
#include "base/text.h"

struct database {
	sqlite3 *db;
	sqlite3_stmt *insert[TABLES];
};

/* Joins look rows up by these, besides the time. */
static const char *const indexed[] = { "publication_id", "callback_id", "callback_instance_id" };

static int fail(const struct database *d, const struct rows_options *options, struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_FAILED, "cannot write %s: %s", options->path,
		       d->db ? sqlite3_errmsg(d->db) : "out of memory");
}

/* Return: 0, or a code of SQLite. */
static int execute(struct database *d, char *sql)
{
	int status = sql ? sqlite3_exec(d->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return status;
}

static int create_table(struct database *d, unsigned number)
{
	const struct tables_table *table = &tables_table[number];
	sqlite3_str *create = sqlite3_str_new(d->db), *insert = sqlite3_str_new(d->db);
	char *sql;
	int status;

	sqlite3_str_appendf(create, "CREATE TABLE \"%w\"(id INTEGER PRIMARY KEY", table->name);
	sqlite3_str_appendf(insert, "INSERT INTO \"%w\" VALUES (?1", table->name);
	for (unsigned i = 1; i < table->columns; i++) {
		sqlite3_str_appendf(create, ", \"%w\" %s", table->column[i].name,
				    tables_type_sql(table->column[i].type));
		sqlite3_str_appendf(insert, ", ?%u", i + 1);
	}
	sqlite3_str_appendall(create, ")");
	sqlite3_str_appendall(insert, ")");
	sql = sqlite3_str_finish(insert);
	status = execute(d, sqlite3_str_finish(create));
	if (!status)
		status = sql ? sqlite3_prepare_v3(d->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
						  &d->insert[number], NULL) : SQLITE_NOMEM;
	sqlite3_free(sql);
	return status;
}

static int document(struct database *d, const struct rows_options *options)
{
	int status = execute(d, sqlite3_mprintf(
		"CREATE TABLE trace(path TEXT, kymo TEXT);INSERT INTO trace VALUES (%Q, %Q);CREATE "
		"TABLE columns(\"table\" TEXT, \"column\" TEXT, type TEXT, unit TEXT, text TEXT)",
		options->trace, options->version));

	for (unsigned i = 0; i < TABLES && !status; i++) {
		const struct tables_table *table = &tables_table[i];

		if (!(options->tables & TABLES_BIT(i)))
			continue;
		status = execute(d, sqlite3_mprintf("INSERT INTO columns VALUES (%Q, NULL, NULL, NULL, %Q)",
						    table->name, table->text));
		for (unsigned j = 0; j < table->columns && !status; j++)
			status = execute(d, sqlite3_mprintf(
				"INSERT INTO columns VALUES (%Q, %Q, %Q, %Q, %Q)", table->name,
				table->column[j].name, tables_type_sql(table->column[j].type),
				tables_type_unit(table->column[j].type), table->column[j].text));
	}
	return status;
}

static int create(struct database *d, const struct rows_options *options)
{
	/* Nobody reads a half written export, so nothing has to survive a crash. */
	int status = execute(d, sqlite3_mprintf(
		"PRAGMA page_size = 16384; PRAGMA journal_mode = off; PRAGMA synchronous = off;"
		"PRAGMA locking_mode = exclusive; BEGIN"));

	for (unsigned i = 0; i < TABLES && !status; i++)
		if (options->tables & TABLES_BIT(i))
			status = create_table(d, i);
	return status ? status : document(d, options);
}

/* Readers of SQLite expect UTF-8. */
static int bind_text(sqlite3_stmt *insert, int place, const struct tables_value *value)
{
	char *copy;

	if (text_is_utf8(value->text))
		return sqlite3_bind_text(insert, place, value->text, -1,
					 value->text == value->scratch ? SQLITE_TRANSIENT
								       : SQLITE_STATIC);
	copy = text_utf8(value->text);
	return copy ? sqlite3_bind_text(insert, place, copy, -1, free) : SQLITE_NOMEM;
}

static int bind(sqlite3_stmt *insert, int place, const struct tables_value *value)
{
	switch (value->is) {
	case TABLES_VALUE_INTEGER:
		return sqlite3_bind_int64(insert, place, value->integer);
	case TABLES_VALUE_REAL:
		return sqlite3_bind_double(insert, place, value->real);
	case TABLES_VALUE_TEXT:
		return bind_text(insert, place, value);
	default:
		return sqlite3_bind_null(insert, place);
	}
}

struct insertion {
	struct database *d;
	const struct rows_options *options;
};

static int insert_row(void *context, const struct tables_row *row, struct kymo_err *err)
{
	const struct insertion *insertion = context;
	unsigned table = tables_row_table(row);
	sqlite3_stmt *insert = insertion->d->insert[table];
	struct tables_value value;
	int status = SQLITE_OK;

	for (unsigned i = 0; i < tables_table[table].columns && !status; i++) {
		tables_value(row, i, &value);
		status = bind(insert, (int)i + 1, &value);
	}
	if (!status && sqlite3_step(insert) == SQLITE_DONE)
		return sqlite3_reset(insert) ? fail(insertion->d, insertion->options, err) : 0;
	return fail(insertion->d, insertion->options, err);
}

static int create_index(struct database *d, unsigned table, int column)
{
	if (column < 0)
		return 0;
	return execute(d, sqlite3_mprintf("CREATE INDEX \"%w_%w\" ON \"%w\"(\"%w\")",
					  tables_table[table].name,
					  tables_table[table].column[column].name,
					  tables_table[table].name,
					  tables_table[table].column[column].name));
}

static int create_indexes(struct database *d, const struct rows_options *options)
{
	int status = 0;

	for (unsigned i = 0; i < TABLES && !status; i++) {
		if (!(options->tables & TABLES_BIT(i)) || tables_table[i].of_objects)
			continue;
		status = create_index(d, i, tables_window(i));
		for (size_t j = 0; j < COUNT_OF(indexed) && !status; j++)
			status = create_index(d, i, tables_column(i, indexed[j]));
	}
	return status;
}

static int fill(struct database *d, struct tables *tables, const struct rows_options *options,
		struct rows_result *result, struct kymo_err *err)
{
	struct insertion insertion = { d, options };

	if (create(d, options))
		return fail(d, options, err);
	if (rows_pass(tables, options, result, insert_row, &insertion, err))
		return -1;
	for (unsigned i = 0; i < TABLES; i++) {
		sqlite3_finalize(d->insert[i]);
		d->insert[i] = NULL;
	}
	if (create_indexes(d, options) || execute(d, sqlite3_mprintf("COMMIT")))
		return fail(d, options, err);
	return 0;
}

int sqlite_export(struct tables *tables, const struct rows_options *options,
		  struct rows_result *result, struct kymo_err *err)
{
	struct database d = { 0 };
	int status;

	if (sqlite3_open_v2(options->path, &d.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL))
		status = err_set(err, KYMO_EXIT_FAILED, "cannot write %s: %s; choose another file with -o",
				 options->path, d.db ? sqlite3_errmsg(d.db) : "out of memory");
	else
		status = fill(&d, tables, options, result, err);
	for (unsigned i = 0; i < TABLES; i++)
		sqlite3_finalize(d.insert[i]);
	if (sqlite3_close(d.db) && !status)
		status = fail(&d, options, err);
	return status;
}
