/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the model, shared by
 *     model.c      life, dispatch, lookups           flow.c      messages through the middleware
 *     bind.c       which events, who handles them    intra.c     messages within a process
 *     objects.c    init events                       steps.c     each event on a message's way
 *     callbacks.c  ... those of callbacks            runs.c      callbacks that begin and end
 *     groups.c     ... of executors and groups       executors.c what executors' threads do
 *     lifecycle.c  state machines                    services.c  calls
 *     links.c      indirect causes                   forks.c     CARET's events
 *     clock.c      how hosts' clocks compare
 * Structs of objects begin with their public part.
 */
#ifndef KYMO_ANALYSIS_INTERNAL_H
#define KYMO_ANALYSIS_INTERNAL_H

#include "abi/each.h"
#include "abi/points.h"
#include "analysis/model/model.h"
#include "base/pool.h"
#include "base/map.h"

/*
 * The fields of each event as the bind table orders them: struct args_rcl_node_init has the
 * members node_handle, rmw_handle, node_name, namespace, each a struct kymo_ctf_value. They lie over
 * ctf_event.value[], so neither order nor names are written down a second time.
 */
#define ARGS_RECORDED(arg, name, ...) struct kymo_ctf_value name;
#define ARGS_PTR(...) ARGS_RECORDED(__VA_ARGS__)
#define ARGS_U64(...) ARGS_RECORDED(__VA_ARGS__)
#define ARGS_I64(...) ARGS_RECORDED(__VA_ARGS__)
#define ARGS_BOOL(...) ARGS_RECORDED(__VA_ARGS__)
#define ARGS_STR(...) ARGS_RECORDED(__VA_ARGS__)
#define ARGS_GID16(...) ARGS_RECORDED(__VA_ARGS__)
#define ARGS_GID24(...) ARGS_RECORDED(__VA_ARGS__)
#define ARGS_PTRS(...) ARGS_RECORDED(__VA_ARGS__)
#define ARGS_SKIP(...)
#define ARGS_VERSION(...) ARGS_RECORDED(__VA_ARGS__)
#define ARGS_FIELD(kind, arg, ...) ARGS_##kind(arg, ##__VA_ARGS__, arg)
#define POINT(provider, id, name, phase, hook, from, to, text, ...) \
	struct args_##id { EACH(ARGS_FIELD, __VA_ARGS__) } __attribute__((may_alias));
#include "abi/tracepoints.def"
#undef POINT

#define ARGS(id, event) const struct args_##id *args = (const struct args_##id *)(event)->value

/* Later times (the year 2116) are damage; without them no difference of two can overflow. */
#define TIME_MAX (INT64_MAX / 2)

/* What an address in the `handles` map means. The scope of a key is process index << 8 | this. */
enum handle {
	HANDLE_NODE,
	HANDLE_PUBLISHER,
	HANDLE_RMW_PUBLISHER,
	HANDLE_SUBSCRIPTION,
	HANDLE_RMW_SUBSCRIPTION,
	HANDLE_SUBSCRIPTION_OBJECT,
	HANDLE_TIMER,
	HANDLE_SERVICE,
	HANDLE_CLIENT,
	HANDLE_CALLBACK,
	HANDLE_STATE_MACHINE,
	HANDLE_BUFFER,
	HANDLE_IPB,
	HANDLE_CONTEXT,
	HANDLE_EXECUTOR,
	HANDLE_COLLECTOR,
	HANDLE_GROUP,
	HANDLE_RMW_SERVICE,
	HANDLE_RMW_CLIENT,
	/* What was told of an rcl or rmw handle, perhaps before the object itself. */
	HANDLE_GID_PUBLISHER,
	HANDLE_GID_SUBSCRIPTION,
	HANDLE_GID_CLIENT,
	HANDLE_MEMBER_TIMER,
	HANDLE_MEMBER_SUBSCRIPTION,
	HANDLE_MEMBER_SERVICE,
	HANDLE_MEMBER_CLIENT,
	HANDLE_COPY,			/* forks.c: a message's address within the process */
};

/* What costs time per event and is done for those who listen only. */
enum want {
	WANT_STARTED = 1u << 0,
	WANT_PUBLISH_STEPS = 1u << 1,
	WANT_TAKE_STEPS = 1u << 2,
	WANT_CALLS = 1u << 3,
	WANT_STATES = 1u << 4,
	WANT_EXECUTORS = 1u << 5,
	WANT_CAUSES = 1u << 6,
	WANT_SIM_TIME = 1u << 7,
};

/* rcl gives a lifecycle node these many services. */
#define LIFECYCLE_SERVICES 5u

struct process {
	struct model_process pub;
	int64_t last_ns;		/* of its latest event */
	bool has_buffers;		/* ring buffers tell where its messages go */

	/* Services of the lifecycle node made last whose callbacks are still to come. */
	struct service *waiting[LIFECYCLE_SERVICES];
	unsigned waiting_count;
};

/* A callback that has begun on a thread. */
struct frame {
	struct callback *callback;
	uint64_t id;			/* of the run */
	unsigned published;
	struct call *call;		/* it serves */
	uint64_t call_id;
	int64_t start_ns;
	bool is_intra;
	bool doubtful;			/* events of its stream were lost since */
	bool has_message;
	struct model_message message;
};

/* Deeper nesting than this is taken for lost ends. */
#define FRAMES_MAX 32u

struct thread {
	struct model_thread pub;
	struct process *process;
	uint32_t trace, stream;		/* it was last seen in */
	bool many_streams;		/* per-CPU buffers: it moves between streams */

	struct frame *frame;		/* callbacks in progress, outermost first */
	unsigned frame_count, frame_size;

	/* The publish call in progress: rclcpp_publish, rcl_publish, rmw_publish of one message. */
	struct {
		uint64_t message;	/* 0: none */
		int64_t ns, rcl_ns, stamp_ns;
		struct publisher *publisher;
	} publish;
	/* Written, and its source timestamp is to follow (CARET on Humble). */
	struct sent *unstamped;
	uint64_t unstamped_message;

	/* The last rclcpp_intra_publish: the enqueues that follow belong to it. */
	struct {
		uint64_t id;		/* 0: none */
		int64_t ns;
		struct publisher *publisher;
		bool alone;		/* no rmw_publish of the same call yet */
		const struct callback *from;
		uint64_t from_instance;
	} intra;

	bool has_taken;			/* a message was taken, its callback is to come */
	struct model_message taken;

	bool has_state;			/* the state of its executor is known */
	struct model_executor_interval state;

	struct call *request;		/* taken, its callback is to come */
	uint64_t request_id;
};

#include "analysis/model/model_internal_objects.h"

/* A growing list of pointers, one per kind of object. */
struct list {
	void **item;
	unsigned count, size;
};

struct stream {
	struct thread *last;		/* of its last event */
	bool many_threads;
};

/* The event being handled, and what is known about it. */
struct now {
	const struct kymo_ctf_event *event;
	struct thread *thread;
	struct process *process;
	int64_t ns;			/* of the event */
	int64_t true_ns;		/* when it really happened: init_timestamp, else ns */
};

typedef void (*handler)(struct model *model, const struct now *now);

/* What to do with the events of one row of the bind table. */
struct bound {
	handler handle;			/* NULL: nobody wants it */
	unsigned point;
	bool is_init;
	uint8_t true_time;		/* CARET: index of its init_timestamp field; 0: none */
};

/* By how much a host's times may be wrong beside those of the others that have this. */
struct model_clock {
	unsigned points;
	struct clock_point { int64_t ns, error_ns; } point[];
};

struct trace {
	uint32_t host;
	const struct model_clock *clock;	/* NULL: nothing is known */
	const char *hostname;
	int64_t clock_offset_ns;	/* epoch minus trace clock */
	bool known;
};

struct model {
	const struct kymo_ctf_reader *reader;	/* attached to; NULL: events come from elsewhere */
	struct pool pool;
	struct list list[MODEL_KINDS];
	struct map handles;		/* (address, process and enum handle) */
	struct map processes;		/* (pid, host) */
	struct map threads;		/* (tid, process index) */
	struct map topics;		/* (hash of the name, probe) */
	struct map words;		/* likewise: texts that come again and again */
	struct map sent;		/* (source timestamp, topic index) -> struct sent */
	struct map places;		/* (index, buffer number) -> struct place */
	struct place *free_places;
	uint64_t buffers;

	struct trace *trace;
	unsigned trace_count;
	uint32_t host_count;
	struct stream *stream;
	unsigned stream_count;

	struct kymo_ctf_bind *bind;
	struct bound *bound;		/* beside each row of bind */
	unsigned bind_count;
	unsigned bind_also;		/* rows behind them, of others */

	const struct model_listener *listener[MODEL_LISTENERS_MAX];
	void *listener_context[MODEL_LISTENERS_MAX];
	unsigned listeners;
	unsigned wants;			/* enum want, of all listeners together */
	bool bind_all;			/* model_want_all() */

	struct map callers;		/* (first eight bytes of the gid, 0) -> struct caller */
	struct map calls;		/* (sequence number, caller) -> struct call */
	struct call *oldest_call, *newest_call, *free_calls;
	unsigned call_count;
	uint64_t caller_count, last_call;

	struct copy *copy;		/* ring of COPIES_MAX, made when the first one is told */
	unsigned next_copy;

	struct rule *rules;
	unsigned orphans;		/* clients and services without a node yet */

	uint64_t last_id, last_instance;
	struct model_facts facts;
	bool stamps_follow;		/* source timestamps come after the writes */
	bool out_of_memory;
};

/* The handler of each point; NULL: nothing to do. */
extern const handler model_object_handlers[KYMO_POINTS_TABLE];	/* objects.c */
extern const handler model_callback_handlers[KYMO_POINTS_TABLE];	/* callbacks.c */
extern const handler model_group_handlers[KYMO_POINTS_TABLE];	/* groups.c */
extern const handler model_lifecycle_handlers[KYMO_POINTS_TABLE];	/* lifecycle.c */
extern const handler model_link_handlers[KYMO_POINTS_TABLE];	/* links.c */
extern const handler model_flow_handlers[KYMO_POINTS_TABLE];	/* flow.c */
extern const handler model_intra_handlers[KYMO_POINTS_TABLE];	/* intra.c */
extern const handler model_run_handlers[KYMO_POINTS_TABLE];	/* runs.c */
extern const handler model_step_handlers[KYMO_POINTS_TABLE];	/* steps.c */
extern const handler model_executor_handlers[KYMO_POINTS_TABLE];	/* executors.c */
extern const handler model_service_handlers[KYMO_POINTS_TABLE];	/* services.c */
extern const handler model_fork_handlers[KYMO_POINTS_TABLE];	/* forks.c */

#define EMIT(model, what, ...)								\
	do {										\
		for (unsigned emit_ = 0; emit_ < (model)->listeners; emit_++)		\
			if ((model)->listener[emit_]->what)				\
				(model)->listener[emit_]->what(				\
					(model)->listener_context[emit_], __VA_ARGS__);	\
	} while (0)

/* model.c */
int64_t model_true_time(const struct model *model, const struct kymo_ctf_event *event);
struct thread *model_thread_of(struct model *model, const struct kymo_ctf_event *event);
/* The same if it is known already, or NULL. */
struct thread *model_thread_at(const struct model *model, const struct kymo_ctf_event *event);
struct stream *model_stream_at(struct model *model, uint32_t stream);
void *model_object_new(struct model *model, enum model_kind kind, size_t size);
void *model_alloc(struct model *model, size_t size);
const char *model_keep(struct model *model, const char *text, size_t length);
const char *model_text(struct model *model, const struct kymo_ctf_value *value);
void *model_handle(const struct model *model, const struct process *process, enum handle kind,
		   uint64_t address);
void model_handle_set(struct model *model, const struct process *process, enum handle kind,
		      uint64_t address, void *object);
struct topic *model_topic_named(struct model *model, const struct kymo_ctf_value *name);
const char *model_word(struct model *model, const struct kymo_ctf_value *value);

/* model.c: @clock_ns of the clock of trace @trace as events have it, or @otherwise when that is no time. */
int64_t model_epoch(const struct model *model, uint32_t trace, uint64_t clock_ns, int64_t otherwise);

/* callbacks.c */
struct callback *model_callback_unknown(struct model *model, const struct now *now,
					uint64_t address);
struct subscription_object *model_object_of_callback(struct model *model, const struct now *now,
						     uint64_t address);
void model_object_link(struct subscription_object *object);

/* groups.c */
const struct model_callback_group *model_member_of(const struct model *model,
						   const struct process *process, enum handle kind,
						   uint64_t handle, int64_t born_ns);

/* bind.c */
int model_bind_build(struct model *model);
void model_bind_update(struct model *model);

/* runs.c */
void model_frame_abandon(struct model *model, struct thread *thread, unsigned at);
/* The callback that @thread is in, or NULL; NULL also when its end may have been lost. */
struct frame *model_frame_of(struct thread *thread);

/* steps.c */
void model_publish_step(struct model *model, const struct now *now,
			const struct model_publish_step *step);
void model_take_step(struct model *model, const struct now *now, const struct model_take_step *step);

/* executors.c */
void model_executor_doubt(struct model *model, struct thread *thread);

/* lifecycle.c */
struct service *model_service_waiting(struct process *process);
void model_lifecycle_finish(struct model *model);

/* services.c */
void model_call_started(struct thread *thread, struct frame *frame);
void model_call_ended(struct model *model, const struct frame *frame, int64_t end_ns);
void model_call_doubt(struct thread *thread);
void model_calls_finish(struct model *model);
void model_client_gid(struct model *model, const struct gid *gid, struct service *client);

/* links.c */
void model_causes(struct model *model, const struct model_message *message);
void model_rules_publisher(struct model *model, struct publisher *publisher);
void model_rules_subscription(struct model *model, struct subscription *subscription);
void model_link_started(const struct frame *frame);
void model_link_ended(const struct frame *frame, int64_t ns);

/* forks.c */
void model_copy_published(struct model *model, const struct process *process,
			  const struct model_message *message);

/* flow.c */
void model_publish_chain(struct thread *thread, uint64_t message, int64_t ns);
struct sent *model_sent_begin(struct model *model, const struct now *now,
			      struct publisher *publisher, bool chained);
void model_sent_finish(struct model *model, struct sent *sent, int64_t source_ns, uint64_t address);
void model_unstamped_flush(struct model *model, struct thread *thread);
struct sent *model_sent_unstamped(struct model *model, const struct now *now, const struct topic *topic,
				  int64_t source_ns);			/* forks.c */
void model_take(struct model *model, const struct now *now, struct subscription *subscription,
		int64_t source_ns, uint64_t address);
void model_taken_flush(struct model *model, struct thread *thread);
void model_taken_set(struct model *model, struct thread *thread,
		     const struct model_message *message);
void model_flow_loss(struct model *model, const struct kymo_ctf_event *event);
void model_flow_finish(struct model *model);

#endif
