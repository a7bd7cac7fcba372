/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of a ROS 2 trace; see model.h. `index` counts from 0 within the kind, in order of
 * appearance.
 */
#ifndef KYMO_ANALYSIS_MODEL_ENTITIES_H
#define KYMO_ANALYSIS_MODEL_ENTITIES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/model_lost.h"

struct model_clock;

enum model_kind {
	MODEL_PROCESS,
	MODEL_THREAD,
	MODEL_NODE,
	MODEL_TOPIC,
	MODEL_PUBLISHER,
	MODEL_SUBSCRIPTION,
	MODEL_TIMER,
	MODEL_SERVICE,
	MODEL_CLIENT,
	MODEL_CALLBACK,
	MODEL_SUBSCRIPTION_OBJECT,
	MODEL_CALLBACK_GROUP,
	MODEL_EXECUTOR,
	MODEL_STATE_MACHINE,
	MODEL_CONTEXT,
	MODEL_LINK,
	MODEL_KINDS
};

struct model_process {
	uint32_t index;
	uint32_t host;		/* number of the host */
	const char *hostname;	/* "" when not in the trace */
	int32_t pid;		/* vpid */
	const char *name;	/* procname of the main thread, else of the first one */
	const char *tracetools;	/* version string in rcl_init; "" when not in the trace */
	const char *rmw;	/* CARET's rmw_implementation; "" when not in the trace */
	const char *distribution; /* of caret_init: "humble", "jazzy"; "" when not in the trace */
	uint64_t events;	/* ROS 2 events of this process */
	uint64_t init_events;	/* of these: init events */
	const struct model_clock *clock;	/* of the host, see model_clock_error() */
};

struct model_thread {
	uint32_t index;
	const struct model_process *process;
	int32_t tid;		/* vtid */
	const char *name;	/* procname at its first event */
};

/* The result of rcl_init. */
struct model_context {
	uint32_t index;
	const struct model_process *process;
	uint64_t handle;	/* rcl_context_t */
	const char *version;	/* of tracetools; "" when not in the trace */
	int64_t born_ns;
};

struct model_node {
	uint32_t index;
	const struct model_process *process;
	uint64_t handle;	/* rcl_node_t */
	uint64_t rmw_handle;
	const char *name, *namespace;
	const char *full_name;	/* "/perception/filter" */
	int32_t tid;		/* the thread that created the node */
	/* It subscribes to /clock, so its timers may follow the time of a simulation. */
	bool has_clock;
	int64_t born_ns;
};

/* One thread or several threads that run callbacks. CARET's events name executors and groups. */
struct model_executor {
	uint32_t index;
	const struct model_process *process;
	uint64_t address;
	const char *type;	/* "single_threaded_executor", ...; "" when not in the trace */
	int64_t born_ns;
};

struct model_callback_group {
	uint32_t index;
	const struct model_process *process;
	uint64_t address;
	const char *type;	/* "mutually_exclusive", "reentrant"; "" when not in the trace */
	const struct model_executor *executor;	/* NULL: not in the trace */
	int64_t born_ns;
};

/* A middleware's global id, as recorded: 24 bytes (16 are real from Iron on) or 16. */
#define MODEL_GID_MAX 24
struct model_gid {
	uint8_t size;		/* 0: not in the trace */
	uint8_t bytes[MODEL_GID_MAX];
};

/* A topic is identified by its name alone, in all processes and on all hosts. */
struct model_topic {
	uint32_t index;
	const char *name;
	const char *type; /* of its messages: "sensor_msgs/msg/Imu"; "" when not in the trace */
	uint32_t publishers, subscriptions;	/* so far */
};

struct model_publisher {
	uint32_t index;
	const struct model_process *process;
	uint64_t handle, rmw_handle;
	const struct model_node *node;		/* NULL: not in the trace */
	const struct model_topic *topic;
	uint64_t depth;
	struct model_qos qos;
	struct model_gid gid;
	const char *type; /* of its messages; "" when not in the trace */
	uint64_t type_size; /* bytes of each message; 0: they differ, or are not known */
	int64_t born_ns;
};

struct model_subscription {
	uint32_t index;
	const struct model_process *process;
	uint64_t handle, rmw_handle;
	const struct model_node *node;		/* NULL: not in the trace */
	const struct model_topic *topic;
	uint64_t depth;
	struct model_qos qos;
	struct model_gid gid;
	const char *type; /* as of a publisher */
	uint64_t type_size;
	const struct model_callback_group *group;	/* NULL: not in the trace */
	int64_t born_ns;
	bool is_born_here;     /* created within the trace: model_startup.h */
	int64_t first_take_ns; /* of its first message in the trace; 0: none yet */
};

struct model_timer {
	uint32_t index;
	const struct model_process *process;
	uint64_t handle;
	int64_t period_ns;
	const struct model_node *node;		/* NULL: rclcpp_timer_link_node not in the trace */
	/* time of the link to the node; 0: not in the trace */
	int64_t linked_ns;
	const struct model_callback_group *group;	/* NULL: not in the trace */
	int32_t tid;
	int64_t born_ns;
	bool is_born_here;      /* as of a subscription */
	int64_t first_start_ns; /* of its first run in the trace; 0: none yet */
};

/* Services and clients have the same shape. */
struct model_service {
	uint32_t index;
	const struct model_process *process;
	uint64_t handle, rmw_handle;
	const struct model_node *node;		/* NULL: not in the trace */
	const char *name;
	struct model_gid gid;                           /* of a client; size 0: not in the trace */
	const struct model_callback_group *group;	/* NULL: not in the trace */
	int64_t born_ns;
};

enum model_callback_kind {
	MODEL_CALLBACK_UNKNOWN, /* its init events are not in the trace */
	MODEL_CALLBACK_SUBSCRIPTION,
	MODEL_CALLBACK_TIMER,
	MODEL_CALLBACK_SERVICE,
	/* Runs of it are in traces of kymo. In others, chains.h assumes a run behind each response.
	 */
	MODEL_CALLBACK_CLIENT,
};

struct model_callback {
	uint32_t index;
	const struct model_process *process;
	uint64_t address;
	enum model_callback_kind kind;
	bool is_intra;				/* it receives intra-process messages */
	const struct model_subscription *subscription;	/* the owner: at most one of these three */
	const struct model_timer *timer;
	const struct model_service *service; /* of a client: the client */
	/*
	 * The address in callback_added: the rclcpp subscription object, timer or service handle;
	 * of a client its handle; 0: no callback_added.
	 */
	uint64_t owner;
	const char *raw_symbol;			/* as recorded; "" when unknown or "(null)" */
	const char *symbol;			/* readable: demangled and shortened; "" when unknown */
	struct code *code; /* for model_callback_location(); NULL: not in the trace */
	int64_t added_ns;			/* callback_added; 0: not seen */
	int64_t registered_ns;			/* callback_register; 0: not seen */
	int64_t born_ns;
};

/* rclcpp's Subscription or SubscriptionIntraProcess. One subscription may have both. */
struct model_subscription_object {
	uint32_t index;
	const struct model_process *process;
	uint64_t address;
	/* NULL: no rclcpp_subscription_init in the trace */
	const struct model_subscription *subscription;
	const struct model_callback *callback;		/* NULL: no callback_added in the trace */
	bool is_intra;
	int64_t born_ns;	/* rclcpp_subscription_init; 0: not in the trace */
};

/* The state machine of a lifecycle node. */
struct model_state_machine {
	uint32_t index;
	const struct model_process *process;
	uint64_t handle;
	const struct model_node *node;		/* NULL: not in the trace */
	int64_t born_ns;
};

/*
 * A link: received messages are the cause of a publication that is made outside of their callback.
 *   PERIODIC_ASYNC  each publication is computed from the latest message of each subscription
 *   PARTIAL_SYNC    the same, with two exceptions: a publication inside a callback of a linked
 *                   subscription has the direct link only, and an input counts only for the next
 *                   publication
 *   USE_LATEST      as PERIODIC_ASYNC, but named by the user (CARET's use_latest_message); see
 *                   model_rule()
 */
enum model_link_kind {
	MODEL_LINK_PERIODIC_ASYNC,
	MODEL_LINK_PARTIAL_SYNC,
	MODEL_LINK_USE_LATEST,
};

struct model_link {
	uint32_t index;
	const struct model_process *process;
	enum model_link_kind kind;
	const struct model_subscription *const *subscription;
	const struct model_publisher *const *publisher;
	unsigned subscriptions, publishers;
	int64_t born_ns;
};

#endif
