/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The general decoder: follows the nodes of any layout bit by bit, and calls a visitor with each
 * value. For the common layouts a plan is faster, see plan.h.
 */
#ifndef KYMO_CTF_WALK_H
#define KYMO_CTF_WALK_H

#include <string.h>

#include "ctf/format/bits.h"
#include "ctf/read/layout.h"

enum walk_result {
	WALK_OK = 0,
	WALK_SHORT = -1, /* the bytes end inside the field */
	WALK_BAD = -2,   /* a tag selects nothing, or there are too many values without a bit */
};

/* The position of the decoder, in bits from the beginning of the packet. */
struct cursor {
	const uint8_t *base;	/* byte 0 of the packet; may lie outside of the buffer */
	uint64_t pos, end;	/* pos <= end; the bytes of [pos, end) are in memory */
	uint64_t *slot;		/* values of the fields that have a slot, see layout.h */
	uint32_t budget;	/* values without a bit that are still allowed */
	uint32_t bits;		/* that the number read last can hold, 64 at most */
};

/* Empty structures, arrays and the like in one event: an array of nothing may claim any length. */
#define WALK_BUDGET (1u << 12)

/* Gets the values in their order. Only @number is needed: what else is NULL is not called. */
struct visitor {
	/* Structures, arrays, sequences, variants: @count children follow; 0 of an optional field
	 * that is absent. @at: their bytes, or NULL when they begin inside a byte. */
	void (*open)(void *arg, const struct ctf_node *node, uint64_t count, const uint8_t *at);
	void (*close)(void *arg, const struct ctf_node *node);
	/* Integers and enums extended to 64 bits; floats as their bits. */
	void (*number)(void *arg, const struct ctf_node *node, uint64_t value);
	/* Strings and arrays of characters: @size bytes up to the first NUL or the end. Wider
	 * characters come as UTF-8 in memory that is valid only now. */
	void (*text)(void *arg, const struct ctf_node *node, const char *bytes, uint64_t size);
	bool picks; /* of arrays and sequences, it gets only the element in which something is
		     * bound */
};

/**
 * walk() - decode @node at @c, which moves behind it
 * @visitor: NULL: only advance and keep slots
 *
 * Context: wait-free apart from what the visitor does.
 */
enum walk_result walk(struct cursor *c, const struct ctf_node *node, const struct visitor *visitor,
		      void *arg);

/** walk_option() - the option of variant @node that @tag selects, or NULL. */
const struct ctf_node *walk_option(const struct ctf_node *node, uint64_t tag);

/** walk_bits() - the value that the bits of number @node stand for, as loaded; not extended. */
static inline uint64_t walk_bits(const struct ctf_node *node, uint64_t bits)
{
	if (node->type->is_reversed)
		bits = bits_reverse(bits, node->type->size);
	return node->type->is_bool ? bits != 0 : bits;
}

/** walk_double() - the value of a float @node of which number() got @bits. */
static inline double walk_double(const struct ctf_node *node, uint64_t bits)
{
	const uint32_t low = (uint32_t)bits;
	double wide;
	float narrow;

	memcpy(&narrow, &low, sizeof narrow);
	memcpy(&wide, &bits, sizeof wide);
	return node->type->size == 32 ? (double)narrow : wide;
}

/** walk_in_range() - whether @value of enum @type lies in @range; of flags, whether it has one of
 * the bits. */
static inline bool walk_in_range(const struct ctf_type *type, const struct ctf_range *range,
				 uint64_t value)
{
	const uint64_t width = range->end - range->begin;

	if (type->is_flags)
		return range->begin <= range->end && range->begin < 64 &&
		       value >> range->begin &
			       (width < 63 ? (UINT64_C(2) << width) - 1 : UINT64_MAX);
	if (type->is_signed)
		return (int64_t)value >= (int64_t)range->begin &&
		       (int64_t)value <= (int64_t)range->end;
	return value >= range->begin && value <= range->end;
}

/** walk_label() - the first label of enum @type that @value has, or NULL. */
const char *walk_label(const struct ctf_type *type, uint64_t value);

#endif
