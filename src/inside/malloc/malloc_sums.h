/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of allocations, with KYMO_MALLOC=sums. Nothing here may allocate memory, but for a thread's
 * first call. */
#ifndef KYMO_MALLOC_SUMS_H
#define KYMO_MALLOC_SUMS_H

#include <stdbool.h>
#include <stddef.h>

extern bool malloc_sums; /* known when the library has been loaded */

/** malloc_sums_find() - read KYMO_MALLOC and find malloc_usable_size(). Context: dlsym(); once. */
void malloc_sums_find(void);

/** malloc_size() - the bytes of a block, as the allocator has them; 0: none, or not known. */
size_t malloc_size(void *ptr);

/**
 * malloc_count() - a call allocated @size bytes, or freed @freed_size bytes, or both
 * @allocated, @freed: NULL: it did not
 *
 * Context: as malloc_emit(); the first call of a thread allocates.
 */
void malloc_count(const void *allocated, size_t size, const void *freed, size_t freed_size);

/** malloc_sums_record() - record what this thread has counted. Context: as malloc_emit(). */
void malloc_sums_record(void);

#endif
