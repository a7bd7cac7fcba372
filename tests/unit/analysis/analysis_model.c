/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model against hand-made event sequences: the hard cases of pairing and naming. Events are
 * given by name and field name, as a trace would; what the listeners get is kept in lists.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/model/model.h"

#define KEPT 64

struct seen {
	struct model *model;
	struct kymo_ctf_event event;		/* what the next ev() carries besides its fields */

	struct model_instance instance[KEPT];
	struct model_message with[KEPT];	/* the message of instance[i], id 0 without */
	unsigned instances;
	struct model_instance unfinished[KEPT];
	unsigned unfinisheds;
	struct model_message published[KEPT];
	unsigned publisheds;
	struct model_message taken[KEPT];
	unsigned takens;
	struct model_message dropped[KEPT];
	enum model_drop why[KEPT];
	unsigned droppeds;
	struct model_loss loss;
	unsigned losses;
};

static void on_instance(void *context, const struct model_instance *instance)
{
	struct seen *s = context;

	assert_true(s->instances < KEPT);
	s->instance[s->instances] = *instance;
	if (instance->message)
		s->with[s->instances] = *instance->message;
	s->instances++;
}

static void on_unfinished(void *context, const struct model_instance *instance)
{
	struct seen *s = context;

	assert_int_equal(instance->duration_ns, -1);
	s->unfinished[s->unfinisheds++ % KEPT] = *instance;
}

static void on_published(void *context, const struct model_message *message)
{
	struct seen *s = context;

	s->published[s->publisheds++ % KEPT] = *message;
}

static void on_taken(void *context, const struct model_message *message)
{
	struct seen *s = context;

	s->taken[s->takens++ % KEPT] = *message;
}

static void on_dropped(void *context, const struct model_message *message, enum model_drop why)
{
	struct seen *s = context;

	s->why[s->droppeds % KEPT] = why;
	s->dropped[s->droppeds++ % KEPT] = *message;
}

static void on_loss(void *context, const struct model_loss *loss)
{
	struct seen *s = context;

	s->loss = *loss;
	s->losses++;
}

static const struct model_listener listener = {
	.instance = on_instance,
	.unfinished = on_unfinished,
	.published = on_published,
	.taken = on_taken,
	.dropped = on_dropped,
	.loss = on_loss,
};

static int setup(void **state)
{
	struct seen *s = calloc(1, sizeof(*s));
	struct kymo_err err;

	assert_int_equal(model_create(&s->model, &err), 0);
	assert_int_equal(model_listen(s->model, &listener, s), 0);
	s->event.procname = "proc";
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct seen *s = *state;

	model_destroy(s->model);
	free(s);
	return 0;
}

/* The thread that emits what follows. Each has its own stream unless a test says otherwise. */
static void on(struct seen *s, int pid, int tid)
{
	s->event.vpid = pid;
	s->event.vtid = tid;
	s->event.stream = (unsigned)tid % 100;
}

/* Fields: name, value pairs up to NULL. A name that begins with '"' has a text. */
static void ev(struct seen *s, int64_t ns, const char *name, ...)
{
	struct kymo_ctf_event event = s->event;
	const struct kymo_ctf_bind *bind;
	const char *field;
	unsigned count, i;
	va_list list;

	bind = model_bind(s->model, &count);
	event.ns = ns;
	event.clock_ns = ns;
	for (i = 0; i < count && strcmp(bind[i].event, name) != 0; i++)
		;
	assert_true(i < count);
	event.bound = i;
	bind += i;
	va_start(list, name);
	while ((field = va_arg(list, const char *))) {
		bool text = *field == '"';

		field += text;
		for (i = 0; bind->field[i] && strcmp(bind->field[i], field) != 0; i++)
			;
		assert_non_null(bind->field[i]);
		event.value[i].present = 1;
		if (text) {
			event.value[i].bytes = va_arg(list, const char *);
			event.value[i].size = strlen(event.value[i].bytes);
		} else {
			event.value[i].u = va_arg(list, uint64_t);
		}
	}
	va_end(list);
	assert_int_equal(model_event(s->model, &event), 0);
}
#define EV(ns, name, ...) ev(s, ns, "ros2:" name, ##__VA_ARGS__, NULL)
#define P(value) ((uint64_t)(value))

static void start(struct seen *s, int64_t ns, uint64_t callback)
{
	EV(ns, "callback_start", "callback", callback, "is_intra_process", P(0));
}

static void end(struct seen *s, int64_t ns, uint64_t callback)
{
	EV(ns, "callback_end", "callback", callback);
}

static void node(struct seen *s, int64_t ns, uint64_t handle, const char *name, const char *space)
{
	EV(ns, "rcl_node_init", "node_handle", handle, "rmw_handle", P(1), "\"node_name", name,
	   "\"namespace", space);
}

static void publisher(struct seen *s, int64_t ns, uint64_t handle, uint64_t rmw, uint64_t on_node,
		      const char *topic)
{
	EV(ns, "rcl_publisher_init", "publisher_handle", handle, "node_handle", on_node,
	   "rmw_publisher_handle", rmw, "\"topic_name", topic, "queue_depth", P(10));
}

static void subscription(struct seen *s, int64_t ns, uint64_t handle, uint64_t rmw,
			 uint64_t on_node, const char *topic, uint64_t callback)
{
	EV(ns, "rcl_subscription_init", "subscription_handle", handle, "node_handle", on_node,
	   "rmw_subscription_handle", rmw, "\"topic_name", topic, "queue_depth", P(10));
	EV(ns + 1, "rclcpp_subscription_init", "subscription_handle", handle, "subscription",
	   handle + 1);
	EV(ns + 2, "rclcpp_subscription_callback_added", "subscription", handle + 1, "callback",
	   callback);
}

static void publish(struct seen *s, int64_t ns, uint64_t handle, uint64_t rmw, uint64_t stamp)
{
	EV(ns, "rclcpp_publish", "message", P(0x77));
	EV(ns + 1, "rcl_publish", "publisher_handle", handle, "message", P(0x77));
	EV(ns + 2, "rmw_publish", "rmw_publisher_handle", rmw, "message", P(0x77), "timestamp",
	   stamp);
}

static void take(struct seen *s, int64_t ns, uint64_t rmw, uint64_t stamp)
{
	EV(ns, "rmw_take", "rmw_subscription_handle", rmw, "message", P(0x88), "source_timestamp",
	   stamp, "taken", P(1));
}

/* ---- names and objects ---- */

static void names(void **state)
{
	struct seen *s = *state;
	const struct model_callback *callback;
	char buffer[256];

	on(s, 10, 10);
	node(s, 1, 0x100, "filter", "/perception");
	node(s, 2, 0x200, "root", "/");
	assert_string_equal(model_node(s->model, 0)->full_name, "/perception/filter");
	assert_string_equal(model_node(s->model, 1)->full_name, "/root");
	EV(3, "rcl_timer_init", "timer_handle", P(0x300), "period", P(10000000));
	EV(4, "rclcpp_timer_callback_added", "timer_handle", P(0x300), "callback", P(0x310));
	EV(5, "rclcpp_callback_register", "callback", P(0x310), "\"symbol",
	   "std::_Bind<void (Filter::*(Filter*))()>");
	EV(6, "rclcpp_timer_link_node", "timer_handle", P(0x300), "node_handle", P(0x200));
	callback = model_find_callback(s->model, 0, 10, 0x310);
	assert_non_null(callback);
	assert_int_equal(callback->kind, MODEL_CALLBACK_TIMER);
	assert_string_equal(callback->symbol, "void (Filter::?)()");
	assert_string_equal(model_callback_label(callback, buffer, sizeof(buffer)),
			    "/root timer 10 ms");
	subscription(s, 10, 0x400, 0x410, 0x100, "/scan", 0x420);
	callback = model_find_callback(s->model, 0, 10, 0x420);
	assert_string_equal(model_callback_label(callback, buffer, sizeof(buffer)),
			    "/perception/filter /scan");
	EV(20, "rclcpp_callback_register", "callback", P(0x420), "\"symbol", "(null)");
	assert_string_equal(callback->symbol, "");
	assert_null(model_find_callback(s->model, 0, 11, 0x420));
	assert_null(model_find_callback(s->model, 7, 10, 0x420));
}

/* The same init log taken over twice: true times tell that nothing is new. */
static void repeated_init(void **state)
{
	struct seen *s = *state;
	int i;

	on(s, 10, 10);
	for (i = 0; i < 2; i++) {
		s->event.init_ns = 5;
		node(s, 1000, 0x100, "n", "/");
		s->event.init_ns = 6;
		EV(1000, "rcl_subscription_init", "subscription_handle", P(0x400), "node_handle",
		   P(0x100), "rmw_subscription_handle", P(0x410), "\"topic_name", "/t",
		   "queue_depth", P(1));
		s->event.init_ns = 7;
		EV(1000, "rclcpp_subscription_init", "subscription_handle", P(0x400),
		   "subscription", P(0x401));
		s->event.init_ns = 8;
		EV(1000, "rclcpp_subscription_callback_added", "subscription", P(0x401),
		   "callback", P(0x420));
		s->event.init_ns = 9;
		EV(1000, "rclcpp_callback_register", "callback", P(0x420), "\"symbol", "f()");
	}
	assert_int_equal(model_count(s->model, MODEL_NODE), 1);
	assert_int_equal(model_count(s->model, MODEL_SUBSCRIPTION), 1);
	assert_int_equal(model_count(s->model, MODEL_CALLBACK), 1);
	assert_int_equal(model_node(s->model, 0)->born_ns, 5);
}

static void reused_addresses(void **state)
{
	struct seen *s = *state;

	on(s, 10, 10);
	node(s, 1, 0x100, "first", "/");
	subscription(s, 10, 0x400, 0x410, 0x100, "/a", 0x420);
	start(s, 100, 0x420);
	end(s, 110, 0x420);
	node(s, 200, 0x100, "second", "/");
	subscription(s, 210, 0x400, 0x410, 0x100, "/b", 0x420);
	start(s, 300, 0x420);
	end(s, 330, 0x420);
	assert_int_equal(s->instances, 2);
	assert_ptr_not_equal(s->instance[0].callback, s->instance[1].callback);
	assert_string_equal(s->instance[0].callback->subscription->topic->name, "/a");
	assert_string_equal(model_callback_node(s->instance[0].callback)->name, "first");
	assert_string_equal(s->instance[1].callback->subscription->topic->name, "/b");
	assert_string_equal(model_callback_node(s->instance[1].callback)->name, "second");
}

/* rclcpp_lifecycle: callback_added names copies of the handles, in the order of the services. */
static void lifecycle_services(void **state)
{
	struct seen *s = *state;
	const struct model_callback *callback;
	int i;

	on(s, 10, 10);
	node(s, 1, 0x100, "lc", "/");
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
	callback = model_find_callback(s->model, 0, 10, 0xa00);
	assert_string_equal(callback->service->name, "/lc/change_state");
	callback = model_find_callback(s->model, 0, 10, 0xa01);
	assert_string_equal(callback->service->name, "/lc/get_state");
	callback = model_find_callback(s->model, 0, 10, 0xa02);
	assert_null(callback->service);
	assert_int_equal(callback->kind, MODEL_CALLBACK_SERVICE);
}

/* /rosout: one stack address for the publishers of all nodes; the rmw handle tells them apart. */
static void rosout(void **state)
{
	struct seen *s = *state;

	on(s, 10, 10);
	node(s, 1, 0x100, "a", "/");
	publisher(s, 2, 0x7ff0, 0x910, 0x100, "/rosout");
	node(s, 3, 0x200, "b", "/");
	publisher(s, 4, 0x7ff0, 0x920, 0x200, "/rosout");
	publish(s, 10, 0x5550, 0x910, 1000);
	publish(s, 20, 0x5560, 0x920, 1001);
	publish(s, 30, 0x5570, 0x930, 1002);
	assert_int_equal(s->publisheds, 2);
	assert_string_equal(s->published[0].publisher->node->name, "a");
	assert_string_equal(s->published[1].publisher->node->name, "b");
	assert_int_equal(model_facts(s->model)->internal_publishes, 1);
}

/* ---- callbacks ---- */

static void reentrant(void **state)
{
	struct seen *s = *state;

	on(s, 10, 11);
	start(s, 100, 0x420);
	on(s, 10, 12);
	start(s, 110, 0x420);
	on(s, 10, 11);
	end(s, 200, 0x420);
	on(s, 10, 12);
	end(s, 400, 0x420);
	assert_int_equal(s->instances, 2);
	assert_int_equal(s->instance[0].duration_ns, 100);
	assert_int_equal(s->instance[0].thread->tid, 11);
	assert_int_equal(s->instance[1].duration_ns, 290);
	assert_int_equal(s->instance[1].thread->tid, 12);
}

/* A callback spins an executor, which runs another one. */
static void nested(void **state)
{
	struct seen *s = *state;

	on(s, 10, 10);
	start(s, 100, 0x1);
	start(s, 110, 0x2);
	end(s, 120, 0x2);
	start(s, 130, 0x3);
	end(s, 140, 0x3);
	end(s, 200, 0x1);
	assert_int_equal(s->instances, 3);
	assert_int_equal(s->instance[0].depth, 1);
	assert_int_equal(s->instance[0].duration_ns, 10);
	assert_int_equal(s->instance[2].depth, 0);
	assert_int_equal(s->instance[2].duration_ns, 100);
	assert_int_equal(s->unfinisheds, 0);
}

static void missing_end(void **state)
{
	struct seen *s = *state;

	on(s, 10, 10);
	start(s, 100, 0x1);		/* throws */
	start(s, 200, 0x2);
	end(s, 210, 0x2);
	assert_int_equal(s->unfinisheds, 0);
	start(s, 300, 0x1);		/* so the first one is over */
	assert_int_equal(s->unfinisheds, 1);
	assert_int_equal(s->unfinished[0].start_ns, 100);
	end(s, 305, 0x1);
	start(s, 400, 0x3);		/* 3 begins inside 1 and never ends, but 1 does */
	start(s, 410, 0x4);
	end(s, 420, 0x3);
	assert_int_equal(s->unfinisheds, 2);
	assert_int_equal(s->unfinished[1].start_ns, 410);
	end(s, 500, 0x4);
	assert_int_equal(model_facts(s->model)->ends_without_start, 1);
	start(s, 600, 0x1);
	model_finish(s->model);
	assert_int_equal(s->unfinisheds, 3);
	assert_int_equal(s->instances, 3);
	assert_int_equal(s->instance[1].duration_ns, 5);
}

/* More starts than any real nesting, none with an end. */
static void endless_nesting(void **state)
{
	struct seen *s = *state;
	unsigned i;

	on(s, 10, 10);
	for (i = 0; i < 100; i++)
		start(s, i, 0x1000 + i);
	assert_int_equal(s->unfinisheds, 68);
	model_finish(s->model);
	assert_int_equal(s->unfinisheds, 100);
}

static void equal_addresses_in_two_processes(void **state)
{
	struct seen *s = *state;

	on(s, 10, 10);
	node(s, 1, 0x100, "a", "/");
	subscription(s, 2, 0x400, 0x410, 0x100, "/x", 0x420);
	on(s, 20, 21);
	node(s, 11, 0x100, "b", "/");
	subscription(s, 12, 0x400, 0x410, 0x100, "/y", 0x420);
	on(s, 10, 10);
	start(s, 100, 0x420);
	on(s, 20, 21);
	start(s, 101, 0x420);
	on(s, 10, 10);
	end(s, 110, 0x420);
	on(s, 20, 21);
	end(s, 121, 0x420);
	assert_int_equal(s->instances, 2);
	assert_string_equal(model_callback_node(s->instance[0].callback)->name, "a");
	assert_int_equal(s->instance[0].duration_ns, 10);
	assert_string_equal(model_callback_node(s->instance[1].callback)->name, "b");
	assert_int_equal(s->instance[1].duration_ns, 20);
}

/* The same pid on two hosts is two processes; two traces of one host are one. */
static void hosts(void **state)
{
	struct seen *s = *state;

	assert_int_equal(model_set_host(s->model, 0, "robot", 0), 0);
	assert_int_equal(model_set_host(s->model, 1, "base", 0), 0);
	assert_int_equal(model_set_host(s->model, 2, "robot", 0), 0);
	on(s, 10, 10);
	s->event.trace = 0;
	node(s, 1, 0x100, "on_robot", "/");
	subscription(s, 2, 0x400, 0x410, 0x100, "/x", 0x420);
	s->event.trace = 1;
	s->event.stream = 1;
	start(s, 10, 0x420);
	end(s, 20, 0x420);
	s->event.trace = 2;
	s->event.stream = 2;
	start(s, 30, 0x420);
	end(s, 40, 0x420);
	assert_null(model_callback_node(s->instance[0].callback));
	assert_string_equal(s->instance[0].callback->process->hostname, "base");
	assert_string_equal(model_callback_node(s->instance[1].callback)->name, "on_robot");
}

static void lost_events(void **state)
{
	struct seen *s = *state;
	struct kymo_ctf_event loss = { .bound = KYMO_CTF_LOSS, .lost = 5, .loss_begin_ns = 120, .ns = 150 };

	on(s, 10, 10);
	start(s, 100, 0x1);
	on(s, 10, 11);
	start(s, 100, 0x2);
	loss.stream = 10;
	assert_int_equal(model_event(s->model, &loss), 0);
	on(s, 10, 10);
	end(s, 900, 0x1);		/* of the start at 100, or of one that was lost? */
	on(s, 10, 11);
	end(s, 200, 0x2);
	assert_int_equal(s->losses, 1);
	assert_int_equal(s->loss.events, 5);
	assert_int_equal(s->loss.begin_ns, 120);
	assert_int_equal(s->loss.thread->tid, 10);
	assert_int_equal(s->instances, 1);
	assert_int_equal(s->instance[0].duration_ns, 100);
	assert_int_equal(s->unfinisheds, 1);
}

/* Threads with an init log have two streams. What the kernel's trace beside theirs lost is not theirs; what their own lost may be. */
static void lost_elsewhere(void **state)
{
	struct seen *s = *state;
	struct kymo_ctf_event loss = { .bound = KYMO_CTF_LOSS, .lost = 5, .loss_begin_ns = 120, .ns = 150, .stream = 70 };

	assert_int_equal(model_set_host(s->model, 0, "robot", 0), 0);
	assert_int_equal(model_set_host(s->model, 1, "robot", 0), 0);
	on(s, 10, 10);
	start(s, 1, 0x1);
	s->event.stream = 11;
	end(s, 2, 0x1);
	assert_int_equal(s->instances, 1);
	for (loss.trace = 2; loss.trace-- > 0;) {
		start(s, 100, 0x1);
		assert_int_equal(model_event(s->model, &loss), 0);
		end(s, 200, 0x1);
		assert_int_equal(s->instances, 2);
		assert_int_equal(s->unfinisheds, !loss.trace);
		assert_int_equal(s->loss.is_elsewhere, loss.trace);
	}
}

static void no_init_events(void **state)
{
	struct seen *s = *state;
	char buffer[64];

	on(s, 10, 10);
	start(s, 100, 0xabc);
	end(s, 150, 0xabc);
	assert_int_equal(s->instance[0].duration_ns, 50);
	assert_int_equal(s->instance[0].callback->kind, MODEL_CALLBACK_UNKNOWN);
	assert_string_equal(model_callback_label(s->instance[0].callback, buffer, sizeof(buffer)),
			    "0xabc");
	publish(s, 200, 0x500, 0x510, 1000);
	take(s, 300, 0x410, 1000);
	assert_int_equal(s->publisheds, 0);
	assert_int_equal(s->takens, 0);
}

/* ---- messages ---- */

/* A publisher in process 10 and subscriptions in 20 and 30. */
static void pub_sub(struct seen *s)
{
	on(s, 10, 10);
	node(s, 1, 0x100, "talker", "/");
	publisher(s, 2, 0x500, 0x510, 0x100, "/t");
	on(s, 20, 20);
	node(s, 3, 0x100, "listener", "/");
	subscription(s, 4, 0x400, 0x410, 0x100, "/t", 0x420);
	subscription(s, 8, 0x600, 0x610, 0x100, "/other", 0x620);
	on(s, 30, 30);
	node(s, 13, 0x100, "listener2", "/");
	subscription(s, 14, 0x400, 0x410, 0x100, "/t", 0x420);
}

static void across_processes(void **state)
{
	struct seen *s = *state;

	pub_sub(s);
	on(s, 10, 10);
	publish(s, 1000, 0x500, 0x510, 5000);
	on(s, 20, 20);
	EV(1100, "rmw_take", "rmw_subscription_handle", P(0x410), "message", P(1),
	   "source_timestamp", P(0), "taken", P(0));
	take(s, 1200, 0x410, 5000);
	start(s, 1210, 0x420);
	end(s, 1250, 0x420);
	on(s, 30, 30);
	take(s, 1220, 0x410, 5000);
	start(s, 1230, 0x420);
	end(s, 1260, 0x420);
	model_finish(s->model);
	assert_int_equal(s->publisheds, 1);
	assert_int_equal(s->published[0].publish_ns, 1000);
	assert_int_equal(s->published[0].send_ns, 1002);
	assert_int_equal(s->takens, 2);
	assert_int_equal(s->taken[0].id, s->published[0].id);
	assert_int_equal(s->taken[0].publish_ns, 1000);
	assert_int_equal(s->taken[0].take_ns, 1200);
	assert_int_equal(s->taken[0].callback_ns, 1210);
	assert_ptr_equal(s->taken[0].callback, s->instance[0].callback);
	assert_int_equal(s->with[0].id, s->published[0].id);
	assert_int_equal(s->with[1].id, s->published[0].id);
	assert_int_equal(s->droppeds, 0);
}

/* A take whose message goes to no callback, and a callback that is not the take's. */
static void take_without_callback(void **state)
{
	struct seen *s = *state;

	pub_sub(s);
	on(s, 10, 10);
	publish(s, 1000, 0x500, 0x510, 5000);
	on(s, 20, 20);
	take(s, 1200, 0x410, 5000);
	start(s, 1210, 0x620);
	end(s, 1250, 0x620);
	assert_int_equal(s->takens, 1);
	assert_null(s->taken[0].callback);
	assert_null(s->instance[0].message);
}

static void unmatched(void **state)
{
	struct seen *s = *state;
	int i;

	pub_sub(s);
	on(s, 10, 10);
	/* More than the window holds: the oldest leave it untaken. */
	for (i = 0; i < 300; i++)
		publish(s, 1000 + i * 10, 0x500, 0x510, 5000 + i);
	assert_int_equal(s->droppeds, 0);	/* the listeners' processes gave no sign of life */
	on(s, 20, 20);
	take(s, 10000, 0x410, 1);		/* a message from nowhere */
	assert_int_equal(s->takens, 0);
	take(s, 300000000, 0x410, 5299);
	assert_int_equal(s->takens, 1);
	assert_int_equal(s->taken[0].id, 0);
	assert_string_equal(s->taken[0].topic->name, "/t");
	model_finish(s->model);
	assert_int_equal(s->takens, 2);
	assert_int_not_equal(s->taken[1].id, 0);
	assert_int_equal(s->droppeds, 255);	/* the window without the one that was taken */
	assert_int_equal(s->why[0], MODEL_DROP_UNTAKEN);
}

/* Two publishers of a topic in the same nanosecond must not disturb each other's window. */
static void equal_stamps(void **state)
{
	struct seen *s = *state;
	int i;

	pub_sub(s);
	on(s, 10, 10);
	publisher(s, 20, 0x700, 0x710, 0x100, "/t");
	publish(s, 1000, 0x500, 0x510, 5000);
	publish(s, 1010, 0x700, 0x710, 5000);
	for (i = 0; i < 300; i++)
		publish(s, 2000 + i * 10, 0x500, 0x510, 6000 + i);
	on(s, 20, 20);
	take(s, 10000, 0x410, 5000);
	start(s, 10010, 0x420);
	assert_int_equal(s->taken[0].publish_ns, 1010);
}

/* Iron and older: the event has no handle and no time stamp. */
static void old_rmw_publish(void **state)
{
	struct seen *s = *state;

	pub_sub(s);
	on(s, 10, 10);
	EV(1000, "rclcpp_publish", "message", P(0x77));
	EV(1001, "rcl_publish", "publisher_handle", P(0x500), "message", P(0x77));
	EV(1002, "rmw_publish", "message", P(0x77));
	EV(1003, "rmw_publish", "message", P(0x99));	/* the middleware's own */
	assert_int_equal(s->publisheds, 1);
	assert_string_equal(s->published[0].topic->name, "/t");
	assert_int_equal(model_facts(s->model)->publishes_without_timestamp, 1);
	assert_int_equal(model_facts(s->model)->internal_publishes, 1);
	on(s, 20, 20);
	take(s, 1100, 0x410, 5000);
	start(s, 1110, 0x420);
	assert_int_equal(s->taken[0].id, 0);
	model_finish(s->model);
	assert_int_equal(s->droppeds, 0);
}

/* ---- intra-process ---- */

static void intra_process(struct seen *s)
{
	on(s, 10, 10);
	node(s, 1, 0x100, "both", "/");
	publisher(s, 2, 0x500, 0x510, 0x100, "/t");
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

static void enqueue(struct seen *s, int64_t ns, uint64_t index, uint64_t overwritten)
{
	EV(ns, "rclcpp_intra_publish", "publisher_handle", P(0x500), "message", P(0x77));
	EV(ns + 1, "rclcpp_ring_buffer_enqueue", "buffer", P(0xb0), "index", index, "size", P(1),
	   "overwritten", overwritten);
}

static void intra(void **state)
{
	struct seen *s = *state;

	intra_process(s);
	assert_true(model_find_callback(s->model, 0, 10, 0x460)->is_intra);
	assert_false(model_find_callback(s->model, 0, 10, 0x420)->is_intra);
	enqueue(s, 100, 0, 0);
	enqueue(s, 200, 1, 0);
	enqueue(s, 300, 0, 1);
	assert_int_equal(s->publisheds, 3);
	assert_int_equal(s->droppeds, 1);
	assert_int_equal(s->why[0], MODEL_DROP_OVERWRITTEN);
	assert_int_equal(s->dropped[0].publish_ns, 100);
	on(s, 10, 11);
	EV(400, "rclcpp_ring_buffer_dequeue", "buffer", P(0xb0), "index", P(1), "size", P(1));
	EV(410, "callback_start", "callback", P(0x460), "is_intra_process", P(1));
	EV(420, "callback_end", "callback", P(0x460));
	assert_int_equal(s->takens, 1);
	assert_true(s->taken[0].is_intra);
	assert_int_equal(s->taken[0].publish_ns, 200);
	assert_int_equal(s->taken[0].send_ns, 201);
	assert_int_equal(s->taken[0].take_ns, 400);
	assert_int_equal(s->taken[0].publish_thread->tid, 10);
	assert_string_equal(s->taken[0].topic->name, "/t");
	assert_true(s->instance[0].is_intra);
	assert_int_equal(s->with[0].id, s->published[1].id);
	EV(500, "rclcpp_ring_buffer_clear", "buffer", P(0xb0));
	assert_int_equal(s->droppeds, 2);
	assert_int_equal(s->why[1], MODEL_DROP_CLEARED);
	assert_int_equal(s->dropped[1].publish_ns, 300);
}

/* One call that serves a ring buffer and other processes is one publication. */
static void both_ways(void **state)
{
	struct seen *s = *state;

	intra_process(s);
	enqueue(s, 100, 0, 0);
	publish(s, 110, 0x500, 0x510, 5000);
	assert_int_equal(s->publisheds, 2);
	assert_int_equal(s->published[0].id, s->published[1].id);
	assert_true(s->published[0].is_intra);
	assert_false(s->published[1].is_intra);
	publish(s, 200, 0x500, 0x510, 5001);
	assert_int_not_equal(s->published[2].id, s->published[1].id);
	EV(500000000, "callback_start", "callback", P(1));
	model_finish(s->model);
	/* 5000 went through the buffer; 5001 did not and was never taken. */
	assert_int_equal(s->droppeds, 1);
	assert_int_equal(s->dropped[0].source_ns, 5001);
}

/* ---- CARET ---- */

static void caret_names(void **state)
{
	struct seen *s = *state;

	on(s, 10, 10);
	s->event.init_ns = 3;
	ev(s, 1000, "ros2_caret:rcl_node_init", "node_handle", P(0x100), "\"node_name", "n",
	   "\"namespace", "/", NULL);
	s->event.init_ns = 4;
	ev(s, 1000, "ros2_caret:rcl_publisher_init", "publisher_handle", P(0x500), "node_handle",
	   P(0x100), "rmw_publisher_handle", P(0x510), "\"topic_name", "/t", NULL);
	s->event.init_ns = 0;
	ev(s, 2000, "ros2_caret:dds_write", "rmw_publisher_handle", P(0x510), "message", P(1),
	   "timestamp", P(77), NULL);
	assert_int_equal(s->publisheds, 1);
	assert_int_equal(s->published[0].source_ns, 77);
	assert_string_equal(s->published[0].publisher->node->full_name, "/n");
	/* Old facts come kind by kind: the symbol before its owner, the object's link last. */
	ev(s, 3000, "ros2_caret:rclcpp_callback_register", "callback", P(0x420), "\"symbol", "f()",
	   "init_timestamp", P(20), NULL);
	ev(s, 3001, "ros2_caret:rclcpp_subscription_callback_added", "subscription", P(0x401),
	   "callback", P(0x420), "init_timestamp", P(19), NULL);
	assert_int_equal(model_count(s->model, MODEL_CALLBACK), 1);
	assert_string_equal(model_find_callback(s->model, 0, 10, 0x420)->symbol, "f()");
	assert_int_equal(model_find_callback(s->model, 0, 10, 0x420)->kind,
			 MODEL_CALLBACK_SUBSCRIPTION);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(names), CASE(repeated_init), CASE(reused_addresses), CASE(lifecycle_services),
		CASE(rosout),
		CASE(reentrant), CASE(nested), CASE(missing_end), CASE(endless_nesting),
		CASE(equal_addresses_in_two_processes), CASE(hosts), CASE(lost_events), CASE(lost_elsewhere),
		CASE(no_init_events), CASE(across_processes), CASE(take_without_callback),
		CASE(unmatched), CASE(equal_stamps), CASE(old_rmw_publish), CASE(intra),
		CASE(both_ways), CASE(caret_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
