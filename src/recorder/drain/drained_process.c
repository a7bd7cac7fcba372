/* SPDX-License-Identifier: Apache-2.0 */
/* New rings of a process: whether they are sound, and where draining begins. */
#include <string.h>

#include "base/array.h"
#include "recorder/drain/drain.h"
#include "recorder/drain/promise.h"
#include "recorder/drain/slice.h"

void ring_refuse(struct drained_process *process, struct ring *ring, const struct drain *drain,
		 const char *what)
{
	ring->bad = true;
	say_text(&drain->sayer, "%s: ring %u is corrupt (%s); its thread is not recorded any more",
		  process->region.name, (unsigned)(ring - process->ring), what);
}

/* Finds where to begin in a ring that may contain records already. */
static void ring_begin(struct drained_process *process, struct ring *ring, bool skip_unread)
{
	struct kymo_ring *shared = ring_shared(process, ring);
	uint64_t word = __atomic_load_n(&shared->wpos, __ATOMIC_ACQUIRE);
	uint64_t wpos = KYMO_WORD_POS(word);

	ring->taken = __atomic_load_n(&shared->rpos, __ATOMIC_RELAXED);
	ring->dropped_base = __atomic_load_n(&shared->dropped, __ATOMIC_RELAXED);
	if (skip_unread) {
		ring->waits_seen = __atomic_load_n(&shared->waits, __ATOMIC_RELAXED);
		ring->waited_seen = __atomic_load_n(&shared->waited_ns, __ATOMIC_RELAXED);
		ring->taken = wpos;
		ring->block_records = wpos % ring->block_size ? KYMO_WORD_COUNT(word) : 0;
		shared->told = ring->dropped_base;
		__atomic_store_n(&shared->rpos, wpos, __ATOMIC_RELEASE);
	} else {
		ring->dropped_base = shared->told;
		if (ring->taken < wpos && ring->taken % ring->block_size)
			ring->block_records =
				UINT32_MAX; /* unknown: check the first slice record by record */
	}
	ring->dropped_seen = ring->dropped_base;
}

/* Where there would be too many files, a ring is merged with the others of its process, if some
 * sink accepts that. */
static bool is_merged(struct drain *drain)
{
	bool can = false;

	for (unsigned i = 0; i < drain->sink_count; i++)
		can |= drain->sink[i]->ops->batch != NULL;
	if (can && (drain->streams == STREAMS_PROCESS ||
		    (drain->streams == STREAMS_AUTO && drain->stream_count >= STREAMS_OWN_MAX)))
		return true;
	drain->stream_count++;
	return false;
}

void process_rings(struct drained_process *process, struct drain *drain, bool skip_unread)
{
	struct kymo_region *header = region_header(&process->region);
	const uint32_t *ring_page = region_page(&process->region, KYMO_RING_DIR_PAGE, 2);
	uint32_t count = __atomic_load_n(&header->ring_count, __ATOMIC_ACQUIRE);

	if (count <= process->ring_count)
		return;
	if (count > KYMO_RINGS_MAX)
		count = KYMO_RINGS_MAX;
	if (count <= process->ring_count || region_grow(&process->region) < 0)
		return;
	header = region_header(&process->region);
	ring_page = region_page(&process->region, KYMO_RING_DIR_PAGE, 2);
	if (!ARRAY_FIT(process->ring, count, process->ring_room))
		return;			/* no memory: the next poll tries again */
	for (; process->ring_count < count; process->ring_count++) {
		struct ring *ring = &process->ring[process->ring_count];
		const struct kymo_ring *shared;

		*ring = (struct ring){ .page = __atomic_load_n(&ring_page[process->ring_count],
							       __ATOMIC_ACQUIRE) };
		if (!ring->page)
			break; /* counted, but not entered yet: read it in the next round */
		shared = ring_shared(process, ring);
		if (shared) {
			ring->block_size = shared->block_size;
			ring->block_count = shared->block_count;
		}
		ring->room = region_room(&process->region, ring->block_size, ring->block_count);
		if (!shared || !region_has_ring(&process->region, ring->page, ring->block_size,
						ring->block_count))
			ring_refuse(process, ring, drain, "impossible size or position");
		else
			ring_begin(process, ring, skip_unread);
		ring->merged = is_merged(drain);
		process->merged_rings += ring->merged;
	}
}

/*
 * The position `taken` need not be that of a record, although wpos is beyond it. If all of an open
 * block was taken, and the next record had no room in that block, then `taken` is where the unused
 * bytes of the block begin. They are zeros, or what a record of an earlier lap left there.
 * block_slice() knows where the records of a block end.
 */
static bool first_unread(const struct drained_process *process, const struct ring *ring,
			 struct slice *slice)
{
	const uint64_t word = __atomic_load_n(&ring_shared(process, ring)->wpos, __ATOMIC_ACQUIRE);
	const uint64_t capacity = ring->room;
	const uint64_t end = KYMO_WORD_POS(word);
	struct ring at = *ring;

	while (at.taken < end && end - ring->taken <= capacity) {
		uint32_t records;
		bool complete;

		if (block_slice(process, &at, word, UINT64_MAX, slice, &complete, &records))
			break; /* ring_drain() refuses the ring */
		if (slice->size >= KYMO_RECORD_HEADER)
			return true;
		at.taken = slice->to;
	}
	return false;
}

uint64_t process_first_ns(const struct drained_process *process)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < process->ring_count; i++) {
		const struct ring *ring = &process->ring[i];
		struct slice slice;

		if (!ring->bad && first_unread(process, ring, &slice) && slice.begin < first)
			first = slice.begin;
	}
	return first;
}

uint64_t process_unread_drops(struct drained_process *process, unsigned index)
{
	const struct ring *ring = &process->ring[index];
	struct slice slice;

	/* In this order: behind what is committed in between, nothing counted here was dropped. */
	ring_account(process, index);
	return !ring->bad && first_unread(process, ring, &slice)
		       ? promise_dropped_since(ring->dropped_seen, slice.dropped)
		       : 0;
}
