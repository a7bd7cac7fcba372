/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink of your own: what a session of session.h records, handed to functions of yours, for
 * example to send it somewhere.
 *
 *     static int on_packet(void *context, const struct kymo_sink_packet *packet)
 *     {
 *             struct kymo_sink_event event = { 0 };
 *
 *             (void)context;
 *             while (kymo_sink_next(packet, &event))
 *                     printf("%d %s\n", event.tid, event.declared->name);
 *             return 0;
 *     }
 *     ...
 *     const struct kymo_sink_options options = {
 *             .size = sizeof options, .name = "printer", .packet = on_packet,
 *     };
 *     struct kymo_sink *sink = kymo_sink_create(&options);
 *
 *     kymo_session_attach(session, sink);
 *     ...
 *     kymo_session_stop(session, NULL);
 *     kymo_sink_free(sink);           // delivers what is left
 *
 * Order of the calls: begin; then declare and packet, a class always before its first event; then
 * end. A sink gets all facts (names of nodes, threads, tracks) since the program started, and
 * exactly the events between its adding and its removal.
 *
 * Who calls your functions: by default a thread of kymo's, one for each sink, SCHED_OTHER, with all
 * signals blocked. With pump = 1 it is the thread in which you call kymo_sink_pump(). They never
 * run in threads that emit events, nor in the session's thread, so they may block, lock and
 * allocate. They must not call kymo_sink_free() for their own sink.
 *
 * If your functions are slower than the events, up to `buffer` bytes wait. What finds no room there
 * is lost for this sink only, and counted: in packet.lost where it happened, in the totals of
 * end(), and as `unwritten` in kymo_session_statistics(session, name). If the sink is the session's
 * only one, the events stay in the rings instead, until those are full: `dropped`.
 *
 * Link with libkymo-session (pkg-config kymo-session; CMake kymo::session) and libkymo. The C++
 * face is at the end of this header.
 */
#ifndef KYMO_SINK_H
#define KYMO_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "session.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct kymo_sink;

enum kymo_sink_kind {
	KYMO_SINK_UNSIGNED, /* value.number; also pointers */
	KYMO_SINK_SIGNED,   /* value.integer; also bool: 0 or 1 */
	KYMO_SINK_FLOAT,    /* value.real */
	KYMO_SINK_TEXT,     /* value.text */
	KYMO_SINK_BYTES     /* value.bytes and size: an identifier, or u64 numbers */
};

/* All that follows is valid during the call that gets it, except where it says otherwise. */

struct kymo_sink_start {
	uint64_t ns;         /* no event is older; facts may be. CLOCK_MONOTONIC */
	int64_t realtime_ns; /* CLOCK_REALTIME at that moment */
};

struct kymo_sink_field {
	const char *name;
	enum kymo_sink_kind kind;
	uint32_t encoding; /* for kymo_sink_get() */
};

/* What events of one kind look like. Valid until end() was called. */
struct kymo_sink_class {
	unsigned id; /* unique within the process */
	int pid;
	const char *provider, *name; /* "control", "plan_begin" of KYMO_SPAN("control", "plan") */
	const char *meaning;         /* "kymo:begin", "kymo:end", "kymo:instant", "kymo:counter",
					"kymo:point"; "" of ROS 2 */
	int is_fact;                 /* 1: a one-time fact */
	unsigned field_count;
	const struct kymo_sink_field *field;
};

/* Events of one thread, in the order of their times. */
struct kymo_sink_packet {
	int pid, tid;                 /* tid 0: facts, of several threads */
	const char *process, *thread; /* names; "" if not known */
	uint64_t begin_ns, end_ns;    /* CLOCK_MONOTONIC */
	uint64_t lost;  /* events of the thread that this sink missed since its last packet */
	uint32_t count; /* of events; 0: only `lost` */
	/* for kymo_sink_next() */
	const void *bytes, *process_data;
	size_t size;
	int is_facts;
};

struct kymo_sink_event {
	uint64_t ns; /* CLOCK_MONOTONIC; of a fact, when it happened */
	int tid;
	const struct kymo_sink_class *declared;
	/* for kymo_sink_next() and kymo_sink_get() */
	const uint8_t *payload;
	size_t size, next;
};

struct kymo_sink_value {
	enum kymo_sink_kind kind;
	union {
		uint64_t number;
		int64_t integer;
		double real;
		const char *text;
		const void *bytes;
	};
	size_t size; /* bytes of text or bytes */
};

struct kymo_sink_totals {
	uint64_t events, facts; /* delivered, and accepted by packet() */
	uint64_t lost; /* events that this sink missed, those that packet() refused included */
};

/* Set size, name and packet, and zero the rest for the defaults. */
struct kymo_sink_options {
	size_t size;      /* sizeof(struct kymo_sink_options) */
	const char *name; /* by which kymo_session_remove_sink() finds it; copied */
	size_t buffer;    /* bytes that may wait; 0: 4 MiB */
	int pump;         /* 1: you call kymo_sink_pump(); 0: kymo has a thread for it */
	void *context;    /* of the functions. All but packet may be NULL */
	void (*begin)(void *context, const struct kymo_sink_start *start);
	void (*declare)(void *context, const struct kymo_sink_class *declared);
	/* Return: 0; -1: the sink can't accept the packet, whose events then count as lost. */
	int (*packet)(void *context, const struct kymo_sink_packet *packet);
	void (*end)(void *context, const struct kymo_sink_totals *totals);
};

/**
 * kymo_sink_create() - a sink, which no session has yet
 * @options: copied
 *
 * Context: allocates. Return: NULL: no memory, or invalid options: size, no name, no packet
 * function.
 */
struct kymo_sink *kymo_sink_create(const struct kymo_sink_options *options);

/**
 * kymo_session_attach() - from now on @sink gets what @session records
 * @sink: has never been attached
 *
 * To begin a session with a sink of your own and without a trace directory, set
 * kymo_session_options.sink. kymo_session_remove_sink(), with the sink's name, and
 * kymo_session_stop() end it. Context: any thread but the session's own and those that call the
 * sink's functions. Return: 0; -1, and kymo_session_error() says why.
 */
int kymo_session_attach(struct kymo_session *session, struct kymo_sink *sink);

/**
 * kymo_sink_pump() - call the sink's functions for what waits, in this thread
 * @timeout_ms: wait so long if nothing waits; 0: not at all
 *
 * Context: one thread at a time, any that may block. Return: 1: more may come; 0: end() was called,
 * or the sink was never attached; -1: the sink has a thread of kymo's.
 */
int kymo_sink_pump(struct kymo_sink *sink, int timeout_ms);

/**
 * kymo_sink_free() - deliver what waits, call end(), free the sink
 * @sink: removed from its session, or never attached; may be NULL
 *
 * With pump = 1, what was not pumped is thrown away.
 * Context: blocks until your functions return. Return: 0; -1: a session still has the sink; nothing
 * changed.
 */
int kymo_sink_free(struct kymo_sink *sink);

/**
 * kymo_sink_next() - the next event of a packet
 * @event: zero it before the first call
 *
 * Context: in packet(). Return: 1; 0: there are no more.
 */
int kymo_sink_next(const struct kymo_sink_packet *packet, struct kymo_sink_event *event);

/**
 * kymo_sink_get() - a field's value
 * @index: below event->declared->field_count
 *
 * Context: in packet(). Return: 1; 0: there is no such field.
 */
int kymo_sink_get(const struct kymo_sink_event *event, unsigned index,
		  struct kymo_sink_value *value);

#pragma GCC visibility pop

#ifdef __cplusplus
}

namespace kymo
{

/* What a sink of your own does. Outlives its kymo::sink. The functions must not throw. */
class sink_functions
{
      public:
	virtual ~sink_functions() = default;
	virtual void begin(const kymo_sink_start &)
	{
	}
	virtual void declare(const kymo_sink_class &)
	{
	}
	/* Return: false: the events count as lost. */
	virtual bool packet(const kymo_sink_packet &packet) = 0;
	virtual void end(const kymo_sink_totals &)
	{
	}
};

/* A sink that ends with the object; remove it from its session before. An error is a state: if
 * (!sink) ... */
class sink
{
      public:
	sink(const std::string &name, sink_functions &functions, bool pump = false,
	     size_t buffer = 0)
	{
		kymo_sink_options options{};

		options.size = sizeof options;
		options.name = name.c_str();
		options.buffer = buffer;
		options.pump = pump;
		options.context = &functions;
		options.begin = [](void *to, const kymo_sink_start *start) {
			of(to).begin(*start);
		};
		options.declare = [](void *to, const kymo_sink_class *declared) {
			of(to).declare(*declared);
		};
		options.packet = [](void *to, const kymo_sink_packet *packet) {
			return of(to).packet(*packet) ? 0 : -1;
		};
		options.end = [](void *to, const kymo_sink_totals *totals) { of(to).end(*totals); };
		handle_ = kymo_sink_create(&options);
	}
	~sink()
	{
		(void)kymo_sink_free(handle_);
	}
	sink(const sink &) = delete;
	sink &operator=(const sink &) = delete;

	explicit operator bool() const noexcept
	{
		return handle_ != nullptr;
	}
	kymo_sink *get() const noexcept
	{
		return handle_;
	}
	/* Return: 0 or -1, as kymo_session_attach(). */
	int attach(kymo_session *session)
	{
		return kymo_session_attach(session, handle_);
	}
	/* Return: as kymo_sink_pump(). */
	int pump(int timeout_ms)
	{
		return kymo_sink_pump(handle_, timeout_ms);
	}

      private:
	static sink_functions &of(void *context)
	{
		return *static_cast<sink_functions *>(context);
	}
	kymo_sink *handle_ = nullptr;
};

} // namespace kymo
#endif

#endif
