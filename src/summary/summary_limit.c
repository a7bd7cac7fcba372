/* SPDX-License-Identifier: Apache-2.0 */
/* See summary_limit.h. */
#include "summary/summary_limit.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"

struct summary_limit {
	unsigned most, count[SUMMARY_KINDS];
	struct map known; /* (hash of name and `of`, kind): it has room */
};

struct summary_limit *summary_limit_new(unsigned most)
{
	struct summary_limit *limit = calloc(1, sizeof(*limit));

	if (limit)
		limit->most = most;
	return limit;
}

void summary_limit_free(struct summary_limit *limit)
{
	if (limit)
		map_free(&limit->known);
	free(limit);
}

bool summary_limit_has(struct summary_limit *limit, enum summary_kind kind, const char *name,
		       const char *of)
{
	uint64_t hash;

	if (!limit)
		return true;
	hash = text_hash(text_hash(TEXT_HASH, name), of);
	if (map_get(&limit->known, hash, kind))
		return true;
	if (limit->count[kind] >= limit->most || map_put(&limit->known, hash, kind, limit))
		return false;
	limit->count[kind]++;
	return true;
}

bool summary_is_other(const struct summary_entity *entity)
{
	return !*entity->of && strcmp(entity->name, SUMMARY_OTHER) == 0;
}

void summary_count_other(struct summary *summary, enum summary_kind kind,
			 enum summary_counter counter, uint64_t count)
{
	struct summary_limit *limit = summary->limit;
	struct summary_entity *entity;

	/* It always has room. */
	summary->limit = NULL;
	entity = summary_entity(summary, kind, SUMMARY_OTHER, "");
	summary->limit = limit;
	if (entity)
		entity->count[counter] += count;
}

void summary_limit_end(struct summary *summary)
{
	for (unsigned kind = 0; summary->over && kind < SUMMARY_KINDS; kind++) {
		struct summary_entity *other = summary_find(summary, kind, SUMMARY_OTHER, "");

		if (!other)
			continue;
		other->label = other->name;
		other->ask = "";
		other->period_ns = 0;
		other->is_startup = other->is_other_clock = false;
	}
}
