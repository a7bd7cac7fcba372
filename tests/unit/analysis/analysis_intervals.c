/* SPDX-License-Identifier: Apache-2.0 */
/* Regularity and load against hand-made runs: runs inside runs, windows, reentrant callbacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/stats/stats_intervals.h"

struct feed {
	struct model *model;
	struct intervals *intervals;
};

static void ev(struct feed *f, int64_t ns, int tid, const char *name, const char *a, uint64_t u,
	       const char *b, uint64_t v)
{
	struct kymo_ctf_event event = { .ns = ns, .clock_ns = (uint64_t)ns, .vpid = 1, .vtid = tid,
				   .stream = (unsigned)tid, .procname = "p" };
	const struct kymo_ctf_bind *bind;
	unsigned count, i, j;

	bind = model_bind(f->model, &count);
	for (i = 0; i < count && strcmp(bind[i].event, name) != 0; i++)
		;
	assert_true(i < count);
	event.bound = (int)i;
	for (j = 0; bind[i].field[j]; j++) {
		event.value[j].present = 1;
		event.value[j].bytes = "/t";
		if (a && strcmp(bind[i].field[j], a) == 0)
			event.value[j].u = u;
		else if (b && strcmp(bind[i].field[j], b) == 0)
			event.value[j].u = v;
		else if (strstr(bind[i].field[j], "name") == NULL)
			event.value[j].u = 0;
	}
	assert_int_equal(model_event(f->model, &event), 0);
}

static void start(struct feed *f, int64_t ns, int tid, uint64_t callback)
{
	ev(f, ns, tid, "ros2:callback_start", "callback", callback, NULL, 0);
}

static void end(struct feed *f, int64_t ns, int tid, uint64_t callback)
{
	ev(f, ns, tid, "ros2:callback_end", "callback", callback, NULL, 0);
}

static void publish(struct feed *f, int64_t ns, int tid)
{
	ev(f, ns, tid, "ros2:rclcpp_publish", "message", 7, NULL, 0);
	ev(f, ns + 1, tid, "ros2:rmw_publish", "rmw_publisher_handle", 0x21, "message", 7);
}

static void open_feed(struct feed *f, int64_t begin_ns, int64_t end_ns)
{
	struct kymo_err err;

	assert_int_equal(model_create(&f->model, &err), 0);
	assert_int_equal(intervals_create(&f->intervals, f->model, begin_ns, end_ns, &err), 0);
	ev(f, 1, 10, "ros2:rcl_publisher_init", "publisher_handle", 0x20, "rmw_publisher_handle", 0x21);
}

static void close_feed(struct feed *f)
{
	model_finish(f->model);
	assert_false(intervals_failed(f->intervals));
	intervals_destroy(f->intervals);
	model_destroy(f->model);
}

static void runs_inside_runs(void **state)
{
	struct feed f;

	(void)state;
	open_feed(&f, INT64_MIN, INT64_MAX);
	start(&f, 100, 10, 0xa);
	start(&f, 120, 10, 0xb);
	start(&f, 125, 10, 0xc);
	end(&f, 130, 10, 0xc);
	end(&f, 140, 10, 0xb);
	start(&f, 150, 10, 0xb);
	end(&f, 160, 10, 0xb);
	end(&f, 200, 10, 0xa);
	start(&f, 300, 10, 0xa);
	end(&f, 310, 10, 0xa);
	assert_int_equal(intervals_thread(f.intervals, 0)->busy_ns, 110);
	assert_int_equal(intervals_thread(f.intervals, 0)->runs, 5);
	assert_int_equal(intervals_thread(f.intervals, 0)->longest_ns, 70);	/* 100 - 20 - 10 */
	assert_int_equal(intervals_callback(f.intervals, 0)->interval.max, 200);
	assert_int_equal(intervals_callback(f.intervals, 1)->interval.count, 1);
	assert_int_equal(intervals_idle(f.intervals, 0)->max, 100);
	assert_int_equal(intervals_idle(f.intervals, 1)->max, 10);
	assert_int_equal(intervals_idle(f.intervals, 2)->count, 0);
	close_feed(&f);
}

/* What a coroutine does after an await is in the load, and is no run of a period. */
static void resumed(void **state)
{
	struct feed f;

	(void)state;
	open_feed(&f, INT64_MIN, INT64_MAX);
	for (int64_t ns = 100; ns < 500; ns += 100) {
		start(&f, ns, 10, 0xa);
		end(&f, ns + 10, 10, 0xa);
		ev(&f, ns + 30, 10, "ros2_kymo:callback_resume", "callback", 0xa, NULL, 0);
		start(&f, ns + 30, 10, 0xa);
		end(&f, ns + 40, 10, 0xa);
	}
	assert_int_equal(intervals_thread(f.intervals, 0)->busy_ns, 80);
	assert_int_equal(intervals_callback(f.intervals, 0)->interval.count, 3);
	assert_int_equal(intervals_callback(f.intervals, 0)->interval.min, 100);
	assert_int_equal(intervals_idle(f.intervals, 0)->count, 3);
	assert_int_equal(intervals_idle(f.intervals, 0)->max, 60);
	close_feed(&f);
}

static void window(void **state)
{
	struct feed f;

	(void)state;
	open_feed(&f, 150, 250);
	start(&f, 100, 10, 0xa);
	end(&f, 170, 10, 0xa);		/* 20 inside */
	start(&f, 180, 10, 0xa);
	end(&f, 190, 10, 0xa);
	start(&f, 240, 10, 0xa);
	end(&f, 300, 10, 0xa);		/* 10 inside */
	start(&f, 400, 10, 0xa);
	end(&f, 410, 10, 0xa);
	assert_int_equal(intervals_thread(f.intervals, 0)->busy_ns, 40);
	assert_int_equal(intervals_callback(f.intervals, 0)->interval.count, 1);
	assert_int_equal(intervals_span(f.intervals), 100);
	close_feed(&f);
}

/* Two threads in one callback, publishing in turn: two runs, three messages. */
static void reentrant(void **state)
{
	const struct intervals_publications *p;
	struct feed f;

	(void)state;
	open_feed(&f, INT64_MIN, INT64_MAX);
	start(&f, 100, 10, 0xa);
	start(&f, 105, 11, 0xa);
	publish(&f, 110, 10);
	publish(&f, 120, 11);
	publish(&f, 130, 10);
	end(&f, 140, 10, 0xa);
	end(&f, 150, 11, 0xa);
	publish(&f, 160, 10);
	assert_int_equal(intervals_publications_count(f.intervals), 2);
	p = intervals_publications(f.intervals, 0);
	assert_non_null(p->callback);
	assert_int_equal(p->count, 3);
	assert_int_equal(p->runs, 2);
	assert_int_equal(p->most, 2);
	assert_int_equal(p->delay.min, 10);
	assert_int_equal(p->delay.max, 30);
	assert_null(intervals_publications(f.intervals, 1)->callback);
	assert_int_equal(intervals_topic(f.intervals, 0)->interval.count, 3);
	/* Its runs overlap, until both are over. */
	assert_int_equal(intervals_idle(f.intervals, 0)->count, 0);
	start(&f, 180, 10, 0xa);
	assert_int_equal(intervals_idle(f.intervals, 0)->count, 1);
	assert_int_equal(intervals_idle(f.intervals, 0)->min, 30);
	close_feed(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_inside_runs),
		cmocka_unit_test(resumed),
		cmocka_unit_test(window),
		cmocka_unit_test(reentrant),
	};

	return cmocka_run_group_tests_name("analysis_intervals", tests, NULL, NULL);
}
