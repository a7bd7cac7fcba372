/* SPDX-License-Identifier: Apache-2.0 */
/* The triggers' language, and what they say of records made by hand. */
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

/* ---- the language ---- */

static void what_is_understood(void **state)
{
	static const struct {
		const char *text;
		enum trigger_kind kind;
		uint64_t over_ns;
		const char *name;	/* NULL: any */
	} good[] = {
		{ "span(Loop) > 1ms", TRIGGER_SPAN, 1000000, "Loop" },
		{ " span ( control:plan )>250us ", TRIGGER_SPAN, 250000, "control:plan" },
		{ "callback > 2s", TRIGGER_CALLBACK, 2000000000, NULL },
		{ "callback(*Costmap::on_timer(int, f()))>10ns", TRIGGER_CALLBACK, 10, "*Costmap::on_timer(int, f())" },
		{ "callback(\"odd)name\") > 1.5ms", TRIGGER_CALLBACK, 1500000, "odd)name" },
		{ "event(ros2:rcl_lifecycle_transition)", TRIGGER_EVENT, 0, "ros2:rcl_lifecycle_transition" },
		{ "overrun", TRIGGER_OVERRUN, 0, NULL },
		{ "overrun(loop)", TRIGGER_OVERRUN, 0, "loop" },
		{ "missed( l* )", TRIGGER_MISSED, 0, "l*" },
		{ "died", TRIGGER_DIED, 0, NULL },
		{ "died(control)", TRIGGER_DIED, 0, "control" },
		{ "loss", TRIGGER_LOSS, 0, NULL },
		{ "chain(/scan->/cmd_vel) > 80 ms", TRIGGER_CHAIN, 80000000, "/scan" },
		{ "silent(/scan) > 1s for 3 times in 10s", TRIGGER_SILENT, 1000000000, "/scan" },
		{ "late>2ms", TRIGGER_LATE, 2000000, NULL },
		{ "rate(/imu) < 180 Hz", TRIGGER_RATE, 0, "/imu" },
		{ "busy(perception) > 80 %", TRIGGER_BUSY, 0, "perception" },
		{ "duration(/scan) > 1ms", TRIGGER_CALLBACK, 1000000, "/scan" },
		{ "overruns", TRIGGER_OVERRUN, 0, NULL },
	};
	struct triggers triggers = { 0 };
	struct kymo_err err;

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(good); i++) {
		const struct trigger *seen = &triggers.item[i];

		assert_int_equal(triggers_add(&triggers, good[i].text, &err), 0);
		assert_int_equal(seen->kind, good[i].kind);
		assert_int_equal(seen->over_ns, good[i].over_ns);
		assert_int_equal(seen->any, !good[i].name);
		assert_string_equal(seen->name, good[i].name ? good[i].name : "");
		assert_string_equal(seen->text, good[i].text);
	}
}

static void what_is_refused(void **state)
{
	static const struct {
		const char *text, *place;
	} bad[] = {
		{ "", "at its end: not a trigger" },
		{ "spam(x) > 1ms", "at character 1, 'spam" },
		{ "span > 1ms", "at character 6, '> 1ms'" },
		{ "span() > 1ms", "a name is missing" },
		{ "span(x", "')' is missing" },
		{ "span(\"x) > 1ms", "the quote is not closed" },
		{ "span(x)", "'>' and a duration" },
		{ "span(x) < 1ms", "at character 9, '< 1ms'" },
		{ "span(x) > 1", "with its unit" },
		{ "span(x) > ms", "with its unit" },
		{ "span(x) > -1ms", "with its unit" },
		{ "span(x) > 99999999999999999999999999999999999999999999999999999999999999999ms", "with its unit" },
		{ "event(a) > 1ms", "nothing may follow" },
		{ "loss(x)", "nothing may follow" },
		{ "died or loss", "nothing may follow" },
		{ "slient(/scan) > 1s", "did you mean 'silent'?" },
		{ "died and", "at its end: not a trigger" },
		{ "died for 3 times", "for 3 times in 10s" },
		{ "died for 1 times in 1s", "2 to 32 times" },
		{ "rate(/imu) > 0", "a rate above 0" },
		{ "rate(/imu) <= 3", "leave out the '='" },
		{ "cpu(x) > 80", "write 80%" },
		{ "silent(/scan) < 1s", "'>' and a duration" },
		{ "chain(/scan) > 1ms", "two steps or more" },
		{ "chain(/scan -> -> /b) > 1ms", "a step of the chain is empty" },
	};
	char longest[TRIGGER_TEXT_MAX + 1];
	struct triggers triggers = { 0 };
	struct kymo_err err;

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(bad); i++) {
		assert_int_equal(triggers_add(&triggers, bad[i].text, &err), -1);
		assert_int_equal(err.status, KYMO_EXIT_USAGE);
		if (!strstr(err.text, bad[i].place) || !strstr(err.text, "--trigger help"))
			fail_msg("'%s': %s", bad[i].text, err.text);
	}
	memset(longest, 'x', sizeof longest);
	longest[TRIGGER_TEXT_MAX] = 0;
	assert_int_equal(triggers_add(&triggers, longest, &err), -1);
	for (unsigned i = 0; i < TRIGGERS_MAX; i++)
		assert_int_equal(triggers_add(&triggers, "loss", &err), 0);
	assert_int_equal(triggers_add(&triggers, "loss", &err), -1);
	assert_int_equal(triggers.count, TRIGGERS_MAX);
}

/* ---- a process made by hand ---- */

struct bench {
	struct triggers triggers;
	struct classes classes;
	struct trigger_process *process;
	struct trigger_lane lane;
	struct trigger_listener ear;
	uint8_t bytes[8192];
	size_t used;
	struct hits hits;
};

static struct bench *bench_new(const char *const *trigger)
{
	struct bench *bench = calloc(1, sizeof *bench);
	struct kymo_err err;

	for (; *trigger; trigger++)
		assert_int_equal(triggers_add(&bench->triggers, *trigger, &err), 0);
	bench->process = trigger_process_new(&bench->triggers, &bench->classes);
	bench->ear = (struct trigger_listener){ hits_add, &bench->hits };
	return bench;
}
#define BENCH(...) bench_new((const char *const[]){ __VA_ARGS__, NULL })

static void bench_free(struct bench *bench)
{
	trigger_process_free(bench->process);
	trigger_lane_free(&bench->lane);
	classes_free(&bench->classes);
	free(bench);
}

/* @fields: kind and name in turn, ends with a NULL name. */
static void declare(struct bench *bench, unsigned id, enum kymo_shape shape, const char *category,
		    const char *name, ...)
{
	struct kymo_declaration head = { .id = (uint16_t)(KYMO_POINTS_TABLE + id),
					 .shape = (uint8_t)shape };
	char bytes[1024], *at = bytes + sizeof head;
	const char *text[] = { category, name, "file.c", "f" };
	va_list args;

	for (unsigned i = 0; i < 4; i++)
		at = stpcpy(at, text[i]) + 1;
	va_start(args, name);
	for (;;) {
		int kind = va_arg(args, int);

		if (kind < 0)
			break;
		*at++ = (char)kind;
		at = stpcpy(at, va_arg(args, const char *)) + 1;
		head.field_count++;
	}
	va_end(args);
	memcpy(bytes, &head, sizeof head);
	assert_int_equal(classes_declare(&bench->classes, (uint8_t *)bytes, (size_t)(at - bytes)),
			 0);
}

static void put(struct bench *bench, const void *bytes, size_t size)
{
	memcpy(bench->bytes + bench->used, bytes, size);
	bench->used += size;
}

static void record(struct bench *bench, unsigned id, uint64_t ns)
{
	put(bench, &(uint16_t){ (uint16_t)id }, 2);
	put(bench, &ns, 8);
}

static void own(struct bench *bench, unsigned id, uint64_t ns)
{
	record(bench, KYMO_POINTS_TABLE + id, ns);
}

static uint32_t look(struct bench *bench)
{
	uint8_t *exact = malloc(bench->used ? bench->used : 1);	/* a look beyond its end is seen */
	uint32_t count;

	memcpy(exact, bench->bytes, bench->used);
	bench->hits.count = 0;
	count = trigger_records(bench->process, &bench->lane, exact, bench->used, &bench->ear);
	bench->used = 0;
	free(exact);
	return count;
}

static void is_hit(const struct bench *bench, unsigned index, unsigned trigger, uint64_t at_ns,
		   uint64_t value, const char *what)
{
	assert_true(index < bench->hits.count);
	assert_int_equal(bench->hits.hit[index].trigger, trigger);
	assert_int_equal(bench->hits.hit[index].at_ns, at_ns);
	assert_int_equal(bench->hits.hit[index].value, value);
	assert_string_equal(bench->hits.hit[index].what, what);
}

static void spans_longer_than(void **state)
{
	struct bench *bench = BENCH("span(outer) > 100ns", "span(c:in*) > 20ns");

	(void)state;
	declare(bench, 0, KYMO_SHAPE_BEGIN, "c", "outer", KYMO_KIND_U32, "n", -1);
	declare(bench, 1, KYMO_SHAPE_END, "c", "outer", -1);
	declare(bench, 2, KYMO_SHAPE_BEGIN, "c", "inner", -1);
	declare(bench, 3, KYMO_SHAPE_END, "c", "inner", -1);
	declare(bench, 4, KYMO_SHAPE_BEGIN, "d", "inner", -1);
	declare(bench, 5, KYMO_SHAPE_END, "d", "inner", -1);
	own(bench, 1, 50);		/* an end without begin */
	own(bench, 0, 1000);
	put(bench, &(uint32_t){ 7 }, 4);
	own(bench, 2, 1010);
	own(bench, 2, 1020);		/* within itself */
	own(bench, 3, 1040);		/* not longer than 20 */
	own(bench, 4, 1041);
	own(bench, 5, 1100);		/* of another category */
	assert_int_equal(look(bench), 7);
	assert_int_equal(bench->hits.count, 0);
	own(bench, 3, 1042);		/* begun in the bytes before */
	own(bench, 2, 1043);		/* never ends */
	own(bench, 1, 1101);
	own(bench, 3, 9000);
	assert_int_equal(look(bench), 4);
	assert_int_equal(bench->hits.count, 2);
	is_hit(bench, 0, 1, 1042, 32, "c:inner");
	is_hit(bench, 1, 0, 1101, 101, "c:outer");
	assert_int_equal(bench->triggers.met, 3);
	own(bench, 2, 10000);
	(void)look(bench);
	trigger_lane_reset(&bench->lane);
	own(bench, 3, 20000);
	(void)look(bench);
	assert_int_equal(bench->hits.count, 0);
	bench_free(bench);
}

static void spans_named_at_run_time(void **state)
{
	struct bench *bench = BENCH("span(loud) > 5ns", "span(x:lo*) > 1us");

	(void)state;
	declare(bench, 0, KYMO_SHAPE_BEGIN, "kymo", "begin", KYMO_KIND_STR, "category", KYMO_KIND_STR, "name", -1);
	declare(bench, 1, KYMO_SHAPE_END, "kymo", "begin", -1);
	own(bench, 0, 100);
	put(bench, "x\0loud", 7);
	own(bench, 0, 101);
	put(bench, "x\0quiet", 8);
	own(bench, 1, 900);
	own(bench, 1, 1000);
	assert_int_equal(look(bench), 4);
	assert_int_equal(bench->hits.count, 1);
	is_hit(bench, 0, 0, 1000, 900, "x:loud");
	bench_free(bench);
}

/* Their begin and end may be on different threads; and the time may be the program's own. */
static void spans_on_tracks(void **state)
{
	struct bench *bench = BENCH("span(job) > 5ns");
	struct trigger_lane other = { 0 };

	(void)state;
	declare(bench, 0, KYMO_SHAPE_BEGIN, "c", "job", KYMO_KIND_STR, "s", KYMO_KIND_U64, "track", KYMO_KIND_U64, "at_ns", -1);
	declare(bench, 1, KYMO_SHAPE_END, "c", "job", KYMO_KIND_U64, "track", -1);
	own(bench, 0, 100);
	put(bench, "abc", 4);
	put(bench, &(uint64_t){ 9 }, 8);
	put(bench, &(uint64_t){ 40 }, 8);
	(void)look(bench);
	own(bench, 1, 110);
	put(bench, &(uint64_t){ 8 }, 8);
	own(bench, 1, 120);
	put(bench, &(uint64_t){ 9 }, 8);
	assert_int_equal(
		trigger_records(bench->process, &other, bench->bytes, bench->used, &bench->ear), 2);
	assert_int_equal(bench->hits.count, 1);
	is_hit(bench, 0, 0, 120, 80, "c:job");
	trigger_lane_free(&other);
	bench_free(bench);
}

static void call(struct bench *bench, uint64_t callback, uint64_t from, uint64_t to)
{
	record(bench, KYMO_POINT_callback_start, from);
	put(bench, &callback, 8);
	put(bench, &(uint32_t){ 0 }, 4);
	record(bench, KYMO_POINT_callback_end, to);
	put(bench, &callback, 8);
}

static void callbacks_by_any_of_their_names(void **state)
{
	struct bench *bench = BENCH("callback > 1us", "callback(*on_scan*) > 10ns", "callback(/scan) > 20ns",
				    "callback(/nav/planner) > 30ns", "callback(driver) > 10ns",
				    "callback(/set_mode) > 10ns");

	(void)state;
	call(bench, 99, 1, 2000);	/* nothing is known of it */
	(void)look(bench);
	assert_int_equal(bench->hits.count, 1);
	is_hit(bench, 0, 0, 2000, 1999, "callback 0x63");
	fact(bench->process, KYMO_POINT_rcl_node_init, "ppss", 1, 2, "planner", "/nav");
	fact(bench->process, KYMO_POINT_rcl_node_init, "ppss", 11, 12, "driver", "/");
	fact(bench->process, KYMO_POINT_rcl_subscription_init, "pppsp", 21, 1, 22, "/scan", 10);
	fact(bench->process, KYMO_POINT_rclcpp_subscription_init, "pp", 21, 23);
	fact(bench->process, KYMO_POINT_rclcpp_subscription_callback_added, "pp", 23, 24);
	fact(bench->process, KYMO_POINT_rclcpp_callback_register, "ps", 24, "void (Planner::on_scan)(Scan)");
	fact(bench->process, KYMO_POINT_rclcpp_timer_callback_added, "pp", 31, 34);
	fact(bench->process, KYMO_POINT_rclcpp_timer_link_node, "pp", 31, 11);
	fact(bench->process, KYMO_POINT_rcl_service_init, "ppps", 41, 1, 42, "/set_mode");
	fact(bench->process, KYMO_POINT_rclcpp_service_callback_added, "pp", 41, 44);
	call(bench, 24, 100, 125);
	call(bench, 34, 200, 211);
	call(bench, 44, 300, 331);
	assert_int_equal(look(bench), 6);
	assert_int_equal(bench->hits.count, 5);
	is_hit(bench, 0, 1, 125, 25, "void (Planner::on_scan)(Scan)");
	is_hit(bench, 1, 2, 125, 25, "void (Planner::on_scan)(Scan)");
	is_hit(bench, 2, 4, 211, 11, "/driver timer");
	is_hit(bench, 3, 3, 331, 31, "/nav/planner /set_mode");
	is_hit(bench, 4, 5, 331, 31, "/nav/planner /set_mode");
	/* The same address is another one now. */
	fact(bench->process, KYMO_POINT_rclcpp_callback_register, "ps", 34, "f_on_scan_2");
	call(bench, 34, 400, 411);
	(void)look(bench);
	assert_int_equal(bench->hits.count, 2);
	is_hit(bench, 0, 1, 411, 11, "f_on_scan_2");
	trigger_fact(bench->process, KYMO_POINT_rcl_node_init, (const uint8_t *)"short", 5);
	bench_free(bench);
}

static void callbacks_that_throw(void **state)
{
	struct bench *bench = BENCH("callback > 10ns");

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		record(bench, KYMO_POINT_callback_start, 1000 + i);
		put(bench, &(uint64_t){ 5 }, 8);
		put(bench, &(uint32_t){ 0 }, 4);
		(void)look(bench);
	}
	call(bench, 6, 5000, 5011);
	(void)look(bench);
	assert_int_equal(bench->hits.count, 1);
	is_hit(bench, 0, 0, 5011, 11, "callback 0x6");
	bench_free(bench);
}

static void events_and_loops(void **state)
{
	struct bench *bench = BENCH("event(ros2:rcl_lifecycle_*)", "overrun(loop)", "missed", "event(grip)",
				    "overrun(other)", "event(ros2:rcl_node_init)");

	(void)state;
	declare(bench, 0, KYMO_SHAPE_INSTANT, "c", "loop_overrun", KYMO_KIND_U64, "late_ns", KYMO_KIND_U64, "skipped", -1);
	declare(bench, 1, KYMO_SHAPE_INSTANT, "c", "loop_missed", KYMO_KIND_U64, "late_ns", -1);
	declare(bench, 2, KYMO_SHAPE_POINT, "v", "grip", KYMO_KIND_STR, "s", -1);
	declare(bench, 3, KYMO_SHAPE_INSTANT, "c", "other_missed", KYMO_KIND_I32, "late", -1);	/* no loop's */
	record(bench, KYMO_POINT_rcl_lifecycle_transition, 10);
	put(bench, "\1\2\3\4\5\6\7\10from\0to", 16);
	own(bench, 0, 20);
	put(bench, &(uint64_t[]){ 777, 1 }, 16);
	own(bench, 1, 30);
	put(bench, &(uint64_t){ 888 }, 8);
	own(bench, 2, 40);
	put(bench, "yes", 4);
	own(bench, 3, 50);
	put(bench, &(int32_t){ 1 }, 4);
	assert_int_equal(look(bench), 5);
	assert_int_equal(bench->hits.count, 4);
	is_hit(bench, 0, 0, 10, 0, "ros2:rcl_lifecycle_transition");
	is_hit(bench, 1, 1, 20, 777, "c:loop_overrun");
	is_hit(bench, 2, 2, 30, 888, "c:loop_missed");
	is_hit(bench, 3, 3, 40, 0, "v:grip");
	bench->hits.count = 0;
	trigger_fact_event(bench->process, KYMO_POINT_rcl_node_init, 60, &bench->ear);
	trigger_fact_event(bench->process, KYMO_POINT_rcl_timer_init, 61, &bench->ear);
	assert_int_equal(bench->hits.count, 1);
	is_hit(bench, 0, 5, 60, 0, "ros2:rcl_node_init");
	assert_int_equal(bench->triggers.met, 0x2f);
	bench_free(bench);
}

static void loss_and_death(void **state)
{
	struct bench *bench = BENCH("loss", "died(robot)", "died");

	(void)state;
	trigger_loss(&bench->triggers, 12, 100, &bench->ear);
	trigger_died(&bench->triggers, "other", "/usr/bin/robot", 200, &bench->ear);
	trigger_died(&bench->triggers, "other", "/usr/bin/other", 300, &bench->ear);
	assert_int_equal(bench->hits.count, 4);
	is_hit(bench, 0, 0, 100, 12, "events dropped");
	is_hit(bench, 1, 1, 200, 0, "other");
	is_hit(bench, 2, 2, 200, 0, "other");
	is_hit(bench, 3, 2, 300, 0, "other");
	bench_free(bench);
}

static void bytes_that_make_no_sense(void **state)
{
	struct bench *bench = BENCH("callback > 1ns", "event(*)");

	(void)state;
	call(bench, 1, 10, 20);
	record(bench, KYMO_POINTS_TABLE + 5, 30);	/* not declared */
	assert_int_equal(look(bench), 2);
	record(bench, KYMO_POINT_callback_start, 40);
	put(bench, "1234", 4);				/* cut */
	assert_int_equal(look(bench), 0);
	record(bench, KYMO_POINT_rcl_lifecycle_transition, 50);
	put(bench, "12345678no end", 14);
	assert_int_equal(look(bench), 0);
	record(bench, KYMO_POINTS_MAX + 9, 60);
	assert_int_equal(look(bench), 0);
	bench_free(bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_understood),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(spans_longer_than),
		cmocka_unit_test(spans_named_at_run_time),
		cmocka_unit_test(spans_on_tracks),
		cmocka_unit_test(callbacks_by_any_of_their_names),
		cmocka_unit_test(callbacks_that_throw),
		cmocka_unit_test(events_and_loops),
		cmocka_unit_test(loss_and_death),
		cmocka_unit_test(bytes_that_make_no_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
