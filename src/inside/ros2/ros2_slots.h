/* SPDX-License-Identifier: Apache-2.0 */
/* The entries through which the loaded objects call other objects, and how they are led to kymo's
 * functions. */
#ifndef KYMO_HOOKS_SLOTS_H
#define KYMO_HOOKS_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

/* What a pass over all loaded objects found. */
struct kymo_slots {
	uint32_t entries; /* that lead to kymo now; when they are restored: that led to kymo before
			   */
	uint32_t changed; /* that this pass changed */
	uint32_t tracepoints; /* of `entries`: those of functions of tracetools */
	uint32_t objects;     /* that have such entries */
	uint32_t elsewhere;   /* left alone: they lead to another function of the same name */
	uint64_t generation;  /* of the list of loaded objects */
};

/**
 * kymo_slots_change() - lead the entries of all loaded objects to kymo's functions, or back
 * @on: false: back to the functions of before, where an entry still leads to kymo
 *
 * Entries that the linker has not bound yet are also changed. A function that no object defines is
 * left alone. Context: the caller holds the dynamic linker's lock (src/inside/attach/attach.c).
 * Allocates nothing.
 */
void kymo_slots_change(bool on, struct kymo_slots *slots);

/**
 * kymo_slots_lead() - lead the entries of one loaded object for one function elsewhere
 * @within: an address in the object
 * @from: what they lead to now; entries that lead elsewhere are left alone
 *
 * Return: how many were changed. Context: acquires a lock of the dynamic linker; allocates nothing.
 */
unsigned kymo_slots_lead(const void *within, const char *name, const void *from, const void *to);

/** kymo_slots_original() - the function @name that the objects called before; NULL: kymo has no
 * function of this name, or kymo_slots_change() found none. Context: wait-free. */
void *kymo_slots_original(const char *name);

/** kymo_slots_definition() - the first function @name of a loaded object other than
 * libkymo-ros2.so, in whichever scope; NULL: none. Context: acquires a lock of the dynamic linker;
 * allocates nothing. */
void *kymo_slots_definition(const char *name);

/** kymo_slots_each_original() - call @visit for each function that has an original. Context: as
 * @visit. */
void kymo_slots_each_original(void (*visit)(const void *original));

/** kymo_slots_generation() - the present value of kymo_slots.generation. Context: acquires a lock
 * of the dynamic linker. */
uint64_t kymo_slots_generation(void);

#endif
