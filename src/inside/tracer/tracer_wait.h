/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for room in a full ring instead of dropping the event, where the user asked for it
 * ($KYMO_BLOCK). It is a slow path's last resort: it makes system calls, and the program stands
 * still. So threads of real-time priority never wait, and after one wait in vain no thread waits
 * again until the recorder has read something.
 */
#ifndef KYMO_TRACER_WAIT_H
#define KYMO_TRACER_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "inside/tracer/tracer_ring.h"

struct kymo_wait {
	uint64_t begin_ns;
	int error; /* the program's errno */
};

/**
 * kymo_wait_begin() - may the thread wait for room?
 *
 * Context: only if $KYMO_BLOCK is set; outside of a slow path; one system call. No cancellation
 * point.
 */
bool kymo_wait_begin(struct kymo_wait *wait, struct kymo_thread *thread);

/** kymo_wait_pause() - sleep for a moment. Return: false: the time is over. Context: one system
 * call; no cancellation point. */
bool kymo_wait_pause(const struct kymo_wait *wait);

/** kymo_wait_end() - count the wait. @room: whether it was worth it. */
void kymo_wait_end(const struct kymo_wait *wait, struct kymo_thread *thread, bool room);

#endif
