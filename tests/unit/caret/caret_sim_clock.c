/* SPDX-License-Identifier: Apache-2.0 */
/* Which pairs of a simulation's clock are kept: one a period, and where it bends; and that times
 * made of them are right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/simclock/simclock.h"
#include "caret/agent/sim_clock.h"

#define MS INT64_C(1000000)
#define S (1000 * MS)
#define T0 (5000 * S)
#define PAIRS_MAX 4096u

struct fixture {
	struct sim_clock clock;
	struct simclock_pair pair[PAIRS_MAX];
	unsigned pairs;
};

static void keep(void *context, const struct sim_clock_point *pair)
{
	struct fixture *f = context;

	assert_true(f->pairs < PAIRS_MAX);
	assert_true(!f->pairs || pair->ns >= f->pair[f->pairs - 1].ns);
	f->pair[f->pairs++] = (struct simclock_pair){ pair->ns, pair->stamp };
}

static void begin(struct fixture *f, unsigned rate)
{
	memset(f, 0, sizeof(*f));
	sim_clock_init(&f->clock, rate, keep, f);
}

/* What the simulation's clock says at a time; 0: nothing is published then. */
typedef int64_t simulation(int64_t ns);

/* Messages each @every_ns, up to 2 ms late; ticks in between. */
static void run(struct fixture *f, simulation *sim, int64_t until_ns, int64_t every_ns)
{
	int64_t tick = T0;

	for (int64_t at = T0, n = 0; at < T0 + until_ns; at += every_ns, n++) {
		int64_t heard = at + n * 7919 % 2000 * 1000, stamp = sim(at - T0);

		while (tick < heard)
			tick += sim_clock_tick(&f->clock, tick);
		if (stamp)
			sim_clock_message(&f->clock, heard, stamp);
	}
}

/* Everywhere, times made of the pairs are within @off_ns of the simulation's. */
static void compare(struct fixture *f, simulation *sim, int64_t until_ns, int64_t off_ns)
{
	struct simclock *clock;

	assert_int_equal(simclock_create(&clock, f->pair, f->pairs, NULL), 0);
	for (int64_t at = 0; at < until_ns; at += 3 * MS) {
		int64_t off = simclock_at(clock, T0 + at) - sim(at);

		if (off > off_ns || off < -off_ns)
			fail_msg("at %lld ms: off by %lld us, %u pairs", (long long)(at / MS), (long long)(off / 1000), f->pairs);
	}
	simclock_free(clock);
}

static int64_t steady(int64_t ns)
{
	return 100 * S + ns / 2;
}

static void one_a_period(void **state)
{
	static struct fixture f;

	(void)state;
	begin(&f, 1);
	run(&f, steady, 20 * S, 10 * MS);
	assert_in_range(f.pairs, 19, 24);
	compare(&f, steady, 20 * S, 5 * MS);
	begin(&f, 20);
	run(&f, steady, 20 * S, 10 * MS);
	assert_in_range(f.pairs, 300, 420);
	begin(&f, 1);
	run(&f, steady, 20 * S, 2 * S);		/* a clock slower than the period */
	assert_in_range(f.pairs, 9, 20);
	compare(&f, steady, 17 * S, 5 * MS);
}

/* 1, stands 2.37 s, goes on at 1/5, then at 4, begins again, jumps a minute ahead */
static int64_t eventful(int64_t ns)
{
	if (ns < 3131 * MS)
		return 100 * S + ns;
	if (ns < 5501 * MS)
		return 103131 * MS;
	if (ns < 9 * S)
		return 103131 * MS + (ns - 5501 * MS) / 5;
	if (ns < 12345 * MS)
		return 103830800000 + (ns - 9 * S) * 4;
	if (ns < 15 * S)
		return 100 * S + (ns - 12345 * MS);
	return 160 * S + (ns - 15 * S);
}

static void bends(void **state)
{
	static struct fixture f;
	struct simclock *clock;

	(void)state;
	begin(&f, 1);
	run(&f, eventful, 18 * S, 10 * MS);
	/* beside the samples two for each of the five bends, and what being late makes of them */
	assert_in_range(f.pairs, 20, 60);
	assert_int_equal(simclock_create(&clock, f.pair, f.pairs, NULL), 0);
	assert_int_equal(simclock_facts(clock)->pauses, 1);
	assert_int_equal(simclock_facts(clock)->jumps, 1);
	/* the pause takes nothing, but for the messages at its ends */
	assert_in_range(simclock_between(clock, T0 + 3131 * MS, T0 + 5501 * MS), 0, 25 * MS);
	assert_in_range(simclock_between(clock, T0 + 1 * S, T0 + 6 * S), 2131 * MS + 99 * MS,
			2131 * MS + 130 * MS);
	assert_in_range(simclock_between(clock, T0 + 14 * S, T0 + 16 * S), 59345 * MS - 40 * MS,
			59345 * MS + 40 * MS);
	for (int64_t at = 0; at < 18 * S; at += 3 * MS) {
		int64_t off = simclock_at(clock, T0 + at) - eventful(at);
		bool edge = (at > 12320 * MS && at < 12370 * MS) ||
			    (at > 14980 * MS && at < 15030 * MS);

		if (!edge && (off > 90 * MS || off < -90 * MS))
			fail_msg("at %lld ms: off by %lld us", (long long)(at / MS), (long long)(off / 1000));
	}
	simclock_free(clock);
}

/* A clock that does not publish while it stands. */
static int64_t falls_silent(int64_t ns)
{
	return ns < 3 * S ? 50 * S + ns : ns < 7 * S ? 0 : 53 * S + (ns - 7 * S);
}

static int64_t stood(int64_t ns)
{
	int64_t stamp = falls_silent(ns);

	return stamp ? stamp : 53 * S;
}

static void silence(void **state)
{
	static struct fixture f;

	(void)state;
	begin(&f, 1);
	run(&f, falls_silent, 10 * S, 10 * MS);
	compare(&f, stood, 9 * S, 15 * MS);
}

/* It fell silent, and that was all: it stands, as far as one knows. */
static void silent_to_the_end(void **state)
{
	static struct fixture f;

	(void)state;
	begin(&f, 1);
	run(&f, falls_silent, 6900 * MS, 10 * MS);
	assert_in_range(f.pair[f.pairs - 1].ns, T0 + 5800 * MS, T0 + 6900 * MS);
	compare(&f, stood, 6900 * MS, 15 * MS);
}

/* A small step back, and one right behind a bend, when no rate is known. */
static int64_t steps_back(int64_t ns)
{
	return S + ns - (ns >= 2 * S ? 15 * MS : 0) - (ns >= 3 * S ? 500 * MS : 0) -
	       (ns >= 3020 * MS ? 400 * MS : 0);
}

static void every_jump_back(void **state)
{
	static struct fixture f;
	struct simclock *clock;

	(void)state;
	begin(&f, 1);
	run(&f, steps_back, 5 * S, 10 * MS);
	assert_int_equal(simclock_create(&clock, f.pair, f.pairs, NULL), 0);
	assert_int_equal(simclock_facts(clock)->jumps, 3);
	simclock_free(clock);
}

/* A thousand messages a second, of which ten say the same. */
static int64_t in_steps(int64_t ns)
{
	return S + ns / (10 * MS) * (10 * MS);
}

static void steps_are_no_pauses(void **state)
{
	static struct fixture f;
	struct simclock *clock;

	(void)state;
	begin(&f, 1);
	run(&f, in_steps, 10 * S, MS);
	assert_in_range(f.pairs, 9, 14);
	assert_int_equal(simclock_create(&clock, f.pair, f.pairs, NULL), 0);
	assert_int_equal(simclock_facts(clock)->pauses, 0);
	simclock_free(clock);
	compare(&f, in_steps, 10 * S, 15 * MS);
}

static void no_time_yet(void **state)
{
	static struct fixture f;

	(void)state;
	begin(&f, 1);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(sim_clock_tick(&f.clock, T0 + i * S), S);
		sim_clock_message(&f.clock, T0 + i * S, i % 2 ? 0 : -5);
	}
	assert_int_equal(f.pairs, 0);
	sim_clock_message(&f.clock, T0 + 100 * S, 1);
	assert_int_equal(f.pairs, 1);
	/* a clock of the system that went back is none */
	sim_clock_message(&f.clock, T0 + 90 * S, 2);
	sim_clock_message(&f.clock, T0 + 110 * S, INT64_MAX);
	sim_clock_message(&f.clock, T0 + 111 * S, 1);
	assert_true(sim_clock_tick(&f.clock, T0 + 200 * S) >= MS);
}

/* Two simulators publish one /clock at 100 kHz together: each message is a bend, and there is a
 * limit. */
static void a_flood_is_bounded(void **state)
{
	static struct fixture f;

	(void)state;
	begin(&f, 1);
	for (int64_t i = 0; i < 100000; i++)
		sim_clock_message(&f.clock, T0 + i * 10000, i % 2 ? 5 * S : 9 * S);
	assert_int_equal(f.pairs, SIM_CLOCK_PAIRS_MAX);
	assert_true(f.clock.skipped > 0);
	begin(&f, 1);
	for (int64_t i = 0; i < 100000; i++)
		sim_clock_message(&f.clock, T0 + i * 10000, -i);
	assert_int_equal(f.pairs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_a_period),
		cmocka_unit_test(bends),
		cmocka_unit_test(silence),
		cmocka_unit_test(silent_to_the_end),
		cmocka_unit_test(every_jump_back),
		cmocka_unit_test(steps_are_no_pauses),
		cmocka_unit_test(no_time_yet),
		cmocka_unit_test(a_flood_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
