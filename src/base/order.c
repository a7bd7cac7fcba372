/* SPDX-License-Identifier: Apache-2.0 */
/* Binary search. See order.h. */
#include "base/order.h"

/* The first element to which @key compares as @least or less. */
static size_t search(const void *key, const void *items, size_t count, size_t size,
		     int (*compare)(const void *key, const void *item), int least)
{
	size_t low = 0, high = count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare(key, (const char *)items + middle * size) > least)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t order_first(const void *key, const void *items, size_t count, size_t size,
		   int (*compare)(const void *key, const void *item))
{
	return search(key, items, count, size, compare, 0);
}

size_t order_after(const void *key, const void *items, size_t count, size_t size,
		   int (*compare)(const void *key, const void *item))
{
	return search(key, items, count, size, compare, -1);
}
