/* SPDX-License-Identifier: Apache-2.0 */
/* What query.c (connection, statements), query_vtab.c, query_plan.c, query_store.c and
 * query_functions.c share. */
#ifndef KYMO_QUERY_INTERNAL_H
#define KYMO_QUERY_INTERNAL_H

#include <signal.h>
#include <sqlite3.h>

#include "query/query.h"

struct query {
	sqlite3 *db;
	struct tables *tables;
	volatile sig_atomic_t stopped;
	bool declaring; /* a virtual table of ours, not one that the SQL wants to create */
	void (*tick)(void *context, uint64_t events, double done);
	void *tick_context;
	struct query_store *store[TABLES];	/* kept tables; NULL: not needed so far */
};

/* A condition that SQLite hands over: column, relation, and the value in xFilter's arguments. */
struct query_condition {
	uint8_t column;
	enum tables_relation relation;
};
#define QUERY_CONDITIONS_MAX 16u

/* query_plan.c */

/* How a table is read. */
struct query_plan {
	struct query_condition condition[QUERY_CONDITIONS_MAX];
	unsigned conditions;
	uint64_t columns; /* those that are used, a bit each */
};

/** query_plan() - answer xBestIndex for @table: the plan becomes info->idxStr. Return: SQLITE_OK,
 * or SQLITE_NOMEM. */
int query_plan(const struct query *query, unsigned table, sqlite3_index_info *info);

/** query_plan_read() - @text: what query_plan() made, as xFilter gets it. */
void query_plan_read(struct query_plan *plan, const char *text);

/* query_vtab.c */
int query_register_tables(struct query *query);

/* query_functions.c */
int query_register_functions(sqlite3 *db);

/*
 * query_store.c: a table that was read once into a temporary database, with an index for each
 * column that a join looks rows up by. SQLite keeps the database in its page cache, and in a
 * temporary file when it grows; both vanish with the query.
 */
struct query_store;

/**
 * query_store() - the kept @table with at least the columns of the mask @columns; created if needed
 * Return: SQLITE_OK, or another code with @err filled.
 */
int query_store(struct query *query, unsigned table, uint64_t columns, struct query_store **store,
		struct kymo_err *err);
void query_store_free(struct query_store *store);

/**
 * query_store_select() - a statement for the rows that match @conditions, in the order of the table
 *
 * Its parameters are the values of the conditions; its column i is column i of the table, and the
 * last one the number of the row.
 * Return: the statement, or NULL when there is no memory.
 */
sqlite3_stmt *query_store_select(struct query_store *store,
				 const struct query_condition *conditions, unsigned count);

#endif
