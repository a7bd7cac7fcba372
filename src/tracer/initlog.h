/* SPDX-License-Identifier: Apache-2.0 */
/* Appending one-time facts to the process's init log. */
#ifndef KYMO_TRACER_INITLOG_H
#define KYMO_TRACER_INITLOG_H

#include <stddef.h>
#include <stdint.h>

#include "tracer/ring.h"

/* A reserved init record. */
struct kymo_fact {
	uint8_t *payload;
	uint64_t position;
};

/**
 * kymo__log_reserve() - reserve an init record and fill its header
 * @id: event id; @payload: bytes
 *
 * Its time lies strictly between those of the thread's events before and after it.
 *
 * Context: lock-free; may allocate a segment (system calls) about every thousand records. From a
 * signal handler that landed in a slow path: drops and counts.
 * Return: false when dropped. Otherwise kymo__log_commit() must follow.
 */
KYMO_EXPORT bool kymo__log_reserve(struct kymo_fact *fact, unsigned id, size_t payload);
/** kymo__log_commit() - make the record visible to readers. Context: wait-free. */
KYMO_EXPORT void kymo__log_commit(const struct kymo_fact *fact);

/** kymo__set_tracetools() - say which tracetools the process uses. @version: KYMO_V(). */
KYMO_EXPORT void kymo__set_tracetools(unsigned version, const char *text);

#endif
