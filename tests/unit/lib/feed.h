/* SPDX-License-Identifier: Apache-2.0 */
/* A model that is fed events by name, as a trace would tell them, and keeps what it says. */
#ifndef KYMO_TESTS_FEED_H
#define KYMO_TESTS_FEED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/model/model.h"

#define KEPT 64
#define P(value) ((uint64_t)(value))

#define KEEP(type, name) type name[KEPT]; unsigned name##s
struct feed {
	struct model *model;
	struct kymo_ctf_event event;		/* what the next ev() carries besides its fields */
	int (*also)(void *analysis,
		    const struct kymo_ctf_event *event); /* gets each event after the model */
	void *analysis;
	KEEP(struct model_instance, instance);
	struct model_message with[KEPT];	/* the message of instance[i]; id 0: none */
	KEEP(struct model_instance, unfinished);
	KEEP(struct model_message, published);
	KEEP(struct model_message, taken);
	KEEP(struct model_message, dropped);
	enum model_drop why[KEPT];
	struct model_loss loss;			/* the latest */
	unsigned losses;
	KEEP(struct model_publish_step, publish);
	KEEP(struct model_take_step, take);
	KEEP(struct model_call, call);
	KEEP(struct model_state, state);
	KEEP(struct model_executor_interval, executor);
	KEEP(struct model_cause, cause);
	KEEP(struct model_sim_time, sim_time);
	KEEP(struct model_goal, goal);
	KEEP(struct model_goal_step, goal_step);
};

#define HEAR(what, type, name)								\
	static void hear_##name(void *context, const type *what)			\
	{										\
		struct feed *f = context;						\
											\
		f->name[f->name##s++ % KEPT] = *what;					\
	}
HEAR(instance, struct model_instance, unfinished)
HEAR(message, struct model_message, published)
HEAR(message, struct model_message, taken)
HEAR(step, struct model_publish_step, publish)
HEAR(step, struct model_take_step, take)
HEAR(call, struct model_call, call)
HEAR(state, struct model_state, state)
HEAR(interval, struct model_executor_interval, executor)
HEAR(cause, struct model_cause, cause)
HEAR(sim_time, struct model_sim_time, sim_time)
HEAR(goal, struct model_goal, goal)
HEAR(step, struct model_goal_step, goal_step)

static void hear_instance(void *context, const struct model_instance *instance)
{
	struct feed *f = context;
	const unsigned at = f->instances++ % KEPT;

	f->instance[at] = *instance;
	f->with[at] = instance->message ? *instance->message : (struct model_message){ 0 };
}

static void hear_dropped(void *context, const struct model_message *message, enum model_drop why)
{
	struct feed *f = context;
	const unsigned at = f->droppeds++ % KEPT;

	f->dropped[at] = *message;
	f->why[at] = why;
}

static void hear_loss(void *context, const struct model_loss *loss)
{
	struct feed *f = context;

	f->loss = *loss;
	f->losses++;
}

static const struct model_listener feed_listener = {
	.instance = hear_instance,
	.unfinished = hear_unfinished,
	.published = hear_published,
	.taken = hear_taken,
	.dropped = hear_dropped,
	.loss = hear_loss,
	.publish_step = hear_publish,
	.take_step = hear_take,
	.call = hear_call,
	.state = hear_state,
	.executor = hear_executor,
	.cause = hear_cause,
	.sim_time = hear_sim_time,
	.goal = hear_goal,
	.goal_step = hear_goal_step,
};

static int setup(void **state)
{
	struct feed *f = calloc(1, sizeof(*f));
	struct kymo_err err;

	assert_non_null(f);
	assert_int_equal(model_create(&f->model, &err), 0);
	assert_int_equal(model_listen(f->model, &feed_listener, f, &err), 0);
	f->event.procname = "proc";
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct feed *f = *state;

	model_destroy(f->model);
	free(f);
	return 0;
}

/* The thread that emits what follows. Each has its own stream. */
static void on(struct feed *f, int pid, int tid)
{
	f->event.vpid = pid;
	f->event.vtid = tid;
	f->event.stream = (unsigned)tid % 100;
}

/*
 * Fields up to NULL: name and value. A name that begins with '"' has a text, with '#' bytes and
 * their number, with '*' a list of uint64_t and their number.
 */
static void ev(struct feed *f, int64_t ns, const char *name, ...)
{
	struct kymo_ctf_event event = f->event;
	const struct kymo_ctf_bind *bind;
	const char *field;
	unsigned count, i;
	va_list list;

	bind = model_bind(f->model, &count);
	event.ns = ns;
	event.clock_ns = (uint64_t)ns;
	for (i = 0; i < count && strcmp(bind[i].event, name) != 0; i++)
		;
	assert_true(i < count);
	event.bound = (int)i;
	bind += i;
	va_start(list, name);
	while ((field = va_arg(list, const char *))) {
		char kind = *field;

		field += kind == '"' || kind == '#' || kind == '*';
		for (i = 0; bind->field[i] && strcmp(bind->field[i], field) != 0; i++)
			;
		assert_non_null(bind->field[i]);
		event.value[i].present = 1;
		if (kind != '"' && kind != '#' && kind != '*') {
			event.value[i].u = va_arg(list, uint64_t);
			continue;
		}
		event.value[i].bytes = va_arg(list, const char *);
		event.value[i].size = kind == '"' ? (uint32_t)strlen(event.value[i].bytes) :
						    (uint32_t)va_arg(list, uint64_t);
	}
	va_end(list);
	assert_int_equal(model_event(f->model, &event), 0);
	if (f->also)
		assert_int_equal(f->also(f->analysis, &event), 0);
}
#define EV(ns, name, ...) ev(f, ns, "ros2:" name, ##__VA_ARGS__, NULL)
#define CARET(ns, name, ...) ev(f, ns, "ros2_caret:" name, ##__VA_ARGS__, NULL)

static inline void lose(struct feed *f, int64_t ns)
{
	struct kymo_ctf_event event = f->event;

	event.bound = KYMO_CTF_LOSS;
	event.ns = ns;
	event.loss_begin_ns = event.loss_end_ns = (uint64_t)ns;
	event.lost = 1;
	assert_int_equal(model_event(f->model, &event), 0);
}

static inline void node(struct feed *f, int64_t ns, uint64_t handle, const char *name)
{
	EV(ns, "rcl_node_init", "node_handle", handle, "rmw_handle", P(1), "\"node_name", name,
	   "\"namespace", "/");
}

static inline void publisher(struct feed *f, int64_t ns, uint64_t handle, uint64_t on_node,
			     const char *topic)
{
	EV(ns, "rcl_publisher_init", "publisher_handle", handle, "node_handle", on_node,
	   "rmw_publisher_handle", handle + 0x1000, "\"topic_name", topic, "queue_depth", P(10));
}

/* The callback is the handle + 2. */
static inline void subscription(struct feed *f, int64_t ns, uint64_t handle, uint64_t on_node,
				const char *topic)
{
	EV(ns, "rcl_subscription_init", "subscription_handle", handle, "node_handle", on_node,
	   "rmw_subscription_handle", handle + 0x1000, "\"topic_name", topic, "queue_depth", P(10));
	EV(ns, "rclcpp_subscription_init", "subscription_handle", handle, "subscription", handle + 1);
	EV(ns, "rclcpp_subscription_callback_added", "subscription", handle + 1, "callback", handle + 2);
}

static inline void start(struct feed *f, int64_t ns, uint64_t callback)
{
	EV(ns, "callback_start", "callback", callback, "is_intra_process", P(0));
}

static inline void end(struct feed *f, int64_t ns, uint64_t callback)
{
	EV(ns, "callback_end", "callback", callback);
}

/* The source timestamp is @ns + 2. */
static inline void publish(struct feed *f, int64_t ns, uint64_t handle)
{
	EV(ns, "rclcpp_publish", "message", P(0x77));
	EV(ns + 1, "rcl_publish", "publisher_handle", handle, "message", P(0x77));
	EV(ns + 2, "rmw_publish", "rmw_publisher_handle", handle + 0x1000, "message", P(0x77),
	   "timestamp", P(ns + 2));
}

static inline void take(struct feed *f, int64_t ns, uint64_t handle, int64_t stamp)
{
	EV(ns, "rmw_take", "rmw_subscription_handle", handle + 0x1000, "message", P(0x88),
	   "source_timestamp", P(stamp), "taken", P(1));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
