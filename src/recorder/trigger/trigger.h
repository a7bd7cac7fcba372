/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triggers of the flight recorder: conditions on events, written as text, and checked against every record. Pure: no
 * input or output, no clock; the caller brings the records.
 *
 *     span(NAME) > 1ms        a span took longer; NAME is its name or category:name
 *     callback > 10ms         a callback did
 *     callback(NAME) > 10ms   ... whose function symbol, topic, service or node is NAME
 *     event(NAME)             an event was seen: provider:name, or name
 *     overrun, overrun(LOOP)  a cycle of a loop (kymo/loop.h) ended after the next one was due
 *     missed, missed(LOOP)    a cycle ended after its deadline
 *     died, died(PROCESS)     a process ended without exit(): by a signal, abort() or _exit()
 *     loss                    events were dropped
 *
 * Names may contain the patterns * ? and [...], as in file names of a shell. Put names with unbalanced parentheses in double
 * quotes.
 *
 * A span or callback is judged when it ends. Its begin and its end may come in different calls, but the records of one thread
 * must come in the order of their times.
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

enum trigger_kind {
	TRIGGER_SPAN, TRIGGER_CALLBACK, TRIGGER_EVENT, TRIGGER_OVERRUN, TRIGGER_MISSED,
	TRIGGER_DIED, TRIGGER_LOSS,
	TRIGGER_KINDS
};

struct trigger {
	enum trigger_kind kind;
	uint64_t over_ns;		/* SPAN and CALLBACK: longer than this */
	bool any;			/* no name was given */
	char name[TRIGGER_TEXT_MAX];
	char text[TRIGGER_TEXT_MAX];	/* as it was written */
};

struct triggers {
	struct trigger item[TRIGGERS_MAX];
	unsigned count;
	uint32_t met;			/* bit of each trigger whose name occurred, whether it fired or not */
};

/** triggers_add() - add a trigger; any of them may fire. Return: 0; -1 with @err (KYMO_EXIT_USAGE): where and why. */
int triggers_add(struct triggers *triggers, const char *text, struct kymo_err *err);

/* A trigger that fired. */
struct trigger_hit {
	unsigned trigger;		/* index into triggers.item */
	uint64_t at_ns;			/* when the condition held, CLOCK_MONOTONIC */
	uint64_t value;			/* ns of the duration or delay; of LOSS, events; otherwise 0 */
	char what[TRIGGER_WHAT_MAX];	/* name of the span, callback, event or loop */
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
};

/** trigger_lane_reset() - forget open spans, which will not end: events were lost, or the ring has another thread. */
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
struct trigger_process *trigger_process_new(struct triggers *triggers, const struct classes *classes);
void trigger_process_free(struct trigger_process *process);

/**
 * trigger_fact() - an init event of the process: names of callbacks
 * @payload: @size bytes, untrusted
 */
void trigger_fact(struct trigger_process *process, unsigned id, const uint8_t *payload, size_t size);
/** trigger_forget() - forget all facts: those that still hold are passed to trigger_fact() again. */
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
			 const uint8_t *bytes, size_t size, const struct trigger_listener *listener);

/** trigger_loss() - @events of a thread were lost, noticed at @ns. */
void trigger_loss(struct triggers *triggers, uint64_t events, uint64_t ns, const struct trigger_listener *listener);

/** trigger_died() - a process ended without exit(). @exe: path of its program */
void trigger_died(struct triggers *triggers, const char *procname, const char *exe, uint64_t ns,
		  const struct trigger_listener *listener);

/** trigger_name_fits() - whether @text matches the name of @trigger. Context: no allocation. */
bool trigger_name_fits(const struct trigger *trigger, const char *text);

#endif
