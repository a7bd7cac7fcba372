/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is released all at once: objects and strings that live as long as their owner.
 * Context: not thread-safe; allocates by blocks.
 */
#ifndef KYMO_BASE_ARENA_H
#define KYMO_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *block;	/* the newest */
	size_t used, size;		/* of the newest */
};
#define ARENA_INIT { NULL, 0, 0 }

/** arena_new() - @size zeroed bytes, aligned for any type. Return: NULL when there is no memory. */
void *arena_new(struct arena *arena, size_t size);

/** arena_text() - a NUL-terminated copy of @length bytes. Return: NULL when there is no memory. */
char *arena_text(struct arena *arena, const char *text, size_t length);

/** arena_free() - release everything; the arena is empty and usable afterwards. */
void arena_free(struct arena *arena);

#endif
