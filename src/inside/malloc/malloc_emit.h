/* SPDX-License-Identifier: Apache-2.0 */
/* Events of what programs ask libc for: from inside of malloc() itself, so nothing here may ask for memory. */
#ifndef KYMO_MALLOC_EMIT_H
#define KYMO_MALLOC_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/points.h"
#include "inside/tracer/tracer_ring.h"

/* malloc_wanted() - whether anybody records this event. One load and a branch. */
static inline bool malloc_wanted(unsigned id)
{
	return kymo_unlikely(kymo_enable_byte(id));
}

/**
 * malloc_emit() - an event of @size bytes of @payload, if it may be
 *
 * It is left out inside of another one (what the tracer itself asks libc for), in a process that is not registered, and on a
 * thread whose end has begun. errno stays. Context: as kymo_reserve_sp().
 */
void malloc_emit(unsigned id, const void *payload, size_t size);

#endif
