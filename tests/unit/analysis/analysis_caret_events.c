/* SPDX-License-Identifier: Apache-2.0 */
/* The model: events of CARET's tracer, of its rclcpp on Humble, and executors of all
 * generations. */
#include "feed.h"

static void group_of_timer(struct feed *f, int64_t ns, uint64_t group, uint64_t timer)
{
	CARET(ns, "callback_group_add_timer", "callback_group_addr", group, "timer_handle", timer);
}

static void timer(struct feed *f, int64_t ns, uint64_t handle)
{
	EV(ns, "rcl_timer_init", "timer_handle", handle, "period", P(1000));
	EV(ns, "rclcpp_timer_callback_added", "timer_handle", handle, "callback", handle + 2);
}

static void executors_up_to_iron(void **state)
{
	struct feed *f = *state;
	const struct model_callback_group *group;

	on(f, 1, 1);
	CARET(10, "construct_executor", "executor_addr", P(0x1), "\"executor_type_name",
	      "multi_threaded_executor");
	CARET(11, "add_callback_group", "executor_addr", P(0x1), "callback_group_addr", P(0x2),
	      "\"group_type_name", "reentrant");
	timer(f, 12, 0x40);
	group_of_timer(f, 13, 0x2, 0x40);
	group = model_callback_group_of(model_callback(f->model, 0));
	assert_non_null(group);
	assert_string_equal(group->type, "reentrant");
	assert_string_equal(group->executor->type, "multi_threaded_executor");
	/* Told again, with equal times: nothing changes. */
	CARET(20, "construct_executor", "executor_addr", P(0x1), "\"executor_type_name",
	      "multi_threaded_executor", "init_timestamp", P(10));
	assert_int_equal(model_count(f->model, MODEL_EXECUTOR), 1);
	/* The executor's address is used by another one; the group is moved there. */
	CARET(30, "construct_executor", "executor_addr", P(0x1), "\"executor_type_name",
	      "single_threaded_executor");
	assert_string_equal(group->executor->type, "multi_threaded_executor");
	CARET(31, "add_callback_group", "executor_addr", P(0x1), "callback_group_addr", P(0x2),
	      "\"group_type_name", "reentrant");
	assert_string_equal(group->executor->type, "single_threaded_executor");
	assert_int_equal(model_count(f->model, MODEL_CALLBACK_GROUP), 1);
}

static void static_executor(void **state)
{
	struct feed *f = *state;

	on(f, 1, 1);
	CARET(10, "add_callback_group_static_executor", "entities_collector_addr", P(0x3),
	      "callback_group_addr", P(0x2), "\"group_type_name", "mutually_exclusive");
	assert_null(model_callback_group(f->model, 0)->executor);
	CARET(11, "construct_static_executor", "executor_addr", P(0x1), "entities_collector_addr",
	      P(0x3), "\"executor_type_name", "static_single_threaded_executor");
	assert_string_equal(model_callback_group(f->model, 0)->executor->type,
			    "static_single_threaded_executor");
}

static void executors_of_jazzy(void **state)
{
	struct feed *f = *state;

	on(f, 1, 1);
	CARET(10, "executor_entity_collector_to_executor", "executor_addr", P(0x1),
	      "entities_collector_addr", P(0x3));
	CARET(11, "construct_executor", "executor_addr", P(0x1), "\"executor_type_name",
	      "single_threaded_executor");
	CARET(12, "callback_group_to_executor_entity_collector", "entities_collector_addr", P(0x3),
	      "callback_group_addr", P(0x2), "\"group_type_name", "mutually_exclusive");
	assert_int_equal(model_count(f->model, MODEL_EXECUTOR), 1);
	assert_ptr_equal(model_callback_group(f->model, 0)->executor, model_executor(f->model, 0));
	/* Another process with the same addresses has its own. */
	on(f, 2, 2);
	CARET(13, "callback_group_to_executor_entity_collector", "entities_collector_addr", P(0x3),
	      "callback_group_addr", P(0x2), "\"group_type_name", "mutually_exclusive");
	assert_null(model_callback_group(f->model, 1)->executor);
	/* The address is constructed upon again: another executor. */
	on(f, 1, 1);
	CARET(20, "executor_entity_collector_to_executor", "executor_addr", P(0x1),
	      "entities_collector_addr", P(0x3));
	CARET(21, "construct_executor", "executor_addr", P(0x1), "\"executor_type_name",
	      "multi_threaded_executor");
	assert_int_equal(model_count(f->model, MODEL_EXECUTOR), 2);
	assert_string_equal(model_executor(f->model, 0)->type, "single_threaded_executor");
	assert_string_equal(model_executor(f->model, 1)->type, "multi_threaded_executor");
}

#define NODE(ns, handle)									\
	CARET(1000 + (ns), "rcl_node_init", "node_handle", P(handle), "rmw_handle", P(0x11),	\
	      "\"node_name", "n", "\"namespace", "/", "init_timestamp", P(ns))
#define CONSTRUCT(ns, type)									\
	CARET(1000 + (ns), "construct_executor", "executor_addr", P(0x1),			\
	      "\"executor_type_name", type, "init_timestamp", P(ns))
#define ADD_TO(ns, executor, group)								\
	CARET(1000 + (ns), "add_callback_group", "executor_addr", P(executor),			\
	      "callback_group_addr", P(group), "\"group_type_name", "reentrant",		\
	      "init_timestamp", P(ns))
#define COLLECT(ns)										\
	CARET(1000 + (ns), "executor_entity_collector_to_executor", "executor_addr", P(0x1),	\
	      "entities_collector_addr", P(0x3), "init_timestamp", P(ns))
#define ADD_TO_COLLECTOR(ns, group)								\
	CARET(1000 + (ns), "callback_group_to_executor_entity_collector",			\
	      "entities_collector_addr", P(0x3), "callback_group_addr", P(group),		\
	      "\"group_type_name", "reentrant", "init_timestamp", P(ns))

static const char *executor_of(const struct feed *f, unsigned group)
{
	return model_callback_group(f->model, group)->executor->type;
}

/* Two executors at one address, one after the other; the events come kind by kind. */
static void executor_again(void **state)
{
	struct feed *f = *state;

	on(f, 1, 1);
	ADD_TO(2, 0x1, 0x20);
	ADD_TO(12, 0x1, 0x21);
	CONSTRUCT(11, "second");
	CONSTRUCT(1, "first");
	assert_int_equal(model_count(f->model, MODEL_EXECUTOR), 2);
	assert_string_equal(executor_of(f, 0), "first");
	assert_string_equal(executor_of(f, 1), "second");
	/* Executors before groups. */
	ADD_TO(3, 0x1, 0x22);
	assert_string_equal(executor_of(f, 2), "first");
	/* Told again: nothing changes. */
	CONSTRUCT(1, "first");
	ADD_TO(2, 0x1, 0x20);
	ADD_TO(13, 0x1, 0x20);
	ADD_TO(2, 0x1, 0x20);
	assert_string_equal(executor_of(f, 0), "second");
	/* A third one, of which a group is told first. */
	ADD_TO(22, 0x1, 0x23);
	assert_string_equal(executor_of(f, 3), "second");
	CONSTRUCT(21, "third");
	assert_string_equal(executor_of(f, 3), "third");
	assert_string_equal(executor_of(f, 1), "second");
	assert_int_equal(model_count(f->model, MODEL_EXECUTOR), 3);
}

/* The same for executors of Jazzy, whose collectors are at one address, too. */
static void collector_again(void **state)
{
	struct feed *f = *state;

	on(f, 1, 1);
	COLLECT(1);
	CONSTRUCT(2, "first");
	ADD_TO_COLLECTOR(3, 0x20);
	COLLECT(11);
	assert_string_equal(executor_of(f, 0), "first");
	CONSTRUCT(12, "second");
	ADD_TO_COLLECTOR(13, 0x21);
	assert_string_equal(executor_of(f, 0), "first");
	assert_string_equal(executor_of(f, 1), "second");
	/* Kind by kind, in another process. */
	on(f, 2, 2);
	ADD_TO_COLLECTOR(13, 0x21);
	ADD_TO_COLLECTOR(3, 0x20);
	COLLECT(11);
	COLLECT(1);
	CONSTRUCT(2, "first");
	CONSTRUCT(12, "second");
	assert_int_equal(model_count(f->model, MODEL_EXECUTOR), 4);
	assert_string_equal(executor_of(f, 2), "second");
	assert_string_equal(executor_of(f, 3), "first");
}

/* A static executor at the address of another one, with its collector. */
static void static_executor_again(void **state)
{
	struct feed *f = *state;

	on(f, 1, 1);
	for (int64_t ns = 10; ns <= 20; ns += 10) {
		CARET(ns, "construct_static_executor", "executor_addr", P(0x1),
		      "entities_collector_addr", P(0x3), "\"executor_type_name",
		      ns == 10 ? "first" : "second");
		CARET(ns + 1, "add_callback_group_static_executor", "entities_collector_addr", P(0x3),
		      "callback_group_addr", P(ns), "\"group_type_name", "reentrant");
	}
	assert_string_equal(executor_of(f, 0), "first");
	assert_string_equal(executor_of(f, 1), "second");
}

static const struct model_callback_group *group_now(const struct feed *f, unsigned timer)
{
	return model_timer(f->model, timer)->group;
}

/* A group at the address of one that is gone: its node is at the address of the first one's. */
static void group_again(void **state)
{
	struct feed *f = *state;

	on(f, 1, 1);
	CONSTRUCT(1, "first");
	for (int64_t ns = 10; ns <= 20; ns += 10) {
		NODE(ns, 0x10);
		CARET(ns + 1, "rcl_timer_init", "timer_handle", P(0x40 + ns), "period", P(1000));
		group_of_timer(f, ns + 2, 0x20, 0x40 + P(ns));
		/* The executor may see the group before the timer has its node. */
		if (ns == 20)
			ADD_TO(ns + 3, 0x2, 0x20);
		CARET(ns + 4, "rclcpp_timer_link_node", "timer_handle", P(0x40 + ns), "node_handle",
		      P(0x10), "init_timestamp", P(ns + 4));
		if (ns == 10)
			ADD_TO(ns + 5, 0x1, 0x20);
	}
	assert_int_equal(model_count(f->model, MODEL_CALLBACK_GROUP), 2);
	assert_ptr_not_equal(group_now(f, 0), group_now(f, 1));
	assert_string_equal(group_now(f, 0)->executor->type, "first");
	assert_int_equal(group_now(f, 1)->executor->address, 0x2);
	/* Told late: of the first one. */
	CARET(2000, "rcl_timer_init", "timer_handle", P(0x80), "period", P(1), "init_timestamp", P(16));
	CARET(2001, "callback_group_add_timer", "callback_group_addr", P(0x20), "timer_handle", P(0x80),
	      "init_timestamp", P(17));
	assert_ptr_equal(group_now(f, 2), group_now(f, 0));
	/* A group of rclpy may have members of two nodes that live. */
	NODE(30, 0x18);
	CARET(2002, "rcl_timer_init", "timer_handle", P(0x90), "period", P(1));
	group_of_timer(f, 2003, 0x20, 0x90);
	CARET(2004, "rclcpp_timer_link_node", "timer_handle", P(0x90), "node_handle", P(0x18));
	assert_ptr_equal(group_now(f, 3), group_now(f, 1));
	/* A group does not change its type. */
	CARET(2010, "add_callback_group", "executor_addr", P(0x2), "callback_group_addr", P(0x20),
	      "\"group_type_name", "mutually_exclusive");
	assert_int_equal(model_count(f->model, MODEL_CALLBACK_GROUP), 3);
	assert_string_equal(group_now(f, 1)->type, "reentrant");
}

/* When a recording begins, CARET tells old facts kind by kind, each with its true time. */
static void facts_kind_by_kind(void **state)
{
	struct feed *f = *state;
	const struct model_timer *made;

	on(f, 1, 1);
	CARET(1000, "callback_group_add_timer", "callback_group_addr", P(0x2), "timer_handle", P(0x40),
	      "init_timestamp", P(13));
	CARET(1001, "callback_group_add_client", "callback_group_addr", P(0x2), "client_handle",
	      P(0x70), "init_timestamp", P(15));
	CARET(1002, "rcl_client_init", "client_handle", P(0x70), "node_handle", P(0x10),
	      "rmw_client_handle", P(0x71), "\"service_name", "/s", "init_timestamp", P(14));
	CARET(1003, "rcl_node_init", "node_handle", P(0x10), "rmw_handle", P(0x11), "\"node_name",
	      "talker", "\"namespace", "/", "init_timestamp", P(9));
	CARET(1004, "rcl_timer_init", "timer_handle", P(0x40), "period", P(1000), "init_timestamp", P(12));
	made = model_timer(f->model, 0);
	assert_int_equal(made->born_ns, 12);
	assert_non_null(made->group);
	assert_int_equal(made->group->address, 0x2);
	assert_string_equal(model_client(f->model, 0)->node->full_name, "/talker");
	assert_non_null(model_client(f->model, 0)->group);
	/* A timer made later at the same address is not in that group before it is told. */
	CARET(2000, "rcl_timer_init", "timer_handle", P(0x40), "period", P(5), "init_timestamp", P(2000));
	assert_null(model_timer(f->model, 1)->group);
	/* A node that came after the client is not its node. */
	CARET(2001, "rcl_client_init", "client_handle", P(0x80), "node_handle", P(0x90),
	      "rmw_client_handle", P(0x81), "\"service_name", "/s", "init_timestamp", P(14));
	CARET(2002, "rcl_node_init", "node_handle", P(0x90), "rmw_handle", P(0x11), "\"node_name",
	      "late", "\"namespace", "/", "init_timestamp", P(100));
	assert_null(model_client(f->model, 1)->node);
}

/* Ring buffers are told after the subscriptions they serve; before or after is told by true
 * times. */
static void buffers_kind_by_kind(void **state)
{
	struct feed *f = *state;

	on(f, 1, 1);
	CARET(1000, "rcl_subscription_init", "subscription_handle", P(0x200), "node_handle", P(0x10),
	      "rmw_subscription_handle", P(0x1200), "\"topic_name", "/t", "queue_depth", P(1),
	      "init_timestamp", P(10));
	CARET(1001, "rclcpp_subscription_callback_added", "subscription", P(0x300), "callback", P(0x302),
	      "init_timestamp", P(14));
	CARET(1002, "rclcpp_subscription_init", "subscription_handle", P(0x200), "subscription", P(0x300),
	      "init_timestamp", P(15));
	CARET(1003, "rclcpp_construct_ring_buffer", "buffer", P(0x1), "capacity", P(2),
	      "init_timestamp", P(11));
	CARET(1004, "rclcpp_buffer_to_ipb", "buffer", P(0x1), "ipb", P(0x2), "init_timestamp", P(12));
	CARET(1005, "rclcpp_ipb_to_subscription", "ipb", P(0x2), "subscription", P(0x300),
	      "init_timestamp", P(13));
	assert_int_equal(model_count(f->model, MODEL_SUBSCRIPTION_OBJECT), 1);
	assert_true(model_callback(f->model, 0)->is_intra);
	EV(2000, "rclcpp_ring_buffer_enqueue", "buffer", P(0x1), "index", P(0), "size", P(1),
	   "overwritten", P(0));
	EV(2001, "rclcpp_ring_buffer_dequeue", "buffer", P(0x1), "index", P(0), "size", P(0));
	EV(2002, "callback_start", "callback", P(0x302), "is_intra_process", P(1));
	assert_ptr_equal(f->taken[0].subscription, model_subscription(f->model, 0));
	assert_int_equal(f->taken[0].callback_ns, 2002);
}

/* ---- source timestamps ---- */

static void ends(struct feed *f)
{
	on(f, 1, 1);
	publisher(f, 10, 0x100, 0x10, "/t");
	on(f, 2, 2);
	subscription(f, 11, 0x200, 0x10, "/t");
}

static void dispatch(struct feed *f, int64_t ns, int64_t stamp)
{
	on(f, 2, 2);
	EV(ns, "dispatch_subscription_callback", "message", P(0x88), "callback", P(0x202), "source_stamp",
	   P(stamp), "message_timestamp", P(0));
	start(f, ns + 1, 0x202);
	end(f, ns + 2, 0x202);
	on(f, 1, 1);
}

/* Humble: the stamp follows the write; the publisher is in rclcpp_publish. */
static void stamp_after_the_write(void **state)
{
	struct feed *f = *state;

	ends(f);
	on(f, 1, 1);
	CARET(90, "dds_write", "message", P(0x66));		/* of the middleware itself */
	CARET(91, "dds_bind_addr_to_stamp", "addr", P(0x66), "source_stamp", P(5000));
	EV(100, "rclcpp_publish", "publisher_handle", P(0x100), "message", P(0x77));
	EV(101, "rcl_publish", "publisher_handle", P(0x100), "message", P(0x77));
	CARET(102, "dds_write", "message", P(0x77));
	CARET(103, "dds_bind_addr_to_stamp", "addr", P(0x77), "source_stamp", P(7000));
	assert_int_equal(f->publisheds, 1);
	assert_int_equal(f->published[0].publish_ns, 100);
	assert_int_equal(f->published[0].send_ns, 102);
	assert_int_equal(f->published[0].source_ns, 7000);
	dispatch(f, 120, 7000);
	assert_int_equal(f->takens, 1);
	assert_int_equal(f->taken[0].id, f->published[0].id);
	assert_int_equal(f->taken[0].take_ns, 120);
	assert_int_equal(f->taken[0].callback_ns, 121);
	assert_int_equal(f->publish[5].layer, MODEL_LAYER_DDS);
	assert_int_equal(f->publish[5].source_ns, 7000);
}

/* As kymo records stock Humble and Iron: their own rmw_publish, which has no stamp, and the stamp
 * behind it. */
static void stamp_after_rmw_publish(void **state)
{
	struct feed *f = *state;

	ends(f);
	on(f, 1, 1);
	EV(90, "rmw_publish", "message", P(0x66));		/* of the middleware itself */
	CARET(91, "dds_bind_addr_to_stamp", "addr", P(0x66), "source_stamp", P(5000));
	EV(100, "rclcpp_publish", "message", P(0x77));
	EV(101, "rcl_publish", "publisher_handle", P(0x100), "message", P(0x77));
	EV(102, "rmw_publish", "message", P(0x77));
	CARET(103, "dds_bind_addr_to_stamp", "addr", P(0x77), "source_stamp", P(7000));
	assert_int_equal(f->publisheds, 1);
	assert_int_equal(f->published[0].publish_ns, 100);
	assert_int_equal(f->published[0].send_ns, 102);
	assert_int_equal(f->published[0].source_ns, 7000);
	dispatch(f, 120, 7000);
	assert_int_equal(f->taken[0].id, f->published[0].id);
	assert_int_equal(model_facts(f->model)->publishes_without_timestamp, 0);
	/* CARET's trace of all events has both: one write. */
	EV(200, "rclcpp_publish", "publisher_handle", P(0x100), "message", P(0x77));
	EV(201, "rmw_publish", "message", P(0x77));
	CARET(202, "dds_write", "message", P(0x77));
	CARET(203, "dds_bind_addr_to_stamp", "addr", P(0x77), "source_stamp", P(8000));
	assert_int_equal(f->publisheds, 2);
	assert_int_equal(f->published[1].send_ns, 201);
	assert_int_equal(f->published[1].source_ns, 8000);
	assert_int_equal(model_facts(f->model)->internal_publishes, 1);
}

/* Written by @thread on publisher 0x100; the stamp is to follow. */
static void begin_write(struct feed *f, uint32_t thread, int64_t ns, uint64_t message)
{
	on(f, 1, thread);
	EV(ns, "rclcpp_publish", "publisher_handle", P(0x100), "message", message);
	CARET(ns + 1, "dds_write", "message", message);
}

/* A reader is quicker than CARET, which tells the stamp when the write is over. */
static void taken_before_the_stamp(void **state)
{
	struct feed *f = *state;

	ends(f);
	begin_write(f, 1, 100, 0x77);
	CARET(103, "dds_bind_addr_to_stamp", "addr", P(0x77), "source_stamp", P(102));
	begin_write(f, 1, 200, 0x77);
	on(f, 1, 2);
	dispatch(f, 210, 202);
	assert_int_equal(f->publisheds, 2);
	assert_int_equal(f->published[1].source_ns, 202);
	assert_int_equal(f->taken[0].id, f->published[1].id);
	assert_int_equal(f->taken[0].publish_ns, 200);
	on(f, 1, 1);
	CARET(220, "dds_bind_addr_to_stamp", "addr", P(0x77), "source_stamp", P(202));
	assert_int_equal(f->publisheds, 2);
	/* Which of two it is cannot be told. */
	begin_write(f, 1, 300, 0x77);
	begin_write(f, 3, 301, 0x78);
	on(f, 1, 2);
	dispatch(f, 310, 303);
	assert_int_equal(f->publisheds, 2);
	assert_int_equal(f->taken[1].id, 0);
	/* When one of them is told, it must be the other one. */
	on(f, 1, 3);
	CARET(320, "dds_bind_addr_to_stamp", "addr", P(0x78), "source_stamp", P(303));
	on(f, 1, 2);
	dispatch(f, 9000000, 8000000);
	assert_int_equal(f->taken[2].id, f->published[3].id);
	/* What has a stamp of before this write is another one. */
	begin_write(f, 1, 20000000, 0x77);
	on(f, 1, 2);
	dispatch(f, 20000010, 10000000);
	assert_int_equal(f->taken[3].id, 0);
}

/* Light mode has no dds_write; with Fast DDS the stamp names no address. */
static void stamp_without_the_write(void **state)
{
	struct feed *f = *state;

	ends(f);
	on(f, 1, 1);
	EV(100, "rclcpp_publish", "publisher_handle", P(0x100), "message", P(0x77));
	CARET(103, "dds_bind_addr_to_stamp", "addr", P(0), "source_stamp", P(7000));
	assert_int_equal(f->publisheds, 1);
	assert_int_equal(f->published[0].publish_ns, 100);
	assert_int_equal(f->published[0].address, 0x77);
	dispatch(f, 120, 7000);
	assert_int_equal(f->taken[0].id, f->published[0].id);
}

/* The stamp was lost: the next publication does not get it, and is told in order. */
static void stamp_that_never_came(void **state)
{
	struct feed *f = *state;

	ends(f);
	on(f, 1, 1);
	EV(100, "rclcpp_publish", "publisher_handle", P(0x100), "message", P(0x77));
	CARET(102, "dds_write", "message", P(0x77));
	assert_int_equal(f->publisheds, 0);
	EV(110, "rclcpp_publish", "publisher_handle", P(0x100), "message", P(0x77));
	assert_int_equal(f->publisheds, 1);
	CARET(112, "dds_write", "message", P(0x77));
	CARET(113, "dds_bind_addr_to_stamp", "addr", P(0x77), "source_stamp", P(7000));
	assert_int_equal(f->publisheds, 2);
	assert_int_equal(f->published[0].source_ns, 0);
	assert_int_equal(f->published[1].source_ns, 7000);
	assert_int_equal(f->published[1].publish_ns, 110);
	assert_int_equal(model_facts(f->model)->publishes_without_timestamp, 1);
}

/* Jazzy: the write has the stamp, which is told once more. */
static void stamp_in_the_write(void **state)
{
	struct feed *f = *state;

	ends(f);
	on(f, 1, 1);
	EV(100, "rclcpp_publish", "message", P(0x77));
	EV(101, "rcl_publish", "publisher_handle", P(0x100), "message", P(0x77));
	CARET(102, "dds_write", "rmw_publisher_handle", P(0x1100), "message", P(0x77), "timestamp",
	      P(7000));
	CARET(103, "dds_bind_addr_to_stamp", "addr", P(0x77), "source_stamp", P(7000));
	model_finish(f->model);
	assert_int_equal(f->publisheds, 1);
	assert_int_equal(f->published[0].source_ns, 7000);
}

/* ---- within a process on Humble ---- */

static void dispatch_intra(struct feed *f, int64_t ns, uint64_t message)
{
	EV(ns, "dispatch_intra_process_subscription_callback", "message", message, "callback", P(0x202),
	   "message_timestamp", P(0));
	EV(ns + 1, "callback_start", "callback", P(0x202), "is_intra_process", P(1));
	end(f, ns + 2, 0x202);
}

/* Stock Humble tells only that it was within the process. */
static void intra_without_events(void **state)
{
	struct feed *f = *state;

	on(f, 1, 1);
	publisher(f, 10, 0x100, 0x10, "/t");
	subscription(f, 11, 0x200, 0x10, "/t");
	EV(100, "callback_start", "callback", P(0x202), "is_intra_process", P(1));
	end(f, 101, 0x202);
	EV(110, "callback_start", "callback", P(0x202), "is_intra_process", P(0));
	end(f, 111, 0x202);
	assert_int_equal(model_facts(f->model)->intra_unknown, 1);
	assert_int_equal(model_facts(f->model)->intra_publishes, 0);
	EV(120, "rclcpp_intra_publish", "publisher_handle", P(0x100), "message", P(0x77));
	dispatch_intra(f, 121, 0x77);
	assert_int_equal(model_facts(f->model)->intra_unknown, 1);
	assert_int_equal(model_facts(f->model)->intra_publishes, 1);
}

static void copies(void **state)
{
	struct feed *f = *state;

	on(f, 1, 1);
	publisher(f, 10, 0x100, 0x10, "/t");
	subscription(f, 11, 0x200, 0x10, "/t");
	EV(100, "rclcpp_intra_publish", "publisher_handle", P(0x100), "message", P(0x77));
	EV(101, "message_construct", "original_message", P(0x77), "constructed_message", P(0x78));
	EV(102, "message_construct", "original_message", P(0x78), "constructed_message", P(0x79));
	on(f, 1, 2);
	dispatch_intra(f, 110, 0x79);
	assert_int_equal(f->takens, 1);
	assert_int_equal(f->taken[0].id, f->published[0].id);
	assert_int_equal(f->taken[0].publish_ns, 100);
	assert_int_equal(f->taken[0].callback_ns, 111);
	assert_true(f->instance[0].is_intra);
	/* The address is used by the next message. */
	on(f, 1, 1);
	EV(200, "rclcpp_intra_publish", "publisher_handle", P(0x100), "message", P(0x77));
	on(f, 1, 2);
	dispatch_intra(f, 210, 0x77);
	assert_int_equal(f->taken[1].id, f->published[1].id);
	/* Another process's messages at equal addresses are others. */
	on(f, 2, 3);
	subscription(f, 300, 0x200, 0x10, "/t");
	dispatch_intra(f, 310, 0x77);
	assert_int_equal(f->taken[2].id, 0);
}

static void clocks_and_processes(void **state)
{
	struct feed *f = *state;

	on(f, 1, 1);
	CARET(10, "caret_init", "clock_offset", P(5), "\"distribution", "jazzy");
	CARET(11, "rmw_implementation", "\"rmw_impl", "rmw_cyclonedds_cpp");
	CARET(12, "sim_time", "stamp", P(123));
	assert_string_equal(model_process(f->model, 0)->distribution, "jazzy");
	assert_string_equal(model_process(f->model, 0)->rmw, "rmw_cyclonedds_cpp");
	assert_int_equal(f->sim_times, 1);
	assert_int_equal(f->sim_time[0].ns, 12);
	assert_int_equal(f->sim_time[0].sim_ns, 123);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(executors_up_to_iron),
		TEST(static_executor),
		TEST(executors_of_jazzy),
		TEST(executor_again),
		TEST(collector_again),
		TEST(static_executor_again),
		TEST(group_again),
		TEST(facts_kind_by_kind),
		TEST(buffers_kind_by_kind),
		TEST(stamp_after_the_write),
		TEST(stamp_after_rmw_publish),
		TEST(taken_before_the_stamp),
		TEST(stamp_without_the_write),
		TEST(stamp_that_never_came),
		TEST(stamp_in_the_write),
		TEST(intra_without_events),
		TEST(copies),
		TEST(clocks_and_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
