/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of a ROS 2 trace, and what happened to them.
 *
 * Feed events in time order; the model learns the objects from the init events, pairs what
 * belongs together (callback_start with callback_end, publish with take, enqueue with dequeue)
 * and hands each thing over as soon as it is complete. It keeps the objects, what is open, and
 * a bounded window of recently published messages: memory does not grow with the trace.
 *
 *   model_create(&model, &err);
 *   model_attach(model, reader, &err);		binds the events it wants
 *   model_listen(model, &listener, context);
 *   while ((more = kymo_ctf_next(reader, &event, &err)) > 0)
 *       if (model_event(model, &event) < 0) ...
 *   model_finish(model);
 *   for (i = 0; i < model_count(model, MODEL_CALLBACK); i++) ... model_callback(model, i)
 *
 * Identity. An address means something only within a process: (host, vpid, address). Traces of
 * one host name are one host. Addresses are reused: an init event that says something new about
 * an address makes a new object, and later events mean the new one. The old object stays with
 * what happened to it. An init event that repeats what is known changes nothing.
 *
 * All times are nanoseconds since the Unix epoch unless a name says otherwise. All pointers stay
 * valid until model_destroy(), except in what a listener gets: those are valid during the call.
 *
 * Context of all functions: not thread-safe; allocate as objects appear, not per event.
 */
#ifndef KYMO_ANALYSIS_MODEL_H
#define KYMO_ANALYSIS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

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
	const char *hostname;	/* "" when the trace does not say */
	int32_t pid;		/* vpid */
	const char *name;	/* procname of the main thread if it was seen, else of the first thread */
	const char *tracetools;	/* version string of rcl_init; "" when not seen */
	const char *rmw;	/* CARET's rmw_implementation; "" when not seen */
	const char *distribution;	/* CARET's caret_init: "humble", "jazzy"; "" when not seen */
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

/* What rcl_init made. */
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
	int32_t tid;		/* of the thread that made it */
	int64_t born_ns;
};

/* A thread that runs callbacks, or several. CARET's events name executors and groups. */
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

/* A topic is its name, over all processes and hosts. */
struct model_topic {
	uint32_t index;
	const char *name;
	uint32_t publishers, subscriptions;	/* so far */
};

struct model_publisher {
	uint32_t index;
	const struct model_process *process;
	uint64_t handle, rmw_handle;
	const struct model_node *node;		/* NULL: not seen */
	const struct model_topic *topic;
	uint64_t depth;
	struct model_gid gid;
	int64_t born_ns;
};

struct model_subscription {
	uint32_t index;
	const struct model_process *process;
	uint64_t handle, rmw_handle;
	const struct model_node *node;		/* NULL: not seen */
	const struct model_topic *topic;
	uint64_t depth;
	struct model_gid gid;
	const struct model_callback_group *group;	/* NULL: not in the trace */
	int64_t born_ns;
};

struct model_timer {
	uint32_t index;
	const struct model_process *process;
	uint64_t handle;
	int64_t period_ns;
	const struct model_node *node;		/* NULL: link not seen */
	int64_t linked_ns;			/* when it was linked to its node; 0: not seen */
	const struct model_callback_group *group;	/* NULL: not in the trace */
	int32_t tid;
	int64_t born_ns;
};

/* Services and clients have the same shape. */
struct model_service {
	uint32_t index;
	const struct model_process *process;
	uint64_t handle, rmw_handle;
	const struct model_node *node;		/* NULL: not seen */
	const char *name;
	struct model_gid gid;			/* of a client, tracetools 8.5 and later */
	const struct model_callback_group *group;	/* NULL: not in the trace */
	int64_t born_ns;
};

enum model_callback_kind {
	MODEL_CALLBACK_UNKNOWN,		/* its init events are not in the trace */
	MODEL_CALLBACK_SUBSCRIPTION,
	MODEL_CALLBACK_TIMER,
	MODEL_CALLBACK_SERVICE,
	MODEL_CALLBACK_CLIENT,		/* has no events of its own: only chains.h knows it */
};

struct model_callback {
	uint32_t index;
	const struct model_process *process;
	uint64_t address;
	enum model_callback_kind kind;
	bool is_intra;				/* it serves intra-process messages */
	const struct model_subscription *subscription;	/* what it belongs to: one of these three, */
	const struct model_timer *timer;		/* or none */
	const struct model_service *service;
	uint64_t owner;				/* what callback_added named: the rclcpp subscription
						 * object, timer or service handle; 0: not seen */
	const char *raw_symbol;			/* as recorded; "" when unknown or "(null)" */
	const char *symbol;			/* for people: demangled, shortened; "" when unknown */
	int64_t added_ns;			/* callback_added; 0: not seen */
	int64_t registered_ns;			/* callback_register; 0: not seen */
	int64_t born_ns;
};

/* rclcpp's Subscription or SubscriptionIntraProcess: a subscription may have both. */
struct model_subscription_object {
	uint32_t index;
	const struct model_process *process;
	uint64_t address;
	const struct model_subscription *subscription;	/* NULL: rclcpp_subscription_init not seen */
	const struct model_callback *callback;		/* NULL: callback_added not seen */
	bool is_intra;
	int64_t born_ns;	/* rclcpp_subscription_init; 0: not seen */
};

/* Of a lifecycle node. */
struct model_state_machine {
	uint32_t index;
	const struct model_process *process;
	uint64_t handle;
	const struct model_node *node;		/* NULL: not seen */
	int64_t born_ns;
};

/*
 * Messages that have other messages as a cause although they are not published in their callback.
 *   PERIODIC_ASYNC  each publication is computed from the latest message of each subscription
 *   PARTIAL_SYNC    likewise, but a publication inside a callback of a linked subscription has
 *                   the direct link there, and an input counts for the next publication only
 *   USE_LATEST      as PERIODIC_ASYNC, named by a user (CARET's use_latest_message), see model_rule()
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

/* ---- things that happened; valid during the listener's call only ---- */

/* A message on its way. */
struct model_message {
	uint64_t id;				/* of the publication, from 1; 0: publication not seen */
	const struct model_publisher *publisher;	/* NULL: not seen */
	const struct model_topic *topic;	/* NULL: unknown */
	const struct model_thread *publish_thread;	/* NULL: not seen */
	const struct model_callback *from;	/* published inside a run of this; NULL: none or unknown */
	uint64_t from_instance;			/* the run's id; 0: none or unknown */
	int64_t publish_ns;	/* begin of the publish call; 0: not seen */
	int64_t rcl_ns;		/* rcl_publish; 0: not seen */
	int64_t send_ns;	/* rmw_publish, or the enqueue when intra-process; 0: not (yet) seen */
	int64_t source_ns;	/* source timestamp, the wall clock of the publisher; 0: none */
	int64_t stamp_ns;	/* in its header, from some of CARET's rclcpp; 0: not in the trace */
	bool is_intra;		/* it went through a ring buffer of the same process */
	uint64_t address;	/* of the message object: in published() the publisher's, in taken() and
				 * instances the receiver's; 0: unknown */

	/* How it came out. */
	const struct model_subscription *subscription;	/* NULL: unknown */
	const struct model_thread *take_thread;
	int64_t take_ns;	/* rmw_take, or the dequeue; 0: not yet received */
	const struct model_callback *callback;	/* that got it; NULL: none (yet) */
	int64_t callback_ns;	/* its start; 0: none */
	uint64_t to_instance;	/* that run's id; 0: none */
};

/* One run of a callback. */
struct model_instance {
	uint64_t id;		/* from 1, in order of start */
	const struct model_callback *callback;
	const struct model_thread *thread;
	int64_t start_ns;
	int64_t duration_ns;	/* -1 in unfinished() */
	bool is_intra;
	unsigned depth;		/* 0: called by the executor; 1: inside another callback, ... */
	const struct model_message *message;	/* it was called with; NULL: none or unknown */
	uint64_t call;		/* id of the service call it serves; 0: none or unknown */
	unsigned published;	/* publish calls made in it (and not in one that it called) */
	uint64_t parent;	/* id of the run it began in; 0: depth 0 */
};

/* One event on a message's path out or in, as recorded. */
enum model_layer {
	MODEL_LAYER_RCLCPP,
	MODEL_LAYER_RCL,
	MODEL_LAYER_RMW,
	MODEL_LAYER_INTRA,	/* rclcpp_intra_publish; of takes: a ring buffer's dequeue */
	MODEL_LAYER_DDS,	/* CARET's dds_bind_addr_to_stamp; not for takes */
};

struct model_publish_step {
	enum model_layer layer;
	const struct model_thread *thread;
	int64_t ns;
	uint64_t address;	/* of the message object */
	uint64_t handle;	/* rcl (RCL, INTRA) or rmw (RMW) publisher as recorded; 0: not in the trace */
	const struct model_publisher *publisher;	/* NULL: not in the trace, or unknown: the middleware's own */
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
	bool taken;		/* RMW: was there a message? Else true */
};

/*
 * A service call, from its request to its response. Needs the events of tracetools 8.5. Who is at
 * one end only (the other was not recorded) has half of it. Times not seen are 0.
 */
struct model_call {
	uint64_t id;			/* from 1, in order of appearance */
	const struct model_service *client, *service;	/* NULL: not seen */
	struct model_gid gid;		/* of the client; size 0 when not in the trace */
	int64_t sequence;
	const struct model_thread *client_thread, *service_thread;
	const struct model_callback *from;	/* the request was sent inside a run of this; NULL: none */
	uint64_t from_instance;
	int64_t request_ns;		/* rmw_send_request */
	int64_t request_taken_ns;	/* rmw_take_request */
	const struct model_callback *callback;	/* that served it; NULL: not seen */
	uint64_t instance;		/* the id of its run; 0: not seen */
	int64_t callback_start_ns, callback_end_ns;
	int64_t response_ns;		/* rmw_send_response */
	int64_t source_ns;		/* source timestamp of the response */
	int64_t response_taken_ns;	/* rmw_take_response */
	const struct model_thread *response_thread;	/* that took it */
};

/* One of its events, when it happened; what comes later is not known yet. */
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

/* A lifecycle node was in a state. */
struct model_state {
	const struct model_state_machine *machine;	/* NULL: unknown */
	const struct model_node *node;			/* NULL: unknown */
	const char *label;		/* stays valid */
	int64_t start_ns;		/* of the first: when the node was made; 0: unknown */
	int64_t end_ns;			/* 0: still in it when the trace ended */
};

/* What an executor's thread did. */
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
	int64_t timeout_ns;		/* WAIT_FOR_WORK: -1 for ever */
	uint64_t handle;		/* EXECUTE: rcl timer or subscription */
	const struct model_timer *timer;		/* EXECUTE: either of these, */
	const struct model_subscription *subscription;	/* or none when unknown */
};

/* A run of a subscription's callback is a cause of a publication, by an indirect link. */
struct model_cause {
	const struct model_link *link;
	const struct model_message *message;		/* the publication */
	const struct model_subscription *subscription;
	const struct model_callback *callback;
	uint64_t instance;		/* its latest run before the publication */
	int64_t start_ns;		/* of that run */
	int64_t end_ns;			/* 0: it goes on */
	uint64_t message_id;		/* it was called with; 0: unknown */
	bool first;			/* the first publication of this publisher since that run's start */
};

/* CARET's clock recorder: at this time the simulation's clock said @sim_ns. */
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
	const struct model_thread *thread;	/* NULL: the stream is not that of one known thread */
	int64_t begin_ns, end_ns;
	uint64_t events, packets;
	bool is_elsewhere;		/* its trace has no events of the programs: it is the kernel's */
};

/* Why a published message got to no callback. */
enum model_drop {
	MODEL_DROP_OVERWRITTEN,	/* intra-process: a newer message took its place */
	MODEL_DROP_CLEARED,	/* intra-process: the buffer was cleared */
	MODEL_DROP_UNTAKEN,	/* a subscription was there, yet no take was seen */
};

/* Any member may be NULL. */
struct model_listener {
	/* A callback returned. In order of end. */
	void (*instance)(void *context, const struct model_instance *instance);
	/* A callback whose end never came (exception, deferred response, lost event, end of trace). */
	void (*unfinished)(void *context, const struct model_instance *instance);
	/*
	 * An rmw_publish, or a rclcpp_intra_publish (is_intra). A user's call that goes both ways
	 * gives both, intra first, with the same id.
	 */
	void (*published)(void *context, const struct model_message *message);
	/* A message was received; callback is set when it is handed to one, which is then starting. */
	void (*taken)(void *context, const struct model_message *message);
	/* A message is known never to be received, or has left the window. */
	void (*dropped)(void *context, const struct model_message *message, enum model_drop why);
	void (*transition)(void *context, const struct model_transition *transition);
	void (*loss)(void *context, const struct model_loss *loss);

	/* What follows costs time only when somebody listens. */

	/* A callback begins; duration_ns is -1. */
	void (*started)(void *context, const struct model_instance *instance);
	/* Each event on a message's path, in order of the trace; also the middleware's own. */
	void (*publish_step)(void *context, const struct model_publish_step *step);
	void (*take_step)(void *context, const struct model_take_step *step);
	/* A call is over: its response was received, or is not expected any more. */
	void (*call)(void *context, const struct model_call *call);
	/* Each event of a call. A request may have been taken before the event that it was sent. */
	void (*call_step)(void *context, const struct model_call_step *step);
	/* A lifecycle node left a state; at the end of the trace: is still in it. */
	void (*state)(void *context, const struct model_state *state);
	void (*executor)(void *context, const struct model_executor_interval *interval);
	/* Right after the published() it is about; once per link and subscription. */
	void (*cause)(void *context, const struct model_cause *cause);
	void (*sim_time)(void *context, const struct model_sim_time *sim_time);
};

/* ---- use ---- */

/** model_create() - an empty model. Return: 0, or -1 with @err filled. */
int model_create(struct model **model, struct kymo_err *err);
void model_destroy(struct model *model);

/**
 * model_listen() - @listener must stay valid; up to MODEL_LISTENERS_MAX
 *
 * To be called before model_bind() and model_attach(): what nobody listens for is not bound.
 * Return: 0, or -1.
 */
int model_listen(struct model *model, const struct model_listener *listener, void *context);
#define MODEL_LISTENERS_MAX 16

/*
 * A link that the trace does not contain: what node @node publishes on @publisher_topic is computed
 * from the latest message on @subscription_topic. Told as links of kind MODEL_LINK_USE_LATEST.
 */
struct model_rule {
	const char *node;		/* full name */
	const char *subscription_topic, *publisher_topic;
};

/** model_rule() - to be called before the first event; copies. Return: 0, or -ENOMEM. */
int model_rule(struct model *model, const struct model_rule *rule);

/** model_want_all() - bind every event of ROS 2, also those that nobody listens for; before model_attach(). */
void model_want_all(struct model *model);

/**
 * model_bind() - the events and fields the model wants, for kymo_ctf_bind()
 * @count: set to the length of the table
 *
 * Derived from src/abi/tracepoints.def. An event given to model_event() must have been bound by
 * this table: event.bound is an index into it.
 */
const struct kymo_ctf_bind *model_bind(const struct model *model, unsigned *count);

/**
 * model_bind_also() - have @rows bound beside the model's own, for another analysis in the same pass; before model_attach()
 * @first: set to the number of the first of them; event.bound counts from there. The model ignores them
 *
 * Return: 0, or -1: more than MODEL_BIND_ALSO_MAX in all.
 */
int model_bind_also(struct model *model, const struct kymo_ctf_bind *rows, unsigned count, unsigned *first);
#define MODEL_BIND_ALSO_MAX 48u

/** model_attach() - bind @reader to model_bind() and learn its hosts. Return: 0, or -1 with @err. */
int model_attach(struct model *model, struct kymo_ctf_reader *reader, struct kymo_err *err);

/**
 * model_clock_error() - how wrong it may be, either way, to compare times of @a with times of @b
 * @ns: about when
 *
 * Return: nanoseconds; 0 on one host; KYMO_CTF_ERROR_UNKNOWN: nothing is known of how the clocks of the two
 * hosts relate, or one of the processes (NULL) is not known. See kymo_ctf_align().
 */
int64_t model_clock_error(const struct model_process *a, const struct model_process *b, int64_t ns);

/** model_process_last() - time of the latest event of @process so far, epoch ns. */
int64_t model_process_last(const struct model_process *process);

/** model_set_clock() - trace @trace was shifted so, see kymo_ctf_trace_info; after model_set_host(). Return: 0, or -ENOMEM. */
int model_set_clock(struct model *model, uint32_t trace, const struct kymo_ctf_shift *shift, unsigned shifts);

/** model_set_host() - trace @trace was recorded on @hostname, see ctf_trace_info. Return: 0, or -ENOMEM. */
int model_set_host(struct model *model, uint32_t trace, const char *hostname, int64_t clock_offset_ns);

/**
 * model_event() - take one event, in time order
 *
 * Events that are not bound are ignored; so are malformed ones (fields missing).
 * Return: 0, or -ENOMEM.
 */
int model_event(struct model *model, const struct kymo_ctf_event *event);

/** model_finish() - the trace ends here: hand over what is still open. */
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

/** model_find_callback() - the callback that @address means now, or NULL. */
const struct model_callback *model_find_callback(const struct model *model, uint32_t trace,
						 int32_t pid, uint64_t address);

/** model_callback_node() - the node that owns @callback, or NULL when unknown. */
const struct model_node *model_callback_node(const struct model_callback *callback);

/** model_callback_group_of() - the group that @callback is in, or NULL when unknown. */
const struct model_callback_group *model_callback_group_of(const struct model_callback *callback);

/**
 * model_callback_excludes() - does a run of @by on another thread of the process keep @callback from starting?
 * @assumed: set to whether no event says of their groups, and this is the guess by node
 *
 * Return: true: they are of one group that is not reentrant; or, assumed, of one node.
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
 * model_callback_source() - what calls it, for people: topic, timer period ("10 ms") or service name
 * @buffer, @size: for texts that are made up; 64 bytes are enough
 * Return: a text, "" when unknown. Valid as long as @buffer and the model.
 */
const char *model_callback_source(const struct model_callback *callback, char *buffer, unsigned size);

/**
 * model_callback_label() - one name for people: "/planner /scan", "/planner timer 10 ms", or the
 * symbol, or the address, whichever is known best. Return: @buffer.
 */
char *model_callback_label(const struct model_callback *callback, char *buffer, unsigned size);

/* Counts of what could not be used, for explanations of empty results. */
struct model_facts {
	uint64_t events;		/* given, loss not counted */
	uint64_t ros_events;		/* of these: bound */
	uint64_t init_events;		/* of these: init events */
	uint64_t ends_without_start;	/* callback_end whose start is not in the trace */
	uint64_t unfinished;		/* callbacks whose end is not in the trace */
	uint64_t internal_publishes;	/* rmw_publish by publishers without rcl_publisher_init */
	uint64_t publishes_without_timestamp;	/* rmw_publish of Iron and older */
	uint64_t takes_without_timestamp;	/* taken, source_timestamp 0 */
	uint64_t intra_publishes;	/* rclcpp_intra_publish */
	uint64_t intra_unknown;		/* intra-process callbacks begun, of whose message nothing is known */
	const char *odd_event;		/* an event whose fields are not those of ROS 2's event of that
					 * name: it is ignored; NULL: none */
	uint64_t unfinished_calls;	/* service calls without a received response */
	int64_t first_ns, last_ns;	/* of all events given */
};
const struct model_facts *model_facts(const struct model *model);

/* For pass_add(). */
extern const struct pass_ops model_pass;

#endif
