/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the model, shared by model.c (life, dispatch, lookups), bind.c (which events),
 * objects.c (init events), flow.c and intra.c (messages) and runs.c (callbacks). Structs of objects
 * begin with their public part.
 */
#ifndef KYMO_ANALYSIS_INTERNAL_H
#define KYMO_ANALYSIS_INTERNAL_H

#include "abi/each.h"
#include "abi/points.h"
#include "analysis/model.h"
#include "base/pool.h"
#include "base/map.h"

/*
 * The fields of each event as the bind table orders them: struct args_rcl_node_init has the
 * members node_handle, rmw_handle, node_name, namespace, each a struct ctf_value. They lie over
 * ctf_event.value[], so neither order nor names are written down a second time.
 */
#define ARGS_RECORDED(arg, name, ...) struct ctf_value name;
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
};

/* rcl gives a lifecycle node these many services. */
#define LIFECYCLE_SERVICES 5u

struct process {
	struct model_process pub;
	int64_t last_ns;		/* of its latest event */

	/* Services of the lifecycle node made last whose callbacks are still to come. */
	struct service *waiting[LIFECYCLE_SERVICES];
	unsigned waiting_count;
};

/* A callback that has begun on a thread. */
struct frame {
	struct callback *callback;
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
	uint32_t stream;		/* it was last seen in */
	bool many_streams;		/* per-CPU buffers: it moves between streams */

	struct frame *frame;		/* callbacks in progress, outermost first */
	unsigned frame_count, frame_size;

	/* The publish call in progress: rclcpp_publish, rcl_publish, rmw_publish of one message. */
	struct {
		uint64_t message;	/* 0: none */
		int64_t ns;
		struct publisher *publisher;
	} publish;

	/* The last rclcpp_intra_publish: the enqueues that follow belong to it. */
	struct {
		uint64_t id;		/* 0: none */
		int64_t ns;
		struct publisher *publisher;
		bool alone;		/* no rmw_publish of the same call yet */
	} intra;

	bool has_taken;			/* a message was taken, its callback is to come */
	struct model_message taken;
};

struct node {
	struct model_node pub;
};

struct topic {
	struct model_topic pub;
	struct subscription *subscriptions;	/* list */
	uint64_t depth_max;
};

/* A message that can still be taken. */
struct sent {
	uint64_t id;			/* 0: the entry is free */
	struct publisher *publisher;
	int64_t source_ns, publish_ns, send_ns;
	struct thread *thread;
	bool taken;
	bool also_intra;		/* the same call served subscriptions of its process */
};

/*
 * How many messages of a publisher are remembered until they are taken: twice what publisher
 * and subscriptions can queue, and not less than what socket buffers may hold.
 */
#define SENT_MIN 256u
#define SENT_MAX 8192u

struct publisher {
	struct model_publisher pub;
	struct topic *topic;
	struct sent *sent;		/* ring of sent_size places */
	unsigned sent_size, sent_next;
	int64_t last_taken_ns;		/* publish time of its latest message that was taken */
};

struct subscription {
	struct model_subscription pub;
	struct topic *topic;
	struct subscription *next;	/* of the topic */
	bool has_intra;			/* it also has a ring buffer */
};

/* rclcpp's Subscription and SubscriptionIntraProcess: what callbacks hang on. */
struct subscription_object {
	uint64_t address;
	struct subscription *subscription;	/* NULL: rclcpp_subscription_init not seen yet */
	struct callback *callback;		/* NULL: callback_added not seen yet */
	int64_t linked_ns;		/* of rclcpp_subscription_init */
	int64_t buffered_ns;		/* of rclcpp_ipb_to_subscription */
	bool is_intra;
};

struct timer {
	struct model_timer pub;
	struct callback *callback;
};

struct service {
	struct model_service pub;
	bool has_callback;
};

struct callback {
	struct model_callback pub;
	bool registered;		/* rclcpp_callback_register seen */
	int64_t registered_ns;
};

/* A message in a ring buffer. */
struct place {
	struct model_message message;
	uint64_t index;			/* within the buffer */
	struct place *next, *previous;	/* of the buffer, or of the free ones */
};

/* More messages than this cannot lie in one buffer; a damaged trace may say so. */
#define PLACES_MAX 65536u

struct buffer {
	uint64_t number;		/* scope of its keys in the `places` map */
	int64_t born_ns;
	struct place *places;
	unsigned place_count;
	struct subscription_object *object;	/* NULL: unknown */
};

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
	const struct ctf_event *event;
	struct thread *thread;
	struct process *process;
	int64_t ns;			/* of the event */
	int64_t true_ns;		/* when it really happened: init_timestamp, else ns */
};

typedef void (*handler)(struct model *model, const struct now *now);

/* What to do with the events of one row of the bind table. */
struct bound {
	handler handle;
	bool is_init;
	uint8_t true_time;		/* CARET: index of its init_timestamp field; 0: none */
};

struct trace {
	uint32_t host;
	const char *hostname;
	int64_t clock_offset_ns;	/* epoch minus trace clock */
	bool known;
};

struct model {
	struct pool pool;
	struct list list[MODEL_KINDS];
	struct map handles;		/* (address, process and enum handle) */
	struct map processes;		/* (pid, host) */
	struct map threads;		/* (tid, process index) */
	struct map topics;		/* (hash of the name, probe) */
	struct map sent;		/* (source timestamp, topic index) -> struct sent */
	struct map places;		/* (index, buffer number) -> struct place */
	struct place *free_places;
	uint64_t buffers;

	struct trace *trace;
	unsigned trace_count;
	uint32_t host_count;
	struct stream *stream;
	unsigned stream_count;

	struct ctf_bind *bind;
	struct bound *bound;		/* beside each row of bind */
	unsigned bind_count;

	const struct model_listener *listener[MODEL_LISTENERS_MAX];
	void *listener_context[MODEL_LISTENERS_MAX];
	unsigned listeners;

	uint64_t last_id;
	struct model_facts facts;
	bool out_of_memory;
};

/* The handler of each point; NULL: nothing to do. */
extern const handler model_object_handlers[KYMO_POINTS_TABLE];	/* objects.c */
extern const handler model_flow_handlers[KYMO_POINTS_TABLE];	/* flow.c */
extern const handler model_intra_handlers[KYMO_POINTS_TABLE];	/* intra.c */
extern const handler model_run_handlers[KYMO_POINTS_TABLE];	/* runs.c */

#define EMIT(model, what, ...)								\
	do {										\
		for (unsigned emit_ = 0; emit_ < (model)->listeners; emit_++)		\
			if ((model)->listener[emit_]->what)				\
				(model)->listener[emit_]->what(				\
					(model)->listener_context[emit_], __VA_ARGS__);	\
	} while (0)

/* model.c */
struct thread *model_thread_of(struct model *model, const struct ctf_event *event);
struct stream *model_stream_at(struct model *model, uint32_t stream);
void *model_object_new(struct model *model, enum model_kind kind, size_t size);
void *model_alloc(struct model *model, size_t size);
const char *model_keep(struct model *model, const char *text, size_t length);
const char *model_text(struct model *model, const struct ctf_value *value);
void *model_handle(const struct model *model, const struct process *process, enum handle kind,
		   uint64_t address);
void model_handle_set(struct model *model, const struct process *process, enum handle kind,
		      uint64_t address, void *object);
struct topic *model_topic_named(struct model *model, const struct ctf_value *name);

/* objects.c */
struct callback *model_callback_unknown(struct model *model, const struct now *now,
					uint64_t address);
struct subscription_object *model_object_of_callback(struct model *model, const struct now *now,
						     uint64_t address);
void model_object_link(struct subscription_object *object);

/* bind.c */
int model_bind_build(struct model *model);

/* runs.c */
void model_frame_abandon(struct model *model, struct thread *thread, unsigned at);

/* flow.c */
void model_taken_flush(struct model *model, struct thread *thread);
void model_taken_set(struct model *model, struct thread *thread,
		     const struct model_message *message);
void model_flow_loss(struct model *model, const struct ctf_event *event);
void model_flow_finish(struct model *model);

#endif
