/* SPDX-License-Identifier: Apache-2.0 */
/* The model: gids, each layer's events, what was published where, links, lifecycles, executors. */
#include "feed.h"

static void gids(void **state)
{
	struct feed *f = *state;
	uint8_t a[24] = { 1, 2, 3 }, b[24] = { 9, 8, 7 };

	on(f, 1, 1);
	EV(10, "rmw_publisher_init", "rmw_publisher_handle", P(0x1100), "#gid", a, P(24));
	publisher(f, 11, 0x100, 0x10, "/t");
	EV(12, "rmw_subscription_init", "rmw_subscription_handle", P(0x1200), "#gid", b, P(16));
	subscription(f, 13, 0x200, 0x10, "/t");
	/* The same addresses in another process, and, later, in this one. */
	on(f, 2, 2);
	publisher(f, 14, 0x100, 0x10, "/t");
	on(f, 1, 1);
	EV(20, "rmw_publisher_init", "rmw_publisher_handle", P(0x1100), "#gid", b, P(24));
	publisher(f, 21, 0x100, 0x10, "/t");
	assert_int_equal(model_count(f->model, MODEL_PUBLISHER), 3);
	assert_int_equal(model_publisher(f->model, 0)->gid.size, 24);
	assert_memory_equal(model_publisher(f->model, 0)->gid.bytes, a, 24);
	assert_int_equal(model_publisher(f->model, 1)->gid.size, 0);
	assert_memory_equal(model_publisher(f->model, 2)->gid.bytes, b, 24);
	assert_int_equal(model_subscription(f->model, 0)->gid.size, 16);
	assert_memory_equal(model_subscription(f->model, 0)->gid.bytes, b, 16);
}

static void every_layer_is_told(void **state)
{
	static const enum model_layer out[] = { MODEL_LAYER_RCLCPP, MODEL_LAYER_RCL,
						MODEL_LAYER_RMW, MODEL_LAYER_RMW };
	struct feed *f = *state;

	on(f, 1, 1);
	publisher(f, 10, 0x100, 0x10, "/t");
	subscription(f, 11, 0x200, 0x10, "/t");
	publish(f, 100, 0x100);
	/* The middleware's own has no init event, and is told all the same. */
	EV(110, "rmw_publish", "rmw_publisher_handle", P(0x9), "message", P(0x9), "timestamp", P(110));
	assert_int_equal(f->publishs, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(f->publish[i].layer, out[i]);
	assert_int_equal(f->publish[0].ns, 100);
	assert_int_equal(f->publish[0].address, 0x77);
	assert_null(f->publish[0].publisher);
	assert_ptr_equal(f->publish[1].publisher, model_publisher(f->model, 0));
	assert_int_equal(f->publish[1].handle, 0x100);
	assert_int_equal(f->publish[2].handle, 0x1100);
	assert_int_equal(f->publish[2].source_ns, 102);
	assert_null(f->publish[3].publisher);
	assert_int_equal(f->published[0].rcl_ns, 101);
	/* A take of nothing is told, and is no message. */
	EV(200, "rmw_take", "rmw_subscription_handle", P(0x1200), "message", P(0x88),
	   "source_timestamp", P(0), "taken", P(0));
	take(f, 201, 0x200, 102);
	EV(202, "rcl_take", "message", P(0x88));
	EV(203, "rclcpp_take", "message", P(0x88));
	start(f, 204, 0x202);
	assert_int_equal(f->takes, 4);
	assert_false(f->take[0].taken);
	assert_true(f->take[1].taken);
	assert_int_equal(f->take[1].source_ns, 102);
	assert_ptr_equal(f->take[1].subscription, model_subscription(f->model, 0));
	assert_int_equal(f->take[2].layer, MODEL_LAYER_RCL);
	assert_int_equal(f->take[3].layer, MODEL_LAYER_RCLCPP);
	assert_int_equal(f->take[3].address, 0x88);
	assert_int_equal(f->takens, 1);
	assert_int_equal(f->taken[0].id, f->published[0].id);
}

/* Nobody listens: the events are counted, and their fields are not even read. */
static void what_nobody_wants_is_not_bound(void **state)
{
	static const struct model_listener none;
	struct model *model;
	const struct kymo_ctf_bind *bind;
	unsigned count, seen = 0;
	struct kymo_err err;

	(void)state;
	assert_int_equal(model_create(&model, &err), 0);
	assert_int_equal(model_listen(model, &none, NULL, &err), 0);
	bind = model_bind(model, &count);
	for (unsigned i = 0; i < count; i++)
		if (strcmp(bind[i].event, "ros2:rmw_send_request") == 0 ||
		    strcmp(bind[i].event, "ros2:rcl_take") == 0 ||
		    strcmp(bind[i].event, "ros2:rclcpp_executor_execute") == 0) {
			assert_null(bind[i].field[0]);
			seen++;
		}
	assert_int_equal(seen, 3);
	model_destroy(model);
}

static void published_in_which_run(void **state)
{
	struct feed *f = *state;

	on(f, 1, 1);
	publisher(f, 10, 0x100, 0x10, "/t");
	subscription(f, 11, 0x200, 0x10, "/in");
	/* A reentrant callback: two threads in one callback at once; on one of them another
	 * inside. */
	on(f, 1, 1);
	start(f, 100, 0x202);
	on(f, 1, 2);
	start(f, 101, 0x202);
	on(f, 1, 1);
	publish(f, 102, 0x100);
	start(f, 110, 0x999);
	publish(f, 111, 0x100);
	end(f, 120, 0x999);
	EV(121, "rclcpp_intra_publish", "publisher_handle", P(0x100), "message", P(0x55));
	on(f, 1, 2);
	publish(f, 130, 0x100);
	end(f, 140, 0x202);
	on(f, 1, 1);
	end(f, 141, 0x202);
	publish(f, 150, 0x100);
	assert_int_equal(f->instances, 3);
	/* In order of end: inner (3), thread 2 (2), thread 1 (1). */
	assert_int_equal(f->instance[0].id, 3);
	assert_int_equal(f->instance[0].parent, 1);
	assert_int_equal(f->instance[0].published, 1);
	assert_int_equal(f->instance[1].id, 2);
	assert_int_equal(f->instance[1].published, 1);
	assert_int_equal(f->instance[2].id, 1);
	assert_int_equal(f->instance[2].parent, 0);
	assert_int_equal(f->instance[2].published, 2);
	assert_int_equal(f->publisheds, 5);
	assert_int_equal(f->published[0].from_instance, 1);
	assert_int_equal(f->published[1].from_instance, 3);
	assert_int_equal(f->published[2].from_instance, 1);
	assert_true(f->published[2].is_intra);
	assert_int_equal(f->published[3].from_instance, 2);
	assert_int_equal(f->published[4].from_instance, 0);
	assert_null(f->published[4].from);
}

/* After a gap the callback may long be over: the publication belongs to none. */
static void published_after_loss(void **state)
{
	struct feed *f = *state;

	on(f, 1, 1);
	publisher(f, 10, 0x100, 0x10, "/t");
	start(f, 100, 0x202);
	publish(f, 110, 0x100);
	lose(f, 120);
	publish(f, 130, 0x100);
	end(f, 140, 0x202);
	assert_int_equal(f->published[0].from_instance, 1);
	assert_int_equal(f->published[1].from_instance, 0);
	assert_int_equal(f->instances, 0);
	assert_int_equal(f->unfinisheds, 1);
}

static void message_knows_both_runs(void **state)
{
	struct feed *f = *state;

	on(f, 1, 1);
	publisher(f, 10, 0x100, 0x10, "/t");
	on(f, 2, 2);
	subscription(f, 11, 0x200, 0x10, "/t");
	on(f, 1, 1);
	start(f, 100, 0x500);
	publish(f, 101, 0x100);
	end(f, 110, 0x500);
	on(f, 2, 2);
	take(f, 120, 0x200, 103);
	start(f, 121, 0x202);
	end(f, 130, 0x202);
	assert_int_equal(f->taken[0].from_instance, 1);
	assert_int_equal(f->taken[0].to_instance, 2);
	assert_int_equal(f->instance[1].id, 2);
}

/* ---- links ---- */

static void two_inputs_one_output(struct feed *f, const char *event)
{
	uint64_t subs[] = { 0x200, 0x300, 0xdead }, pubs[] = { 0x100 };

	on(f, 1, 1);
	publisher(f, 10, 0x100, 0x10, "/out");
	subscription(f, 11, 0x200, 0x10, "/a");
	subscription(f, 12, 0x300, 0x10, "/b");
	ev(f, 13, event, "*subs", subs, P(3), "*pubs", pubs, P(1), NULL);
	ev(f, 13, event, "*subs", subs, P(3), "*pubs", pubs, P(1), NULL);
}

static void run(struct feed *f, int64_t ns, uint64_t callback)
{
	start(f, ns, callback);
	end(f, ns + 5, callback);
}

static void periodic_async(void **state)
{
	struct feed *f = *state;

	two_inputs_one_output(f, "ros2:message_link_periodic_async");
	assert_int_equal(model_count(f->model, MODEL_LINK), 1);
	assert_int_equal(model_link(f->model, 0)->subscriptions, 2);
	assert_ptr_equal(model_link(f->model, 0)->subscription[1], model_subscription(f->model, 1));
	assert_ptr_equal(model_link(f->model, 0)->publisher[0], model_publisher(f->model, 0));
	publish(f, 50, 0x100);
	assert_int_equal(f->causes, 0);		/* nothing came in yet */
	run(f, 100, 0x202);
	publish(f, 110, 0x100);
	assert_int_equal(f->causes, 1);
	run(f, 120, 0x302);
	publish(f, 130, 0x100);
	publish(f, 140, 0x100);
	assert_int_equal(f->causes, 5);
	assert_int_equal(f->cause[0].instance, 1);
	assert_int_equal(f->cause[0].start_ns, 100);
	assert_int_equal(f->cause[0].end_ns, 105);
	assert_true(f->cause[0].first);
	assert_false(f->cause[1].first);		/* the first run is its cause again */
	assert_int_equal(f->cause[1].instance, 1);
	assert_true(f->cause[2].first);
	assert_int_equal(f->cause[2].instance, 2);
	assert_false(f->cause[3].first);
	assert_ptr_equal(f->cause[2].subscription, model_subscription(f->model, 1));
}

static void partial_sync(void **state)
{
	struct feed *f = *state;

	two_inputs_one_output(f, "ros2:message_link_partial_sync");
	run(f, 100, 0x202);
	/* The set is complete in the other input's callback, which publishes. */
	start(f, 110, 0x302);
	publish(f, 111, 0x100);
	end(f, 115, 0x302);
	publish(f, 120, 0x100);			/* no new input */
	assert_int_equal(f->causes, 1);
	assert_int_equal(f->cause[0].instance, 1);
	assert_int_equal(f->published[0].from_instance, 2);
}

/* A handle that now means another subscription is not in the old link. */
static void links_of_reused_handles(void **state)
{
	struct feed *f = *state;

	two_inputs_one_output(f, "ros2:message_link_periodic_async");
	subscription(f, 20, 0x200, 0x10, "/other");
	run(f, 100, 0x202);
	publish(f, 110, 0x100);
	assert_int_equal(f->causes, 0);
	/* Nor does another process with equal handles have it. */
	on(f, 2, 2);
	publisher(f, 30, 0x100, 0x10, "/out");
	subscription(f, 31, 0x300, 0x10, "/b");
	run(f, 120, 0x302);
	publish(f, 130, 0x100);
	assert_int_equal(f->causes, 0);
}

static void rules(void **state)
{
	struct feed *f = *state;
	struct model_rule rule = { "/fusion", "/a", "/out" };

	assert_int_equal(model_rule(f->model, &rule), 0);
	on(f, 1, 1);
	node(f, 5, 0x10, "fusion");
	node(f, 6, 0x20, "other");
	subscription(f, 11, 0x200, 0x10, "/a");
	publisher(f, 12, 0x100, 0x10, "/out");
	publisher(f, 13, 0x110, 0x20, "/out");
	subscription(f, 14, 0x300, 0x10, "/b");
	assert_int_equal(model_count(f->model, MODEL_LINK), 1);
	assert_int_equal(model_link(f->model, 0)->kind, MODEL_LINK_USE_LATEST);
	start(f, 100, 0x202);
	publish(f, 101, 0x100);
	publish(f, 105, 0x110);
	assert_int_equal(f->causes, 1);
	assert_int_equal(f->cause[0].end_ns, 0);	/* it goes on */
}

/* ---- lifecycles ---- */

static void transition(struct feed *f, int64_t ns, uint64_t machine, const char *from,
		       const char *to)
{
	EV(ns, "rcl_lifecycle_transition", "state_machine", machine, "\"start_label", from,
	   "\"goal_label", to);
}

static void lifecycle_states(void **state)
{
	struct feed *f = *state;

	on(f, 1, 1);
	node(f, 10, 0x10, "talker");
	EV(11, "rcl_lifecycle_state_machine_init", "node_handle", P(0x10), "state_machine", P(0x20));
	transition(f, 100, 0x20, "unconfigured", "configuring");
	transition(f, 110, 0x20, "configuring", "inactive");
	/* One transition was lost: since when it was active is not known. */
	transition(f, 200, 0x20, "active", "deactivating");
	transition(f, 300, 0x99, "a", "b");
	model_finish(f->model);
	assert_int_equal(model_count(f->model, MODEL_STATE_MACHINE), 2);
	assert_int_equal(f->states, 6);
	assert_string_equal(f->state[0].label, "unconfigured");
	assert_int_equal(f->state[0].start_ns, 10);
	assert_int_equal(f->state[0].end_ns, 100);
	assert_string_equal(f->state[1].label, "configuring");
	assert_int_equal(f->state[1].start_ns, 100);
	assert_string_equal(f->state[2].label, "active");
	assert_int_equal(f->state[2].start_ns, 0);
	assert_int_equal(f->state[2].end_ns, 200);
	assert_null(f->state[3].node);
	assert_string_equal(f->state[4].label, "deactivating");
	assert_int_equal(f->state[4].end_ns, 0);
}

/* ---- executors ---- */

static void executor_states(void **state)
{
	struct feed *f = *state;

	on(f, 1, 1);
	EV(10, "rcl_timer_init", "timer_handle", P(0x40), "period", P(1000));
	EV(100, "rclcpp_executor_get_next_ready");
	EV(110, "rclcpp_executor_wait_for_work", "timeout", P(-1));
	on(f, 2, 1);					/* another process, the same thread id */
	EV(115, "rclcpp_executor_get_next_ready");
	on(f, 1, 1);
	EV(120, "rclcpp_executor_execute", "handle", P(0x40));
	subscription(f, 125, 0x40, 0x10, "/t");		/* the timer's address is reused */
	EV(130, "rclcpp_executor_execute", "handle", P(0x40));
	lose(f, 140);
	EV(150, "rclcpp_executor_get_next_ready");
	model_finish(f->model);
	assert_int_equal(f->executors, 6);
	assert_int_equal(f->executor[0].state, MODEL_EXECUTOR_GET_NEXT_READY);
	assert_int_equal(f->executor[0].end_ns, 110);
	assert_int_equal(f->executor[1].timeout_ns, -1);
	assert_int_equal(f->executor[1].end_ns, 120);
	assert_int_equal(f->executor[2].timer->period_ns, 1000);
	assert_null(f->executor[2].subscription);
	assert_null(f->executor[3].timer);
	assert_string_equal(f->executor[3].subscription->topic->name, "/t");
	assert_int_equal(f->executor[3].start_ns, 130);
	assert_int_equal(f->executor[3].end_ns, 0);	/* lost */
	assert_int_equal(f->executor[4].end_ns, 0);	/* the trace ends */
	assert_int_equal(f->executor[5].end_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gids),
		TEST(every_layer_is_told),
		TEST(what_nobody_wants_is_not_bound),
		TEST(published_in_which_run),
		TEST(published_after_loss),
		TEST(message_knows_both_runs),
		TEST(periodic_async),
		TEST(partial_sync),
		TEST(links_of_reused_handles),
		TEST(rules),
		TEST(lifecycle_states),
		TEST(executor_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
