/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by parquet.c (the file), parquet_chunk.c (a column of a group) and parquet_texts.c (its
 * dictionary). */
#ifndef KYMO_EXPORT_PARQUET_INTERNAL_H
#define KYMO_EXPORT_PARQUET_INTERNAL_H

#include <zstd.h>

#include "export/parquet/parquet.h"
#include "export/parquet/parquet_bytes.h"

/* Names of the format. */
enum { KIND_BOOLEAN = 0, KIND_INT64 = 2, KIND_DOUBLE = 5, KIND_BYTE_ARRAY = 6 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_RLE_DICTIONARY = 8 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { CODEC_ZSTD = 6 };

/* ---- the texts of a chunk ---- */

#define TEXTS_MOST 65536u
#define TEXTS_BYTES_MOST (1u << 20)

/* Each different text once, numbered from 0. Zeroed is a valid start. */
struct texts {
	struct parquet_bytes
		values;       /* as the dictionary page has them: size, bytes, size, bytes ... */
	uint32_t *begin;      /* [count] of a text in values */
	uint32_t count, room; /* of begin */
	uint32_t *slot;       /* [slots]: number + 1; 0: free */
	uint32_t slots;
	bool failed;
};

/** parquet_texts_number() - the number of a text. Return: -1: it is new, and there is no room for
 * it. */
int64_t parquet_texts_number(struct texts *texts, const char *text, size_t size);
void parquet_texts_clear(struct texts *texts);
void parquet_texts_free(struct texts *texts);

/* ---- a column of a group ---- */

#define BOUND_MAX 64u /* bytes of a text that is a smallest or largest value */

struct parquet_bound {
	int64_t integer; /* also BOOL, and UINT64 as its bits */
	double real;
	char text[BOUND_MAX];
	size_t size;
};

struct parquet_chunk {
	const struct parquet_column *column;
	bool is_set; /* in the present row */

	/* The page that is being filled. */
	struct parquet_runs repetition, definition; /* levels */
	struct parquet_runs number;                 /* of texts in the dictionary, or booleans */
	struct parquet_bytes plain;
	uint32_t filled; /* values, NULL included */

	/* The group. */
	struct parquet_bytes pages;
	struct texts texts;
	bool without_texts;             /* too many: the rest of the group is plain */
	uint64_t values, nulls, raw;    /* of complete pages */
	bool has_bounds, has_no_bounds; /* of texts that are too long */
	bool has_numbers, has_plain;    /* kinds of its pages */
	struct parquet_bound least, most;
};

void parquet_chunk_i64(struct parquet_chunk *chunk, int64_t value);
void parquet_chunk_f64(struct parquet_chunk *chunk, double value);
void parquet_chunk_text(struct parquet_chunk *chunk, const char *text, size_t size);
void parquet_chunk_list(struct parquet_chunk *chunk, const uint64_t *value, size_t count);

/** parquet_chunk_row() - the row is complete: NULL if it has no value. Return: whether the page is
 * full. */
bool parquet_chunk_row(struct parquet_chunk *chunk);

/** parquet_chunk_page() - compress what the page has. Return: bytes that this added; -1 without
 * memory. */
int64_t parquet_chunk_page(struct parquet_chunk *chunk, ZSTD_CCtx *zstd);

/**
 * parquet_chunk_put() - the dictionary and the pages, as the file has them
 * @pages: set to where the first data page begins in @out
 *
 * Return: 0, or -1 without memory.
 */
int parquet_chunk_put(struct parquet_chunk *chunk, ZSTD_CCtx *zstd, struct parquet_bytes *out,
		      size_t *pages);

/** parquet_chunk_describe() - ColumnMetaData. @offset: of the chunk in the file; @pages, @size: of
 * parquet_chunk_put(). */
void parquet_chunk_describe(const struct parquet_chunk *chunk, struct thrift *thrift,
			    uint64_t offset, size_t pages, size_t size);

void parquet_chunk_clear(struct parquet_chunk *chunk);
void parquet_chunk_free(struct parquet_chunk *chunk);
bool parquet_chunk_failed(const struct parquet_chunk *chunk);

/** parquet_chunk_kind() - the physical type of a column. */
int parquet_chunk_kind(enum parquet_type type);

#endif
