/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is freed together: everything that is built from the metadata of one trace. Nothing
 * is freed alone. A budget keeps hostile metadata from using up the memory of the machine.
 */
#ifndef KYMO_CTF_ARENA_H
#define KYMO_CTF_ARENA_H

#include <stddef.h>

#include "base/pool.h"

/* Enough for 100 000 event classes; a trace of LTTng's kernel tracer needs 3 MiB. */
#define ARENA_BUDGET ((size_t)256 << 20)

struct arena {
	struct pool pool;
	size_t used; /* in all of the pool */
};

/**
 * arena_alloc() - @size zeroed bytes, aligned for anything
 *
 * Context: allocates.
 * Return: NULL when memory or the budget is exhausted.
 */
void *arena_alloc(struct arena *arena, size_t size);

/** arena_text() - a NUL-terminated copy of @size bytes. Return: NULL as arena_alloc(). */
char *arena_text(struct arena *arena, const char *text, size_t size);

/**
 * arena_grow() - an array of @count elements with room for one more
 *
 * Doubles when @count reaches a power of two (from 4 on); the old copy stays until the end.
 * Return: the array, moved or not; NULL as arena_alloc().
 */
void *arena_grow(struct arena *arena, void *array, size_t count, size_t element);

/** arena_free() - everything. */
void arena_free(struct arena *arena);

#endif
