/* SPDX-License-Identifier: Apache-2.0 */
/* Thrift's compact protocol, as far as a Parquet file needs it; see parquet_bytes.h. */
#include <string.h>

#include "export/parquet/parquet_bytes.h"

enum { TYPE_TRUE = 1, TYPE_FALSE = 2, TYPE_I8 = 3 };

static uint64_t zigzag(int64_t value)
{
	return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

/* A field's number is written as its distance from the one before. All of ours are near. */
static void field_head(struct thrift *thrift, int field, unsigned type)
{
	const int distance = field - thrift->last[thrift->depth];
	const uint8_t head = (uint8_t)((unsigned)distance << 4 | type);

	bytes_put(thrift->bytes, &head, 1);
	thrift->last[thrift->depth] = field;
}

void thrift_bool(struct thrift *thrift, int field, bool value)
{
	field_head(thrift, field, value ? TYPE_TRUE : TYPE_FALSE);
}

void thrift_i8(struct thrift *thrift, int field, int8_t value)
{
	field_head(thrift, field, TYPE_I8);
	bytes_put(thrift->bytes, &value, 1);
}

void thrift_i32(struct thrift *thrift, int field, int32_t value)
{
	field_head(thrift, field, THRIFT_I32);
	bytes_varint(thrift->bytes, zigzag(value));
}

void thrift_i64(struct thrift *thrift, int field, int64_t value)
{
	field_head(thrift, field, THRIFT_I64);
	bytes_varint(thrift->bytes, zigzag(value));
}

void thrift_text(struct thrift *thrift, int field, const void *text, size_t size)
{
	field_head(thrift, field, THRIFT_TEXT);
	bytes_varint(thrift->bytes, size);
	bytes_put(thrift->bytes, text, size);
}

void thrift_open(struct thrift *thrift, int field)
{
	if (field)
		field_head(thrift, field, THRIFT_STRUCT);
	thrift->last[++thrift->depth] = 0;
}

void thrift_close(struct thrift *thrift)
{
	static const uint8_t stop;

	bytes_put(thrift->bytes, &stop, 1);
	thrift->depth--;
}

void thrift_list(struct thrift *thrift, int field, enum thrift_type type, size_t count)
{
	const uint8_t head = (uint8_t)((count < 15 ? count : 15) << 4 | type);

	field_head(thrift, field, THRIFT_LIST);
	bytes_put(thrift->bytes, &head, 1);
	if (count >= 15)
		bytes_varint(thrift->bytes, count);
}

void thrift_item_i32(struct thrift *thrift, int32_t value)
{
	bytes_varint(thrift->bytes, zigzag(value));
}

void thrift_item_text(struct thrift *thrift, const char *text)
{
	bytes_varint(thrift->bytes, strlen(text));
	bytes_put(thrift->bytes, text, strlen(text));
}
