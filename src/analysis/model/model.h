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
 *   model_listen(model, &listener, context, &err);
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
#include "analysis/model/model_entities.h"
#include "analysis/model/model_listener.h"
#include "analysis/pass/pass.h"
#include "base/err.h"
#include "ctf/read/reader.h"

struct model;

/** model_create() - an empty model. Return: 0, or -1 with @err filled. */
int model_create(struct model **model, struct kymo_err *err);
void model_destroy(struct model *model);

/**
 * model_listen() - add a listener; @listener must stay valid; up to MODEL_LISTENERS_MAX
 *
 * Call it before model_bind() and model_attach(): the model binds only events that a listener
 * needs, and an event that was not bound has no values.
 * Return: 0, or -1 with @err: too many listeners, or too late for the events that @listener needs.
 */
int model_listen(struct model *model, const struct model_listener *listener, void *context,
		 struct kymo_err *err);
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

/** model_only_objects() - do not connect messages; @inits: bind only init events, see
 * model_only_runs() */
void model_only_objects(struct model *model, bool inits);

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
 * Return: 0, or -1 with @err: more than MODEL_BIND_ALSO_MAX rows in total.
 */
int model_bind_also(struct model *model, const struct kymo_ctf_bind *rows, unsigned count,
		    unsigned *first, struct kymo_err *err);
#define MODEL_BIND_ALSO_MAX 64u

/**
 * model_attach() - bind @reader to model_bind() and learn its hosts. Return: 0, or -1 with @err.
 */
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
int model_set_clock(struct model *model, uint32_t trace, const struct kymo_ctf_shift *shift,
		    unsigned shifts);

/**
 * model_set_host() - trace @trace was recorded on @hostname, see kymo_ctf_trace_info.
 *
 * Return: 0, or -ENOMEM.
 */
int model_set_host(struct model *model, uint32_t trace, const char *hostname,
		   int64_t clock_offset_ns);

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
bool model_callback_excludes(const struct model_callback *callback, const struct model_callback *by,
			     bool *assumed);

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
const char *model_callback_source(const struct model_callback *callback, char *buffer,
				  unsigned size);

/** model_callback_what() - the same; of a callback without a known reason its symbol, as short as
 * @buffer, else its address. */
const char *model_callback_what(const struct model_callback *callback, char *buffer, unsigned size);

/**
 * model_callback_label() - one readable name: "/planner /scan" or "/planner timer 10 ms", else the
 * symbol, else the address.
 *
 * Return: @buffer.
 */
char *model_callback_label(const struct model_callback *callback, char *buffer, unsigned size);

/**
 * model_callback_location() - file and line of its source, such as "src/talker.cpp:42"
 *
 * The program's file must be on this machine, as it was when it was recorded, with a build id and
 * debug information. Context: the first call for a symbol reads that file.
 * Return: valid as long as the model; "": not known.
 */
const char *model_callback_location(const struct model_callback *callback);

/** model_code_files() - the files on this machine that model_callback_location() looked for, some
 * more than once. Context: that of @each. */
void model_code_files(const struct model *model, void (*each)(void *context, const char *path),
		      void *context);

/**
 * model_limit() - at most @most objects of each kind, and facts and words in proportion
 * @most: 0: no limit
 *
 * What comes after them takes no memory: `left` counts it. An address that it has is nothing any
 * more, and not the object that was there before.
 */
void model_limit(struct model *model, unsigned most);

/* What the objects had no room for, because of model_limit(). */
struct model_left {
	uint64_t objects;   /* nodes, publishers, subscriptions, timers, services, clients */
	uint64_t runs;      /* starts of callbacks */
	uint64_t published; /* publish calls through the middleware */
	uint64_t events;    /* of threads and processes; their runs and publish calls count, too */
};

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
	/* runs of intra-process callbacks whose message is unknown */
	uint64_t intra_unknown;
	/*
	 * An event whose fields differ from ROS 2's event of the same name; it is ignored; NULL:
	 * none.
	 */
	const char *odd_event;
	uint64_t unfinished_calls;	/* service calls without a received response */
	int64_t first_ns, last_ns;	/* of all events passed to model_event() */
	struct model_left left;
	/* By enum accounts_machine: what kymo.json says of it; "": nothing; "several". */
	const char *machine[MACHINE_PARTS];
};
const struct model_facts *model_facts(const struct model *model);

/* For pass_add(). */
extern const struct pass_ops model_pass;

#endif
