/* SPDX-License-Identifier: Apache-2.0 */
/* See mcap_bytes.h. */
#include "export/mcap/mcap_bytes.h"

#include <string.h>

#include "base/array.h"

void record_put(struct record_bytes *bytes, const void *data, size_t size)
{
	if (!ARRAY_FIT(bytes->data, bytes->size + size, bytes->room)) {
		bytes->failed = true;
		return;
	}
	if (size)
		memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

static void put_little(struct record_bytes *bytes, uint64_t value, unsigned size)
{
	uint8_t data[8];

	for (unsigned i = 0; i < size; i++)
		data[i] = (uint8_t)(value >> 8 * i);
	record_put(bytes, data, size);
}

void record_u8(struct record_bytes *bytes, uint8_t value)
{
	put_little(bytes, value, 1);
}

void record_u16(struct record_bytes *bytes, uint16_t value)
{
	put_little(bytes, value, 2);
}

void record_u32(struct record_bytes *bytes, uint32_t value)
{
	put_little(bytes, value, 4);
}

void record_u64(struct record_bytes *bytes, uint64_t value)
{
	put_little(bytes, value, 8);
}

void record_text(struct record_bytes *bytes, const char *text)
{
	const size_t size = strlen(text);

	record_u32(bytes, (uint32_t)size);
	record_put(bytes, text, size);
}

/* The length, @size bytes, before what has been put since @opened. */
static void close_length(struct record_bytes *bytes, size_t opened, unsigned size)
{
	if (bytes->failed)
		return;
	for (unsigned i = 0; i < size; i++)
		bytes->data[opened + i] =
			(uint8_t)((uint64_t)(bytes->size - opened - size) >> 8 * i);
}

size_t record_open(struct record_bytes *bytes, uint8_t opcode)
{
	record_u8(bytes, opcode);
	record_u64(bytes, 0);
	return bytes->size - 8;
}

void record_close(struct record_bytes *bytes, size_t opened)
{
	close_length(bytes, opened, 8);
}

size_t record_open_map(struct record_bytes *bytes)
{
	record_u32(bytes, 0);
	return bytes->size - 4;
}

void record_close_map(struct record_bytes *bytes, size_t opened)
{
	close_length(bytes, opened, 4);
}
