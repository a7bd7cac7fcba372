/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads any CTF 1.8 trace. A path may be one trace or a directory tree that holds several (a
 * kymo or LTTng session, per-UID and per-PID buffers, kernel and user space, several hosts);
 * their events come merged in time order.
 *
 * The reader never builds an object per event. A consumer binds the events and fields it wants
 * by name; the layout of each event class is compiled once into offsets and skips; ctf_next()
 * then loads just the bound fields. What can be forgiven (a torn tail, a gap, a missing index)
 * is forgiven, reported through ctf_warning_count(), and the rest is given.
 *
 *     static const struct ctf_bind wanted[] = {
 *             { "ros2:callback_start", { "callback", "is_intra_process" } },
 *             { "ros2:callback_end", { "callback" } },
 *     };
 *     struct ctf_reader *reader = NULL;
 *     struct ctf_event event;
 *     struct err err;
 *
 *     if (ctf_open("/data/trace", &reader, &err) || ctf_bind(reader, wanted, 2, &err))
 *             fprintf(stderr, "%s\n", err.text);
 *     else
 *             while (ctf_next(reader, &event, &err) > 0)
 *                     if (event.bound == 0)
 *                             printf("%d: %lx\n", event.vtid, (unsigned long)event.value[0].u);
 *     ctf_close(reader);
 *
 * Link with -lkymo-ctf (pkg-config kymo-ctf, CMake kymo::ctf). Errors are a struct err: `text` says
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

struct ctf_reader;

#define CTF_BIND_FIELDS 8

/*
 * An event by full name ("provider:name"), and the fields of its payload or contexts by name. "syscall_exit_*": all events whose names
 * begin so, and that no row before has.
 */
struct ctf_bind {
	const char *event;
	const char *field[CTF_BIND_FIELDS];	/* ends with NULL */
};

/*
 * Fields are looked for in payload, event, stream event and packet context, in this order; LTTng's
 * leading underscore is left out. Names go down into structures ("pose.x"), options of variants
 * ("value.text": present where this option was chosen) and elements ("points[2].x", "words[0]":
 * present where there are as many; of one array only one element can be bound); of the packet
 * context only the top level.
 *
 * Integers are sign- or zero-extended; enums are their integer, see ctf_label(); floats are
 * doubles; strings, and arrays and sequences of characters, are NUL-terminated bytes. Other arrays
 * and sequences: bytes points to the elements as recorded, packed and in the trace's byte order.
 * What the class or the event does not have, and structures and variants themselves: present = 0,
 * u = 0.
 */
struct ctf_value {
	union {
		uint64_t u;
		int64_t i;
		double f;
		const char *bytes;	/* valid until the next ctf_next(); strings are NUL-terminated */
	};
	uint32_t size;			/* of bytes; element count of other arrays; bits of numbers */
	uint8_t present;
};

/* What one event carries whatever its class. */
struct ctf_event {
	int64_t ns;		/* since the Unix epoch; clock offset applied */
	uint64_t clock_ns;	/* the trace clock itself (CLOCK_MONOTONIC for LTTng and kymo), ns */
	int bound;		/* index into the bind table, or CTF_UNBOUND, CTF_LOSS */
	uint32_t trace;		/* index of the trace (host, domain) it is in */
	uint32_t stream;	/* index of the stream, over all traces */
	int32_t vpid, vtid;	/* from whatever context has them; 0 when none has */
	int32_t cpu;		/* from the packet context; -1 when it has none */
	const char *procname;	/* "" when no context has it; valid until the next ctf_next() */
	uint64_t init_ns;	/* `init_timestamp` context on the trace clock, 0 when absent */
#ifdef __cplusplus
	const struct ctf_event_class *event_class;
#else
	const struct ctf_event_class *class;	/* what C++ calls event_class */
#endif
	struct ctf_value value[CTF_BIND_FIELDS];
	/* bound == CTF_LOSS: between loss_begin_ns and loss_end_ns (trace clock) `lost` events of
	 * this stream were discarded by the tracer, or `lost_packets` packets are missing. It is
	 * told in time order before the packet that reveals it, so that a consumer can distrust
	 * what it has open; ns is the beginning of that packet. class is NULL. */
	uint64_t loss_begin_ns, loss_end_ns;
	uint64_t lost;
	uint64_t lost_packets;
};
#define CTF_UNBOUND (-1)
#define CTF_LOSS (-2)

/* Event classes as the metadata declares them, for `list`. */
struct ctf_event_class {
	const char *name;
	uint64_t id;
	uint32_t index;		/* in ctf_class(), over all traces */
	uint32_t trace;
	uint64_t stream_class;
	int32_t loglevel;	/* -1: none */
	const char *uri;	/* model.emf.uri, what kind of event it is; NULL: none */
	uint32_t field_count;
	const struct ctf_field *field;	/* payload only */
};
struct ctf_field {
	const char *name;	/* LTTng's leading underscore removed */
	const char *type;	/* for people: "u64 (hex)", "string", "u8[16]" */
};

/* What is known about a trace and a stream without decoding events, for `info`. */
struct ctf_trace_info {
	const char *path;	/* directory of its metadata */
	const char *hostname;	/* "" when the environment does not say; NAME#2 of a second one with another clock */
	const char *clock_id;	/* the clock's uuid (of a boot); equal ones are the same clock; "": not told */
	const char *domain;	/* "ust", "kernel", "" */
	const char *tracer;	/* tracer_name of the environment */
	int64_t clock_offset_ns;	/* epoch minus trace clock */
	uint32_t chunk;		/* of a recording in chunks, from 1; 0: it is in none */
	const struct ctf_shift *shift;	/* as ctf_align() was told; NULL: nothing */
	unsigned shifts;
	const char *kernel_release;	/* of the environment; "" when it does not say */
};

/* At a point in time, by what another clock than the trace's own makes it later. */
struct ctf_shift {
	int64_t ns;		/* since the Unix epoch, as the trace itself says */
	int64_t by_ns;
	int64_t error_ns;	/* by which that may be wrong, either way; CTF_ERROR_UNKNOWN */
};
#define CTF_ERROR_UNKNOWN INT64_MAX

struct ctf_stream_info {
	uint32_t trace;
	const char *path;	/* of the data file */
	uint64_t bytes, packets;
	uint64_t begin_ns, end_ns;	/* trace clock */
	uint64_t lost, lost_packets;
};

/**
 * ctf_open() - find and open every trace below @path
 *
 * Return: 0; -1 with @err filled (EXIT_INPUT): nothing there is a trace, metadata does not
 * parse (file:line:column), path unreadable.
 */
int ctf_open(const char *path, struct ctf_reader **reader, struct err *err);

/** ctf_open_all() - the same for @paths paths, at least one, together; ctf_refresh() is not for these. */
int ctf_open_all(const char *const *path, unsigned paths, struct ctf_reader **reader, struct err *err);
void ctf_close(struct ctf_reader *reader);

/**
 * ctf_align() - shift the times of one trace, so that they compare with those of another host
 * @point: in order of time, with by_ns that grow or shrink by less than half as fast as time passes;
 *         between two of them linear, outside as between the nearest two. 0 points: as recorded
 *
 * ctf_event.ns and the trace's clock_offset_ns are shifted. The offset is that of the first point:
 * where the shift changes, what is computed from the trace clock is off by the change since. Rewinds.
 * Not for traces that grow.
 *
 * Return: 0; -1 with @err: out of memory.
 */
int ctf_align(struct ctf_reader *reader, unsigned trace, const struct ctf_shift *point, unsigned points,
	      struct err *err);

/**
 * ctf_bind() - choose events and fields; NULL table: none. Rewinds to the beginning.
 *
 * Return: 0; -1 with @err: out of memory, two elements of one array; then bind something else.
 */
int ctf_bind(struct ctf_reader *reader, const struct ctf_bind *table, unsigned count,
	     struct err *err);

/** ctf_only_bound() - whether ctf_next() passes over events that are not bound. Off at first. A
 * change rewinds. */
void ctf_only_bound(struct ctf_reader *reader, bool only);

/**
 * ctf_threads() - how many threads read, the caller's included; 0: as many as this trace is worth
 *
 * Off (1) at first. The others find events ahead of the caller, at most some MiB; events, their
 * order and the callers' duties stay the same. Rewinds.
 */
void ctf_threads(struct ctf_reader *reader, unsigned threads);

/** ctf_window() - give only events in [begin_ns, end_ns] (epoch). Rewinds. */
int ctf_window(struct ctf_reader *reader, int64_t begin_ns, int64_t end_ns, struct err *err);

/**
 * ctf_until() - for now, give no event later than @end_ns (epoch); does not rewind
 *
 * For growing traces: what streams show late still comes in order when younger events were held back.
 * Takes the place of the window's end. Raise it only.
 */
void ctf_until(struct ctf_reader *reader, int64_t end_ns);

/**
 * ctf_map_time() - have events give their time on another scale, as that of a simulation
 * @map: of a time since the epoch, as in ctf_event.ns, makes what shall stand there; must not go back where
 *       times do not. NULL: none, as at first
 *
 * Of events and losses that come from now on. Order, windows and clock_ns stay those of the trace.
 */
void ctf_map_time(struct ctf_reader *reader, int64_t (*map)(const void *context, int64_t ns), const void *context);

/** ctf_time_of() - the time since the epoch at which the clock of @trace showed @clock_ns; aligned, not mapped. */
int64_t ctf_time_of(const struct ctf_reader *reader, unsigned trace, uint64_t clock_ns);

/** ctf_mapped() - @ns, since the epoch, on that scale. */
int64_t ctf_mapped(const struct ctf_reader *reader, int64_t ns);

/** ctf_rewind() - start again at the beginning; tables and windows stay. */
int ctf_rewind(struct ctf_reader *reader, struct err *err);

/** ctf_next() - the next event or loss in time order. Return: 1; 0 at the end; -1 with @err. */
int ctf_next(struct ctf_reader *reader, struct ctf_event *event, struct err *err);

/**
 * ctf_growing() - whether the trace is still being written. Off at first. A change rewinds.
 *
 * Then a packet is given when all of it is in the file, and the end is only the end for now: see
 * ctf_refresh(). Threads are not used.
 */
void ctf_growing(struct ctf_reader *reader, bool growing);

/**
 * ctf_refresh() - look again at a growing trace: for packets, streams, event classes and traces
 *
 * Afterwards ctf_next() goes on where it was. Of one stream nothing is left out or given twice,
 * and its order holds. Streams are merged by time as far as they are known: what a stream shows
 * later than others comes later, with an earlier time; give streams as long to write a packet as
 * the recorder takes (its flush period) where order matters. Pointers that were given (classes,
 * traces, streams) stay valid; counts may grow. Of the events of a new class those are bound that
 * the table of ctf_bind() names.
 *
 * Return: 1: there is something new; 0: nothing; -1 with @err: as ctf_open(), the reader stays as
 * it was.
 */
int ctf_refresh(struct ctf_reader *reader, struct err *err);

/**
 * ctf_label() - the label of value[@value] of @event, which is of an enum
 *
 * Return: the first one whose range has it, valid as long as event->class; NULL: there is none.
 */
const char *ctf_label(const struct ctf_event *event, unsigned value);

/** ctf_print_event() - the event last returned, as babeltrace2's text output prints it. */
void ctf_print_event(struct ctf_reader *reader, const struct ctf_event *event, FILE *out);

/** ctf_print_event_json() - the event last returned, as one JSON object on one line. */
void ctf_print_event_json(struct ctf_reader *reader, const struct ctf_event *event, FILE *out);

/**
 * ctf_epoch() - when the clock of a stream class of a trace has the value @clock
 *
 * Return: ns since the Unix epoch, as in ctf_event; INT64_MIN: there is no such class.
 */
int64_t ctf_epoch(const struct ctf_reader *reader, unsigned trace, uint64_t stream_class, uint64_t clock);

unsigned ctf_class_count(const struct ctf_reader *reader);
const struct ctf_event_class *ctf_class(const struct ctf_reader *reader, unsigned index);
unsigned ctf_trace_count(const struct ctf_reader *reader);
const struct ctf_trace_info *ctf_trace(const struct ctf_reader *reader, unsigned index);
unsigned ctf_stream_count(const struct ctf_reader *reader);
const struct ctf_stream_info *ctf_stream(const struct ctf_reader *reader, unsigned index);

/** ctf_warning_count() - what was forgiven so far; each text names file and place. */
unsigned ctf_warning_count(const struct ctf_reader *reader);
const char *ctf_warning(const struct ctf_reader *reader, unsigned index);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
