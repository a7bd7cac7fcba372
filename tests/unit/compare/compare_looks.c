/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at pairs that are still being recorded: what they may spend, and that they cry wolf no more
 * often than one look would. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "chance.h"
#include "compare/looks.h"

static void no_plan_spends_more_than_there_is(void **state)
{
	(void)state;
	for (unsigned pairs = LOOKS_PAIRS_LEAST; pairs <= 100; pairs++) {
		struct looks looks;
		double alarm = 0, error = 0;

		looks_plan(&looks, pairs);
		assert_in_range(looks.count, 1, LOOKS_MAX);
		for (unsigned i = 0; i < looks.count; i++) {
			const struct look *look = &looks.look[i];
			const double share = (double)look->pairs / pairs;

			assert_true(look->alarm > 0 && look->error > 0);
			assert_true(!i || look->pairs >= look[-1].pairs + 2);
			alarm += look->alarm;
			error += look->error;
			assert_true(alarm <= CHANGE_ALARM * share * share + 1e-9);
			assert_true(error <= CHANGE_ERROR * share * share + 1e-9);
			assert_ptr_equal(looks_at(&looks, look->pairs), look);
		}
		assert_int_equal(looks.look[looks.count - 1].pairs, pairs);
		assert_true(alarm > 0.75 * CHANGE_ALARM);
	}
}

static void six_pairs_are_looked_at_once(void **state)
{
	struct looks looks;

	(void)state;
	looks_plan(&looks, 6);
	assert_int_equal(looks.count, 1);
	assert_float_equal(looks.look[0].alarm, 1.0 / 64, 1e-12);
	assert_null(looks_at(&looks, 5));
	looks_plan(&looks, 12);
	assert_int_equal(looks.count, 3);
	assert_int_equal(looks.look[0].pairs, 8);
	assert_float_equal(looks.look[0].alarm, 2.0 / 256, 1e-12);
}

/* ---- how often they cry wolf ---- */

enum { METRICS = 8, PAIRS_MAX = 10, CASES = 600 };

/* Pairs of equal programs: metrics that hang together, a machine that drifts. */
static void draw_equal(double value[METRICS][2 * PAIRS_MAX])
{
	for (unsigned i = 0; i < PAIRS_MAX; i++) {
		const double drift = 0.05 * chance_normal();

		for (unsigned side = 0; side < 2; side++) {
			const double run = 0.03 * chance_normal();

			for (unsigned m = 0; m < METRICS; m++)
				value[m][side * PAIRS_MAX + i] =
					drift + run + 0.01 * (m + 1) * chance_normal();
		}
	}
}

/* The same numbers, looked at after @pairs. Return: is any metric larger or smaller? */
static bool finds(double value[METRICS][2 * PAIRS_MAX], const struct look *look)
{
	const struct change_design design = { look->pairs, look->pairs, true, look->alarm,
					      look->error };
	struct change change[METRICS];
	double now[METRICS][2 * PAIRS_MAX];
	const double *values[METRICS];

	for (unsigned m = 0; m < METRICS; m++) {
		memcpy(now[m], value[m], look->pairs * sizeof(double));
		memcpy(now[m] + look->pairs, value[m] + PAIRS_MAX, look->pairs * sizeof(double));
		values[m] = now[m];
	}
	assert_int_equal(change_judge(&design, values, METRICS, change), 0);
	for (unsigned m = 0; m < METRICS; m++)
		if (change[m].q_up <= change_alarm(&design))
			return true;
	return false;
}

/*
 * Of 600 comparisons of equal programs that are looked at after 8 and after 10 pairs, 2 of 100
 * may find a change. The numbers are always the same ones, so this test always counts the same.
 */
static void looking_twice_does_not_cry_wolf(void **state)
{
	struct looks looks;
	double value[METRICS][2 * PAIRS_MAX];
	unsigned planned = 0, naive = 0;

	(void)state;
	looks_plan(&looks, PAIRS_MAX);
	assert_int_equal(looks.count, 2);
	for (unsigned i = 0; i < CASES; i++) {
		bool found = false, cried = false;

		draw_equal(value);
		for (unsigned at = 0; at < looks.count; at++) {
			const struct look all = { looks.look[at].pairs, CHANGE_ALARM,
						  CHANGE_ERROR };

			found |= finds(value, &looks.look[at]);
			cried |= finds(value, &all);
		}
		planned += found;
		naive += cried;
	}
	print_message("%u of %u with the plan, %u without one\n", planned, CASES, naive);
	/* 12 are expected at most; three standard deviations more are 22. */
	assert_in_range(planned, 2, 22);
	assert_true(naive > planned);
}

/* ---- what the pairs to come cannot change ---- */

static bool is_found(const double *difference, const struct look *look, double most)
{
	const struct change_design design = { look->pairs, look->pairs, true, look->alarm,
					      look->error };
	double value[2 * PAIRS_MAX] = { 0 };
	const double *values[] = { value };
	struct change change;

	memcpy(value + look->pairs, difference, look->pairs * sizeof(double));
	assert_int_equal(change_judge(&design, values, 1, &change), 0);
	return change.low > most && change.q_up <= look->alarm;
}

/*
 * While it is open, pairs that are far worse would be found. Once it is closed, neither they nor
 * any others are found.
 */
static void what_is_closed_stays_closed(void **state)
{
	static const unsigned asked[] = { 6, 8, PAIRS_MAX };
	const double most = 0.1;
	unsigned closed = 0, open = 0;

	(void)state;
	for (unsigned i = 0; i < 3000; i++) {
		const double shift = 0.05 * (i % 7);
		struct looks looks;
		const struct look *last;
		double difference[PAIRS_MAX], best[PAIRS_MAX];
		unsigned have = 1 + i % 5;

		looks_plan(&looks, asked[i % 3]);
		last = &looks.look[looks.count - 1];
		for (unsigned p = 0; p < last->pairs; p++)
			difference[p] = shift + 0.1 * chance_normal();
		memcpy(best, difference, sizeof(best));
		for (unsigned p = have; p < last->pairs; p++)
			best[p] = 100;
		if (looks_are_open(&looks, difference, have, most)) {
			open++;
			assert_true(is_found(best, last, most));
			continue;
		}
		closed++;
		assert_false(is_found(best, last, most));
		assert_false(is_found(difference, last, most));
		for (unsigned p = have + 1; p < last->pairs; p++)
			assert_false(looks_are_open(&looks, difference, p, most));
	}
	assert_true(closed > 300 && open > 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_plan_spends_more_than_there_is),
		cmocka_unit_test(six_pairs_are_looked_at_once),
		cmocka_unit_test(looking_twice_does_not_cry_wolf),
		cmocka_unit_test(what_is_closed_stays_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
