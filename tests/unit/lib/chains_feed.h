/* SPDX-License-Identifier: Apache-2.0 */
/* Chains over a model that is fed events by name. Each node has one process and one thread. */
#ifndef KYMO_TESTS_CHAINS_FEED_H
#define KYMO_TESTS_CHAINS_FEED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/chains/chains.h"

#define P(value) ((uint64_t)(value))

struct feed {
	struct model *model;
	struct chains *chains;
	int pid;			/* and tid, of what follows */
	unsigned trace;
	uint64_t stamp;
};

static inline void open_chains(struct feed *f, const struct chains_options *options)
{
	struct chains_options o = { .begin_ns = INT64_MIN, .end_ns = INT64_MAX, .worst = 10,
				    .follow_ns = INT64_MIN };
	struct kymo_err err;

	assert_int_equal(model_create(&f->model, &err), 0);
	assert_int_equal(chains_create(&f->chains, f->model, options ? options : &o, &err), 0);
	f->stamp = 1000;
}

static inline int setup(void **state)
{
	*state = calloc(1, sizeof(struct feed));
	open_chains(*state, NULL);
	return 0;
}

static inline int teardown(void **state)
{
	struct feed *f = *state;

	chains_destroy(f->chains);
	model_destroy(f->model);
	free(f);
	return 0;
}

static inline void again(struct feed *f, const struct chains_options *options)
{
	chains_destroy(f->chains);
	model_destroy(f->model);
	open_chains(f, options);
}

static inline void finish(struct feed *f)
{
	model_finish(f->model);
	chains_finish(f->chains);
	assert_false(chains_failed(f->chains));
}

/* Fields: name, value up to NULL; a name that begins with '"' has a text, with '@' a list of two, with
 * '#' a gid. */
static inline void ev(struct feed *f, int64_t ns, const char *name, ...)
{
	struct kymo_ctf_event event = {
		.ns = ns,
		.clock_ns = (uint64_t)ns,
		.vpid = f->pid,
		.vtid = f->pid,
		.trace = f->trace,
		.stream = (unsigned)f->pid,
		.procname = "p",
	};
	const struct kymo_ctf_bind *bind;
	const char *field;
	unsigned count, i;
	va_list list;

	bind = model_bind(f->model, &count);
	for (i = 0; i < count && strcmp(bind[i].event, name) != 0; i++)
		;
	assert_true(i < count);
	event.bound = (int)i;
	bind += i;
	va_start(list, name);
	while ((field = va_arg(list, const char *))) {
		char kind = *field;

		field += strchr("\"@#", kind) != NULL;
		for (i = 0; bind->field[i] && strcmp(bind->field[i], field) != 0; i++)
			;
		assert_non_null(bind->field[i]);
		event.value[i].present = 1;
		event.value[i].size = kind == '#' ? 16 : 2;
		if (strchr("\"@#", kind))
			event.value[i].bytes = va_arg(list, const char *);
		else
			event.value[i].u = va_arg(list, uint64_t);
	}
	va_end(list);
	assert_int_equal(model_event(f->model, &event), 0);
}
#define EV(ns, name, ...) ev(f, ns, "ros2:" name, ##__VA_ARGS__, NULL)

/* Node @pid: its handle is 1, a timer's callback 0x3000, subscription n's 0x4000 + n. */
static inline void node(struct feed *f, int pid, const char *name)
{
	f->pid = pid;
	EV(1, "rcl_node_init", "node_handle", P(1), "rmw_handle", P(2), "\"node_name", name,
	   "\"namespace", "/");
}

static inline void timer(struct feed *f)
{
	EV(2, "rcl_timer_init", "timer_handle", P(0x300), "period", P(1000));
	EV(3, "rclcpp_timer_callback_added", "timer_handle", P(0x300), "callback", P(0x3000));
	EV(4, "rclcpp_timer_link_node", "timer_handle", P(0x300), "node_handle", P(1));
}

static inline void publisher(struct feed *f, unsigned n, const char *topic)
{
	EV(5, "rcl_publisher_init", "publisher_handle", P(0x1000 + n), "node_handle", P(1),
	   "rmw_publisher_handle", P(0x1100 + n), "\"topic_name", topic, "queue_depth", P(10));
}

static inline void subscription(struct feed *f, unsigned n, const char *topic)
{
	EV(6, "rcl_subscription_init", "subscription_handle", P(0x2000 + n), "node_handle", P(1),
	   "rmw_subscription_handle", P(0x2100 + n), "\"topic_name", topic, "queue_depth", P(10));
	EV(7, "rclcpp_subscription_init", "subscription_handle", P(0x2000 + n), "subscription",
	   P(0x2200 + n));
	EV(8, "rclcpp_subscription_callback_added", "subscription", P(0x2200 + n), "callback",
	   P(0x4000 + n));
}

static inline void start(struct feed *f, int pid, int64_t ns, uint64_t callback)
{
	f->pid = pid;
	EV(ns, "callback_start", "callback", callback, "is_intra_process", P(0));
}

static inline void end(struct feed *f, int pid, int64_t ns, uint64_t callback)
{
	f->pid = pid;
	EV(ns, "callback_end", "callback", callback);
}

/* Begins at @ns, handed over at @ns + 2. Return: its source time stamp. */
static inline uint64_t publish(struct feed *f, int pid, int64_t ns, unsigned n)
{
	f->pid = pid;
	EV(ns, "rclcpp_publish", "message", P(0x77));
	EV(ns + 1, "rcl_publish", "publisher_handle", P(0x1000 + n), "message", P(0x77));
	EV(ns + 2, "rmw_publish", "rmw_publisher_handle", P(0x1100 + n), "message", P(0x77),
	   "timestamp", ++f->stamp);
	return f->stamp;
}

/* Taken at @ns, its callback starts at @ns + 3. */
static inline void deliver(struct feed *f, int pid, int64_t ns, unsigned n, uint64_t stamp)
{
	f->pid = pid;
	EV(ns, "rmw_take", "rmw_subscription_handle", P(0x2100 + n), "message", P(0x88),
	   "source_timestamp", stamp, "taken", P(1));
	start(f, pid, ns + 3, 0x4000 + n);
}

/* "/a timer > /x > /b", by names of nodes and topics; * before what is linked indirectly. */
static inline void label(const struct chains_path *path, char *buffer)
{
	const struct chains_path *step[CHAINS_STEPS_MAX];
	unsigned count = chains_steps(path, step), i;
	const struct model_node *owner;

	*buffer = '\0';
	for (i = 0; i < count; i++) {
		owner = step[i]->callback ? model_callback_node(step[i]->callback) : NULL;
		snprintf(buffer + strlen(buffer), 256 - strlen(buffer), "%s%s%s", i ? " " : "",
			 step[i]->link == CHAINS_DIRECT ? "" : "*",
			 step[i]->publisher ? step[i]->publisher->topic->name :
			 owner ? owner->full_name : "?");
	}
}

static inline const struct chains_path *chain(struct feed *f, const char *name)
{
	char buffer[256];
	unsigned i;

	for (i = 0; i < chains_path_count(f->chains); i++) {
		label(chains_path(f->chains, i), buffer);
		if (strcmp(buffer, name) == 0)
			return chains_path(f->chains, i);
	}
	return NULL;
}

static inline unsigned shown(struct feed *f)
{
	unsigned count = 0, i;

	for (i = 0; i < chains_path_count(f->chains); i++)
		count += chains_is_chain(f->chains, chains_path(f->chains, i));
	return count;
}

#endif
