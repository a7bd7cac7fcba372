/* SPDX-License-Identifier: Apache-2.0 */
/* Hash map of two numbers to a pointer; see map.h. */
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>

#define SLOTS_MIN 16u

void map_free(struct map *map)
{
	free(map->slot);
	*map = (struct map)MAP_INIT;
}

static int grow(struct map *map)
{
	struct map larger = MAP_INIT;
	size_t slots = map->slot ? (map->mask + 1) * 2 : SLOTS_MIN;
	size_t i;

	larger.slot = calloc(slots, sizeof(*larger.slot));
	if (!larger.slot)
		return -ENOMEM;
	larger.mask = slots - 1;
	larger.count = map->count;
	for (i = 0; map->slot && i <= map->mask; i++)
		if (map->slot[i].value)
			*map_find(&larger, map->slot[i].key, map->slot[i].scope) = map->slot[i];
	free(map->slot);
	*map = larger;
	return 0;
}

int map_put(struct map *map, uint64_t key, uint64_t scope, void *value)
{
	struct map_slot *slot;

	/* At most half full: probes stay short, and there is always a free slot to end them. */
	if ((!map->slot || map->count >= (map->mask + 1) / 2) && grow(map))
		return -ENOMEM;
	slot = map_find(map, key, scope);
	if (!slot->value)
		map->count++;
	*slot = (struct map_slot){ key, scope, value };
	return 0;
}

/*
 * A search ends at a free slot: move back each later entry of the run that would lie behind the
 * hole.
 */
static void close_hole(struct map *map, size_t hole)
{
	size_t at, home;

	for (at = (hole + 1) & map->mask; map->slot[at].value; at = (at + 1) & map->mask) {
		home = map_hash(map->slot[at].key, map->slot[at].scope) & map->mask;
		if (((at - home) & map->mask) < ((at - hole) & map->mask))
			continue;
		map->slot[hole] = map->slot[at];
		hole = at;
	}
	map->slot[hole].value = NULL;
	map->count--;
}

void *map_del(struct map *map, uint64_t key, uint64_t scope)
{
	struct map_slot *slot = map->slot ? map_find(map, key, scope) : NULL;
	void *value = slot ? slot->value : NULL;

	if (value)
		close_hole(map, (size_t)(slot - map->slot));
	return value;
}

void map_del_if(struct map *map, uint64_t key, uint64_t scope, const void *value)
{
	struct map_slot *slot = map->slot ? map_find(map, key, scope) : NULL;

	if (slot && value && slot->value == value)
		close_hole(map, (size_t)(slot - map->slot));
}

const struct map_slot *map_next(const struct map *map, size_t *at)
{
	while (map->slot && *at <= map->mask) {
		const struct map_slot *slot = &map->slot[(*at)++];

		if (slot->value)
			return slot;
	}
	return NULL;
}

void *map_at(struct map *map, uint64_t key, uint64_t scope, size_t size)
{
	void *value = map_get(map, key, scope);

	if (value)
		return value;
	value = calloc(1, size);
	if (!value || map_put(map, key, scope, value)) {
		free(value);
		return NULL;
	}
	return value;
}

void map_free_all(struct map *map)
{
	const struct map_slot *slot;

	for (size_t at = 0; (slot = map_next(map, &at));)
		free(slot->value);
	map_free(map);
}
