/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a killed recorder was doing, told by the region it was doing it for: a packet that stands in a
 * trace and is still in its ring would come again in the next trace.
 *
 *   1  promise_enter()     each ring that is in the packet: where it goes with it
 *   2  promise_sinks()     who is to have it
 *      promise_turn()      for each of them, in turn:
 *   3  promise_write()       which bytes of which file; from the writer, before the first of them
 *   4                        the bytes are written
 *   5  promise_written()     the file has them
 *      promise_turned()      he has had his turn
 *   6  promise_keep()      all have it that could take it
 *   7  promise_move()      the rings go on; after the last of them promise_end()
 *
 * A recorder that is killed leaves it open. The next one to take the region looks whether the packet is
 * in the files:
 *
 *   in all of them     the rings go on
 *   in none            what there is of it is cut off, so that the old traces open; the next ones get the events
 *   in some            it is taken back from those, and the next traces get the events
 *   nobody can say     for a file is gone or is another one: if some file has it the rings go on, else the
 *                      events are counted as dropped
 *
 * So do texts of metadata and init packets, where nothing moves but a count. One promise for a region is
 * enough, since a session writes one thing at a time. A sink that keeps no files has no say.
 *
 * Context: on the session's thread; wait-free but for promise_resolve(), which blocks.
 */
#ifndef KYMO_RECORDER_PROMISE_H
#define KYMO_RECORDER_PROMISE_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/region.h"

struct ctf_place;		/* ctf/write/writer.h */
struct process;
struct ring;
struct sayer;

/**
 * promise_enter() - @ring is in the packet that is written next
 * @to: where rpos goes with it
 * @told: value of kymo_ring.dropped that is told with it
 * @records: of this ring in it
 */
void promise_enter(struct process *process, const struct ring *ring, uint64_t to, uint64_t told, uint64_t records);

/** promise_sinks() - those that are to have the packet: bit i of @sinks is the one at place i. */
void promise_sinks(struct process *process, uint32_t sinks);

/** promise_turn() - what is written from now on is for the sink at @place; outside of packets it is 0. */
void promise_turn(struct process *process, unsigned place);

/** promise_turned() - it has the packet in a file, or the rings do not wait for it. */
void promise_turned(struct process *process);

/** promise_write() - a write is about to be made; @moves what is taken from the region for good with it. */
void promise_write(struct process *process, const struct ctf_place *to, enum kymo_promise_moves moves);

/** promise_written() - it has ended, all of it is in the file if @well, else nothing. */
void promise_written(struct process *process, bool well);

/** promise_keep() - all sinks have had their turn, and some have it. */
void promise_keep(struct process *process);

/** promise_move() - @ring was entered and is taken: it goes on. */
void promise_move(struct process *process, const struct ring *ring);

/** promise_end() - all rings that were entered have gone on, or none does: nothing is promised. */
void promise_end(struct process *process);

/**
 * promise_resolve() - do what a dead recorder had promised about @process, before its rings are looked at
 *
 * Says what was cut off, and what has to be counted as dropped.
 */
void promise_resolve(struct process *process, const struct sayer *sayer);

/** promise_dropped_since() - how far the count @now of dropped events is behind @base; 0 when it is not. */
static inline uint64_t promise_dropped_since(uint64_t now, uint64_t base)
{
	return (int64_t)(now - base) > 0 ? now - base : 0;
}

/* For tests: called at each of the points above. */
enum promise_point {
	PROMISE_ENTERED = 1, PROMISE_OPEN, PROMISE_IN_FILE, PROMISE_KEPT, PROMISE_MOVED, PROMISE_POINTS
};
extern void (*promise_reached)(enum promise_point point);

#endif
