/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loaded object: its symbols, found by their names as the dynamic linker finds them, and the
 * entries of its global offset table.
 *
 * Context of all functions: no allocation; dl_iterate_phdr() holds the object.
 */
#ifndef KYMO_HOOKS_OBJECT_H
#define KYMO_HOOKS_OBJECT_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* Types of relocations. */
#if defined(__x86_64__)
#define OBJECT_JUMP_SLOT R_X86_64_JUMP_SLOT
#define OBJECT_GLOB_DAT R_X86_64_GLOB_DAT
#define OBJECT_ABSOLUTE R_X86_64_64
#elif defined(__aarch64__)
#define OBJECT_JUMP_SLOT R_AARCH64_JUMP_SLOT
#define OBJECT_GLOB_DAT R_AARCH64_GLOB_DAT
#define OBJECT_ABSOLUTE R_AARCH64_ABS64
#else
#error "kymo attach knows x86-64 and aarch64"
#endif

/* A loaded object, as its program headers and its dynamic section describe it. */
struct kymo_object {
	uintptr_t base, from, to;    /* its segments are in [from, to) */
	uintptr_t locked, locked_to; /* the pages of PT_GNU_RELRO */
	const Elf64_Sym *symbol;
	const char *text;
	const uint32_t *gnu_hash;
	const Elf64_Rela *rela[2];
	size_t relas[2];
};

/** kymo_object_read() - Return: false: not an object with symbols. */
bool kymo_object_read(struct kymo_object *object, const struct dl_phdr_info *info);

/** kymo_object_hash() - of a symbol's name, for kymo_object_find(). */
uint32_t kymo_object_hash(const char *name);
/** kymo_object_find() - the number of the symbol @name, whether defined or not; 0: none in the hash
 * table. */
uint32_t kymo_object_find(const struct kymo_object *object, const char *name, uint32_t hash);
/** kymo_object_is_function() - is @symbol one that its object defines? */
bool kymo_object_is_function(const Elf64_Sym *symbol);

/**
 * kymo_object_set() - change an entry of the global offset table
 *
 * Entries below PT_GNU_RELRO are read-only. Their pages are writable during the change only.
 * Return: false: the page cannot be made writable.
 */
bool kymo_object_set(const struct kymo_object *object, uintptr_t *entry, uintptr_t value);
/** kymo_object_is_unbound() - the entry points into its own object, where the code is that asks the
 * linker. */
bool kymo_object_is_unbound(const struct kymo_object *object, unsigned type, uintptr_t value);

#endif
