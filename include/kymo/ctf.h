/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads any CTF 1.8 trace. A path may be one trace or a directory tree that holds several (a
 * kymo or LTTng session, per-UID and per-PID buffers, kernel and user space, several hosts);
 * their events come merged in time order.
 *
 * The reader never builds an object per event. A consumer binds the events and fields it wants
 * by name; the layout of each event class is compiled once into offsets and skips; kymo_ctf_next()
 * then loads just the bound fields. What can be forgiven (a torn tail, a gap, a missing index)
 * is forgiven, reported through kymo_ctf_warning_count(), and the rest is given.
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
 * Link with -lkymo-ctf (pkg-config kymo-ctf, CMake kymo::ctf). Errors are a struct kymo_err: `text` says
 * what happened, where, and what to do; NULL where nobody wants to know.
 *
 * Context of all functions: allocate and block; a reader belongs to one thread. Of several readers
 * each may be in a thread of its own.
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
 * An event by full name ("provider:name"), and the fields of its payload or contexts by name. "syscall_exit_*": all events whose names
 * begin so, and that no row before has.
 */
struct kymo_ctf_bind {
	const char *event;
	const char *field[KYMO_CTF_BIND_FIELDS];	/* ends with NULL */
};

/*
 * Fields are looked for in payload, event, stream event and packet context, in this order; LTTng's
 * leading underscore is left out. Names go down into structures ("pose.x"), options of variants
 * ("value.text": present where this option was chosen) and elements ("points[2].x", "words[0]":
 * present where there are as many; of one array only one element can be bound); of the packet
 * context only the top level.
 *
 * Integers are sign- or zero-extended; enums are their integer, see kymo_ctf_label(); floats are
 * doubles; strings, and arrays and sequences of characters, are NUL-terminated bytes. Other arrays
 * and sequences: bytes points to the elements as recorded, packed and in the trace's byte order.
 * What the class or the event does not have, and structures and variants themselves: present = 0,
 * u = 0.
 */
struct kymo_ctf_value {
	union {
		uint64_t u;
		int64_t i;
		double f;
		const char *bytes;	/* valid until the next kymo_ctf_next(); strings are NUL-terminated */
	};
	uint32_t size;			/* of bytes; element count of other arrays; bits of numbers */
	uint8_t present;
};

/* What one event carries whatever its class. */
struct kymo_ctf_event {
	int64_t ns;		/* since the Unix epoch; clock offset applied */
	uint64_t clock_ns;	/* the trace clock itself (CLOCK_MONOTONIC for LTTng and kymo), ns */
	int bound;		/* index into the bind table, or KYMO_CTF_UNBOUND, KYMO_CTF_LOSS */
	uint32_t trace;		/* index of the trace (host, domain) it is in */
	uint32_t stream;	/* index of the stream, over all traces */
	int32_t vpid, vtid;	/* from whatever context has them; 0 when none has */
	int32_t cpu;		/* from the packet context; -1 when it has none */
	const char *procname;	/* "" when no context has it; valid until the next kymo_ctf_next() */
	uint64_t init_ns;	/* `init_timestamp` context on the trace clock, 0 when absent */
#ifdef __cplusplus
	const struct kymo_ctf_event_class *event_class;
#else
	const struct kymo_ctf_event_class *class;	/* what C++ calls event_class */
#endif
	struct kymo_ctf_value value[KYMO_CTF_BIND_FIELDS];
	/* bound == KYMO_CTF_LOSS: between loss_begin_ns and loss_end_ns (trace clock) `lost` events of
	 * this stream were discarded by the tracer, or `lost_packets` packets are missing. It is
	 * told in time order before the packet that reveals it, so that a consumer can distrust
	 * what it has open; ns is the beginning of that packet. class is NULL. */
	uint64_t loss_begin_ns, loss_end_ns;
	uint64_t lost;
	uint64_t lost_packets;
};
#define KYMO_CTF_UNBOUND (-1)
#define KYMO_CTF_LOSS (-2)

/* Event classes as the metadata declares them, for `list`. */
struct kymo_ctf_event_class {
	const char *name;
	uint64_t id;
	uint32_t index;		/* in kymo_ctf_class(), over all traces */
	uint32_t trace;
	uint64_t stream_class;
	int32_t loglevel;	/* -1: none */
	const char *uri;	/* model.emf.uri, what kind of event it is; NULL: none */
	uint32_t field_count;
	const struct kymo_ctf_field *field;	/* payload only */
};
struct kymo_ctf_field {
	const char *name;	/* LTTng's leading underscore removed */
	const char *type;	/* for people: "u64 (hex)", "string", "u8[16]" */
};

/* What is known about a trace and a stream without decoding events, for `info`. */
struct kymo_ctf_trace_info {
	const char *path;	/* directory of its metadata */
	const char *hostname;	/* "" when the environment does not say; NAME#2 of a second one with another clock */
	const char *clock_id;	/* the clock's uuid (of a boot); equal ones are the same clock; "": not told */
	const char *domain;	/* "ust", "kernel", "" */
	const char *tracer;	/* tracer_name of the environment */
	int64_t clock_offset_ns;	/* epoch minus trace clock */
	uint32_t chunk;		/* of a recording in chunks, from 1; 0: it is in none */
	const struct kymo_ctf_shift *shift;	/* as kymo_ctf_align() was told; NULL: nothing */
	unsigned shifts;
	const char *kernel_release;	/* of the environment; "" when it does not say */
};

/* At a point in time, by what another clock than the trace's own makes it later. */
struct kymo_ctf_shift {
	int64_t ns;		/* since the Unix epoch, as the trace itself says */
	int64_t by_ns;
	int64_t error_ns;	/* by which that may be wrong, either way; KYMO_CTF_ERROR_UNKNOWN */
};
#define KYMO_CTF_ERROR_UNKNOWN INT64_MAX

struct kymo_ctf_stream_info {
	uint32_t trace;
	const char *path;	/* of the data file */
	uint64_t bytes, packets;
	uint64_t begin_ns, end_ns;	/* trace clock */
	uint64_t lost, lost_packets;
};

/**
 * kymo_ctf_open() - find and open every trace below @path
 *
 * Return: 0; -1 with @err filled (KYMO_EXIT_INPUT): nothing there is a trace, metadata does not
 * parse (file:line:column), path unreadable.
 */
int kymo_ctf_open(const char *path, struct kymo_ctf_reader **reader, struct kymo_err *err);

/** kymo_ctf_open_all() - the same for @paths paths, at least one, together; kymo_ctf_refresh() is not for these. */
int kymo_ctf_open_all(const char *const *path, unsigned paths, struct kymo_ctf_reader **reader, struct kymo_err *err);
void kymo_ctf_close(struct kymo_ctf_reader *reader);

/**
 * kymo_ctf_align() - shift the times of one trace, so that they compare with those of another host
 * @point: in order of time, with by_ns that grow or shrink by less than half as fast as time passes;
 *         between two of them linear, outside as between the nearest two. 0 points: as recorded
 *
 * ctf_event.ns and the trace's clock_offset_ns are shifted. The offset is that of the first point:
 * where the shift changes, what is computed from the trace clock is off by the change since. Rewinds.
 * Not for traces that grow.
 *
 * Return: 0; -1 with @err: out of memory.
 */
int kymo_ctf_align(struct kymo_ctf_reader *reader, unsigned trace, const struct kymo_ctf_shift *point, unsigned points,
	      struct kymo_err *err);

/**
 * kymo_ctf_bind() - choose events and fields; NULL table: none. Rewinds to the beginning.
 *
 * Return: 0; -1 with @err: out of memory, two elements of one array; then bind something else.
 */
int kymo_ctf_bind(struct kymo_ctf_reader *reader, const struct kymo_ctf_bind *table, unsigned count,
	     struct kymo_err *err);

/** kymo_ctf_only_bound() - whether kymo_ctf_next() passes over events that are not bound. Off at first. A
 * change rewinds. */
void kymo_ctf_only_bound(struct kymo_ctf_reader *reader, bool only);

/**
 * kymo_ctf_threads() - how many threads read, the caller's included; 0: as many as this trace is worth
 *
 * Off (1) at first. The others find events ahead of the caller, at most some MiB; events, their
 * order and the callers' duties stay the same. Rewinds.
 */
void kymo_ctf_threads(struct kymo_ctf_reader *reader, unsigned threads);

/** kymo_ctf_window() - give only events in [begin_ns, end_ns] (epoch). Rewinds. */
int kymo_ctf_window(struct kymo_ctf_reader *reader, int64_t begin_ns, int64_t end_ns, struct kymo_err *err);

/**
 * kymo_ctf_until() - for now, give no event later than @end_ns (epoch); does not rewind
 *
 * For growing traces: what streams show late still comes in order when younger events were held back.
 * Takes the place of the window's end. Raise it only.
 */
void kymo_ctf_until(struct kymo_ctf_reader *reader, int64_t end_ns);

/**
 * kymo_ctf_map_time() - have events give their time on another scale, as that of a simulation
 * @map: of a time since the epoch, as in ctf_event.ns, makes what shall stand there; must not go back where
 *       times do not. NULL: none, as at first
 *
 * Of events and losses that come from now on. Order, windows and clock_ns stay those of the trace.
 */
void kymo_ctf_map_time(struct kymo_ctf_reader *reader, int64_t (*map)(const void *context, int64_t ns), const void *context);

/** kymo_ctf_time_of() - the time since the epoch at which the clock of @trace showed @clock_ns; aligned, not mapped. */
int64_t kymo_ctf_time_of(const struct kymo_ctf_reader *reader, unsigned trace, uint64_t clock_ns);

/** kymo_ctf_mapped() - @ns, since the epoch, on that scale. */
int64_t kymo_ctf_mapped(const struct kymo_ctf_reader *reader, int64_t ns);

/** kymo_ctf_rewind() - start again at the beginning; tables and windows stay. */
int kymo_ctf_rewind(struct kymo_ctf_reader *reader, struct kymo_err *err);

/** kymo_ctf_next() - the next event or loss in time order. Return: 1; 0 at the end; -1 with @err. */
int kymo_ctf_next(struct kymo_ctf_reader *reader, struct kymo_ctf_event *event, struct kymo_err *err);

/**
 * kymo_ctf_growing() - whether the trace is still being written. Off at first. A change rewinds.
 *
 * Then a packet is given when all of it is in the file, and the end is only the end for now: see
 * kymo_ctf_refresh(). Threads are not used.
 */
void kymo_ctf_growing(struct kymo_ctf_reader *reader, bool growing);

/**
 * kymo_ctf_refresh() - look again at a growing trace: for packets, streams, event classes and traces
 *
 * Afterwards kymo_ctf_next() goes on where it was. Of one stream nothing is left out or given twice,
 * and its order holds. Streams are merged by time as far as they are known: what a stream shows
 * later than others comes later, with an earlier time; give streams as long to write a packet as
 * the recorder takes (its flush period) where order matters. Pointers that were given (classes,
 * traces, streams) stay valid; counts may grow. Of the events of a new class those are bound that
 * the table of kymo_ctf_bind() names.
 *
 * Return: 1: there is something new; 0: nothing; -1 with @err: as kymo_ctf_open(), the reader stays as
 * it was.
 */
int kymo_ctf_refresh(struct kymo_ctf_reader *reader, struct kymo_err *err);

/**
 * kymo_ctf_label() - the label of value[@value] of @event, which is of an enum
 *
 * Return: the first one whose range has it, valid as long as event->class; NULL: there is none.
 */
const char *kymo_ctf_label(const struct kymo_ctf_event *event, unsigned value);

/** kymo_ctf_print_event() - the event last returned, as babeltrace2's text output prints it. */
void kymo_ctf_print_event(struct kymo_ctf_reader *reader, const struct kymo_ctf_event *event, FILE *out);

/** kymo_ctf_print_event_json() - the event last returned, as one JSON object on one line. */
void kymo_ctf_print_event_json(struct kymo_ctf_reader *reader, const struct kymo_ctf_event *event, FILE *out);

/**
 * kymo_ctf_epoch() - when the clock of a stream class of a trace has the value @clock
 *
 * Return: ns since the Unix epoch, as in ctf_event; INT64_MIN: there is no such class.
 */
int64_t kymo_ctf_epoch(const struct kymo_ctf_reader *reader, unsigned trace, uint64_t stream_class, uint64_t clock);

unsigned kymo_ctf_class_count(const struct kymo_ctf_reader *reader);
const struct kymo_ctf_event_class *kymo_ctf_class(const struct kymo_ctf_reader *reader, unsigned index);
unsigned kymo_ctf_trace_count(const struct kymo_ctf_reader *reader);
const struct kymo_ctf_trace_info *kymo_ctf_trace(const struct kymo_ctf_reader *reader, unsigned index);
unsigned kymo_ctf_stream_count(const struct kymo_ctf_reader *reader);
const struct kymo_ctf_stream_info *kymo_ctf_stream(const struct kymo_ctf_reader *reader, unsigned index);

/** kymo_ctf_warning_count() - what was forgiven so far; each text names file and place. */
unsigned kymo_ctf_warning_count(const struct kymo_ctf_reader *reader);
const char *kymo_ctf_warning(const struct kymo_ctf_reader *reader, unsigned index);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
