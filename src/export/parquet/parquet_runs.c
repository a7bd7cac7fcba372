/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes, and runs of small numbers; see parquet_bytes.h.
 *
 * Numbers become a sequence of two kinds of runs: a number that repeats (its count, then the
 * number), and groups of eight numbers with as many bits each as the largest one needs. A
 * repetition of eight or more is worth a run of its own. A group that is not full ends with zeros,
 * so only the last run may have one.
 */
#include <string.h>

#include "base/array.h"
#include "export/parquet/parquet_bytes.h"

#define REPEATS_LEAST 8u

uint8_t *bytes_grow(struct parquet_bytes *bytes, size_t size)
{
	if (!ARRAY_FIT(bytes->data, bytes->size + size, bytes->room)) {
		bytes->failed = true;
		return NULL;
	}
	bytes->size += size;
	return bytes->data + bytes->size - size;
}

void bytes_put(struct parquet_bytes *bytes, const void *data, size_t size)
{
	uint8_t *at = size ? bytes_grow(bytes, size) : NULL;

	if (at)
		memcpy(at, data, size);
}

void bytes_u32(struct parquet_bytes *bytes, uint32_t value)
{
	const uint8_t data[] = { (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
				 (uint8_t)(value >> 24) };

	bytes_put(bytes, data, sizeof(data));
}

void bytes_u64(struct parquet_bytes *bytes, uint64_t value)
{
	bytes_u32(bytes, (uint32_t)value);
	bytes_u32(bytes, (uint32_t)(value >> 32));
}

void bytes_varint(struct parquet_bytes *bytes, uint64_t value)
{
	uint8_t data[10];
	unsigned size = 0;

	do {
		data[size] = (uint8_t)(value & 0x7f);
		value >>= 7;
		data[size++] |= value ? 0x80 : 0;
	} while (value);
	bytes_put(bytes, data, size);
}

void runs_add(struct parquet_runs *runs, uint32_t number)
{
	if (ARRAY_ROOM(runs->number, runs->count, runs->room))
		runs->number[runs->count++] = number;
	else
		runs->failed = true;
}

unsigned runs_width(uint32_t most)
{
	return most ? 32 - (unsigned)__builtin_clz(most) : 0;
}

static void put_repeat(struct parquet_bytes *bytes, uint32_t count, uint32_t number, unsigned width)
{
	uint8_t data[4];

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(number >> (8 * i));
	bytes_varint(bytes, (uint64_t)count << 1);
	bytes_put(bytes, data, (width + 7) / 8);
}

/* @count numbers; a multiple of eight, except at the end of all. */
static void put_groups(struct parquet_bytes *bytes, const uint32_t *number, uint32_t count,
		       unsigned width)
{
	const uint32_t groups = (count + 7) / 8;
	uint8_t *at;

	bytes_varint(bytes, (uint64_t)groups << 1 | 1);
	at = width ? bytes_grow(bytes, (size_t)groups * width) : NULL;
	if (!at)
		return;
	memset(at, 0, (size_t)groups * width);
	for (uint32_t i = 0; i < count; i++)
		for (unsigned bit = 0; bit < width; bit++) {
			const size_t place = (size_t)i * width + bit;

			at[place / 8] |= (uint8_t)((number[i] >> bit & 1) << (place % 8));
		}
}

static uint32_t repeats_at(const struct parquet_runs *runs, uint32_t at)
{
	uint32_t end = at + 1;

	while (end < runs->count && runs->number[end] == runs->number[at])
		end++;
	return end - at;
}

void runs_put(struct parquet_bytes *bytes, const struct parquet_runs *runs, unsigned width)
{
	uint32_t begin = 0, at = 0;

	while (at < runs->count) {
		uint32_t repeats = repeats_at(runs, at);
		/* The groups before it must be full: it gives them what they lack. */
		const uint32_t lack = (8 - (at - begin) % 8) % 8;

		if (repeats < REPEATS_LEAST + lack) {
			at += repeats;
			continue;
		}
		at += lack;
		repeats -= lack;
		if (at > begin)
			put_groups(bytes, runs->number + begin, at - begin, width);
		put_repeat(bytes, repeats, runs->number[at], width);
		at += repeats;
		begin = at;
	}
	if (at > begin)
		put_groups(bytes, runs->number + begin, at - begin, width);
}
