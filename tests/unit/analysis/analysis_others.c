/* SPDX-License-Identifier: Apache-2.0 */
/* The runs in a window that is found only while the trace is read: all of them, or it says so. */
#include "analysis/why/why.h"
#include "base/array.h"
#include "feed.h"

#define US 1000
#define RUNS 100000 /* more than are kept in case they are needed */

struct found {
	struct why_window window;
	unsigned asked, after; /* reported from this question on */
};

static bool latest(void *context, struct why_window *window)
{
	struct found *found = context;

	*window = found->window;
	return found->asked++ >= found->after;
}

/* Run i is [i * 10 us, i * 10 us + 5 us]. */
static struct why_others *runs(struct feed *f, const struct why_window *known, struct found *found)
{
	struct why_others *others;
	struct kymo_err err;

	assert_int_equal(why_others_create(&others, f->model, known, 1, &err), 0);
	why_others_follow(others, latest, found);
	on(f, 1, 1);
	EV(1, "rcl_node_init", "node_handle", P(0x10), "rmw_handle", P(0x11), "\"node_name", "n",
	   "\"namespace", "/");
	EV(2, "rcl_timer_init", "timer_handle", P(0x20), "period", P(10 * US));
	EV(3, "rclcpp_timer_callback_added", "timer_handle", P(0x20), "callback", P(0x21));
	for (int64_t i = 1; i <= RUNS; i++) {
		EV(i * 10 * US, "callback_start", "callback", P(0x21), "is_intra_process", P(0));
		EV(i * 10 * US + 5 * US, "callback_end", "callback", P(0x21));
	}
	model_finish(f->model);
	assert_int_equal(why_others_pass.finish(others, &err), 0);
	return others;
}

/* @others has the runs @first to @last, and from @at on. Return: the number behind them. */
static unsigned has(const struct why_others *others, unsigned at, int64_t first, int64_t last)
{
	for (int64_t i = first; i <= last; i++, at++) {
		assert_non_null(why_other(others, at));
		assert_int_equal(why_other(others, at)->start_ns, i * 10 * US);
	}
	return at;
}

static struct why_window window_of(int64_t first, int64_t last)
{
	return (struct why_window){ first * 10 * US + 1, last * 10 * US + 1 };
}

/* Found at once, and kept although it is old in the end. */
static void early(void **state)
{
	const struct why_window known = window_of(50000, 50002);
	struct found found = { window_of(2000, 2003), 0, 0 };
	struct why_others *others = runs(*state, &known, &found);

	assert_true(why_others_are_whole(others));
	assert_null(why_other(others, has(others, has(others, 0, 2000, 2003), 50000, 50002)));
	why_others_pass.destroy(others);
}

/* Found when it has just been. */
static void late(void **state)
{
	const struct why_window known = window_of(10, 12);
	struct found found = { window_of(RUNS - 5000, RUNS - 4000), 0, 5 };
	struct why_others *others = runs(*state, &known, &found);

	assert_true(why_others_are_whole(others));
	assert_null(
		why_other(others, has(others, has(others, 0, 10, 12), RUNS - 5000, RUNS - 4000)));
	why_others_pass.destroy(others);
}

/* Found when it is long gone: what is missing is not hidden. */
static void too_late(void **state)
{
	const struct why_window known = window_of(10, 12);
	struct found found = { window_of(100, 103), 0, 2 };
	struct why_others *others = runs(*state, &known, &found);

	assert_false(why_others_are_whole(others));
	(void)has(others, 0, 10, 12);
	why_others_pass.destroy(others);
}

/* Never found. */
static void none(void **state)
{
	const struct why_window known = window_of(10, 12);
	struct found found = { { 0, 0 }, 0, UINT32_MAX };
	struct why_others *others = runs(*state, &known, &found);

	assert_true(why_others_are_whole(others));
	assert_null(why_other(others, has(others, 0, 10, 12)));
	why_others_pass.destroy(others);
}

#define OUTER 0x21
#define FIRST 0x22
#define DEEP 0x23
#define SECOND 0x24

static void ran(struct feed *f, int32_t tid, uint64_t callback, int64_t begin_us, int64_t end_us)
{
	on(f, 1, tid);
	if (begin_us)
		EV(begin_us * US, "callback_start", "callback", P(callback), "is_intra_process",
		   P(0));
	if (end_us)
		EV(end_us * US, "callback_end", "callback", P(callback));
}

/*
 *    100            200      thread 1; another thread does the same a microsecond later
 *    |---- OUTER ----|
 *     |FIRST|  |SECOND|
 *      |DEEP|
 */
static void feed_nested(struct feed *f)
{
	const struct {
		uint64_t callback;
		int64_t begin_us, end_us;
	} events[] = { { OUTER, 100, 0 }, { FIRST, 110, 0 },    { DEEP, 120, 150 },
		       { FIRST, 0, 150 }, { SECOND, 160, 190 }, { OUTER, 0, 200 } };

	for (unsigned i = 0; i < COUNT_OF(events); i++)
		for (int32_t thread = 1; thread <= 2; thread++)
			ran(f, thread, events[i].callback,
			    events[i].begin_us ? events[i].begin_us + thread - 1 : 0,
			    events[i].end_us ? events[i].end_us + thread - 1 : 0);
	model_finish(f->model);
}

/* What @callback executed of the instance; OUTER is the callback of its hop. */
static int64_t executed_us(const struct why_parts *parts, uint64_t callback)
{
	int64_t ns = 0;

	for (unsigned i = 0; i < parts->count; i++) {
		assert_int_equal(parts->part[i].kind, WHY_EXECUTING);
		if ((parts->part[i].callback ? parts->part[i].callback->address : OUTER) ==
		    callback)
			ns += parts->part[i].ns;
	}
	return ns / US;
}

/* Runs within a run have parts of their own, and are none that others wait for. */
static void inner(void **state)
{
	struct feed *f = *state;
	const struct why_window known = { 100 * US, 200 * US };
	struct why_parts parts, because;
	struct why_instance instance = { known.begin_ns, 100 * US, 1, NULL };
	struct why_hop hop = { .at = { .start_ns = known.begin_ns, .end_ns = known.end_ns } };
	struct why_others *others;
	struct kymo_err err;

	assert_int_equal(why_others_create(&others, f->model, &known, 1, &err), 0);
	feed_nested(f);
	assert_int_equal(why_others_pass.finish(others, &err), 0);
	assert_non_null(why_other(others, 1));
	assert_null(why_other(others, 2));
	assert_non_null(why_inner(others, 5));
	assert_null(why_inner(others, 6));
	hop.callback = why_other(others, 0)->callback;
	hop.at.thread = why_other(others, 0)->thread;
	instance.hop = &hop;
	assert_int_equal(why_cut(&parts, &because, &instance, others, NULL), 0);
	assert_int_equal(executed_us(&parts, OUTER), 10 + 10 + 10);
	assert_int_equal(executed_us(&parts, FIRST), 10);
	assert_int_equal(executed_us(&parts, DEEP), 30);
	assert_int_equal(executed_us(&parts, SECOND), 30);
	assert_int_equal(parts.count, 4);
	why_parts_free(&parts);
	why_parts_free(&because);
	/* Of the inner one itself, only what is in that. */
	hop.callback = why_inner(others, 0)->callback;
	hop.at.start_ns = 110 * US;
	hop.at.end_ns = 150 * US;
	assert_int_equal(why_cut(&parts, &because, &instance, others, NULL), 0);
	assert_int_equal(executed_us(&parts, OUTER), 10);
	assert_int_equal(executed_us(&parts, DEEP), 30);
	assert_int_equal(parts.count, 2);
	why_parts_free(&parts);
	why_parts_free(&because);
	why_others_pass.destroy(others);
}

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(early), TEST(late), TEST(too_late), TEST(none),
					    TEST(inner) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
