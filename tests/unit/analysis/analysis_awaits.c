/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains through coroutines: what a callback publishes after an await follows from the message that
 * called it. Several coroutines of one callback, events that are not in the trace, tasks.
 */
#include "chains_feed.h"

#include "analysis/why/why.h"

#define B 0x4001 /* the callback of /b */

/* /a's timer -> /x -> /b -> /y -> /c */
static void three_nodes(struct feed *f)
{
	node(f, 1, "a");
	timer(f);
	publisher(f, 1, "/x");
	node(f, 2, "b");
	subscription(f, 1, "/x");
	publisher(f, 1, "/y");
	node(f, 3, "c");
	subscription(f, 1, "/y");
}

/* The run of @callback on thread @pid ends with an await. */
static void suspend(struct feed *f, int pid, int64_t ns, uint64_t callback, uint64_t coroutine,
		    uint64_t number)
{
	f->pid = pid;
	ev(f, ns, "ros2_kymo:callback_await", "callback", callback, "coroutine", coroutine,
	   "number", number, "awaited", P(MODEL_AWAITED_SLEEP), "handle", P(0), NULL);
	end(f, pid, ns, callback);
}

static void resume(struct feed *f, int pid, int64_t ns, uint64_t callback, uint64_t coroutine,
		   uint64_t number)
{
	f->pid = pid;
	ev(f, ns, "ros2_kymo:callback_resume", "callback", callback, "coroutine", coroutine,
	   "number", number, NULL);
	start(f, pid, ns, callback);
}

static uint64_t called(struct feed *f, int64_t ns)
{
	uint64_t stamp;

	start(f, 1, ns, 0x3000);
	stamp = publish(f, 1, ns + 10, 1);
	end(f, 1, ns + 20, 0x3000);
	return stamp;
}

static void answered(struct feed *f, int64_t ns, uint64_t stamp)
{
	deliver(f, 3, ns, 1, stamp);
	end(f, 3, ns + 10, 0x4001);
}

/* The part of the first arrival of @path with this @segment in step @step. */
static int64_t part(const struct chains_path *path, enum chains_segment segment, unsigned step,
		    const struct chains_arrival *arrival)
{
	for (unsigned i = 0; i < path->stats->parts; i++)
		if (path->stats->part[i].segment == segment && path->stats->part[i].step == step)
			return arrival->part_ns[i];
	return -1;
}

static void adds_up(const struct chains_path *path)
{
	for (unsigned k = 0; k < path->stats->worst_count; k++) {
		const struct chains_arrival *arrival = &path->stats->worst[k];
		int64_t sum = 0;

		for (unsigned i = 0; i < path->stats->parts; i++)
			sum += arrival->part_ns[i];
		assert_int_equal(sum, arrival->total_ns);
	}
	for (unsigned i = 0; i < path->stats->parts; i++)
		assert_int_equal(path->stats->part_ns[i].count, path->stats->total.count);
}

/* Two awaits; the second call does not wait at all, and the third one waits once. */
static void through(void **state)
{
	struct feed *f = *state;
	const struct chains_path *path;
	uint64_t stamp;

	three_nodes(f);
	deliver(f, 2, 900, 1, called(f, 800));
	stamp = publish(f, 2, 910, 1);
	end(f, 2, 920, B);
	answered(f, 950, stamp);
	deliver(f, 2, 1100, 1, called(f, 1000));
	suspend(f, 2, 1110, B, 7, 1);
	resume(f, 2, 1200, B, 7, 1);
	suspend(f, 2, 1205, B, 7, 2);
	resume(f, 2, 1300, B, 7, 2);
	stamp = publish(f, 2, 1320, 1);
	end(f, 2, 1330, B);
	answered(f, 1400, stamp);
	deliver(f, 2, 1600, 1, called(f, 1500));
	suspend(f, 2, 1610, B, 8, 1);
	resume(f, 2, 1650, B, 8, 1);
	stamp = publish(f, 2, 1660, 1);
	end(f, 2, 1670, B);
	answered(f, 1700, stamp);
	finish(f);
	path = chain(f, "/a /x /b /y /c");
	assert_non_null(path);
	assert_int_equal(shown(f), 1);
	assert_int_equal(path->stats->total.count, 3);
	assert_int_equal(path->stats->parts, 13);
	adds_up(path);
	assert_int_equal(path->stats->worst[0].begin_ns, 1000);
	assert_int_equal(part(path, CHAINS_RUN, 2, &path->stats->worst[0]), 7);
	assert_int_equal(part(path, CHAINS_AWAITED, 2, &path->stats->worst[0]), 90 + 95);
	assert_int_equal(part(path, CHAINS_RESUMED, 2, &path->stats->worst[0]), 5 + 20);
	assert_int_equal(part(path, CHAINS_AWAITED, 2, &path->stats->worst[1]), 40);
	assert_int_equal(part(path, CHAINS_AWAITED, 2, &path->stats->worst[2]), 0);
	assert_int_equal(part(path, CHAINS_AWAITED, 4, &path->stats->worst[0]), -1);
	path = chain(f, "/a /x /b");
	assert_int_equal(path->ended, 3);
	assert_int_equal(path->silent, 0);
	adds_up(path);
	assert_int_equal(part(path, CHAINS_RESUMED, 2, &path->stats->worst[0]), 5 + 30);
}

/* What is published before the await does not wait. */
static void before_and_after(void **state)
{
	struct feed *f = *state;
	const struct chains_path *path;
	uint64_t before, after;

	three_nodes(f);
	deliver(f, 2, 1100, 1, called(f, 1000));
	before = publish(f, 2, 1105, 1);
	suspend(f, 2, 1110, B, 7, 1);
	answered(f, 1120, before);
	resume(f, 2, 1200, B, 7, 1);
	after = publish(f, 2, 1220, 1);
	end(f, 2, 1230, B);
	answered(f, 1300, after);
	finish(f);
	path = chain(f, "/a /x /b /y /c");
	assert_int_equal(path->stats->total.count, 2);
	adds_up(path);
	assert_int_equal(part(path, CHAINS_AWAITED, 2, &path->stats->worst[0]), 90);
	assert_int_equal(part(path, CHAINS_AWAITED, 2, &path->stats->worst[1]), 0);
	assert_int_equal(path->stats->worst[0].begin_ns, path->stats->worst[1].begin_ns);
}

/* Two messages, two coroutines of one callback, the second one is ready first; on two threads. */
static void interleaved(void **state)
{
	struct feed *f = *state;
	const struct chains_path *path;
	uint64_t one, two;

	three_nodes(f);
	deliver(f, 2, 1100, 1, called(f, 1000));
	suspend(f, 2, 1110, B, 7, 1);
	deliver(f, 2, 2100, 1, called(f, 2000));
	suspend(f, 2, 2110, B, 8, 1);
	resume(f, 2, 2200, B, 8, 1);
	two = publish(f, 2, 2220, 1);
	end(f, 2, 2230, B);
	resume(f, 2, 2300, B, 7, 1);
	one = publish(f, 2, 2320, 1);
	end(f, 2, 2330, B);
	answered(f, 2400, two);
	answered(f, 2500, one);
	finish(f);
	path = chain(f, "/a /x /b /y /c");
	assert_int_equal(path->stats->total.count, 2);
	adds_up(path);
	assert_int_equal(path->stats->worst[0].begin_ns, 1000);
	assert_int_equal(path->stats->worst[1].begin_ns, 2000);
	assert_int_equal(part(path, CHAINS_AWAITED, 2, &path->stats->worst[0]), 2300 - 1110);
	assert_int_equal(part(path, CHAINS_AWAITED, 2, &path->stats->worst[1]), 90);
}

/* A run in between is not in the trace, or the first one is not: then the chain ends. */
static void gaps(void **state)
{
	struct feed *f = *state;
	uint64_t stamp;

	three_nodes(f);
	deliver(f, 2, 1100, 1, called(f, 1000));
	suspend(f, 2, 1110, B, 7, 1);
	resume(f, 2, 1300, B, 7, 2);
	stamp = publish(f, 2, 1320, 1);
	end(f, 2, 1330, B);
	answered(f, 1400, stamp);
	resume(f, 2, 1500, B, 9, 4);
	stamp = publish(f, 2, 1520, 1);
	suspend(f, 2, 1530, B, 9, 5);
	answered(f, 1550, stamp);
	resume(f, 2, 1600, B, 9, 5);
	stamp = publish(f, 2, 1620, 1);
	end(f, 2, 1630, B);
	answered(f, 1700, stamp);
	/* The resume is lost: this looks like a run of its own that awaits for the second time. */
	deliver(f, 2, 2100, 1, called(f, 2000));
	suspend(f, 2, 2110, B, 10, 1);
	start(f, 2, 2200, B);
	suspend(f, 2, 2210, B, 10, 2);
	resume(f, 2, 2300, B, 10, 2);
	stamp = publish(f, 2, 2320, 1);
	end(f, 2, 2330, B);
	answered(f, 2400, stamp);
	finish(f);
	assert_null(chain(f, "/a /x /b /y /c"));
	assert_null(chain(f, "/b /y /c"));
	assert_int_equal(chain(f, "/a /x /b")->ended, 0);
	assert_int_equal(chain(f, "/a /x /b")->silent_unfinished, 2);
}

/* A trace without numbers, as earlier versions wrote it. */
static void unnumbered(void **state)
{
	struct feed *f = *state;
	uint64_t stamp;

	three_nodes(f);
	deliver(f, 2, 1100, 1, called(f, 1000));
	end(f, 2, 1110, B);
	f->pid = 2;
	ev(f, 1200, "ros2_kymo:callback_resume", "callback", P(B), NULL);
	start(f, 2, 1200, B);
	stamp = publish(f, 2, 1220, 1);
	end(f, 2, 1230, B);
	answered(f, 1300, stamp);
	finish(f);
	assert_null(chain(f, "/a /x /b /y /c"));
	assert_int_equal(chain(f, "/a /x /b")->ended, 1);
}

/* A task lives as long as it likes: each run that publishes begins a chain. */
static void task(void **state)
{
	struct feed *f = *state;
	const struct chains_path *path;
	uint64_t stamp;

	three_nodes(f);
	start(f, 2, 1000, 0x9000);
	suspend(f, 2, 1010, 0x9000, 7, 1);
	for (unsigned i = 1; i < 4; i++) {
		resume(f, 2, 1000 + i * 1000, 0x9000, 7, i);
		stamp = publish(f, 2, 1005 + i * 1000, 1);
		suspend(f, 2, 1010 + i * 1000, 0x9000, 7, i + 1);
		answered(f, 1100 + i * 1000, stamp);
	}
	finish(f);
	path = chain(f, "? /y /c");
	assert_non_null(path);
	assert_int_equal(path->stats->total.count, 3);
	assert_true(path->stats->total.max < 200);
}

/* A loop that never ends is no call. */
static void endless(void **state)
{
	struct feed *f = *state;
	uint64_t stamp;

	three_nodes(f);
	deliver(f, 2, 1100, 1, called(f, 1000));
	suspend(f, 2, 1110, B, 7, 1);
	for (unsigned i = 1; i < 600; i++) {
		resume(f, 2, 1100 + i * 100, B, 7, i);
		stamp = publish(f, 2, 1110 + i * 100, 1);
		suspend(f, 2, 1120 + i * 100, B, 7, i + 1);
		answered(f, 1130 + i * 100, stamp);
	}
	finish(f);
	assert_int_equal(chain(f, "/a /x /b /y /c")->ended, 256);
}

/* kymo why: the hops know what was awaited, and the parts add up. */
static void waited_for(void **state)
{
	struct feed *f = *state;
	struct chains_options options = { .begin_ns = INT64_MIN,
					  .end_ns = INT64_MAX,
					  .worst = 3,
					  .hops = true,
					  .follow_ns = INT64_MIN };
	const struct why_window all = { INT64_MIN, INT64_MAX };
	struct why_others *others;
	struct why_instance instance;
	struct why_parts parts, because;
	const struct chains_path *path;
	struct kymo_err err;
	int64_t awaited_ns = 0, sum = 0;
	uint64_t stamp;
	char text[64];

	again(f, &options);
	assert_int_equal(why_others_create(&others, f->model, &all, 1, &err), 0);
	three_nodes(f);
	deliver(f, 2, 1100, 1, called(f, 1000));
	suspend(f, 2, 1110, B, 7, 1);
	resume(f, 2, 1200, B, 7, 1);
	stamp = publish(f, 2, 1220, 1);
	end(f, 2, 1230, B);
	answered(f, 1300, stamp);
	finish(f);
	path = chain(f, "/a /x /b /y /c");
	assert_int_equal(why_of_arrival(&instance, path, &path->stats->worst[0]), 0);
	assert_int_equal(instance.hop[2].at.awaits, 1);
	assert_int_equal(why_cut(&parts, &because, &instance, others, NULL), 0);
	for (unsigned i = 0; i < parts.count; i++) {
		sum += parts.part[i].ns;
		if (parts.part[i].kind != WHY_AWAITED)
			continue;
		awaited_ns += parts.part[i].ns;
		assert_string_equal(model_awaited_text(&parts.part[i].await, text, sizeof(text)),
				    "a sleep");
		assert_int_equal(parts.part[i].hop, 2);
	}
	assert_int_equal(awaited_ns, 90);
	assert_int_equal(sum, instance.total_ns);
	why_parts_free(&parts);
	why_parts_free(&because);
	why_free(&instance);
	why_others_pass.destroy(others);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(through, setup, teardown),
		cmocka_unit_test_setup_teardown(before_and_after, setup, teardown),
		cmocka_unit_test_setup_teardown(interleaved, setup, teardown),
		cmocka_unit_test_setup_teardown(gaps, setup, teardown),
		cmocka_unit_test_setup_teardown(unnumbered, setup, teardown),
		cmocka_unit_test_setup_teardown(task, setup, teardown),
		cmocka_unit_test_setup_teardown(endless, setup, teardown),
		cmocka_unit_test_setup_teardown(waited_for, setup, teardown),
	};

	return cmocka_run_group_tests_name("analysis_awaits", tests, NULL, NULL);
}
