/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is released all at once; see arena.h. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE 65536u

struct arena_block {
	struct arena_block *next;
	alignas(max_align_t) unsigned char bytes[];
};

void *arena_new(struct arena *arena, size_t size)
{
	size_t align = alignof(max_align_t);
	size_t take;
	struct arena_block *block;
	void *result;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + align - 1) / align * align;
	if (!arena->block || arena->size - arena->used < size) {
		take = size > BLOCK_SIZE ? size : BLOCK_SIZE;
		block = calloc(1, sizeof(*block) + take);
		if (!block)
			return NULL;
		block->next = arena->block;
		*arena = (struct arena){ block, 0, take };
	}
	result = arena->block->bytes + arena->used;
	arena->used += size;
	return result;
}

char *arena_text(struct arena *arena, const char *text, size_t length)
{
	char *copy = length < SIZE_MAX ? arena_new(arena, length + 1) : NULL;

	if (copy && length)
		memcpy(copy, text, length);
	return copy;
}

void arena_free(struct arena *arena)
{
	while (arena->block) {
		struct arena_block *next = arena->block->next;

		free(arena->block);
		arena->block = next;
	}
	*arena = (struct arena)ARENA_INIT;
}
