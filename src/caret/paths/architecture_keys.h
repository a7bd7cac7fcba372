/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of an architecture file, for its reader and its writer. Context of all functions:
 * wait-free. */
#ifndef KYMO_CARET_PATHS_ARCHITECTURE_KEYS_H
#define KYMO_CARET_PATHS_ARCHITECTURE_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* clang-format off */
enum arch_key_type {
	TEXT,          /* const char * */
	NUMBER,        /* int64_t, in the file 0 or more */
	ORDER,         /* unsigned; 0 is not written */
	CALLBACK_TYPE, /* bool: whether the callback is a timer's */
	NAMES,         /* const char **, with a count */
	OBJECTS,       /* a pointer to structs, with a count */
};

struct arch_map;

struct arch_key {
	const char *name;
	enum arch_key_type type;
	size_t at, count;			/* offsets of the member, and of its count */
	const struct arch_map *object;		/* of OBJECTS */
	bool (*has)(const void *object);	/* whether the key is written; NULL: always */
	/* the error when the file does not have it; NULL: none */
	const char *required;
	bool optional;				/* an empty list is not written */
	bool one_undefined;			/* an empty list is written with one UNDEFINED */
};

struct arch_map {
	const struct arch_key *key;			/* the last one has no name */
	size_t size;				/* of the struct */
};
/* clang-format on */

/* The whole file: struct architecture. */
extern const struct arch_map architecture_file_map;

/** architecture_has_none() - is the text or the list of @key in @object empty? For TEXT, ORDER,
 * NAMES and OBJECTS. */
bool architecture_has_none(const struct arch_key *key, const char *object);

#endif
