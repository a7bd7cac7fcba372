/* SPDX-License-Identifier: Apache-2.0 */
#include "user.h"

#include "kymo/kymo.h"

const char *const user_name[USER_OPS] = {
	[USER_INSTANT] = "instant", [USER_INTEGER] = "instant, an integer", [USER_COUNTER] = "counter, a double",
	[USER_POINT] = "tracepoint, 3 fields", [USER_NAMED] = "instant, name copied",
	[USER_SPAN] = "span, an integer",
};
const unsigned user_events[USER_OPS] = { 1, 1, 1, 1, 1, 2 };

struct floor_ring user_floor;
volatile int user_int = 42;
volatile double user_double = 0.5;
const char *volatile user_category = "bench", *volatile user_text = "eleven byte", *volatile user_state = "closed";

/* ---- nothing but the arguments ---- */

__attribute__((noinline)) static void empty_named(const char *category, const char *name)
{
	__asm__ volatile("" : : "r"(category), "r"(name));
}

USER_BATCH(empty_instant, (void)0)
USER_BATCH(empty_integer, (void)0)
USER_BATCH(empty_counter, (void)0)
USER_BATCH(empty_point, (void)0)
USER_BATCH(empty_named_call, empty_named(user_category, user_text))
USER_BATCH(empty_span, (void)0)

user_batch *const user_empty_batch[USER_OPS] = {
	empty_instant, empty_integer, empty_counter, empty_point, empty_named_call, empty_span,
};

/* ---- the least ---- */

USER_BATCH(floor_instant, floor_begin(&user_floor, 1, 0))
USER_BATCH(floor_integer, memcpy(floor_begin(&user_floor, 1, 4), (int[]){ user_int }, 4))
USER_BATCH(floor_counter, memcpy(floor_begin(&user_floor, 1, 8), (double[]){ user_double }, 8))
USER_BATCH(floor_point, {
	uint8_t *at = floor_begin(&user_floor, 1, 8 + 8 + 7);

	memcpy(at, (uint64_t[]){ (uint64_t)user_int }, 8);
	memcpy(at + 8, (double[]){ user_double }, 8);
	memcpy(at + 16, user_state, 7);
})
USER_BATCH(floor_named, {
	uint8_t *at = floor_begin(&user_floor, 1, 6 + 12);

	memcpy(at, user_category, 6);
	memcpy(at + 6, user_text, 12);
})
USER_BATCH(floor_span, {
	memcpy(floor_begin(&user_floor, 1, 4), (int[]){ user_int }, 4);
	USER_HIDE;
	(void)floor_begin(&user_floor, 2, 0);
})

user_batch *const user_floor_batch[USER_OPS] = {
	floor_instant, floor_integer, floor_counter, floor_point, floor_named, floor_span,
};

/* ---- kymo ---- */

USER_BATCH(kymo_instant, KYMO_INSTANT("bench", "instant"))
USER_BATCH(kymo_integer, KYMO_INSTANT("bench", "integer", ("n", (int)user_int)))
USER_BATCH(kymo_counter_f64, KYMO_COUNTER("bench", "counter", (double)user_double))
USER_BATCH(kymo_point, KYMO_TRACEPOINT("bench", "three", ("id", (uint64_t)user_int), ("force", (double)user_double),
				       ("state", (const char *)user_state)))
USER_BATCH(kymo_named, kymo_instant_named(user_category, user_text))
USER_BATCH(kymo_span_scope, KYMO_SPAN("bench", "work", ("step", (int)user_int)))

user_batch *const user_kymo_batch[USER_OPS] = {
	kymo_instant, kymo_integer, kymo_counter_f64, kymo_point, kymo_named, kymo_span_scope,
};
