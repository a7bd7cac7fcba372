/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the tables share. Not for others. */
#ifndef KYMO_BASE_TABLE_INTERNAL_H
#define KYMO_BASE_TABLE_INTERNAL_H

#include <stdbool.h>

#include "base/json_text.h"
#include "base/table.h"

#define TABLE_COLUMNS_MAX 64
#define TABLE_CELL_MAX 4096	/* bytes of one text cell; longer ones are cut and end in "..." */

enum table_side { TABLE_LEFT, TABLE_RIGHT, TABLE_AS_OTHERS };

struct table_shape {
	size_t width;
	bool right;	/* a number was among its cells */
	bool cut;	/* to width, by table_fit() */
};

struct table {
	FILE *out;
	enum table_format format;
	bool bold;
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

	/* Text: held cells, each an enum table_side in one byte and a terminated string. */
	struct table_shape shape[TABLE_COLUMNS_MAX];
	size_t blanks;		/* owed before the next cell */
	size_t fit;		/* width of a row, or 0: as wide as it gets */
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
	return table->columns[column].title;
}

/** table_text_title() - the line above a section. */
void table_text_title(struct table *table, const char *title);

/** table_text_hold() - keep the next cell until the widths are known. */
void table_text_hold(struct table *table, enum table_side side, const char *text);

/** table_text_row() - a row is complete: it is written when enough are held, or widths are fixed. */
void table_text_row(struct table *table);

/** table_text_flush() - write the rows that are held. */
void table_text_flush(struct table *table);

/* ---- table_machine.c: JSON and CSV ---- */

void table_json_key(struct table *table, const char *key);
void table_json_value(struct table *table, const struct table_spelling *value);
void table_json_cell(struct table *table, const struct table_spelling *cell);

#endif
