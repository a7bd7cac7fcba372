/* SPDX-License-Identifier: Apache-2.0 */
/* What became of events, summed up: of a session, or of what is in one of its sinks. */
#ifndef KYMO_RECORDER_COUNTS_H
#define KYMO_RECORDER_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct session_stats {
	uint64_t recorded;		/* runtime events in the trace */
	uint64_t init_events;		/* init events in the trace */
	uint64_t dropped;		/* runtime events for which the traced processes had no room */
	uint64_t dropped_no_ring;	/* of these, in threads that got no ring */
	uint64_t init_dropped;
	uint64_t filtered;		/* runtime events that were not wanted, but produced all the same */
	uint64_t unwritten;		/* events that a sink did not take; the sum over all sinks */
	uint64_t before;		/* of a sink: events before it was added */
	uint64_t lost_bytes;		/* in corrupt rings */
	uint64_t overwritten;		/* frozen: runtime events that were overwritten before the copy was made */
	uint64_t outside;		/* frozen: events older than last_ns, which are left out */
	uint64_t bytes;			/* of stream files */
	uint64_t duration_ns;
	unsigned processes;		/* seen in this session */
	unsigned alive;			/* of them */
	unsigned refused;		/* region files that were refused */
	unsigned foreign;		/* regions of another recorder */
	unsigned threads;
	bool write_failed;		/* at least once */
};

#endif
