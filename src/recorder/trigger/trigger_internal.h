/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the triggers share. Not for others. */
#ifndef KYMO_RECORDER_TRIGGER_INTERNAL_H
#define KYMO_RECORDER_TRIGGER_INTERNAL_H

#include "abi/region.h"
#include "base/map.h"
#include "recorder/trigger/trigger.h"

static_assert(TRIGGERS_MAX <= 32, "a bit of u32 each");

enum trigger_meaning {
	WHAT_UNKNOWN,		/* no record of this id was seen yet */
	WHAT_NOTHING,		/* no trigger needs it */
	WHAT_EVENT,		/* some event() or loop trigger fires on it */
	WHAT_BEGIN, WHAT_END,	/* of spans */
	WHAT_CALLBACK_START, WHAT_CALLBACK_END,
};

/* An event class as the triggers see it. */
struct trigger_class {
	uint8_t what;			/* enum trigger_meaning */
	bool watched;			/* the watch wants it */
	bool dynamic;			/* the payload of the begin contains the name of the span */
	int8_t at_field, track_field;	/* index of the field with that meaning; -1 */
	int32_t size;			/* of the payload; -1: it depends on the record */
	uint32_t spans;			/* bits of the span triggers whose name matches */
	uint32_t events;		/* bits of the triggers that fire when it is seen */
	uint64_t key;			/* equal for begin and end of a span */
};

/* What is known of a callback, or of an object between the callback and its node. */
struct trigger_fact {
	char *text;			/* symbol, topic, service or full name of the node; NULL */
	uint64_t period_ns;		/* of a timer */
	uint64_t owner;			/* key of the next fact on the path to the node */
	uint8_t owner_kind;		/* kind of that fact; 0: none */
	bool judged;			/* mask is valid for this `version`; only of callbacks */
	uint32_t mask;			/* bits of the callback triggers that match */
	uint32_t version;
};

struct trigger_process {
	struct triggers *triggers;
	const struct classes *classes;
	struct trigger_class *class;		/* by id */
	unsigned class_room;
	bool wants_callbacks;
	bool wants_facts;		/* for these, or for the watch */
	struct watch_process *watch;	/* NULL: there is no watch */
	struct map facts;		/* (address, kind) */
	uint32_t version;		/* grows with every fact */
	struct map tracks;		/* id of a custom track: its struct trigger_lane */
};

#define FACTS_MAX	65536u		/* of one process; callbacks beyond that have no name */
#define TRACKS_MAX	1024u		/* spans on tracks beyond that are not judged */
/* of open spans on a thread; beyond that the outermost are forgotten */
#define DEPTH_MAX	256u

/** triggers_of() - bits of the triggers of @kind. */
static inline uint32_t triggers_of(const struct triggers *triggers, enum trigger_kind kind)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < triggers->count; i++)
		mask |= triggers->item[i].kind == kind ? 1u << i : 0;
	return mask;
}

/** trigger_exceeded() - the conditions of @mask whose limit is below @took. */
uint32_t trigger_exceeded(const struct triggers *triggers, uint32_t mask, uint64_t took);

/* ---- trigger_combine.c ---- */

/** trigger_report() - the conditions of @mask hold: pass those on that complete their trigger.
 * Changes @hit->trigger. */
void trigger_report(struct triggers *triggers, const struct trigger_listener *listener,
		    uint32_t mask, struct trigger_hit *hit);

/** trigger_repeats() - whether @condition is part of something larger, so that each time counts for
 * which it holds. */
bool trigger_repeats(const struct trigger *condition);

/* ---- trigger_watch*.c ---- */

/** watch_wants() - whether records of event @id are for the watch. */
bool watch_wants(unsigned id);

/** watch_record() - a record that watch_wants(). @payload was checked. */
void watch_record(struct trigger_process *process, struct watch_thread *thread, unsigned id,
		  const uint8_t *payload, uint64_t ns);

/** watch_fact() - an init event. @payload was checked; the facts of trigger_facts.c know it
 * already. */
void watch_fact(struct trigger_process *process, unsigned id, const uint8_t *const *field);

/** watch_lost() - events were lost until @ns: what is open, and rates, are not known. */
void watch_lost(struct trigger_watch *watch, uint64_t ns);

/** watch_join(), watch_leave() - a process comes, or goes. Return: 0; -1: no memory. */
int watch_join(struct trigger_process *process);
void watch_leave(struct trigger_process *process);

/* ---- trigger_class.c ---- */

/** trigger_class() - what event @id means. Return: NULL: there is no such event, or no memory. */
const struct trigger_class *trigger_class(struct trigger_process *process, unsigned id);

/** trigger_named() - bits of the triggers of @kind whose name is @name or @category:@name. */
uint32_t trigger_named(const struct triggers *triggers, enum trigger_kind kind,
		       const char *category, const char *name);

/** trigger_stem() - the name of @point without @suffix; "" if the name does not end with it.
 * Return: @out. */
const char *trigger_stem(const struct kymo_point *point, const char *suffix,
			 char out[KYMO_DECLARED_TEXT_MAX]);

/** trigger_field() - index of the field @name. Return: -1: there is none. */
int trigger_field(const struct kymo_point *point, const char *name);

/* ---- trigger_lane.c ---- */

/* Something that began and has not ended. */
struct trigger_open {
	uint64_t key, begin_ns;
	uint32_t mask;			/* triggers whose name matches */
	char *name;			/* of a span named at run time, where mask is not 0 */
};

/** trigger_lane_push() - open a span. At the limit the outermost ones are dropped: an exception
 * leaves callbacks without an end. */
void trigger_lane_push(struct trigger_lane *lane, const struct trigger_open *open);

/** trigger_lane_find() - the innermost open span of @key; spans inside of it are dropped, as they
 * will not end any more. */
struct trigger_open *trigger_lane_find(struct trigger_lane *lane, uint64_t key);

/** trigger_lane_cut() - forget all but the outermost @count. */
void trigger_lane_cut(struct trigger_lane *lane, unsigned count);

/* ---- trigger_facts.c ---- */

/** facts_callback() - bits of the triggers that match the callback at @address. */
uint32_t facts_callback(struct trigger_process *process, uint64_t address);

/** facts_symbol() - the name of a callback: its symbol, its node and source, or its address. */
void facts_symbol(const struct trigger_process *process, uint64_t address,
		  char what[TRIGGER_WHAT_MAX]);

/* The names on the path from a callback to its node; NULL: not known. */
struct facts_path {
	const char *symbol, *topic, *service, *node;
	bool is_timer;
	uint64_t period_ns;		/* of a timer; 0: not known */
};
/** facts_path() - of the callback at @address; valid until the next fact. */
void facts_path(const struct trigger_process *process, uint64_t address, struct facts_path *path);

void facts_free(struct trigger_process *process);

#endif
