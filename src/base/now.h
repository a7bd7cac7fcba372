/* SPDX-License-Identifier: Apache-2.0 */
/* What time it is, in nanoseconds. */
#ifndef KYMO_BASE_NOW_H
#define KYMO_BASE_NOW_H

#include <stdint.h>
#include <time.h>

/** clock_now_ns() - @clock in nanoseconds. Context: wait-free; reads the vDSO where the clock
 * allows it. */
static inline int64_t clock_now_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/** now_ns() - CLOCK_MONOTONIC in nanoseconds, the time of events. */
static inline int64_t now_ns(void)
{
	return clock_now_ns(CLOCK_MONOTONIC);
}

/**
 * ns_before() - the time @span before @ns; 0 if the clock began less than @span before @ns
 * Context: wait-free.
 */
static inline uint64_t ns_before(uint64_t ns, uint64_t span)
{
	return ns > span ? ns - span : 0;
}

#endif
