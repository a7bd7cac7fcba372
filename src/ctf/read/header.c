/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event headers: the id of the class, and the time. header_compile() recognizes three shapes, which
 * are decoded by hand: LTTng's compact and large header, and a plain id and time. walk() decodes
 * all others. LTTng's headers hold only the low bits of the time; the high ones come from the event
 * before. Bytes of the shapes (little-endian):
 *
 *   compact   u32: id in bits 0-4, low 27 bits of the time above.   id 31: u8, u32 id, u64 time
 *   large     u16 id, u32 low bits of the time.                 id 65535: u16, u32 id, u64 time
 *   plain     id and 64-bit time at constant offsets
 */
#include <string.h>

#include "ctf/read/header_fast.h"

static bool is_plain_int(const struct ctf_node *node, uint32_t size, uint32_t align)
{
	const struct ctf_type *type = node->type;

	return (type->kind == CTF_KIND_INTEGER || type->kind == CTF_KIND_ENUM) &&
	       !type->is_signed && type->size == size && type->align == align &&
	       !node->big_endian && !type->is_leb128 && !type->is_reversed;
}

static bool is_time(const struct ctf_node *node)
{
	return node->roles & ROLE_TIME;
}

static bool is_id(const struct ctf_node *node)
{
	return node->roles & ROLE_EVENT_CLASS;
}

/* "u32 id; u64 timestamp", the same in both of LTTng's shapes. */
static bool is_extended(const struct ctf_node *node)
{
	return node && node->type->kind == CTF_KIND_STRUCT && node->child_count == 2 &&
	       node->type->align == 8 && is_plain_int(&node->child[0], 32, 8) &&
	       is_id(&node->child[0]) && is_plain_int(&node->child[1], 64, 8) &&
	       is_time(&node->child[1]) && !is_time(&node->child[0]);
}

/* LTTng's headers: an enum id of @id_bits and a time of @time_bits; the last id stands for the
 * extended form. */
static bool is_lttng(const struct ctf_node *header, uint32_t id_bits, uint32_t time_bits,
		     uint32_t align)
{
	const struct ctf_node *id, *variant, *compact;
	uint64_t last = (UINT64_C(1) << id_bits) - 1;

	if (header->child_count != 2 || header->type->align != 8)
		return false;
	id = &header->child[0];
	variant = &header->child[1];
	if (!is_id(id) || !is_plain_int(id, id_bits, align) ||
	    variant->type->kind != CTF_KIND_VARIANT || variant->ref != id->slot ||
	    variant->tag->range_count != 2)
		return false;
	compact = walk_option(variant, 0);
	return compact && compact == walk_option(variant, last - 1) &&
	       compact != walk_option(variant, last) && is_extended(walk_option(variant, last)) &&
	       compact->type->kind == CTF_KIND_STRUCT && compact->child_count == 1 &&
	       is_plain_int(&compact->child[0], time_bits, align) && is_time(&compact->child[0]);
}

static bool is_plain(struct stream_class *class, const struct ctf_node *header)
{
	uint64_t at = 0;
	bool id = false, time = false;

	if (header->fixed == NODE_VARIES || header->type->align != 8)
		return false;
	for (uint32_t i = 0; i < header->child_count; i++) {
		const struct ctf_node *child = &header->child[i];
		uint32_t size = child->type->size;

		at = bits_align(at, child->type->align);
		if (child->type->align > 8)
			return false;
		if (is_time(child)) {
			if (time || !is_plain_int(child, 64, 8) || at & 7)
				return false;
			time = true;
			class->plain.time = (uint32_t)at / 8;
		} else if (is_id(child)) {
			if (id || !(size == 16 || size == 32) || !is_plain_int(child, size, 8) ||
			    at & 7)
				return false;
			id = true;
			class->plain.id = (uint32_t)at / 8;
			class->plain.id_size = size / 8;
		}
		at += child->fixed;
	}
	class->plain.size = (uint32_t)(at / 8);
	return id && time && !(at & 7);
}

/* Whether a later field needs the value of a header field (as a length or a choice) other than
 * LTTng's own tag. */
static bool is_referred_to(const struct ctf_node *node, const struct ctf_node *except)
{
	if (node != except && node->slot != NODE_NONE)
		return true;
	for (uint32_t i = 0; i < node->child_count; i++)
		if (is_referred_to(&node->child[i], except))
			return true;
	return false;
}

void header_compile(struct stream_class *class)
{
	struct ctf_node *header = class->event_header;

	class->shape = HEADER_GENERAL;
	class->bytewise = header && header->type->align % 8 == 0;
	if (!class->bytewise || !class->has_clock || !header->child_count)
		return;
	if (is_referred_to(header, &header->child[0]))
		return;
	if (is_lttng(header, 5, 27, 1))
		class->shape = HEADER_COMPACT;
	else if (is_lttng(header, 16, 32, 8))
		class->shape = HEADER_LARGE;
	else if (header->child[0].slot == NODE_NONE && is_plain(class, header))
		class->shape = HEADER_PLAIN;
}

struct header_found {
	uint64_t id, clock;
	const struct cursor *at;
};

static void found_number(void *arg, const struct ctf_node *node, uint64_t value)
{
	struct header_found *found = arg;

	if (is_time(node))
		found->clock = clock_forward(found->clock, value, found->at->bits);
	else if (is_id(node))
		found->id = value;
}

static const struct visitor find = { .number = found_number };

static enum walk_result general(struct ctf_stream *s, uint64_t *id)
{
	struct header_found found = { 0, s->clock, &s->at };
	enum walk_result result;

	s->at.budget = WALK_BUDGET;
	if (s->class->event_header) {
		result = walk(&s->at, s->class->event_header, &find, &found);
		if (result)
			return result;
	}
	*id = found.id;
	s->clock = found.clock;
	return WALK_OK;
}

static struct event_class *class_by_id(const struct stream_class *class, uint64_t id)
{
	uint32_t low = 0, high = class->class_count;

	if (id < class->by_id_count)
		return class->by_id[id];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (class->class[middle]->pub.id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < class->class_count && class->class[low]->pub.id == id ? class->class[low]
									   : NULL;
}

enum walk_result header_next(struct ctf_stream *s)
{
	enum walk_result result;
	uint64_t id = 0;

	if (s->class->bytewise) {
		uint64_t pos =
			bits_align(s->at.pos, 8); /* the event before may end inside a byte */

		s->at.pos = pos > s->at.end ? s->at.end : pos;
	}
	if (s->class->shape != HEADER_GENERAL) {
		uint32_t size = header_decode(&s->class->plain, s->class->shape,
					      s->at.base + (s->at.pos >> 3),
					      (s->at.end - s->at.pos) >> 3, &id, &s->clock);

		if (!size)
			return WALK_SHORT;
		s->at.pos += (uint64_t)size * 8;
	} else {
		result = general(s, &id);
		if (result)
			return result;
	}
	s->event = class_by_id(s->class, id);
	return s->event ? WALK_OK : WALK_BAD;
}
