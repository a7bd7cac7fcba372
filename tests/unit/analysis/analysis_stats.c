/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and waits: who held whose executor, what counts inside a window, how losses add up.
 * Events go through the model, given by name as a trace would.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/stats/stats.h"

#define MS 1000000ll
#define P(value) ((uint64_t)(value))

struct feed {
	struct model *model;
	struct stats *stats;
	int pid, tid;
	unsigned trace;
};

static int setup(void **state)
{
	struct feed *f = calloc(1, sizeof(*f));
	struct kymo_err err;

	assert_int_equal(model_create(&f->model, &err), 0);
	assert_int_equal(stats_create(&f->stats, f->model, INT64_MIN, INT64_MAX, &err), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct feed *f = *state;

	stats_destroy(f->stats);
	model_destroy(f->model);
	free(f);
	return 0;
}

/* Fields: name, value up to NULL; a name that begins with '"' has a text. */
static void ev(struct feed *f, int64_t ns, const char *name, ...)
{
	struct kymo_ctf_event event = {
		.ns = ns, .clock_ns = ns, .vpid = f->pid, .vtid = f->tid, .trace = f->trace,
		.stream = (unsigned)(f->trace * 100 + f->tid), .procname = "p",
	};
	const struct kymo_ctf_bind *bind;
	const char *field;
	unsigned count, i;
	va_list list;

	bind = model_bind(f->model, &count);
	for (i = 0; i < count && strcmp(bind[i].event + 5, name) != 0; i++)
		;
	assert_true(i < count);
	event.bound = i;
	va_start(list, name);
	while ((field = va_arg(list, const char *))) {
		bool text = *field == '"';

		for (i = 0; strcmp(bind[event.bound].field[i], field + text) != 0; i++)
			;
		event.value[i].present = 1;
		if (text)
			event.value[i].bytes = va_arg(list, const char *);
		else
			event.value[i].u = va_arg(list, uint64_t);
	}
	va_end(list);
	assert_int_equal(model_event(f->model, &event), 0);
}
#define EV(...) ev(f, __VA_ARGS__, NULL)

static void run(struct feed *f, int64_t from, int64_t to, uint64_t callback)
{
	EV(from, "callback_start", "callback", callback, "is_intra_process", P(0));
	EV(to, "callback_end", "callback", callback);
}

static void node(struct feed *f, uint64_t handle, const char *name)
{
	EV(1, "rcl_node_init", "node_handle", handle, "\"node_name", name, "\"namespace", "/");
}

static void timer(struct feed *f, uint64_t handle, int64_t period, uint64_t callback,
		  uint64_t on_node)
{
	EV(2, "rcl_timer_init", "timer_handle", handle, "period", period);
	EV(3, "rclcpp_timer_callback_added", "timer_handle", handle, "callback", callback);
	EV(4, "rclcpp_timer_link_node", "timer_handle", handle, "node_handle", on_node);
}

static void subscription(struct feed *f, uint64_t handle, uint64_t callback, uint64_t on_node)
{
	EV(5, "rcl_subscription_init", "subscription_handle", handle, "node_handle", on_node,
	   "rmw_subscription_handle", handle + 1, "\"topic_name", "/t", "queue_depth", P(10));
	EV(6, "rclcpp_subscription_init", "subscription_handle", handle, "subscription", handle + 2);
	EV(7, "rclcpp_subscription_callback_added", "subscription", handle + 2, "callback", callback);
}

static void publish(struct feed *f, int64_t ns, uint64_t stamp)
{
	EV(ns, "rmw_publish", "rmw_publisher_handle", P(0x510), "message", P(1), "timestamp", stamp);
}

static void deliver(struct feed *f, int64_t from, int64_t to, uint64_t stamp)
{
	EV(from, "rmw_take", "rmw_subscription_handle", P(0x401), "source_timestamp", stamp, "taken",
	   P(1));
	run(f, from, to, 0x420);
}

/* Process 10 publishes /t; in process 20 thread 20 runs a timer (0x320) and /t (0x420). */
static void robot(struct feed *f)
{
	f->pid = f->tid = 10;
	node(f, 0x100, "talker");
	EV(8, "rcl_publisher_init", "publisher_handle", P(0x500), "node_handle", P(0x100),
	   "rmw_publisher_handle", P(0x510), "\"topic_name", "/t", "queue_depth", P(10));
	f->pid = f->tid = 20;
	node(f, 0x100, "mapper");
	node(f, 0x200, "planner");
	timer(f, 0x300, 100 * MS, 0x320, 0x100);
	subscription(f, 0x400, 0x420, 0x200);
}

static const struct stats_callback *of(struct feed *f, uint64_t callback)
{
	return stats_callback(f->stats, model_find_callback(f->model, 0, 20, callback)->index);
}

static void on(struct feed *f, int pid, int tid)
{
	f->pid = pid;
	f->tid = tid;
}

static void culprit_and_victim(void **state)
{
	struct feed *f = *state;
	const struct stats_wait *w;

	robot(f);
	on(f, 10, 10);
	publish(f, 1005 * MS, 1);
	on(f, 20, 20);
	run(f, 1000 * MS, 1020 * MS, 0x320);
	deliver(f, 1021 * MS, 1022 * MS, 1);
	w = &of(f, 0x420)->worst;
	assert_int_equal(w->wait_ns, 16 * MS);
	assert_int_equal(w->blocked_ns, 15 * MS);
	assert_int_equal(w->culprit_ns, 15 * MS);
	assert_int_equal(w->culprit->address, 0x320);
	assert_int_equal(w->culprit_thread->tid, 20);
	assert_int_equal(w->since_ns, 1005 * MS);
	assert_int_equal(of(f, 0x420)->waits, 1);
	assert_int_equal(of(f, 0x320)->waits, 0);
}

/* Latency that is not the executor's fault blames nobody; a shorter wait changes nothing. */
static void idle_executor(void **state)
{
	struct feed *f = *state;

	robot(f);
	run(f, 900 * MS, 950 * MS, 0x320);
	on(f, 10, 10);
	publish(f, 1000 * MS, 1);
	on(f, 20, 20);
	deliver(f, 1500 * MS, 1501 * MS, 1);
	assert_int_equal(of(f, 0x420)->waits, 0);
	assert_null(of(f, 0x420)->worst.culprit);
	assert_int_equal(of(f, 0x420)->longest_ns, 500 * MS);
}

/* What ran inside the culprit is part of the culprit. */
static void nested_culprit(void **state)
{
	struct feed *f = *state;

	robot(f);
	on(f, 10, 10);
	publish(f, 1001 * MS, 1);
	on(f, 20, 20);
	EV(1000 * MS, "callback_start", "callback", P(0x320));
	run(f, 1002 * MS, 1003 * MS, 0x999);
	run(f, 1004 * MS, 1005 * MS, 0x999);
	EV(1010 * MS, "callback_end", "callback", P(0x320));
	deliver(f, 1010 * MS, 1011 * MS, 1);
	assert_int_equal(of(f, 0x420)->worst.blocked_ns, 9 * MS);
	assert_int_equal(of(f, 0x420)->worst.culprit->address, 0x320);
}

/* Two short runs of one callback outweigh a longer one of another. */
static void sum_decides(void **state)
{
	struct feed *f = *state;

	robot(f);
	on(f, 10, 10);
	publish(f, 1000 * MS, 1);
	on(f, 20, 20);
	run(f, 1000 * MS, 1003 * MS, 0x320);
	run(f, 1003 * MS, 1007 * MS, 0x999);
	run(f, 1007 * MS, 1010 * MS, 0x320);
	deliver(f, 1010 * MS, 1011 * MS, 1);
	assert_int_equal(of(f, 0x420)->worst.blocked_ns, 10 * MS);
	assert_int_equal(of(f, 0x420)->worst.culprit_ns, 6 * MS);
	assert_int_equal(of(f, 0x420)->worst.culprit->address, 0x320);
}

/* A multi-threaded executor: the callback group was held on another thread. */
static void group_on_other_thread(void **state)
{
	struct feed *f = *state;

	robot(f);
	on(f, 20, 20);
	timer(f, 0x700, 50 * MS, 0x720, 0x200);		/* of the planner, like /t */
	on(f, 20, 21);
	run(f, 500 * MS, 501 * MS, 0x320);
	on(f, 10, 10);
	publish(f, 1000 * MS, 1);
	on(f, 20, 22);
	run(f, 999 * MS, 1019 * MS, 0x320);		/* another node: another group */
	on(f, 20, 20);
	run(f, 999 * MS, 1018 * MS, 0x720);
	on(f, 20, 21);
	deliver(f, 1020 * MS, 1021 * MS, 1);
	assert_int_equal(of(f, 0x420)->worst.culprit->address, 0x720);
	assert_int_equal(of(f, 0x420)->worst.culprit_thread->tid, 20);
	assert_int_equal(of(f, 0x420)->worst.blocked_ns, 18 * MS);
}

/* CARET tells of groups: the same node's callback in another group is innocent. */
static void group_that_is_told(void **state)
{
	struct feed *f = *state;

	robot(f);
	on(f, 20, 20);
	timer(f, 0x700, 50 * MS, 0x720, 0x200);		/* of the planner, like /t */
	timer(f, 0x710, 50 * MS, 0x730, 0x200);
	EV(9, "caret:add_callback_group", "callback_group_addr", P(0x1), "\"group_type_name",
	   "mutually_exclusive");
	EV(9, "caret:callback_group_add_subscription", "callback_group_addr", P(0x1),
	   "subscription_handle", P(0x400));
	EV(9, "caret:callback_group_add_timer", "callback_group_addr", P(0x1), "timer_handle", P(0x710));
	EV(9, "caret:callback_group_add_timer", "callback_group_addr", P(0x2), "timer_handle", P(0x700));
	on(f, 20, 21);
	run(f, 500 * MS, 501 * MS, 0x320);
	on(f, 10, 10);
	publish(f, 1000 * MS, 1);
	on(f, 20, 22);
	run(f, 999 * MS, 1017 * MS, 0x730);		/* the same group */
	on(f, 20, 20);
	run(f, 999 * MS, 1019 * MS, 0x720);		/* another one */
	on(f, 20, 21);
	deliver(f, 1020 * MS, 1021 * MS, 1);
	assert_int_equal(of(f, 0x420)->worst.culprit->address, 0x730);
	assert_int_equal(of(f, 0x420)->worst.blocked_ns, 17 * MS);
}

static void reentrant_group(void **state)
{
	struct feed *f = *state;

	robot(f);
	on(f, 20, 20);
	timer(f, 0x700, 50 * MS, 0x720, 0x200);
	EV(9, "caret:add_callback_group", "callback_group_addr", P(0x1), "\"group_type_name",
	   "reentrant");
	EV(9, "caret:callback_group_add_subscription", "callback_group_addr", P(0x1),
	   "subscription_handle", P(0x400));
	EV(9, "caret:callback_group_add_timer", "callback_group_addr", P(0x1), "timer_handle", P(0x700));
	on(f, 20, 21);
	run(f, 500 * MS, 501 * MS, 0x320);
	on(f, 10, 10);
	publish(f, 1000 * MS, 1);
	on(f, 20, 20);
	run(f, 999 * MS, 1019 * MS, 0x720);
	on(f, 20, 21);
	deliver(f, 1020 * MS, 1021 * MS, 1);
	assert_null(of(f, 0x420)->worst.culprit);
}

static void late_timer(void **state)
{
	struct feed *f = *state;

	robot(f);
	run(f, 1000 * MS, 1001 * MS, 0x320);
	run(f, 1090 * MS, 1130 * MS, 0x999);
	run(f, 1131 * MS, 1132 * MS, 0x320);		/* due at 1100 */
	assert_int_equal(of(f, 0x320)->worst.wait_ns, 31 * MS);
	assert_int_equal(of(f, 0x320)->worst.blocked_ns, 30 * MS);
	assert_int_equal(of(f, 0x320)->worst.culprit->address, 0x999);
	run(f, 1200 * MS, 1201 * MS, 0x320);		/* back in step: not late */
	assert_int_equal(of(f, 0x320)->waits, 1);
}

/* A timer of a node with /clock may follow another time, and a loss may have been a run. */
static void timer_of_unknown_time(void **state)
{
	struct feed *f = *state;
	struct kymo_ctf_event loss = { .bound = KYMO_CTF_LOSS,
				       .ns = 1050 * MS,
				       .vpid = 20,
				       .vtid = 20,
				       .stream = 20,
				       .lost = 1 };

	robot(f);
	run(f, 1000 * MS, 1001 * MS, 0x320);
	assert_int_equal(model_event(f->model, &loss), 0);
	run(f, 1090 * MS, 1130 * MS, 0x999);
	run(f, 1131 * MS, 1132 * MS, 0x320); /* due at 1100, or not */
	assert_int_equal(of(f, 0x320)->waits, 0);
	EV(1140 * MS, "rcl_subscription_init", "subscription_handle", P(0x600), "node_handle",
	   P(0x100), "rmw_subscription_handle", P(0x601), "\"topic_name", "/clock", "queue_depth",
	   P(1));
	run(f, 1220 * MS, 1280 * MS, 0x999);
	run(f, 1281 * MS, 1282 * MS, 0x320);
	assert_int_equal(of(f, 0x320)->waits, 0);
}

static void numbers(void **state)
{
	struct feed *f = *state;
	const struct stats_callback *s;
	const struct stats_topic *t;
	int i;

	robot(f);
	for (i = 0; i < 11; i++) {
		on(f, 10, 10);
		publish(f, (1000 + i * 10) * MS, 1 + i);
		on(f, 20, 20);
		deliver(f, (1001 + i * 10) * MS, (1001 + i * 10) * MS + i * 100, 1 + i);
	}
	on(f, 20, 20);
	EV(2000 * MS, "rmw_take", "rmw_subscription_handle", P(0x401), "source_timestamp", P(777),
	   "taken", P(1));
	model_finish(f->model);
	s = of(f, 0x420);
	assert_int_equal(s->duration.count, 11);
	assert_int_equal(s->duration.min, 0);
	assert_int_equal(s->duration.max, 1000);
	assert_int_equal(histogram_quantile(&s->duration, 0.5), 500);
	assert_int_equal(stats_rate(s->duration.count, s->first_ns, s->last_ns), 100);
	t = stats_topic(f->stats, 0);
	assert_int_equal(t->published, 11);
	assert_int_equal(t->taken, 12);
	assert_int_equal(t->unpublished, 1);
	assert_int_equal(t->untaken, 0);
	assert_int_equal(t->latency.count, 11);
	assert_int_equal(t->latency.max, MS);
	assert_int_equal(stats_rate(1, 5, 5), 0);
}

static void window(void **state)
{
	struct feed *f = *state;
	int i;

	stats_window(f->stats, 1020 * MS, 1050 * MS);
	robot(f);		/* init events count wherever they are */
	for (i = 0; i < 11; i++) {
		on(f, 10, 10);
		publish(f, (1000 + i * 10) * MS, 1 + i);
		on(f, 20, 20);
		deliver(f, (1000 + i * 10) * MS, (1001 + i * 10) * MS, 1 + i);
	}
	assert_int_equal(of(f, 0x420)->duration.count, 4);
	assert_int_equal(stats_topic(f->stats, 0)->published, 4);
	assert_int_equal(stats_topic(f->stats, 0)->latency.count, 4);
}

/* Clocks of two hosts are not comparable: the delivery counts, its latency does not. */
static void between_hosts(void **state)
{
	struct feed *f = *state;

	assert_int_equal(model_set_host(f->model, 0, "a", 0), 0);
	assert_int_equal(model_set_host(f->model, 1, "b", 0), 0);
	f->trace = 0;
	robot(f);
	f->trace = 1;
	on(f, 20, 20);
	node(f, 0x200, "planner");
	subscription(f, 0x400, 0x420, 0x200);
	f->trace = 0;
	on(f, 10, 10);
	publish(f, 1000 * MS, 1);
	f->trace = 1;
	on(f, 20, 20);
	deliver(f, 1001 * MS, 1002 * MS, 1);
	assert_int_equal(stats_topic(f->stats, 0)->taken, 1);
	assert_int_equal(stats_topic(f->stats, 0)->other_host, 1);
	assert_int_equal(stats_topic(f->stats, 0)->latency.count, 0);
}

static void losses(void **state)
{
	struct feed *f = *state;
	struct kymo_ctf_event loss = { .bound = KYMO_CTF_LOSS, .lost = 1 };
	const struct stats_loss *l;
	int i;

	on(f, 20, 20);
	run(f, 1, 2, 0x1);
	loss.stream = 20;
	for (i = 0; i < 40; i++) {
		loss.loss_begin_ns = 1000 + i * 100;
		loss.ns = loss.loss_begin_ns + 10;
		assert_int_equal(model_event(f->model, &loss), 0);
	}
	loss.stream = 5;
	loss.lost = 0;
	loss.lost_packets = 3;
	assert_int_equal(model_event(f->model, &loss), 0);
	assert_int_equal(stats_lost_events(f->stats), 40);
	assert_int_equal(stats_lost_packets(f->stats), 3);
	assert_int_equal(stats_loss_count(f->stats), 2);
	assert_int_equal(stats_loss(f->stats, 0)->stream, 5);
	l = stats_loss(f->stats, 1);
	assert_int_equal(l->events, 40);
	assert_int_equal(l->thread->tid, 20);
	assert_int_equal(l->ranges, STATS_RANGES_MAX);
	for (i = 0, loss.lost = 0; i < (int)l->ranges; i++)
		loss.lost += l->range[i].events;
	assert_int_equal(loss.lost, 40);
	assert_int_equal(l->range[0].begin_ns, 1000);
	assert_int_equal(l->range[l->ranges - 1].end_ns, 1000 + 39 * 100 + 10);
	assert_null(stats_loss(f->stats, 2));
}

/* A message is lost for each subscription that did not receive it, whoever else did. */
static void lost_for_each(void **state)
{
	struct feed *f = *state;
	const uint64_t count = 70, missed[] = { 0, 63, 69 }; /* more than a word has bits */
	uint64_t i, k;

	robot(f); /* the first subscription; it receives nothing */
	on(f, 30, 30);
	for (i = 0; i < count; i++)
		subscription(f, 0x1000 + i * 16, 0x3000 + i, 0x100);
	on(f, 10, 10);
	for (k = 0; k < 3; k++)
		publish(f, (1000 + k) * MS, 1 + k);
	on(f, 30, 30);
	for (k = 0; k < 3; k++)
		for (i = 0; i < count; i++)
			if (k == 2 || (i != missed[0] && i != missed[1] && i != missed[2]))
				EV(1010 * MS, "rmw_take", "rmw_subscription_handle",
				   0x1001 + i * 16, "source_timestamp", 1 + k, "taken", P(1));
	model_finish(f->model);
	/* Newer than 100 ms, but overtaken by the third one. The process of the first has ended. */
	assert_int_equal(stats_topic(f->stats, 0)->untaken, 6);
	assert_int_equal(stats_topic(f->stats, 0)->taken, 3 * count - 6);
}

/* A subscription whose handle now belongs to another one is gone and expects nothing. */
static void replaced_subscription(void **state)
{
	struct feed *f = *state;

	robot(f);
	on(f, 10, 10);
	publish(f, 1000 * MS, 1);
	on(f, 20, 20);
	EV(1500 * MS, "rcl_subscription_init", "subscription_handle", P(0x400), "node_handle",
	   P(0x200), "rmw_subscription_handle", P(0x401), "\"topic_name", "/other", "queue_depth",
	   P(10));
	on(f, 10, 10);
	publish(f, 2000 * MS, 2);
	on(f, 20, 20);
	run(f, 3000 * MS, 3001 * MS, 0x320);
	model_finish(f->model);
	assert_int_equal(stats_topic(f->stats, 0)->untaken, 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(culprit_and_victim),
		CASE(idle_executor),
		CASE(nested_culprit),
		CASE(sum_decides),
		CASE(group_on_other_thread),
		CASE(group_that_is_told),
		CASE(reentrant_group),
		CASE(late_timer),
		CASE(timer_of_unknown_time),
		CASE(numbers),
		CASE(window),
		CASE(between_hosts),
		CASE(losses),
		CASE(lost_for_each),
		CASE(replaced_subscription),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
