/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the chains, shared by chains.c (runs), chains_publish.c (messages), chains_path.c
 * (the tree of paths), chains_pattern.c (the user's pattern), chains_link.c (indirect links),
 * chains_calls.c (services), chains_awaits.c (coroutines), chains_stats.c (times of arrivals) and
 * chains_tree.c (the tree of one message).
 *
 * A token is one step that happened: one run or publication, on one path. A run or publication has
 * one token for each path that it is part of. Tokens count references, and each token refers to its
 * parent:
 *
 *   run  ── tokens ──▶ [token] ──▶ [token] ...        one per path it is part of
 *                        │ parent
 *   publication ───────▶ ▼
 *                      [token] ...                    counted references, children to parents
 */
#ifndef KYMO_ANALYSIS_CHAINS_INTERNAL_H
#define KYMO_ANALYSIS_CHAINS_INTERNAL_H

#include "analysis/chains/chains.h"
#include "analysis/executors/busy.h"
#include "base/array.h"
#include "base/map.h"
#include "base/pool.h"

/* Limit of the paths that are followed for one publication. */
#define TOKENS_MAX 64u
/* Publications of one publisher that are remembered while a subscription may still receive them. */
#define WINDOW_MIN 256u
#define WINDOW_MAX 8192u
/* Losses in the trace that are remembered, to explain messages that were not received. */
#define GAPS_MAX 64u
/* Children of a step with a bit of their own in a token; all others share one bit. */
#define ORDINALS_MAX 63u

struct path {
	struct chains_path pub;
	struct path *parent, *last_child;
	unsigned ordinal;		/* among the children of its parent */
	unsigned children;
	uint64_t *untaken;		/* pub.untaken, CHAINS_UNTAKEN_MAX of them */
	unsigned matched;		/* matched elements of the pattern */
};

/* A step of a path that happened once. */
struct chains_token {
	struct path *path;
	struct chains_token *parent;		/* counted reference; NULL: the chain begins here */
	/* Next token of the same run or publication; or of the free list. */
	struct chains_token *next;
	uint32_t references;
	int32_t tree;			/* index in the tree of the requested message, or -1 */
	bool tree_follows;		/* steps that follow from it are also part of the tree */
	bool is_startup;		/* model_is_startup(), of a run */
	uint64_t children;		/* one bit per child that followed, by ordinal */
	const struct model_thread *thread;
	/*
	 * A publication has publish_ns and id. A run has all members; the first five are those of
	 * its message.
	 */
	uint64_t id;
	int64_t publish_ns, send_ns, take_ns, wait_ns, source_ns;
	struct model_dds dds;
	int64_t start_ns, end_ns;
	struct chains_awaits *awaits; /* counted reference; NULL: it never waited */
};

/* The awaits of a coroutine, which all tokens of its runs share. */
struct chains_awaits {
	uint32_t references;
	unsigned count, size;
	struct model_await *await;
};

struct chains_run {
	const struct model_callback *callback;
	int64_t start_ns;
	uint64_t call;			/* of a service: the call that the run serves; 0: none */
	struct chains_token *tokens;
	struct chains_run *outer;		/* the run around it, on the same thread */
	struct chains_run *next_free;
};

/* How a message reached a run. */
struct way {
	const struct model_thread *thread;
	bool is_startup;		/* of the run */
	int64_t start_ns;
	uint64_t id;			/* of the message; 0: none, or a request or response */
	int64_t publish_ns, send_ns, take_ns, wait_ns, source_ns;
	struct model_dds dds;
};

/*
 * A message, a request or a response; or a run of a service's callback whose response has not been
 * sent yet.
 */
struct chains_publication {
	uint64_t id;
	unsigned scope;			/* scope of the id: 0 for messages, see chains_calls.c */
	struct chains_window *window;		/* the window that contains it */
	int64_t take_ns;		/* of a request */
	const struct model_publisher *publisher;
	int64_t publish_ns;
	struct chains_token *tokens;
	unsigned token_count, delivered;
	struct chains_publication *newer, *older;	/* in the window */
};

struct chains_window {
	struct chains_publication *newest, *oldest;
	unsigned count, most;
	uint64_t last_id;		/* of the latest publish call */
};

struct interval {
	int64_t start_ns, end_ns;
};

struct thread_state {
	struct chains_run *run;		/* the innermost */
	struct chains_run answered;		/* a client's callback that may be running */
	struct busy busy; /* what a message waited for */
};

/* A run that is over, kept because later publications may follow from the data that it stored. */
struct ended {
	uint64_t id;
	int64_t end_ns;
	struct chains_token *tokens;		/* each counted once */
};

/*
 * The latest two runs of a subscription's callback. The model reports a message when it is handed
 * over. A run on another thread that ended after the start of the publish call came too late for
 * this message, so the run before it counts.
 */
struct latest {
	const struct model_callback *callback;
	struct ended now, before;
	struct latest *next;		/* next callback of the same node, for CHAINS_LATEST */
};

struct element {
	char *text;
	const char *node, *topic;	/* globs; equal for a plain element */
	/* An element without NODE:TOPIC: it may match a node or a topic. */
	bool plain;
};

struct chains {
	struct model *model;
	struct chains_options options;
	struct chains_facts facts;
	unsigned worst_kept; /* longest arrivals, of all paths together */
	bool failed;

	struct element *element;
	unsigned elements;

	/* For paths, drops, causes, threads, and the free lists below. */
	struct pool pool;
	struct map paths;		/* (object and link, parent's index + 1) -> struct path */
	struct path **path;
	uint32_t path_count, path_size;

	struct map publications;	/* (id, scope) -> struct chains_publication */
	struct array windows;		/* of struct chains_window *, by publisher */
	struct chains_window call_window[4]; /* by scope */
	struct array clients;		/* of struct calls_client *, by client */
	struct array threads;		/* of struct thread_state *, by thread */
	struct array latest;		/* of struct latest *, by callback */
	struct array node_latest;	/* of struct latest *, lists by node */
	struct array linked;		/* of uint8_t, by publisher: a link contains it */
	unsigned links_known;		/* number of the model's links that are already in linked */

	struct chains_token *free_tokens;
	struct chains_run *free_runs;
	struct chains_publication *free_publications;

	struct interval gap[GAPS_MAX];
	uint64_t gaps;

	struct chains_tree_step *tree;
	uint32_t tree_count;
};

/* chains.c */
void *chains_element(struct chains *chains, struct array *array, size_t size, uint32_t index);
void *chains_alloc(struct chains *chains, size_t size);
struct chains_token *chains_token(struct chains *chains, struct path *path,
				  struct chains_token *parent);
void chains_tokens_release(struct chains *chains, struct chains_token *tokens);
struct thread_state *chains_thread_new(struct chains *chains, const struct model_thread *thread);
static inline struct thread_state *chains_thread(struct chains *chains,
						 const struct model_thread *thread)
{
	struct thread_state *const *known = chains->threads.item;

	if (__builtin_expect(thread->index < chains->threads.count && known[thread->index], 1))
		return known[thread->index];
	return chains_thread_new(chains, thread);
}
/* The innermost run of @thread, or NULL. */
struct chains_run *chains_run_of(struct chains *chains, const struct model_thread *thread);

/*
 * @run begins because of @publication, or because of something unknown (NULL); @way is how the
 *   message reached it.
 */
void chains_deliver(struct chains *chains, struct chains_run *run,
		    struct chains_publication *publication, struct way *way,
		    const struct thread_state *thread);
/* The runs of @tokens are over. */
void chains_arrived(struct chains *chains, struct chains_token *tokens, int64_t end_ns);

/* Scopes of the numbers of what is no message. */
enum {
	CHAINS_SCOPE_REQUESTS = 1,
	CHAINS_SCOPE_SERVED,
	CHAINS_SCOPE_RESPONSES,
	CHAINS_SCOPE_AWAITS
};

/* chains_calls.c */
void chains_on_call_step(void *context, const struct model_call_step *step);
void chains_on_executor(void *context, const struct model_executor_interval *interval);
enum chains_call chains_call_of(const struct model_publisher *publisher);
/* The request that @instance serves, and its times; or NULL. */
struct chains_publication *chains_request(struct chains *chains,
					  const struct model_instance *instance, struct way *way);
/* Takes over the tokens of @run, which is over, if it serves a call. */
void chains_served(struct chains *chains, struct chains_run *run, int64_t end_ns);
/* Publications of @thread from now on are not part of a client's callback. */
void chains_answered_end(struct chains *chains, struct thread_state *thread);
/* @run is the run of a client's callback: the response that the thread received last is its cause.
 */
void chains_answered_runs(struct thread_state *thread, struct chains_run *run);
void chains_calls_finish(struct chains *chains);

/* chains_awaits.c */
/* @instance ends with an await: takes over the tokens of @run. */
void chains_awaits(struct chains *chains, struct chains_run *run,
		   const struct model_instance *instance);
/* @instance goes on after an await: @run has the tokens of the earlier run again. */
void chains_resumes(struct chains *chains, struct chains_run *run,
		    const struct model_instance *instance);
void chains_awaits_release(struct chains_awaits *awaits);
/* The awaits of @token, a run, that were over at @end_ns; *@ns: how long they took. */
unsigned chains_awaits_until(const struct chains_token *token, int64_t end_ns, int64_t *ns);
/* Until when the run of @token belongs to a path that goes on with @next; NULL: it ends there. */
int64_t chains_run_end(const struct chains_token *token, const struct chains_token *next);
/* All awaits of the path that ends with @token. */
unsigned chains_awaits_in(const struct chains_token *token);
/* Each coroutine of that path that waited has its parts in @stats. */
void chains_awaits_parts(struct chains *chains, struct chains_stats *stats,
			 const struct chains_token *token);

/* chains_publish.c */
/* For publications that no subscription receives. */
extern const struct model_publisher chains_nobody;
struct chains_publication *chains_publication(struct chains *chains, struct chains_window *window,
				       const struct model_publisher *publisher, uint64_t id,
				       unsigned scope, int64_t publish_ns);
void chains_on_published(void *context, const struct model_message *message);
void chains_on_dropped(void *context, const struct model_message *message, enum model_drop why);
struct chains_window *chains_window(struct chains *chains, const struct model_publisher *publisher);
bool chains_is_inside(const struct chains *chains, int64_t begin_ns);
bool chains_is_followed(const struct chains *chains, const struct model_topic *topic);
/* The message continues the path of each of @parents; with NULL it begins a path. */
void chains_follow(struct chains *chains, struct chains_publication *publication,
		   const struct model_message *message, struct chains_token *parents,
		   enum chains_link link);
/*
 * The publication can no longer be received: count the reason at each step that it did not reach.
 */
void chains_retire(struct chains *chains, struct chains_publication *publication, bool at_end);

/* chains_path.c */
struct path *chains_path_step(struct chains *chains, struct chains_token *parent,
			      const struct model_callback *callback,
			      const struct model_publisher *publisher, enum chains_link link);
void chains_path_drop(struct chains *chains, struct path *path,
		      const struct model_subscription *subscription, enum model_drop why);

/* chains_pattern.c */
int chains_pattern_parse(struct chains *chains, struct kymo_err *err);
void chains_pattern_free(struct chains *chains);
bool chains_pattern_matches(struct chains *chains, unsigned element,
			    const struct model_callback *callback,
			    const struct model_publisher *publisher);

/* chains_link.c */
void chains_link_ended(struct chains *chains, struct chains_run *run, uint64_t id, int64_t end_ns);
void chains_on_cause(void *context, const struct model_cause *cause);
void chains_link_latest(struct chains *chains, struct chains_publication *publication,
			const struct model_message *message, const struct chains_run *inside);
void chains_link_finish(struct chains *chains);

/* chains_stats.c */
void chains_stats_arrived(struct chains *chains, struct chains_token *token);
void chains_stats_free(struct chains_stats *stats);

/* chains_tree.c */
void chains_tree_publication(struct chains *chains, struct chains_token *token);
void chains_tree_run(struct chains *chains, struct chains_token *token);
void chains_tree_ended(struct chains *chains, const struct chains_token *token);
void chains_tree_dropped(struct chains *chains, const struct chains_token *token,
			 const struct model_message *message, enum model_drop why);

#endif
