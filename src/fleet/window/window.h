/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A summary of a window as rows, the same for all databases: window.def has the columns.
 *
 * Each entity has a row for each distribution, with buckets that merge exactly, and at least one
 * row. Its counters are in the first one. One more row is the window itself, and up to three say
 * what the limits of `kymo serve` left out.
 *
 * Buckets are those of OpenTelemetry's exponential histograms, usually with scale 5: 32 for each
 * power of two, so a quantile is within 1.2 % of the exact one.
 *
 * Context of all functions: not thread-safe; allocate.
 */
#ifndef KYMO_FLEET_WINDOW_H
#define KYMO_FLEET_WINDOW_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "summary/summary.h"

#define WINDOW_SCALE 5 /* the finest, which all but ClickHouse get */
#define WINDOW_BUCKETS_MAX 2049u /* 32 for each power of two up to 2^64, and that of the value 1 \
				  */

/* Whose windows: the texts must stay valid. "": not known. */
struct window_source {
	const char *robot, *boot, *software;
	const char *labels; /* as a JSON object */
};

struct window_counts {
	uint64_t published, received, lost, late, unfinished, waited, waited_ns;
};

struct window_row {
	const struct window_source *of;
	int64_t begin_ns, length_ns; /* of the window */
	const char *kind, *name, *process, *node, *topic;
	const char *metric; /* "": only counters */
	uint64_t count, sum_ns, min_ns, max_ns, zero_count;
	unsigned scale;
	int32_t bucket_offset;
	const uint64_t *bucket;
	size_t buckets;
	const struct window_counts *counts; /* NULL: in another row of the entity */
};

/* Values of a distribution as exponential buckets. */
struct window_buckets {
	uint64_t zero_count;
	int32_t offset; /* number of the first one */
	size_t count;
	uint64_t bucket[WINDOW_BUCKETS_MAX];
};

/** window_buckets() - the values of @histogram in 2^@scale buckets for each power of two, which is
 * at most WINDOW_SCALE. Context: does not allocate. */
void window_buckets(const struct histogram *histogram, unsigned scale,
		    struct window_buckets *buckets);

/** window_node(), window_topic() - of @entity, by its name; "" if it has none. @buffer: @size
 * bytes. Return: @buffer. */
char *window_node(const struct summary_entity *entity, char *buffer, size_t size);
char *window_topic(const struct summary_entity *entity, char *buffer, size_t size);

/** window_lost() - messages of @entity that were lost in any way. */
uint64_t window_lost(const struct summary_entity *entity);

/**
 * window_rows() - call @take with each row of @summary
 * @begin_ns, @length_ns: of the window
 * @scale: of the buckets, at most WINDOW_SCALE
 * @take: returns 0, or -1 with @err. The row is valid during the call
 *
 * Return: 0, or -1 with @err.
 */
int window_rows(const struct summary *summary, const struct window_source *of, int64_t begin_ns,
		int64_t length_ns, unsigned scale,
		int (*take)(void *context, const struct window_row *row, struct kymo_err *err),
		void *context, struct kymo_err *err);

/** window_rowbinary_put() - a row for ClickHouse, as window_rows() has it; @out is a FILE.
 * Return: 0, or -1 with @err. */
int window_rowbinary_put(void *out, const struct window_row *row, struct kymo_err *err);

/* ---- a window as one row of arrays for ClickHouse (window_rowbinary.c, window_packed.def) ---- */

struct window_packed;

/** window_packed_new() - for one window. Return: NULL without memory. */
struct window_packed *window_packed_new(void);
void window_packed_free(struct window_packed *packed);

/** window_packed_put() - a row, as window_rows() has it; @packed is a struct window_packed, and
 * kind and metric are static texts. Return: 0, or -1 with @err. */
int window_packed_put(void *packed, const struct window_row *row, struct kymo_err *err);

/** window_packed_write() - all rows as RowBinary, ordered by kind and metric. Return: 0; -1: no
 * memory, or @out has failed. */
int window_packed_write(struct window_packed *packed, FILE *out, const struct window_source *of,
			int64_t begin_ns, int64_t length_ns);

/* ---- a Parquet file of rows (window_parquet.c) ---- */

struct window_file;

/** window_file_create() - @out stays the caller's; @version: of kymo. Return: 0, or -1 with @err.
 */
int window_file_create(struct window_file **file, FILE *out, const char *version,
		       struct kymo_err *err);

/** window_file_put() - a row, as window_rows() has it; @file is a struct window_file. Return: 0, or
 * -1 with @err. */
int window_file_put(void *file, const struct window_row *row, struct kymo_err *err);

/** window_file_close() - complete the file, which may be NULL. Return: 0, or -1 with @err. */
int window_file_close(struct window_file *file, struct kymo_err *err);
void window_file_drop(struct window_file *file);

#endif
