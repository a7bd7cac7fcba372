/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of causes: a callback runs and publishes, the message reaches another callback, which publishes in turn. The analysis
 * follows every message through a model. For each distinct path it keeps how many messages took it, where they stopped, and how
 * long each part of the path took.
 *
 *   callback --publishes--> topic --is delivered--> callback --publishes--> topic ...
 *
 * Requests and responses of services (tracetools 8.5) are messages on a topic of the service's
 * name. The client's callback has no events: see chains_calls.c.
 *
 * A path is a sequence of steps, callbacks and topics in turn. It begins with a callback that no
 * known message caused (a timer, a service, a message from outside the trace), or with a publish
 * call outside of any callback. All paths together are a tree: a step has one step before it
 * and any number behind it (fan out). A message that follows from several callbacks (fan in, by
 * message links) goes on in several paths. A callback that is already part of its path ends it
 * (`is_loop`); its run begins a new one.
 *
 * The time of one arrival, cut into segments whose sum is exactly end minus begin:
 *
 *   callback  |-- run ------|                                      |-- run ...
 *             start         publish call   handed over   taken      start
 *                           |-- publish --|-- transport, wait --|-- take --|
 *
 *   publish    begin of the publish call until rmw_publish; within a process until the enqueue. A call
 *              that goes both ways begins with rclcpp_intra_publish
 *   transport  from there to the take (dequeue), without ...
 *   wait       the part of it during which the thread that then took it ran other callbacks
 *   take       the take until callback_start
 *   run        callback_start until the publish call; until callback_end when nothing follows or
 *              the next message is linked indirectly
 *   cached     after an indirect link: end of the callback until the publish call
 *
 * A path that ends with a topic ends where the publish call begins. Service calls have no publish segment and, at the client,
 * no take segment; a client's callback that ends the path counts as over where it begins.
 *
 * Memory: the paths, up to CHAINS_PATHS_MAX; messages that can still be received, with what led to
 * them, up to a window per publisher; per shown path its distributions. Nothing else is kept.
 * chains_facts() counts what did not fit.
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

#define CHAINS_STEPS_MAX 64		/* of a path; what goes on behind is a new beginning's */
#define CHAINS_PATHS_MAX 100000
#define CHAINS_SEGMENTS_MAX (CHAINS_STEPS_MAX * 5)
#define CHAINS_WORST_MAX 1000
#define CHAINS_UNTAKEN_MAX 1000		/* of a path, that are kept by number */

struct chains;

/* How a publication follows from the callback before it. */
enum chains_link {
	CHAINS_DIRECT,		/* made while it ran, by its thread */
	CHAINS_PERIODIC_ASYNC,	/* message_link_periodic_async */
	CHAINS_PARTIAL_SYNC,	/* message_link_partial_sync */
	CHAINS_LATEST,		/* assumed: a timer of the node publishes what it got last */
};

/* Requests and responses of services are messages, too; their topic is the service. */
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
};

/* Where an arrival's time went. */
struct chains_part {
	enum chains_segment segment;
	unsigned step;			/* of the path, from 0: the callback, or the callback it leads to */
};

/* A step of one arrival. Of a topic: thread, publish_ns and id. What is not known is 0. */
struct chains_hop {
	const struct model_thread *thread;
	uint64_t id;
	int64_t publish_ns, send_ns, take_ns;	/* of the message that a callback was called with */
	int64_t start_ns, end_ns;		/* of the callback */
};

/* One arrival. */
struct chains_arrival {
	int64_t begin_ns, total_ns;
	uint64_t id;			/* of the latest publication in it */
	int64_t *part_ns;		/* as many as the path has parts */
	struct chains_hop *hop;		/* as many as the path has steps; NULL: not asked for */
};

struct chains_stats {
	struct histogram total;
	unsigned parts;
	struct chains_part part[CHAINS_SEGMENTS_MAX];
	struct histogram *part_ns;	/* of `parts` */
	int64_t *part_error_ns;		/* by which each may be wrong, between two hosts' clocks; else 0 */
	int64_t error_ns;		/* by which total may be: begin and end are on two hosts; else 0 */
	struct chains_arrival *worst;	/* longest first */
	unsigned worst_count;
	struct chains_arrival near, named;	/* of near_ns, named_id; part_ns NULL: none */
};

/* Messages that a ring buffer of one subscription lost. */
struct chains_drop {
	const struct model_subscription *subscription;
	uint64_t overwritten, cleared;
	struct chains_drop *next;
};

struct chains_path {
	uint32_t index;
	const struct chains_path *parent;	/* the step before; NULL: it begins here */
	const struct chains_path *child, *sibling;	/* steps behind it: child, child->sibling, ... */
	const struct model_callback *callback;		/* either this, */
	const struct model_publisher *publisher;	/* or this */
	enum chains_link link;			/* of a publisher to the callback before */
	unsigned depth;				/* steps before this one */
	unsigned hops;				/* of them deliveries */
	enum chains_call call;			/* of a publisher: a client or service, and no publisher */
	bool is_loop;				/* the callback is in the path already */
	bool is_complete;			/* all of the pattern is matched: the path ends here */

	uint64_t count;		/* runs or publications that got here */
	uint64_t parents;	/* of the callback before: runs that made at least one of these */
	uint64_t ended;		/* callback: runs that returned */
	uint64_t silent;	/* callback: runs that led to no publication of a path */
	uint64_t silent_unfinished;	/* of them: runs without end in the trace */
	uint64_t between_hosts;	/* arrivals that cannot be timed: two hosts' clocks do not compare */
	/* Callback behind a topic: messages that did not get here, and why, as far as known. */
	uint64_t lost;		/* events were lost while it could be received */
	uint64_t at_end;	/* still under way when the trace ended */
	const uint64_t *untaken;	/* the first of all but these, as numbers of publications, whatever the reason; with options.hops, of options.collect only */
	unsigned untaken_count;
	const struct chains_drop *drops;	/* topic */
	struct chains_stats *stats;		/* NULL: not collected, nothing arrived */
};

/* A step of the tree that one message belongs to; a parent stands before what followed from it. */
struct chains_tree_step {
	int32_t parent;			/* index; -1: none */
	unsigned depth;
	const struct model_callback *callback;
	const struct model_publisher *publisher;
	const struct model_thread *thread;
	enum chains_call call;
	bool is_dropped;		/* a message that got to nobody, or not to ... */
	const struct model_subscription *subscription;	/* this one; NULL: to nobody */
	enum model_drop why;
	enum chains_link link;
	uint64_t id;			/* of the publication; of the one it was called with; 0: none */
	int64_t begin_ns, end_ns;	/* end_ns -1: it did not end */
	int64_t publish_ns, send_ns, take_ns, wait_ns;	/* of the message; 0: not known */
	bool is_asked;			/* the message that was asked for */
};
#define CHAINS_TREE_MAX 10000

struct chains_options {
	const char *pattern;		/* '/scan -> /planner -> /cmd_vel'; NULL: every chain */
	bool all_topics;		/* /rosout and /parameter_events, too */
	bool calls;			/* the trace has events of service calls */
	bool latest;			/* assume CHAINS_LATEST where the trace names no link */
	int64_t begin_ns, end_ns;	/* count what begins inside; INT64_MIN, INT64_MAX: all */
	unsigned worst;			/* arrivals to keep per path */
	bool hops;			/* ... with their hops */
	int64_t near_ns;		/* also the arrival whose latency is nearest to this; 0: none */
	uint64_t named_id;		/* and the longest one with this publication in it; 0: none */
	/*
	 * Paths are numbered in order of appearance, in each pass the same. Distributions are
	 * collected for the first CHAINS_EAGER paths, or for those whose bit is set here.
	 */
	const uint8_t *collect;
	uint32_t collect_bits;
	uint64_t follow_id;		/* keep the tree of this publication; 0: none */
	int64_t follow_ns;		/* or of the first chain that begins then or later; INT64_MIN */
};
#define CHAINS_EAGER 2000u

struct chains_facts {
	uint64_t begun;			/* chains */
	uint64_t paths_exceeded;	/* steps not followed: CHAINS_PATHS_MAX */
	uint64_t steps_exceeded;	/* chains cut at CHAINS_STEPS_MAX */
	uint64_t lookback_exceeded;	/* messages received after they had left the window */
	uint64_t fan_in_exceeded;	/* chains not followed: too many meet in one message */
	unsigned links;			/* message links of the trace */
	bool latest_used;		/* some link was assumed */
	uint64_t tree_causes;		/* other chains that led to the message asked for */
};

/**
 * chains_create() - listen to @model
 * @options: copied; the texts and bits must stay valid
 *
 * Return: 0, or -1 with @err filled (KYMO_EXIT_USAGE: the pattern is none).
 */
int chains_create(struct chains **chains, struct model *model,
		  const struct chains_options *options, struct kymo_err *err);
void chains_destroy(struct chains *chains);

/** chains_finish() - after model_finish(): account for what was still on its way. */
void chains_finish(struct chains *chains);

/** chains_failed() - did memory run out? The results are incomplete then. */
bool chains_failed(const struct chains *chains);

const struct chains_facts *chains_facts(const struct chains *chains);

unsigned chains_path_count(const struct chains *chains);
const struct chains_path *chains_path(const struct chains *chains, unsigned index);

/** chains_is_chain() - does something worth a row end in @path? */
bool chains_is_chain(const struct chains *chains, const struct chains_path *path);

/**
 * chains_untaken() - messages that never came to @path, a callback behind a topic, though nothing is known that explains it
 *
 * Not among them: those that a buffer overwrote, that were on their way when the trace ended, or that fell into a gap of the trace.
 */
uint64_t chains_untaken(const struct chains_path *path);

/** chains_steps() - @path from its beginning into @step. Return: their number. */
unsigned chains_steps(const struct chains_path *path,
		      const struct chains_path *step[CHAINS_STEPS_MAX]);

/**
 * chains_missing() - an element of the pattern that matches no node and no topic of the trace
 * @near: set to the nearest name there is, or NULL
 *
 * Return: the element as written, or NULL: all of them match something. Valid as long as @chains.
 */
const char *chains_missing(const struct chains *chains, const char **near);

unsigned chains_tree_count(const struct chains *chains);
const struct chains_tree_step *chains_tree(const struct chains *chains, unsigned index);

/** chains_is_infrastructure() - /rosout and /parameter_events: everybody talks there about itself. */
bool chains_is_infrastructure(const struct model_topic *topic);

/** chains_segment_name() - "run", "cached", "publish", "transport", "wait", "take". */
const char *chains_segment_name(enum chains_segment segment);

/** chains_link_name() - "direct", "periodic_async", "partial_sync", "latest". */
const char *chains_link_name(enum chains_link link);

/* For pass_add(). */
extern const struct pass_ops chains_pass;

#endif
