/* SPDX-License-Identifier: Apache-2.0 */
/* The order of values: for qsort(), the lesser and the larger one of two, binary search. */
#ifndef KYMO_BASE_ORDER_H
#define KYMO_BASE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/** ORDER() - -1, 0 or 1, as @a is less than, equal to or larger than @b, which are numbers; by
 * several keys: ORDER(x->host, y->host) ?: ORDER(x->tid, y->tid). */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static inline int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/**
 * order_first() - the index of the first of @count elements that is not less than @key; @count:
 * none
 * @items: sorted by @compare, which gets @key and an element
 * @size: of an element, in bytes
 *
 * Context: calls @compare at most 64 times.
 */
size_t order_first(const void *key, const void *items, size_t count, size_t size,
		   int (*compare)(const void *key, const void *item));

/** order_after() - the same of the first element that is larger than @key. */
size_t order_after(const void *key, const void *items, size_t count, size_t size,
		   int (*compare)(const void *key, const void *item));

#endif
