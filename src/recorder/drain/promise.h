/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Promises: what a recorder is writing is noted in the region, so that nothing is lost or doubled
 * when the recorder is killed. Without it, a packet that is in a trace and still in its ring would
 * come again in the next trace.
 *
 *   1  promise_enter()     for each ring in the packet: the position that the ring advances to
 *   2  promise_sinks()     the sinks that are to get the packet
 *      promise_turn()      for each of these sinks in turn:
 *   3  promise_write()       which bytes of which file; called by the writer, before the first of them
 *   4                        the bytes are written
 *   5  promise_written()     the file has them
 *      promise_turned()      the turn of this sink is over
 *   6  promise_keep()      every sink that could take the packet has it
 *   7  promise_move()      the rings advance; after the last of them promise_end()
 *
 * A recorder that is killed leaves its promise in the region. The next recorder of the region finds
 * out whether the packet is in the files:
 *
 *   in all of them     the rings advance
 *   in none            a part of the packet is cut off, so that the old traces open; the next ones get the events
 *   in some            the packet is removed from those, and the next traces get the events
 *   unknown            because a file is gone or was replaced: if some file has the packet, the rings advance, else
 *                      the events are counted as dropped
 *
 * Texts of the metadata and init packets are promised in the same way, but only a count moves with
 * them. One promise for a region is enough, because a session writes one thing at a time. Sinks
 * without files do not count.
 *
 * Context: on the session's thread; wait-free but for promise_resolve(), which blocks.
 */
#ifndef KYMO_RECORDER_PROMISE_H
#define KYMO_RECORDER_PROMISE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/region.h"

struct ctf_place;		/* ctf/write/writer.h */
struct drained_process;
struct ring;
struct sayer;

/**
 * promise_enter() - @ring is in the packet that is written next
 * @to: the position that rpos advances to
 * @told: value of kymo_ring.dropped that the packet reports
 * @records: of this ring in the packet
 */
void promise_enter(struct drained_process *process, const struct ring *ring, uint64_t to,
		   uint64_t told, uint64_t records);

/** promise_sinks() - the sinks that are to get the packet: bit i of @sinks is the one at place
 * i. */
void promise_sinks(struct drained_process *process, uint32_t sinks);

/** promise_turn() - what is written from now on is for the sink at @place; outside of packets it is
 * 0. */
void promise_turn(struct drained_process *process, unsigned place);

/** promise_turned() - that sink has the packet in a file, or keeps no files. */
void promise_turned(struct drained_process *process);

/** promise_write() - a write is about to begin; @moves: what is taken from the region for good with
 * it. */
void promise_write(struct drained_process *process, const struct ctf_place *to,
		   enum kymo_promise_moves moves);

/** promise_written() - the write has ended; all of it is in the file if @well, else nothing. */
void promise_written(struct drained_process *process, bool well);

/** promise_keep() - all sinks have had their turn, and some have the packet. */
void promise_keep(struct drained_process *process);

/** promise_move() - @ring, which was entered, advances. */
void promise_move(struct drained_process *process, const struct ring *ring);

/** promise_end() - all rings that were entered have advanced, or none will: nothing is promised any
 * more. */
void promise_end(struct drained_process *process);

/**
 * promise_resolve() - finish what a dead recorder had promised for @process, before its rings are
 * read
 *
 * Reports to @sayer what was cut off, and what is counted as dropped.
 */
void promise_resolve(struct drained_process *process, const struct sayer *sayer);

#define DROPPED_MAX \
	(1ull << 48) /* of any process; larger numbers in shared memory are not counts */

/**
 * promise_dropped_since() - how many events were dropped from count @base to count @now
 * Return: 0 if @now is not later, or if one of the two cannot be a count.
 */
static inline uint64_t promise_dropped_since(uint64_t now, uint64_t base)
{
	return now - base <= DROPPED_MAX ? now - base : 0;
}

/* For tests: called at each of the points above. */
enum promise_point {
	PROMISE_ENTERED = 1,
	PROMISE_OPEN,
	PROMISE_IN_FILE,
	PROMISE_KEPT,
	PROMISE_MOVED,
	PROMISE_POINTS
};
extern void (*promise_reached)(enum promise_point point);

#endif
