/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of another process: its mappings, its bytes, and the symbols of the objects in it.
 * Private to src/attach. */
#ifndef KYMO_ATTACH_MAPS_H
#define KYMO_ATTACH_MAPS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum object_kind {
	OBJECT_NONE, /* no file, or one of the kernel's */
	OBJECT_FILE,
	OBJECT_LIBC,
	OBJECT_LINKER,
	OBJECT_ALLOCATOR, /* another object that defines malloc() */
};

struct attach_map {
	uint64_t from, to, offset;
	bool execute;
	enum object_kind kind;
	unsigned path; /* offset in maps.paths */
};

struct maps {
	unsigned pid;
	char program[PATH_MAX]; /* path of the program's file; empty: unknown */
	struct attach_map *map;
	unsigned count, room;
	char *paths;
	size_t paths_size, paths_room;
};

/** maps_read() - read /proc/<pid>/maps. Return: 0 and an object for maps_free(), or -1 with @err.
 * Context: allocates, blocks. */
int maps_read(struct maps *maps, unsigned pid, struct kymo_err *err);
void maps_free(struct maps *maps);

/** maps_at() - the mapping with @address; NULL: none. */
const struct attach_map *maps_at(const struct maps *maps, uint64_t address);

const char *maps_path(const struct maps *maps, const struct attach_map *map);

/** maps_object() - the first mapping of the file called @name (as "libc.so.6", or up to a digit as
 * "libtracetools.so"); NULL: none. */
const struct attach_map *maps_object(const struct maps *maps, const char *name);

/** maps_symbol() - the address of the function or variable @name that the object of @map defines;
 * 0: none. Its size in @size, may be NULL. Context: blocks; needs the right to trace the process.
 */
uint64_t maps_symbol(const struct maps *maps, const struct attach_map *map, const char *name,
		     uint64_t *size);

/** maps_find_allocators() - mark the objects other than libc that define malloc(): jemalloc,
 * sanitizers, the program itself. Context: as maps_symbol(). */
void maps_find_allocators(struct maps *maps);

/** memory_read(), memory_write() - copy bytes of the process. Return: false: not all could be
 * copied; errno is set. */
bool memory_read(unsigned pid, uint64_t address, void *to, size_t size);
bool memory_write(unsigned pid, uint64_t address, const void *from, size_t size);

#endif
