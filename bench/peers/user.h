/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same events through kymo.h, with the clock read and the store alone, and through LTTng-UST:
 * each kind has a loop for each of them, with the macros in it as a program has them.
 */
#ifndef BENCH_USER_H
#define BENCH_USER_H

#include "floor.h"

enum user_op {
	USER_INSTANT,		/* no field */
	USER_INTEGER,		/* instant with an int */
	USER_COUNTER,		/* a double */
	USER_POINT,		/* u64, double, string of 6 bytes */
	USER_NAMED,		/* instant, its category and name copied: 5 and 11 bytes */
	USER_SPAN,		/* begin with an int, end */
	USER_OPS
};

extern const char *const user_name[USER_OPS];
extern const unsigned user_events[USER_OPS];	/* events of each */

typedef void user_batch(int count);

extern struct floor_ring user_floor;		/* set it before user_floor_batch[] is used */
extern user_batch *const user_empty_batch[USER_OPS];
extern user_batch *const user_floor_batch[USER_OPS];
extern user_batch *const user_kymo_batch[USER_OPS];
extern user_batch *const user_lttng_batch[USER_OPS];	/* with BENCH_LTTNG */

/* Values that the compiler does not know. */
extern volatile int user_int;
extern volatile double user_double;
extern const char *volatile user_category, *volatile user_text, *volatile user_state;

#define USER_HIDE __asm__ volatile("" ::: "memory")
#define USER_BATCH(name, ...)						\
	static __attribute__((noinline)) void name(int count)		\
	{								\
		for (int i = 0; i < count; i++) {			\
			__VA_ARGS__;					\
			USER_HIDE;					\
		}							\
	}

#endif
