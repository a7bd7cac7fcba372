/* SPDX-License-Identifier: Apache-2.0 */
/* The model against hand-made event sequences: the hard cases of pairing publications and takes. */
#include "feed_as.h"

/* A publisher in process 10 and subscriptions in 20 and 30. */
static void pub_sub(struct feed *f)
{
	on(f, 10, 10);
	node_as(f, 1, 0x100, "talker", "/");
	publisher_as(f, 2, 0x500, 0x510, 0x100, "/t");
	on(f, 20, 20);
	node_as(f, 3, 0x100, "listener", "/");
	subscription_as(f, 4, 0x400, 0x410, 0x100, "/t", 0x420);
	subscription_as(f, 8, 0x600, 0x610, 0x100, "/other", 0x620);
	on(f, 30, 30);
	node_as(f, 13, 0x100, "listener2", "/");
	subscription_as(f, 14, 0x400, 0x410, 0x100, "/t", 0x420);
}

static void across_processes(void **state)
{
	struct feed *f = *state;

	pub_sub(f);
	on(f, 10, 10);
	publish_as(f, 1000, 0x500, 0x510, 5000);
	on(f, 20, 20);
	EV(1100, "rmw_take", "rmw_subscription_handle", P(0x410), "message", P(1),
	   "source_timestamp", P(0), "taken", P(0));
	take_as(f, 1200, 0x410, 5000);
	start(f, 1210, 0x420);
	end(f, 1250, 0x420);
	on(f, 30, 30);
	take_as(f, 1220, 0x410, 5000);
	start(f, 1230, 0x420);
	end(f, 1260, 0x420);
	model_finish(f->model);
	assert_int_equal(f->publisheds, 1);
	assert_int_equal(f->published[0].publish_ns, 1000);
	assert_int_equal(f->published[0].send_ns, 1002);
	assert_int_equal(f->takens, 2);
	assert_int_equal(f->taken[0].id, f->published[0].id);
	assert_int_equal(f->taken[0].publish_ns, 1000);
	assert_int_equal(f->taken[0].take_ns, 1200);
	assert_int_equal(f->taken[0].callback_ns, 1210);
	assert_ptr_equal(f->taken[0].callback, f->instance[0].callback);
	assert_int_equal(f->with[0].id, f->published[0].id);
	assert_int_equal(f->with[1].id, f->published[0].id);
	assert_int_equal(f->droppeds, 0);
}

/* A take whose message goes to no callback, and a callback that is not the take's. */
static void take_without_callback(void **state)
{
	struct feed *f = *state;

	pub_sub(f);
	on(f, 10, 10);
	publish_as(f, 1000, 0x500, 0x510, 5000);
	on(f, 20, 20);
	take_as(f, 1200, 0x410, 5000);
	start(f, 1210, 0x620);
	end(f, 1250, 0x620);
	assert_int_equal(f->takens, 1);
	assert_null(f->taken[0].callback);
	assert_null(f->instance[0].message);
}

static void unmatched(void **state)
{
	struct feed *f = *state;
	int i;

	pub_sub(f);
	on(f, 10, 10);
	/* More than the window holds: the oldest leave it untaken. */
	for (i = 0; i < 300; i++)
		publish_as(f, 1000 + i * 10, 0x500, 0x510, 5000 + i);
	assert_int_equal(f->droppeds, 0);	/* the listeners' processes gave no sign of life */
	on(f, 20, 20);
	take_as(f, 10000, 0x410, 1);		/* a message from nowhere */
	assert_int_equal(f->takens, 0);
	take_as(f, 300000000, 0x410, 5299);
	assert_int_equal(f->takens, 1);
	assert_int_equal(f->taken[0].id, 0);
	assert_string_equal(f->taken[0].topic->name, "/t");
	model_finish(f->model);
	assert_int_equal(f->takens, 2);
	assert_int_not_equal(f->taken[1].id, 0);
	assert_int_equal(f->droppeds, 255);	/* the window without the one that was taken */
	assert_int_equal(f->why[0], MODEL_DROP_UNTAKEN);
}

/* Two publishers of a topic in the same nanosecond must not disturb each other's window. */
static void equal_stamps(void **state)
{
	struct feed *f = *state;
	int i;

	pub_sub(f);
	on(f, 10, 10);
	publisher_as(f, 20, 0x700, 0x710, 0x100, "/t");
	publish_as(f, 1000, 0x500, 0x510, 5000);
	publish_as(f, 1010, 0x700, 0x710, 5000);
	for (i = 0; i < 300; i++)
		publish_as(f, 2000 + i * 10, 0x500, 0x510, 6000 + i);
	on(f, 20, 20);
	take_as(f, 10000, 0x410, 5000);
	start(f, 10010, 0x420);
	assert_int_equal(f->taken[0].publish_ns, 1010);
}

/* Iron and older: the event has no handle and no time stamp. */
static void old_rmw_publish(void **state)
{
	struct feed *f = *state;

	pub_sub(f);
	on(f, 10, 10);
	EV(1000, "rclcpp_publish", "message", P(0x77));
	EV(1001, "rcl_publish", "publisher_handle", P(0x500), "message", P(0x77));
	EV(1002, "rmw_publish", "message", P(0x77));
	EV(1003, "rmw_publish", "message", P(0x99));	/* the middleware's own */
	assert_int_equal(f->publisheds, 1);
	assert_string_equal(f->published[0].topic->name, "/t");
	assert_int_equal(model_facts(f->model)->publishes_without_timestamp, 1);
	assert_int_equal(model_facts(f->model)->internal_publishes, 1);
	on(f, 20, 20);
	take_as(f, 1100, 0x410, 5000);
	start(f, 1110, 0x420);
	assert_int_equal(f->taken[0].id, 0);
	model_finish(f->model);
	assert_int_equal(f->droppeds, 0);
}

/* ---- intra-process ---- */

static void intra_process(struct feed *f)
{
	on(f, 10, 10);
	node_as(f, 1, 0x100, "both", "/");
	publisher_as(f, 2, 0x500, 0x510, 0x100, "/t");
	EV(3, "rcl_subscription_init", "subscription_handle", P(0x400), "node_handle", P(0x100),
	   "rmw_subscription_handle", P(0x410), "\"topic_name", "/t", "queue_depth", P(2));
	EV(4, "rclcpp_construct_ring_buffer", "buffer", P(0xb0), "capacity", P(2));
	EV(5, "rclcpp_buffer_to_ipb", "buffer", P(0xb0), "ipb", P(0xb1));
	EV(6, "rclcpp_ipb_to_subscription", "ipb", P(0xb1), "subscription", P(0x450));
	EV(7, "rclcpp_subscription_callback_added", "subscription", P(0x450), "callback", P(0x460));
	EV(8, "rclcpp_subscription_init", "subscription_handle", P(0x400), "subscription", P(0x450));
	EV(9, "rclcpp_subscription_init", "subscription_handle", P(0x400), "subscription", P(0x401));
	EV(10, "rclcpp_subscription_callback_added", "subscription", P(0x401), "callback", P(0x420));
}

static void enqueue(struct feed *f, int64_t ns, uint64_t index, uint64_t overwritten)
{
	EV(ns, "rclcpp_intra_publish", "publisher_handle", P(0x500), "message", P(0x77));
	EV(ns + 1, "rclcpp_ring_buffer_enqueue", "buffer", P(0xb0), "index", index, "size", P(1),
	   "overwritten", overwritten);
}

static void intra(void **state)
{
	struct feed *f = *state;

	intra_process(f);
	assert_true(model_find_callback(f->model, 0, 10, 0x460)->is_intra);
	assert_false(model_find_callback(f->model, 0, 10, 0x420)->is_intra);
	enqueue(f, 100, 0, 0);
	enqueue(f, 200, 1, 0);
	enqueue(f, 300, 0, 1);
	assert_int_equal(f->publisheds, 3);
	assert_int_equal(f->droppeds, 1);
	assert_int_equal(f->why[0], MODEL_DROP_OVERWRITTEN);
	assert_int_equal(f->dropped[0].publish_ns, 100);
	on(f, 10, 11);
	EV(400, "rclcpp_ring_buffer_dequeue", "buffer", P(0xb0), "index", P(1), "size", P(1));
	EV(410, "callback_start", "callback", P(0x460), "is_intra_process", P(1));
	EV(420, "callback_end", "callback", P(0x460));
	assert_int_equal(f->takens, 1);
	assert_true(f->taken[0].is_intra);
	assert_int_equal(f->taken[0].publish_ns, 200);
	assert_int_equal(f->taken[0].send_ns, 201);
	assert_int_equal(f->taken[0].take_ns, 400);
	assert_int_equal(f->taken[0].publish_thread->tid, 10);
	assert_string_equal(f->taken[0].topic->name, "/t");
	assert_true(f->instance[0].is_intra);
	assert_int_equal(f->with[0].id, f->published[1].id);
	EV(500, "rclcpp_ring_buffer_clear", "buffer", P(0xb0));
	assert_int_equal(f->droppeds, 2);
	assert_int_equal(f->why[1], MODEL_DROP_CLEARED);
	assert_int_equal(f->dropped[1].publish_ns, 300);
}

/* One call that serves a ring buffer and other processes is one publication. */
static void both_ways(void **state)
{
	struct feed *f = *state;

	intra_process(f);
	enqueue(f, 100, 0, 0);
	publish_as(f, 110, 0x500, 0x510, 5000);
	assert_int_equal(f->publisheds, 2);
	assert_int_equal(f->published[0].id, f->published[1].id);
	assert_true(f->published[0].is_intra);
	assert_false(f->published[1].is_intra);
	publish_as(f, 200, 0x500, 0x510, 5001);
	assert_int_not_equal(f->published[2].id, f->published[1].id);
	EV(500000000, "callback_start", "callback", P(1));
	model_finish(f->model);
	/* 5000 went through the buffer; 5001 did not and was never taken. */
	assert_int_equal(f->droppeds, 1);
	assert_int_equal(f->dropped[0].source_ns, 5001);
}

/* ---- CARET ---- */

static void caret_names(void **state)
{
	struct feed *f = *state;

	on(f, 10, 10);
	f->event.init_ns = 3;
	ev(f, 1000, "ros2_caret:rcl_node_init", "node_handle", P(0x100), "\"node_name", "n",
	   "\"namespace", "/", NULL);
	f->event.init_ns = 4;
	ev(f, 1000, "ros2_caret:rcl_publisher_init", "publisher_handle", P(0x500), "node_handle",
	   P(0x100), "rmw_publisher_handle", P(0x510), "\"topic_name", "/t", NULL);
	f->event.init_ns = 0;
	ev(f, 2000, "ros2_caret:dds_write", "rmw_publisher_handle", P(0x510), "message", P(1),
	   "timestamp", P(77), NULL);
	assert_int_equal(f->publisheds, 1);
	assert_int_equal(f->published[0].source_ns, 77);
	assert_string_equal(f->published[0].publisher->node->full_name, "/n");
	/* Old facts come kind by kind: the symbol before its owner, the object's link last. */
	ev(f, 3000, "ros2_caret:rclcpp_callback_register", "callback", P(0x420), "\"symbol", "f()",
	   "init_timestamp", P(20), NULL);
	ev(f, 3001, "ros2_caret:rclcpp_subscription_callback_added", "subscription", P(0x401),
	   "callback", P(0x420), "init_timestamp", P(19), NULL);
	assert_int_equal(model_count(f->model, MODEL_CALLBACK), 1);
	assert_string_equal(model_find_callback(f->model, 0, 10, 0x420)->symbol, "f()");
	assert_int_equal(model_find_callback(f->model, 0, 10, 0x420)->kind,
			 MODEL_CALLBACK_SUBSCRIPTION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(across_processes), TEST(take_without_callback), TEST(unmatched),
		TEST(equal_stamps), TEST(old_rmw_publish), TEST(intra), TEST(both_ways),
		TEST(caret_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
