/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From types to nodes, see layout.h. A reference such as "n" or "stream.event.header.id" is
 * searched in this order: as an absolute path; in the structures around the field, from the
 * innermost, among the fields in front of it; in the scopes before this one, from the last.
 */
#include "ctf/read/layout.h"

#include <string.h>

#include "base/text.h"
#include "ctf/format/bits.h"
#include "ctf/tsdl/role.h"

/* The structure being made around the present field. */
struct layout_frame {
	const struct layout_frame *outer;
	struct ctf_node *node;
	uint32_t made;			/* its children that exist already */
};

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

static int failed(struct layout *l, const char *what, const char *name)
{
	return err_set(l->err, KYMO_EXIT_INPUT, "%s: %s: %s \"%s\"", l->path, l->place, what, name);
}

static struct ctf_node *child_named(const struct ctf_node *node, uint32_t count, const char *part,
				    size_t size)
{
	for (uint32_t i = 0; i < count; i++)
		if (strlen(node->child[i].declared) == size &&
		    !memcmp(node->child[i].declared, part, size))
			return &node->child[i];
	return NULL;
}

/* Follow "a.b.c" from @node, which has @count children so far. */
static struct ctf_node *descend(struct ctf_node *node, uint32_t count, const char *path)
{
	while (node) {
		size_t size = strcspn(path, ".");

		if (node->type->kind != CTF_KIND_STRUCT && node->type->kind != CTF_KIND_VARIANT)
			return NULL;
		node = child_named(node, count, path, size);
		if (!path[size])
			break;
		path += size + 1;
		count = node ? node->child_count : 0;
	}
	return node;
}

static struct ctf_node *absolute(struct layout *l, const struct layout_frame *inner,
				 const char *path)
{
	const struct layout_frame *root = inner;

	while (root && root->outer)
		root = root->outer;
	for (unsigned i = 0; i < SCOPE_COUNT; i++) {
		size_t size = strlen(ctf_scope_name[i]);

		if (strncmp(path, ctf_scope_name[i], size) || path[size] != '.')
			continue;
		if (l->scope[i])
			return descend(l->scope[i], l->scope[i]->child_count, path + size + 1);
		/* The scope under construction: only fields that exist already can be referred
		 * to. */
		return root && i == l->making ? descend(root->node, root->made, path + size + 1)
					      : NULL;
	}
	return NULL;
}

static struct ctf_node *resolve(struct layout *l, const struct layout_frame *inner,
				const char *path)
{
	struct ctf_node *found = absolute(l, inner, path);

	for (const struct layout_frame *f = inner; f && !found; f = f->outer)
		found = descend(f->node, f->made, path);
	for (int i = SCOPE_COUNT - 1; i >= 0 && !found; i--)
		if (l->scope[i])
			found = descend(l->scope[i], l->scope[i]->child_count, path);
	return found;
}

/*
 * CTF 2: a location names one field, but where the way leads through a variant, it is another field
 * for each option. All of them get the same slot, which then holds the value of the one that was
 * decoded last.
 */
struct targets {
	struct ctf_node **node;
	uint32_t count;
};
#define TARGETS_MAX 64

/* Fields that do not exist yet have no type. An array on the way: its present element. */
static void find_targets(struct ctf_node *node, const struct ctf_location *to, uint32_t step,
			 struct targets *found)
{
	if (!node->type || found->count == TARGETS_MAX)
		return;
	switch (node->type->kind) {
	case CTF_KIND_INTEGER:
	case CTF_KIND_ENUM:
		if (step == to->count)
			found->node[found->count++] = node;
		break;
	case CTF_KIND_STRUCT:
		for (uint32_t i = 0; i < node->child_count && step < to->count; i++)
			if (node->child[i].type && !strcmp(node->child[i].declared, to->name[step]))
				find_targets(&node->child[i], to, step + 1, found);
		break;
	case CTF_KIND_VARIANT:
		for (uint32_t i = 0; i < node->child_count; i++)
			find_targets(&node->child[i], to, step, found);
		break;
	case CTF_KIND_ARRAY:
	case CTF_KIND_SEQUENCE:
		find_targets(&node->child[0], to, step, found);
		break;
	default:
		break;
	}
}

/* Where the way of @to begins, or NULL. */
static struct ctf_node *begin_of(struct layout *l, const struct layout_frame *inner,
				 const struct ctf_location *to)
{
	const struct layout_frame *f = inner;
	uint32_t up = to->up;

	if (to->scope >= 0 && to->scope != l->making)
		return l->scope[to->scope];
	for (; f; f = f->outer) {
		bool root = !f->outer;

		if (to->scope >= 0 ? root : f->node->type->kind == CTF_KIND_STRUCT && !up--)
			return f->node;
	}
	return NULL;
}

static int give_slot(struct layout *l, struct ctf_node *to, const char *name);

static int refer_ctf2(struct layout *l, const struct layout_frame *inner, struct ctf_node *node,
		      struct ctf_node **target)
{
	const struct ctf_location *to = node->type->location;
	struct ctf_node *begin = begin_of(l, inner, to), *list[TARGETS_MAX];
	struct targets found = { list, 0 };
	int16_t slot = NODE_NONE;

	if (begin)
		find_targets(begin, to, 0, &found);
	if (!found.count)
		return failed(l, "there is no field in front of it that gives length or choice of", node->declared);
	for (uint32_t i = 0; i < found.count; i++) {
		if (list[i]->slot != NODE_NONE && slot != NODE_NONE && list[i]->slot != slot)
			return failed(l, "fields of several variants give length or choice of", node->declared);
		slot = list[i]->slot != NODE_NONE ? list[i]->slot : slot;
	}
	for (uint32_t i = 0; i < found.count; i++) {
		if (slot != NODE_NONE)
			list[i]->slot = slot;
		else if (give_slot(l, list[i], to->name[to->count - 1]))
			return -1;
		slot = list[i]->slot;
	}
	node->ref = slot;
	*target = list[0];
	return 0;
}

static int refer(struct layout *l, const struct layout_frame *inner, struct ctf_node *node,
		 struct ctf_node **target)
{
	const char *path = node->type->path;
	struct ctf_node *to = path ? resolve(l, inner, path) : NULL;

	if (node->type->location)
		return refer_ctf2(l, inner, node, target);
	if (!to)
		return failed(l, "there is no field in front of it that gives length or choice of",
			      node->declared);
	if (to->type->kind != CTF_KIND_INTEGER && to->type->kind != CTF_KIND_ENUM)
		return failed(l, "this field is no integer but gives length or choice:", path);
	if (to->slot == NODE_NONE && give_slot(l, to, path))
		return -1;
	node->ref = to->slot;
	*target = to;
	return 0;
}

static int give_slot(struct layout *l, struct ctf_node *to, const char *name)
{
	const bool shared = to->scope <= SCOPE_SHARED;

	if (shared && l->slots_shared < SLOTS_SHARED)
		to->slot = (int16_t)l->slots_shared++;
	else if (!shared && SLOTS_SHARED + l->slots_class < SLOTS_MAX)
		to->slot = (int16_t)(SLOTS_SHARED + l->slots_class++);
	else
		return failed(l, "too many fields give lengths or choices; the last is", name);
	if (l->slots_class > l->slots_most)
		l->slots_most = l->slots_class;
	return 0;
}

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
		if (refer(l, outer, node, &target))
			return -1;
		if (target->type->is_signed)
			return failed(l, "a signed field cannot be the length of", node->declared);
		/* fall through */
	case CTF_KIND_ARRAY:
		node->is_text = type->element->kind == CTF_KIND_INTEGER && type->element->is_text &&
				type->element->size == 8 && type->element->align <= 8;
		return fill(l, outer, &node->child[0], type->element, "");
	case CTF_KIND_VARIANT:
		if (refer(l, outer, node, &target))
			return -1;
		if (!type->tag && target->type->kind != CTF_KIND_ENUM)
			return failed(l, "only an enum can choose from the variant", node->declared);
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
		return failed(l, "structures are nested too deeply at", name);
	l->nodes += count;
	if (l->nodes > NODES_MAX)
		return failed(l, "the metadata has too many fields; the last is", name);
	if (count) {
		node->child = arena_alloc(&l->metadata->arena, count * sizeof *node);
		if (!node->child)
			return failed(l, "the metadata needs too much memory at", name);
	}
	l->depth++;
	result = fill_kind(l, outer, node);
	l->depth--;
	if (result)
		return -1;
	settle(node);
	if (node->fixed != NODE_VARIES && node->fixed > FIXED_MAX)
		return failed(l, "no packet can hold the field", name);
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
		return failed(l, "the metadata needs too much memory at", ctf_scope_name[which]);
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
