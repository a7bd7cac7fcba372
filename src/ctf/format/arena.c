/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of growing size; an allocation is a pointer bump. */
#include "ctf/format/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 << 10)

struct arena_chunk {
	struct arena_chunk *next;
	size_t left;
	char *at;
	alignas(max_align_t) char bytes[];
};

static struct arena_chunk *chunk_new(struct arena *arena, size_t size)
{
	size_t bytes = size > CHUNK_BYTES ? size : CHUNK_BYTES;
	struct arena_chunk *chunk = calloc(1, sizeof *chunk + bytes);

	if (!chunk)
		return NULL;
	chunk->next = arena->chunk;
	chunk->left = bytes;
	chunk->at = chunk->bytes;
	arena->chunk = chunk;
	return chunk;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_chunk *chunk = arena->chunk;
	void *result;

	if (size > ARENA_BUDGET || arena->used + size > ARENA_BUDGET)
		return NULL;
	size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	if (!chunk || chunk->left < size)
		chunk = chunk_new(arena, size);
	if (!chunk)
		return NULL;
	result = chunk->at;
	chunk->at += size;
	chunk->left -= size;
	arena->used += size;
	return result;
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
	while (arena->chunk) {
		struct arena_chunk *next = arena->chunk->next;

		free(arena->chunk);
		arena->chunk = next;
	}
	arena->used = 0;
}
