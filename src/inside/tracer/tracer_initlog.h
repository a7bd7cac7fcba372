/* SPDX-License-Identifier: Apache-2.0 */
/* Appending one-time facts to the process's init log, and forgetting those that no longer hold. */
#ifndef KYMO_TRACER_INITLOG_H
#define KYMO_TRACER_INITLOG_H

#include <stddef.h>
#include <stdint.h>

#include "abi/life.h"
#include "inside/tracer/tracer_ring.h"

/* A reserved init record. */
struct kymo_fact {
	uint8_t *payload;
	uint64_t position;
	uint64_t outer;			/* claim of the event that a handler has interrupted */
};

/**
 * kymo__log_reserve() - reserve an init record and fill its header
 * @id: event id; @payload: bytes
 *
 * Its time lies strictly between those of the thread's events before and after it.
 *
 * Context: lock-free; may allocate a segment (system calls) about every thousand records, and clean
 * the log when it has doubled (some 100 ns per fact in it). From a signal handler that landed in a
 * slow path: no cleaning, and drops and counts where a segment is needed.
 * Return: false when dropped. Otherwise kymo__log_commit() must follow.
 */
KYMO_EXPORT bool kymo__log_reserve(struct kymo_fact *fact, unsigned id, size_t payload);
/** kymo__log_reserve_as() - the same, with what makes the fact a later one of the same kind. */
KYMO_EXPORT bool kymo__log_reserve_as(struct kymo_fact *fact, unsigned id, enum kymo_log_key key, size_t payload);
/** kymo__log_commit() - make the record visible to readers. Context: wait-free. */
KYMO_EXPORT void kymo__log_commit(const struct kymo_fact *fact);
/**
 * kymo__log_gone() - the object @entity at @handle is about to be destroyed
 *
 * Before its memory is freed: afterwards another thread's new object may be there. Context: as
 * kymo__log_reserve(). In a process that is not traced yet: nothing.
 */
KYMO_EXPORT void kymo__log_gone(enum kymo_entity entity, uint64_t handle);

/** kymo__set_tracetools() - say which tracetools the process uses. @version: KYMO_V(). */
KYMO_EXPORT void kymo__set_tracetools(unsigned version, const char *text);

#endif
