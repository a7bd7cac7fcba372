/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which event fills a ring that overflows: for the hint at the end of a recording.
 *
 * The records of a block are looked at only after the ring dropped something, and only some of
 * them. The few most frequent events are counted as Misra and Gries do it: a new event that finds
 * all places taken lowers all counts by one, so a frequent event keeps its place.
 */
#ifndef KYMO_RECORDER_LOUD_H
#define KYMO_RECORDER_LOUD_H

#include <stdint.h>

#define LOUD_EVENTS 8

struct loud {
	struct loud_event {
		uint16_t id;
		uint32_t count; /* at least so many of those that were looked at; 0: the place is
				   free */
	} event[LOUD_EVENTS];
	uint32_t looked;     /* records that were looked at */
	uint64_t ring_bytes; /* of the largest ring that overflowed */
};

struct drained_process;
struct ring;
struct session_stats;

/** loud_look() - count some of the unread records of @ring, if it dropped events since the last
 * call. Context: wait-free. */
void loud_look(struct drained_process *process, struct ring *ring);

/** loud_tell() - enter the most frequent event of @process into @stats, if more was seen of it than
 * of other processes. */
void loud_tell(const struct drained_process *process, struct session_stats *stats);

#endif
