/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions that no library exports, from the symbol table of their file. */
#ifndef KYMO_HOOKS_STATIC_H
#define KYMO_HOOKS_STATIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * kymo_static_name() - the name of @function, also if the function is static
 * @name: its name as linked (mangled)
 *
 * Reads the file that the function was loaded from, or, if that file is stripped, its debug file
 * in /usr/lib/debug/.build-id. A file that was built again since is not used.
 *
 * Return: false: the file has no symbol table, or no function at that address.
 * Context: blocks (dynamic loader, reads a file); allocates nothing; no cancellation point.
 */
bool kymo_static_name(const void *function, char *name, size_t size);

#define KYMO_BUILD_ID_MAX 64u

/* Where code is on the disk. */
struct kymo_code {
	char file[1024];			/* as the loader names it */
	uint64_t address;			/* as linked */
	char build_id[2 * KYMO_BUILD_ID_MAX + 1]; /* hexadecimal; "": it has none */
};

/**
 * kymo_code_of() - the file that @code was loaded from
 *
 * Return: false: it is in no file, or the file has no path.
 * Context: blocks (dynamic loader); allocates nothing; no cancellation point.
 */
bool kymo_code_of(const void *code, struct kymo_code *found);

#endif
