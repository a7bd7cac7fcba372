/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is freed all at once: objects and strings that live as long as their owner.
 * Context: not thread-safe; allocates by blocks.
 */
#ifndef KYMO_BASE_POOL_H
#define KYMO_BASE_POOL_H

#include <stddef.h>

struct pool_block;

struct pool {
	struct pool_block *block;	/* the newest */
	size_t used, size;		/* of the newest */
	size_t total;                   /* of all blocks */
};
#define POOL_INIT             \
	{                     \
		NULL, 0, 0, 0 \
	}

/** pool_new() - @size zeroed bytes, aligned for any type. Return: NULL when there is no memory. */
void *pool_new(struct pool *pool, size_t size);

/** pool_text() - a NUL-terminated copy of @length bytes. Return: NULL when there is no memory. */
char *pool_text(struct pool *pool, const char *text, size_t length);

/** pool_free() - release everything; the pool is empty and usable afterwards. */
void pool_free(struct pool *pool);

#endif
