/* SPDX-License-Identifier: Apache-2.0 */
/* Changes and verdicts: small cases that can be counted by hand; system/compare_oracle asks scipy
 * about thousands. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "chance.h"
#include "compare/change.h"
#include "compare/verdict.h"

static struct change judge(bool paired, unsigned bases, unsigned news, const double *value)
{
	const struct change_design design = { .bases = bases, .news = news, .paired = paired };
	struct change change;

	assert_int_equal(change_judge(&design, &value, 1, &change), 0);
	return change;
}

static void six_pairs_that_all_grew(void **state)
{
	const double value[] = { 0.00, 0.05, -0.04, 0.10, 0.02, -0.01,
				 0.15, 0.21, 0.10,  0.26, 0.16, 0.15 };
	const struct change change = judge(true, 6, 6, value);

	(void)state;
	assert_float_equal(change.p_up, 1.0 / 64,
			   1e-12); /* of 64 ways, only the real one is that large */
	assert_float_equal(change.q_up, 1.0 / 64, 1e-12);
	assert_float_equal(change.p_down, 1, 1e-12);
	assert_true(change.low > 0.13 && change.high < 0.17);
	assert_true(change.low <= change.estimate && change.estimate <= change.high);
}

static void four_and_four(void **state)
{
	const double value[] = { 1.0, 1.1, 1.2, 1.3, 2.0, 2.1, 2.2, 2.3 };
	const struct change change = judge(false, 4, 4, value);

	(void)state;
	assert_float_equal(change.p_up, 1.0 / 70, 1e-12); /* 8 over 4 */
	assert_float_equal(change.estimate, 1.0, 1e-9);
}

static void one_run_a_side_has_no_bounds(void **state)
{
	const double value[] = { 1.0, 1.5 };
	const struct change change = judge(false, 1, 1, value);

	(void)state;
	assert_float_equal(change.estimate, 0.5, 1e-12);
	assert_true(isinf(change.low) && isinf(change.high));
	assert_float_equal(change.p_up, 0.5, 1e-12);
}

static void runs_that_are_equal(void **state)
{
	const double value[] = { 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3 };
	const struct change change = judge(true, 6, 6, value);

	(void)state;
	assert_float_equal(change.estimate, 0, 0);
	assert_float_equal(change.q_up, 1, 0);
	assert_float_equal(change.low, 0, 0);
	assert_float_equal(change.high, 0, 0);
}

/* Random rearrangements, and the same ones in each call. */
static void many_runs_give_the_same_answer_each_time(void **state)
{
	const struct change_design design = { .bases = 50, .news = 50 };
	struct change once, again;
	double value[100];
	const double *values = value;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		value[i] = (double)(i * 37 % 11) / 100 + (i >= 50 ? 0.2 : 0);
	assert_int_equal(change_judge(&design, &values, 1, &once), 0);
	assert_int_equal(change_judge(&design, &values, 1, &again), 0);
	assert_memory_equal(&once, &again, sizeof(once));
	assert_true(once.low > 0.15 && once.high < 0.25);
	assert_true(once.q_up < 0.001);
}

/* One metric grew; many others, which did not, make it no less certain with six pairs. */
static void among_many_metrics(void **state)
{
	enum { METRICS = 200, RUNS = 12 };
	static double value[METRICS][RUNS];
	const double *values[METRICS];
	const struct change_design design = { .bases = 6, .news = 6, .paired = true };
	static struct change change[METRICS];
	uint32_t seed = 1;
	unsigned found = 0;

	(void)state;
	for (unsigned m = 0; m < METRICS; m++) {
		values[m] = value[m];
		for (unsigned i = 0; i < RUNS; i++) {
			seed = seed * 1664525 + 1013904223;
			value[m][i] =
				(double)(seed >> 16) / 65536 * 0.02 + (m == 7 && i >= 6 ? 0.3 : 0);
		}
	}
	assert_int_equal(change_judge(&design, values, METRICS, change), 0);
	assert_float_equal(change[7].q_up, 1.0 / 64, 1e-12);
	for (unsigned m = 0; m < METRICS; m++)
		found += change[m].q_up <= CHANGE_ALARM;
	assert_int_equal(found, 1);
}

/*
 * Two metrics that are far better, one of them by more than the worse one is worse: where all pairs
 * are turned round they are far worse, and hide nothing nevertheless.
 */
static void what_is_better_hides_nothing(void **state)
{
	enum { METRICS = 30, RUNS = 12 };
	static const double grown[METRICS] = { [3] = 0.3, [4] = -0.6, [5] = -0.2, [6] = 0.15 };
	static double value[METRICS][RUNS];
	const double *values[METRICS];
	const struct change_design design = { .bases = 6, .news = 6, .paired = true };
	static struct change change[METRICS];
	uint32_t seed = 1;

	(void)state;
	for (unsigned m = 0; m < METRICS; m++) {
		values[m] = value[m];
		for (unsigned i = 0; i < RUNS; i++) {
			seed = seed * 1664525 + 1013904223;
			value[m][i] = (double)(seed >> 16) / 65536 * 0.02 + (i >= 6 ? grown[m] : 0);
		}
	}
	assert_int_equal(change_judge(&design, values, METRICS, change), 0);
	for (unsigned m = 0; m < METRICS; m++) {
		assert_int_equal(change[m].q_up <= CHANGE_ALARM, grown[m] > 0);
		assert_int_equal(change[m].q_down <= CHANGE_ALARM, grown[m] < 0);
	}
}

/*
 * Of equal sides, some metric is falsely worse in 2 of 100 comparisons. With six pairs that is 1 of
 * 64, and a little more: of those where one is falsely better, some have one that is worse, too.
 */
static void equal_sides_alarm_seldom(void **state)
{
	enum { METRICS = 20, RUNS = 12, CASES = 4000 };
	static double value[METRICS][RUNS];
	const double *values[METRICS];
	const struct change_design design = { .bases = 6, .news = 6, .paired = true };
	static struct change change[METRICS];
	unsigned alarms = 0, better = 0;

	(void)state;
	for (unsigned n = 0; n < CASES; n++) {
		bool up = false, down = false;

		for (unsigned i = 0; i < RUNS; i++) {
			const double run = 0.05 * chance_normal();

			for (unsigned m = 0; m < METRICS; m++) {
				values[m] = value[m];
				value[m][i] = run + 0.05 * chance_normal();
			}
		}
		assert_int_equal(change_judge(&design, values, METRICS, change), 0);
		for (unsigned m = 0; m < METRICS; m++) {
			up |= change[m].q_up <= CHANGE_ALARM;
			down |= change[m].q_down <= CHANGE_ALARM;
		}
		alarms += up;
		better += down;
	}
	print_message("of %u, %u falsely worse, %u falsely better\n", (unsigned)CASES, alarms,
		      better);
	assert_in_range(alarms, 30, 95);
	assert_in_range(better, 30, 95);
}

static void verdicts(void **state)
{
	const struct change_design pairs = { .bases = 6, .news = 6, .paired = true },
				   one = { .bases = 1, .news = 1 };
	const struct verdict_limit limit = { .ratio = 0.10, .least = 10000 };
	const struct verdict_limit count = { .ratio = 0.10, .least = 0.005, .is_count = true };
	const struct change grew = {
		.estimate = 0.15, .low = 0.12, .high = 0.18, .q_up = 0.02, .q_down = 1
	};
	const struct change by_luck = {
		.estimate = 0.15, .low = 0.12, .high = 0.18, .q_up = 0.2, .q_down = 1
	};
	const struct change wide = {
		.estimate = 0.05, .low = -0.05, .high = 0.20, .q_up = 0.5, .q_down = 1
	};
	const struct change fell = {
		.estimate = -0.3, .low = -0.4, .high = -0.2, .q_up = 1, .q_down = 0.02
	};
	const struct change none = {
		.estimate = 0.15, .low = -INFINITY, .high = INFINITY, .q_up = 1, .q_down = 1
	};
	struct verdict_of of;

	(void)state;
	assert_int_equal(verdict(&pairs, &grew, 1e6, &limit).verdict, VERDICT_WORSE);
	assert_int_equal(verdict(&pairs, &grew, 2e4, &limit).verdict,
			 VERDICT_NOT_WORSE); /* 3 us of 20 */
	assert_int_equal(verdict(&pairs, &by_luck, 1e6, &limit).verdict, VERDICT_UNKNOWN);
	assert_int_equal(verdict(&pairs, &fell, 1e6, &limit).verdict, VERDICT_BETTER);
	of = verdict(&pairs, &wide, 1e6, &limit);
	assert_int_equal(of.verdict, VERDICT_UNKNOWN);
	assert_false(of.is_suspect);
	assert_true(of.runs > 6);
	of = verdict(&one, &none, 1e6, &limit);
	assert_int_equal(of.verdict, VERDICT_UNKNOWN);
	assert_true(of.is_suspect);
	assert_int_equal(verdict(&one, &none, 0.001, &count).verdict, VERDICT_NOT_WORSE);
	assert_int_equal(verdict(&one, &(struct change){ .estimate = 3 }, 0.001, &count).verdict,
			 VERDICT_WORSE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(six_pairs_that_all_grew),
		cmocka_unit_test(four_and_four),
		cmocka_unit_test(one_run_a_side_has_no_bounds),
		cmocka_unit_test(runs_that_are_equal),
		cmocka_unit_test(many_runs_give_the_same_answer_each_time),
		cmocka_unit_test(among_many_metrics),
		cmocka_unit_test(what_is_better_hides_nothing),
		cmocka_unit_test(equal_sides_alarm_seldom),
		cmocka_unit_test(verdicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
