/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protobuf bytes, written forward into one growing buffer.
 *
 * A message inside a message is opened and closed; its length is filled in when it is closed:
 *
 *   pb_open(pb, 11);           5A ??          the length takes one byte for now
 *   pb_uint(pb, 9, 1);         5A ?? 48 01
 *   pb_close(pb);              5A 02 48 01    a length over 127 moves the content up
 *
 * Out of memory is remembered, not returned by each call: check pb->failed before using the bytes.
 * Context of all functions: allocate when the buffer grows, else wait-free.
 */
#ifndef KYMO_EXPORT_PB_H
#define KYMO_EXPORT_PB_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PB_DEPTH_MAX 8		/* messages open inside each other; the format needs five */
#define PB_VARINT_MAX 10	/* bytes of a 64-bit varint */

struct pb {
	uint8_t *data;
	size_t size, room;
	size_t open[PB_DEPTH_MAX];	/* where the length byte of each open message is */
	unsigned depth;
	bool failed;			/* out of memory: content is incomplete */
};

/** pb_grow() - make room for @bytes more. Return: 0, or -1 with @pb->failed set. */
int pb_grow(struct pb *pb, size_t bytes);

/** pb_free() - release the buffer; @pb is empty and usable afterwards. */
void pb_free(struct pb *pb);

/* For pb_close(): the length of the message at @at takes more than the one byte it has. */
void pb_close_long(struct pb *pb, size_t at, size_t length);

/** pb_bytes() - @field with @size bytes as they are. */
void pb_bytes(struct pb *pb, uint32_t field, const void *data, size_t size);

static inline bool pb_ready(struct pb *pb, size_t bytes)
{
	return !pb->failed && (pb->room - pb->size >= bytes || !pb_grow(pb, bytes));
}

/* The caller has checked that PB_VARINT_MAX bytes fit. Return: the byte after the number. */
static inline uint8_t *pb_store(uint8_t *at, uint64_t value)
{
	while (value > 0x7f) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

static inline void pb_varint(struct pb *pb, uint64_t value)
{
	if (pb_ready(pb, PB_VARINT_MAX))
		pb->size = (size_t)(pb_store(pb->data + pb->size, value) - pb->data);
}

/** pb_uint() - @field as varint; a negative number takes ten bytes. */
static inline void pb_uint(struct pb *pb, uint32_t field, uint64_t value)
{
	if (pb_ready(pb, 2 * PB_VARINT_MAX)) {
		uint8_t *at = pb_store(pb->data + pb->size, (uint64_t)field << 3);

		pb->size = (size_t)(pb_store(at, value) - pb->data);
	}
}

/** pb_open() - begin message @field; at most PB_DEPTH_MAX deep (asserted). */
static inline void pb_open(struct pb *pb, uint32_t field)
{
	assert(pb->depth < PB_DEPTH_MAX);
	if (pb_ready(pb, PB_VARINT_MAX + 1)) {
		uint8_t *at = pb_store(pb->data + pb->size, (uint64_t)field << 3 | 2);

		*at = 0;
		pb->open[pb->depth] = (size_t)(at - pb->data);
		pb->size = pb->open[pb->depth] + 1;
	}
	pb->depth++;
}

/** pb_close() - end the message opened last. */
static inline void pb_close(struct pb *pb)
{
	size_t at, length;

	assert(pb->depth > 0);
	at = pb->open[--pb->depth];
	if (pb->failed)
		return;
	length = pb->size - at - 1;
	if (length < 0x80)
		pb->data[at] = (uint8_t)length;
	else
		pb_close_long(pb, at, length);
}

/** pb_fixed64() - @field as eight bytes, little endian. */
static inline void pb_fixed64(struct pb *pb, uint32_t field, uint64_t value)
{
	if (pb_ready(pb, PB_VARINT_MAX + 8)) {
		uint8_t *at = pb_store(pb->data + pb->size, (uint64_t)field << 3 | 1);

		for (unsigned i = 0; i < 8; i++)
			*at++ = (uint8_t)(value >> 8 * i);
		pb->size = (size_t)(at - pb->data);
	}
}

/** pb_double() - @field as an IEEE 754 double. */
static inline void pb_double(struct pb *pb, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	pb_fixed64(pb, field, bits);
}

/** pb_text() - @field as a string. */
static inline void pb_text(struct pb *pb, uint32_t field, const char *text)
{
	pb_bytes(pb, field, text, strlen(text));
}

/** pb_raw() - append bytes that are fields already. */
static inline void pb_raw(struct pb *pb, const void *data, size_t size)
{
	if (size && pb_ready(pb, size)) {
		memcpy(pb->data + pb->size, data, size);
		pb->size += size;
	}
}

#endif
