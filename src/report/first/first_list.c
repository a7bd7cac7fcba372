/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the first screen's tables: the entities of a kind, longest first. Many that are alike
 * but for their process are one row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/first/first_internal.h"

static int by_key(const void *a, const void *b)
{
	const struct first_row *x = a, *y = b;
	int order;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	order = strcmp(x->entity->name, y->entity->name);
	return order ? order : strcmp(x->entity->of, y->entity->of);
}

static int by_name(const void *a, const void *b)
{
	const struct first_row *x = a, *y = b;

	return x->entity->name != y->entity->name ? (x->entity->name < y->entity->name ? -1 : 1)
						  : by_key(a, b);
}

/* The first of those before row @i that it is alike; NULL: it is the first. */
static struct first_row *first_alike(const struct first_list *list, unsigned i)
{
	const struct summary_entity *entity = list->row[i].entity;
	unsigned at = i;

	while (at && list->row[at - 1].entity->name == entity->name)
		at--;
	while (at < i && !summary_is_alike(list->row[at].entity, entity))
		at++;
	return at < i ? &list->row[at] : NULL;
}

/* Many that are alike become one row, the worst of them. Those of one name stand together. */
static void fold_alike(struct first_list *list)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < list->count; i++) {
		struct first_row *first = first_alike(list, i);

		if (first)
			first->alike++;
	}
	for (unsigned i = 0; i < list->count; i++) {
		const struct first_row *first = first_alike(list, i);

		list->row[i].is_folded = first && first->alike > SUMMARY_ALIKE_ROWS;
	}
	for (unsigned i = 0; i < list->count; i++)
		if (!list->row[i].is_folded)
			list->row[kept++] = list->row[i];
	list->count = kept;
}

struct first_list first_list(const struct summary *summary, enum summary_kind kind,
			     enum summary_distribution by)
{
	struct first_list list = { 0 };

	for (unsigned i = 0; i < summary->entities; i++) {
		const struct summary_entity *entity = summary->entity[i];
		const struct histogram *h = &entity->histogram[by];

		if (entity->kind != kind || !h->count)
			continue;
		list.hidden += entity->is_startup;
		if (!entity->is_startup && ARRAY_ROOM(list.row, list.count, list.size))
			list.row[list.count++] = (struct first_row){ entity, h->max, 1, false };
	}
	if (!list.count)
		return list;
	qsort(list.row, list.count, sizeof(*list.row), by_name);
	fold_alike(&list);
	qsort(list.row, list.count, sizeof(*list.row), by_key);
	return list;
}

unsigned first_left(const struct first_list *list, unsigned rows)
{
	unsigned left = 0;

	for (unsigned i = rows; i < list->count; i++)
		left += list->row[i].alike > SUMMARY_ALIKE_ROWS ? list->row[i].alike : 1;
	return left;
}

int first_whole(const struct summary *summary, const struct first_row *row,
		enum summary_distribution by, struct summary_entity *whole, char *label,
		size_t size)
{
	int failed = 0;

	*whole = *row->entity;
	memset(whole->histogram, 0, sizeof(whole->histogram));
	memset(whole->count, 0, sizeof(whole->count));
	for (unsigned i = 0; i < summary->entities; i++) {
		const struct summary_entity *entity = summary->entity[i];

		if (entity->kind != row->entity->kind || !summary_is_alike(entity, row->entity))
			continue;
		failed |= histogram_merge(&whole->histogram[by], &entity->histogram[by]);
		for (unsigned c = 0; c < SUMMARY_COUNTERS; c++)
			whole->count[c] += entity->count[c];
	}
	snprintf(label, size, "%u x %.*s", row->alike, summary_plain_length(row->entity->label),
		 row->entity->label);
	whole->label = label;
	return failed ? -1 : 0;
}
