/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by first.c (head, next), first_findings.c and first_tables.c. */
#ifndef KYMO_REPORT_FIRST_INTERNAL_H
#define KYMO_REPORT_FIRST_INTERNAL_H

#include "report/first/first.h"

/* Of a pipe and of a small terminal. */
#define FIRST_WIDTH 80u
#define FIRST_LINES 23u /* a prompt follows */
/* Longer lines are hard to read. */
#define FIRST_WIDTH_MAX 140u
#define FIRST_INCOMPLETE "INCOMPLETE:" /* a blank follows */
#define FIRST_FINDINGS 5u
#define FIRST_FINDINGS_LINES 9u /* more findings than two only as far as these go */

/* What the terminal of @table has room for. */
unsigned first_width(const struct table *table);
unsigned first_lines(const struct table *table);

/*
 * @text in lines of up to first_width() columns, @indent before each but the first. Return: lines.
 */
unsigned first_fold(struct table *table, const char *first, const char *indent, const char *text,
		    bool print);
/* How many rows of the terminal a line needs: a long command is not cut, but wrapped by it. */
unsigned first_rows(const struct table *table, size_t columns);
/* Names that are longer than @width lose their middle. Return: @buffer. */
char *first_short(char *buffer, size_t size, const char *name, unsigned width);

/* first_findings.c: the findings as text, in about @room lines, but at least one. Return: lines. */
unsigned first_text_findings(struct table *table, const struct summary *summary,
			     const struct first_options *options, unsigned room);

/* How many rows each kind of table has. */
#define FIRST_KINDS 5u
#define FIRST_ROWS 5u
struct first_room {
	const char *operand; /* as in struct first_options */
	bool is_file;        /* as in struct first_options */
	unsigned rows[FIRST_KINDS];
};

/* first_list.c: the entities of a kind, longest first. */
struct first_row {
	const struct summary_entity *entity; /* of several that are one row, the worst */
	uint64_t key;
	unsigned alike; /* how many entities are this row, */
	bool is_folded; /* and those that no row has */
};
struct first_list {
	struct first_row *row;
	unsigned count, size;
	unsigned hidden; /* how many belong to the start of nodes, and are not in it */
};
struct first_list first_list(const struct summary *summary, enum summary_kind kind,
			     enum summary_distribution by);
/* How many entities the rows behind the first @rows are. */
unsigned first_left(const struct first_list *list, unsigned rows);

/*
 * All entities of @row as one: "12 x /drone timer 10 ms", with the distribution @by and counters of
 * all. Its histogram is to be freed. @label: its own. Return: 0; -1: no memory.
 */
int first_whole(const struct summary *summary, const struct first_row *row,
		enum summary_distribution by, struct summary_entity *whole, char *label,
		size_t size);

/* first_tables.c: the tables. Return: lines. */
unsigned first_tables(struct table *table, const struct summary *summary,
		      const struct first_room *room, bool print);
/* As many rows as there is room for below @lines lines; the longest tables lose theirs first,
 * and of their last ones those of chains are kept. */
void first_fit(struct table *table, const struct summary *summary, unsigned lines,
	       struct first_room *room);

/* first_tables.c: three cells: the usual value, 99 %, and the largest. */
void first_cells_times(struct table *table, const struct histogram *histogram);

#endif
