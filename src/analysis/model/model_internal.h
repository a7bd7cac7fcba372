/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the model. This header is shared by
 *     model_store.c      the stored objects and their indexes; all other files build on it
 *     model.c            life cycle, dispatch, losses; it calls the parts:
 *     model_objects.c    init events                       model_flow.c       messages through the middleware
 *     model_callbacks.c  ... of callbacks                  model_intra.c      messages within a process
 *     model_groups.c     ... of callback groups            model_path.c       messages inside the middleware, and step by step
 *     model_lifecycle.c  state machines                    model_runs.c       starts and ends of callbacks
 *     model_links.c      indirect causes                   model_executors.c  executors, and states of their threads
 *     model_services.c   service calls                     model_caret.c      CARET's events
 *     model_callers.c    ... their clients                 model_actions.c    goals of actions
 *     model_startup.c    what is start-up                  model_goals.c      ... the open and the ended ones
 *     model_sent.c       messages that can still be received
 * and by model_bind.c and model_attach.c (the bound events), model_clock.c (errors between hosts'
 * clocks) and model_names.c. Structs of objects begin with their public part.
 */
#ifndef KYMO_ANALYSIS_INTERNAL_H
#define KYMO_ANALYSIS_INTERNAL_H

#include <string.h>

#include "abi/points.h"
#include "analysis/model/model.h"
#include "analysis/model/model_events.h"
#include "base/map.h"
#include "base/pool.h"

#define TIME_MAX MODEL_TIME_MAX

/*
 * The meaning of an address in the `handles` map. The scope of a key is process index << 8 | this.
 */
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
	/* Facts about an rcl or rmw handle, whose events may come before its init event. */
	HANDLE_GID_PUBLISHER,
	HANDLE_GID_SUBSCRIPTION,
	HANDLE_GID_CLIENT,
	HANDLE_TYPE, /* by the address of the middleware's object */
	HANDLE_QOS,  /* likewise */
	HANDLE_MEMBER_TIMER,
	HANDLE_MEMBER_SUBSCRIPTION,
	HANDLE_MEMBER_SERVICE,
	HANDLE_MEMBER_CLIENT,
	HANDLE_COPY, /* model_caret.c: a message's address within the process */
};

/* Work that costs time per event and is done only if a listener needs the result. */
enum want {
	WANT_STARTED = 1u << 0,
	WANT_PUBLISH_STEPS = 1u << 1,
	WANT_TAKE_STEPS = 1u << 2,
	WANT_CALLS = 1u << 3,
	WANT_STATES = 1u << 4,
	WANT_EXECUTORS = 1u << 5,
	WANT_CAUSES = 1u << 6,
	WANT_SIM_TIME = 1u << 7,
	WANT_GOALS = 1u << 8,
	WANT_GIL = 1u << 9,
};

#include "analysis/model/model_internal_threads.h"
#include "analysis/model/model_internal_objects.h"

/* A growing list of pointers, one per kind of object. */
struct list {
	void **item;
	unsigned count, size;
};

/* The event in progress, and what is known about it. */
struct now {
	const struct kymo_ctf_event *event;
	struct thread *thread;
	struct process *process;
	int64_t ns;			/* of the event */
	int64_t true_ns;		/* when it really happened: init_timestamp, else ns */
};

typedef void (*handler)(struct model *model, const struct now *now);

/* The handling of the events of one row of the bind table. */
struct bound_row {
	handler handle;			/* NULL: no listener needs it */
	unsigned point;
	bool is_init;
	bool counts;			/* it is an event of its process, see model_event() */
	uint8_t true_time;		/* CARET: index of its init_timestamp field; 0: none */
};

/* Listeners that have one of the functions, by their numbers: most listeners have few of them. */
struct hearers {
	struct {
		const struct model_listener *listener;
		void *context;
	} of[MODEL_LISTENERS_MAX];
	unsigned count;
};
#define MODEL_HEARS (sizeof(struct model_listener) / sizeof(void (*)(void)))

struct model {
	/* The attached reader; NULL: the events have another source. */
	const struct kymo_ctf_reader *reader;
	struct pool pool;
	struct code_file *code_file;	/* NULL: none was looked into */
	struct code *looked; /* whose location was looked for */
	struct list list[MODEL_KINDS];
	struct map handles;		/* (address, process and enum handle) */
	struct map processes;		/* (pid, host) */
	struct map threads;		/* (tid, process index) */
	struct map topics;		/* (hash of the name, probe) */
	struct map words;		/* likewise: texts that occur again and again */
	/* model_path.c: (source timestamp, process or reader) -> struct way */
	struct map ways;
	struct ways *way_ring;		/* created with the first one */
	struct map sent;		/* (source timestamp, topic index) -> struct sent */
	struct map places;		/* (index, buffer number) -> struct place */
	struct place *free_places;
	uint64_t buffers;

	struct trace *trace;
	unsigned trace_count;
	uint32_t host_count;
	struct stream *stream;
	unsigned stream_count;
	/* Of the event whose thread was looked for last; at first, of no event. */
	struct {
		char whose[EVENT_WHOSE_SIZE];
		struct thread *thread;
	} latest;

	struct kymo_ctf_bind *bind;
	struct bound_row *bound;		/* parallel to the rows of bind */
	unsigned bind_count;
	unsigned bind_also;		/* rows of other analyses after the model's rows */

	const struct model_listener *listener[MODEL_LISTENERS_MAX];
	void *listener_context[MODEL_LISTENERS_MAX];
	unsigned listeners;
	struct hearers hearers[MODEL_HEARS]; /* by function of struct model_listener */
	/* Called before an object is made or changed, while listeners are behind. */
	void (*settle)(void *context);
	void *settle_context;
	unsigned wants;			/* enum want, of all listeners */
	bool bind_all;			/* model_want_all() */
	bool only_runs;                 /* model_only_runs() */
	bool without_messages;          /* model_only_objects() */
	bool only_inits;                /* the same */
	bool without_startup;           /* model_without_startup() */

	struct map callers;		/* (first eight bytes of the gid, 0) -> struct caller */
	struct map calls;		/* (sequence number, caller) -> struct call */
	struct call *oldest_call, *newest_call, *free_calls;
	unsigned call_count;
	uint64_t caller_count, last_call;

	struct map goals;      /* (the first half of the id, the second) -> struct goal */
	struct map goal_calls; /* struct goal_key -> struct goal */
	struct goal *oldest_goal, *newest_goal, *first_ended, *last_ended, *free_goals;
	struct goal *over_goal[GOALS_OVER]; /* ring */
	unsigned goal_count, next_over;
	uint64_t last_goal;

	struct coroutines {
		struct map waiting; /* (number, process index) -> struct coroutine */
		struct coroutine *oldest, *newest, *unused, *all;
		unsigned count;
	} coroutines; /* of rclpy, model_awaits.c */

	struct copy *copy;		/* ring of COPIES_MAX, created with the first one */
	unsigned next_copy;

	struct rule *rules;
	unsigned orphans;		/* clients and services without a node yet */

	int64_t lost_end_ns; /* the latest loss of events of programs ended then */
	uint64_t last_id, last_instance;
	struct model_facts facts;
	bool stamps_follow;		/* source timestamps come in events after the write */
	bool timers_and_subscriptions;  /* an address was used for both, in one process */
	bool has_pauses;                /* of the recorder, in any trace */
	unsigned most, facts_count;     /* model_limit(); 0: no limit */
	bool out_of_memory;
};

/*
 * A part of the model: how it handles events, and what it forgets after a loss. Any member may be
 * NULL. model_bind.c lists the parts.
 */
struct model_part {
	const handler *handlers;	/* by KYMO_POINT_*; NULL: event not used */
	/* Events of @thread were lost: the part must not rely on its state of @thread any more. */
	void (*doubt)(struct model *model, struct thread *thread);
	/* The trace is over: called for each thread, then finish() once. */
	void (*thread_end)(struct model *model, struct thread *thread);
	void (*finish)(struct model *model);
};

extern const struct model_part model_objects, model_callbacks, model_groups, model_lifecycle,
	model_links, model_flow, model_intra, model_runs, model_executors, model_services,
	model_caret, model_content, model_path, model_lost, model_actions, model_code, model_awaits;

/* model_bind.c */
#define MODEL_PARTS 17
extern const struct model_part *const model_parts[MODEL_PARTS];

/* Which of its functions @what is. */
#define MODEL_HEAR(what) (offsetof(struct model_listener, what) / sizeof(void (*)(void)))

#define EMIT(model, what, ...)                                                        \
	do {                                                                          \
		const struct hearers *hearers_ = &(model)->hearers[MODEL_HEAR(what)]; \
		for (unsigned emit_ = 0; emit_ < hearers_->count; emit_++)            \
			hearers_->of[emit_].listener->what(                           \
				hearers_->of[emit_].context, __VA_ARGS__);            \
	} while (0)

/* model_startup.c: was an object created within the trace, as far as that matters? */
bool model_is_born_here(const struct model *model, int64_t born_ns);
/* Is a run part of it, of which callback, times and message are known? */
bool model_frame_is_startup(const struct frame *frame);
/* Of a goal with its ends. @first_result_ns: of its client's first goal; 0: it had no result. */
bool model_goal_is_startup(const struct model *model, const struct model_goal *goal,
			   int64_t first_result_ns);

/* model_awaits.c */
void model_coroutines_free(struct model *model);
/* @frame begins after an await: its coroutine, if it is known. */
void model_coroutine_resumed(struct model *model, const struct now *now, struct frame *frame);
/* @frame ends: does its coroutine go on later? Sets frame->awaits. */
void model_coroutine_awaits(struct model *model, const struct thread *thread, struct frame *frame);
/* @frame has ended at @ns, and was reported. */
void model_coroutine_ended(struct model *model, struct frame *frame, int64_t ns);
/* Nobody needs @coroutine any more; NULL: nothing to do. */
void model_coroutine_over(struct model *model, struct coroutine *coroutine);

/* model_goals.c */
/* Half of the id of a goal, for maps. */
static inline uint64_t model_goal_word(const uint8_t *bytes)
{
	uint64_t number;

	memcpy(&number, bytes, sizeof(number));
	return number;
}

/* Of those that ended; without one, of the open ones. */
void model_goal_report_oldest(struct model *model);
void model_goal_end(struct model *model, struct goal *goal, int64_t ns);
/* Return: NULL: none, or it is over. @make: begin one that is not known yet. */
struct goal *model_goal_at(struct model *model, const struct now *now,
			   const struct kymo_ctf_value *value, bool make);

/* model_actions.c: a run of @thread ended that its executor called. */
void model_goal_ran(struct thread *thread, const struct callback *callback, int64_t start_ns,
		    int64_t end_ns);

static inline void model_settle(const struct model *model)
{
	if (__builtin_expect(model->settle != NULL, 0))
		model->settle(model->settle_context);
}

/* model_store.c */
struct thread *model_thread_find(struct model *model, const struct kymo_ctf_event *event);
/* Most events follow an event of the same thread in the same stream. */
static inline struct thread *model_thread_of(struct model *model,
					     const struct kymo_ctf_event *event)
{
	if (__builtin_expect(memcmp((const char *)event + EVENT_WHOSE, model->latest.whose,
				    sizeof(model->latest.whose)) == 0, 1))
		return model->latest.thread;
	return model_thread_find(model, event);
}
/* The same, but NULL if the thread is not known yet. */
struct thread *model_thread_at(const struct model *model, const struct kymo_ctf_event *event);
struct stream *model_stream_at(struct model *model, uint32_t stream);
void *model_object_new(struct model *model, enum model_kind kind, size_t size);
void *model_alloc(struct model *model, size_t size);
/* The limit is reached: another object of @kind would have no room. */
static inline bool model_is_full(const struct model *model, enum model_kind kind)
{
	return model->most && model->list[kind].count >= model->most;
}
/* What an event says of an address before its object comes. NULL: no room, or no memory. */
void *model_fact_new(struct model *model, size_t size);
const char *model_keep(struct model *model, const char *text, size_t length);
const char *model_text(struct model *model, const struct kymo_ctf_value *value);
static inline uint64_t model_scope_of(const struct process *process, enum handle kind)
{
	return (uint64_t)process->pub.index << 8 | kind;
}
static inline void *model_handle(const struct model *model, const struct process *process,
				 enum handle kind, uint64_t address)
{
	return map_get(&model->handles, address, model_scope_of(process, kind));
}
void model_handle_set(struct model *model, const struct process *process, enum handle kind,
		      uint64_t address, void *object);
void model_handle_drop(struct model *model, const struct process *process, enum handle kind,
		       uint64_t address);
struct topic *model_topic_named(struct model *model, const struct kymo_ctf_value *name);
const char *model_word(struct model *model, const struct kymo_ctf_value *value);

/* model_callbacks.c */
struct callback *model_callback_unknown(struct model *model, const struct now *now,
					uint64_t address);
struct subscription_object *model_object_of_callback(struct model *model, const struct now *now,
						     uint64_t address);
void model_object_link(struct subscription_object *object);

/* model_pauses.c */
/* The host and the clock of a trace of the reader; a trace that grows has more of them later. */
int model_learn_trace(struct model *model, uint32_t trace);
int model_read_pauses(struct model *model, const struct kymo_ctf_reader *reader);
/* model_resumed(); most traces have no pause. */
static inline int64_t model_resumed_of(const struct model *model, const struct thread *thread,
				       int64_t ns)
{
	return model->has_pauses ? model_resumed(model, &thread->pub, ns) : INT64_MIN;
}

/* model_groups.c */
const struct model_callback_group *model_member_of(const struct model *model,
						   const struct process *process, enum handle kind,
						   uint64_t handle, int64_t born_ns);
/* The object with this @handle, a member of *@group, is of @node: *@group may be another one. */
void model_member_node(struct model *model, const struct now *now, enum handle kind,
		       uint64_t handle, const struct model_node *node,
		       const struct model_callback_group **group);

/* model_executors.c */
/* The executor at @address at @ns; the oldest one if all are younger. NULL: none. */
struct executor *model_executor_at(const struct model *model, const struct process *process,
				   uint64_t address, int64_t ns);
struct executor *model_executor_new(struct model *model, const struct now *now, uint64_t address);
struct collector *model_collector_at(struct model *model, const struct now *now, uint64_t address);
/* Sets the executor of @group, from its link. */
void model_group_resolve(const struct model *model, struct group *group);

/* model_bind.c */
int model_bind_build(struct model *model);
void model_bind_update(struct model *model);
/* Whether a listener that wants enum want @wants needs events that the reader was not bound to. */
bool model_bind_is_late(const struct model *model, unsigned wants);

/* model_runs.c */
/*
 * The callback that runs on @thread, or NULL. Also NULL when the end of that callback may have been
 * lost.
 */
struct frame *model_frame_of(struct thread *thread);

/* model_lifecycle.c */
struct service *model_service_waiting(struct process *process);

/* model_callers.c */
/* The client with this gid, which is new if need be; NULL: no gid, or no memory. */
struct caller *model_caller_of_gid(struct model *model, const struct kymo_ctf_value *value);
struct caller *model_caller_of_client(struct model *model, const struct service *client);
void model_client_gid(struct model *model, const struct gid *gid, struct service *client);

/* model_services.c */
void model_call_started(struct model *model, struct thread *thread, struct frame *frame);
void model_call_ended(struct model *model, const struct frame *frame, int64_t end_ns);

/* model_links.c */
void model_rules_publisher(struct model *model, struct publisher *publisher);
void model_rules_subscription(struct model *model, struct subscription *subscription);
void model_link_started(const struct frame *frame);
void model_link_ended(const struct frame *frame, int64_t ns);

/* model_code.c */
/* The code of callbacks of @process with this symbol, or NULL. */
struct code *model_code_of(const struct process *process, const char *symbol);
void model_code_free(struct model *model);


#endif
