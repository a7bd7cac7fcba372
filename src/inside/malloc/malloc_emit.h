/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of calls to libc, e.g. malloc(). They are emitted inside of malloc() itself, so nothing
 * here may allocate memory.
 */
#ifndef KYMO_MALLOC_EMIT_H
#define KYMO_MALLOC_EMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "abi/points.h"
#include "inside/tracer/tracer_ring.h"

/* malloc_wanted() - whether this event is recorded. One load and a branch. */
static inline bool malloc_wanted(unsigned id)
{
	return kymo_unlikely(kymo_enable_byte(id));
}

/**
 * malloc_beside() - which sanitizer the program has
 *
 * Sanitizers expect that their malloc() is the first, and look at its caller: the hooks must step
 * aside. Context: loader's locks; once.
 */
enum malloc_beside {
	BESIDE_NONE,
	BESIDE_LEAKS, /* LeakSanitizer: it knows by the caller what the dynamic linker allocates */
	BESIDE_ALL,   /* another one: nothing is recorded */
};
enum malloc_beside malloc_beside(void);

/** malloc_is_linker() - whether @code belongs to the dynamic linker. Context: the first call
 * acquires the loader's locks. */
bool malloc_is_linker(const void *code);

/** malloc_may_emit() - would malloc_emit() record an event of this thread? Context: wait-free. */
bool malloc_may_emit(void);

/**
 * malloc_emit() - record an event with @size bytes of @payload
 *
 * Nothing is recorded inside of another event (the tracer's own calls of libc), in a process that
 * is not registered, and on a thread that has begun to end. errno is preserved. Context: as
 * kymo__reserve().
 */
void malloc_emit(unsigned id, const void *payload, size_t size);

#endif
