/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder itself: flight.c receives events, flight_snapshot.c decides about snapshots and writes them. */
#ifndef KYMO_RECORDER_FLIGHT_STATE_H
#define KYMO_RECORDER_FLIGHT_STATE_H

#include <limits.h>

#include "recorder/flight/flight_internal.h"

/* A requested snapshot. */
struct flight_asked {
	bool any;
	enum flight_cause cause;
	struct trigger_hit hit;		/* of a trigger */
	int pid, tid;			/* the process and thread that caused it */
	char procname[KYMO_NAME_MAX + 1], thread[CTF_PROCNAME_SIZE];
	uint64_t asked_ns, due_ns, last_ns;
	char path[PATH_MAX];		/* "": named as usual */
	struct flight_waiter *waiters;
};

struct flight {
	struct sink sink;		/* first */
	struct flight_options options;
	struct flight_store store;
	struct flight_process *processes;
	char *accounts;			/* the last ones of the session; NULL: none yet */
	uint64_t now_ns;		/* of the last round */
	const struct process *process;	/* whose records are being looked at ... */
	const struct thread_account *account;	/* ... and of which thread; NULL: of none */
	struct flight_asked asked;		/* waits, or is being written */
	struct flight_asked next;		/* requested while a snapshot is being written */
	bool flushed;			/* all records that were committed when it was due have arrived */
	struct flight_writer *writer;	/* NULL: none is being written */
	uint64_t begin_ns, end_ns;	/* of it */
	unsigned count;			/* snapshots written or failed; not requests that could not begin */
	uint64_t suppressed;		/* since the last one */
	bool told_short;
	bool disarmed;			/* nothing fires any more */
};

/** flight_fire() - a trigger fired on a record of flight->process and flight->account. */
void flight_fire(struct flight *flight, const struct trigger_hit *hit);

/** flight_trim() - drop packets that are too old or too many. */
void flight_trim(struct flight *flight);

/** flight_finish() - no more events will come: write the snapshots that wait. */
void flight_finish(struct flight *flight);

#endif
