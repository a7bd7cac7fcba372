/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events that programs record with include/kymo/kymo.h: spans, instants, counters, their own
 * tracepoints, tracks and thread names. They are read in the same pass over a trace as the model.
 *
 *   model_create(&model, &err);
 *   spans_create(&spans, model, &err);
 *   spans_attach(spans, reader, &err);		instead of model_attach()
 *   spans_listen(spans, &listener, context, &err);
 *   while ((more = kymo_ctf_next(reader, &event, &err)) > 0)
 *       if (spans_event(spans, &event) || model_event(model, &event)) ...	in this order
 *   spans_finish(spans);
 *   model_finish(model);
 *
 * The metadata marks these events (ctf_event_class.uri); all other events are ignored.
 *
 * Nesting. Each thread and each custom track has a stack of open spans. An end belongs to the
 * innermost open span of its category and name; kymo_end_named() to the innermost span that
 * kymo_begin_named() began. Open spans inside that span end at the same time, unfinished. An end
 * without a begin is counted and ignored. A span also ends unfinished
 *   - with the callback in which it began, on the same thread
 *   - where events of its thread were lost: its own end may be among them, and the next end of
 *     that name may be another span's. No duration is ever measured across a loss
 *   - when SPANS_DEPTH_MAX spans are open inside each other
 *   - at the last event of its thread, when the trace ends
 *
 * So every begin causes exactly one begin() and one end(), and the spans of a stack nest. Times
 * from `at_ns` are moved as far as necessary to nest.
 *
 * All times are nanoseconds since the Unix epoch. Events that a listener receives are valid during
 * the call; names, threads and tracks are valid as long as the spans.
 *
 * Context of all functions: not thread-safe; allocate as names, threads and tracks appear.
 */
#ifndef KYMO_ANALYSIS_SPANS_H
#define KYMO_ANALYSIS_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "base/err.h"
#include "ctf/read/reader.h"

#define SPANS_DEPTH_MAX 200
/* Depth of nested tracks; a deeper track belongs directly to the process. */
#define SPANS_TRACK_DEPTH_MAX 64
#define SPANS_REALTIME_MAX 256	/* names of kymo_realtime(); further names are ignored */
/* Dynamic names; further names are counted as "(other names)". */
#define SPANS_NAMES_MAX 65536
#define SPANS_ARGS_MAX KYMO_CTF_BIND_FIELDS

struct spans;

/* A pair of category and name, in all processes. */
struct spans_name {
	uint32_t index;			/* from 0, in order of appearance */
	const char *category, *name;
};

/* A custom track of kymo_track(). */
struct spans_track {
	uint32_t index;
	uint64_t id;
	const struct model_process *process;	/* the first process that used it */
	const struct spans_track *parent;	/* NULL: the process */
	const char *name;		/* "" when its init event is not in the trace */
};

/* A name that a program passed to kymo_realtime(). */
struct spans_realtime {
	const struct model_process *process;
	const char *name;
};

enum spans_kind { SPANS_UNSIGNED, SPANS_SIGNED, SPANS_DOUBLE, SPANS_POINTER, SPANS_TEXT };

struct spans_arg {
	const char *name;		/* NULL: no name (value of a counter) */
	enum spans_kind kind;
	union {
		uint64_t u;		/* also SPANS_POINTER */
		int64_t i;
		double f;
		const char *text;
	};
};

struct spans_event {
	const struct spans_name *name;
	const struct model_thread *thread;	/* of a span: the thread that began it */
	const struct spans_track *track;	/* NULL: on the thread itself */
	int64_t ns;
	uint64_t flow;			/* 0: none */
	const struct spans_arg *arg;	/* the other fields, without at_ns and track */
	unsigned args;
	/* For counter(): */
	struct spans_arg value;
	/* For end(): */
	int64_t begin_ns;
	int64_t self_ns;                /* end less begin, without the spans directly inside */
	bool unfinished;		/* its end is not in the trace */
};

/* Any member may be NULL. */
struct spans_listener {
	void (*begin)(void *context, const struct spans_event *event);
	void (*end)(void *context, const struct spans_event *event);
	void (*instant)(void *context, const struct spans_event *event);
	void (*counter)(void *context, const struct spans_event *event);
	/* An event of a KYMO_TRACEPOINT; its provider is the category. */
	void (*point)(void *context, const struct spans_event *event);
	/* @thread has a new name. */
	void (*thread_name)(void *context, const struct model_thread *thread);
};
#define SPANS_LISTENERS_MAX 8

/**
 * spans_create() - listen to @model, which must stay valid
 * Return: 0, or -1 with @err filled.
 */
int spans_create(struct spans **spans, struct model *model, struct kymo_err *err);
void spans_destroy(struct spans *spans);

/** spans_listen() - @listener must stay valid; up to SPANS_LISTENERS_MAX. Return: 0, or -1 with
 * @err. */
int spans_listen(struct spans *spans, const struct spans_listener *listener, void *context,
		 struct kymo_err *err);
/** spans_listeners(), spans_unlisten() - as model_listeners() and model_unlisten(). */
unsigned spans_listeners(const struct spans *spans);
void spans_unlisten(struct spans *spans, unsigned first, unsigned count);

/** spans_attach() - model_attach(), and bind the events of programs. Return: 0, or -1 with @err. */
int spans_attach(struct spans *spans, struct kymo_ctf_reader *reader, struct kymo_err *err);

/**
 * spans_class() - register an event class of the trace; spans_attach() calls it for each class
 * @class: stays valid as long as the spans; classes of other events are ignored
 * Return: 0, or -ENOMEM.
 */
int spans_class(struct spans *spans, const struct kymo_ctf_event_class *class);

/**
 * spans_bind() - the model's table, followed by the events of spans_class()
 * @count: set to the length of the table
 */
const struct kymo_ctf_bind *spans_bind(const struct spans *spans, unsigned *count);

/**
 * spans_event() - process one event or loss, in time order, before the model.
 *
 * Return: 0, or -ENOMEM.
 */
int spans_event(struct spans *spans, const struct kymo_ctf_event *event);

/** spans_finish() - the trace has ended: end all open spans. Call it before model_finish(). */
void spans_finish(struct spans *spans);

struct spans_facts {
	uint64_t events;		/* events of programs, without declarations and points */
	uint64_t spans, instants, counters, points;
	uint64_t unfinished;		/* spans without an end */
	uint64_t ends_without_begin;
};
/**
 * spans_realtime() - the names of kymo_realtime() so far, by index, each once per process; NULL
 * after the last.
 */
const struct spans_realtime *spans_realtime(const struct spans *spans, unsigned index);
const struct spans_facts *spans_facts(const struct spans *spans);

/* The unit of a counter's values. */
#define SPANS_UNIT_MAX 32u
struct spans_unit {
	char name[SPANS_UNIT_MAX]; /* "ns", "bytes", "percent", "A", ... */
	double ns;                 /* of a duration: how many ns one of it is; 0: not a duration */
};

/**
 * spans_unit() - the unit that the end of a counter's name tells: any text in brackets, as in
 * "current [A]", or one of the known words, as in "queue_bytes"
 *
 * Return: false: it tells none.
 */
bool spans_unit(struct spans_unit *unit, const char *counter);

/* For pass_add(). */
extern const struct pass_ops spans_pass;

#endif
