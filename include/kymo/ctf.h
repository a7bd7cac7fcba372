/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader of traces in CTF 1.8 and CTF 2.
 *
 *     static const struct kymo_ctf_bind wanted[] = {
 *             { "ros2:callback_start", { "callback", "is_intra_process" } },
 *             { "ros2:callback_end", { "callback" } },
 *     };
 *     struct kymo_ctf_reader *reader = NULL;
 *     struct kymo_ctf_event event;
 *     struct kymo_err err;
 *
 *     if (kymo_ctf_open("/data/trace", &reader, &err) || kymo_ctf_bind(reader, wanted, 2, &err))
 *             fprintf(stderr, "%s\n", err.text);
 *     else
 *             while (kymo_ctf_next(reader, &event, &err) > 0)
 *                     if (event.bound == 0)
 *                             printf("%d: %lx\n", event.vtid, (unsigned long)event.value[0].u);
 *     kymo_ctf_close(reader);
 *
 * The path is a trace, or a directory that contains several traces at any depth: a session of kymo
 * or LTTng, per-UID and per-PID buffers, kernel and user space, several hosts. The reader returns
 * the events of all of them in the order of time.
 *
 * You bind the events and fields that you want by name. The reader compiles the layout of each
 * event class once, and kymo_ctf_next() loads only the bound fields; it creates no object per
 * event. The reader skips what is damaged (a torn tail, a gap, a missing index), keeps a warning
 * for kymo_ctf_warning(), and returns the rest.
 *
 * Link with -lkymo-ctf (pkg-config kymo-ctf, CMake kymo::ctf). Errors are a struct kymo_err: its
 * text says what failed, where, and what to do. You may pass NULL instead.
 *
 * Context of all functions: allocate and block. A reader belongs to one thread; several threads may
 * have a reader each.
 */
#ifndef KYMO_CTF_H
#define KYMO_CTF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <kymo/err.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct kymo_ctf_reader;

#define KYMO_CTF_BIND_FIELDS 8

/*
 * An event that you want, by its full name ("provider:name"), and the fields of its payload or contexts
 * by name. "syscall_exit_*" binds all events with that beginning that no earlier row binds.
 */
struct kymo_ctf_bind {
	const char *event;
	const char *field[KYMO_CTF_BIND_FIELDS];	/* ends with NULL */
};

/*
 * The value of a bound field.
 *
 * The reader looks for a field in the payload, the event context, the stream event context and the
 * packet context, in this order. Write the name without LTTng's leading underscore. A name can
 * select a member of a structure ("pose.x"), an option of a variant ("value.text", present if this
 * option was chosen) or an element of an array ("points[2].x", "words[0]", present if the array is
 * that long). You can bind one element of each array. In the packet context only the top level can
 * be bound.
 *
 * Integers are sign- or zero-extended. Enums are integers, see kymo_ctf_label(). Floats are
 * doubles. Strings, and arrays and sequences of characters, are NUL-terminated bytes. For other
 * arrays and sequences, `bytes` points to the elements as recorded: packed, in the byte order of
 * the trace. If the class or the event has no such field, and for structures and variants
 * themselves: present = 0, u = 0.
 */
struct kymo_ctf_value {
	union {
		uint64_t u;
		int64_t i;
		double f;
		/* valid until the next kymo_ctf_next(); strings are NUL-terminated */
		const char *bytes;
	};
	/* of bytes; element count of other arrays; bits of numbers */
	uint32_t size;
	uint8_t present;
};

/* An event. The members up to procname have the same meaning for every event class. */
struct kymo_ctf_event {
	int64_t ns;		/* since the Unix epoch; clock offset applied */
	/* the trace clock itself (CLOCK_MONOTONIC for LTTng and kymo), ns */
	uint64_t clock_ns;
	int bound;		/* index into the bind table, or KYMO_CTF_UNBOUND, KYMO_CTF_LOSS */
	uint32_t trace;		/* index of its trace (host, domain), for kymo_ctf_trace() */
	uint32_t stream;	/* index of its stream, counted over all traces */
	int32_t vpid, vtid;	/* from the first context that has them; 0 if none has */
	int32_t cpu;		/* from the packet context; -1 if it has none */
	const char *procname;	/* "" if no context has it; valid until the next kymo_ctf_next() */
	uint64_t init_ns;	/* `init_timestamp` context on the trace clock; 0 if absent */
#ifdef __cplusplus
	const struct kymo_ctf_event_class *event_class;
#else
	const struct kymo_ctf_event_class *class;	/* what C++ calls event_class */
#endif
	struct kymo_ctf_value value[KYMO_CTF_BIND_FIELDS];
	/*
	 * bound == KYMO_CTF_LOSS: the tracer discarded `lost` events of this stream between
	 * loss_begin_ns and loss_end_ns (trace clock), or `lost_packets` packets are missing. The
	 * loss comes in the order of time, before the packet that reveals it, so that you can
	 * distrust what is open at that point. `ns` is the beginning of that packet; `class` is
	 * NULL.
	 */
	uint64_t loss_begin_ns, loss_end_ns;
	uint64_t lost;
	uint64_t lost_packets;
	uint64_t lost_in_packets; /* events in the missing packets, as far as a relay knows */
};
#define KYMO_CTF_UNBOUND (-1)
#define KYMO_CTF_LOSS (-2)

/* An event class, as the metadata declares it. */
struct kymo_ctf_event_class {
	const char *name;
	uint64_t id;
	uint32_t index;		/* in kymo_ctf_class(), over all traces */
	uint32_t trace;
	uint64_t stream_class;
	int32_t loglevel;	/* -1: none */
	const char *uri;	/* model.emf.uri, the kind of event; NULL: none */
	uint32_t field_count;
	const struct kymo_ctf_field *field;	/* payload only */
};
struct kymo_ctf_field {
	const char *name;	/* LTTng's leading underscore removed */
	const char *type;	/* for people: "u64 (hex)", "string", "u8[16]" */
};

/* What the reader knows of a trace without decoding events. */
struct kymo_ctf_trace_info {
	const char *path;	/* directory of its metadata */
	const char *hostname;	/* "" if unknown; NAME#2 for a second host of that name with another clock */
	const char *clock_id;	/* uuid of the clock (of a boot); equal ids are the same clock; "": unknown */
	const char *domain;	/* "ust", "kernel", "" */
	const char *tracer;	/* tracer_name of the environment */
	int64_t clock_offset_ns;	/* epoch minus trace clock */
	uint32_t chunk;		/* number of its chunk, from 1; 0: the recording has no chunks */
	const struct kymo_ctf_shift *shift;	/* given to kymo_ctf_align(); NULL: none */
	unsigned shifts;
	const char *kernel_release;	/* from the environment; "" if unknown */
};

/* At a point in time, the difference between another clock and the trace's own clock. */
struct kymo_ctf_shift {
	/* the point in time, since the Unix epoch, by the trace's own clock */
	int64_t ns;
	int64_t by_ns;		/* the other clock is later by this */
	int64_t error_ns;	/* by_ns may be wrong by this, either way; KYMO_CTF_ERROR_UNKNOWN */
};
#define KYMO_CTF_ERROR_UNKNOWN INT64_MAX

/* What the reader knows of a stream without decoding events. */
struct kymo_ctf_stream_info {
	uint32_t trace;
	const char *path;	/* of the data file */
	uint64_t bytes, packets;
	uint64_t begin_ns, end_ns;	/* trace clock */
	uint64_t lost, lost_packets;
	uint64_t lost_in_packets; /* events in the missing packets, as far as a relay knows */
};

/**
 * kymo_ctf_open() - find and open every trace below @path
 *
 * Return: 0; -1 with @err (KYMO_EXIT_INPUT): @path contains no trace or is unreadable, or metadata
 * does not parse (the text has file:line:column).
 */
int kymo_ctf_open(const char *path, struct kymo_ctf_reader **reader, struct kymo_err *err);

/**
 * kymo_ctf_open_all() - open the traces below @paths paths, at least one, as one
 *
 * kymo_ctf_refresh() does not work with such a reader. Return: as kymo_ctf_open().
 */
int kymo_ctf_open_all(const char *const *path, unsigned paths, struct kymo_ctf_reader **reader,
		      struct kymo_err *err);

/** kymo_ctf_close() - free a reader and all that it gave away; NULL is allowed. */
void kymo_ctf_close(struct kymo_ctf_reader *reader);

/**
 * kymo_ctf_align() - shift the times of one trace, so that they compare with those of another host
 * @trace: its index; without effect if there is no such trace
 * @point: shifts in the order of time; by_ns changes less than half as fast as time passes. Between
 *         two points the shift is linear, outside of them it continues that of the nearest two.
 * @points: how many; 0: times as recorded
 *
 * The call shifts kymo_ctf_event.ns, and the trace's clock_offset_ns by the first point. Times that
 * you compute from the trace clock and that offset are wrong by the change of the shift since the
 * first point. Rewinds. Does not work for a trace that grows.
 *
 * Return: 0; -1 with @err: out of memory.
 */
int kymo_ctf_align(struct kymo_ctf_reader *reader, unsigned trace,
		   const struct kymo_ctf_shift *point, unsigned points, struct kymo_err *err);

/**
 * kymo_ctf_bind() - choose events and fields; @table NULL: none. Rewinds to the beginning.
 *
 * Return: 0; -1 with @err: out of memory, or @table binds two elements of one array.
 */
int kymo_ctf_bind(struct kymo_ctf_reader *reader, const struct kymo_ctf_bind *table, unsigned count,
	     struct kymo_err *err);

/**
 * kymo_ctf_only_bound() - let kymo_ctf_next() skip events that are not bound. Off at first. A
 * change rewinds.
 */
void kymo_ctf_only_bound(struct kymo_ctf_reader *reader, bool only);

/**
 * kymo_ctf_threads() - read with this many threads, the caller's included; 0: the reader chooses
 *
 * 1 at first. The other threads find events ahead of the caller, at most some MiB. The events and
 * their order stay the same, and you still call all functions from one thread. Rewinds.
 */
void kymo_ctf_threads(struct kymo_ctf_reader *reader, unsigned threads);

/** kymo_ctf_window() - return only events in [begin_ns, end_ns], since the Unix epoch. Rewinds.
 * Return: as kymo_ctf_rewind(). */
int kymo_ctf_window(struct kymo_ctf_reader *reader, int64_t begin_ns, int64_t end_ns,
		    struct kymo_err *err);

/**
 * kymo_ctf_until() - for now, return no event later than @end_ns (since the epoch); does not rewind
 *
 * For growing traces: a stream that shows its events late still comes in order if you hold back
 * younger events. Replaces the end of the window. The value may only grow.
 */
void kymo_ctf_until(struct kymo_ctf_reader *reader, int64_t end_ns);

/**
 * kymo_ctf_map_time() - convert the times of events to another scale, for example a simulation's
 * time
 * @map: converts a time since the epoch to the value of kymo_ctf_event.ns; must be monotonic. NULL:
 *       none, as at first
 *
 * Affects events and losses that come from now on. Order, windows and clock_ns stay those of the
 * trace.
 */
void kymo_ctf_map_time(struct kymo_ctf_reader *reader,
		       int64_t (*map)(const void *context, int64_t ns), const void *context);

/**
 * kymo_ctf_time_of() - convert the clock of @trace to ns since the epoch
 * @trace: below kymo_ctf_trace_count()
 * @clock_ns: as kymo_ctf_event.clock_ns
 *
 * kymo_ctf_align() counts, kymo_ctf_map_time() does not.
 */
int64_t kymo_ctf_time_of(const struct kymo_ctf_reader *reader, unsigned trace, uint64_t clock_ns);

/** kymo_ctf_mapped() - convert @ns, since the epoch, as kymo_ctf_map_time() was told. */
int64_t kymo_ctf_mapped(const struct kymo_ctf_reader *reader, int64_t ns);

/**
 * kymo_ctf_rewind() - go back to the beginning; bindings and windows stay. Return: 0; -1 with @err.
 */
int kymo_ctf_rewind(struct kymo_ctf_reader *reader, struct kymo_err *err);

/**
 * kymo_ctf_next() - the next event or loss in time order. Return: 1; 0 at the end; -1 with @err.
 */
int kymo_ctf_next(struct kymo_ctf_reader *reader, struct kymo_ctf_event *event,
		  struct kymo_err *err);

/**
 * kymo_ctf_growing() - say that the trace is still being written. Off at first. A change rewinds.
 *
 * The reader then reads a packet only when all of it is in the file, and an end is only the end for
 * now: see kymo_ctf_refresh(). The reader uses no threads. A change drops the warnings so far:
 * those that still hold come again.
 */
void kymo_ctf_growing(struct kymo_ctf_reader *reader, bool growing);

/**
 * kymo_ctf_refresh() - look for new packets, streams, event classes and traces of a growing trace
 *
 * Afterwards kymo_ctf_next() continues. The reader skips and repeats nothing of a stream, and keeps
 * its order. It merges streams by time as far as it knows them: if a stream shows its events later
 * than others, they come later, with an earlier time. If order matters, hold events back with
 * kymo_ctf_until() for as long as the recorder takes to write a packet (its flush period). Pointers
 * to classes, traces and streams stay valid; their numbers may grow. Events of new classes are
 * bound if the table of kymo_ctf_bind() names them.
 *
 * Return: 1: there is something new; 0: there is nothing new; -1 with @err, as kymo_ctf_open(): the
 * reader stays as it was. KYMO_EXIT_USAGE: kymo_ctf_growing() was not called.
 */
int kymo_ctf_refresh(struct kymo_ctf_reader *reader, struct kymo_err *err);

/**
 * kymo_ctf_label() - the label of an enum: of value[@value] of @event
 *
 * Return: the first label whose range contains the value, valid as long as event->class; NULL:
 * none.
 */
const char *kymo_ctf_label(const struct kymo_ctf_event *event, unsigned value);

/**
 * kymo_ctf_print_event() - print the event that kymo_ctf_next() returned last, as babeltrace2 does
 *
 * Prints nothing for a loss, nor without memory.
 */
void kymo_ctf_print_event(struct kymo_ctf_reader *reader, const struct kymo_ctf_event *event,
			  FILE *out);

/** kymo_ctf_print_event_json() - print the event returned last as one JSON object on one line. As
 * above, a loss prints nothing. */
void kymo_ctf_print_event_json(struct kymo_ctf_reader *reader, const struct kymo_ctf_event *event,
			       FILE *out);

/**
 * kymo_ctf_epoch() - convert a value of the clock of a stream class of a trace
 *
 * Return: ns since the Unix epoch, as in kymo_ctf_event; INT64_MIN: no such class.
 */
int64_t kymo_ctf_epoch(const struct kymo_ctf_reader *reader, unsigned trace, uint64_t stream_class,
		       uint64_t clock);

/*
 * What the trace contains. An index counts from 0, over all traces; the functions return NULL for
 * one that is too large. Pointers stay valid until kymo_ctf_close().
 */
unsigned kymo_ctf_class_count(const struct kymo_ctf_reader *reader);
const struct kymo_ctf_event_class *kymo_ctf_class(const struct kymo_ctf_reader *reader,
						  unsigned index);
unsigned kymo_ctf_trace_count(const struct kymo_ctf_reader *reader);
const struct kymo_ctf_trace_info *kymo_ctf_trace(const struct kymo_ctf_reader *reader,
						 unsigned index);
unsigned kymo_ctf_stream_count(const struct kymo_ctf_reader *reader);
const struct kymo_ctf_stream_info *kymo_ctf_stream(const struct kymo_ctf_reader *reader,
						   unsigned index);

/**
 * kymo_ctf_warning_count() - how many warnings there are so far; each text names the file and the
 * place.
 */
unsigned kymo_ctf_warning_count(const struct kymo_ctf_reader *reader);

/** kymo_ctf_warning() - valid until kymo_ctf_growing() or kymo_ctf_close(). Return: NULL: @index is
 * too large. */
const char *kymo_ctf_warning(const struct kymo_ctf_reader *reader, unsigned index);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
