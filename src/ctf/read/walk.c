/* SPDX-License-Identifier: Apache-2.0 */
/* One function per kind of node. Each checks that its bytes are in memory before it reads them. */
#include "ctf/read/walk.h"

#include <stdlib.h>

#include "ctf/format/bits.h"
#include "ctf/read/wide.h"

static enum walk_result align_to(struct cursor *c, uint32_t align)
{
	uint64_t pos = bits_align(c->pos, align);

	if (pos > c->end)
		return WALK_SHORT;
	c->pos = pos;
	return WALK_OK;
}

/* 7 bits a byte, the lowest first; the top bit says that more follow. Bits beyond the 64th are
 * lost. */
static enum walk_result take_leb128(struct cursor *c, const struct ctf_type *type, uint64_t *value)
{
	uint64_t sum = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		if (c->end - c->pos < 8)
			return WALK_SHORT;
		byte = c->base[c->pos >> 3];
		c->pos += 8;
		if (shift < 64)
			sum |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	c->bits = shift < 64 ? shift : 64;
	*value = bits_extend(sum, c->bits, type->is_signed);
	return WALK_OK;
}

static enum walk_result take_number(struct cursor *c, const struct ctf_node *node, uint64_t *value)
{
	const struct ctf_type *type = node->type;
	uint64_t bits;

	if (align_to(c, type->align))
		return WALK_SHORT;
	if (type->is_leb128)
		return take_leb128(c, type, value);
	if (c->end - c->pos < type->size)
		return WALK_SHORT;
	bits = bits_load(c->base, c->pos, type->size, node->big_endian);
	*value = bits_extend(walk_bits(node, bits), type->size, type->is_signed);
	c->bits = type->size;
	c->pos += type->size;
	return WALK_OK;
}

static enum walk_result walk_number(struct cursor *c, const struct ctf_node *node,
				    const struct visitor *v, void *arg)
{
	uint64_t value;

	if (take_number(c, node, &value))
		return WALK_SHORT;
	if (node->slot != NODE_NONE)
		c->slot[node->slot] = value;
	if (v)
		v->number(arg, node, value);
	return WALK_OK;
}

/*
 * Text in UTF-16 or UTF-32, shown to the visitor as UTF-8. @size: its bytes; NULL: it ends with a
 * NUL.
 */
static enum walk_result walk_wide(struct cursor *c, const struct ctf_node *node,
				  const uint64_t *size, const struct visitor *v, void *arg)
{
	const uint8_t *at = c->base + (c->pos >> 3);
	const uint64_t left = (c->end - c->pos) >> 3;
	uint64_t used = size ? *size : left, bytes;
	char *text;

	if (used > left)
		return WALK_SHORT;
	bytes = wide_length(at, used, node->type->unit);
	if (!size) {
		if (bytes + node->type->unit > left)
			return WALK_SHORT;
		used = bytes + node->type->unit;
	}
	if (v && v->text) {
		text = wide_text(at, bytes, node->type->unit, node->big_endian);
		v->text(arg, node, text ? text : "", text ? strlen(text) : 0);
		free(text);
	}
	c->pos += used * 8;
	return WALK_OK;
}

static enum walk_result walk_string(struct cursor *c, const struct ctf_node *node,
				    const struct visitor *v, void *arg)
{
	const char *at, *nul;

	if (align_to(c, 8))
		return WALK_SHORT;
	if (node->type->unit > 1)
		return walk_wide(c, node, NULL, v, arg);
	at = (const char *)c->base + (c->pos >> 3);
	nul = memchr(at, 0, (c->end - c->pos) >> 3);
	if (!nul)
		return WALK_SHORT;
	if (v && v->text)
		v->text(arg, node, at, (uint64_t)(nul - at));
	c->pos += (uint64_t)(nul - at + 1) * 8;
	return WALK_OK;
}

static enum walk_result walk_text(struct cursor *c, const struct ctf_node *node, uint64_t count,
				  const struct visitor *v, void *arg)
{
	const char *at = (const char *)c->base + (c->pos >> 3), *nul;

	if (node->type->unit > 1)
		return walk_wide(c, node, &count, v, arg);
	if (count > (c->end - c->pos) >> 3)
		return WALK_SHORT;
	nul = count ? memchr(at, 0, count) : NULL;
	if (v && v->text)
		v->text(arg, node, at, nul ? (uint64_t)(nul - at) : count);
	c->pos += count * 8;
	return WALK_OK;
}

/* Pass over @count elements of fixed size at once. */
static enum walk_result pass_elements(struct cursor *c, const struct ctf_node *element,
				      uint64_t count)
{
	uint64_t stride = bits_align(element->fixed, element->type->align), total;

	if (!count)
		return WALK_OK;
	if (__builtin_mul_overflow(stride, count - 1, &total) ||
	    __builtin_add_overflow(total, element->fixed, &total) || total > c->end - c->pos)
		return WALK_SHORT;
	c->pos += total;
	return WALK_OK;
}

static enum walk_result walk_elements(struct cursor *c, const struct ctf_node *node,
				      const struct visitor *v, void *arg)
{
	const struct ctf_node *element = &node->child[0];
	bool sequence = node->type->kind == CTF_KIND_SEQUENCE;
	uint64_t count = sequence ? c->slot[node->ref] : node->type->length;
	enum walk_result result = WALK_OK;

	if (align_to(c, node->type->align))
		return WALK_SHORT;
	if (node->is_text && !(c->pos & 7))
		return walk_text(c, node, count, v, arg);
	if (v && v->open)
		v->open(arg, node, count, c->pos & 7 ? NULL : c->base + (c->pos >> 3));
	if ((!v || (v->picks && node->element == NODE_NONE)) && element->plain)
		result = pass_elements(c, element, count), count = 0;
	for (uint64_t i = 0; i < count && !result; i++)
		result = walk(c, element, v && v->picks && (int64_t)i != node->element ? NULL : v,
			      arg);
	if (v && v->close && !result)
		v->close(arg, node);
	return result;
}

const char *walk_label(const struct ctf_type *type, uint64_t value)
{
	for (uint32_t i = 0; i < type->range_count; i++)
		if (walk_in_range(type, &type->range[i], value))
			return type->range[i].label;
	return NULL;
}

const struct ctf_node *walk_option(const struct ctf_node *node, uint64_t tag)
{
	const struct ctf_type *type = node->tag;

	for (uint32_t i = 0; i < type->range_count; i++) {
		if (!walk_in_range(type, &type->range[i], tag))
			continue;
		for (uint32_t k = 0; k < node->child_count; k++)
			if (!strcmp(node->child[k].declared, type->range[i].label) ||
			    !strcmp(node->child[k].name, type->range[i].label))
				return &node->child[k];
	}
	return NULL;
}

static enum walk_result walk_variant(struct cursor *c, const struct ctf_node *node,
				     const struct visitor *v, void *arg)
{
	const struct ctf_node *option = walk_option(node, c->slot[node->ref]);
	enum walk_result result = WALK_OK;

	if (!option && !node->type->is_optional)
		return WALK_BAD;
	if (v && v->open)
		v->open(arg, node, option ? 1 : 0, NULL);
	if (option)
		result = walk(c, option, v, arg);
	if (v && v->close && !result)
		v->close(arg, node);
	return result;
}

static enum walk_result walk_struct(struct cursor *c, const struct ctf_node *node,
				    const struct visitor *v, void *arg)
{
	enum walk_result result = align_to(c, node->type->align);

	if (v && v->open && !result)
		v->open(arg, node, node->child_count, NULL);
	for (uint32_t i = 0; i < node->child_count && !result; i++)
		result = walk(c, &node->child[i], v, arg);
	if (v && v->close && !result)
		v->close(arg, node);
	return result;
}

static enum walk_result walk_kind(struct cursor *c, const struct ctf_node *node,
				  const struct visitor *v, void *arg)
{
	switch (node->type->kind) {
	case CTF_KIND_INTEGER:
	case CTF_KIND_ENUM:
	case CTF_KIND_FLOAT:
		return walk_number(c, node, v, arg);
	case CTF_KIND_STRING:
		return walk_string(c, node, v, arg);
	case CTF_KIND_ARRAY:
	case CTF_KIND_SEQUENCE:
		return walk_elements(c, node, v, arg);
	case CTF_KIND_VARIANT:
		return walk_variant(c, node, v, arg);
	case CTF_KIND_STRUCT:
		return walk_struct(c, node, v, arg);
	}
	return WALK_BAD;
}

enum walk_result walk(struct cursor *c, const struct ctf_node *node, const struct visitor *v,
		      void *arg)
{
	uint64_t before = c->pos;
	enum walk_result result = walk_kind(c, node, v, arg);

	if (c->pos == before && !result) {
		if (!c->budget)
			return WALK_BAD;
		c->budget--;
	}
	return result;
}
