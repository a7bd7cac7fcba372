/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model against hand-made event sequences: the hard cases of naming objects, and of pairing the
 * begins and ends of callbacks. analysis_messages.c has those of messages.
 */
#include "feed_as.h"

/* ---- names and objects ---- */

static void names(void **state)
{
	struct feed *f = *state;
	const struct model_callback *callback;
	char buffer[256];

	on(f, 10, 10);
	node_as(f, 1, 0x100, "filter", "/perception");
	node_as(f, 2, 0x200, "root", "/");
	assert_string_equal(model_node(f->model, 0)->full_name, "/perception/filter");
	assert_string_equal(model_node(f->model, 1)->full_name, "/root");
	EV(3, "rcl_timer_init", "timer_handle", P(0x300), "period", P(10000000));
	EV(4, "rclcpp_timer_callback_added", "timer_handle", P(0x300), "callback", P(0x310));
	EV(5, "rclcpp_callback_register", "callback", P(0x310), "\"symbol",
	   "std::_Bind<void (Filter::*(Filter*))()>");
	EV(6, "rclcpp_timer_link_node", "timer_handle", P(0x300), "node_handle", P(0x200));
	callback = model_find_callback(f->model, 0, 10, 0x310);
	assert_non_null(callback);
	assert_int_equal(callback->kind, MODEL_CALLBACK_TIMER);
	assert_string_equal(callback->symbol, "void (Filter::?)()");
	assert_string_equal(model_callback_label(callback, buffer, sizeof(buffer)),
			    "/root timer 10 ms");
	subscription_as(f, 10, 0x400, 0x410, 0x100, "/scan", 0x420);
	callback = model_find_callback(f->model, 0, 10, 0x420);
	assert_string_equal(model_callback_label(callback, buffer, sizeof(buffer)),
			    "/perception/filter /scan");
	EV(20, "rclcpp_callback_register", "callback", P(0x420), "\"symbol", "(null)");
	assert_string_equal(callback->symbol, "");
	assert_null(model_find_callback(f->model, 0, 11, 0x420));
	assert_null(model_find_callback(f->model, 7, 10, 0x420));
}

/* The same init log taken over twice: true times tell that nothing is new. */
static void repeated_init(void **state)
{
	struct feed *f = *state;
	int i;

	on(f, 10, 10);
	for (i = 0; i < 2; i++) {
		f->event.init_ns = 5;
		node_as(f, 1000, 0x100, "n", "/");
		f->event.init_ns = 6;
		EV(1000, "rcl_subscription_init", "subscription_handle", P(0x400), "node_handle",
		   P(0x100), "rmw_subscription_handle", P(0x410), "\"topic_name", "/t",
		   "queue_depth", P(1));
		f->event.init_ns = 7;
		EV(1000, "rclcpp_subscription_init", "subscription_handle", P(0x400),
		   "subscription", P(0x401));
		f->event.init_ns = 8;
		EV(1000, "rclcpp_subscription_callback_added", "subscription", P(0x401),
		   "callback", P(0x420));
		f->event.init_ns = 9;
		EV(1000, "rclcpp_callback_register", "callback", P(0x420), "\"symbol", "f()");
	}
	assert_int_equal(model_count(f->model, MODEL_NODE), 1);
	assert_int_equal(model_count(f->model, MODEL_SUBSCRIPTION), 1);
	assert_int_equal(model_count(f->model, MODEL_CALLBACK), 1);
	assert_int_equal(model_node(f->model, 0)->born_ns, 5);
}

static void reused_addresses(void **state)
{
	struct feed *f = *state;

	on(f, 10, 10);
	node_as(f, 1, 0x100, "first", "/");
	subscription_as(f, 10, 0x400, 0x410, 0x100, "/a", 0x420);
	start(f, 100, 0x420);
	end(f, 110, 0x420);
	node_as(f, 200, 0x100, "second", "/");
	subscription_as(f, 210, 0x400, 0x410, 0x100, "/b", 0x420);
	start(f, 300, 0x420);
	end(f, 330, 0x420);
	assert_int_equal(f->instances, 2);
	assert_ptr_not_equal(f->instance[0].callback, f->instance[1].callback);
	assert_string_equal(f->instance[0].callback->subscription->topic->name, "/a");
	assert_string_equal(model_callback_node(f->instance[0].callback)->name, "first");
	assert_string_equal(f->instance[1].callback->subscription->topic->name, "/b");
	assert_string_equal(model_callback_node(f->instance[1].callback)->name, "second");
}

/* rclcpp_lifecycle: callback_added names copies of the handles, in the order of the services. */
static void lifecycle_services(void **state)
{
	struct feed *f = *state;
	const struct model_callback *callback;
	int i;

	on(f, 10, 10);
	node_as(f, 1, 0x100, "lc", "/");
	EV(2, "rcl_service_init", "service_handle", P(0x600), "node_handle", P(0x100),
	   "\"service_name", "/lc/get_parameters");
	EV(3, "rclcpp_service_callback_added", "service_handle", P(0x600), "callback", P(0x610));
	EV(4, "rcl_service_init", "service_handle", P(0x700), "node_handle", P(0x100),
	   "\"service_name", "/lc/change_state");
	EV(5, "rcl_service_init", "service_handle", P(0x708), "node_handle", P(0x100),
	   "\"service_name", "/lc/get_state");
	EV(6, "rcl_lifecycle_state_machine_init", "node_handle", P(0x100), "state_machine", P(0x800));
	for (i = 0; i < 3; i++)
		EV(10 + i, "rclcpp_service_callback_added", "service_handle", P(0x900 + i),
		   "callback", P(0xa00 + i));
	callback = model_find_callback(f->model, 0, 10, 0xa00);
	assert_string_equal(callback->service->name, "/lc/change_state");
	callback = model_find_callback(f->model, 0, 10, 0xa01);
	assert_string_equal(callback->service->name, "/lc/get_state");
	callback = model_find_callback(f->model, 0, 10, 0xa02);
	assert_null(callback->service);
	assert_int_equal(callback->kind, MODEL_CALLBACK_SERVICE);
}

/* /rosout: one stack address for the publishers of all nodes; the rmw handle tells them apart. */
static void rosout(void **state)
{
	struct feed *f = *state;

	on(f, 10, 10);
	node_as(f, 1, 0x100, "a", "/");
	publisher_as(f, 2, 0x7ff0, 0x910, 0x100, "/rosout");
	node_as(f, 3, 0x200, "b", "/");
	publisher_as(f, 4, 0x7ff0, 0x920, 0x200, "/rosout");
	publish_as(f, 10, 0x5550, 0x910, 1000);
	publish_as(f, 20, 0x5560, 0x920, 1001);
	publish_as(f, 30, 0x5570, 0x930, 1002);
	assert_int_equal(f->publisheds, 2);
	assert_string_equal(f->published[0].publisher->node->name, "a");
	assert_string_equal(f->published[1].publisher->node->name, "b");
	assert_int_equal(model_facts(f->model)->internal_publishes, 1);
}

/* ---- callbacks ---- */

static void reentrant(void **state)
{
	struct feed *f = *state;

	on(f, 10, 11);
	start(f, 100, 0x420);
	on(f, 10, 12);
	start(f, 110, 0x420);
	on(f, 10, 11);
	end(f, 200, 0x420);
	on(f, 10, 12);
	end(f, 400, 0x420);
	assert_int_equal(f->instances, 2);
	assert_int_equal(f->instance[0].duration_ns, 100);
	assert_int_equal(f->instance[0].thread->tid, 11);
	assert_int_equal(f->instance[1].duration_ns, 290);
	assert_int_equal(f->instance[1].thread->tid, 12);
}

/* A callback spins an executor, which runs another one. */
static void nested(void **state)
{
	struct feed *f = *state;

	on(f, 10, 10);
	start(f, 100, 0x1);
	start(f, 110, 0x2);
	end(f, 120, 0x2);
	start(f, 130, 0x3);
	end(f, 140, 0x3);
	end(f, 200, 0x1);
	assert_int_equal(f->instances, 3);
	assert_int_equal(f->instance[0].depth, 1);
	assert_int_equal(f->instance[0].duration_ns, 10);
	assert_int_equal(f->instance[2].depth, 0);
	assert_int_equal(f->instance[2].duration_ns, 100);
	assert_int_equal(f->unfinisheds, 0);
}

static void missing_end(void **state)
{
	struct feed *f = *state;

	on(f, 10, 10);
	start(f, 100, 0x1);		/* throws */
	start(f, 200, 0x2);
	end(f, 210, 0x2);
	assert_int_equal(f->unfinisheds, 0);
	start(f, 300, 0x1);		/* so the first one is over */
	assert_int_equal(f->unfinisheds, 1);
	assert_int_equal(f->unfinished[0].start_ns, 100);
	end(f, 305, 0x1);
	start(f, 400, 0x3);		/* 3 begins inside 1 and never ends, but 1 does */
	start(f, 410, 0x4);
	end(f, 420, 0x3);
	assert_int_equal(f->unfinisheds, 2);
	assert_int_equal(f->unfinished[1].start_ns, 410);
	end(f, 500, 0x4);
	assert_int_equal(model_facts(f->model)->ends_without_start, 1);
	start(f, 600, 0x1);
	model_finish(f->model);
	assert_int_equal(f->unfinisheds, 3);
	assert_int_equal(f->instances, 3);
	assert_int_equal(f->instance[1].duration_ns, 5);
}

/* More starts than any real nesting, none with an end. */
static void endless_nesting(void **state)
{
	struct feed *f = *state;
	unsigned i;

	on(f, 10, 10);
	for (i = 0; i < 100; i++)
		start(f, i, 0x1000 + i);
	assert_int_equal(f->unfinisheds, 68);
	model_finish(f->model);
	assert_int_equal(f->unfinisheds, 100);
}

static void equal_addresses_in_two_processes(void **state)
{
	struct feed *f = *state;

	on(f, 10, 10);
	node_as(f, 1, 0x100, "a", "/");
	subscription_as(f, 2, 0x400, 0x410, 0x100, "/x", 0x420);
	on(f, 20, 21);
	node_as(f, 11, 0x100, "b", "/");
	subscription_as(f, 12, 0x400, 0x410, 0x100, "/y", 0x420);
	on(f, 10, 10);
	start(f, 100, 0x420);
	on(f, 20, 21);
	start(f, 101, 0x420);
	on(f, 10, 10);
	end(f, 110, 0x420);
	on(f, 20, 21);
	end(f, 121, 0x420);
	assert_int_equal(f->instances, 2);
	assert_string_equal(model_callback_node(f->instance[0].callback)->name, "a");
	assert_int_equal(f->instance[0].duration_ns, 10);
	assert_string_equal(model_callback_node(f->instance[1].callback)->name, "b");
	assert_int_equal(f->instance[1].duration_ns, 20);
}

/* The same pid on two hosts is two processes; two traces of one host are one. */
static void hosts(void **state)
{
	struct feed *f = *state;

	assert_int_equal(model_set_host(f->model, 0, "robot", 0), 0);
	assert_int_equal(model_set_host(f->model, 1, "base", 0), 0);
	assert_int_equal(model_set_host(f->model, 2, "robot", 0), 0);
	on(f, 10, 10);
	f->event.trace = 0;
	node_as(f, 1, 0x100, "on_robot", "/");
	subscription_as(f, 2, 0x400, 0x410, 0x100, "/x", 0x420);
	f->event.trace = 1;
	f->event.stream = 1;
	start(f, 10, 0x420);
	end(f, 20, 0x420);
	f->event.trace = 2;
	f->event.stream = 2;
	start(f, 30, 0x420);
	end(f, 40, 0x420);
	assert_null(model_callback_node(f->instance[0].callback));
	assert_string_equal(f->instance[0].callback->process->hostname, "base");
	assert_string_equal(model_callback_node(f->instance[1].callback)->name, "on_robot");
}

static void lost_events(void **state)
{
	struct feed *f = *state;
	struct kymo_ctf_event loss = {
		.bound = KYMO_CTF_LOSS, .lost = 5, .loss_begin_ns = 120, .ns = 150
	};

	on(f, 10, 10);
	start(f, 100, 0x1);
	on(f, 10, 11);
	start(f, 100, 0x2);
	loss.stream = 10;
	assert_int_equal(model_event(f->model, &loss), 0);
	on(f, 10, 10);
	end(f, 900, 0x1);		/* of the start at 100, or of one that was lost? */
	on(f, 10, 11);
	end(f, 200, 0x2);
	assert_int_equal(f->losses, 1);
	assert_int_equal(f->loss.events, 5);
	assert_int_equal(f->loss.begin_ns, 120);
	assert_int_equal(f->loss.thread->tid, 10);
	assert_int_equal(f->instances, 1);
	assert_int_equal(f->instance[0].duration_ns, 100);
	assert_int_equal(f->unfinisheds, 1);
}

/* Threads with an init log have two streams. What the kernel's trace beside theirs lost is not
 * theirs; what their own lost may be. */
static void lost_elsewhere(void **state)
{
	struct feed *f = *state;
	struct kymo_ctf_event loss = {
		.bound = KYMO_CTF_LOSS, .lost = 5, .loss_begin_ns = 120, .ns = 150, .stream = 70
	};

	assert_int_equal(model_set_host(f->model, 0, "robot", 0), 0);
	assert_int_equal(model_set_host(f->model, 1, "robot", 0), 0);
	on(f, 10, 10);
	start(f, 1, 0x1);
	f->event.stream = 11;
	end(f, 2, 0x1);
	assert_int_equal(f->instances, 1);
	for (loss.trace = 2; loss.trace-- > 0;) {
		start(f, 100, 0x1);
		assert_int_equal(model_event(f->model, &loss), 0);
		end(f, 200, 0x1);
		assert_int_equal(f->instances, 2);
		assert_int_equal(f->unfinisheds, !loss.trace);
		assert_int_equal(f->loss.is_elsewhere, loss.trace);
	}
}

static void no_init_events(void **state)
{
	struct feed *f = *state;
	char buffer[64];

	on(f, 10, 10);
	start(f, 100, 0xabc);
	end(f, 150, 0xabc);
	assert_int_equal(f->instance[0].duration_ns, 50);
	assert_int_equal(f->instance[0].callback->kind, MODEL_CALLBACK_UNKNOWN);
	assert_string_equal(model_callback_label(f->instance[0].callback, buffer, sizeof(buffer)),
			    "0xabc");
	publish_as(f, 200, 0x500, 0x510, 1000);
	take_as(f, 300, 0x410, 1000);
	assert_int_equal(f->publisheds, 0);
	assert_int_equal(f->takens, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names), TEST(repeated_init), TEST(reused_addresses),
		TEST(lifecycle_services), TEST(rosout), TEST(reentrant), TEST(nested),
		TEST(missing_end), TEST(endless_nesting), TEST(equal_addresses_in_two_processes),
		TEST(hosts), TEST(lost_events), TEST(lost_elsewhere), TEST(no_init_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
