/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event time is CLOCK_MONOTONIC in nanoseconds, an unsigned 64-bit number, in rings, init log
 * and CTF alike. The tracer computes it from the CPU's counter where that is invariant:
 *
 *     ns = anchor.ns + ((counter - anchor.counter) * anchor.mult >> 32)
 *
 * Each thread anchors itself anew against the vDSO clock at least every KYMO_ANCHOR_SPAN_NS, so
 * the error is that of the rate over one span, not over the life of the process. A correction
 * backwards slows the thread's clock down over the next span instead of stepping, so time within
 * a thread never runs backwards. Order between threads is not finer than KYMO_CLOCK_ORDER_NS.
 */
#ifndef KYMO_ABI_CLOCK_H
#define KYMO_ABI_CLOCK_H

#include <stdint.h>

#define KYMO_ANCHOR_SPAN_NS	100000000ull
#define KYMO_CLOCK_ORDER_NS	300ull

struct kymo_anchor {
	uint64_t counter;
	uint64_t ns;
	uint64_t mult;		/* nanoseconds per tick, 32.32 fixed point */
	uint64_t span;		/* ticks this anchor is good for */
};

#endif
