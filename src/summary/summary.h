/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a window of time: what each callback, topic, chain ... did, in numbers. A window
 * is a whole trace, a minute of a robot's day, or the last second of a live view.
 *
 *   struct summary *summary = summary_new();
 *   entity = summary_entity(summary, SUMMARY_CALLBACK, "/planner /scan", "");
 *   entity->count[SUMMARY_RUNS]++;
 *   histogram_add(&entity->histogram[SUMMARY_DURATION], ns);
 *   summary_free(summary);
 *
 * An entity is known by its kind and its name, never by an address, so that the same entity of two
 * windows, runs or robots is found again. summary_collect.h fills a summary while a trace is read,
 * findings.h says what is wrong in it, summary_file.h writes and reads it.
 *
 * Merging is exact: counters add up, histograms have fixed buckets, and the worst instances of the
 * whole are among the worst instances of the parts.
 *
 * Context of all functions: not thread-safe; allocate; do not block.
 */
#ifndef KYMO_SUMMARY_SUMMARY_H
#define KYMO_SUMMARY_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "accounts/accounts.h"
#include "base/histogram.h"

enum summary_kind {
	SUMMARY_CALLBACK,     /* "/planner /scan", "/costmap timer 96 ms" */
	SUMMARY_TIMER,        /* named as its callback */
	SUMMARY_TOPIC,        /* "/scan" */
	SUMMARY_SUBSCRIPTION, /* "/planner /scan" */
	SUMMARY_CHAIN,        /* all steps: "/lidar timer 25 ms -> /scan -> /planner" */
	SUMMARY_SERVICE,      /* "/set_parameters" */
	SUMMARY_EXECUTOR,     /* its process and nodes: "perception: /costmap, /detector" */
	SUMMARY_THREAD,       /* "perception/dds.worker" */
	SUMMARY_PROCESS,      /* "perception" */
	SUMMARY_LOOP,         /* "control:loop" */
	SUMMARY_SPAN,         /* "control:plan" */
	SUMMARY_ACTION,       /* "/navigate" */
	SUMMARY_KINDS
};

enum summary_counter {
	SUMMARY_RUNS, /* callback, span: that ended; chain: arrivals; loop: cycles; service: calls;
			 action: goals that ended */
	SUMMARY_UNFINISHED,     /* runs and spans whose end is not in the window */
	SUMMARY_PUBLISHED,      /* publish calls of a topic */
	SUMMARY_RECEIVED,       /* by a subscription; topic: by all of them */
	SUMMARY_NEVER_SENT,     /* publish calls that handed nothing to the middleware */
	SUMMARY_NEVER_RECEIVED, /* lost on the way or in the subscription's queue */
	SUMMARY_NOT_YET,        /* the same, before the subscription had received anything */
	SUMMARY_OVERWRITTEN,    /* in a queue within the process, by a newer message */
	SUMMARY_CLEARED,        /* such a queue was emptied */
	SUMMARY_LATE,           /* timer: starts that came later than half a period */
	SUMMARY_OVERRUN,   /* timer: starts a whole period late; loop: cycles into the next one */
	SUMMARY_MISSED,    /* loop: deadlines */
	SUMMARY_WAITED,    /* callback: runs that waited for other runs */
	SUMMARY_WAITED_NS, /* all these waits together */
	/* Chain: where the time of all its arrivals went. Callback: SUMMARY_RUN_NS alone. */
	SUMMARY_RUN_NS,
	SUMMARY_KEPT_NS,
	SUMMARY_PUBLISH_NS,
	SUMMARY_WAY_NS,
	SUMMARY_WAIT_NS,
	SUMMARY_TAKE_NS,
	/* Callback: only of what was recorded; without runs that began inside its own. */
	SUMMARY_SENT,      /* publish calls in its runs */
	SUMMARY_CPU_RUNS,  /* runs whose states the kernel's events tell, and ... */
	SUMMARY_CPU_NS,    /* ... their time on a CPU */
	SUMMARY_COST_RUNS, /* runs whose allocations and waits for mutexes were recorded, ... */
	SUMMARY_ALLOCATIONS,
	SUMMARY_ALLOCATED_BYTES,
	SUMMARY_LOCK_WAITS,
	SUMMARY_LOCK_NS,
	/* Subscription: of SUMMARY_NEVER_RECEIVED, where they were lost (enum model_lost). */
	SUMMARY_LOST_NOT_SENT,
	SUMMARY_LOST_WIRE,
	SUMMARY_LOST_REJECTED,
	SUMMARY_LOST_QUEUE,
	SUMMARY_LOST_NOT_TAKEN,
	/* Action: of SUMMARY_RUNS, how goals ended; and goals that its server refused. */
	SUMMARY_ABORTED,
	SUMMARY_CANCELED,
	SUMMARY_REJECTED,
	SUMMARY_AWAITED_NS, /* chain: as SUMMARY_RUN_NS; coroutines awaited something */
	SUMMARY_COUNTERS
};

enum summary_distribution {
	SUMMARY_DURATION, /* of a run, a span, a loop's cycle; action: of executing a goal */
	/*
	 * Callback: from the publish call, or from when its timer was due, until it returns. Topic:
	 * from the publish call to the start of the callback. Chain: from begin to end. Service: of
	 * a call. Loop: of its wake-up. Action: from sending a goal until its client has the
	 * result.
	 */
	SUMMARY_LATENCY,
	SUMMARY_WAIT,   /* callback: for other runs; timer: from when it was due to its start;
			   action: from sending a goal until its client has the answer */
	SUMMARY_PERIOD, /* from one start to the next; action: the longest time that a goal executed
			   without feedback */
	SUMMARY_OWN, /* callback: the duration without what other programs took (summary_own.h) */
	SUMMARY_DISTRIBUTIONS
};

/* Quantiles that stay exact in a file: p2, p50, p90, p99. */
#define SUMMARY_QUANTILES 4u

/* What the time of an instance was spent with. */
enum summary_what {
	SUMMARY_RAN,        /* `who`, a callback, or a span in a span, ran */
	SUMMARY_KEPT,       /* `who` kept the data until a later publication */
	SUMMARY_PUBLISHING, /* the publish call on `who`, a topic */
	SUMMARY_ON_ITS_WAY, /* `who`, a topic, to `by`, a node */
	SUMMARY_WAITED_FOR, /* `who`, a node, waited while `by`, a callback, ran ("": several did)
			     */
	SUMMARY_TAKING,     /* `who`, a callback, from receiving its message to its start */
	SUMMARY_BEING_LATE, /* `who`, a timer's callback, and nothing in the trace held it up */
	/* A goal, which also is SUMMARY_ON_ITS_WAY; `who` is a node. */
	SUMMARY_ACCEPTING, /* the server decided */
	SUMMARY_BEGINNING, /* the server had accepted it, and did not execute it yet */
	SUMMARY_EXECUTING,
	SUMMARY_CANCELING, /* the server stopped it */
	SUMMARY_KEEPING,   /* it had ended, and the server did not send the result */
	SUMMARY_AWAITING,  /* the client waited, and the server is not in the trace */
	SUMMARY_AWAITED,   /* `who`, the callback of a coroutine, awaited something */
	SUMMARY_WHATS
};

struct summary_part {
	enum summary_what what;
	bool is_group;        /* WAITED_FOR: `by` held the callback group, not the executor */
	bool is_assumed;      /* no event names the group */
	const char *who, *by; /* "": not known */
	int64_t ns, usual_ns;
	int64_t at_ns;     /* from the begin of the instance */
	int64_t source_ns; /* PUBLISHING, ON_ITS_WAY: source timestamp of the message; 0: unknown */
};
#define SUMMARY_PARTS_MAX 6u

/* One instance: an arrival of a chain, a run of a callback. */
struct summary_instance {
	int64_t begin_ns; /* epoch */
	int64_t value_ns;
	bool is_startup; /* model_is_startup(): it is explained only if there is nothing else */
	int64_t error_ns; /* value_ns compares the clocks of two hosts, and may be wrong by this;
			     else 0 */
	struct summary_part part[SUMMARY_PARTS_MAX]; /* the longest, in order of time */
	unsigned parts;
	/* Chain: the first message that the middleware stamped; "", 0: none, or not known. The two
	 * are the same on every host. */
	const char *topic;
	int64_t source_ns;
};
#define SUMMARY_WORST_MAX 3u

/* Runs of a callback waited for this one. */
struct summary_culprit {
	const char *by;
	bool is_group, is_assumed; /* as in struct summary_part */
	uint64_t count;
	uint64_t ns, worst_ns;
	uint64_t steady_ns; /* the longest wait of a run that is not start-up */
};

/* Chain: what a part of the way took, of all its arrivals. */
struct summary_segment {
	enum summary_what what;
	const char *who, *by;
	uint64_t ns;                          /* all together */
	uint64_t quantile[SUMMARY_QUANTILES]; /* of one window; after a merge 0: not known */
};

/*
 * What of an entity's histograms and counters belongs to start-up instances; see
 * summary_startup.c. Latency and duration; of a timer, wait.
 */
struct summary_startup {
	struct histogram histogram[SUMMARY_DISTRIBUTIONS];
	uint64_t steady_ns[SUMMARY_DISTRIBUTIONS]; /* the largest value of the others */
	uint64_t overrun;
};

struct summary_entity {
	enum summary_kind kind;
	const char *name;
	const char *of;    /* process or node that it belongs to; "": none or not known */
	const char *label; /* a shorter name for people */
	const char *ask;   /* what `kymo why` takes to explain it; "": nothing */
	int64_t period_ns; /* of a timer; 0: not known */
	unsigned alike; /* of summary_folded(): how many are this one; else 0 */
	int32_t pid; /* one of several with these names; 0: there is one, or a file was read */
	/* What nodes do when they start and stop: /rosout, /parameter_events, parameter services.
	 */
	bool is_startup;
	bool is_other_clock; /* a timer whose period is not that of its starts: of a simulation */
	int64_t first_ns, last_ns; /* its first and last start or publication, epoch; 0: none */
	uint64_t count[SUMMARY_COUNTERS];
	struct histogram histogram[SUMMARY_DISTRIBUTIONS];
	uint64_t quantile[SUMMARY_DISTRIBUTIONS][SUMMARY_QUANTILES]; /* 0: ask the histogram */
	struct summary_segment *segment;                             /* in order of the way */
	unsigned segments, segments_size;
	struct summary_culprit *culprit;
	unsigned culprits, culprits_size;
	/* What is not start-up first, then longest first; NULL: none. */
	struct summary_instance *worst;
	unsigned worsts;
	struct summary_startup *startup; /* NULL: no instance is start-up */
};

/* Can the numbers be trusted? */
struct summary_trust {
	uint64_t lost_events, lost_packets;
	uint64_t lost_kernel_events, lost_kernel_packets; /* of these, the kernel's */
	uint64_t lost_begin_ns, lost_end_ns; /* epoch; 0: not known when */
	const char *lost_of;         /* the process that lost most of them; NULL: not known */
	uint64_t damaged;            /* places of the trace that could not be read */
	uint64_t callbacks, unnamed; /* of all callbacks, those without a name */
	uint64_t other_host;         /* deliveries between hosts whose clocks cannot be compared */
	uint64_t unended, growing; /* recordings whose recorder did not end in order; still records
				    */
};

struct summary {
	int64_t begin_ns, end_ns; /* of the first and the last event, epoch; end < begin: none */
	int64_t origin_ns; /* where times within the trace count from, epoch; INT64_MAX: no events
			    */
	const char *host;  /* "": not known; "several" */
	const char *clock; /* "system", or what a simulation's clock is called */
	/* By enum accounts_machine; "": not known; "several". */
	const char *machine[MACHINE_PARTS];
	uint64_t events, ros_events, windows;
	uint64_t nodes;
	uint64_t processes; /* 0: not known, as of a file: those of different names are */
	struct summary_trust trust;
	struct summary_entity **entity; /* in order of appearance */
	unsigned entities, entities_size;
	struct summary_names *names;
	struct summary_limit *limit; /* of the entities, summary_limit.h; NULL: none */
	uint64_t over; /* windows in which not all entities had room: the others count as
			  "(other)"; of one window 0 or 1 */
	/* What the model had no room for (model_limit()) and did not tell before. What of it ran or
	 * published counts as "(other)". */
	uint64_t left_objects, left_events;
	bool failed; /* memory ran out: something is missing */
};

/** summary_new() - an empty summary. Return: NULL without memory. */
struct summary *summary_new(void);
void summary_free(struct summary *summary);

/**
 * summary_text() - a copy of @text that is valid as long as @summary; equal texts are one copy
 *
 * Return: "" without memory, with summary->failed set.
 */
const char *summary_text(struct summary *summary, const char *text);

/**
 * summary_entity() - the entity of @kind with @name in @of; it is created if there is none, or, if
 * it has no room, "(other)" of that kind
 *
 * Return: NULL without memory, with summary->failed set.
 */
struct summary_entity *summary_entity(struct summary *summary, enum summary_kind kind,
				      const char *name, const char *of);

/** summary_find() - the entity of @kind with @name in @of, or NULL; none is created.
 */
struct summary_entity *summary_find(const struct summary *summary, enum summary_kind kind,
				    const char *name, const char *of);

/** summary_entity_like() - the entity of @summary with kind, name and `of` of @entity, which is of
 * another summary; NULL: none. */
const struct summary_entity *summary_entity_like(const struct summary *summary,
						 const struct summary_entity *entity);

/* Tables have one row for those that are alike, if there are more than so many. */
#define SUMMARY_ALIKE_ROWS 2u

/** summary_is_alike() - are both of one name, in processes of one name? They are of one summary.
 * Chains of one name are alike, through whichever processes they go. */
bool summary_is_alike(const struct summary_entity *a, const struct summary_entity *b);

/** summary_alike_of() - the name of the process that entities like @entity have together: of
 * "talker #2" "talker"; of chains "". Return: @buffer. */
char *summary_alike_of(const struct summary_entity *entity, char *buffer, size_t size);

/**
 * summary_next_alike() - the next entity of @summary that is of the name of @entity, in a process
 * of one name, as summary_is_alike(); @entity may be of another summary
 * @at: how many entities were looked at; 0 at first
 *
 * Return: NULL: there is no other one.
 */
const struct summary_entity *summary_next_alike(const struct summary *summary,
						const struct summary_entity *entity, unsigned *at);

/** summary_has_alike() - do several processes of one name have entities of one name? */
bool summary_has_alike(const struct summary *summary);

/** summary_plain_length() - of "/drone timer 10 ms (swarm 4711)", the length without the process.
 */
int summary_plain_length(const char *label);

/**
 * summary_folded() - a copy of @from in which entities that are alike are one, with all that
 * happened in them: its name says nothing about processes, so it is the same in another run
 *
 * Return: NULL without memory.
 */
struct summary *summary_folded(const struct summary *from);

/** summary_takes_worst() - would summary_add_worst() keep an instance that takes so long? */
bool summary_takes_worst(const struct summary_entity *entity,
			 const struct summary_instance *instance);

/** summary_add_worst() - keep @instance if it is one of the worst. Its texts are of summary_text().
 */
void summary_add_worst(struct summary *summary, struct summary_entity *entity,
		       const struct summary_instance *instance);

/** summary_add_culprit() - count waits; equal culprits become one. @culprit->by is of
 * summary_text(). */
void summary_add_culprit(struct summary *summary, struct summary_entity *entity,
			 const struct summary_culprit *culprit);

/** summary_startup() - the part of @entity that is start-up; created if there was none.
 *
 * Return: NULL without memory, with summary->failed set. */
struct summary_startup *summary_startup(struct summary *summary, struct summary_entity *entity);

/** summary_startup_set() - @from, if it has any, are the start-up values of @entity, and the
 * largest of the others is @steady_ns. */
void summary_startup_set(struct summary *summary, struct summary_entity *entity,
			 enum summary_distribution which, const struct histogram *from,
			 uint64_t steady_ns);

/** summary_steady_max() - the largest value that is not start-up; 0: there is none. */
uint64_t summary_steady_max(const struct summary_entity *entity, enum summary_distribution which);

/** summary_steady_count() - how many values are not start-up; those of at least @least_ns. */
uint64_t summary_steady_count(const struct summary_entity *entity, enum summary_distribution which,
			      uint64_t least_ns);

/**
 * summary_hidden() - how many runs would stand out if they were not start-up: they took longer than
 * the worst other run of their callback
 */
uint64_t summary_hidden(const struct summary *summary);

/**
 * summary_merge() - add all that is in @from to @into
 *
 * Return: 0; -1: no memory (@into has a part of @from then).
 */
int summary_merge(struct summary *into, const struct summary *from);

/**
 * summary_machine_differs() - what of the machines of @a and @b is known and not the same
 * @text: set to "cpu 'X' and 'Y', os 'A' and 'B'"
 *
 * Without a known CPU on one side, the names of the hosts are compared. Return: false: nothing is.
 */
bool summary_machine_differs(const struct summary *a, const struct summary *b, char *text,
			     size_t size);

/**
 * summary_quantile() - a quantile of a distribution, in ns: exact for those of SUMMARY_QUANTILES in
 * one window, else as good as the histogram
 * @q: 0 to 1
 */
uint64_t summary_quantile(const struct summary_entity *entity, enum summary_distribution which,
			  double q);

/** summary_quantile_at() - 0.02, 0.5, ...; @at: below SUMMARY_QUANTILES. */
double summary_quantile_at(unsigned at);

/**
 * summary_add_segment() - add to the segment with the same what, who and by, which is created if
 * there is none. Its texts are of summary_text().
 */
void summary_add_segment(struct summary *summary, struct summary_entity *entity,
			 const struct summary_segment *segment);

/** summary_number() - "4,989": from a thousand on with commas. Return: @buffer. */
char *summary_number(char buffer[32], uint64_t value);

/** summary_kind_name() - "callback", "timer", ... */
const char *summary_kind_name(enum summary_kind kind);
/** summary_counter_name() - "runs", "unfinished", ... */
const char *summary_counter_name(enum summary_counter counter);
/** summary_distribution_name() - "duration", "latency", "wait", "period". */
const char *summary_distribution_name(enum summary_distribution distribution);
/** summary_what_name() - "ran", "kept", "publishing", ... */
const char *summary_what_name(enum summary_what what);

#endif
