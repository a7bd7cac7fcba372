/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dictionary of a chunk: a hash table of numbers of texts; open addressing, compared byte by
 * byte, for texts come from others.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export/parquet/parquet_internal.h"

#define SLOTS_LEAST 256u

static uint64_t hash_of(const char *text, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3u;
	return hash ^ hash >> 29;
}

static size_t size_of(const struct texts *texts, uint32_t number)
{
	uint32_t size;

	memcpy(&size, texts->values.data + texts->begin[number], sizeof(size));
	return le32toh(size);
}

static const char *text_of(const struct texts *texts, uint32_t number)
{
	return (const char *)texts->values.data + texts->begin[number] + sizeof(uint32_t);
}

static uint32_t *slot_of(const struct texts *texts, const char *text, size_t size)
{
	const uint32_t mask = texts->slots - 1;
	uint32_t at = (uint32_t)hash_of(text, size) & mask;

	for (; texts->slot[at]; at = (at + 1) & mask) {
		const uint32_t number = texts->slot[at] - 1;

		if (size_of(texts, number) == size &&
		    memcmp(text_of(texts, number), text, size) == 0)
			break;
	}
	return &texts->slot[at];
}

/* Twice as many slots, so that at least half of them are free. */
static bool make_room(struct texts *texts)
{
	const uint32_t slots = texts->slots ? 2 * texts->slots : SLOTS_LEAST;
	uint32_t *slot;

	if (texts->count < texts->slots / 2)
		return true;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return false;
	free(texts->slot);
	texts->slot = slot;
	texts->slots = slots;
	for (uint32_t i = 0; i < texts->count; i++)
		*slot_of(texts, text_of(texts, i), size_of(texts, i)) = i + 1;
	return true;
}

int64_t parquet_texts_number(struct texts *texts, const char *text, size_t size)
{
	uint32_t *slot;

	if (!make_room(texts)) {
		texts->failed = true;
		return -1;
	}
	slot = slot_of(texts, text, size);
	if (*slot)
		return *slot - 1;
	if (texts->count == TEXTS_MOST || size > TEXTS_BYTES_MOST ||
	    texts->values.size + size > TEXTS_BYTES_MOST)
		return -1;
	if (!ARRAY_ROOM(texts->begin, texts->count, texts->room)) {
		texts->failed = true;
		return -1;
	}
	texts->begin[texts->count] = (uint32_t)texts->values.size;
	bytes_u32(&texts->values, (uint32_t)size);
	bytes_put(&texts->values, text, size);
	if (texts->values.failed)
		return -1;
	*slot = ++texts->count;
	return texts->count - 1;
}

void parquet_texts_clear(struct texts *texts)
{
	if (texts->slot)
		memset(texts->slot, 0, texts->slots * sizeof(*texts->slot));
	texts->count = 0;
	texts->values.size = 0;
}

void parquet_texts_free(struct texts *texts)
{
	free(texts->values.data);
	free(texts->begin);
	free(texts->slot);
}
