/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/*
 * Objects that are left out: the traced process's side against the recorder's, step by step in
 * every order, and both at once in two threads.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "consumer.h"
#include "recorder/records/left_out_set.h"
#include "inside/tracer/tracer_initlog.h"
#include "inside/tracer/tracer_left_out.h"
#include "inside/tracer/tracer_process.h"

static struct test_region region;
static uint64_t *set;			/* as the recorder sees it */

static const void *object(uint64_t address)
{
	return (const void *)(uintptr_t)address;
}

/* An init event about @address, as a hook writes it. */
static void make(uint64_t address)
{
	struct kymo_fact fact;

	assert_true(kymo__log_reserve(&fact, KYMO_POINT_rcl_timer_init, 8));
	memcpy(fact.payload, &address, sizeof address);
	kymo__log_commit(&fact);
	kymo__made_anew(object(address));
}

static void leave_out(uint64_t address)
{
	assert_true(left_out_propose(set, address));
	left_out_confirm(set, address);
}

static void test_set(void **state)
{
	(void)state;
	left_out_clear(set);
	assert_false(kymo__left_out(object(0x1000), NULL));
	assert_true(left_out_propose(set, 0x1000));
	assert_false(kymo__left_out(object(0x1000), NULL));	/* proposed is not left out */
	assert_true(left_out_has(set, 0x1000));
	left_out_confirm(set, 0x1000);
	assert_true(kymo__left_out(object(0x1000), NULL));
	assert_true(left_out_propose(set, 0x1000));		/* again changes nothing */
	assert_true(kymo__left_out(object(0x1000), NULL));
	left_out_withdraw(set, 0x1000);
	assert_false(kymo__left_out(object(0x1000), NULL));
	assert_false(left_out_has(set, 0x1000));
	left_out_confirm(set, 0x1000);				/* without a proposal: nothing */
	assert_false(kymo__left_out(object(0x1000), NULL));
	assert_false(left_out_propose(set, 0));
	assert_false(left_out_propose(set, 0x1001));
	kymo__made_anew(NULL);
	assert_false(kymo__left_out(NULL, NULL));
}

/* As many as there is room for; those that found none are recorded. */
static void test_full(void **state)
{
	unsigned in = 0;

	(void)state;
	left_out_clear(set);
	for (uint64_t address = 0x5000; address < 0x5000 + 64 * 3000; address += 64)
		if (left_out_propose(set, address)) {
			left_out_confirm(set, address);
			in++;
		}
	assert_in_range(in, KYMO_LEFT_OUT_MAX / 2, KYMO_LEFT_OUT_MAX);
	for (uint64_t address = 0x5000; address < 0x5000 + 64 * 3000; address += 64)
		in -= kymo__left_out(object(address), NULL);
	assert_int_equal(in, 0);
	/* Every second one is made anew: its slot serves others, and the rest is still found. */
	for (uint64_t address = 0x5000; address < 0x5000 + 64 * 3000; address += 128) {
		kymo__made_anew(object(address));
		assert_false(kymo__left_out(object(address), NULL));
	}
	for (uint64_t address = 0x5040; address < 0x5000 + 64 * 3000; address += 128)
		assert_int_equal(kymo__left_out(object(address), NULL), left_out_has(set, address));
	left_out_clear(set);
	assert_false(kymo__left_out(object(0x5040), NULL));
}

/* Slots that are full of nonsense: every look ends. */
static void test_nonsense(void **state)
{
	(void)state;
	for (unsigned i = 0; i < KYMO_LEFT_OUT_MAX; i++)
		set[i] = 0x1234567890abcdefull * (i + 1);
	assert_false(kymo__left_out(object(0x2000), NULL));
	kymo__made_anew(object(0x2000));
	assert_false(left_out_propose(set, 0x2000));
	left_out_withdraw(set, 0x2000);
	for (unsigned i = 0; i < KYMO_LEFT_OUT_MAX; i++)
		assert_int_equal(set[i], 0x1234567890abcdefull * (i + 1));
	left_out_clear(set);
}

/* A message follows the object that had it last on this thread. */
static void test_messages(void **state)
{
	(void)state;
	left_out_clear(set);
	leave_out(0x3000);
	assert_true(kymo__left_out(object(0x3000), object(0x77)));
	assert_true(kymo__left_out(NULL, object(0x77)));
	assert_false(kymo__left_out(NULL, object(0x78)));
	assert_true(kymo__left_out(NULL, object(0x77)));
	assert_true(kymo__left_out(object(0x3000), NULL));	/* a callback, say */
	assert_true(kymo__left_out(NULL, object(0x77)));
	assert_false(kymo__left_out(object(0x3010), object(0x77)));
	assert_false(kymo__left_out(NULL, object(0x77)));
	left_out_clear(set);
}

/* ---- a publish that does not say by whom ---- */

static struct {
	uint64_t ns, message;
} got[8];
static unsigned got_count;

static void take(void *context, unsigned id, uint64_t ns, const uint8_t *payload)
{
	(void)context;
	assert_int_equal(id, KYMO_POINT_rclcpp_publish);
	assert_true(got_count < 8);
	got[got_count].ns = ns;
	memcpy(&got[got_count++].message, payload, 8);
}

static void test_held(void **state)
{
	struct test_reader reader = { .payload = 8, .check = take };
	uint64_t before, between;

	(void)state;
	left_out_clear(set);
	assert_non_null(kymo_thread_with_ring());
	reader.ring = test_ring(region, 0);
	test_enable(region, KYMO_POINT_rclcpp_publish, true);
	leave_out(0x4000);

	assert_true(kymo__hold_publish(object(0x80)));		/* of one that is left out */
	assert_true(kymo__left_out(object(0x4000), object(0x80)));
	assert_int_equal(test_drain(&reader), 0);

	/* The first in a ring begins a block: it has the time at which it is told. */
	assert_true(kymo__hold_publish(object(0x81)));
	assert_int_equal(test_drain(&reader), 0);		/* not yet */
	assert_false(kymo__left_out(object(0x4010), object(0x81)));
	assert_int_equal(test_drain(&reader), 1);
	assert_int_equal(got[0].message, 0x81);

	/* The next ones have their own time. */
	before = kymo_clock_read(kymo__thread);
	assert_true(kymo__hold_publish(object(0x82)));
	between = kymo_clock_read(kymo__thread);
	assert_false(kymo__left_out(object(0x4010), object(0x82)));
	assert_int_equal(test_drain(&reader), 1);
	assert_int_equal(got[1].message, 0x82);
	assert_in_range(got[1].ns, before, between);

	/* Followed by another one: nobody left it out. */
	assert_true(kymo__hold_publish(object(0x83)));
	assert_true(kymo__hold_publish(object(0x84)));
	assert_int_equal(test_drain(&reader), 1);
	assert_int_equal(got[2].message, 0x83);
	assert_true(kymo__left_out(object(0x4000), object(0x84)));
	assert_false(kymo__left_out(object(0x4010), object(0x84)));
	assert_int_equal(test_drain(&reader), 0);
	test_enable(region, KYMO_POINT_rclcpp_publish, false);
	left_out_clear(set);
}

/* ---- an address that is used again ---- */

static uint64_t log_tail(void)
{
	return __atomic_load_n(&test_head(region)->log_tail, __ATOMIC_ACQUIRE);
}

/*
 * The recorder knows the log up to @known and wants to leave the address out; the process makes a
 * new object there and then has an event of it. Whatever the order of the steps, that event is
 * recorded.
 */
static void in_order(unsigned order)
{
	const uint64_t address = 0x6000;
	unsigned recorder = 0, process = 0;
	uint64_t known;

	left_out_clear(set);
	make(address);			/* the old object */
	known = log_tail();
	for (unsigned step = 0; step < 5; step++) {
		if (order >> step & 1) {
			switch (process++) {
			case 0:
				make(address);
				break;
			default:
				assert_false(kymo__left_out(object(address), NULL));
			}
			continue;
		}
		switch (recorder++) {
		case 0:
			assert_true(left_out_propose(set, address));
			break;
		case 1:
			if (log_tail() != known)	/* there is news */
				left_out_withdraw(set, address);
			break;
		default:
			left_out_confirm(set, address);
		}
	}
	if (process == 1)
		assert_false(kymo__left_out(object(address), NULL));
}

static void test_every_order(void **state)
{
	unsigned orders = 0;

	(void)state;
	for (unsigned order = 0; order < 1u << 5; order++)
		if (__builtin_popcount(order) == 2) {
			in_order(order);
			orders++;
		}
	assert_int_equal(orders, 10);
	left_out_clear(set);
}

/* The same with the process between its two steps: the event is in the log, the set untouched. */
static void test_between_log_and_set(void **state)
{
	const uint64_t address = 0x7000;
	struct kymo_fact fact;
	uint64_t known;

	(void)state;
	left_out_clear(set);
	known = log_tail();
	assert_true(kymo__log_reserve(&fact, KYMO_POINT_rcl_timer_init, 8));
	kymo__log_commit(&fact);
	assert_true(left_out_propose(set, address));
	/* So the recorder withdraws; if it had not looked: */
	assert_int_not_equal(log_tail(), known);
	kymo__made_anew(object(address));
	left_out_confirm(set, address);
	assert_false(kymo__left_out(object(address), NULL));
}

#define AGAIN 20000
static atomic_bool over;
/* Objects that the log tells of; those with an odd number are not wanted. */
static atomic_uint made;

static void *recorder_main(void *unused)
{
	const uint64_t address = 0x8000;

	(void)unused;
	while (!atomic_load(&over)) {
		const unsigned known = atomic_load(&made);

		if (known & 1 && left_out_propose(set, address) && atomic_load(&made) == known)
			left_out_confirm(set, address);
		else
			left_out_withdraw(set, address);
	}
	return NULL;
}

/* Both at once: an object that is wanted has all its events, whatever was there before it. */
static void test_at_once(void **state)
{
	const uint64_t address = 0x8000;
	pthread_t thread;

	(void)state;
	left_out_clear(set);
	atomic_store(&over, false);
	atomic_store(&made, 0);
	assert_int_equal(pthread_create(&thread, NULL, recorder_main, NULL), 0);
	for (unsigned i = 0; i < AGAIN; i++) {
		const unsigned number = atomic_fetch_add(&made, 1) + 1;

		make(address);
		if (!(number & 1)) {
			assert_false(kymo__left_out(object(address), NULL));
			assert_false(kymo__left_out(object(address), NULL));
		}
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_every_order),
		cmocka_unit_test(test_between_log_and_set),
		cmocka_unit_test(test_at_once),
	};
	char *directory = test_directory();
	int failed;

	if (!kymo_thread_slot())
		return 1;
	region = test_region_open(getpid());
	if (!region.base)
		return 1;
	set = (uint64_t *)(region.base + KYMO_LEFT_OUT_PAGE * KYMO_PAGE);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	test_directory_remove(directory);
	return failed;
}
