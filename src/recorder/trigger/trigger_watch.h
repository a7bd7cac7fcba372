/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions on topics, chains, timers and rates need the records of all threads in the order of
 * time:
 *
 *   records of a thread ──▶ notes (only of what a condition needs) ── sorted, up to the horizon ──▶ judged
 *
 * Each message of a topic that matters is kept in a small ring, by its source timestamp. It carries
 * for each chain() since when the data in it are on their way, and how many steps of the chain they
 * have passed. A callback that receives the message passes that on to what it publishes. Not for
 * others.
 *
 * Times are CLOCK_MONOTONIC ns.
 *
 * Context of all functions: one thread; allocate; no system calls of their own.
 */
#ifndef KYMO_RECORDER_TRIGGER_WATCH_H
#define KYMO_RECORDER_TRIGGER_WATCH_H

#include "recorder/trigger/trigger_internal.h"

#define WATCH_TOPICS_MAX	4096u
#define WATCH_LEVELS_MAX	4096u
#define WATCH_MESSAGES		64u	/* of a topic; a power of two */
#define WATCH_STORED_MAX	4096u	/* messages in intra-process buffers */
#define WATCH_NOTES_MAX		262144u	/* that wait; beyond that they are judged early */
#define WATCH_RUNS_MAX		8u	/* callbacks within callbacks */
#define WATCH_SECOND		1000000000ull

/* What data carry along. */
struct watch_carry {
	uint64_t since_ns[TRIGGER_CHAINS_MAX];	/* 0: they are not on this chain */
	uint8_t step[TRIGGER_CHAINS_MAX];	/* steps passed */
	bool any;
};

struct watch_message {
	int64_t source_ns;		/* 0: free */
	uint64_t publisher;		/* handle of the publisher and its process, mixed */
	uint64_t published_ns;
	uint64_t taken; /* bits of the subscriptions that received it, or are known to have lost
			 * it */
	struct watch_carry carry;
};

/* A condition on the rate of a topic, its silence, or the busy time of a node or process. */
struct watch_level {
	unsigned condition;
	const char *name;
	const void *owner;		/* who published last */
	uint64_t begin_ns;		/* of the present window; 0: nothing came yet */
	uint64_t last_ns;		/* SILENT: the last message */
	uint64_t told_ns;		/* SILENT: when a silence that goes on was reported last */
	uint64_t sum;			/* messages, or ns of callbacks */
	uint64_t value;			/* of the last window */
	bool bad;			/* the last window was beyond the limit */
	bool off;			/* SILENT: nobody publishes any more */
};

/* Indexes of levels, few. */
struct watch_levels {
	uint16_t *at;
	unsigned count, room;
};

struct watch_topic {
	char *name;
	uint32_t conditions;		/* whose name matches: LATENCY, LOST */
	bool matters;			/* a condition or a chain needs its messages */
	uint8_t steps[TRIGGER_CHAINS_MAX];	/* bits of the steps of chains that it is */
	unsigned publishers, subscriptions;	/* that were created */
	unsigned ordinals;
	struct watch_levels levels;
	struct watch_message *message;	/* [WATCH_MESSAGES]; NULL: none was kept yet */
	uint32_t next;
};

/* A node or process that cpu(NAME) means. */
struct watch_entity {
	char *name;
	struct watch_levels levels;
};

struct watch_callback {
	uint32_t version;		/* of the facts, when this was found out */
	int topic;			/* index; -1 */
	int node;			/* entity; -1 */
	uint32_t late;			/* conditions */
	uint64_t period_ns, started_ns;	/* of a timer; its last start */
	uint8_t steps[TRIGGER_CHAINS_MAX];
	char name[TRIGGER_WHAT_MAX];
};

/* A publisher or a subscription, by handle. */
struct watch_end {
	int topic;
	unsigned ordinal;		/* of a subscription in its topic */
	bool took;			/* it received something before */
};

struct watch_process {
	struct trigger_watch *watch;
	struct trigger_process *process;
	const void *owner;
	uint64_t joined_ns;
	int entity;                 /* of the process itself; -1 */
	struct map ends, callbacks; /* by handle: publishers, and subscriptions of the middleware;
				       by address */
	struct watch_process *next;
};

struct watch_run {
	uint64_t address;
	struct watch_callback *callback;
	uint64_t start_ns, counted_ns;	/* until then it is counted for cpu() */
	struct watch_carry carry;
};

struct watch_thread {
	struct watch_process *process;
	struct watch_thread *next;
	int tid;
	char name[32];
	unsigned depth;
	struct watch_run run[WATCH_RUNS_MAX];
	/* the publish call that goes on, and the message that was received and has no callback
	 * yet */
	int publishes, took;		/* topics; -1 */
	bool intra;			/* so far it went to buffers of the process alone */
	uint64_t publisher, published_ns, took_ns;
	struct watch_carry sent, received;
};

enum watch_kind {
	WATCH_PUBLISH,
	WATCH_INTRA,
	WATCH_STAMP,
	WATCH_TAKE,
	WATCH_START,
	WATCH_END,
	WATCH_STORE,
	WATCH_FETCH,
	WATCH_LOST
};

struct watch_note {
	uint64_t ns;
	struct watch_thread *thread;
	uint64_t a, b;
	void *at;			/* struct watch_callback, struct watch_end */
	int32_t topic;
	uint8_t kind;
	bool flag;
};

struct trigger_watch {
	struct triggers *triggers;
	struct trigger_listener listener;
	unsigned chains;
	uint8_t chain_condition[TRIGGER_CHAINS_MAX];
	uint32_t late, on_topics, on_busy;	/* conditions by kind */
	bool on_messages, on_callbacks;	/* whether one needs the path of messages, or callbacks */
	struct watch_topic *topic;
	unsigned topics, topics_room;
	struct watch_entity *entity;
	unsigned entities, entities_room;
	struct watch_level *level;
	unsigned levels, levels_room;
	struct watch_process *processes;
	struct watch_thread *threads;
	struct map stored;		/* messages in buffers: (buffer and process, index) */
	struct watch_note *note, *spare;
	size_t notes, notes_room, spare_room;
	uint64_t until_ns;
	uint64_t second_ns;		/* when open runs are counted next: a whole second */
};

/** watch_note() - keep a note for later. Beyond WATCH_NOTES_MAX those that wait are judged at
 * once; without memory the note is dropped. */
void watch_note(struct trigger_watch *watch, const struct watch_note *note);

/** watch_apply() - the next note in the order of time. */
void watch_apply(struct trigger_watch *watch, const struct watch_note *note);

/** watch_hit() - the conditions of @mask hold. @thread: may be NULL */
void watch_hit(struct trigger_watch *watch, uint32_t mask, uint64_t ns, uint64_t value,
	       const char *what, const void *owner, const struct watch_thread *thread);

/** watch_topic_of(), watch_entity_of() - index by name, new if it is not known; -1: no memory, or
 * too many. */
int watch_topic_of(struct trigger_watch *watch, const char *name);
int watch_entity_of(struct trigger_watch *watch, const char *name, const char *also,
		    const char *other);

/** watch_name_fits() - as trigger_name_fits(); a node's name also without its namespace. */
bool watch_name_fits(const struct trigger *condition, const char *name);

/** watch_step_of() - bits of the steps of chain @chain that @name is. */
uint8_t watch_step_of(const struct trigger_watch *watch, unsigned chain, const char *name);

/* ---- trigger_watch_level.c ---- */
/** watch_levels_of() - the levels of @name for the conditions of @mask. */
void watch_levels_of(struct trigger_watch *watch, struct watch_levels *levels, const char *name,
		     uint32_t mask);
/** watch_published(), watch_ran() - a message of a topic, a run of a node or process that began and
 * ended. */
void watch_published(struct trigger_watch *watch, struct watch_topic *topic, uint64_t ns,
		     const void *owner);
void watch_ran(struct trigger_watch *watch, int entity, uint64_t begin_ns, uint64_t end_ns,
	       const void *owner);
/** watch_count_open() - callbacks that still run count up to @ns, a whole second; the rest counts
 * later. */
void watch_count_open(struct trigger_watch *watch, uint64_t ns);
/** watch_levels_until() - windows that end before @ns, silences that last at @ns. */
void watch_levels_until(struct trigger_watch *watch, uint64_t ns);
/** watch_levels_restart() - events were lost until @ns. */
void watch_levels_restart(struct trigger_watch *watch, uint64_t ns);

#endif
