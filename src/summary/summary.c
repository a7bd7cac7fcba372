/* SPDX-License-Identifier: Apache-2.0 */
/* A summary: its entities and texts; see summary.h. */
#include "summary/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/text.h"
#include "summary/summary_internal.h"
#include "summary/summary_limit.h"

/* Texts by their hash, and entities by the copies of their names. */
struct summary_names {
	struct map texts;    /* (hash, n-th with this hash) -> text */
	struct map entities; /* (name, of and kind) -> struct summary_entity */
};

struct summary *summary_new(void)
{
	struct summary *summary = calloc(1, sizeof(*summary));
	struct summary_names *names = calloc(1, sizeof(*names));

	if (!summary || !names) {
		free(summary);
		free(names);
		return NULL;
	}
	summary->names = names;
	summary->begin_ns = summary->origin_ns = INT64_MAX;
	summary->end_ns = INT64_MIN;
	summary->host = summary->clock = "";
	for (unsigned part = 0; part < MACHINE_PARTS; part++)
		summary->machine[part] = "";
	return summary;
}

void summary_free(struct summary *summary)
{
	if (!summary)
		return;
	for (unsigned i = 0; i < summary->entities; i++) {
		struct summary_entity *entity = summary->entity[i];

		for (unsigned d = 0; d < SUMMARY_DISTRIBUTIONS; d++)
			histogram_free(&entity->histogram[d]);
		summary_startup_free(entity);
		free(entity->worst);
		free(entity->culprit);
		free(entity->segment);
		free(entity);
	}
	free(summary->entity);
	map_free(&summary->names->entities);
	map_free_all(&summary->names->texts);
	free(summary->names);
	free(summary);
}

/* ---- texts ---- */

/* One address for all empty texts. */
static const char no_text[] = "";

/* The copy of @text, or NULL; *@n: how many other texts have its hash. */
static char *text_known(const struct summary *summary, uint64_t hash, const char *text, uint64_t *n)
{
	char *copy;

	for (*n = 0; (copy = map_get(&summary->names->texts, hash, *n)); ++*n)
		if (strcmp(copy, text) == 0)
			return copy;
	return NULL;
}

const char *summary_text(struct summary *summary, const char *text)
{
	const uint64_t hash = text ? text_hash(TEXT_HASH, text) : 0;
	char *copy;
	uint64_t n;

	if (!text || !*text)
		return no_text;
	copy = text_known(summary, hash, text, &n);
	if (copy)
		return copy;
	copy = strdup(text);
	if (!copy || map_put(&summary->names->texts, hash, n, copy)) {
		free(copy);
		summary->failed = true;
		return "";
	}
	return copy;
}

/* ---- entities ---- */

/* Texts are unique, and aligned: the kind has room in the low bits of one address. */
static uint64_t scope_of(enum summary_kind kind, const char *owner)
{
	return ((uint64_t)(uintptr_t)owner << 4) + kind;
}

/* NULL and "" are no text, as for summary_text(). Return: NULL: it has no copy. */
static const char *copy_of(const struct summary *summary, const char *text)
{
	uint64_t n;

	return text && *text ? text_known(summary, text_hash(TEXT_HASH, text), text, &n) : no_text;
}

struct summary_entity *summary_find(const struct summary *summary, enum summary_kind kind,
				    const char *name, const char *of)
{
	const char *own = copy_of(summary, name), *owner = copy_of(summary, of);

	return own && owner ? map_get(&summary->names->entities, (uintptr_t)own,
				      scope_of(kind, owner))
			    : NULL;
}

static struct summary_entity *entity_new(struct summary *summary, enum summary_kind kind,
					 const char *name, const char *of)
{
	const char *own = summary_text(summary, name), *owner = summary_text(summary, of);
	const uint64_t scope = scope_of(kind, owner);
	struct summary_entity *entity =
		ARRAY_ROOM(summary->entity, summary->entities, summary->entities_size)
			? calloc(1, sizeof(*entity))
			: NULL;

	if (!entity || map_put(&summary->names->entities, (uintptr_t)own, scope, entity)) {
		free(entity);
		summary->failed = true;
		return NULL;
	}
	entity->kind = kind;
	entity->name = entity->label = own;
	entity->of = owner;
	entity->ask = "";
	return summary->entity[summary->entities++] = entity;
}

struct summary_entity *summary_entity(struct summary *summary, enum summary_kind kind,
				      const char *name, const char *of)
{
	struct summary_entity *entity = summary_find(summary, kind, name, of);

	if (!entity && !summary_limit_has(summary->limit, kind, name, of ? of : "")) {
		summary->over = 1;
		name = SUMMARY_OTHER;
		of = "";
		entity = summary_find(summary, kind, name, of);
	}
	return entity ? entity : entity_new(summary, kind, name, of);
}

const struct summary_entity *summary_entity_like(const struct summary *summary,
						 const struct summary_entity *entity)
{
	return summary_find(summary, entity->kind, entity->name, entity->of);
}

/* Equal values: the earlier one first, so that merging does not depend on the order. */
static bool is_worse(const struct summary_instance *a, const struct summary_instance *b)
{
	if (a->is_startup != b->is_startup)
		return b->is_startup;
	return a->value_ns != b->value_ns ? a->value_ns > b->value_ns : a->begin_ns < b->begin_ns;
}

bool summary_takes_worst(const struct summary_entity *entity,
			 const struct summary_instance *instance)
{
	return entity->worsts < SUMMARY_WORST_MAX ||
	       is_worse(instance, &entity->worst[SUMMARY_WORST_MAX - 1]);
}

/* Room for one instance more, and no more: most entities of a window have few. */
static bool worst_room(struct summary *summary, struct summary_entity *entity)
{
	struct summary_instance *larger =
		reallocarray(entity->worst, entity->worsts + 1, sizeof(*larger));

	if (larger)
		entity->worst = larger;
	summary->failed |= !larger;
	return larger != NULL;
}

void summary_add_worst(struct summary *summary, struct summary_entity *entity,
		       const struct summary_instance *instance)
{
	unsigned at = entity->worsts;

	if (!summary_takes_worst(entity, instance) ||
	    (at < SUMMARY_WORST_MAX && !worst_room(summary, entity)))
		return;
	if (at == SUMMARY_WORST_MAX)
		at--;
	else
		entity->worsts++;
	for (; at && is_worse(instance, &entity->worst[at - 1]); at--)
		entity->worst[at] = entity->worst[at - 1];
	entity->worst[at] = *instance;
}

void summary_add_culprit(struct summary *summary, struct summary_entity *entity,
			 const struct summary_culprit *culprit)
{
	for (unsigned i = 0; i < entity->culprits; i++) {
		struct summary_culprit *known = &entity->culprit[i];

		if (known->by != culprit->by || known->is_group != culprit->is_group)
			continue;
		known->is_assumed |= culprit->is_assumed;
		known->count += culprit->count;
		known->ns += culprit->ns;
		if (culprit->worst_ns > known->worst_ns)
			known->worst_ns = culprit->worst_ns;
		if (culprit->steady_ns > known->steady_ns)
			known->steady_ns = culprit->steady_ns;
		return;
	}
	if (ARRAY_ROOM(entity->culprit, entity->culprits, entity->culprits_size))
		entity->culprit[entity->culprits++] = *culprit;
	else
		summary->failed = true;
}

void summary_add_segment(struct summary *summary, struct summary_entity *entity,
			 const struct summary_segment *segment)
{
	for (unsigned i = 0; i < entity->segments; i++) {
		struct summary_segment *at = &entity->segment[i];

		if (at->what != segment->what || strcmp(at->who, segment->who) != 0 ||
		    strcmp(at->by, segment->by) != 0)
			continue;
		at->ns += segment->ns;
		memset(at->quantile, 0, sizeof(at->quantile));
		return;
	}
	if (ARRAY_ROOM(entity->segment, entity->segments, entity->segments_size))
		entity->segment[entity->segments++] = *segment;
	else
		summary->failed = true;
}
