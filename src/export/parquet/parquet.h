/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a Parquet file, row by row, as a stream.
 *
 *   static const struct parquet_column columns[] = {
 *       { "id", PARQUET_INT64, true }, { "name", PARQUET_TEXT },
 *       { "buckets", PARQUET_UINT64_LIST },
 *   };
 *   parquet_create(&file, out, columns, 3, "1.0", &err);
 *   parquet_i64(file, 0, 1);
 *   parquet_text(file, 1, "/planner");
 *   parquet_list(file, 2, counts, 4);
 *   parquet_row(file, &err);
 *   parquet_close(file, &err);
 *
 * A file is groups of rows, a group is a chunk for each column, a chunk is pages: values,
 * compressed with zstd. Texts are numbers of a dictionary as long as that is small. Each chunk has
 * its smallest and its largest value, by which a reader skips groups. The description of all that
 * is the end of the file.
 *
 * Memory: a group, compressed, and a page of each column; a group ends after PARQUET_GROUP_ROWS
 * rows or PARQUET_GROUP_BYTES bytes.
 *
 * Context of all functions: not thread-safe; allocate; those with an error argument also write and
 * block.
 */
#ifndef KYMO_EXPORT_PARQUET_H
#define KYMO_EXPORT_PARQUET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

#define PARQUET_GROUP_ROWS 131072u
#define PARQUET_GROUP_BYTES (16u << 20)

enum parquet_type {
	PARQUET_INT64,
	PARQUET_UINT64,
	PARQUET_DOUBLE,
	PARQUET_BOOL,
	PARQUET_TEXT,        /* UTF-8; other bytes become U+FFFD */
	PARQUET_UINT64_LIST, /* never NULL; may be empty */
};

struct parquet_column {
	const char *name;
	enum parquet_type type;
	bool required; /* never NULL */
};

struct parquet;

/**
 * parquet_create() - begin a file
 * @out: stays the caller's; only appended to
 * @column: must stay valid until parquet_close()
 * @version: of kymo, for the file's description
 *
 * Return: 0, or -1 with @err.
 */
int parquet_create(struct parquet **file, FILE *out, const struct parquet_column *column,
		   unsigned columns, const char *version, struct kymo_err *err);

/*
 * A value of the present row. A column without one is NULL in this row; a required one is 0, "" or
 * an empty list then. A second value for the same column is ignored.
 */
void parquet_i64(struct parquet *file, unsigned column, int64_t value); /* also UINT64, BOOL */
void parquet_f64(struct parquet *file, unsigned column, double value);
void parquet_text(struct parquet *file, unsigned column, const char *value);
void parquet_list(struct parquet *file, unsigned column, const uint64_t *value, size_t count);

/** parquet_row() - the row is complete. Return: 0, or -1 with @err. */
int parquet_row(struct parquet *file, struct kymo_err *err);

/**
 * parquet_close() - write the rest and the description, and free @file
 * @file: may be NULL
 *
 * Return: 0, or -1 with @err.
 */
int parquet_close(struct parquet *file, struct kymo_err *err);

/** parquet_drop() - free @file without finishing it; NULL is fine. */
void parquet_drop(struct parquet *file);

#endif
