/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Append one-time facts to the process's init log. Cleaning, which forgets facts that no longer
 * hold, happens as a part of appending. Layout and rules of the log: abi/region.h.
 */
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
	/* in a signal handler: the claim of the interrupted event; else 0 */
	uint64_t outer;
};

/**
 * kymo__log_reserve() - reserve an init record and fill its header
 * @id: event id; @payload: bytes
 *
 * The record's time lies strictly between those of the thread's events before and after it.
 *
 * Context: lock-free; may allocate a segment (system calls) about every thousand records, and clean
 * the log when it has doubled (some 100 ns per fact in it). If the log is full, waits up to 12 s
 * for a thread that was preempted while it wrote a fact or cleaned. In a signal handler that
 * interrupted a slow path, the log is not cleaned, and a fact that needs a new segment is dropped
 * and counted. Return: false: the fact is dropped. Otherwise kymo__log_commit() must follow.
 */
KYMO_EXPORT bool kymo__log_reserve(struct kymo_fact *fact, unsigned id, size_t payload);
/**
 * kymo__log_reserve_as() - as kymo__log_reserve(), with another key: a later fact with the same id
 * and key replaces this one.
 */
KYMO_EXPORT bool kymo__log_reserve_as(struct kymo_fact *fact, unsigned id, enum kymo_log_key key,
				      size_t payload);
/** kymo__log_commit() - make the record visible to readers. Context: wait-free. */
KYMO_EXPORT void kymo__log_commit(const struct kymo_fact *fact);
/**
 * kymo__log_gone() - record that the object @entity at @handle is about to be destroyed
 *
 * Call it before the object's memory is freed: afterwards another thread may create an object at
 * the same address. In a process that is not registered, the call does nothing. Context: as
 * kymo__log_reserve().
 */
KYMO_EXPORT void kymo__log_gone(enum kymo_entity entity, uint64_t handle);

/**
 * kymo__log_forget() - record of all objects in the log that they are gone
 *
 * For a process that did not report for a while which objects it destroyed. Context: as
 * kymo__log_reserve(), for each object.
 */
KYMO_EXPORT void kymo__log_forget(void);

/** kymo__is_registered() - does the process have a region? Context: wait-free. */
KYMO_EXPORT bool kymo__is_registered(void);

/**
 * kymo__set_settings() - settings that have precedence over the environment's
 * @settings: lines "NAME=value", at most KYMO_ATTACH_SETTINGS_MAX bytes
 *
 * Has no effect on a process that is registered. Context: one call at a time, before any event.
 * Return: false: this process is never traced (KYMO_DISABLE=1, setuid).
 */
KYMO_EXPORT bool kymo__set_settings(const char *settings);

/** kymo__set_tracetools() - store the version of tracetools in the region. @version: KYMO_V(); @text: e.g. "8.2.2". */
KYMO_EXPORT void kymo__set_tracetools(unsigned version, const char *text);

#endif
