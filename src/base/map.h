/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash map from two 64-bit numbers to a pointer: open addressing, linear probing, removal
 * without tombstones. The first key is typically an address, the second what makes it unique.
 *
 * Context of all functions: not thread-safe; only map_put() and map_at() allocate.
 */
#ifndef KYMO_BASE_MAP_H
#define KYMO_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t key, scope;
	void *value;		/* NULL: the slot is free */
};

struct map {
	struct map_slot *slot;
	size_t mask;		/* slots - 1; slots is 0 or a power of two */
	size_t count;
};
#define MAP_INIT { NULL, 0, 0 }

/**
 * map_free() - release the slots; values are the caller's. The map is empty and usable afterwards.
 */
void map_free(struct map *map);

/* Addresses differ in their middle bits and scopes in their low ones; both must reach all bits. */
static inline size_t map_hash(uint64_t key, uint64_t scope)
{
	uint64_t h = (key ^ (scope * 0xd6e8feb86659fd93ull)) * 0x9e3779b97f4a7c15ull;

	return h ^ h >> 32;
}

/* The slot of (@key, @scope), or the free one where it belongs. @map has slots. */
static inline struct map_slot *map_find(const struct map *map, uint64_t key, uint64_t scope)
{
	size_t at = map_hash(key, scope) & map->mask;

	while (map->slot[at].value && (map->slot[at].key != key || map->slot[at].scope != scope))
		at = (at + 1) & map->mask;
	return &map->slot[at];
}

/** map_get() - the value of (@key, @scope), or NULL. Context: does not allocate. */
static inline void *map_get(const struct map *map, uint64_t key, uint64_t scope)
{
	return map->slot ? map_find(map, key, scope)->value : NULL;
}

/**
 * map_put() - set the value of (@key, @scope), replacing what was there
 * @value: not NULL
 *
 * Context: allocates when the map grows.
 * Return: 0, or -ENOMEM (the map is unchanged).
 */
int map_put(struct map *map, uint64_t key, uint64_t scope, void *value);

/**
 * map_at() - the value of (@key, @scope); if the map has none, @size zeroed bytes of calloc() are
 * put there
 *
 * Context: allocates. Return: NULL without memory (the map is unchanged).
 */
void *map_at(struct map *map, uint64_t key, uint64_t scope, size_t size);

/** map_free_all() - free() all values, and map_free(). */
void map_free_all(struct map *map);

/** map_del_if() - remove (@key, @scope) if its value is @value. */
void map_del_if(struct map *map, uint64_t key, uint64_t scope, const void *value);

/** map_del() - remove (@key, @scope). Return: its value, or NULL if the map does not have it. */
void *map_del(struct map *map, uint64_t key, uint64_t scope);

/**
 * map_next() - walk all entries in no particular order
 * @at: 0 to begin; moved on by each call. Do not change the map while walking.
 *
 * Return: the entry, or NULL at the end.
 */
const struct map_slot *map_next(const struct map *map, size_t *at);

#endif
