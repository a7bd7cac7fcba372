/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of a ROS 2 trace, and what happened to them.
 *
 * The model reads events in time order. It learns the objects from init events, and it pairs events
 * that belong together: callback_start with callback_end, publish with take, enqueue with dequeue.
 * Listeners receive each result as soon as the result is complete. The model keeps the objects,
 * everything that is still open, and a bounded window of recently published messages, so memory
 * does not grow with the trace.
 *
 *   model_create(&model, &err);
 *   model_listen(model, &listener, context);
 *   model_attach(model, reader, &err);		binds the events that the model needs
 *   while ((more = kymo_ctf_next(reader, &event, &err)) > 0)
 *       if (model_event(model, &event) < 0) ...
 *   model_finish(model);
 *   for (i = 0; i < model_count(model, MODEL_CALLBACK); i++) ... model_callback(model, i)
 *
 * Identity. An address has a meaning only within one process, so the key of an object is (host,
 * vpid, address). Traces with the same host name are of the same host. Programs reuse addresses: an
 * init event with new facts about an address creates a new object, and later events refer to the
 * new object. The old object keeps what happened to it. An init event that repeats known facts
 * changes nothing.
 *
 * All times are nanoseconds since the Unix epoch unless a name says otherwise. All pointers stay
 * valid until model_destroy(), except for the structs that a listener receives: those are valid
 * during the call only.
 *
 * Context of all functions: not thread-safe; allocate when objects appear, not per event.
 */
#ifndef KYMO_ANALYSIS_MODEL_H
#define KYMO_ANALYSIS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "accounts/accounts.h"
#include "analysis/model/model_lost.h"
#include "analysis/pass/pass.h"
#include "base/err.h"
#include "ctf/read/reader.h"

struct model;

/* ---- objects; `index` counts from 0 within the kind, in order of appearance ---- */

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
	int64_t linked_ns;			/* time of the link to the node; 0: not in the trace */
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

/* ---- events in the life of the objects; valid during the listener's call only ---- */

/* A message inside the middleware; 0: not in the trace. */
struct model_dds {
	int64_t sent_ns;	/* given to the network; only with the two others */
	int64_t received_ns;	/* by the receiving process */
	int64_t cached_ns;	/* in the cache of the subscription's reader */
	bool is_local;		/* publisher and subscription are in one process */
	bool is_through;	/* it came through the middleware */
};

/* A message, from its publication to its callback. */
struct model_message {
	/* Number of the publication, from 1; 0: publication not in the trace. */
	uint64_t id;
	const struct model_publisher *publisher;	/* NULL: not in the trace */
	const struct model_topic *topic;	/* NULL: unknown */
	const struct model_thread *publish_thread;	/* NULL: not in the trace */
	/* The callback whose run published it; NULL: none or unknown. */
	const struct model_callback *from;
	uint64_t from_instance;			/* id of that run; 0: none or unknown */
	int64_t publish_ns;	/* start of the publish call; 0: not in the trace */
	int64_t rcl_ns;		/* rcl_publish; 0: not in the trace */
	/* rmw_publish, or the enqueue of an intra-process message; 0: not in the trace (yet) */
	int64_t send_ns;
	int64_t source_ns;	/* source timestamp: the publisher's wall clock; 0: none */
	/*
	 * In the message's header, recorded by kymo and by some versions of CARET's rclcpp; 0: not
	 * in the trace.
	 */
	int64_t stamp_ns;
	uint64_t size;          /* bytes, serialized; 0: not in the trace */
	bool is_intra;		/* it passed through a ring buffer of the same process */
	/*
	 * Of the message object: in published() the publisher's object, in taken() and in instances
	 * the receiver's; 0: unknown.
	 */
	uint64_t address;

	/* The receiving side. */
	const struct model_subscription *subscription;	/* NULL: unknown */
	const struct model_thread *take_thread;
	struct model_dds dds;
	int64_t take_ns;	/* rmw_take, or the dequeue; 0: not yet received */
	const struct model_callback *callback;	/* the callback that received it; NULL: none (yet) */
	int64_t callback_ns;	/* start of the callback; 0: none */
	uint64_t to_instance;	/* id of that callback run; 0: none */
	enum model_lost lost;	/* in dropped(), MODEL_DROP_UNTAKEN */
};

/**
 * model_message_age() - the time from the stamp in the header of a received message to the start of
 * its callback, or to its take if it has no callback
 * @age_ns: set to it; below zero if the clocks of two hosts differ
 *
 * Return: false: the message has no stamp, was not received, or the two are more than a day apart:
 * then the stamp is of another clock, as that of a simulation or of a recording that is played.
 */
bool model_message_age(const struct model_message *message, int64_t *age_ns);

/* The parts of the time from rmw_publish to rmw_take. */
enum model_dds_part {
	MODEL_DDS_WRITE,	/* until the network has the first part of the message */
	MODEL_DDS_NETWORK,	/* until the receiving process has it */
	MODEL_DDS_READ,		/* until it is in the cache of the reader */
	MODEL_DDS_CACHE,	/* until it is taken */
	MODEL_DDS_UNSPLIT,	/* the trace does not say more of this time */
	MODEL_DDS_PARTS
};

struct model_dds_cut {
	struct {
		enum model_dds_part part;
		int64_t from_ns, to_ns;
	} piece[MODEL_DDS_PARTS];
	unsigned pieces;
};

/**
 * model_dds_cut() - cut the time from @send_ns to @take_ns of a message at what is known of its
 * path; the pieces are in order and leave no gap. Within a process it passes no network.
 */
void model_dds_cut(struct model_dds_cut *cut, const struct model_dds *dds, int64_t send_ns,
		   int64_t take_ns);

/** model_dds_part_name() - "dds_write", "network", "dds_read", "cache", "unsplit". */
const char *model_dds_part_name(enum model_dds_part part);

/* One run of a callback. */
struct model_instance {
	uint64_t id;		/* from 1, in order of start */
	const struct model_callback *callback;
	const struct model_thread *thread;
	int64_t start_ns;
	int64_t duration_ns;	/* -1 in unfinished() */
	/*
	 * Of a timer: when it should have started, a period after its previous run; 0: unknown, or
	 * it follows the time of a simulation, or events were lost or the recorder paused since.
	 */
	int64_t due_ns;
	/*
	 * From the end of the previous run of this callback to this start; -1: unknown, because it
	 * is the first one, the previous one is not over, or events were lost or the recorder
	 * paused meanwhile.
	 */
	int64_t idle_ns;
	bool is_intra;
	/* 0: the executor called it; 1: it began inside another callback, ... */
	unsigned depth;
	/* The message that it was called with; NULL: none or unknown. */
	const struct model_message *message;
	uint64_t call;		/* id of the service call that it serves; 0: none or unknown */
	uint64_t
		answered; /* id of the service call whose response it handles; 0: none or unknown */
	unsigned published;	/* publish calls inside this run, without those inside nested runs */
	uint64_t parent;	/* id of the run in which it began; 0: depth is 0 */
};

/* One recorded event in the life of a message, on the publishing or on the receiving side. */
enum model_layer {
	MODEL_LAYER_RCLCPP,
	MODEL_LAYER_RCL,
	MODEL_LAYER_RMW,
	MODEL_LAYER_INTRA,	/* rclcpp_intra_publish; for takes: the dequeue from a ring buffer */
	MODEL_LAYER_DDS,	/* CARET's dds_bind_addr_to_stamp; not for takes */
};

struct model_publish_step {
	enum model_layer layer;
	const struct model_thread *thread;
	int64_t ns;
	uint64_t address;	/* of the message object */
	uint64_t handle;	/* rcl (RCL, INTRA) or rmw (RMW) publisher as recorded; 0: not in the trace */
	/* NULL: not in the trace, or a publisher of the middleware itself */
	const struct model_publisher *publisher;
	int64_t source_ns;	/* RMW from Jazzy on, DDS; 0: not in the trace */
};

struct model_take_step {
	enum model_layer layer;
	const struct model_thread *thread;
	int64_t ns;
	uint64_t address;	/* of the message object; 0: not in the trace */
	uint64_t handle;	/* rmw subscription (RMW) as recorded, or ring buffer (INTRA); 0: not in the trace */
	const struct model_subscription *subscription;	/* RMW, INTRA; NULL: unknown */
	int64_t source_ns;	/* RMW; 0: unknown */
	bool taken;		/* RMW: did the take return a message? The other layers: true */
};

/*
 * A service call, from its request to its response. Traces of kymo have its events, and those of
 * LTTng from tracetools 8.5 on. If only one of the two processes was recorded, only that half of
 * the call is known. Times that are not in the trace are 0.
 */
struct model_call {
	uint64_t id;			/* from 1, in order of appearance */
	const struct model_service *client, *service;	/* NULL: not in the trace */
	struct model_gid gid;		/* of the client; size 0 when not in the trace */
	int64_t sequence;
	const struct model_thread *client_thread, *service_thread;
	/* The callback whose run sent the request; NULL: none. */
	const struct model_callback *from;
	uint64_t from_instance;
	int64_t request_ns;		/* rmw_send_request */
	int64_t request_taken_ns;	/* rmw_take_request */
	/* The callback that served the request; NULL: not in the trace. */
	const struct model_callback *callback;
	uint64_t instance;		/* id of that callback run; 0: not in the trace */
	int64_t callback_start_ns, callback_end_ns;
	int64_t response_ns;		/* rmw_send_response */
	int64_t source_ns;		/* source timestamp of the response */
	int64_t response_taken_ns;	/* rmw_take_response */
	const struct model_thread *response_thread;	/* the thread that received the response */
	/* The client's callback that handled the response; NULL: not in the trace. */
	const struct model_callback *response_callback;
	uint64_t response_instance; /* id of that callback run; 0: not in the trace */
	int64_t response_start_ns, response_end_ns;
};

/* One event of a call, at the time when it happened. Later events of the call are not known yet. */
enum model_call_event {
	MODEL_CALL_REQUEST,
	MODEL_CALL_REQUEST_TAKEN,
	MODEL_CALL_RESPONSE,
	MODEL_CALL_RESPONSE_TAKEN,
};

struct model_call_step {
	enum model_call_event what;
	const struct model_call *call;
	const struct model_thread *thread;
	int64_t ns;
};

/* A lifecycle node was in one state for some time. */
struct model_state {
	const struct model_state_machine *machine;	/* NULL: unknown */
	const struct model_node *node;			/* NULL: unknown */
	const char *label;		/* stays valid */
	int64_t start_ns;		/* of the first state: when the node was created; 0: unknown */
	int64_t end_ns;			/* 0: the node was still in this state when the trace ended */
};

/* The states of an executor's thread. */
enum model_executor_state {
	MODEL_EXECUTOR_GET_NEXT_READY,
	MODEL_EXECUTOR_WAIT_FOR_WORK,
	MODEL_EXECUTOR_EXECUTE,		/* known for timers and subscriptions only */
};

struct model_executor_interval {
	const struct model_thread *thread;
	enum model_executor_state state;
	int64_t start_ns;
	int64_t end_ns;			/* 0: unknown: events were lost, or the trace ended */
	int64_t timeout_ns;		/* WAIT_FOR_WORK: the limit of the wait; -1: no limit */
	uint64_t handle;		/* EXECUTE: rcl timer or subscription */
	const struct model_timer *timer;		/* EXECUTE: one of these two, */
	const struct model_subscription *subscription;	/* or neither when unknown */
};

/* By an indirect link, a run of a subscription's callback is a cause of a publication. */
struct model_cause {
	const struct model_link *link;
	const struct model_message *message;		/* the publication */
	const struct model_subscription *subscription;
	const struct model_callback *callback;
	uint64_t instance;		/* id of the callback's latest run before the publication */
	int64_t start_ns;		/* of that run */
	int64_t end_ns;			/* 0: that run has not ended */
	uint64_t message_id;		/* the message that the run was called with; 0: unknown */
	/* This publisher's first publication since the start of that run. */
	bool first;
};

/* CARET's clock recorder: at time @ns the simulation's clock showed @sim_ns. */
struct model_sim_time {
	const struct model_process *process;
	int64_t ns;
	int64_t sim_ns;
};

struct model_transition {
	const struct model_node *node;		/* NULL: unknown state machine */
	const struct model_state_machine *machine;	/* NULL: unknown */
	uint64_t handle;			/* of the state machine, as recorded */
	const struct model_thread *thread;
	int64_t ns;
	const char *start, *goal;
};

struct model_loss {
	uint32_t trace, stream;
	/* NULL: the stream does not belong to one known thread */
	const struct model_thread *thread;
	int64_t begin_ns, end_ns;
	uint64_t events, packets;
	/* The lost events are the kernel's: that trace has no events of programs. */
	bool is_elsewhere;
};

/* Any member may be NULL. */
struct model_listener {
	/* A callback returned. In order of end. */
	void (*instance)(void *context, const struct model_instance *instance);
	/*
	 * The end of a callback is not in the trace (exception, deferred response, lost event, end
	 * of the trace).
	 */
	void (*unfinished)(void *context, const struct model_instance *instance);
	/*
	 * An rmw_publish, or a rclcpp_intra_publish (is_intra). A publish call that uses both paths
	 * is reported twice with the same id: intra-process first.
	 */
	void (*published)(void *context, const struct model_message *message);
	/* A message was received. If it has a callback, that callback is just starting. */
	void (*taken)(void *context, const struct model_message *message);
	/* A message can no longer be received, or it has left the window. */
	void (*dropped)(void *context, const struct model_message *message, enum model_drop why);
	void (*transition)(void *context, const struct model_transition *transition);
	void (*loss)(void *context, const struct model_loss *loss);

	/* The model computes the following only if a listener has the function. */

	/* A callback begins; duration_ns is -1. */
	void (*started)(void *context, const struct model_instance *instance);
	/*
	 * Each event in the life of a message, in order of the trace; publications by the
	 * middleware itself are included.
	 */
	void (*publish_step)(void *context, const struct model_publish_step *step);
	void (*take_step)(void *context, const struct model_take_step *step);
	/*
	 * A call is over: its response was received, or the model does not wait for the response
	 * any more.
	 */
	void (*call)(void *context, const struct model_call *call);
	/*
	 * Each event of a call. The event of the take of a request may come before the event of its
	 * sending.
	 */
	void (*call_step)(void *context, const struct model_call_step *step);
	/* A lifecycle node left a state; at the end of the trace: the state that it is still in. */
	void (*state)(void *context, const struct model_state *state);
	void (*executor)(void *context, const struct model_executor_interval *interval);
	/* Called right after published() of the same message, once per link and subscription. */
	void (*cause)(void *context, const struct model_cause *cause);
	void (*sim_time)(void *context, const struct model_sim_time *sim_time);
};

/* ---- use ---- */

/** model_create() - an empty model. Return: 0, or -1 with @err filled. */
int model_create(struct model **model, struct kymo_err *err);
void model_destroy(struct model *model);

/**
 * model_listen() - add a listener; @listener must stay valid; up to MODEL_LISTENERS_MAX
 *
 * Call it before model_bind() and model_attach(): the model binds only events that a listener
 * needs.
 * Return: 0, or -1.
 */
int model_listen(struct model *model, const struct model_listener *listener, void *context);
#define MODEL_LISTENERS_MAX 24

/** model_listeners() - how many listen: the number that the next one has. Context: wait-free. */
unsigned model_listeners(const struct model *model);

/**
 * model_unlisten() - @count listeners from number @first on receive nothing more
 *
 * Later ones have lower numbers then. Listeners with the same functions as those that were there at
 * model_attach() may be added at any time between two events. Not in a listener's call.
 */
void model_unlisten(struct model *model, unsigned first, unsigned count);

/*
 * A link that the trace does not contain: the publications of node @node on @publisher_topic are
 * computed from the latest message on @subscription_topic. Reported as links of kind
 * MODEL_LINK_USE_LATEST.
 */
struct model_rule {
	const char *node;		/* full name */
	const char *subscription_topic, *publisher_topic;
};

/** model_rule() - add a rule before the first event; @rule is copied. Return: 0, or -ENOMEM. */
int model_rule(struct model *model, const struct model_rule *rule);

/** model_want_all() - bind every ROS 2 event, needed or not; before model_attach(). */
void model_want_all(struct model *model);

/** model_only_runs() - bind only objects, runs, executors, no messages; before model_attach(). */
void model_only_runs(struct model *model);

/**
 * model_bind() - the events and fields that the model needs, for kymo_ctf_bind()
 * @count: set to the length of the table
 *
 * The table is derived from src/abi/tracepoints.def. An event passed to model_event() must have
 * been bound by this table: event.bound is an index into it.
 */
const struct kymo_ctf_bind *model_bind(const struct model *model, unsigned *count);

/**
 * model_bind_also() - bind @rows of another analysis in the same pass; before model_attach()
 * @first: set to the number of the first of these rows; event.bound counts from there. The model
 *   ignores them
 *
 * Return: 0, or -1: more than MODEL_BIND_ALSO_MAX rows in total.
 */
int model_bind_also(struct model *model, const struct kymo_ctf_bind *rows, unsigned count, unsigned *first);
#define MODEL_BIND_ALSO_MAX 48u

/** model_attach() - bind @reader to model_bind() and learn its hosts. Return: 0, or -1 with @err. */
int model_attach(struct model *model, struct kymo_ctf_reader *reader, struct kymo_err *err);

/**
 * model_clock_error() - the largest error, in either direction, when times of @a and @b are
 * compared
 * @ns: the time of interest, roughly
 *
 * Return: nanoseconds; 0 on one host; KYMO_CTF_ERROR_UNKNOWN: the relation of the two hosts' clocks
 * is unknown, or one of the processes is NULL. See kymo_ctf_align().
 */
int64_t model_clock_error(const struct model_process *a, const struct model_process *b, int64_t ns);

/**
 * model_resumed() - when the last pause of the recorder before @ns ended, epoch ns
 *
 * What happened during a pause is not in the trace, so a time from before it until now is not a
 * time between two neighbours. Calls come in the order of @ns. Return: INT64_MIN: no pause.
 * Context: wait-free.
 */
int64_t model_resumed(const struct model *model, const struct model_thread *thread, int64_t ns);

/** model_process_last() - time of the latest event of @process so far, epoch ns. */
int64_t model_process_last(const struct model_process *process);

/**
 * model_set_clock() - set how the times of trace @trace were shifted, see kymo_ctf_trace_info;
 * after model_set_host().
 *
 * Return: 0, or -ENOMEM.
 */
int model_set_clock(struct model *model, uint32_t trace, const struct kymo_ctf_shift *shift, unsigned shifts);

/**
 * model_set_host() - trace @trace was recorded on @hostname, see kymo_ctf_trace_info.
 *
 * Return: 0, or -ENOMEM.
 */
int model_set_host(struct model *model, uint32_t trace, const char *hostname, int64_t clock_offset_ns);

/**
 * model_event() - process one event; call it in time order
 *
 * Events that are not bound are ignored; so are malformed events (missing fields).
 * Return: 0, or -ENOMEM.
 */
int model_event(struct model *model, const struct kymo_ctf_event *event);

/** model_finish() - the trace has ended: report everything that is still open. */
void model_finish(struct model *model);

unsigned model_count(const struct model *model, enum model_kind kind);
const struct model_process *model_process(const struct model *model, unsigned index);
const struct model_thread *model_thread(const struct model *model, unsigned index);
const struct model_node *model_node(const struct model *model, unsigned index);
const struct model_topic *model_topic(const struct model *model, unsigned index);
const struct model_publisher *model_publisher(const struct model *model, unsigned index);
const struct model_subscription *model_subscription(const struct model *model, unsigned index);
const struct model_timer *model_timer(const struct model *model, unsigned index);
const struct model_service *model_service(const struct model *model, unsigned index);
const struct model_service *model_client(const struct model *model, unsigned index);
const struct model_callback *model_callback(const struct model *model, unsigned index);
const struct model_subscription_object *model_subscription_object(const struct model *model,
								  unsigned index);
const struct model_callback_group *model_callback_group(const struct model *model, unsigned index);
const struct model_executor *model_executor(const struct model *model, unsigned index);
const struct model_state_machine *model_state_machine(const struct model *model, unsigned index);
const struct model_context *model_context(const struct model *model, unsigned index);
const struct model_link *model_link(const struct model *model, unsigned index);

/** model_find_callback() - the callback that @address refers to at this time, or NULL. */
const struct model_callback *model_find_callback(const struct model *model, uint32_t trace,
						 int32_t pid, uint64_t address);

/** model_callback_node() - the node that owns @callback, or NULL when unknown. */
const struct model_node *model_callback_node(const struct model_callback *callback);

/** model_callback_group_of() - the group that @callback is in, or NULL when unknown. */
const struct model_callback_group *model_callback_group_of(const struct model_callback *callback);

/**
 * model_callback_excludes() - does a run of @by on another thread of the process keep @callback
 * from starting?
 * @assumed: set to true if no event names their groups, so that the answer is a guess by node
 *
 * Return: true: both are in one group that is not reentrant; or, assumed, both belong to one node.
 */
bool model_callback_excludes(const struct model_callback *callback, const struct model_callback *by, bool *assumed);

/** model_layer_name() - "rclcpp", "rcl", "rmw", "intra", "dds". */
const char *model_layer_name(enum model_layer layer);

/** model_executor_state_name() - "get_next_ready", "wait_for_work", "execute". */
const char *model_executor_state_name(enum model_executor_state state);

/** model_link_kind_name() - "periodic_async", "partial_sync", "use_latest_message". */
const char *model_link_kind_name(enum model_link_kind kind);

/** model_callback_kind_name() - "subscription", "timer", "service", "client", "unknown". */
const char *model_callback_kind_name(const struct model_callback *callback);

/**
 * model_callback_source() - the readable reason of its runs: topic, timer period ("10 ms") or
 * service name
 * @buffer, @size: space for composed texts; 64 bytes are enough
 * Return: a text, "" when unknown. Valid as long as @buffer and the model.
 */
const char *model_callback_source(const struct model_callback *callback, char *buffer, unsigned size);

/**
 * model_callback_label() - one readable name: "/planner /scan" or "/planner timer 10 ms", else the
 * symbol, else the address.
 *
 * Return: @buffer.
 */
char *model_callback_label(const struct model_callback *callback, char *buffer, unsigned size);

/* Counts of events that could not be used; they explain empty results. */
struct model_facts {
	uint64_t events;		/* passed to model_event(), without losses */
	uint64_t ros_events;		/* of these: bound */
	uint64_t init_events;		/* of these: init events */
	uint64_t ends_without_start;	/* callback_end without a callback_start in the trace */
	uint64_t unfinished;		/* callbacks without an end in the trace */
	uint64_t internal_publishes;	/* rmw_publish by publishers without rcl_publisher_init */
	uint64_t publishes_without_timestamp;	/* rmw_publish of Iron and older releases */
	uint64_t takes_without_timestamp;	/* takes of a message with source_timestamp 0 */
	uint64_t intra_publishes;	/* rclcpp_intra_publish */
	uint64_t intra_unknown;		/* runs of intra-process callbacks whose message is unknown */
	/*
	 * An event whose fields differ from ROS 2's event of the same name; it is ignored; NULL:
	 * none.
	 */
	const char *odd_event;
	uint64_t unfinished_calls;	/* service calls without a received response */
	int64_t first_ns, last_ns;	/* of all events passed to model_event() */
	/* By enum accounts_machine: what kymo.json says of it; "": nothing; "several". */
	const char *machine[MACHINE_PARTS];
};
const struct model_facts *model_facts(const struct model *model);

/* For pass_add(). */
extern const struct pass_ops model_pass;

#endif
