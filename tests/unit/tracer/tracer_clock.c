/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracer's clock through weeks, in a world whose counter and clocks are made up: long silences,
 * a clock that is slewed, a machine that sleeps. The clock's source is compiled in here, with both
 * readings replaced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "inside/tracer/tracer_counter.h"
#include "base/array.h"

static uint64_t fake_counter(void);
static int fake_gettime(clockid_t clock, struct timespec *now);

#define kymo_counter fake_counter
#define kymo_gettime fake_gettime
#include "inside/tracer/tracer_clock.c"	/* NOLINT: it is the object of the test */
#undef kymo_gettime
#undef kymo_counter

#define S 1000000000ull
#define DAY (86400 * S)
#define US 1000ull
#define MS 1000000ull

/* What both readings come from. Time goes on a little with each of them. */
static struct {
	uint64_t ns;		/* CLOCK_MONOTONIC */
	long double counter;
	long double ticks_per_ns;
} world;

static void pass(uint64_t ns)
{
	world.ns += ns;
	world.counter += (long double)ns * world.ticks_per_ns;
}

static uint64_t fake_counter(void)
{
	pass(7);
	return (uint64_t)world.counter;
}

static void (*handler)(void);	/* interrupts each reading of the clock */

static int fake_gettime(clockid_t clock, struct timespec *now)
{
	assert_int_equal(clock, CLOCK_MONOTONIC);
	pass(20);
	now->tv_sec = (time_t)(world.ns / S);
	now->tv_nsec = (long)(world.ns % S);
	if (handler)
		handler();
	return 0;
}

/* CLOCK_MONOTONIC stands still while the machine sleeps. */
static void sleep_for(uint64_t ns, bool counter_restarts)
{
	world.counter =
		counter_restarts ? 1000 : world.counter + (long double)ns * world.ticks_per_ns;
}

/* ---- one traced thread ---- */

static struct kymo_process process;
static struct kymo_thread thread;
static uint64_t last_ns;

static void begin(long double ghz, uint64_t counter)
{
	world.ns = 1000 * S;
	world.counter = counter;
	world.ticks_per_ns = ghz;
	memset(&process, 0, sizeof process);
	memset(&thread, 0, sizeof thread);
	kymo_process = &process;
	process.use_counter = true;
	process.pair_width = read_pair(0, &process.first_counter, &process.first_ns);
	kymo_clock_start_thread(&thread);
	last_ns = 0;
}

/* The thread's time, which never runs backwards. Return: how far it is from the truth, ns. */
static uint64_t event(void)
{
	const uint64_t ns = kymo_clock_read(&thread);

	assert_true(ns >= last_ns);
	last_ns = ns;
	return ns > world.ns ? ns - world.ns : world.ns - ns;
}

/* An event every @every for @duration. Return: the largest error. */
static uint64_t events(uint64_t duration, uint64_t every)
{
	uint64_t worst = 0;

	for (uint64_t until = world.ns + duration; world.ns < until; pass(every)) {
		const uint64_t error = event();

		worst = error > worst ? error : worst;
	}
	return worst;
}

static void slew(double ppm)
{
	world.ticks_per_ns *= 1 + (long double)ppm / 1e6L;
}

/* ---- tests ---- */

static void traces_as_well(void)
{
	if (random() % 2)
		return;
	pass((uint64_t)random() % (8 * US));
	/* Where the anchor does not hold, a handler's event is dropped here. */
	if (fake_counter() - thread.anchor->counter < thread.anchor->span)
		(void)event();
}

/* A thread asks for a new anchor also when a handler was in the way of its event, and the old one
 * still holds. */
static void handlers_inside_renewals(void **state)
{
	(void)state;
	srandom(1);
	for (unsigned i = 0; i < 200; i++) {
		begin(3.0L, 1);
		handler = traces_as_well;
		for (unsigned k = 0; k < 100; k++, pass((uint64_t)random() % (3 * US))) {
			(void)kymo_clock_renew(&thread);
			(void)event();
		}
		handler = NULL;
	}
}

static void three_weeks_of_slewing(void **state)
{
	(void)state;
	begin(2.1L, 5000);
	srandom(1);
	assert_true(events(30 * S, 3 * MS) <= 200);
	for (unsigned day = 0; day < 21; day++) {
		slew((double)(random() % 41) - 20);
		/* Up to 20 ppm apart, for the 100 ms of a span; then for the life of a baseline. */
		assert_true(events(25 * S, 3 * MS) <= 4 * US);
		assert_true(events(5 * S, MS) <= 200);
		for (uint64_t until = world.ns + DAY; world.ns < until;
		     pass((uint64_t)random() % (600 * S)))
			assert_true(event() <= 4 * US);
	}
}

/* The rate was 10 ppm off: that is 18 s in three weeks, but nobody asked meanwhile. */
static void a_thread_that_was_silent_for_three_weeks(void **state)
{
	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		begin(3.0L, 1);
		assert_true(events(30 * S, 10 * MS) <= 200);
		slew(10 * sign);
		pass(21 * DAY);
		assert_true(event() <= 200);
		assert_true(events(S, 10 * MS) <= 4 * US);
	}
}

static void a_machine_that_sleeps(void **state)
{
	static const uint64_t night[] = { 30 * S, 8 * 3600 * S, 30 * DAY };

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(night); i++)
		for (unsigned restarts = 0; restarts <= 1; restarts++) {
			begin(2.4L, (uint64_t)1 << 40);
			for (unsigned times = 0; times < 3; times++) {
				assert_true(events(25 * S, 5 * MS) <= 200);
				sleep_for(night[i], restarts);
				/* No more than what was left of a span, and caught up after
				 * another. */
				assert_true(event() <= KYMO_ANCHOR_SPAN_NS + US);
				(void)events(S, 5 * MS);
				assert_true(event() <= US);
			}
		}
}

/* The first pair is from before the night: it may not give the new thread its rate. */
static void a_thread_that_begins_after_a_night(void **state)
{
	(void)state;
	for (unsigned restarts = 0; restarts <= 1; restarts++) {
		begin(2.4L, (uint64_t)1 << 40);
		assert_true(events(15 * S, 5 * MS) <= 200);
		sleep_for(8 * 3600 * S, restarts);
		pass(2 * S);
		memset(&thread, 0, sizeof thread);
		kymo_clock_start_thread(&thread);
		assert_true(events(30 * S, 5 * MS) <= US);
	}
}

/* A rate that was measured across a night with nobody there to compare is not kept. */
static void a_rate_that_was_wrong_from_the_start(void **state)
{
	(void)state;
	begin(1.0L, 77);
	assert_true(event() <= 200);
	sleep_for(3600 * S, false);
	pass(S);
	(void)events(30 * S, 5 * MS);
	assert_true(events(30 * S, 5 * MS) <= US);
}

static void ten_years_of_a_fast_counter(void **state)
{
	(void)state;
	begin(6.0L, (uint64_t)1 << 60);
	assert_true(events(30 * S, 10 * MS) <= 200);
	for (unsigned i = 0; i < 10; i++) {
		pass(365 * DAY);
		assert_true(event() <= 200);
		assert_true(events(30 * S, 10 * MS) <= 200);
	}
	begin(0.0192L, 3);		/* 19.2 MHz, as on aarch64 */
	assert_true(events(30 * S, 10 * MS) <= US);
	pass(3650 * DAY);
	assert_true(events(30 * S, 10 * MS) <= US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_weeks_of_slewing),
		cmocka_unit_test(handlers_inside_renewals),
		cmocka_unit_test(a_thread_that_was_silent_for_three_weeks),
		cmocka_unit_test(a_machine_that_sleeps),
		cmocka_unit_test(a_thread_that_begins_after_a_night),
		cmocka_unit_test(a_rate_that_was_wrong_from_the_start),
		cmocka_unit_test(ten_years_of_a_fast_counter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
