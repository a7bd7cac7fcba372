/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define FIRST 16u	/* elements that the first allocation holds */

void *array_fit(void *items, size_t needed, size_t *capacity, size_t size)
{
	size_t more = *capacity > SIZE_MAX / 2 ? SIZE_MAX : 2 * *capacity;
	void *larger;

	if (more < FIRST)
		more = FIRST;
	if (more < needed)
		more = needed;
	larger = reallocarray(items, more, size);
	if (larger)
		*capacity = more;
	return larger;
}

void *array_extend(struct array *array, uint32_t index, size_t size)
{
	size_t count = array->count ? array->count : FIRST;
	char *larger;

	while (count <= index)
		count *= 2;
	if (count > UINT32_MAX)
		return NULL;
	larger = reallocarray(array->item, count, size);
	if (!larger)
		return NULL;
	memset(larger + array->count * size, 0, (count - array->count) * size);
	array->item = larger;
	array->count = (uint32_t)count;
	return larger + index * size;
}

void array_free(struct array *array)
{
	free(array->item);
	*array = (struct array){ 0 };
}
