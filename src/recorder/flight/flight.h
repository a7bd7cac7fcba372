/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flight recorder: a sink that keeps the last seconds of all events in memory, and writes them
 * into a trace directory when a trigger fires or somebody requests it.
 *
 *      packets ──▶ store: the last `window_ns`, at most `memory` bytes ──▶ snapshot: a trace directory
 *         │                                                                       ▲
 *         └──▶ triggers ── one fires ──▶ wait `post_ns` ──────────────────────────┘
 *      a request, a signal, kymo_snapshot() in a program ─────────────────────────┘
 *
 * A snapshot is written in slices between the rounds of draining, and ends with the moment at which
 * the writing begins. While a snapshot waits or is written, triggers that fire are only counted.
 *
 *   flight_create()         then session_add_sink(): the session closes it
 *   flight_due(), flight_work()    around every session_poll()
 *   flight_request()        from outside
 *
 * Context of all functions: on the session's thread; allocate and block.
 */
#ifndef KYMO_RECORDER_FLIGHT_H
#define KYMO_RECORDER_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "recorder/drain/sink.h"
#include "recorder/trigger/trigger.h"

struct flight;

/* Why a snapshot is taken. */
enum flight_cause { FLIGHT_TRIGGER, FLIGHT_REQUEST, FLIGHT_SIGNAL, FLIGHT_PROGRAM };

/* A snapshot that was written, or that failed. */
struct flight_report {
	unsigned number;		/* 1 for the first */
	const char *path;		/* of the trace, absolute */
	enum flight_cause cause;
	const struct trigger *trigger;	/* NULL for other causes */
	const struct trigger_hit *hit;	/* valid with trigger */
	int pid;			/* the process that caused it; 0: none */
	int tid;
	const char *procname, *thread;	/* "" when unknown */
	uint64_t begin_ns, end_ns;	/* what the trace covers, CLOCK_MONOTONIC */
	uint64_t events, dropped, bytes;
	unsigned processes;
	uint64_t suppressed;     /* triggers that fired during the snapshot before */
	int64_t clock_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC, as its metadata have it */
	const struct kymo_err *failed; /* NULL: it was written */
};

struct flight_options {
	uint64_t window_ns, post_ns, memory;
	uint64_t rest_ns;   /* after a snapshot, triggers are only counted for so long */
	uint64_t snapshots; /* triggers fire until so many were written; 0: for ever */
	struct triggers triggers;
	const char *version;		/* of kymo */
	/* A path for snapshot @number. Return: 0; -1 with @err. */
	int (*name)(void *context, unsigned number, char *path, unsigned size,
		    struct kymo_err *err);
	void (*written)(void *context, const struct flight_report *report);
	void *context;
	void (*say)(void *context, const char *text);	/* may be NULL */
	void *say_context;
};

/** flight_create() - Return: 0 and *@flight; -1 with @err. */
int flight_create(const struct flight_options *options, struct flight **flight,
		  struct kymo_err *err);

/** flight_sink() - the sink to add to a session, which then owns the flight recorder. */
struct sink *flight_sink(struct flight *flight);

/* A client that waits for its snapshot. */
struct flight_waiter {
	struct flight_waiter *next;
	/* Called once, with the report; the waiter is the caller's again. */
	void (*done)(struct flight_waiter *waiter, const struct flight_report *report);
};

/**
 * flight_request() - take a snapshot now
 * @last_ns: less than the whole window; 0: all of it
 * @path: of the trace; NULL: named as usual. @waiter: may be NULL
 *
 * A snapshot that a trigger requested and that is not yet being written also serves this request.
 */
void flight_request(struct flight *flight, enum flight_cause cause, uint64_t last_ns,
		    const char *path, struct flight_waiter *waiter);

/** flight_due() - before every poll. Return: true: the poll must drain all committed records. */
bool flight_due(struct flight *flight);

/**
 * flight_work() - after every poll: begin what is due, and write a slice
 * Return: true: there is more to do at once.
 */
bool flight_work(struct flight *flight);

/** flight_disarm() - the recording ends: triggers fire on nothing that comes from now on. */
void flight_disarm(struct flight *flight);

/** flight_is_done() - have as many snapshots been written as options.snapshots says? */
bool flight_is_done(const struct flight *flight);

/** flight_unmet() - a sentence about triggers whose name never occurred; "" if there are none. */
void flight_unmet(const struct flight *flight, char *text, unsigned size);

#endif
