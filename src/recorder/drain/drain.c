/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a ring to the sinks.
 *
 * The bytes in a ring are those of a CTF stream, so a committed span of a block, a slice, becomes a
 * packet straight from shared memory: the recorder reads the block's header, and looks at the head
 * of each record, because an unknown event would make the whole trace unreadable for others. If
 * something is wrong, or the process is dead, the slice is copied, and what is valid of it is
 * written.
 */
#include <errno.h>
#include <string.h>

#include "recorder/drain/promise.h"
#include "recorder/drain/sink_deliver.h"
#include "recorder/drain/slice.h"
#include "recorder/records/record_walk.h"

#define SNAPSHOT_TRIES	16
#define ENOUGH_BYTES	(16u << 10)	/* worth a packet: the head of one is 0.7 % of it */

bool ring_snapshot(const struct kymo_ring *shared, uint64_t *word, uint64_t *lastts)
{
	for (int i = 0; i < SNAPSHOT_TRIES; i++) {
		uint32_t seq = __atomic_load_n(&shared->nseq, __ATOMIC_ACQUIRE);

		*word = __atomic_load_n(&shared->wpos, __ATOMIC_ACQUIRE);
		*lastts = __atomic_load_n(&shared->lastts, __ATOMIC_ACQUIRE);
		if (!(seq & 1) && __atomic_load_n(&shared->wpos, __ATOMIC_ACQUIRE) == *word &&
		    __atomic_load_n(&shared->nseq, __ATOMIC_ACQUIRE) == seq)
			return true;
	}
	return false;
}

/* Drains what is left of one block. */
static int block_drain(struct drained_process *process, struct ring *ring, struct drain *drain,
		       uint64_t word, uint64_t lastts)
{
	struct slice slice;
	const char *wrong;
	uint32_t records;
	bool complete;
	int rc = 0;

	wrong = block_slice(process, ring, word, lastts, &slice, &complete, &records);
	if (wrong) {
		process->lost_bytes += KYMO_WORD_POS(word) - ring->taken;
		ring_refuse(process, ring, drain, wrong);
		return 0;
	}
	if (slice.size) {
		ring_owner(process, ring, slice.owner_seq, slice.dropped);
		if (slice_is_declared_soon(process, drain, &slice))
			return -EAGAIN;
		if (process->alive == ALIVE_DEAD || ring->block_records == UINT32_MAX ||
		    !slice_plausible(process, ring, drain, &slice))
			rc = slice_walk(process, ring, drain, &slice);
		else
			rc = slice_write(process, ring, drain, &slice);
	}
	if (rc == -EFAULT) {		/* the region file was shortened: no sink is at fault */
		ring_refuse(process, ring, drain, "its memory is gone");
		return 0;
	}
	if (rc < 0 || ring->bad)
		return rc;
	ring_advance(process, ring, slice.to, complete ? 0 : records);
	return 0;
}

void ring_advance(struct drained_process *process, struct ring *ring, uint64_t to, uint32_t records)
{
	ring->taken = to;
	ring->block_records = records;
	/* Pairs with the producer's acquire before it enters a block again. */
	__atomic_store_n(&ring_shared(process, ring)->rpos, to, __ATOMIC_RELEASE);
}

void ring_free(struct drained_process *process, struct ring *ring)
{
	struct kymo_ring *shared = ring_shared(process, ring);
	uint32_t retired = KYMO_RING_RETIRED;

	if (__atomic_load_n(&shared->state, __ATOMIC_ACQUIRE) != KYMO_RING_RETIRED ||
	    KYMO_WORD_POS(__atomic_load_n(&shared->wpos, __ATOMIC_ACQUIRE)) != ring->taken)
		return;
	ring_account(process, (unsigned)(ring - process->ring));
	(void)__atomic_compare_exchange_n(&shared->state, &retired, KYMO_RING_FREE, false,
					  __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

bool ring_note_fill(struct ring *ring, const struct drained_process *process, struct drain *drain,
		    uint64_t unread)
{
	const uint64_t capacity = ring_expected_room(ring);
	unsigned fill = (unsigned)(unread * 256 / capacity);
	uint64_t grown = (ring->taken + unread - ring->looked) * 256 / capacity;
	uint64_t slept_ns = drain->now_ns > ring->looked_ns ? drain->now_ns - ring->looked_ns : 1;

	grown = grown * 1000000 / slept_ns;
	ring->looked = ring->taken + unread;
	ring->looked_ns = drain->now_ns;
	if (fill > drain->fullest)
		drain->fullest = fill;
	if (grown > drain->grown)
		drain->grown = grown;
	return drain->final || drain->flush || process->alive == ALIVE_DEAD ||
	       unread > capacity / 4 ||
	       __atomic_load_n(&ring_shared(process, ring)->state, __ATOMIC_RELAXED) ==
		       KYMO_RING_RETIRED;
}

/* Whether ring @index is filling up. Its byte in `stirred` is shared with other rings, so it need
 * not be. */
static bool is_filling(struct drained_process *process, unsigned index, struct drain *drain)
{
	struct ring *ring = &process->ring[index];
	uint64_t end;

	if (ring->bad)
		return false;
	end = KYMO_WORD_POS(__atomic_load_n(&ring_shared(process, ring)->wpos, __ATOMIC_RELAXED));
	return end > ring->taken && ring_note_fill(ring, process, drain, end - ring->taken);
}

bool process_is_filling(struct drained_process *process, struct drain *drain)
{
	uint8_t *stirred = region_header(&process->region)->stirred;
	bool filling = false;

	for (unsigned i = 0; i < process->ring_count && i < KYMO_STIRS; i += sizeof(uint64_t)) {
		if (!__atomic_load_n((uint64_t *)(stirred + i), __ATOMIC_RELAXED))
			continue;
		for (unsigned j = i; j < i + sizeof(uint64_t); j++) {
			if (!__atomic_load_n(&stirred[j], __ATOMIC_RELAXED))
				continue;
			__atomic_store_n(&stirred[j], 0,
					 __ATOMIC_SEQ_CST); /* before wpos is read */
			for (unsigned ring = j; ring < process->ring_count; ring += KYMO_STIRS)
				filling |= is_filling(process, ring, drain);
		}
	}
	return filling;
}

static bool ring_due(struct ring *ring, const struct drained_process *process, struct drain *drain,
		     uint64_t unread)
{
	const bool urgent = ring_note_fill(ring, process, drain, unread);

	return urgent || unread >= ENOUGH_BYTES ||
	       drain->now_ns - ring->taken_ns >= drain->patience_ns;
}

int ring_drain(struct drained_process *process, unsigned index, struct drain *drain)
{
	struct ring *ring = &process->ring[index];
	const struct kymo_ring *shared = ring_shared(process, ring);
	uint64_t word, lastts, end;
	int rc = 0;

	if (ring->bad)
		return 0;
	if (!ring_snapshot(shared, &word, &lastts) && process->alive != ALIVE_DEAD)
		return 0;
	end = KYMO_WORD_POS(word);
	if (end <=
	    ring->taken) { /* below: wpos steps back for a moment when signal handlers trace */
		ring_free(process, ring);
		return 0;
	}
	if (end - ring->taken > ring->room) {
		ring_refuse(process, ring, drain, "more unread bytes than it has room for");
		return 0;
	}
	if (!ring_due(ring, process, drain, end - ring->taken))
		return 0;
	loud_look(process, ring);
	/* Declarations that these records need were written before them: the init log has them by
	 * now. */
	rc = initlog_drain(process, drain);
	while (rc == 0 && !ring->bad && ring->taken < end)
		rc = block_drain(process, ring, drain, word, lastts);
	if (rc == -EAGAIN)
		return 0;		/* the next round */
	if (rc == 0) {
		ring->taken_ns = drain->now_ns;
		ring_free(process, ring);
	}
	return rc;
}

/* ---- the end ---- */

/* Counts the records of a slice whose number of records is not known. */
static uint32_t slice_count(const struct drained_process *process, const struct ring *ring,
			    const struct drain *drain, const struct slice *slice)
{
	struct walk walk;

	memcpy(drain->scratch, slice->bytes, slice->size);
	walk_records(&process->classes, drain->scratch, slice->size, ring->prev_end,
		     drain->now_ns + FUTURE_NS, &walk);
	return walk.count;
}

/* Counts the records between taken and the end, which no sink could take. */
static uint64_t ring_unread_records(const struct drained_process *process, const struct ring *ring,
				    const struct drain *drain)
{
	uint64_t word = __atomic_load_n(&ring_shared(process, ring)->wpos, __ATOMIC_ACQUIRE);
	struct ring at = *ring;
	uint64_t records = 0;

	while (at.taken < KYMO_WORD_POS(word)) {
		struct slice slice;
		uint32_t in_block;
		bool complete;

		if (block_slice(process, &at, word, 0, &slice, &complete, &in_block))
			break;
		if (at.block_records == UINT32_MAX)
			slice.records = slice_count(process, ring, drain, &slice);
		if (slice.records <= KYMO_BLOCK_MAX / KYMO_RECORD_HEADER)
			records += slice.records;
		at.taken = complete ? (at.taken / at.block_size + 1) * at.block_size :
			   KYMO_WORD_POS(word);
		at.block_records = 0;
	}
	return records;
}

void ring_finish(struct drained_process *process, unsigned index, struct drain *drain)
{
	struct ring *ring = &process->ring[index];

	if (ring->bad)
		return;
	ring_account(process, index);
	if (drain->failed)
		sinks_lose(drain, process, index, ring_unread_records(process, ring, drain));
}
