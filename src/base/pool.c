/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is released all at once; see pool.h. */
#include "base/pool.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MIN 4096u
#define BLOCK_MAX 65536u

struct pool_block {
	struct pool_block *next;
	alignas(max_align_t) unsigned char bytes[];
};

/* Half of what there is: of thousands of small pools little is unused, and large ones have few
 * blocks. */
static size_t block_size(const struct pool *pool)
{
	const size_t size = pool->total / 2;

	return size < BLOCK_MIN ? BLOCK_MIN : size > BLOCK_MAX ? BLOCK_MAX : size;
}

void *pool_new(struct pool *pool, size_t size)
{
	size_t align = alignof(max_align_t);
	size_t take;
	struct pool_block *block;
	void *result;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + align - 1) / align * align;
	if (!pool->block || pool->size - pool->used < size) {
		take = block_size(pool);
		take = size > take ? size : take;
		block = calloc(1, sizeof(*block) + take);
		if (!block)
			return NULL;
		block->next = pool->block;
		*pool = (struct pool){ block, 0, take, pool->total + take };
	}
	result = pool->block->bytes + pool->used;
	pool->used += size;
	return result;
}

char *pool_text(struct pool *pool, const char *text, size_t length)
{
	char *copy = length < SIZE_MAX ? pool_new(pool, length + 1) : NULL;

	if (copy && length)
		memcpy(copy, text, length);
	return copy;
}

void pool_free(struct pool *pool)
{
	while (pool->block) {
		struct pool_block *next = pool->block->next;

		free(pool->block);
		pool->block = next;
	}
	*pool = (struct pool)POOL_INIT;
}
