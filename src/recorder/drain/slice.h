/* SPDX-License-Identifier: Apache-2.0 */
/* What drain.c and drain_merged.c share: pieces of rings on their way to the sinks. */
#ifndef KYMO_RECORDER_SLICE_H
#define KYMO_RECORDER_SLICE_H

#include "recorder/drain/drain.h"

#define FUTURE_NS	1000000000ull	/* a time later than this is none */

/* Committed records of one block. */
struct slice {
	const uint8_t *bytes;
	size_t size;
	uint64_t begin, end;		/* times */
	uint64_t from, to;		/* positions: of its first byte, and where the ring goes on behind it */
	uint64_t dropped;		/* kymo_ring.dropped before its first record */
	uint32_t records;
	uint32_t cpu;
	uint32_t owner_seq;
};

/** ring_snapshot() - a word and a time that belong together. Return: false while the producer is in between. */
bool ring_snapshot(const struct kymo_ring *shared, uint64_t *word, uint64_t *lastts);

/**
 * block_slice() - what of the block at ring->taken lies before @word
 * @complete: set to whether that is all of it
 * @records: set to the number of records in the block up to there
 *
 * Return: NULL; else what is wrong with the block.
 */
const char *block_slice(const struct process *process, const struct ring *ring, uint64_t word,
			uint64_t lastts, struct slice *slice, bool *complete, uint32_t *records);

/**
 * ring_owner() - what is taken next is of owner number @seq: ring->thread is his account
 * @dropped: kymo_ring.dropped when his first block was begun: what was dropped before is his predecessor's
 */
void ring_owner(struct process *process, struct ring *ring, uint32_t seq, uint64_t dropped);

/** slice_is_declared_soon() - its first event is not declared, but the log has something that cannot be taken yet. */
bool slice_is_declared_soon(const struct process *process, const struct drain *drain, const struct slice *slice);

/** slice_walk() - hand over a slice record by record, believing nothing else. Return: 0; -errno. */
int slice_walk(struct process *process, struct ring *ring, struct drain *drain, struct slice *slice);

/** slice_account() - @packet was taken from @ring. */
void slice_account(struct process *process, struct ring *ring, const struct sink_packet *packet);

/** ring_advance() - all before @to is taken, of its block so many @records. */
void ring_advance(struct process *process, struct ring *ring, uint64_t to, uint32_t records);

/** ring_free() - a thread that ended gives its ring back when nothing is left in it. */
void ring_free(struct process *process, struct ring *ring);

/** ring_note_fill() - how full it is, and how fast it got so, for when to look again. Return: it is urgent. */
bool ring_note_fill(struct ring *ring, const struct process *process, struct drain *drain, uint64_t unread);

#endif
