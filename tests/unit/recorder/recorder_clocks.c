/* SPDX-License-Identifier: Apache-2.0 */
/* Nights, settimes and NTP, as the recorder's looks at the clocks show them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorder/session/clocks.h"

#define S 1000000000ull

static struct clock_snapshot now;
static struct clock_changes changes;

static int setup(void **state)
{
	(void)state;
	now = (struct clock_snapshot){ .monotonic = 100 * S,
				       .boottime = 150 * S,
				       .realtime = 1800000000 * S,
				       .tai = 1800000037 * S,
				       .counter = 7,
				       .width = 200 };
	changes = (struct clock_changes){ 0 };
	return 0;
}

/* @awake and @asleep pass, and somebody sets the wall clock by @set. */
static struct clock_change look(uint64_t awake, uint64_t asleep, int64_t set)
{
	const struct clock_snapshot before = now;

	now.monotonic += awake;
	now.boottime += awake + asleep;
	now.realtime += awake + asleep + (uint64_t)set;
	now.tai += awake + asleep + (uint64_t)set;
	now.counter += 3 * awake;
	return clocks_compare(&before, &now, &changes);
}

static void nothing_happens_for_weeks(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		struct clock_change change =
			look(10 * S + i % 1000, i % 500, (int64_t)(i % 300) - 150);

		assert_int_equal(change.slept_ns, 0);
		assert_int_equal(change.set_ns, 0);
	}
	assert_int_equal(changes.slept + changes.set, 0);
}

static void nights_and_settimes(void **state)
{
	struct clock_change change;

	(void)state;
	change = look(10 * S, 8 * 3600 * S, 0);
	assert_int_equal(change.slept_ns, 8 * 3600 * S);
	assert_int_equal(change.set_ns, 0);
	change = look(10 * S, 0, -(int64_t)(90 * S));
	assert_int_equal(change.slept_ns, 0);
	assert_int_equal(change.set_ns, -(int64_t)(90 * S));
	change = look(10 * S, 60 * S, 5000000);		/* both at once */
	assert_int_equal(change.slept_ns, 60 * S);
	assert_int_equal(change.set_ns, 5000000);
	assert_int_equal(changes.slept, 2);
	assert_int_equal(changes.set, 2);
	assert_int_equal(changes.slept_ns, 8 * 3600 * S + 60 * S);
	assert_int_equal(changes.set_ns, 5000000 - (int64_t)(90 * S));
}

/* A recorder that lost its processor between two clocks has seen nothing. */
static void a_look_that_took_long(void **state)
{
	struct clock_change change;

	(void)state;
	now.width = 30000000;
	change = look(10 * S, 20000000, -20000000);
	assert_int_equal(change.slept_ns, 0);
	assert_int_equal(change.set_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_happens_for_weeks, setup),
		cmocka_unit_test_setup(nights_and_settimes, setup),
		cmocka_unit_test_setup(a_look_that_took_long, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
