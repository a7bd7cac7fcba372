/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of rclcpp as a small robot needs, in C, over CycloneDDS: nodes, publishers,
 * subscriptions, timers, services, clients, and executors with one thread or several. Topic and
 * type names, and the tracetools calls with their order and their pointers, are those of ROS 2
 * Jazzy. What cannot go on (no memory, no DDS) ends the program with a message, as an uncaught
 * exception would.
 *
 * Every handle that tracetools sees has an address of its own: the rcl and rmw objects
 * (mini_rcl.h) and the callback holder are distinct members of each entity.
 *
 *   object          created by                      used from
 *   context         one per process                 any thread
 *   executor        after the context               its own threads once it spins
 *   entities        before their executor spins     callbacks of one group never run at once
 *   publish, call   -                               any thread
 */
#ifndef MINI_RCLCPP_H
#define MINI_RCLCPP_H

#include <dds/dds.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mini_rcl.h"

#define RC_ENTITIES_MAX 32	/* subscriptions, timers, services and clients of one executor */
#define RC_NAME_MAX 128
#define RC_FAULTS_MAX 16
#define RC_DEPTH 10		/* history of every reader and writer */

struct rc_entity;

struct rc_options {
	uint32_t domain;	/* DDS domain, 0..230 */
	uint64_t seed;		/* of what the robot meets */
	double seconds;		/* how long to run; 0: until SIGINT or SIGTERM */
	const char *fault[RC_FAULTS_MAX];	/* KIND[:MS], see faults.h */
	unsigned faults;
	const char *slow; /* PLACE:PERCENT, see faults.h; NULL: none */
};

struct rc_context {
	struct rc_options options;
	char rcl;			/* stands for rcl_context_t */
	dds_entity_t participant;
	dds_entity_t stop;		/* guard condition, triggered once for good */
	atomic_bool ok;
	pthread_t signals;
};

/* Callbacks of a group exclude each other, unless it is reentrant. */
struct rc_group {
	bool reentrant;
	bool busy;			/* under the executor's lock */
};

struct rc_executor {
	struct rc_context *context;
	dds_entity_t waitset, wake;	/* wake: a group became free */
	pthread_mutex_t wait;		/* one thread at a time looks for work */
	pthread_mutex_t lock;		/* group states */
	struct rc_entity *entity[RC_ENTITIES_MAX];
	unsigned count;
	bool shared;			/* several threads: groups matter */
};

struct rc_node {
	struct rc_context *context;
	struct rc_executor *executor;
	const char *name, *namespace;
	struct rc_group group;		/* the default one */
	struct rclcpp_node_base base;
	struct rcl_object rcl;
	struct rmw_object rmw;
};

struct rc_publisher {
	dds_entity_t writer;
	struct rcl_object rcl;
	struct rmw_object rmw;
};

/* What kinds of work there are; a lower order is served first. */
struct rc_kind {
	int order;
	void (*run)(struct rc_entity *entity);
	int (*add)(void *set, const struct rcl_object *object, size_t *index);
};

extern const struct rc_kind rc_timer, rc_subscription, rc_service, rc_client;

/* Anything an executor runs. */
struct rc_entity {
	const struct rc_kind *kind;
	struct rc_executor *executor;
	struct rc_node *node;
	struct rc_group *group;
	bool ready;			/* found by the last wait */
	dds_entity_t reader, condition;	/* 0 for a timer */
	const dds_topic_descriptor_t *type;	/* of what is read */
	const dds_topic_descriptor_t *response;	/* services */
	void *user;
	struct rcl_object rcl;
	struct rmw_object rmw;
	char rclcpp, callback;
	int64_t period_ns, due_ns;	/* timers */
	dds_entity_t writer;            /* services and clients: the other direction */
	void (*on_timer)(void *user);
	void (*on_message)(void *user, const void *message);
	void (*on_request)(void *user, const void *request, void *response);
};

/**
 * rc_main_options() - options of a robot program: --domain, --seed, --seconds, --fault
 * Context: exits with status 2 on a usage error.
 */
struct rc_options rc_main_options(int argc, char **argv);

/**
 * rc_init() - join the DDS domain and begin to watch for SIGINT and SIGTERM
 * @context: filled; stays valid until rc_shutdown()
 * @options: as from rc_main_options()
 *
 * Sets CYCLONEDDS_URI to the loopback interface unless the environment has it already. Call it
 * before any other thread exists: signals are blocked here for all of them.
 * Context: allocates, starts threads.
 */
void rc_init(struct rc_context *context, const struct rc_options *options);

/** rc_shutdown() - leave the domain; all executors must have returned. Context: blocks. */
void rc_shutdown(struct rc_context *context);

/** rc_executor_init() - an executor without work. Context: allocates. */
void rc_executor_init(struct rc_executor *executor, struct rc_context *context);

/**
 * rc_spin() - run callbacks until the context is stopped
 * @threads: 1 for a single-threaded executor; the calling thread is one of them
 * Context: blocks.
 */
void rc_spin(struct rc_executor *executor, unsigned threads);

/** rc_node_init() - a node whose callbacks run on @executor. Context: wait-free. */
void rc_node_init(struct rc_node *node, struct rc_executor *executor, const char *name,
		  const char *namespace);

/** rc_publisher_init() - publish @type on @topic ("/scan"). Context: allocates. */
void rc_publisher_init(struct rc_publisher *publisher, struct rc_node *node,
		       const dds_topic_descriptor_t *type, const char *topic);

/** rc_publish() - send one message of the publisher's type. Context: may allocate (DDS). */
void rc_publish(struct rc_publisher *publisher, const void *message);

/** rc_publish_begin(), rc_publish_send() - its halves: what tells of it, and the middleware.
 * Context: may allocate (DDS). */
dds_time_t rc_publish_begin(struct rc_publisher *publisher, const void *message);
void rc_publish_send(struct rc_publisher *publisher, const void *message, dds_time_t stamp);

/**
 * rc_subscription_init() - run @function for each message on @topic
 * @symbol: the callback's function as a debugger would print it
 * Context: allocates.
 */
void rc_subscription_init(struct rc_entity *entity, struct rc_node *node,
			  const dds_topic_descriptor_t *type, const char *topic,
			  void (*function)(void *, const void *), void *user, const char *symbol);

/** rc_timer_init() - run @function every @period_ns nanoseconds (> 0). Context: allocates. */
void rc_timer_init(struct rc_entity *entity, struct rc_node *node, int64_t period_ns,
		   void (*function)(void *), void *user, const char *symbol);

/**
 * rc_service_init() - answer requests to @service ("/set_mode")
 * @request, @response: types whose first member is a mini_rclcpp_RequestId: struct rmw_mark
 * Context: allocates.
 */
void rc_service_init(struct rc_entity *entity, struct rc_node *node,
		     const dds_topic_descriptor_t *request, const dds_topic_descriptor_t *response,
		     const char *service, void (*function)(void *, const void *, void *),
		     void *user, const char *symbol);

/** rc_client_init() - run @function for each response of @service. Context: allocates. */
void rc_client_init(struct rc_entity *entity, struct rc_node *node,
		    const dds_topic_descriptor_t *request, const dds_topic_descriptor_t *response,
		    const char *service, void (*function)(void *, const void *), void *user);

/** rc_call() - send a request; its id is filled in. Context: may allocate (DDS). */
void rc_call(struct rc_entity *client, void *request);

/** rc_entity_group() - move an entity to another group, before its executor spins. */
void rc_entity_group(struct rc_entity *entity, struct rc_group *group);

/** rc_now_ns() - CLOCK_MONOTONIC in nanoseconds. Context: wait-free. */
int64_t rc_now_ns(void);

/* Between the two halves of mini_rclcpp. */
void rc_entity_add(struct rc_entity *entity, struct rc_node *node);
void rc_check(dds_return_t result, const char *what);

#endif
