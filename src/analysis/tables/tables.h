/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as tables. src/analysis/tables/tables.def defines all of them: names, columns, types,
 * documentation, and the source of each value.
 *
 *   tables_open(&tables, paths, count, &err);
 *   request.tables = TABLES_BIT(TABLE_messages);
 *   tables_scan(tables, &request, &scan, &err);
 *   while ((more = tables_next(scan, &row, &err)) > 0)
 *       tables_value(row, tables_column(TABLE_messages, "latency_ns"), &value);
 *   tables_scan_end(scan);
 *   tables_close(tables);
 *
 * The caller pulls rows. Each call reads only as many events as the next row needs, so a scan needs
 * the memory of the model: it grows with the objects of the trace, not with its length. One scan
 * can request several tables; their rows are then mixed, in the order in which they become known.
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
	/* Refers to a row of another table, or numbers the rows of its own table. */
	TABLES_ID,
	TABLES_COUNT,
	TABLES_NUMBER,
	TABLES_BOOL,
	TABLES_TIME,		/* nanoseconds since the Unix epoch */
	TABLES_WALL,		/* the same, read from the wall clock by a program */
	TABLES_DURATION,	/* nanoseconds */
	TABLES_ADDRESS,		/* has a meaning only within its process */
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
	/* Documentation: one line, begins in lower case, no full stop. */
	const char *text;
};

struct tables_table {
	const char *name;
	const char *text;		/* documentation: sentences */
	const struct tables_column *column;
	unsigned columns;		/* the first one is `id`, 1 at the first row */
	/* Known only after a pass over the whole trace; the row with id n is row n. */
	bool of_objects;
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

/** tables_find() - the number of the table @name. Return: -1: no such table. */
int tables_find(const char *name);

/** tables_column() - the number of the column @name of @table. Return: -1: no such column. */
int tables_column(unsigned table, const char *name);

/** tables_numbered() - are the rows of @table in the order of their ids? */
bool tables_numbered(unsigned table);

/** tables_order() - the column, other than id, by which the rows of @table are sorted; -1: none. */
int tables_order(unsigned table);

/** tables_window() - the column that a time window compares in @table; -1: none. */
int tables_window(unsigned table);

struct align;
struct behaviours;
struct captures;
struct model;
struct tables;

/**
 * tables_open() - open the traces @path, @paths of them, at least one, as one trace; traces of
 * several hosts are read once to compare their clocks
 *
 * Return: 0, or -1 with @err filled (KYMO_EXIT_INPUT: one of them is not a trace).
 */
int tables_open(struct tables **tables, const char *const *path, unsigned paths,
		struct kymo_err *err);
void tables_close(struct tables *tables);

/**
 * tables_borrow() - use the objects of @model, which has read the whole trace, instead of reading
 * them again
 * @model: of the same traces; must stay valid as long as @tables
 */
void tables_borrow(struct tables *tables, struct model *model);

/**
 * tables_reader() - open a reader of the traces, with the times of the tables.
 *
 * Return: 0, or -1 with @err.
 */
int tables_reader(const struct tables *tables, struct kymo_ctf_reader **reader,
		  struct kymo_err *err);

/**
 * tables_align() - the comparison of the hosts' clocks; NULL: the traces are of one host. Belongs
 * to @tables.
 */
const struct align *tables_align(const struct tables *tables);

/** tables_warnings() - the warnings of all readers of this trace so far, each text once. */
unsigned tables_warnings(const struct tables *tables);
const char *tables_warning(const struct tables *tables, unsigned index);

/** tables_files() - the files of this machine that values so far came from or were missing in,
 * some more than once. */
void tables_files(const struct tables *tables, void (*each)(void *context, const char *path),
		  void *context);

/**
 * tables_lost() - number of events and packets lost during recording, as far as the scans so far
 * have read.
 */
uint64_t tables_lost(const struct tables *tables);

/**
 * tables_watch() - call @tick from time to time while events are read
 * @tick: receives the number of events read in this scan, and the part of the trace that is done,
 *   0..1; a result other than 0 ends the scan: tables_next() returns -1, and err.status is
 *   KYMO_EXIT_FAILED
 */
void tables_watch(struct tables *tables,
		  int (*tick)(void *context, uint64_t events, double done), void *context);

/**
 * tables_clock() - use times of a simulation in all scans that begin from now on; NULL: system
 * time, the default
 * @clock: must stay valid as long as @tables
 *
 * Points in time are then stamps of this clock, which may go back; durations are elapsed times of
 * the simulation.
 */
void tables_clock(struct tables *tables, const struct simclock *clock);

/**
 * tables_set_window() - how long the windows of the table `windows` are, in all scans that begin
 * from now on
 * @length_ns: 0: one second, the default
 *
 * Return: 0, or -1 with @err (KYMO_EXIT_USAGE): less than a millisecond.
 */
int tables_set_window(struct tables *tables, int64_t length_ns, struct kymo_err *err);

/**
 * tables_set_behaviours() - the model of which the table `behaviours` has the rows, in all scans
 * that begin from now on; NULL: none
 * @behaviours: must stay valid as long as @tables
 */
void tables_set_behaviours(struct tables *tables, const struct behaviours *behaviours);

/**
 * tables_set_captures() - the captured packets of which the table `packets` has the rows, in all
 * scans that begin from now on; NULL: none
 * @captures: must stay valid as long as @tables
 */
void tables_set_captures(struct tables *tables, const struct captures *captures);

/** tables_in_order() - are the rows of a table with a tables_order() sorted by that column? */
bool tables_in_order(const struct tables *tables);

/**
 * tables_select() - select rows for all scans that begin from now on
 * @selection: copied; NULL: all. Rows that name nodes, topics or processes must name a selected
 *   one; rows that name none stay
 * @begin_ns, @end_ns: window for events (tables_window()), in elapsed times if a tables_clock() is
 *   set; objects stay. INT64_MIN, INT64_MAX: all
 *
 * Return: 0, or -1 with @err: the names of processes are read from the whole trace.
 */
int tables_select(struct tables *tables, const struct selection *selection, int64_t begin_ns,
		  int64_t end_ns, struct kymo_err *err);

/* A condition: rows that do not fulfil it are skipped. NULL fulfils no condition. */
struct tables_filter {
	uint8_t table, column;
	enum tables_relation { TABLES_EQ, TABLES_GT, TABLES_GE, TABLES_LT, TABLES_LE } relation;
	int64_t number;			/* for columns of integers */
	bool elapsed;			/* an elapsed time of the tables_clock(), not a stamp */
	/* For columns of text, TABLES_EQ only; must stay valid as long as the scan. */
	const char *text;
};

struct tables_request {
	uint64_t tables;		/* TABLES_BIT() of each */
	const struct tables_filter *filter;	/* copied */
	unsigned filters;
	/* The caller does not need the ids of events, so a window need not count them. */
	bool without_id;
};

struct tables_scan;
struct tables_row;

/** tables_scan() - begin a scan. Return: 0, or -1 with @err filled. */
int tables_scan(struct tables *tables, const struct tables_request *request,
		struct tables_scan **scan, struct kymo_err *err);
void tables_scan_end(struct tables_scan *scan);

/**
 * tables_next() - read the next row; it is valid until the next call.
 *
 * Return: 1; 0 at the end; -1 with @err.
 */
int tables_next(struct tables_scan *scan, const struct tables_row **row, struct kymo_err *err);

/** tables_row_table() - the table of @row. */
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

/** tables_value() - the value of one column of @row. Context: allocates only for events.json. */
void tables_value(const struct tables_row *row, unsigned column, struct tables_value *value);

#endif
