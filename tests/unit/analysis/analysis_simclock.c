/* SPDX-License-Identifier: Apache-2.0 */
/* The time of a simulation out of pairs: pauses, rates, jumps, ends; and beside CARET's straight
 * line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/simclock/simclock.h"
#include "base/array.h"

#define S INT64_C(1000000000)
#define T0 (INT64_C(1700000000) * S)	/* of the system */

static struct simclock *make(const struct simclock_pair *pair, unsigned count)
{
	struct simclock *clock;
	struct kymo_err err = { 0 };

	assert_int_equal(simclock_create(&clock, pair, count, &err), 0);
	return clock;
}
#define MAKE(pairs) make(pairs, COUNT_OF(pairs))

/* In seconds since T0. */
static double at(const struct simclock *clock, double system_s)
{
	return (double)simclock_at(clock, T0 + (int64_t)(system_s * 1e9)) / 1e9;
}

static double between(const struct simclock *clock, double from_s, double to_s)
{
	return (double)simclock_between(clock, T0 + (int64_t)(from_s * 1e9),
					T0 + (int64_t)(to_s * 1e9)) /
	       1e9;
}

#define SAME(a, b) assert_true((a) - (b) < 1e-6 && (b) - (a) < 1e-6)

static void pause_and_rates(void **state)
{
	/* 1, then half, then it stands, then four times as fast */
	static const struct simclock_pair pairs[] = {
		{ T0, 10 * S }, { T0 + 2 * S, 12 * S }, { T0 + 4 * S, 13 * S }, { T0 + 5 * S, 13 * S },
		{ T0 + 7 * S, 13 * S }, { T0 + 8 * S, 17 * S },
	};
	struct simclock *clock = MAKE(pairs);
	const struct simclock_facts *facts = simclock_facts(clock);
	char text[128];

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(pairs); i++)
		assert_int_equal(simclock_at(clock, pairs[i].ns), pairs[i].sim_ns);
	SAME(at(clock, 1), 11);
	SAME(at(clock, 3), 12.5);
	SAME(at(clock, 4.5), 13);
	SAME(at(clock, 6.9), 13);
	SAME(at(clock, 7.5), 15);
	SAME(between(clock, 1, 3), 1.5);
	SAME(between(clock, 4.1, 6.9), 0);
	SAME(between(clock, 3, 7.5), 2.5);
	assert_int_equal(facts->pairs, 6);
	assert_int_equal(facts->pauses, 1);
	assert_int_equal(facts->jumps, 0);
	assert_true(facts->slowest == 0.5 && facts->fastest == 4);
	assert_string_equal(simclock_text(clock, text, sizeof(text)), "6 pairs, rate 0.5 to 4, 1 pause");
	simclock_free(clock);
}

static void beyond_the_ends(void **state)
{
	static const struct simclock_pair runs[] = { { T0, 10 * S },
						     { T0 + S, 12 * S },
						     { T0 + 2 * S, 12 * S + S / 2 } };
	static const struct simclock_pair stands[] = {
		{ T0, 10 * S }, { T0 + S, 10 * S }, { T0 + 2 * S, 11 * S }, { T0 + 3 * S, 11 * S }
	};
	static const struct simclock_pair one[] = { { T0, 10 * S } };
	struct simclock *clock = MAKE(runs);

	(void)state;
	/* the rate beside each end goes on, but not before 0 */
	SAME(at(clock, -1), 8);
	SAME(at(clock, -5), 0);
	SAME(at(clock, -100), 0);
	SAME(between(clock, -100, -50), 0);
	SAME(between(clock, -6, -4), 2);
	SAME(at(clock, 4), 13.5);
	simclock_free(clock);
	clock = MAKE(stands);
	SAME(at(clock, -3), 10);
	SAME(at(clock, 60), 11);
	simclock_free(clock);
	clock = MAKE(one);
	SAME(at(clock, -3), 7);
	SAME(at(clock, 3), 13);
	simclock_free(clock);
}

/* Pairs a moment apart at an end: their distance is jitter, not a rate. */
static void jitter_at_the_end(void **state)
{
	static const struct simclock_pair pairs[] = { { T0, 10 * S }, { T0 + S, 11 * S },
						      { T0 + S + 1000, 11 * S + 10000000 } };
	struct simclock *clock = MAKE(pairs);

	(void)state;
	assert_true(at(clock, 11) > 21 && at(clock, 11) < 21.2);
	simclock_free(clock);
}

static void jumps(void **state)
{
	/* A bag of 3 s at half the rate that begins again twice; before the second time it
	 * stood. */
	static const struct simclock_pair pairs[] = {
		{ T0, 5 * S }, { T0 + 2 * S, 6 * S }, { T0 + 4 * S, 7 * S }, { T0 + 6 * S, 5 * S },
		{ T0 + 8 * S, 6 * S }, { T0 + 9 * S, 6 * S }, { T0 + 10 * S, 5 * S }, { T0 + 12 * S, 6 * S },
	};
	struct simclock *clock = MAKE(pairs);
	int64_t before, after;

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(pairs); i++)
		assert_int_equal(simclock_at(clock, pairs[i].ns), pairs[i].sim_ns);
	assert_int_equal(simclock_facts(clock)->jumps, 2);
	/* up to the pair behind the jump it goes on */
	SAME(at(clock, 5), 7.5);
	SAME(at(clock, 5.999), 7.9995);
	SAME(at(clock, 7), 5.5);
	SAME(between(clock, 5, 7), 1);
	SAME(between(clock, 0, 12), 3 + 1 + 0 + 0 + 1);
	SAME(at(clock, 9.5), 6);
	SAME(at(clock, 14), 7);
	/* it never goes back, and the two sides of a jump are told apart, also if it stood */
	before = simclock_elapsed(clock, T0 + 10 * S - 1);
	after = simclock_elapsed(clock, T0 + 10 * S);
	assert_true(before < after);
	for (int64_t ns = T0 - S; ns < T0 + 14 * S; ns += S / 7) {
		assert_true(simclock_elapsed(clock, ns) <= simclock_elapsed(clock, ns + S / 7));
		assert_int_equal(simclock_stamp(clock, simclock_elapsed(clock, ns)),
				 simclock_at(clock, ns));
	}
	simclock_free(clock);
}

static void jump_forwards(void **state)
{
	static const struct simclock_pair pairs[] = { { T0, S },
						      { T0 + S, 2 * S },
						      { T0 + S + S / 10, 100 * S },
						      { T0 + 2 * S + S / 10, 101 * S } };
	/* both sides at one time */
	static const struct simclock_pair sharp[] = {
		{ T0, S }, { T0 + S, 2 * S }, { T0 + S, 100 * S }, { T0 + 2 * S, 101 * S }
	};
	struct simclock *clock = MAKE(pairs);

	(void)state;
	SAME(at(clock, 0.5), 1.5);
	SAME(at(clock, 1.6), 100.5);
	SAME(between(clock, 0.5, 1.6), 99);
	simclock_free(clock);
	clock = MAKE(sharp);
	SAME(at(clock, 0.999), 1.999);
	SAME(at(clock, 1), 100);
	SAME(at(clock, 1.5), 100.5);
	simclock_free(clock);
}

static void finding(void **state)
{
	static const struct simclock_pair pairs[] = {
		{ T0, 5 * S }, { T0 + 2 * S, 7 * S }, { T0 + 3 * S, S }, { T0 + 8 * S, 6 * S }
	};
	struct simclock *clock = MAKE(pairs);

	(void)state;
	assert_int_equal(simclock_find(clock, 5 * S), simclock_elapsed(clock, T0));
	/* the first time of two */
	assert_int_equal(simclock_find(clock, 6 * S), simclock_elapsed(clock, T0 + S));
	assert_int_equal(simclock_find(clock, 3 * S), simclock_elapsed(clock, T0 - 2 * S));
	assert_int_equal(simclock_find(clock, 9 * S), simclock_elapsed(clock, T0 + 11 * S));
	simclock_free(clock);
}

static void what_is_no_time(void **state)
{
	static const struct simclock_pair pairs[] = {
		{ T0, -1 }, { -5, S }, { T0, INT64_MAX }, { T0, 5 * S }, { T0 - S, 6 * S }, { T0 + S, INT64_MAX / 2 - 1 },
		{ T0 + 2 * S, 0 }, { T0 + 3 * S, INT64_MAX / 2 - 1 }, { INT64_MAX / 2 - 1, INT64_MAX / 2 - 1 },
	};
	static const int64_t odd[] = { INT64_MIN,     INT64_MIN + 1, -1,       0, 1, T0,
				       INT64_MAX / 2, INT64_MAX - 1, INT64_MAX };
	struct simclock *clock;
	struct kymo_err err = { 0 };

	(void)state;
	assert_int_equal(simclock_create(&clock, pairs, 3, &err), -1);
	assert_int_equal(err.status, KYMO_EXIT_INPUT);
	clock = MAKE(pairs);
	assert_int_equal(simclock_facts(clock)->pairs, 5);
	for (unsigned i = 0; i < COUNT_OF(odd); i++)
		for (unsigned k = i; k < COUNT_OF(odd); k++) {
			assert_true(simclock_elapsed(clock, odd[i]) <=
				    simclock_elapsed(clock, odd[k]));
			(void)simclock_stamp(clock, odd[k]);
			(void)simclock_find(clock, odd[k]);
		}
	simclock_free(clock);
}

/* CARET's: one straight line by least squares through all pairs, sim = a t + b. */
static double caret_at(const struct simclock_pair *pair, unsigned count, double system_s)
{
	double t = 0, s = 0, ts = 0, tt = 0;

	for (unsigned i = 0; i < count; i++) {
		double x = (double)(pair[i].ns - T0) / 1e9, y = (double)pair[i].sim_ns / 1e9;

		t += x / count;
		s += y / count;
		ts += x * y / count;
		tt += x * x / count;
	}
	return s + (ts - t * s) / (tt - t * t) * (system_s - t);
}

/* What has one rate is the same for both; what has not is a line for CARET, and what it was for
 * us. */
static void beside_caret(void **state)
{
	struct simclock_pair steady[20], paused[20];
	struct simclock *one, *other;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		steady[i] = (struct simclock_pair){ T0 + i * S, 100 * S + i * S / 5 };
		paused[i] = (struct simclock_pair){ T0 + i * S, 100 * S + (i < 5    ? i
									   : i < 15 ? 5
										    : i - 10) *
										  S };
	}
	one = MAKE(steady);
	other = MAKE(paused);
	for (double s = 0; s < 19; s += 0.37)
		SAME(at(one, s), caret_at(steady, 20, s));
	SAME(at(other, 12), 105);
	SAME(between(other, 6, 14), 0);
	assert_true(caret_at(paused, 20, 14) - caret_at(paused, 20, 6) > 2);
	simclock_free(one);
	simclock_free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pause_and_rates),
		cmocka_unit_test(beyond_the_ends),
		cmocka_unit_test(jitter_at_the_end),
		cmocka_unit_test(jumps),
		cmocka_unit_test(jump_forwards),
		cmocka_unit_test(finding),
		cmocka_unit_test(what_is_no_time),
		cmocka_unit_test(beside_caret),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
