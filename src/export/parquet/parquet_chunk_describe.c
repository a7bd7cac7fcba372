/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a column of a group in the footer of the file: its encodings, sizes and bounds. */
#include <stdlib.h>
#include <string.h>

#include "export/parquet/parquet_internal.h"

static void put_bound(const struct parquet_chunk *chunk, struct thrift *thrift, int field,
		      const struct parquet_bound *bound)
{
	struct parquet_bytes value = { 0 };
	uint64_t bits = (uint64_t)bound->integer;

	if (chunk->column->type == PARQUET_TEXT) {
		thrift_text(thrift, field, bound->text, bound->size);
		return;
	}
	if (chunk->column->type == PARQUET_DOUBLE)
		memcpy(&bits, &bound->real, sizeof(bits));
	bytes_u64(&value, bits);
	if (!value.failed)
		thrift_text(thrift, field, value.data, chunk->column->type == PARQUET_BOOL ? 1 : 8);
	thrift->bytes->failed |= value.failed;
	free(value.data);
}

/* Zeros have a sign in doubles, and readers compare without it. */
static void put_statistics(const struct parquet_chunk *chunk, struct thrift *thrift)
{
	struct parquet_bound least = chunk->least, most = chunk->most;

	if (chunk->column->type == PARQUET_UINT64_LIST)
		return;
	least.real = least.real == 0 ? -0.0 : least.real;
	most.real = most.real == 0 ? 0.0 : most.real;
	thrift_open(thrift, 12);
	thrift_i64(thrift, 3, (int64_t)chunk->nulls);
	if (chunk->has_bounds && !chunk->has_no_bounds) {
		put_bound(chunk, thrift, 5, &most);
		put_bound(chunk, thrift, 6, &least);
	}
	thrift_close(thrift);
}

void parquet_chunk_describe(const struct parquet_chunk *chunk, struct thrift *thrift,
			    uint64_t offset, size_t pages, size_t size)
{
	const bool is_list = chunk->column->type == PARQUET_UINT64_LIST;

	thrift_i32(thrift, 1, parquet_chunk_kind(chunk->column->type));
	thrift_list(thrift, 2, THRIFT_I32,
		    1 + (chunk->has_numbers || chunk->has_plain) + chunk->has_numbers);
	thrift_item_i32(thrift, ENCODING_RLE);
	if (chunk->has_numbers || chunk->has_plain)
		thrift_item_i32(thrift, ENCODING_PLAIN);
	if (chunk->has_numbers)
		thrift_item_i32(thrift, ENCODING_RLE_DICTIONARY);
	thrift_list(thrift, 3, THRIFT_TEXT, is_list ? 3 : 1);
	thrift_item_text(thrift, chunk->column->name);
	if (is_list) {
		thrift_item_text(thrift, "list");
		thrift_item_text(thrift, "element");
	}
	thrift_i32(thrift, 4, CODEC_ZSTD);
	thrift_i64(thrift, 5, (int64_t)chunk->values);
	thrift_i64(thrift, 6, (int64_t)chunk->raw);
	thrift_i64(thrift, 7, (int64_t)size);
	thrift_i64(thrift, 9, (int64_t)(offset + pages));
	if (chunk->has_numbers)
		thrift_i64(thrift, 11, (int64_t)offset);
	put_statistics(chunk, thrift);
}
