/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a wait was judged: what ran meanwhile on other threads has a group or a node, or may have
 * held the group of the callback that waited. */
#include "analysis/executors/executor_waits.h"

#include "feed.h"

#define WAITS_MAX 16

static struct {
	struct waits_wait wait[WAITS_MAX];
	unsigned count;
} kept;

static void keep(void *unused, const struct waits_wait *wait)
{
	(void)unused;
	assert_in_range(kept.count, 0, WAITS_MAX - 1);
	kept.wait[kept.count++] = *wait;
}

/* A timer of @on_node with a period of 1000 ns and its callback. */
static void timer(struct feed *f, uint64_t handle, uint64_t callback, uint64_t on_node)
{
	EV(10, "rcl_timer_init", "timer_handle", handle, "period", P(1000));
	EV(11, "rclcpp_timer_callback_added", "timer_handle", handle, "callback", callback);
	EV(12, "rclcpp_timer_link_node", "timer_handle", handle, "node_handle", on_node);
}

/* The callback at @callback runs for 100 ns on a thread. */
static void runs(struct feed *f, int thread, int64_t ns, uint64_t callback)
{
	on(f, 1, thread);
	start(f, ns, callback);
	end(f, ns + 100, callback);
}

static void judged(void **state)
{
	struct feed *f = *state;
	struct waits *waits;

	kept.count = 0;
	assert_int_equal(waits_create(&waits, f->model, keep, NULL, NULL), 0);
	on(f, 1, 1);
	node(f, 1, 0x10, "known");
	node(f, 2, 0x20, "other");
	timer(f, 0x100, 0x500, 0x10);
	timer(f, 0x200, 0x600, 0x20);
	runs(f, 1, 2000, 0x500);
	runs(f, 2, 3200, 0x600); /* another node's */
	runs(f, 1, 3500, 0x500);
	runs(f, 2, 4600, 0x700); /* nobody's */
	runs(f, 1, 5000, 0x500);
	runs(f, 2, 5200, 0x700); /* it was not due yet */
	runs(f, 1, 6200, 0x500);
	assert_int_equal(kept.count, 3);
	assert_int_equal(kept.wait[0].from_ns, 3000);
	assert_int_equal(kept.wait[1].from_ns, 4500);
	assert_int_equal(kept.wait[2].from_ns, 6000);
	assert_true(kept.wait[0].is_judged);
	assert_false(kept.wait[1].is_judged);
	assert_true(kept.wait[2].is_judged);
	assert_false(waits_failed(waits));
	waits_destroy(waits);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(judged, setup,
									     teardown) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
