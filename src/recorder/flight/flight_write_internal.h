/* SPDX-License-Identifier: Apache-2.0 */
/* What flight_write.c and flight_accounts.c share. Not for others. */
#ifndef KYMO_RECORDER_FLIGHT_WRITE_INTERNAL_H
#define KYMO_RECORDER_FLIGHT_WRITE_INTERNAL_H

#include "recorder/flight/flight_internal.h"

/* What was written of one process. */
struct written {
	struct flight_process *from;
	struct sink_process at;
	bool joined, left;
	uint64_t records, dropped, bytes, init_events, init_dropped;
	struct sink_without *thread;	/* what was written of it */
	unsigned thread_count;
};

struct flight_writer {
	struct sink *sink;
	uint64_t begin_ns, end_ns;
	struct written *process;
	unsigned count, next;		/* whose facts are due */
	unsigned ended;			/* whose streams are complete */
	const struct flight_facts *facts;	/* the next batch of it */
	struct flight_kept *cursor, *last;
	uint8_t *scratch;		/* of facts whose times are changed */
	size_t room;
	int64_t clock_offset_ns;
};

/**
 * flight_write_accounts() - kymo.json of the snapshot: what @accounts of the recording says, with
 * the snapshot's own times and numbers
 * @accounts: JSON; NULL: none
 *
 * Return: 0; -ENOMEM; what the sink returned. Context: allocates.
 */
int flight_write_accounts(const struct flight_writer *writer, const char *accounts,
			  struct json_object *snapshot);

#endif
