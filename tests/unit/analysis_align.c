/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks that are compared by messages: whatever they do, the truth is within the stated error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "analysis/align/align.h"
#include "analysis/align/bounds.h"

#define SECOND 1000000000.0
#define EPOCH INT64_C(1790000000000000000)

/* By how much B's clock is ahead of A's, @t seconds after the beginning. */
struct clocks {
	const char *name;
	double ahead_ns, rate, rate_later;	/* the second from the middle of the trace on */
	double wave_ns, wave_s;			/* slewed to and fro, by so much, in so many seconds */
	double seconds;
	unsigned messages;			/* each way */
	double least_ns, usual_ns;		/* delays */
	double there_until, back_from;		/* parts of the trace in which messages go each way */
};

static uint64_t seed;

static double chance(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(seed >> 11) / (double)(1ull << 53);
}

static double ahead(const struct clocks *c, double t)
{
	double half = c->seconds / 2, late = t > half ? t - half : 0, phase, wave = 0;

	if (c->wave_s > 0) {
		phase = t / c->wave_s - (double)(int64_t)(t / c->wave_s);
		wave = c->wave_ns * (phase < 0.5 ? phase * 2 : 2 - phase * 2);
	}
	return c->ahead_ns + (c->rate * (t - late) + c->rate_later * late) * SECOND + wave;
}

/* Delays are short now and then, and long behind a busy CPU. */
static double delay(const struct clocks *c)
{
	return c->least_ns + c->usual_ns * chance() * chance() + (chance() < 0.02 ? 50 * c->usual_ns : 0);
}

static int64_t by_a(double t)
{
	return EPOCH + (int64_t)(t * SECOND);
}

static int64_t by_b(const struct clocks *c, double t)
{
	return by_a(t) + (int64_t)ahead(c, t);
}

static void exchange(const struct clocks *c, struct bounds *most, struct bounds *least)
{
	for (unsigned i = 0; i < c->messages; i++) {
		double sent = c->seconds * c->there_until * (i + chance()) / c->messages;
		double taken = sent + delay(c) / SECOND;

		assert_int_equal(bounds_add(most, by_a(sent), by_b(c, taken) - by_a(sent)), 0);
		sent = c->seconds * (c->back_from + (1 - c->back_from) * (i + chance()) / c->messages);
		taken = sent + delay(c) / SECOND;
		assert_int_equal(bounds_add(least, by_a(taken), by_a(taken) - by_b(c, sent)), 0);
	}
}

static void check(const struct clocks *c, struct bounds_fit *fit)
{
	struct bounds most = { 0 }, least = { 0 };
	int64_t error_ns = 0;

	exchange(c, &most, &least);
	assert_int_equal(most.messages, c->messages);
	bounds_fit(fit, &most, &least, by_a(0), by_a(c->seconds));
	assert_true(fit->possible);
	for (unsigned k = 0; k + 1 < BOUNDS_KNOTS; k++) {
		for (unsigned part = 0; part < 4; part++) {
			const struct bounds_knot *knot = &fit->knot[k];
			int64_t ns = knot->ns + (knot[1].ns - knot->ns) * part / 4;
			int64_t is = knot->ahead_ns + (knot[1].ahead_ns - knot->ahead_ns) * part / 4;
			int64_t wrong = llabs(is - (int64_t)ahead(c, (double)(ns - EPOCH) / SECOND));
			int64_t bound = knot->error_ns > knot[1].error_ns ? knot->error_ns : knot[1].error_ns;

			if (wrong > bound)
				fail_msg("%s: wrong by %lld ns, and said to be by at most %lld ns, at %g s", c->name,
					 (long long)wrong, (long long)bound, (double)(ns - EPOCH) / SECOND);
			error_ns = bound > error_ns ? bound : error_ns;
		}
	}
	/* A bound that is true is worth something if it is tight, too. */
	if (c->there_until == 1 && c->back_from == 0 && (double)error_ns > 20 * (c->least_ns + c->usual_ns))
		fail_msg("%s: the error is said to be up to %lld ns", c->name, (long long)error_ns);
	bounds_free(&most);
	bounds_free(&least);
}

static void the_truth_is_inside(void **state)
{
	static const struct clocks all[] = {
		{ .name = "equal clocks", .seconds = 10, .messages = 100, .least_ns = 40e3, .usual_ns = 100e3,
		  .there_until = 1 },
		{ .name = "one second ahead", .ahead_ns = 1e9, .seconds = 30, .messages = 3000, .least_ns = 40e3,
		  .usual_ns = 100e3, .there_until = 1 },
		{ .name = "half a year behind", .ahead_ns = -15e15, .seconds = 10, .messages = 1000,
		  .least_ns = 40e3, .usual_ns = 100e3, .there_until = 1 },
		{ .name = "150 ppm", .ahead_ns = 5e6, .rate = 150e-6, .rate_later = 150e-6, .seconds = 600,
		  .messages = 60000, .least_ns = 60e3, .usual_ns = 200e3, .there_until = 1 },
		{ .name = "-900 ppm", .ahead_ns = 5e6, .rate = -900e-6, .rate_later = -900e-6, .seconds = 60,
		  .messages = 6000, .least_ns = 60e3, .usual_ns = 200e3, .there_until = 1 },
		{ .name = "a rate that changes", .rate = 10e-6, .rate_later = 90e-6, .seconds = 100,
		  .messages = 5000, .least_ns = 60e3, .usual_ns = 200e3, .there_until = 1 },
		{ .name = "slewed to and fro", .rate = 20e-6, .rate_later = 20e-6, .wave_ns = 1e6, .wave_s = 30,
		  .seconds = 300, .messages = 30000, .least_ns = 60e3, .usual_ns = 100e3, .there_until = 1 },
		{ .name = "ten messages", .ahead_ns = -3e6, .rate = 30e-6, .rate_later = 30e-6, .seconds = 5,
		  .messages = 10, .least_ns = 60e3, .usual_ns = 200e3, .there_until = 1 },
		{ .name = "one message each way", .ahead_ns = 7e9, .seconds = 1, .messages = 1, .least_ns = 60e3,
		  .usual_ns = 200e3, .there_until = 1 },
		{ .name = "there first, back later", .ahead_ns = 2e6, .rate = 80e-6, .rate_later = 80e-6,
		  .seconds = 60, .messages = 600, .least_ns = 60e3, .usual_ns = 200e3, .there_until = 0.3,
		  .back_from = 0.7 },
		{ .name = "far apart, quick there", .ahead_ns = 1e3, .seconds = 60, .messages = 20000,
		  .least_ns = 5e6, .usual_ns = 3e6, .there_until = 1 },
	};
	struct bounds_fit *fit = calloc(1, sizeof(*fit));

	(void)state;
	assert_non_null(fit);
	for (seed = 1; seed < 4; seed++) {
		uint64_t was = seed;

		for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
			check(&all[i], fit);
		seed = was;
	}
	free(fit);
}

static void a_step_is_no_clock(void **state)
{
	struct bounds most = { 0 }, least = { 0 };
	struct bounds_fit *fit = calloc(1, sizeof(*fit));

	(void)state;
	assert_non_null(fit);
	/* A second at once, 100 us after a message of before. */
	for (unsigned i = 0; i < 2; i++) {
		int64_t ns = EPOCH + i * 100000;

		bounds_add(&most, ns, i * 1000000000ll + 50000);
		bounds_add(&least, ns, -(i * 1000000000ll - 50000));
	}
	bounds_fit(fit, &most, &least, EPOCH, EPOCH + 200000);
	assert_false(fit->possible);
	bounds_free(&most);
	bounds_free(&least);
	free(fit);
}

/* Of more messages than are kept, the quickest stay. */
static void the_quickest_stay(void **state)
{
	struct bounds bounds = { 0 };
	int64_t least = INT64_MAX;
	bool late = false;

	(void)state;
	for (unsigned i = 0; i < 1000000; i++)
		assert_int_equal(bounds_add(&bounds, i, i == 777777 || i == 3 ? -5 : 1000 + (int64_t)i % 7), 0);
	assert_true(bounds.count <= BOUNDS_MAX && bounds.count >= BOUNDS_MAX / 4);
	for (unsigned i = 0; i < bounds.count; i++) {
		least = bounds.bound[i].most_ns < least ? bounds.bound[i].most_ns : least;
		late = late || (bounds.bound[i].ns == 777777 && bounds.bound[i].most_ns == -5);
	}
	assert_int_equal(least, -5);
	assert_true(late);
	bounds_free(&bounds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_truth_is_inside),
		cmocka_unit_test(a_step_is_no_clock),
		cmocka_unit_test(the_quickest_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
