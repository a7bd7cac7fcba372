/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions that no library exports, from the symbol table of their file. */
#ifndef KYMO_HOOKS_STATIC_H
#define KYMO_HOOKS_STATIC_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
