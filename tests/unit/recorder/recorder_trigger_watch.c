/* SPDX-License-Identifier: Apache-2.0 */
/* Triggers on topics, chains, timers and rates, of records made by hand: exact values, and the
 * records of threads in any order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/region.h"
#include "base/array.h"
#include "recorder/trigger/trigger.h"
#include "trigger_facts.h"

#define MS	1000000ull
#define S	1000000000ull
#define DRIVER	0x100	/* handles */
#define PLANNER	0x200

struct watched {
	struct triggers triggers;
	struct classes classes;
	struct trigger_process *process[2];
	struct trigger_lane lane[2];
	uint8_t bytes[65536];
	size_t used;
	struct hits hits;
};

static void put(struct watched *watched, const void *bytes, size_t size)
{
	assert_true(watched->used + size <= sizeof watched->bytes);
	memcpy(watched->bytes + watched->used, bytes, size);
	watched->used += size;
}

/* A record: words, of which the last may be a BOOL ('b'). */
static void record(struct watched *watched, unsigned id, uint64_t ns, const char *kinds, ...)
{
	va_list args;

	put(watched, &(uint16_t){ (uint16_t)id }, 2);
	put(watched, &ns, 8);
	va_start(args, kinds);
	for (; *kinds; kinds++)
		put(watched, &(uint64_t){ va_arg(args, uint64_t) }, *kinds == 'b' ? 4 : 8);
	va_end(args);
}
#define W(value) ((uint64_t)(value))

static void flush(struct watched *watched, unsigned which)
{
	const struct trigger_listener ear = { hits_add, &watched->hits };

	(void)trigger_records(watched->process[which], &watched->lane[which], watched->bytes,
			      watched->used, &ear);
	watched->used = 0;
}

/* Process 0: /driver publishes /scan, and has a timer. Process 1: /planner receives /scan, and
 * publishes /cmd_vel. */
static struct watched *watch(const char *trigger)
{
	struct watched *watched = calloc(1, sizeof *watched);
	struct kymo_err err;

	assert_int_equal(triggers_add(&watched->triggers, trigger, &err), 0);
	assert_int_equal(triggers_watch(&watched->triggers,
					&(struct trigger_listener){ hits_add, &watched->hits }),
			 0);
	for (unsigned i = 0; i < 2; i++) {
		watched->process[i] = trigger_process_new(&watched->triggers, &watched->classes);
		trigger_process_owner(watched->process[i], &watched->lane[i], i ? "planner" : "driver", "/bin/x", 5 * S);
		assert_int_equal(trigger_thread(watched->process[i], &watched->lane[i], 70 + (int)i, "t"), 0);
	}
	fact(watched->process[0], KYMO_POINT_rcl_node_init, "wwss", W(1), W(2), "driver", "/");
	fact(watched->process[0], KYMO_POINT_rcl_publisher_init, "wwwsw", W(DRIVER), W(1), W(3), "/scan", W(5));
	fact(watched->process[0], KYMO_POINT_rcl_timer_init, "ww", W(9), W(10 * MS));
	fact(watched->process[0], KYMO_POINT_rclcpp_timer_callback_added, "ww", W(9), W(10));
	fact(watched->process[0], KYMO_POINT_rclcpp_timer_link_node, "ww", W(9), W(1));
	fact(watched->process[1], KYMO_POINT_rcl_node_init, "wwss", W(1), W(2), "planner", "/control");
	fact(watched->process[1], KYMO_POINT_rcl_publisher_init, "wwwsw", W(PLANNER), W(1), W(3), "/cmd_vel", W(5));
	fact(watched->process[1], KYMO_POINT_rcl_subscription_init, "wwwsw", W(4), W(1), W(5), "/scan", W(5));
	fact(watched->process[1], KYMO_POINT_rclcpp_subscription_init, "ww", W(4), W(6));
	fact(watched->process[1], KYMO_POINT_rclcpp_subscription_callback_added, "ww", W(6), W(7));
	return watched;
}

static void watch_end(struct watched *watched)
{
	for (unsigned i = 0; i < 2; i++) {
		trigger_process_free(watched->process[i]);
		trigger_lane_free(&watched->lane[i]);
	}
	triggers_watch_end(&watched->triggers);
	classes_free(&watched->classes);
	free(watched);
}

static void publish(struct watched *watched, uint64_t publisher, uint64_t ns, uint64_t stamp)
{
	record(watched, KYMO_POINT_rcl_publish, ns, "ww", publisher, W(1));
	record(watched, KYMO_POINT_rmw_publish, ns + 1, "www", W(3), W(1), stamp);
}

/* /planner receives the message with @stamp, and publishes @after ns later. */
static void plan(struct watched *watched, uint64_t ns, uint64_t stamp, uint64_t after)
{
	record(watched, KYMO_POINT_rmw_take, ns, "wwwb", W(5), W(1), stamp, W(1));
	record(watched, KYMO_POINT_callback_start, ns + 1, "wb", W(7), W(0));
	publish(watched, PLANNER, ns + after, stamp + 1);
	record(watched, KYMO_POINT_callback_end, ns + after + 2, "w", W(7));
}

static void is_hit(const struct watched *watched, unsigned at, uint64_t ns, uint64_t value,
		   const char *what)
{
	assert_true(at < watched->hits.count);
	assert_int_equal(watched->hits.hit[at].at_ns, ns);
	assert_int_equal(watched->hits.hit[at].value, value);
	assert_string_equal(watched->hits.hit[at].what, what);
}

/* The records of the receiver come before those of the sender. */
static void chains(void **state)
{
	struct watched *watched = watch("chain(/scan -> planner -> /cmd_vel) > 80ms");

	(void)state;
	plan(watched, 10 * S + 30 * MS, 111, 20 * MS);
	plan(watched, 11 * S + 30 * MS, 222, 60 * MS);
	/* Of a message that nobody is seen to publish. */
	plan(watched, 12 * S, 333, 90 * MS);
	flush(watched, 1);
	publish(watched, DRIVER, 10 * S, 111);
	publish(watched, DRIVER, 11 * S, 222);
	flush(watched, 0);
	trigger_watch_until(&watched->triggers, 11 * S + 40 * MS);
	assert_int_equal(watched->hits.count, 0);
	trigger_watch_until(&watched->triggers, 20 * S);
	assert_int_equal(watched->hits.count, 1);
	is_hit(watched, 0, 11 * S + 90 * MS, 90 * MS, "/scan -> planner -> /cmd_vel");
	assert_int_equal(watched->hits.hit[0].tid, 71);
	assert_ptr_equal(watched->hits.hit[0].owner, &watched->lane[1]);
	watch_end(watched);
}

static void messages(void **state)
{
	struct watched *watched = watch("latency(/scan) > 29ms");

	(void)state;
	publish(watched, DRIVER, 10 * S, 111);
	flush(watched, 0);
	plan(watched, 10 * S + 29 * MS, 111, MS);
	flush(watched, 1);
	trigger_watch_until(&watched->triggers, 20 * S);
	is_hit(watched, 0, 10 * S + 29 * MS + 1, 29 * MS + 1, "/scan");
	watch_end(watched);

	watched = watch("lost(/scan)");
	for (uint64_t i = 1; i <= 6; i++)
		publish(watched, DRIVER, (10 + i) * S, i);
	flush(watched, 0);
	plan(watched, 12 * S + MS, 2, 1);	/* 1 was published before it listened, perhaps */
	plan(watched, 13 * S + MS, 3, 1);
	plan(watched, 16 * S + MS, 6, 1);
	flush(watched, 1);
	trigger_watch_until(&watched->triggers, 20 * S);
	assert_int_equal(watched->hits.count, 1);
	is_hit(watched, 0, 16 * S + MS, 2, "/scan");
	watch_end(watched);
}

static void timers(void **state)
{
	struct watched *watched = watch("late(/driver) > 2ms for 2 times in 50ms");

	(void)state;
	for (uint64_t i = 0; i < 5; i++) {	/* one period is 10 ms: late by 0, 3, 0, 3 ms */
		const uint64_t at = 10 * S + (i / 2 * 23 + i % 2 * 10) * MS;

		record(watched, KYMO_POINT_callback_start, at, "wb", W(10), W(0));
		record(watched, KYMO_POINT_callback_end, at + MS, "w", W(10));
	}
	flush(watched, 0);
	trigger_watch_until(&watched->triggers, 20 * S);
	assert_int_equal(watched->hits.count, 1);
	is_hit(watched, 0, 10 * S + 46 * MS, 3 * MS, "/driver timer 10 ms");
	watch_end(watched);
}

static void rates(void **state)
{
	struct watched *watched = watch("rate(/scan) < 12");

	(void)state;
	for (uint64_t i = 0; i < 40; i++)	/* 20 Hz, and from the third second on 10 Hz */
		publish(watched, DRIVER, 10 * S + (i < 20 ? i * 50 : i * 100 - 1000) * MS, i + 1);
	flush(watched, 0);
	trigger_watch_until(&watched->triggers, 13 * S - 1);
	assert_int_equal(watched->hits.count, 1);	/* when it begins, not again and again */
	is_hit(watched, 0, 12 * S, 10000, "/scan");
	watch_end(watched);

	watched = watch("silent(/scan) > 1s");
	trigger_watch_until(&watched->triggers, 6 * S);
	assert_int_equal(watched->hits.count, 0);
	/* The first message counts from when the process came. */
	trigger_watch_until(&watched->triggers, 6 * S + MS);
	is_hit(watched, 0, 6 * S, S + MS, "/scan");
	publish(watched, DRIVER, 10 * S, 1);
	flush(watched, 0);
	trigger_watch_until(&watched->triggers, 12 * S);
	trigger_watch_until(&watched->triggers, 13 * S);
	assert_int_equal(watched->hits.count, 2);
	is_hit(watched, 1, 11 * S, 2 * S, "/scan");
	publish(watched, DRIVER, 14 * S, 2);
	flush(watched, 0);
	trigger_watch_until(&watched->triggers, 14 * S + 1);
	trigger_process_exited(watched->process[0]);	/* a program that ended is not silent */
	trigger_watch_until(&watched->triggers, 30 * S);
	assert_int_equal(watched->hits.count, 2);
	watch_end(watched);
}

/* Two threads of a process add up, also where a callback runs across the end of a second. */
static void busy(void **state)
{
	struct watched *watched = watch("cpu(x) > 80%");
	struct trigger_lane other = { 0 };
	const struct trigger_listener ear = { hits_add, &watched->hits };

	(void)state;
	assert_int_equal(trigger_thread(watched->process[0], &other, 99, "other"), 0);
	record(watched, KYMO_POINT_callback_start, 10 * S + 900 * MS, "wb", W(10), W(0));
	record(watched, KYMO_POINT_callback_end, 11 * S + 500 * MS, "w", W(10));
	flush(watched, 0);
	record(watched, KYMO_POINT_callback_start, 11 * S + 600 * MS, "wb", W(10), W(0));
	record(watched, KYMO_POINT_callback_end, 13 * S, "w", W(10));
	(void)trigger_records(watched->process[0], &other, watched->bytes, watched->used, &ear);
	trigger_watch_until(&watched->triggers, 11 * S + 700 * MS);
	trigger_watch_until(&watched->triggers, 13 * S + 1);
	assert_int_equal(watched->hits.count, 1);	/* 90 %, and then 100 % is still the same */
	is_hit(watched, 0, 12 * S, 900, "driver");
	watch_end(watched);
	trigger_lane_free(&other);
}

static void together(void **state)
{
	struct watched *watched = watch("silent(/scan) > 1s and chain(/scan -> /cmd_vel) > 1ms");

	(void)state;
	publish(watched, DRIVER, 10 * S, 1);
	flush(watched, 0);
	plan(watched, 10 * S + MS, 1, 20 * MS);
	flush(watched, 1);
	/* Silent from 11 s on, the chain was 979 ms before. */
	trigger_watch_until(&watched->triggers, 12 * S);
	assert_int_equal(watched->hits.count, 1);
	is_hit(watched, 0, 11 * S, 2 * S, "/scan");
	assert_string_equal(triggers_nearest(&watched->triggers, &(struct trigger){ .name = "/scam" }), "/scan");
	watch_end(watched);
}

/* Lost events: what was open is forgotten, a rate is judged anew. */
static void losses(void **state)
{
	struct watched *watched = watch("chain(/scan -> /cmd_vel) > 1ms");

	(void)state;
	publish(watched, DRIVER, 10 * S, 1);
	flush(watched, 0);
	trigger_loss(&watched->triggers, 3, 10 * S + 1000,
		     &(struct trigger_listener){ hits_add, &watched->hits });
	plan(watched, 10 * S + MS, 1, 20 * MS);
	flush(watched, 1);
	trigger_watch_until(&watched->triggers, 20 * S);
	assert_int_equal(watched->hits.count, 0);
	watch_end(watched);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains), cmocka_unit_test(messages), cmocka_unit_test(timers),
		cmocka_unit_test(rates),  cmocka_unit_test(busy),     cmocka_unit_test(together),
		cmocka_unit_test(losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
