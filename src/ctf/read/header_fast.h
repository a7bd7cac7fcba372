/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three event headers that are decoded by hand, see header.c; inlined into the loop of
 * stream_batch.c. Times are values of the trace's clock, not ns.
 *
 * Context of all functions: wait-free.
 */
#ifndef KYMO_CTF_HEADER_FAST_H
#define KYMO_CTF_HEADER_FAST_H

#include "ctf/format/bits.h"
#include "ctf/read/stream_impl.h"

/* The next value of @clock whose low @bits are @low; they overflowed at most once. */
static inline uint64_t clock_forward(uint64_t clock, uint64_t low, unsigned bits)
{
	uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
	uint64_t next = (clock & ~mask) | (low & mask);

	return next < clock && bits < 64 ? next + mask + 1 : next;
}

/**
 * header_extended() - LTTng's long form: u8 or u16 tag, u32 id, u64 time
 * @tag: bytes of the tag
 *
 * Return: bytes of the header; 0: @left is too short for it.
 */
static inline uint32_t header_extended(const uint8_t *at, uint64_t left, uint32_t tag,
				       uint64_t *id, uint64_t *clock)
{
	if (left < tag + 12)
		return 0;
	*id = bits_le32(at + tag);
	*clock = bits_le64(at + tag + 4);
	return tag + 12;
}

/**
 * header_decode() - one header of @shape, which is not HEADER_GENERAL
 * @plain: of the stream class
 *
 * Return: as header_extended().
 */
static inline __attribute__((always_inline))
uint32_t header_decode(const struct plain_header *plain, enum header_shape shape,
		       const uint8_t *at, uint64_t left, uint64_t *id, uint64_t *clock)
{
	switch (shape) {
	case HEADER_PLAIN:
		if (left < plain->size)
			return 0;
		*id = plain->id_size == 2 ? bits_le16(at + plain->id) : bits_le32(at + plain->id);
		*clock = bits_le64(at + plain->time);
		return plain->size;
	case HEADER_LARGE:
		if (left < 6)
			return 0;
		*id = bits_le16(at);
		if (*id == 0xffff)
			return header_extended(at, left, 2, id, clock);
		*clock = clock_forward(*clock, bits_le32(at + 2), 32);
		return 6;
	default:
		if (left < 4)
			return 0;
		*id = *at & 31;
		if (*id == 31)
			return header_extended(at, left, 1, id, clock);
		*clock = clock_forward(*clock, bits_le32(at) >> 5, 27);
		return 4;
	}
}

#endif
