/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread of a process can be borrowed to create a new thread. Private to src/attach. */
#ifndef KYMO_ATTACH_SAFE_H
#define KYMO_ATTACH_SAFE_H

#include <stdbool.h>

#include "attach/attach_maps.h"
#include "attach/attach_stop.h"

#define CANDIDATES_MAX 512

struct candidate {
	unsigned tid;
	bool waits;    /* it waits in a system call that is_safe() accepts */
	bool realtime; /* SCHED_FIFO, SCHED_RR or SCHED_DEADLINE */
};

/**
 * safe_candidates() - the threads of process @pid, those that are asked first at the front
 *
 * Threads that wait, and of these those without a real-time priority, come first; then running
 * ones, for which @turn decides which comes first. Return: their number. Context: blocks.
 */
unsigned safe_candidates(unsigned pid, struct candidate candidate[CANDIDATES_MAX], unsigned turn);

/**
 * is_safe() - may the stopped thread call pthread_create() here?
 *
 * It must not be inside an allocator, libc's bookkeeping of threads, the dynamic linker, or a
 * signal handler that interrupted one of these. Return: false: not here, or not surely. Context:
 * blocks: reads the thread's stack.
 */
bool is_safe(const struct stopped *stopped, const struct maps *maps);

#endif
