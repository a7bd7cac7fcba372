/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQL over a trace: the tables of analysis/tables/tables.h as virtual tables of SQLite. Nothing is
 * copied first: rows are decoded when SQLite asks for them, and conditions on ids, times and texts
 * are checked before a row reaches SQLite. Only a table that a join reads again and again is kept,
 * in a temporary file of SQLite, from its second reading on.
 *
 *   tables_open(&tables, paths, count, &err);
 *   query_open(&query, tables, &err);
 *   while ((more = query_begin(query, sql, &sql, &statement, &err)) > 0) {
 *       while ((more = query_step(statement, &err)) > 0)
 *           query_value(statement, column, &value);
 *       query_end(statement);
 *   }
 *   query_close(query);
 *
 * SQL is untrusted: it can read the tables and compute, nothing else. It cannot write, attach or
 * open files, or load extensions. It can take long; see query_interrupt().
 *
 * Context of all functions but query_interrupt(): allocate and block; a query belongs to one
 * thread.
 */
#ifndef KYMO_QUERY_QUERY_H
#define KYMO_QUERY_QUERY_H

#include <stdbool.h>

#include "analysis/tables/tables.h"
#include "base/err.h"

#define QUERY_COLUMNS_MAX 64u	/* of a result */

struct query;
struct query_statement;

/** query_open() - SQL over @tables, which must outlive the query. Return: 0, or -1 with @err
 * filled. */
int query_open(struct query **query, struct tables *tables, struct kymo_err *err);
void query_close(struct query *query);

/**
 * query_watch() - call @tick with the progress while events are read, see tables_watch()
 *
 * The query itself uses tables_watch(), to notice query_interrupt().
 */
void query_watch(struct query *query, void (*tick)(void *context, uint64_t events, double done),
		 void *context);

/** query_complete() - does @sql end with a whole statement, ";" included? */
bool query_complete(const char *sql);

/**
 * query_begin() - prepare the first statement of @sql
 * @rest: set to the text after it
 *
 * Return: 1; 0 if there are only blanks and comments; -1 with @err filled (KYMO_EXIT_USAGE): if
 * SQLite knows the place, with the line of the statement and a mark below it.
 */
int query_begin(struct query *query, const char *sql, const char **rest,
		struct query_statement **statement, struct kymo_err *err);
void query_end(struct query_statement *statement);

/* @column below: from 0, less than query_columns(). */
unsigned query_columns(const struct query_statement *statement);
const char *query_column(const struct query_statement *statement, unsigned column);

/** query_type() - the type of a column that comes straight from a table. Return: it, or -1. */
int query_type(const struct query_statement *statement, unsigned column);

/** query_step() - the next row. Return: 1; 0 at the end; -1 with @err. */
int query_step(struct query_statement *statement, struct kymo_err *err);

/** query_value() - of the present row; a text is valid until the next query_step() or query_end().
 * Blobs come as hexadecimal text, which ends with "..." if it is long. */
void query_value(struct query_statement *statement, unsigned column, struct tables_value *value);

/** query_interrupt() - end the running statement, with an error. Context: any thread, also a signal
 * handler. */
void query_interrupt(struct query *query);

#endif
