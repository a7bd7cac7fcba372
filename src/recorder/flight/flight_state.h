/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder itself; flight.c takes in, flight_snapshot.c gives out. */
#ifndef KYMO_RECORDER_FLIGHT_STATE_H
#define KYMO_RECORDER_FLIGHT_STATE_H

#include <limits.h>

#include "recorder/flight/flight_internal.h"

/* A snapshot that was asked for. */
struct flight_asked {
	bool any;
	enum flight_cause cause;
	struct trigger_hit hit;		/* of a trigger */
	int pid, tid;			/* whose it was */
	char procname[KYMO_NAME_MAX + 1], thread[CTF_PROCNAME_SIZE];
	uint64_t asked_ns, due_ns, last_ns;
	char path[PATH_MAX];		/* "": as usual */
	struct flight_waiter *waiters;
};

struct flight {
	struct sink sink;		/* first */
	struct flight_options options;
	struct flight_store store;
	struct flight_process *processes;
	char *accounts;			/* what the session said last; NULL: nothing yet */
	uint64_t now_ns;		/* of the last round */
	const struct process *process;	/* whose records are being looked at ... */
	const struct thread_account *account;	/* ... and of which thread; NULL: of none */
	struct flight_asked asked;		/* waits, or is being written */
	struct flight_asked next;		/* asked for while one is being written */
	bool flushed;			/* all that was committed when it was due is here */
	struct flight_writer *writer;	/* NULL: none is being written */
	uint64_t begin_ns, end_ns;	/* of it */
	unsigned count;			/* written, or failed to be; not requests that could not begin */
	uint64_t suppressed;		/* since the last one */
	bool told_short;
	bool disarmed;			/* nothing fires any more */
};

/** flight_fire() - a trigger fired on what flight->process and account say. */
void flight_fire(struct flight *flight, const struct trigger_hit *hit);

/** flight_trim() - give up what is too old or too much. */
void flight_trim(struct flight *flight);

/** flight_finish() - nothing more comes: write what waits, to the end. */
void flight_finish(struct flight *flight);

#endif
