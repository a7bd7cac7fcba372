/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads integers from packets. Bits count from the begin of the packet: in little-endian fields
 * from the least significant bit of each byte, in big-endian fields from the most significant.
 */
#ifndef KYMO_CTF_BITS_H
#define KYMO_CTF_BITS_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t bits_le16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof value);
	return le16toh(value);
}

static inline uint32_t bits_le32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof value);
	return le32toh(value);
}

static inline uint64_t bits_le64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof value);
	return le64toh(value);
}

static inline uint64_t bits_align(uint64_t at, uint64_t align)
{
	return (at + align - 1) & ~(align - 1);
}

static inline uint64_t bits_extend(uint64_t value, unsigned size, bool is_signed)
{
	unsigned shift = 64 - size;

	return is_signed ? (uint64_t)((int64_t)(value << shift) >> shift) : value << shift >> shift;
}

/** bits_reverse() - the lowest @size (1..64) bits of @value in the opposite order. */
static inline uint64_t bits_reverse(uint64_t value, unsigned size)
{
	uint64_t reversed = 0;

	while (size--) {
		reversed = reversed << 1 | (value & 1);
		value >>= 1;
	}
	return reversed;
}

/* Whole bytes: the usual sizes at once. @size is a multiple of 8. */
static inline uint64_t bits_load_bytes(const uint8_t *at, unsigned size, bool big_endian)
{
	uint64_t value = 0;
	unsigned bytes = size / 8;

	switch (bytes) {
	case 1:
		return *at;
	case 2:
		return big_endian ? __builtin_bswap16(bits_le16(at)) : bits_le16(at);
	case 4:
		return big_endian ? __builtin_bswap32(bits_le32(at)) : bits_le32(at);
	case 8:
		return big_endian ? __builtin_bswap64(bits_le64(at)) : bits_le64(at);
	}
	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | at[big_endian ? i : bytes - 1 - i];
	return value;
}

/** bits_load() - @size (1..64) bits at bit @pos of @base, zero-extended. Context: wait-free. */
static inline uint64_t bits_load(const uint8_t *base, uint64_t pos, unsigned size, bool big_endian)
{
	uint64_t value = 0;
	unsigned shift = 0;

	if (!((pos | size) & 7))
		return bits_load_bytes(base + (pos >> 3), size, big_endian);
	while (size) {
		unsigned offset = pos & 7, take = 8 - offset < size ? 8 - offset : size;
		unsigned byte = base[pos >> 3], mask = (1u << take) - 1;

		if (big_endian)
			value = value << take | (byte >> (8 - offset - take) & mask);
		else
			value |= (uint64_t)(byte >> offset & mask) << shift;
		shift += take;
		pos += take;
		size -= take;
	}
	return value;
}

#endif
