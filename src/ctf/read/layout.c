/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From types to nodes, see layout.h.
 */
#include "ctf/read/layout.h"

#include <string.h>

#include "base/text.h"
#include "ctf/format/bits.h"
#include "ctf/read/layout_refer.h"
#include "ctf/tsdl/role.h"

static void settle_struct(struct ctf_node *node)
{
	uint64_t at = 0;

	node->plain = true;
	for (uint32_t i = 0; i < node->child_count; i++) {
		const struct ctf_node *child = &node->child[i];

		node->plain = node->plain && child->plain;
		if (child->fixed == NODE_VARIES)
			return;
		at = bits_align(at, child->type->align) + child->fixed;
	}
	node->fixed = at;
}

static void settle_array(struct ctf_node *node)
{
	const struct ctf_node *element = &node->child[0];
	uint64_t length = node->type->length, stride;

	node->plain = element->plain;
	if (element->fixed == NODE_VARIES)
		return;
	stride = bits_align(element->fixed, element->type->align);
	if (!length)
		node->fixed = 0;
	else if (stride && length > FIXED_MAX / stride)
		node->fixed = FIXED_MAX + 1;	/* refused by fill() */
	else
		node->fixed = (length - 1) * stride + element->fixed;
}

/* Size of @node from what its children are. */
static void settle(struct ctf_node *node)
{
	node->fixed = NODE_VARIES;
	node->plain = false;
	switch (node->type->kind) {
	case CTF_KIND_INTEGER:
	case CTF_KIND_ENUM:
	case CTF_KIND_FLOAT:
		if (node->type->is_leb128)
			break;
		node->fixed = node->type->size;
		node->plain = node->slot == NODE_NONE;
		break;
	case CTF_KIND_STRUCT:
		settle_struct(node);
		break;
	case CTF_KIND_ARRAY:
		settle_array(node);
		break;
	default:
		break;
	}
	if (node->fixed == NODE_VARIES)
		node->plain = false;
}

/* Return: 0 when a printed form must look at each character. */
static uint32_t simple_size(const char *name)
{
	const size_t size = strlen(name), simple = text_simple(name, size);

	return simple == size && size <= UINT32_MAX ? (uint32_t)size : 0;
}

static int fill(struct layout *l, const struct layout_frame *outer, struct ctf_node *node,
		const struct ctf_type *type, const char *name);

static int children(struct layout *l, const struct layout_frame *outer, struct ctf_node *node)
{
	const struct ctf_type *type = node->type;
	struct layout_frame frame = { outer, node, 0 };

	for (uint32_t i = 0; i < type->member_count; i++) {
		if (fill(l, &frame, &node->child[i], type->member[i].type, type->member[i].name))
			return -1;
		frame.made = type->kind == CTF_KIND_STRUCT ? i + 1 : 0;
	}
	return 0;
}

static int fill_kind(struct layout *l, const struct layout_frame *outer, struct ctf_node *node)
{
	const struct ctf_type *type = node->type;
	struct ctf_node *target = NULL;

	switch (type->kind) {
	case CTF_KIND_SEQUENCE:
		if (layout_refer(l, outer, node, &target))
			return -1;
		if (target->type->is_signed)
			return layout_failed(l, "a signed field cannot be the length of", node->declared);
		/* fall through */
	case CTF_KIND_ARRAY:
		node->is_text = type->element->kind == CTF_KIND_INTEGER && type->element->is_text &&
				type->element->size == 8 && type->element->align <= 8;
		return fill(l, outer, &node->child[0], type->element, "");
	case CTF_KIND_VARIANT:
		if (layout_refer(l, outer, node, &target))
			return -1;
		if (!type->tag && target->type->kind != CTF_KIND_ENUM)
			return layout_failed(l, "only an enum can choose from the variant", node->declared);
		node->tag = type->tag ? type->tag : target->type;
		/* fall through */
	case CTF_KIND_STRUCT:
		return children(l, outer, node);
	default:
		return 0;
	}
}

/* Of headers and contexts of packets and events. */
static uint16_t roles_of(const struct layout *l, const struct ctf_node *node)
{
	if (l->making > SCOPE_SHARED)
		return 0;
	return l->metadata->version == 2 ? node->type->roles
					 : role_of(l->making, node->name, node->type);
}

static int fill(struct layout *l, const struct layout_frame *outer, struct ctf_node *node,
		const struct ctf_type *type, const char *name)
{
	uint32_t count = type->kind == CTF_KIND_ARRAY || type->kind == CTF_KIND_SEQUENCE ?
			 1 : type->member_count;
	int result;

	*node = (struct ctf_node){ .type = type,
				   .declared = name,
				   .child_count = count,
				   .name = name[0] == '_' && name[1] && l->metadata->version < 2
						   ? name + 1
						   : name,
				   .slot = NODE_NONE,
				   .ref = NODE_NONE,
				   .bound = NODE_NONE,
				   .element = NODE_NONE,
				   .scope = l->making };
	node->roles = roles_of(l, node);
	node->simple_name = simple_size(node->name);
	node->big_endian = (type->order == CTF_ORDER_NATIVE ? l->metadata->order : type->order) ==
			   CTF_ORDER_BE;
	if (l->depth == CTF_DEPTH_MAX)
		return layout_failed(l, "structures are nested too deeply at", name);
	l->nodes += count;
	if (l->nodes > NODES_MAX)
		return layout_failed(l, "the metadata has too many fields; the last is", name);
	if (count) {
		node->child = arena_alloc(&l->metadata->arena, count * sizeof *node);
		if (!node->child)
			return layout_failed(l, "the metadata needs too much memory at", name);
	}
	l->depth++;
	result = fill_kind(l, outer, node);
	l->depth--;
	if (result)
		return -1;
	settle(node);
	if (node->fixed != NODE_VARIES && node->fixed > FIXED_MAX)
		return layout_failed(l, "no packet can hold the field", name);
	return 0;
}

int layout_scope(struct layout *l, enum ctf_scope which, const struct ctf_type *type)
{
	struct ctf_node *node;

	l->scope[which] = NULL;
	l->making = which;
	if (!type)
		return 0;
	node = arena_alloc(&l->metadata->arena, sizeof *node);
	if (!node)
		return layout_failed(l, "the metadata needs too much memory at", ctf_scope_name[which]);
	if (fill(l, NULL, node, type, ""))
		return -1;
	l->scope[which] = node;
	return 0;
}

void layout_settle(struct ctf_node *node)
{
	for (uint32_t i = 0; i < node->child_count; i++)
		layout_settle(&node->child[i]);
	settle(node);
}

struct ctf_node *layout_member(const struct ctf_node *node, const char *name)
{
	for (uint32_t i = 0; node && i < node->child_count; i++)
		if (!strcmp(node->child[i].name, name))
			return &node->child[i];
	return NULL;
}
