/* SPDX-License-Identifier: Apache-2.0 */
/* The files whose functions are recorded: a fact of the init log for each. */
#ifndef KYMO_FUNCTIONS_FILES_H
#define KYMO_FUNCTIONS_FILES_H

#include <stdint.h>

#include "inside/tracer/tracer_guest.h"

/* Where a file is in memory. */
struct functions_range {
	uintptr_t begin, size;
};

/* That of the latest function of this thread; it decides in nearly all cases. */
extern __thread struct functions_range functions_near;

/** functions_find_file() - the slow path of functions_know_file(). Context: loader's lock, init
 * log; no cancellation point. */
void functions_find_file(struct kymo_guest *guest, const void *function);

/** functions_know_file() - the init log has the file of @function afterwards. Context: wait-free
 * but for the first function of a file. */
static inline void functions_know_file(struct kymo_guest *guest, const void *function)
{
	if (kymo_unlikely((uintptr_t)function - functions_near.begin >= functions_near.size))
		functions_find_file(guest, function);
}

/** functions_begin() - the fact about the executable, when the library is loaded; a child of fork()
 * begins anew. */
void functions_begin(struct kymo_guest *guest);

#endif
