/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triggers of the flight recorder: conditions on events, written as text, and checked against every
 * record. Pure: no input or output, no clock; the caller brings the records.
 *
 *     callback(/scan) > 10ms, chain(/scan -> /cmd_vel) > 80ms, silent(/scan) > 1s, died, ...
 *     silent(/scan) > 1s and cpu(planner) > 80%
 *     late(/control) > 2ms for 3 times in 10s
 *
 * trigger_words.def lists them all. Those about topics, chains, timers and rates are judged in the
 * order of time: their records wait until no older ones can come (trigger_watch_until()).
 *
 * Names may contain the patterns * ? and [...], as in file names of a shell. Put names with
 * unbalanced parentheses in double quotes.
 *
 * A span or callback is judged when it ends. Its begin and its end may come in different calls, but
 * the records of one thread must come in the order of their times.
 */
#ifndef KYMO_RECORDER_TRIGGER_H
#define KYMO_RECORDER_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "recorder/records/classes.h"

#define TRIGGERS_MAX		32
#define TRIGGER_TEXT_MAX	512	/* bytes of an expression, with its NUL */
#define TRIGGER_WHAT_MAX	256

#define TRIGGER_TIMES_MAX	32	/* of "for N times" */
#define TRIGGER_CHAINS_MAX	8	/* chain() conditions */
#define TRIGGER_STEPS_MAX	8	/* steps of a chain */

enum trigger_kind {
	TRIGGER_SPAN,
	TRIGGER_CALLBACK,
	TRIGGER_EVENT,
	TRIGGER_OVERRUN,
	TRIGGER_MISSED,
	TRIGGER_DIED,
	TRIGGER_LOSS,
	/* of these on, a watch judges */
	TRIGGER_CHAIN,
	TRIGGER_LATENCY,
	TRIGGER_SILENT,
	TRIGGER_RATE,
	TRIGGER_LATE,
	TRIGGER_LOST,
	TRIGGER_BUSY,
	TRIGGER_KINDS
};

/* A condition. A trigger is one, or several in turn that are joined by "and". */
struct trigger {
	enum trigger_kind kind;
	uint64_t over_ns;            /* kinds with a time: longer than this */
	double limit;                /* RATE: per second; BUSY: share of a CPU, 1 for all of it */
	bool below;                  /* RATE: it fires below the limit */
	bool any;                    /* no name was given */
	char name[TRIGGER_TEXT_MAX]; /* CHAIN: its first step; the others follow, each with its
				      * NUL */
	unsigned steps;              /* CHAIN: how many */
	char text[TRIGGER_TEXT_MAX]; /* the whole trigger, as it was written */
	unsigned first, parts; /* index of the trigger's first condition, and how many it has */
	unsigned times;        /* "for N times"; 1: at once */
	uint64_t within_ns;    /* "in TIME" */
	/* ---- as of now ---- */
	uint64_t hit_ns[TRIGGER_TIMES_MAX];	/* the latest hits, ascending */
	unsigned hits;
	uint64_t held_ns;		/* with "and": when this part held last; 0: never */
};

struct trigger_watch;

struct triggers {
	struct trigger item[TRIGGERS_MAX];	/* conditions */
	unsigned count;
	uint32_t met; /* bit of each condition whose name occurred, whether it fired or not */
	struct trigger_watch *watch; /* NULL: no condition needs one */
};

/** triggers_add() - add a trigger; any of them may fire. Return: 0; -1 with @err (KYMO_EXIT_USAGE):
 * where and why. */
int triggers_add(struct triggers *triggers, const char *text, struct kymo_err *err);

/* A row of the list of triggers, for help and completion. */
struct trigger_word {
	const char *text;		/* "silent(TOPIC) > 1s" */
	const char *meaning;
};
/** trigger_word_at() - all triggers in turn; NULL behind the last. */
const struct trigger_word *trigger_word_at(unsigned at);

/* A trigger that fired. */
struct trigger_hit {
	unsigned trigger;            /* index into triggers.item */
	uint64_t at_ns;              /* when the condition held, CLOCK_MONOTONIC */
	uint64_t value;              /* ns of the duration or delay; of LOSS, events; otherwise 0 */
	char what[TRIGGER_WHAT_MAX]; /* name of the span, callback, event, loop, topic, chain or
					process */
	/* Of a watch, whose records are older than the present one: */
	const void *owner; /* as given to trigger_process_owner(); NULL: the present record's */
	int tid;           /* 0: of no thread */
	const char *thread;
};

/* Receives hits. */
struct trigger_listener {
	void (*hit)(void *context, const struct trigger_hit *hit);
	void *context;
};

/* Open spans of a thread; zeroed is empty. */
struct trigger_open;
struct trigger_lane {
	struct trigger_open *open;	/* innermost last */
	unsigned count, room;
	struct watch_thread *watch;	/* what a watch knows of the thread; NULL: nothing */
};

/** trigger_lane_reset() - forget open spans, which will not end: events were lost, or the ring has
 * another thread. */
void trigger_lane_reset(struct trigger_lane *lane);
/** trigger_lane_free() - the same, and free the memory. */
void trigger_lane_free(struct trigger_lane *lane);

/* What triggers know of a process: its event classes, and the names of its callbacks. */
struct trigger_process;

/**
 * trigger_process_new() - a process whose records will be looked at
 * @triggers, @classes: must live on; classes may grow meanwhile
 * Return: NULL without memory. Context: allocates, as all functions here.
 */
struct trigger_process *trigger_process_new(struct triggers *triggers,
					    const struct classes *classes);
void trigger_process_free(struct trigger_process *process);

/* ---- conditions on topics, chains, timers and rates ---- */

/**
 * triggers_watch() - before the first process: prepare what these conditions need, if there are any
 * @listener: of their hits, in trigger_watch_until() and when a process ends
 * Return: 0; -ENOMEM.
 */
int triggers_watch(struct triggers *triggers, const struct trigger_listener *listener);
void triggers_watch_end(struct triggers *triggers);

/** trigger_watch_until() - no record before @ns will come any more: judge what waits. Time goes on
 * without records, too. */
void trigger_watch_until(struct triggers *triggers, uint64_t ns);

/** triggers_nearest() - the topic, node or process seen that is most similar to the name of
 * @condition; NULL: none is. */
const char *triggers_nearest(const struct triggers *triggers, const struct trigger *condition);

/** trigger_process_owner() - who is named in hits, and its name and program for cpu(NAME).
 * @joined_ns: silence counts from then on */
void trigger_process_owner(struct trigger_process *process, const void *owner, const char *procname,
			   const char *exe, uint64_t joined_ns);

/** trigger_process_exited() - the process ended by itself: its topics may be silent now. */
void trigger_process_exited(struct trigger_process *process);

/** trigger_thread() - the records of @lane are from now on of this thread. Return: 0; -ENOMEM. */
int trigger_thread(struct trigger_process *process, struct trigger_lane *lane, int tid,
		   const char *name);

/**
 * trigger_fact() - an init event of the process: names of callbacks
 * @payload: @size bytes, untrusted
 */
void trigger_fact(struct trigger_process *process, unsigned id, const uint8_t *payload,
		  size_t size);
/** trigger_forget() - forget all facts: those that still hold are passed to trigger_fact()
 * again. */
void trigger_forget(struct trigger_process *process);

/** trigger_fact_event() - the same init event as an event that happened at @ns. */
void trigger_fact_event(struct trigger_process *process, unsigned id, uint64_t ns,
			const struct trigger_listener *listener);

/**
 * trigger_records() - look at the runtime records in @bytes
 * @bytes: @size untrusted bytes that do not change meanwhile
 * Return: records up to the end, or up to the first that makes no sense.
 */
uint32_t trigger_records(struct trigger_process *process, struct trigger_lane *lane,
			 const uint8_t *bytes, size_t size,
			 const struct trigger_listener *listener);

/** trigger_loss() - @events of a thread were lost, noticed at @ns. */
void trigger_loss(struct triggers *triggers, uint64_t events, uint64_t ns,
		  const struct trigger_listener *listener);

/** trigger_died() - a process ended without exit(). @exe: path of its program */
void trigger_died(struct triggers *triggers, const char *procname, const char *exe, uint64_t ns,
		  const struct trigger_listener *listener);

/** trigger_name_fits() - whether @text matches the name of @trigger. Context: no allocation. */
bool trigger_name_fits(const struct trigger *trigger, const char *text);

#endif
