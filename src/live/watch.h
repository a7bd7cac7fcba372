/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a trace directory together with who writes it, on this machine or on a shared file system, without a
 * connection: through locks and synchronisation points where the writer has them (ctf/format/lock.h), else by the clock.
 *
 * The reader keeps to locks by itself (kymo_ctf_refresh()). Here is when to look again, and up to when streams are complete:
 *
 *   index/sync is there, its writer alive     its last point; nothing before there is one
 *   index/sync is there, its writer gone      all that is there
 *   no index/sync, the trace grows            up to a moment ago: a recorder writes what it has at least as often
 *   no index/sync, it has stopped growing     all that is there
 */
#ifndef KYMO_LIVE_WATCH_H
#define KYMO_LIVE_WATCH_H

#include "ctf/read/reader.h"

#define WATCH_PERIOD_NS 5000000		/* how often to look */

/* Zeroed is a valid start. */
struct watch {
	uint64_t points;		/* numbers of all synchronisation points */
	int64_t looked_ns, grown_ns;	/* when the files were looked at; when there was more */
	unsigned traces;		/* of the reader, when it was looked at */
	bool begun;

	/* What watch_look() found. */
	bool due;			/* the files are to be looked at now */
	bool over;			/* no writer is left: what is there is all */
	int64_t until;			/* for kymo_ctf_until(), when that was done; INT64_MIN: not known */
};

/**
 * watch_look() - before the reader looks again
 * @reader: NULL: nothing could be opened yet
 * @now_ns: CLOCK_MONOTONIC
 *
 * Context: opens and reads a small file a trace.
 */
void watch_look(struct watch *watch, const struct kymo_ctf_reader *reader, int64_t now_ns);

/** watch_looked() - the reader looked. @grew: there was more. */
void watch_looked(struct watch *watch, const struct kymo_ctf_reader *reader, bool grew, int64_t now_ns);

#endif
