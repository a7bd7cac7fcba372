/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the event benchmarks share: the program's own region, as for a recorder; a clock; quantiles.
 *
 * Some play the recorder for themselves: they switch events on and off, and take what was written
 * after each batch, so nothing is dropped and no other process takes part.
 */
#ifndef BENCH_OWN_H
#define BENCH_OWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "abi/region.h"
#include "inside/tracer/tracer_counter.h"

/** own_attach() - a ring for the calling thread, and our region mapped. */
void own_attach(void);
/** own_open() - the same, and play the recorder: in RECORD, with all events off. */
void own_open(void);
/** own_record() - switch all runtime events, those of programs too: off, on, on with a look at the
 * object, or counted. */
void own_record(enum kymo_enable wanted);
/** own_leave_out() - leave out events of @object and of 1000 others; NULL: of the others only. */
void own_leave_out(const void *object);
/** own_consume() - take all that the calling thread has written. */
void own_consume(void);
/** own_dropped() - events of the calling thread that found its ring full, so far. */
uint64_t own_dropped(void);

/** own_floor() - a ring as large as the calling thread's for the least that a tracer must do. */
struct floor_ring own_floor(void);

__attribute__((noreturn)) void own_die(const char *what);

/** own_quantile() - of @count values that own_sort() has sorted; @q from 0 to 1. */
void own_sort(float *value, size_t count);
double own_quantile(const float *sorted, size_t count, double q);

static inline uint64_t own_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* For a single event: nothing before or behind moves into what is measured. */
static inline uint64_t own_fenced_counter(void)
{
#if defined(__x86_64__)
	__builtin_ia32_lfence();
	uint64_t value = kymo_counter();
	__builtin_ia32_lfence();
	return value;
#else
	return kymo_counter();
#endif
}

#endif
