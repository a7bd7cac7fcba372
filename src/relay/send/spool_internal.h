/* SPDX-License-Identifier: Apache-2.0 */
/* What spool.c and spool_adopt.c share. Not for others. */
#ifndef KYMO_RELAY_SPOOL_INTERNAL_H
#define KYMO_RELAY_SPOOL_INTERNAL_H

#include <limits.h>
#include <pthread.h>

#include "relay/send/spool.h"

#define SPOOL_MAGIC		0x6b73706fu

struct spool_segment {
	int fd;				/* -1: released */
	uint64_t begin, size;		/* bytes: position in the log, and written so far */
};

struct spool {
	char path[PATH_MAX];
	int dir, facts, stored;
	uint64_t limit, segment_size;
	pthread_mutex_t lock; /* of the following; files are read and written without it */
	uint64_t facts_end, run_end;
	struct spool_stored released;
	struct spool_segment *segment;	/* [count] not released, in order */
	unsigned count, room;
};

/** spool_new() - a spool without files. Return: NULL: out of memory. */
struct spool *spool_new(void);

#endif
