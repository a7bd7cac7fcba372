/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the tables share. Not for others.
 *
 * Context of all functions: as table.h. Widths are columns of the terminal, not bytes.
 */
#ifndef KYMO_BASE_TABLE_INTERNAL_H
#define KYMO_BASE_TABLE_INTERNAL_H

#include <stdbool.h>

#include "base/json_text.h"
#include "base/table/table.h"
#include "base/text.h"

#define TABLE_COLUMNS_MAX 64
#define TABLE_CELL_MAX 4096	/* bytes of one text cell; longer ones are cut and end in "..." */

enum table_side { TABLE_LEFT, TABLE_RIGHT, TABLE_AS_OTHERS };

struct table_shape {
	size_t width;
	size_t digits, unit; /* widest number before a blank, widest unit behind it */
	size_t word;         /* the longest word of its sentences */
	unsigned rank; /* 0: the most important column; those of the highest are left out first */
	bool right;    /* a number was among its cells */
	bool says;     /* a cell was not empty */
	bool prose;    /* sentences, which are folded and not cut */
	bool cut;      /* to width, by table_fit_columns() */
	bool out;      /* left out, by table_fit_columns() */
};

struct table {
	FILE *out;
	enum table_format format;
	struct table_look look;
	enum table_mark mark;   /* of the next cell, fact or note */
	unsigned left_out;      /* columns of all sections */
	bool begun;		/* something was printed: the next section keeps a distance */
	bool first_key;		/* json: no key in the top object yet */
	int error;		/* errno of a failed allocation */
	int64_t (*stamp)(const void *context, int64_t ns);	/* of table_clock(); NULL: none */
	const void *stamp_context;

	/* The present section. */
	const struct table_column *columns;	/* NULL: no section is open; else: */
	struct table_column copy[TABLE_COLUMNS_MAX];
	unsigned column_count;
	unsigned column;	/* of the next cell */
	uint64_t rows;
	unsigned sections;

	/* Text: held cells, each an enum table_side, an enum table_mark, and a terminated string.
	 */
	struct table_shape shape[TABLE_COLUMNS_MAX];
	size_t blanks;          /* owed before the next cell */
	bool whole;             /* by table_whole() */
	bool header_done;
	struct json_text held;
	uint64_t held_rows;

	char clean[TABLE_CELL_MAX];	/* the text of a cell, made presentable */
};

/* One value, as it is written for people and for programs. */
struct table_spelling {
	const char *text;	/* for people; NULL: a dash, null, nothing */
	const char *exact;	/* csv, and json if it is a number */
	bool number;		/* to the right; no quotes in json */
};

/* ---- table_text.c ---- */

/** table_is_shown() - whether the column appears in text. */
static inline bool table_is_shown(const struct table *table, unsigned column)
{
	return table->columns[column].title && !table->shape[column].out;
}

/** table_text_title() - the line above a section. */
void table_text_title(struct table *table, const char *title);

/** table_text_hold() - keep the next cell until the widths are known. */
void table_text_hold(struct table *table, enum table_side side, const char *text);

/** table_text_row() - a row is complete: it is written when enough are held, or widths are
 * fixed. */
void table_text_row(struct table *table);

/** table_text_flush() - write the rows that are held. */
void table_text_flush(struct table *table);

/** table_text_fact() - "Title: value" */
void table_text_fact(struct table *table, const char *key, const char *title,
		     const struct table_spelling *value);

/** table_text_count() - the number of a cell or fact in column @key; a count is grouped in
 * thousands on a terminal, the name of something is not. */
const char *table_text_count(const struct table *table, const char *key, const char *digits,
			     char out[TEXT_QUANTITY_MAX]);

/** table_text_mark() - how a number in column @key is marked if nobody said it: losses are bad. */
enum table_mark table_text_mark(const char *key, const char *digits);

/* ---- table_json.c ---- */

/** table_json_key() - the next key of the top object. */
void table_json_key(struct table *table, const char *key);

/** table_json_value() - a value, of which nothing else is written yet. */
void table_json_value(struct table *table, const struct table_spelling *value);

/** table_json_cell() - the next cell of a row, with its key and what the row needs around it. */
void table_json_cell(struct table *table, const struct table_spelling *cell);

/* ---- table_fit.c ---- */

/** table_fit_columns() - shorten and leave out columns until a row fits the terminal. */
void table_fit_columns(struct table *table);

/** table_fit_rank() - the rank of a column of which table_rank() says nothing. */
unsigned table_fit_rank(const char *key, unsigned column);

/** table_fit_cell() - what a cell adds to the shape of its column. */
void table_fit_cell(struct table_shape *shape, const char *text, bool right);

/**
 * table_fit_fold() - bytes of the next line of @text in @width columns
 * @next: receives the bytes up to the line after it
 */
size_t table_fit_fold(const char *text, size_t width, size_t *next);

/** table_fit_lines() - print @text folded to the terminal; lines but the first begin with @indent
 * blanks. @at: columns that are taken in the first line. */
void table_fit_lines(struct table *table, const char *text, size_t at, size_t indent);

/** table_fit_width() - columns of the first @length bytes of @text. */
size_t table_fit_width(const char *text, size_t length);

/** table_fit_head() - bytes of the first @columns code points of @text, which is UTF-8. */
size_t table_fit_head(const char *text, size_t columns);

#endif
