/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace says, as tables. src/analysis/tables/tables.def defines them all: names, columns, types,
 * documentation, and where each value comes from.
 *
 *   tables_open(&tables, paths, count, &err);
 *   tables_scan(tables, &(struct tables_request){ .tables = TABLES_BIT(TABLE_messages) }, &scan, &err);
 *   while ((more = tables_next(scan, &row, &err)) > 0)
 *       tables_value(row, tables_column(TABLE_messages, "latency_ns"), &value);
 *   tables_scan_end(scan);
 *   tables_close(tables);
 *
 * Rows are pulled. Each step reads just as many events as the next row needs, so the memory of a
 * scan is that of the model: it grows with the objects of the trace, not with its length. Several
 * tables can be asked for in one scan; their rows then come mixed, in the order they become known.
 *
 * Ids count from 1 in order of appearance and are the same in every scan of a trace.
 *
 * Context of all functions: allocate and block; a struct tables and its scans belong to one thread.
 */
#ifndef KYMO_ANALYSIS_TABLES_H
#define KYMO_ANALYSIS_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/simclock/simclock.h"
#include "base/err.h"
#include "base/selection.h"
#include "ctf/read/reader.h"

enum tables_type {
	TABLES_ID,		/* refers to a row of another table, or numbers the own */
	TABLES_COUNT,
	TABLES_NUMBER,
	TABLES_BOOL,
	TABLES_TIME,		/* nanoseconds since the Unix epoch */
	TABLES_WALL,		/* likewise, as a program read its wall clock */
	TABLES_DURATION,	/* nanoseconds */
	TABLES_ADDRESS,		/* means something only within its process */
	TABLES_REAL,
	TABLES_TEXT,
};

/** tables_type_sql() - the type in SQL: "DURATION INTEGER". */
const char *tables_type_sql(enum tables_type type);

/** tables_type_unit() - "ns", "ns since 1970", or "". */
const char *tables_type_unit(enum tables_type type);

struct tables_column {
	const char *name;
	enum tables_type type;
	const char *text;		/* documentation, one line, begins small, no full stop */
};

struct tables_table {
	const char *name;
	const char *text;		/* documentation, sentences */
	const struct tables_column *column;
	unsigned columns;		/* the first one is `id`, 1 at the first row */
	bool of_objects;		/* known only after a pass over the whole trace; id n is row n */
};

/* TABLE_nodes, ... */
enum tables_id {
#define OBJECTS(name, ...) TABLE_##name,
#define ROWS(name, ...) TABLE_##name,
#define COLUMN(...)
#define END
#include "analysis/tables/tables.def"
	TABLES
#undef OBJECTS
#undef ROWS
#undef COLUMN
#undef END
};
#define TABLES_BIT(table) (UINT64_C(1) << (table))

extern const struct tables_table tables_table[TABLES];

/** tables_find() - the table named @name. Return: its number, or -1. */
int tables_find(const char *name);

/** tables_column() - the column of @table named @name. Return: its number, or -1. */
int tables_column(unsigned table, const char *name);

/** tables_numbered() - do the rows of @table come in the order of their ids? */
bool tables_numbered(unsigned table);

/** tables_order() - the column that the rows of @table come sorted by, beside id; -1: none. */
int tables_order(unsigned table);

/** tables_window() - the column that a time window on @table is about; -1: none. */
int tables_window(unsigned table);

struct align;
struct model;
struct tables;

/**
 * tables_open() - @paths traces, at least one, as one; those of several hosts are read once, to compare their clocks
 *
 * Return: 0, or -1 with @err filled (KYMO_EXIT_INPUT: one is none).
 */
int tables_open(struct tables **tables, const char *const *path, unsigned paths, struct kymo_err *err);
void tables_close(struct tables *tables);

/**
 * tables_borrow() - take the objects of the trace from @model, which has read all of it, instead of reading them
 * @model: of the same traces; must live as long as @tables
 */
void tables_borrow(struct tables *tables, struct model *model);

/** tables_reader() - a reader of the traces, with times as the tables have them. Return: 0, or -1 with @err. */
int tables_reader(const struct tables *tables, struct kymo_ctf_reader **reader, struct kymo_err *err);

/** tables_align() - how the clocks of their hosts compare; NULL: there is one host. Belongs to @tables. */
const struct align *tables_align(const struct tables *tables);

/** tables_warnings() - what readers of this trace forgave so far, each text once. */
unsigned tables_warnings(const struct tables *tables);
const char *tables_warning(const struct tables *tables, unsigned index);

/** tables_lost() - events lost while recording, as far as the scans so far saw; packets too. */
uint64_t tables_lost(const struct tables *tables);

/**
 * tables_watch() - have @tick called now and then while events are read
 * @tick: gets the events read so far in this scan and the part of the trace that is done, 0..1;
 *        other than 0 ends the scan: tables_next() gives -1 and err.status is KYMO_EXIT_FAILED
 */
void tables_watch(struct tables *tables,
		  int (*tick)(void *context, uint64_t events, double done), void *context);

/**
 * tables_clock() - times of a simulation in all scans that begin from now on; NULL: of the system, as at first
 * @clock: must live as long as @tables
 *
 * Points in time are then stamps of its clock, which may go back, and durations what passed in it.
 */
void tables_clock(struct tables *tables, const struct simclock *clock);

/** tables_in_order() - do rows of a table that has a tables_order() come in that order? */
bool tables_in_order(const struct tables *tables);

/**
 * tables_select() - leave rows out of all scans that begin from now on
 * @selection: copied; NULL: all. Rows that name nodes, topics or processes must name one that is
 *             selected; rows that name none stay
 * @begin_ns, @end_ns: of what happened (tables_window()), elapsed times if there is a tables_clock(); objects stay. INT64_MIN, INT64_MAX: all
 *
 * Return: 0, or -1 with @err: names of processes are learned from the whole trace.
 */
int tables_select(struct tables *tables, const struct selection *selection, int64_t begin_ns,
		  int64_t end_ns, struct kymo_err *err);

/* Rows that do not fulfil it are not given. NULL fulfils nothing. */
struct tables_filter {
	uint8_t table, column;
	enum tables_relation { TABLES_EQ, TABLES_GT, TABLES_GE, TABLES_LT, TABLES_LE } relation;
	int64_t number;			/* for columns of integers */
	bool elapsed;			/* it is no stamp, but an elapsed time of the tables_clock() */
	const char *text;		/* for columns of text, TABLES_EQ only; must live as long as the scan */
};

struct tables_request {
	uint64_t tables;		/* TABLES_BIT() of each */
	const struct tables_filter *filter;	/* copied */
	unsigned filters;
	bool without_id;		/* nobody asks for the id of events: a window need not count */
};

struct tables_scan;
struct tables_row;

/** tables_scan() - begin a scan. Return: 0, or -1 with @err filled. */
int tables_scan(struct tables *tables, const struct tables_request *request,
		struct tables_scan **scan, struct kymo_err *err);
void tables_scan_end(struct tables_scan *scan);

/** tables_next() - the next row; valid until the next call. Return: 1; 0 at the end; -1 with @err. */
int tables_next(struct tables_scan *scan, const struct tables_row **row, struct kymo_err *err);

/** tables_row_table() - the table @row is of. */
unsigned tables_row_table(const struct tables_row *row);

struct tables_value {
	enum { TABLES_VALUE_NULL, TABLES_VALUE_INTEGER, TABLES_VALUE_REAL, TABLES_VALUE_TEXT } is;
	union {
		int64_t integer;
		double real;
		const char *text;	/* valid as long as the row and this struct */
	};
	char scratch[512];
};

/** tables_value() - one column of @row. Context: allocates only for events.json. */
void tables_value(const struct tables_row *row, unsigned column, struct tables_value *value);

#endif
