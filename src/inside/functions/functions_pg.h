/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by functions.c and functions_pg.c. */
#ifndef KYMO_FUNCTIONS_PG_H
#define KYMO_FUNCTIONS_PG_H

#include <stdint.h>

#include "inside/tracer/tracer_guest.h"

/* An event as recorded. */
struct functions_call {
	uint64_t address, site;
};

extern __thread struct kymo_guest functions_guest;

/** functions_pg_begin() - which registers this CPU has; when the library is loaded. */
void functions_pg_begin(void);

#endif
