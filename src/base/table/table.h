/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables as every verb prints them: for people, as JSON, as CSV. A verb describes its columns
 * once; the key of a column is its name in all three formats.
 *
 *   table  aligned columns, numbers to the right, units scaled (1.2 ms), sections with a title
 *   json   one object: { "<section>": [ { key: value, ... }, ... ], "<key>": value, ... }.
 *          Times are integers in nanoseconds whose key ends in _ns; NULL is null.
 *   csv    a header line and rows, quoted as in RFC 4180 but with plain newlines; every section
 *          but the first stands behind a line "# <section>", so that a single one is plain CSV
 *
 * Text from other programs is safe: all three formats are valid UTF-8 without control characters
 * (text.h). Memory does not grow with the number of rows: text columns get their widths from the
 * first 4096 rows.
 *
 *   table_open(&t, stdout, format);
 *   table_section(t, "callbacks", "Callbacks, slowest first", columns, n);
 *   table_text(t, node); table_ns(t, max); ... one call a column, in order; a row ends by itself
 *   table_value_u64(t, "lost", lost);		a single fact between sections
 *   table_close(t);
 */
#ifndef KYMO_BASE_TABLE_H
#define KYMO_BASE_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum table_format { TABLE_TEXT, TABLE_JSON, TABLE_CSV };

struct table_column {
	const char *key;	/* json and csv; snake_case, with unit */
	const char *title;	/* text; NULL: not shown in text */
};

struct table;

/** table_open() - begin output of one command. Return: 0, or -ENOMEM. Context: allocates. */
int table_open(struct table **table, FILE *out, enum table_format format);

/*
 * How text meets its reader. Zeroed, as after table_open() of a pipe: everything, plain.
 */
struct table_look {
	bool terminal;  /* a person reads: 1,234 from a thousand on, units below each other */
	bool color;     /* escape sequences */
	bool unicode;   /* a cut name has "…" instead of "..." */
	unsigned width; /* columns of a row; 0: as wide as it gets */
	unsigned lines; /* of the terminal; 0: not known */
	const char *more; /* what prints the columns that were left out, for the line that counts
			     them; NULL: no such line */
};

/**
 * table_look() - print the sections that follow so; in text only
 *
 * Where a row is wider than the terminal, names are shortened in the middle, sentences are folded,
 * and the least important columns are left out (table_rank()). A line at the end of the output
 * counts the columns that were left out.
 */
void table_look(struct table *table, const struct table_look *look);

/** table_fit() - table_look() of a terminal of @width columns, without colours and last line. */
void table_fit(struct table *table, unsigned width);

/** table_looks() - what table_look() was given, for what a room prints itself. */
const struct table_look *table_looks(const struct table *table);

/**
 * table_rank() - which columns of the present section matter most
 * @keys: keys with blanks between them, the most important first. Others follow as without this:
 * names, counts and the worst value before the rest.
 *
 * The first column is never left out. Call this before the first cell.
 */
void table_rank(struct table *table, const char *keys);

/* What the next cell, fact or note is to its reader. Without colours the words must say it. */
enum table_mark {
	TABLE_NORMAL,
	TABLE_BAD,      /* red: it is wrong */
	TABLE_DOUBTFUL, /* yellow */
	TABLE_FIRST,    /* bold: read this first */
	TABLE_USUAL,    /* dim: nothing to see */
};

/**
 * table_mark() - mark the next cell, fact or note
 *
 * Counts of lost and dropped events are marked without this.
 */
void table_mark(struct table *table, enum table_mark mark);

/** table_paint() - the escape sequence that begins @mark, or "" without colours; TABLE_NORMAL ends
 * it. For what a room prints itself. */
const char *table_paint(const struct table *table, enum table_mark mark);

/** table_whole() - print texts of more than 512 columns whole, which are cut otherwise; in text
 * only. */
void table_whole(struct table *table);

/** table_clock() - @stamp converts the times of table_time(), as to the time of a simulation; NULL:
 * not at all. */
void table_clock(struct table *table, int64_t (*stamp)(const void *context, int64_t ns),
		 const void *context);

/**
 * table_section() - begin a table; ends the one before
 * @columns: copied; the texts must stay valid until the next section or table_close()
 */
void table_section(struct table *table, const char *key, const char *title,
		   const struct table_column *columns, unsigned column_count);

/* One cell of the present section. */
void table_text(struct table *table, const char *text);	/* NULL: empty, json null */
void table_u64(struct table *table, uint64_t value);
void table_i64(struct table *table, int64_t value);
void table_hex(struct table *table,
	       uint64_t value);                    /* text and csv: 0x...; json: a string "0x..." */
void table_f64(struct table *table, double value); /* text: 4 significant digits */
void table_ns(struct table *table, int64_t ns);    /* text: scaled with unit; json, csv: integer */
void table_time(struct table *table, int64_t ns);  /* a point in time: integer, on table_clock() */
/* As table_ns(), but @ns may be wrong by @error_ns. If it is not larger: "<1.2 ms" in text; json
 * null, csv empty. */
void table_ns_within(struct table *table, int64_t ns, int64_t error_ns);
void table_bytes(struct table *table,
		 uint64_t bytes); /* text: scaled with unit; json, csv: integer */
void table_bytes_i64(struct table *table,
		     int64_t bytes); /* the same of a growth, which may be negative: "-4.00 KiB" */
void table_none(struct table *table);			/* text "-", json null, csv empty */

/* A fact outside of tables: "title: value" in text, a key of the top object in json, "# key,value"
 * in csv. */
void table_value_text(struct table *table, const char *key, const char *title, const char *value);
void table_value_u64(struct table *table, const char *key, const char *title, uint64_t value);
void table_value_f64(struct table *table, const char *key, const char *title, double value,
		     const char *unit);
void table_value_ns(struct table *table, const char *key, const char *title, int64_t ns);

/** table_note() - a line for people only (text), after the rows so far; ends the section in
 * text. */
__attribute__((format(printf, 2, 3)))
void table_note(struct table *table, const char *format, ...);

/** table_close() - write what is pending and free. Return: 0, or -errno of the stream. */
int table_close(struct table *table);

#endif
