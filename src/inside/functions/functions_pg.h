/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that were built with -pg or -mfentry; functions_pg.c. */
#ifndef KYMO_FUNCTIONS_PG_H
#define KYMO_FUNCTIONS_PG_H

#include <stdint.h>

#include "abi/points.h"
#include "inside/tracer/tracer_guest.h"

/* An event as recorded. */
struct functions_call {
	uint64_t address, site;
};

extern __thread struct kymo_guest functions_guest;

/** functions_pg_records() - are functions recorded, in this thread and at this moment? Context:
 * wait-free. */
static inline bool functions_pg_records(void)
{
	return kymo_unlikely(kymo_enable_byte(KYMO_POINT_func_entry)) &&
	       kymo_guest_may_emit(&functions_guest, false);
}

/* The names are those of assembler. */
#define FUNCTIONS_HIDDEN __attribute__((visibility("hidden")))

/* Where functions return to. */
extern const char kymo_pg_landing[] FUNCTIONS_HIDDEN;

/**
 * kymo_pg_enter() - a function begins
 * @at: the word below the end of its frame: where the stack pointer will be when it has returned,
 *   less the size of a word
 * @place: where its return address is; NULL: not known, so it gets no end
 * @function: an address in the function
 *
 * Context: that of the function; as kymo__reserve() but for the first function of a thread or file.
 */
void kymo_pg_enter(uintptr_t at, uintptr_t *place, uintptr_t function) FUNCTIONS_HIDDEN;

/** kymo_pg_returned() - a function has ended. @at: as above. Return: where to go on. */
uintptr_t kymo_pg_returned(uintptr_t at) FUNCTIONS_HIDDEN;

/** functions_pg_begin() - which registers this CPU has; when the library is loaded. */
void functions_pg_begin(void);

#endif
