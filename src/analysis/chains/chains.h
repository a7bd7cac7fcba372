/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of causes: a callback runs and publishes, the message reaches another callback, which
 * publishes in turn. The analysis follows every message through a model. For each distinct path it
 * counts the messages that followed the path, records where they stopped, and measures each part of
 * the path.
 *
 *   callback --publishes--> topic --is delivered--> callback --publishes--> topic ...
 *
 * Requests and responses of services (tracetools 8.5) are messages on a topic with the service's
 * name. The client's callback has no events: see chains_calls.c.
 *
 * A path is a sequence of steps, alternating between callbacks and topics. It begins with a
 * callback that no known message caused (a timer, a service, a message from outside the trace), or
 * with a publish call outside of any callback. All paths together are a tree: a step has one step
 * before it and any number of steps after it (fan-out). A message that follows from several
 * callbacks (fan-in, by message links) continues several paths. A path ends at a callback that is
 * already part of it (`is_loop`); the run of that callback begins a new path.
 *
 * The time of one arrival is cut into segments. Their sum is exactly end minus begin:
 *
 *   callback  |-- run ------|                                      |-- run ...
 *             start         publish call   handed over   taken      start
 *                           |-- publish --|-- transport, wait --|-- take --|
 *
 *   publish    start of the publish call until rmw_publish; within a process until the enqueue. A
 *              call that uses both paths begins with rclcpp_intra_publish
 *   transport  from there to the take (dequeue), without ...
 *   wait       the part of it during which the receiving thread ran other callbacks
 *   take       the take until callback_start
 *   run        callback_start until the publish call; until callback_end when nothing follows or
 *              the next message is linked indirectly
 *   cached     after an indirect link: end of the callback until the publish call
 *   awaited    of a coroutine: from the end of its run at an await until it goes on; `run` is its
 *              first run then, and
 *   resumed    its runs after that
 *
 * A path that ends with a topic ends where the publish call begins. Service calls have no publish
 * segment and, at the client, no take segment. If a client's callback ends the path, the path ends
 * where that callback begins.
 *
 * Memory: the paths, up to CHAINS_PATHS_MAX; the messages that can still be received, with their
 * causes, up to a window per publisher; the distributions of each shown path. Nothing else is kept.
 * chains_facts() counts everything beyond these limits.
 *
 * Context of all functions: not thread-safe; allocate as paths and messages appear.
 */
#ifndef KYMO_ANALYSIS_CHAINS_H
#define KYMO_ANALYSIS_CHAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "base/err.h"
#include "base/histogram.h"

#define CHAINS_STEPS_MAX 64		/* steps of a path; later steps begin a new path */
#define CHAINS_PATHS_MAX 100000
#define CHAINS_STEP_SEGMENTS 7u /* of each step, at most */
#define CHAINS_SEGMENTS_MAX (CHAINS_STEPS_MAX * CHAINS_STEP_SEGMENTS)
#define CHAINS_WORST_MAX 1000
#define CHAINS_UNTAKEN_MAX 1000		/* untaken messages of a path that are kept by number */

struct chains;

/* How a publication follows from the callback before it. */
enum chains_link {
	CHAINS_DIRECT,		/* published during the callback, by its thread */
	CHAINS_PERIODIC_ASYNC,	/* message_link_periodic_async */
	CHAINS_PARTIAL_SYNC,	/* message_link_partial_sync */
	/* Assumed: a timer of the node publishes the data that the node received last. */
	CHAINS_LATEST,
};

/* Requests and responses of services are messages; their topic is the service. */
enum chains_call {
	CHAINS_NO_CALL,
	CHAINS_REQUEST,
	CHAINS_RESPONSE,
};

enum chains_segment {
	CHAINS_RUN,
	CHAINS_CACHED,
	CHAINS_PUBLISH,
	CHAINS_TRANSPORT,
	CHAINS_WAIT,
	CHAINS_TAKE,
	CHAINS_AWAITED,
	CHAINS_RESUMED,
	CHAINS_SEGMENTS
};

/* One segment of an arrival's time. */
struct chains_part {
	enum chains_segment segment;
	/*
	 * Number of the callback's step in the path, from 0; for segments between callbacks: the
	 * callback that follows.
	 */
	unsigned step;
};

/* A step of one arrival. A topic has thread, publish_ns and id only. Unknown values are 0. */
struct chains_hop {
	const struct model_thread *thread;
	uint64_t id;
	int64_t publish_ns, send_ns, take_ns; /* of the message that the callback was called with */
	struct model_dds dds;                 /* of that message */
	int64_t start_ns, end_ns;             /* of the callback */
	int64_t source_ns;                    /* source timestamp of that message */
	/* Of a coroutine: its awaits, up to where the chain goes on. */
	const struct model_await *await;
	unsigned awaits;
};

/* One message's arrival at the end of a path. */
struct chains_arrival {
	int64_t begin_ns, total_ns;
	bool is_startup;                /* one of its runs is: model_is_startup() */
	uint64_t id;			/* of the latest publication in the arrival */
	int64_t *part_ns;		/* one entry per part of the path */
	struct chains_hop *hop;		/* one entry per step of the path; NULL: not requested */
};

struct chains_stats {
	struct histogram total;
	struct histogram startup; /* of these, the arrivals that are start-up */
	unsigned parts;
	struct chains_part *part;	/* of `parts` */
	struct histogram *part_ns;	/* of `parts` */
	/*
	 * Of a transport part and the wait after it, the same time inside the middleware:
	 * MODEL_DDS_PARTS for each part; NULL: nothing is known of any.
	 */
	struct histogram *inside;
	/* Largest error of each part, between the clocks of two hosts; else 0. */
	int64_t *part_error_ns;
	/* Largest error of the total, if begin and end are on two hosts; else 0. */
	int64_t error_ns;
	struct chains_arrival *worst;	/* longest first; options.steady_first: see there */
	unsigned worst_count;
	struct chains_arrival near, named,
		at; /* for near_ns, named_id, at_ns; part_ns is NULL: none */
};

/* Messages that the ring buffer of one subscription dropped. */
struct chains_drop {
	const struct model_subscription *subscription;
	uint64_t overwritten, cleared;
	struct chains_drop *next;
};

struct chains_path {
	uint32_t index;
	const struct chains_path *parent;          /* the step before; NULL: the path begins here */
	const struct chains_path *child, *sibling; /* steps after it: child, child->sibling, ... */
	const struct model_callback *callback;     /* this is set, */
	const struct model_publisher *publisher;   /* or this */
	enum chains_link link; /* of a publisher: the link to the callback before it */
	unsigned depth;        /* steps before this one */
	unsigned hops;         /* deliveries among these steps */
	/*
	 * Of a publisher: request or response, if the step is a client or service instead of a
	 * publisher.
	 */
	enum chains_call call;
	bool is_loop;     /* the callback is already part of the path */
	bool is_complete; /* the whole pattern is matched: the path ends here */

	uint64_t count;   /* runs or publications that reached this step */
	uint64_t parents; /* of the callback before: runs that published here at least once */
	uint64_t ended;   /* callback: runs that returned */
	uint64_t silent;  /* callback: runs that led to no publication of a path */
	uint64_t silent_unfinished; /* of them: runs without end in the trace */
	uint64_t between_hosts;     /* arrivals without times: the clocks of two hosts cannot be
				       compared */
	/*
	 * For a callback after a topic: messages that did not reach the callback, and the reason if
	 * it is known.
	 */
	uint64_t lost;		/* events were lost while the message could be received */
	uint64_t at_end;	/* not yet received when the trace ended */
	/*
	 * Numbers of the first undelivered publications, except for these two counts; requires
	 * options.hops, for the paths of options.collect only.
	 */
	const uint64_t *untaken;
	unsigned untaken_count;
	const struct chains_drop *drops;	/* topic */
	struct chains_stats *stats;		/* NULL: not collected, or nothing arrived */
};

/* A step of the tree of one message. A parent comes before the steps that followed from it. */
struct chains_tree_step {
	int32_t parent;			/* index; -1: none */
	unsigned depth;
	const struct model_callback *callback;
	const struct model_publisher *publisher;
	const struct model_thread *thread;
	enum chains_call call;
	/* A message that no subscription received, or that was not received by ... */
	bool is_dropped;
	/* This one; NULL: no subscription received it. */
	const struct model_subscription *subscription;
	enum model_drop why;
	enum chains_link link;
	/* Of the publication; of a run: of the message that it was called with; 0: none. */
	uint64_t id;
	int64_t begin_ns, end_ns;	/* end_ns -1: it did not end */
	int64_t publish_ns, send_ns, take_ns, wait_ns;	/* of the message; 0: not known */
	int64_t awaited_ns;             /* of a coroutine that ended: part of its time; else 0 */
	bool is_asked;			/* the requested message */
};
#define CHAINS_TREE_MAX 10000

struct chains_options {
	const char *pattern;      /* '/scan -> /planner -> /cmd_vel'; NULL: every chain */
	bool all_topics;          /* include /rosout and /parameter_events */
	bool calls;               /* the trace has events of service calls */
	bool latest;              /* assume CHAINS_LATEST where the trace names no link */
	int64_t begin_ns, end_ns; /* count chains that begin inside; INT64_MIN, INT64_MAX: all */
	unsigned worst;           /* number of longest arrivals to keep per path */
	/* When this many are kept of all paths together, a path has no more than 3; 0: no limit. */
	unsigned worst_all;
	/* Among the longest, those that are not start-up come first. */
	bool steady_first;
	bool hops;			/* ... with their hops */
	/* Keep also the arrival whose latency is nearest to this; 0: none. */
	int64_t near_ns;
	/* Keep also the longest arrival that contains this publication; 0: none. */
	uint64_t named_id;
	int64_t at_ns;			/* keep also the arrival that is under way then; 0: none */
	/*
	 * Paths are numbered in order of appearance, the same in each pass. Distributions are
	 * collected for the first CHAINS_EAGER paths, or for the paths whose bits are set here.
	 */
	const uint8_t *collect;
	uint32_t collect_bits;
	/* Called for each arrival with comparable times, when it is complete; NULL: not. */
	void (*arrived)(void *context, const struct chains_path *path,
			const struct chains_arrival *arrival);
	void *context;
	uint64_t follow_id;		/* keep the tree of this publication; 0: none */
	/* Or of the first chain that begins at this time or later; INT64_MIN: none. */
	int64_t follow_ns;
};
#define CHAINS_EAGER 2000u

struct chains_facts {
	uint64_t begun;             /* chains that began */
	uint64_t paths_exceeded;    /* steps that were not followed because of CHAINS_PATHS_MAX */
	uint64_t steps_exceeded;    /* chains cut at CHAINS_STEPS_MAX */
	uint64_t lookback_exceeded; /* messages received after they had left the window */
	/* Chains that were not followed: too many join in one message. */
	uint64_t fan_in_exceeded;
	unsigned links;			/* message links of the trace */
	bool latest_used;		/* some link was assumed */
	uint64_t tree_causes;		/* other chains that led to the requested message */
};

/**
 * chains_create() - listen to @model
 * @options: copied; the texts and bits must stay valid
 *
 * Return: 0, or -1 with @err filled (KYMO_EXIT_USAGE: the pattern is not valid).
 */
int chains_create(struct chains **chains, struct model *model,
		  const struct chains_options *options, struct kymo_err *err);
void chains_destroy(struct chains *chains);

/**
 * chains_forget_stats() - forget the distributions and the longest arrivals of all paths, for
 * results of one interval after the other
 *
 * Paths keep their numbers and counts; messages under way are followed further.
 */
void chains_forget_stats(struct chains *chains);

/** chains_finish() - call after model_finish(): count the messages that were not received. */
void chains_finish(struct chains *chains);

/** chains_failed() - did memory run out? The results are incomplete then. */
bool chains_failed(const struct chains *chains);

const struct chains_facts *chains_facts(const struct chains *chains);

unsigned chains_path_count(const struct chains *chains);
const struct chains_path *chains_path(const struct chains *chains, unsigned index);

/** chains_is_chain() - is @path worth a row: does something end there? */
bool chains_is_chain(const struct chains *chains, const struct chains_path *path);

/**
 * chains_untaken() - messages that never reached @path, a callback after a topic, for no known
 * reason
 *
 * Not counted: messages overwritten in a buffer, not yet received when the trace ended, or missing
 * because events were lost.
 */
uint64_t chains_untaken(const struct chains_path *path);

/**
 * chains_steps() - write the steps of @path from its first step into @step. Return: their number.
 */
unsigned chains_steps(const struct chains_path *path,
		      const struct chains_path *step[CHAINS_STEPS_MAX]);

/**
 * chains_missing() - find an element of the pattern that matches no node and no topic of the trace
 * @near: set to the most similar existing name, or NULL
 *
 * Return: the element as written, or NULL: all of them match something. Valid as long as @chains.
 */
const char *chains_missing(const struct chains *chains, const char **near);

unsigned chains_tree_count(const struct chains *chains);
const struct chains_tree_step *chains_tree(const struct chains *chains, unsigned index);

/**
 * chains_is_infrastructure() - is it /rosout or /parameter_events? Nearly every node publishes
 * there.
 */
bool chains_is_infrastructure(const struct model_topic *topic);

/** chains_segment_name() - "run", "cached", "publish", "transport", "wait", "take", "awaited",
 * "resumed". */
const char *chains_segment_name(enum chains_segment segment);

/** chains_link_name() - "direct", "periodic_async", "partial_sync", "latest". */
const char *chains_link_name(enum chains_link link);

#define CHAINS_LABEL_MAX 256 /* bytes for the name of one step */

/** chains_call_text() - what follows the name of a service: " request", " response", or "". */
const char *chains_call_text(enum chains_call call);

/**
 * chains_step_label() - "/planner", or at the beginning "/driver timer 10 ms"; "/topic".
 *
 * Return: @buffer.
 */
char *chains_step_label(const struct chains_path *step, char *buffer, unsigned size);

/**
 * chains_label() - "/driver timer 10 ms -> /scan -> /planner"; an indirect link is "~>".
 *
 * Return: @buffer.
 */
char *chains_label(const struct chains_path *path, char *buffer, unsigned size);

/* For pass_add(). */
extern const struct pass_ops chains_pass;

#endif
