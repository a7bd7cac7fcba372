/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of spans.h. */
#ifndef KYMO_ANALYSIS_SPANS_INTERNAL_H
#define KYMO_ANALYSIS_SPANS_INTERNAL_H

#include "analysis/model/model_events.h"
#include "analysis/spans/spans.h"
#include "base/map.h"
#include "base/pool.h"

enum shape { SHAPE_BEGIN, SHAPE_END, SHAPE_INSTANT, SHAPE_COUNTER, SHAPE_POINT, SHAPE_TRACK,
	     SHAPE_THREAD_NAME, SHAPE_REALTIME };

/* Fields with a special meaning. */
enum special {
	SPECIAL_FLOW, SPECIAL_TRACK, SPECIAL_AT, SPECIAL_VALUE, SPECIAL_CATEGORY, SPECIAL_NAME,
	SPECIAL_PARENT, SPECIALS
};

/* The meaning of an event class, by index of the class. */
struct user_class {
	enum shape shape;
	/* The name is a field of the event; an end belongs to the last such span. */
	bool dynamic;
	unsigned row;			/* of the bind table */
	const struct spans_name *name;	/* NULL when dynamic */
	int8_t special[SPECIALS];	/* index into ctf_event.value, -1: none */
	enum spans_kind value_kind;
	uint8_t args;
	struct {
		const char *name;
		enum spans_kind kind;
		uint8_t value;		/* index into ctf_event.value */
	} arg[SPANS_ARGS_MAX];
};

#define SPANS_NO_ROW UINT32_MAX /* of a class whose events are not read */

/* A span that has not ended. */
struct open_span {
	const struct spans_name *name;
	struct user_thread *owner;	/* the thread that began it */
	uint64_t number;		/* counts all begins of the trace */
	int64_t begin_ns;
	/* Earliest allowed end: its begin, or the end of the last span inside. */
	int64_t last_ns;
	int64_t inner_ns; /* duration of the spans directly inside that have ended */
	bool dynamic;
};

/* The open spans of a thread or a custom track, the innermost last. */
struct stack {
	struct open_span *open;
	unsigned count, room;
};

struct user_track {
	struct spans_track pub;
	unsigned depth;			/* number of tracks above it */
	struct stack stack;
};

/* A span that this thread began on a custom track and that is still open. */
struct away {
	struct user_track *track;
	uint64_t number;
};

struct user_thread {
	const struct model_thread *thread;
	struct stack stack;
	struct away *away;
	unsigned aways, away_room;
	uint32_t stream;		/* of its last event */
	int64_t last_ns;
};

struct spans {
	struct model *model;
	struct pool pool;
	struct user_class **class;	/* by index of the class; NULL: not an event of programs */
	unsigned class_count;
	struct kymo_ctf_bind *bind; /* the model's rows, then the rows of this analysis */
	unsigned bind_count, bind_room, model_rows;
	struct map rows;		/* (hash of the event's name, probe) -> row + 1 */
	struct map names;		/* (hash, probe) -> struct spans_name */
	uint32_t name_count;
	struct map tracks;		/* (id, host) -> struct user_track */
	struct user_track **track;
	uint32_t track_count, track_room;
	struct user_thread **thread;	/* by index of the model's thread; NULL: no spans */
	unsigned thread_count;
	struct spans_realtime *realtime;
	unsigned realtimes, realtime_room;
	uint64_t begins;
	const struct spans_listener *listener[SPANS_LISTENERS_MAX];
	void *listener_context[SPANS_LISTENERS_MAX];
	unsigned listeners;
	struct spans_facts facts;
	bool out_of_memory;
};

#define SPANS_EMIT(spans, what, event)							\
	do {										\
		for (unsigned emit_ = 0; emit_ < (spans)->listeners; emit_++)		\
			if ((spans)->listener[emit_]->what)				\
				(spans)->listener[emit_]->what(				\
					(spans)->listener_context[emit_], event);	\
	} while (0)

/* spans_class.c */
/* The class of an event, also of one that was declared after the reader was bound. NULL: none. */
const struct user_class *spans_class_of(struct spans *spans, const struct kymo_ctf_event *event);
const struct spans_name *spans_name_of(struct spans *spans, const char *category, const char *name);

/* spans_stack.c: @event has name, thread, track, time, flow and arguments. */
void spans_begin(struct spans *spans, struct user_thread *owner, struct user_track *track,
		 const struct spans_event *event, bool dynamic);
/* @track NULL: the track on which the thread began the span. */
void spans_end(struct spans *spans, struct user_thread *thread, struct user_track *track,
	       const struct spans_event *event, bool dynamic);
/*
 * End, unfinished at @ns, all spans of @thread that began at @since_ns or later and are on the
 * thread itself.
 */
void spans_close_since(struct spans *spans, struct user_thread *thread, int64_t since_ns,
		       int64_t ns);
/* End, unfinished at @ns, all spans that @thread began, on any track. */
void spans_close_all(struct spans *spans, struct user_thread *thread, int64_t ns);

#endif
