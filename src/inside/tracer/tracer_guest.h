/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of hooks that run anywhere: in malloc(), or in each function of a program. Such a hook
 * must not record what the tracer itself does, and it must not be what registers a thread that is
 * ending.
 */
#ifndef KYMO_TRACER_GUEST_H
#define KYMO_TRACER_GUEST_H

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "abi/points.h"
#include "inside/tracer/tracer_ring.h"

/* Of a thread; one for each library. */
struct kymo_guest {
	bool inside; /* this thread is recording an event */
	bool had_ring;
};

/* Before registration all enable bytes are set, also that of KYMO_POINT_MUTED, which no recorder
 * ever sets. */
static inline bool kymo_guest_is_registered(void)
{
	return !kymo_enable_byte(KYMO_POINT_MUTED);
}

/**
 * kymo_guest_may_emit() - is an event of the thread to be recorded?
 * @registers: the event may register the process
 *
 * Not inside another event, nor in a process that is not registered: otherwise each child of fork()
 * would become a traced process. Nor on a thread that has given its ring back, because it would
 * never give a second one back. Context: wait-free, async-signal-safe.
 */
static inline bool kymo_guest_may_emit(struct kymo_guest *guest, bool registers)
{
	if (guest->inside || !(registers || kymo_guest_is_registered()))
		return false;
	if (kymo__thread->ring)
		guest->had_ring = true;
	return kymo__thread->ring || !guest->had_ring;
}

/** kymo_guest_emit() - record event @id with @size bytes of @payload. errno is preserved. Context:
 * as kymo__reserve(). */
static inline void kymo_guest_emit(struct kymo_guest *guest, unsigned id, const void *payload,
				   size_t size)
{
	struct kymo_record record;
	const int saved = errno;

	guest->inside = true;
	kymo_signal_fence();
	if (kymo_try_reserve_sp(&record, id, size) || kymo__reserve(&record, id, size)) {
		memcpy(record.at, payload, size);
		kymo_commit_sp(&record);
	}
	kymo_signal_fence();
	guest->inside = false;
	errno = saved;
}

#endif
