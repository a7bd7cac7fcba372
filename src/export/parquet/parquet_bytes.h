/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes in memory that grow, and the two encodings of Parquet that are not plain: Thrift's compact
 * protocol, in which a file describes itself, and runs of small numbers.
 *
 * Context of all functions: allocate. Without memory nothing is added, and `failed` is set.
 */
#ifndef KYMO_EXPORT_PARQUET_BYTES_H
#define KYMO_EXPORT_PARQUET_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed is a valid start; free(data). */
struct parquet_bytes {
	uint8_t *data;
	size_t size, room;
	bool failed;
};

/** bytes_grow() - room for @size bytes more. Return: where they begin, and they count; NULL without
 * memory. */
uint8_t *bytes_grow(struct parquet_bytes *bytes, size_t size);
void bytes_put(struct parquet_bytes *bytes, const void *data, size_t size);
void bytes_u32(struct parquet_bytes *bytes, uint32_t value);
void bytes_u64(struct parquet_bytes *bytes, uint64_t value);
void bytes_varint(struct parquet_bytes *bytes, uint64_t value);

/* ---- runs of small numbers (parquet_runs.c) ---- */

/* Numbers of at most 32 bits. Zeroed is a valid start; free(number). */
struct parquet_runs {
	uint32_t *number;
	uint32_t count, room;
	bool failed;
};

void runs_add(struct parquet_runs *runs, uint32_t number);

/** runs_put() - all numbers as repetitions and groups of eight, @width bits each. */
void runs_put(struct parquet_bytes *bytes, const struct parquet_runs *runs, unsigned width);

/** runs_width() - bits that @most needs. */
unsigned runs_width(uint32_t most);

/* ---- Thrift (parquet_thrift.c) ---- */

enum thrift_type {
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_TEXT = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12
};

#define THRIFT_DEPTH_MAX 8u

/* Begin with `bytes` alone. */
struct thrift {
	struct parquet_bytes *bytes;
	int last[THRIFT_DEPTH_MAX]; /* the field before, of each open struct */
	unsigned depth;
};

void thrift_bool(struct thrift *thrift, int field, bool value);
void thrift_i8(struct thrift *thrift, int field, int8_t value);
void thrift_i32(struct thrift *thrift, int field, int32_t value);
void thrift_i64(struct thrift *thrift, int field, int64_t value);
void thrift_text(struct thrift *thrift, int field, const void *text, size_t size);

/** thrift_open() - a struct as @field; 0: as an element of a list. */
void thrift_open(struct thrift *thrift, int field);
void thrift_close(struct thrift *thrift);

/** thrift_list() - @count elements of @type follow, each by thrift_item_*() or thrift_open(0). */
void thrift_list(struct thrift *thrift, int field, enum thrift_type type, size_t count);
void thrift_item_i32(struct thrift *thrift, int32_t value);
void thrift_item_text(struct thrift *thrift, const char *text);

#endif
