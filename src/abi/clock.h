/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event time is CLOCK_MONOTONIC in nanoseconds, an unsigned 64-bit number. Rings, init log and CTF
 * use the same time.
 *
 * Reading the CPU's counter is cheaper than asking for CLOCK_MONOTONIC. So the tracer uses the
 * counter, if its frequency is constant, and converts ticks to nanoseconds with an anchor: a moment
 * at which the tracer read the counter and the clock together.
 *
 *     ns = anchor.ns + ((counter - anchor.counter) * anchor.mult >> 32)
 *
 * A thread uses an anchor for at most KYMO_ANCHOR_SPAN_NS, then renews it from the vDSO clock. So
 * the error of the rate adds up over one span only, not over the life of the process. If a thread's
 * clock is ahead, the clock runs slower during the next span instead of stepping back: the time
 * within a thread never runs backwards. Times of different threads that are less than
 * KYMO_CLOCK_ORDER_NS apart may be in the wrong order.
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
	uint64_t span;		/* ticks for which this anchor is valid */
};

#endif
