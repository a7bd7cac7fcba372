/* SPDX-License-Identifier: Apache-2.0 */
/*
 * References between fields. One such as "n" or "stream.event.header.id" is searched in this order:
 * as an absolute path; in the structures around the field, from the innermost, among the fields in
 * front of it; in the scopes before this one, from the last.
 */
#include "ctf/read/layout_refer.h"

#include <string.h>

int layout_failed(struct layout *l, const char *what, const char *name)
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

static int give_slot(struct layout *l, struct ctf_node *to, const char *name)
{
	const bool shared = to->scope <= SCOPE_SHARED;

	if (shared && l->slots_shared < SLOTS_SHARED)
		to->slot = (int16_t)l->slots_shared++;
	else if (!shared && SLOTS_SHARED + l->slots_class < SLOTS_MAX)
		to->slot = (int16_t)(SLOTS_SHARED + l->slots_class++);
	else
		return layout_failed(l, "too many fields give lengths or choices; the last is", name);
	if (l->slots_class > l->slots_most)
		l->slots_most = l->slots_class;
	return 0;
}

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
		return layout_failed(l, "there is no field in front of it that gives length or choice of", node->declared);
	for (uint32_t i = 0; i < found.count; i++) {
		if (list[i]->slot != NODE_NONE && slot != NODE_NONE && list[i]->slot != slot)
			return layout_failed(l, "fields of several variants give length or choice of", node->declared);
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

int layout_refer(struct layout *l, const struct layout_frame *inner, struct ctf_node *node,
		 struct ctf_node **target)
{
	const char *path = node->type->path;
	struct ctf_node *to = path ? resolve(l, inner, path) : NULL;

	if (node->type->location)
		return refer_ctf2(l, inner, node, target);
	if (!to)
		return layout_failed(l, "there is no field in front of it that gives length or choice of",
			      node->declared);
	if (to->type->kind != CTF_KIND_INTEGER && to->type->kind != CTF_KIND_ENUM)
		return layout_failed(l, "this field is no integer but gives length or choice:", path);
	if (to->slot == NODE_NONE && give_slot(l, to, path))
		return -1;
	node->ref = to->slot;
	*target = to;
	return 0;
}
