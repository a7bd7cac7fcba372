/* SPDX-License-Identifier: Apache-2.0 */
/* A pool with a budget. See arena.h. */
#include "ctf/format/arena.h"

#include <stdint.h>
#include <string.h>

void *arena_alloc(struct arena *arena, size_t size)
{
	const size_t align = sizeof(max_align_t); /* many small pieces must not pass the budget */

	if (size > ARENA_BUDGET || arena->used + size > ARENA_BUDGET)
		return NULL;
	arena->used += (size + align - 1) / align * align;
	return pool_new(&arena->pool, size);
}

char *arena_text(struct arena *arena, const char *text, size_t size)
{
	char *copy = arena_alloc(arena, size + 1);

	if (copy)
		memcpy(copy, text, size);
	return copy;
}

void *arena_grow(struct arena *arena, void *array, size_t count, size_t element)
{
	void *bigger;

	if (array && (count < 4 || (count & (count - 1))))
		return array;
	if (count > SIZE_MAX / element / 2)
		return NULL;
	bigger = arena_alloc(arena, (count < 4 ? 4 : 2 * count) * element);
	if (bigger && count)
		memcpy(bigger, array, count * element);
	return bigger;
}

void arena_free(struct arena *arena)
{
	pool_free(&arena->pool);
	arena->used = 0;
}
