/* SPDX-License-Identifier: Apache-2.0 */
/* State of one export of a ROS 2 trace to Perfetto. */
#ifndef KYMO_EXPORT_PERFETTO_INTERNAL_H
#define KYMO_EXPORT_PERFETTO_INTERNAL_H

#include "analysis/model/model.h"
#include "analysis/spans/spans.h"
#include "base/array.h"
#include "base/map.h"
#include "export/perfetto/perfetto.h"
#include "export/pft/pft.h"

/*
 * The limit for arrows of one message; further subscriptions get none. Each arrow costs 10 bytes in
 * every event that it touches. flow_id() has 6 bits for it.
 */
#define FLOWS_MAX 64
/* The limit for arrows that leave one callback; those of further messages begin at the publish
 * instant. */
#define DEPARTURES_MAX 64
/* A subscription that took none of so many messages of its topic has probably ended: no arrow until
 * it takes one. */
#define SILENT_MAX 256

enum by {
	BY_PROCESS,
	BY_THREAD,
	BY_NODE,
	BY_PUBLISHER,
	BY_SUBSCRIPTION,
	BY_RUNS, /* by subscription */
	BY_TIMER,
	BY_SERVICE,
	BY_CLIENT,
	BY_ACTION_SERVER, /* by its service "send_goal" */
	BY_ACTION_CLIENT, /* likewise */
	BY_EXECUTOR,      /* by thread */
	BY_CALLBACK,
	BY_TOPIC,
	BY_TOPIC_COUNTERS,
	BY_STREAM,
	BY_SPAN_NAME,
	BY_SPAN_TRACK,
	BY_READ, /* by stream */
	BY_BEHAVIOUR,
	BY_COROUTINE, /* by callback */
	BY_COUNT
};

/* Of a growing trace: events that were read, and how many of these the reader will return again. */
struct stream_state {
	uint64_t taken, again;
};

struct departure {
	int64_t ns;
	uint64_t flow;
};

/* Open spans of programs on a track. Spans that began before the window enclose all others. */
struct span_depth {
	uint32_t shown;
	uint32_t late;			/* begun after the window: inside all others */
};

struct perfetto_thread {
	struct pft_track *track;
	struct span_depth spans;
	int64_t last_end_ns; /* of the callbacks that returned */
	struct model_message
		pending; /* published within the process, perhaps not only; id 0: none */
	struct departure departure[DEPARTURES_MAX];
	uint32_t departures;
};

struct process_state {
	struct pft_track *track;
	const char *name;		/* as described last */
};

struct node_state {
	struct pft_track *track, *lifecycle;
	bool in_state;
};

struct publisher_state {
	struct pft_track *track;
	uint32_t name, intra;		/* of its publications */
};

struct subscription_state {
	struct pft_track *track, *latency, *waiting;
	uint32_t name;			/* of what it takes; 0: not yet made */
	uint32_t drop[3];		/* of what it loses, by enum model_drop */
	uint32_t slot;			/* of its topic, where topic_state says so */
	uint64_t waited;		/* last value of waiting, plus one; 0: none yet */
};

/* Slices that overlap on one track get as many rows as they need, up to so many. */
#define LANES_MAX 16

/* What happens in a call, each with a name of its own. */
enum call_part {
	CALL_REQUEST, CALL_RESPONSE, CALL_RUN, CALL_SERVE,
	CALL_PARTS
};

/* A timer, a service, a client, an end of an action. */
struct lanes {
	struct pft_track *track[LANES_MAX];
	uint32_t name[CALL_PARTS];	/* of its slices; 0: not yet made */
	int64_t end_ns[LANES_MAX];
};

/* Counters of a topic. */
struct topic_counters {
	struct pft_track *track, *rate, *dropped;
	struct pft_track *latency;	/* to unknown subscriptions */
	int64_t second;			/* that is being counted, from the first one of the file */
	uint64_t in_second, drops;
	uint64_t published;		/* in all */
	struct perfetto_publication
		*latest; /* the last PUBLISHED_MAX, by their number modulo that */
};

struct perfetto_publication {
	uint64_t id;
	int64_t ns;
};

/* More newer messages than this are not counted when one is taken. */
#define PUBLISHED_MAX 1024u

/* The subscriptions that an arrow of a topic's messages may lead to. */
struct topic_state {
	uint64_t published;
	uint32_t slots;
	struct {
		uint32_t subscription; /* index */
		uint64_t heard; /* value of published when the subscription was created or took a
				   message */
	} slot[FLOWS_MAX];
};

/* The same in every run of a callback. */
struct callback_state {
	uint32_t name;
	uint8_t args;
	struct pft_arg arg[6];
};

/* clang-format off */
/* Texts that are used all the time, as pft_string() numbers: categories, names and arguments. */
#define EXPORT_WORDS(WORD) \
	WORD(callback, "callback") WORD(unfinished, "unfinished") WORD(publish, "publish") \
	WORD(take, "take") WORD(dropped, "dropped") WORD(lifecycle, "lifecycle") \
	WORD(timer, "timer") WORD(call, "call") WORD(executor, "executor") \
	WORD(link, "link") WORD(run, "run") WORD(node, "node") \
	WORD(topic, "topic") WORD(service, "service") WORD(period_ns, "period_ns") \
	WORD(symbol, "symbol") WORD(is_intra_process, "is_intra_process") \
	WORD(dds_write_ns, "dds_write_ns") WORD(network_ns, "network_ns") WORD(dds_read_ns, "dds_read_ns") \
	WORD(cache_ns, "cache_ns") WORD(unsplit_ns, "unsplit_ns") \
	WORD(latency_ns, "latency_ns") WORD(source_timestamp, "source_timestamp") \
	WORD(message, "message") WORD(action, "action") WORD(goal_id, "goal_id") \
	WORD(status, "status") WORD(feedback, "feedback") WORD(feedback_gap_ns, "feedback_gap_ns") \
	WORD(awaited, "awaited")
/* clang-format on */

#define EXPORT_WORD(name, text) uint32_t name;
struct words {
	EXPORT_WORDS(EXPORT_WORD)
	uint32_t executor_state[3];
};

struct exporter {
	struct pft *pft;
	struct model *model;
	struct behaviour *behaviour; /* NULL: no model was given */
	struct pft_track *behaviour_track;
	struct spans *spans;
	struct map counters;	/* (name << 32 | process, track + 1 or 0) -> pft_track */
	struct kymo_ctf_reader *reader;
	const struct perfetto_options *options;
	struct perfetto_result *result;
	struct words words;
	int64_t offset_ns;	/* epoch minus the clock of the Perfetto trace */
	int64_t now_ns;		/* of the event being read */
	uint64_t flow_base;	/* the upper 24 bits of all arrows; not 0 */
	unsigned clocks_written;	/* of options->clock */
	int64_t next_clock_ns;		/* Perfetto time of the next of them */
	bool finishing;
	uint32_t subscriptions_seen;
	struct pft_track *ros, *no_node, *topics, *lost;
	unsigned classes;	/* that were bound */
	unsigned parts;		/* begun, without the first */
	uint64_t links;		/* arrows along links, so far */
	int64_t first_ns;	/* where the first second of rates begins */
	struct array by[BY_COUNT];
	struct map feedback; /* number of a goal -> struct goal_feedback: perfetto_goals.c */
	bool out_of_memory;
};

/**
 * export_time() - Perfetto time of a time since the epoch
 *
 * Times are untrusted input: a time before the clock's zero becomes 0, and nothing overflows.
 */
int64_t export_time(const struct exporter *exporter, int64_t epoch_ns);

/** export_in_window() - does the file contain what begins at @epoch_ns? */
static inline bool export_in_window(const struct exporter *exporter, int64_t epoch_ns)
{
	return epoch_ns >= exporter->options->begin_ns && epoch_ns <= exporter->options->end_ns;
}

/*
 * Readers draw arrows within a machine only. The tracks of ROS 2 belong to that of the first host,
 * so the arrows of a message reach callbacks of that host on their threads.
 */
static inline bool export_arrows_reach(const struct model_process *process)
{
	return !process->host;
}

/** export_top() - a track at the top, for all hosts of the file. */
struct pft_track *export_top(struct exporter *exporter, const char *name);

/** export_comparable() - do both threads have the same clock? NULL: unknown. */
static inline bool export_comparable(const struct model_thread *a, const struct model_thread *b)
{
	return a && b && a->process->host == b->process->host;
}

/** export_is_wanted() - do the options choose @node and @topic? NULL: none. */
bool export_is_wanted(const struct exporter *exporter, const struct model_node *node,
		      const struct model_topic *topic);

/** by_index() - the element of @index, @size bytes, or NULL with out_of_memory set. */
void *by_index(struct exporter *exporter, enum by what, uint32_t index, size_t size);
#define BY_INDEX(exporter, what, index, type) \
	((type *)by_index(exporter, what, index, sizeof(type)))
/* The same where the element is only a track: a place for it, NULL in it until it is created. */
#define TRACK_BY_INDEX(exporter, what, index) BY_INDEX(exporter, what, index, struct pft_track *)

/* Tracks, created when first needed; NULL: out of memory. */
struct pft_track *export_process(struct exporter *exporter, const struct model_process *process);
struct perfetto_thread *export_thread(struct exporter *exporter, const struct model_thread *thread);
struct pft_track *export_publisher(struct exporter *exporter,
				   const struct model_publisher *publisher);
struct pft_track *export_subscription(struct exporter *exporter,
				      const struct model_subscription *subscription);
/*
 * The order of tracks below a node: kinds as listed here, within a kind as the node created them.
 */
enum entity {
	ENTITY_LIFECYCLE,
	ENTITY_PUBLISHER,
	ENTITY_SUBSCRIPTION,
	ENTITY_CALLBACK,
	ENTITY_TIMER,
	ENTITY_SERVICE,
	ENTITY_CLIENT,
	ENTITY_ACTION_SERVER,
	ENTITY_ACTION_CLIENT,
	ENTITY_COROUTINE,
	ENTITY_UNKNOWN_NODE
};

/** export_entity() - a track below @node (NULL: unknown); @index: of the object, within its
 * kind. */
struct pft_track *export_entity(struct exporter *exporter, const struct model_node *node,
				enum entity entity, uint32_t index, const struct pft_look *look);

struct node_state *export_lifecycle(struct exporter *exporter, const struct model_node *node);
/* perfetto_behaviour.c */
struct behaviour_interval;
void export_behaviour(void *exporter, const struct behaviour_interval *interval);

struct pft_track *export_stream(struct exporter *exporter, uint32_t stream);
void export_process_names(struct exporter *exporter);

/** export_flows() - one arrow per living subscription of the message's topic. Return: how many. */
unsigned export_flows(struct exporter *exporter, const struct model_message *message,
		      uint64_t flow[FLOWS_MAX]);

/** export_published() - one more message of @topic, which may be NULL. */
void export_published(struct exporter *exporter, const struct model_topic *topic);

/** export_flow() - the arrow to @subscription, 0: none. */
uint64_t export_flow(struct exporter *exporter, const struct model_message *message,
		     const struct model_subscription *subscription);

/*
 * Names of events contain topic and node, as people search for them:
 *
 *   export_publication()	"/lidar_driver → /scan"
 *   export_reception()		"/scan → /planner"
 *   export_drop()		"/scan → /planner dropped: overwritten"
 *
 * @publisher, @subscription: NULL: not in the trace. Return: as pft_string(). Context: allocate,
 * the first time.
 */
uint32_t export_publication(struct exporter *exporter, const struct model_publisher *publisher,
			    bool intra);
uint32_t export_reception(struct exporter *exporter, const struct model_subscription *subscription);
uint32_t export_drop(struct exporter *exporter, const struct model_message *message,
		     enum model_drop why);

/** export_named() - the text of @format as pft_string(), for names that few events have. */
__attribute__((format(printf, 2, 3)))
uint32_t export_named(struct exporter *exporter, const char *format, ...);

/** export_node_name() - of @node; NULL: "(node unknown)". */
static inline const char *export_node_name(const struct model_node *node)
{
	return node ? node->full_name : "(node unknown)";
}

/** export_callback() - name and constant arguments of a callback, or NULL: out of memory. */
const struct callback_state *export_callback(struct exporter *exporter,
					     const struct model_callback *callback);

/** export_pending() - the same for one thread. */
void export_pending(struct exporter *exporter, struct perfetto_thread *thread);

/* perfetto_callbacks.c: of struct model_listener. */
void export_instance(void *context, const struct model_instance *instance);
void export_unfinished(void *context, const struct model_instance *instance);

/** export_publishes() - write the publish instants that waited for their other half. */
void export_publishes(struct exporter *exporter);

/** export_mix() - the arrow of @flow, a number of a program's or of our own, in this trace. */
uint64_t export_mix(const struct exporter *exporter, uint64_t flow);

/*
 * perfetto_services.c: runs below their node. @call: the slice of the run on its thread; if arrows
 * do not reach that thread, they lead to the slice below the node instead.
 */
void export_run(struct exporter *exporter, const struct model_instance *instance,
		const struct pft_event *call);
/* perfetto_awaits.c */
/** export_awaits() - does an arrow leave the run for the one that goes on? *@flow: its number. */
bool export_awaits(const struct exporter *exporter, const struct model_instance *instance,
		   uint64_t *flow);
/** export_resumed() - does an arrow arrive from the run before an await? Shows the await, too. */
bool export_resumed(struct exporter *exporter, const struct model_instance *instance,
		    uint64_t *flow);

uint64_t export_call_flow(const struct exporter *exporter, uint64_t call);
void export_call(void *context, const struct model_call *call); /* of struct model_listener */

/* perfetto_goals.c, of struct model_listener: goals of actions, below the nodes of both ends. */
void export_goal(void *context, const struct model_goal *goal);
/* Keeps a message of feedback until export_goal(). */
void export_goal_step(void *context, const struct model_goal_step *step);
void export_goals_free(struct exporter *exporter);

/* perfetto_counters.c: counters of a topic's messages, as far as they are shown. */
void export_count_published(struct exporter *exporter, const struct model_message *message);
void export_count_taken(struct exporter *exporter, const struct model_message *message);
void export_count_dropped(struct exporter *exporter, const struct model_message *message);
/** export_counters_finish() - write the last values. */
void export_counters_finish(struct exporter *exporter);
void export_counters_free(struct exporter *exporter);

/* perfetto_links.c, of struct model_listener: an arrow along a message link; what the thread of an
 * executor did. */
void export_cause(void *context, const struct model_cause *cause);
void export_executor(void *context, const struct model_executor_interval *interval);

/** export_kernel() - a pass over the kernel's events, if there are any. Return: 0; -1 with @err.
 * perfetto_kernel.c. */
int export_kernel(struct exporter *exporter, struct kymo_err *err);

/** export_words() - number the texts of struct words. */
void export_words(struct exporter *exporter);

/** export_listener - writes what happens in the model. */
extern const struct model_listener export_listener;

/** export_span_listener - writes spans, instants and counters of programs. perfetto_spans.c. */
extern const struct spans_listener export_span_listener;

#endif
