/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for Python's lock: parts of one wait have one holder, and those of other threads do not. */
#include "analysis/why/why.h"
#include "feed.h"

#define US 1000

static void waited(struct feed *f, int tid, int64_t from_ns, int64_t to_ns, int by)
{
	on(f, 1, tid);
	EV(to_ns, "gil_wait", "duration", P(to_ns - from_ns), "released_by", P(by));
}

static void check_wait(const struct why_gil *wait, int64_t start_ns, int64_t end_ns, int tid)
{
	assert_non_null(wait);
	assert_int_equal(wait->start_ns, start_ns);
	assert_int_equal(wait->end_ns, end_ns);
	assert_int_equal(wait->tid, tid);
	assert_true(!wait->by || wait->by->tid == tid);
}

static void rows(void **state)
{
	const struct why_window window = { 0, 100000 * US };
	struct feed *f = *state;
	struct why_others *others;
	const struct why_gil *wait;
	struct kymo_err err;

	assert_int_equal(why_others_create(&others, f->model, &window, 1, &err), 0);
	on(f, 1, 7);
	EV(1, "rcl_node_init", "node_handle", P(0x10), "rmw_handle", P(0x11), "\"node_name", "n",
	   "\"namespace", "/");
	/* In three pieces, while thread 6 waits, too. */
	waited(f, 5, 1000 * US, 6000 * US, 0);
	waited(f, 6, 2000 * US, 7000 * US, 0);
	waited(f, 5, 6010 * US, 11000 * US, 0);
	waited(f, 5, 11010 * US, 12000 * US, 7);
	waited(f, 6, 7010 * US, 12500 * US, 8);
	/* Damaged: it would have begun before time did. */
	on(f, 1, 5);
	EV(13000 * US, "gil_wait", "duration", P(INT64_MAX), "released_by", P(7));
	/* Much later: not of the wait before. */
	waited(f, 5, 20000 * US, 25000 * US, 0);
	waited(f, 5, 30000 * US, 31000 * US, 6);
	model_finish(f->model);
	assert_int_equal(why_others_pass.finish(others, &err), 0);
	wait = why_gil(others, model_thread(f->model, 1), 0);
	check_wait(wait, 1000 * US, 6000 * US, 7);
	assert_non_null(wait->by);
	wait = why_gil_next(others, wait);
	check_wait(wait, 6010 * US, 11000 * US, 7);
	wait = why_gil_next(others, wait);
	check_wait(wait, 11010 * US, 12000 * US, 7);
	check_wait(why_gil(others, model_thread(f->model, 1), 12000 * US), 20000 * US, 25000 * US,
		   0);
	wait = why_gil_next(others, why_gil_next(others, wait));
	check_wait(wait, 30000 * US, 31000 * US, 6);
	assert_null(why_gil_next(others, wait));
	/* Of the other thread; nothing is known of the one that had the lock. */
	wait = why_gil(others, model_thread(f->model, 2), 7000 * US);
	check_wait(wait, 7010 * US, 12500 * US, 8);
	assert_null(wait->by);
	assert_null(why_gil_next(others, wait));
	assert_null(why_gil(others, model_thread(f->model, 0), 0));
	why_others_pass.destroy(others);
}

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(rows) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
