/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mappings of files that another process can change, or shorten, while they are mapped.
 *
 * Whoever touches a page behind the end of its file gets SIGBUS, and so does whoever writes a page
 * for which a full file system has no room. Every such mapping is made here. In a program that
 * called shared_map_guard(), the handler of SIGBUS puts zeros where the pages are gone, and notes
 * that; the reader then finds zeros, and refuses them as it refuses any other nonsense.
 */
#ifndef KYMO_BASE_SHARED_MAP_H
#define KYMO_BASE_SHARED_MAP_H

#include <stdbool.h>
#include <stddef.h>

/**
 * shared_map() - map the first @bytes of @fd
 * @bytes: a multiple of the page size, above 0
 *
 * Children after a fork do not have the mapping. Return: the address; NULL with errno. Context:
 * allocates, blocks.
 */
void *shared_map(int fd, size_t bytes, bool writable);

/** shared_map_grow() - map @bytes instead of @before. Return: the new address; NULL with errno:
 * @base is as before. */
void *shared_map_grow(void *base, size_t before, size_t bytes);

/** shared_unmap() - unmap what shared_map() or shared_map_grow() returned; NULL is fine. */
void shared_unmap(void *base, size_t bytes);

/** shared_map_is_torn() - whether pages of the mapping at @base were gone when somebody touched
 * them. Context: wait-free. */
bool shared_map_is_torn(const void *base);

/**
 * shared_map_guard() - survive files that somebody shortens while they are mapped
 *
 * Catches SIGBUS for the life of the program, for all mappings of this file. Any other SIGBUS is
 * fatal as before. For programs, not for libraries: a program that records itself has a handler of
 * its own, or none.
 */
void shared_map_guard(void);

#endif
