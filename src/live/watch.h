/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows a trace directory while a recorder or relay writes it, on this machine or on a shared
 * file system, without a connection: by locks and synchronisation points if the writer has them
 * (ctf/format/lock.h), else by the clock.
 *
 * The reader itself respects locks (kymo_ctf_refresh()). This file decides when to read again, and
 * up to which time all streams are complete:
 *
 *   index/sync exists, its writer lives       up to its last point; before the first one nothing
 *                                             is complete
 *   index/sync exists, its writer is gone     all
 *   no index/sync, the trace grows            up to a moment ago: a recorder writes its packets at
 *                                             least that often
 *   no index/sync, the trace stopped growing  all
 *   no index/sync, nobody wrote for a minute  all; it is complete, unless it grows after all
 *
 * A look can find a trace that was not checked before; then nothing is complete. The exception is
 * the next chunk of a trace that had a writer: it holds nothing from before the last point of that
 * trace. Without the exception, a reader whose looks take longer than a chunk shows nothing.
 */
#ifndef KYMO_LIVE_WATCH_H
#define KYMO_LIVE_WATCH_H

#include "ctf/read/reader.h"

#define WATCH_PERIOD_NS 5000000		/* between calls of watch_check() */

/* Zeroed is a valid start. */
struct watch {
	uint64_t points;		/* sum of the synchronisation points' numbers */
	int64_t looked_ns, grown_ns;	/* when the files were read; when they had grown */
	unsigned traces;		/* of the reader, when it was checked */
	uint64_t alive;			/* bit i % 64: whether trace i, of the last 64, or the one
					 * that it continues, had a writer and a point */
	unsigned gone;			/* so many traces, the first ones, have no writer */
	bool begun;
	unsigned old; /* traces that nobody wrote for a minute before they were opened; all were
			 looked at */

	/* Results of watch_check(). */
	bool due;      /* read the files now */
	bool over;     /* no writer is left: the trace is complete */
	int64_t until; /* for kymo_ctf_until(), after reading; INT64_MIN: not known */
};

/**
 * watch_check() - before the reader reads again
 * @reader: NULL: nothing could be opened yet
 * @now_ns: CLOCK_MONOTONIC
 *
 * Context: opens and reads a small file for each trace.
 */
void watch_check(struct watch *watch, const struct kymo_ctf_reader *reader, int64_t now_ns);

/** watch_done() - the reader has read. @grew: there was more. */
void watch_done(struct watch *watch, const struct kymo_ctf_reader *reader, bool grew,
		int64_t now_ns);

/**
 * watch_alive() - whether some trace of @reader is being written now
 * @below: only of traces whose path begins so; "": of all
 *
 * Only writers with synchronisation points say so: kymo record and kymo relay. Context: opens a
 * small file for each trace.
 */
bool watch_alive(const struct kymo_ctf_reader *reader, const char *below);

#endif
