/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of a drain share: slices, committed spans of a block, on their way to the sinks.
 * Times are CLOCK_MONOTONIC ns; positions are bytes of a ring since it was created.
 *
 * Context of all functions: on the session's thread; slice_write() and slice_walk() block as the
 * sinks do.
 */
#ifndef KYMO_RECORDER_SLICE_H
#define KYMO_RECORDER_SLICE_H

#include "recorder/drain/drain.h"

#define FUTURE_NS	1000000000ull	/* a time that much later than now is invalid */

/* Committed records of one block. */
struct slice {
	const uint8_t *bytes;
	size_t size;
	uint64_t begin, end; /* times */
	uint64_t from,
		to;       /* positions: of its first byte, and where the ring continues behind it */
	uint64_t dropped; /* kymo_ring.dropped before its first record */
	uint32_t records;
	uint32_t cpu;
	uint32_t owner_seq;
};

/**
 * block_slice() - the part of the block at ring->taken that lies before @word
 * @complete: set to whether that is all of the block
 * @records: set to the number of records in the block up to there
 *
 * Return: NULL; else what is wrong with the block.
 */
const char *block_slice(const struct drained_process *process, const struct ring *ring,
			uint64_t word, uint64_t lastts, struct slice *slice, bool *complete,
			uint32_t *records);

/**
 * ring_owner() - the next records are those of owner number @seq: ring->thread becomes that owner's
 * account
 * @dropped: kymo_ring.dropped when the owner's first block was begun: drops before that belong to
 * the previous owner
 */
void ring_owner(struct drained_process *process, struct ring *ring, uint32_t seq, uint64_t dropped);

/** slice_is_declared_soon() - its first event is not declared, but part of the init log cannot be
 * read yet. */
bool slice_is_declared_soon(const struct drained_process *process, const struct drain *drain,
			    const struct slice *slice);

/** slice_plausible() - is it as its block says, to the first look at each record? */
bool slice_plausible(const struct drained_process *process, const struct ring *ring,
		     const struct drain *drain, const struct slice *slice);

/** slice_write() - hand over what of a slice is wanted. Return: 0; -errno: no sink took it, and the
 * filter will judge its records once more. */
int slice_write(struct drained_process *process, struct ring *ring, struct drain *drain,
		const struct slice *slice);

/**
 * slice_walk() - check a slice record by record, trusting nothing else, and hand over what is valid
 *
 * From the first invalid record on it is lost: that is counted and said, and the ring is refused.
 * Return: 0; -errno: as slice_write().
 */
int slice_walk(struct drained_process *process, struct ring *ring, struct drain *drain,
	       struct slice *slice);

/** slice_account() - @packet was taken from @ring. */
void slice_account(struct drained_process *process, struct ring *ring,
		   const struct sink_packet *packet);

/** ring_advance() - all before @to is taken; of the block that @to is in, @records. */
void ring_advance(struct drained_process *process, struct ring *ring, uint64_t to,
		  uint32_t records);

/** ring_free() - give the ring of a thread that ended back to the process, if nothing is left in
 * it. */
void ring_free(struct drained_process *process, struct ring *ring);

/** ring_note_fill() - note how full the ring is and how fast it fills, for the next wait. Return:
 * whether draining it is urgent. */
bool ring_note_fill(struct ring *ring, const struct drained_process *process, struct drain *drain,
		    uint64_t unread);

#endif
