/* SPDX-License-Identifier: Apache-2.0 */
/* Spare blocks, the memory that rings of a process share; see tracer_spare.h. */
#include "inside/tracer/tracer_process.h"
#include "inside/tracer/tracer_spare.h"

#define STARVED_TRIES 4u

/* Rings of the size in $KYMO_RING_SIZE never grow. Nobody frees blocks of rings that overwrite. */
bool kymo_spare_used(void)
{
	return !kymo_settings.ring_bytes && !kymo_settings.flight;
}

/* The ring's places must be enough for all blocks that it may have at once. */
bool kymo_spare_fits(const struct kymo_process *process, uint64_t bytes)
{
	return kymo_spare_used() && bytes / KYMO_SPARE_BLOCK + process->spare_count <= KYMO_PLACES;
}

uint32_t kymo_spare_count(uint64_t used)
{
	uint64_t bytes = kymo_settings.spare_bytes;

	if (!kymo_spare_used() || used > kymo_settings.ring_memory)
		return 0;
	if (bytes > kymo_settings.ring_memory - used)
		bytes = kymo_settings.ring_memory - used;
	if (bytes / KYMO_SPARE_BLOCK > KYMO_SPARES_MAX)
		return KYMO_SPARES_MAX;
	return (uint32_t)(bytes / KYMO_SPARE_BLOCK);
}

void kymo_spare_install(struct kymo_process *process, uint32_t count, uint8_t *at, uint32_t page)
{
	process->region->spare_page = page;
	process->region->spare_count = count;
	process->spare = at;
	process->spare_count = count;
	process->ring_memory += count * (uint64_t)KYMO_SPARE_BLOCK;
}

/* The word of a spare block: numbers of the ring, and of the ring's block + 1. 0: not used yet. */
#define USE_BLOCK_BITS 48
#define USE(ring, block) ((uint64_t)(ring) << USE_BLOCK_BITS | ((block) + 1))

static bool was_read(const struct kymo_process *process, uint64_t use)
{
	const uint64_t blocks = use & ((1ull << USE_BLOCK_BITS) - 1); /* up to this one */
	const struct kymo_ring *ring = process->ring[use >> USE_BLOCK_BITS];

	if (!use)
		return true;
	if (__atomic_load_n(&ring->rpos, __ATOMIC_ACQUIRE) < blocks * KYMO_SPARE_BLOCK)
		return false;
	kymo_after_producer(ring);
	return true;
}

/*
 * The search begins behind the spare block that was taken last, so at the one that was taken first,
 * which is probably free. Only the exchange decides: threads may take spare blocks at the same
 * time.
 */
static int take(struct kymo_process *process, uint32_t ring, uint64_t block, bool starved)
{
	const uint32_t count = process->spare_count,
		       tries = starved && count > STARVED_TRIES ? STARVED_TRIES : count;
	uint32_t at = __atomic_load_n(&process->spare_next, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < tries; i++) {
		const uint32_t next = at + 1 < count ? at + 1 : 0;
		uint64_t use = __atomic_load_n(&process->spare_use[at], __ATOMIC_ACQUIRE);

		if (was_read(process, use) &&
		    __atomic_compare_exchange_n(&process->spare_use[at], &use, USE(ring, block),
						false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			__atomic_store_n(&process->spare_next, next, __ATOMIC_RELAXED);
			return (int)at;
		}
		at = next;
	}
	if (count)
		__atomic_store_n(&process->spare_next, at, __ATOMIC_RELAXED);
	return -1;
}

/*
 * Whether the block at @start may overwrite the older block at home. In DISCARD mode, the unread
 * bytes from rpos on must stay. In OVERWRITE mode, only the bytes from wpos on must stay: if a
 * signal handler fills the whole ring, the unpublished record of the interrupted code is at wpos.
 */
static bool may_begin_at_home(struct kymo_thread *thread, uint64_t start)
{
	const struct kymo_ring *ring = thread->ring;
	const uint64_t size = thread->mask + 1, bytes = thread->home_mask + 1;
	const struct kymo_block *home;
	uint64_t limit;

	if (start < thread->free_until)
		return true; /* without a look at rpos: its cache line moves between two CPUs */
	if (__atomic_load_n(thread->mode, __ATOMIC_RELAXED) == KYMO_MODE_OVERWRITE) {
		limit = KYMO_WORD_POS(ring->wpos);
	} else {
		limit = __atomic_load_n(&ring->rpos, __ATOMIC_ACQUIRE);
		thread->free_until = (limit & ~(size - 1)) + bytes;
	}
	if (start < bytes || limit >= start - bytes + size)
		return true;
	/* What is at home there may be an older block, because later ones are in spare blocks. */
	home = (const struct kymo_block *)(thread->home + (start & thread->home_mask));
	return start < ring->lent + bytes && size == KYMO_SPARE_BLOCK &&
	       __atomic_load_n(thread->mode, __ATOMIC_RELAXED) != KYMO_MODE_OVERWRITE &&
	       home->seq * size <= limit;
}

struct kymo_block *kymo_block_memory(struct kymo_thread *thread, uint64_t start)
{
	struct kymo_process *process = kymo_process;
	struct kymo_ring *ring = thread->ring;
	int32_t *place = &ring->place[start / KYMO_SPARE_BLOCK % KYMO_PLACES];
	uint32_t page;
	int spare;

	if (may_begin_at_home(thread, start)) {
		if (kymo_unlikely(ring->lent))
			__atomic_store_n(place, 0, __ATOMIC_RELAXED);
		return (struct kymo_block *)(thread->home + (start & thread->home_mask));
	}
	if (thread->mask + 1 != KYMO_SPARE_BLOCK || thread->own_only || !process->spare_count ||
	    __atomic_load_n(thread->mode, __ATOMIC_RELAXED) == KYMO_MODE_OVERWRITE)
		return NULL;
	spare = take(process, thread->number, start / KYMO_SPARE_BLOCK, thread->starved);
	thread->starved = spare < 0;
	if (spare < 0)
		return NULL;
	page = process->region->spare_page + (uint32_t)spare * (KYMO_SPARE_BLOCK / KYMO_PAGE);
	page -= process->ring_page[thread->number];
	__atomic_store_n(place, (int32_t)page, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->lent, start + KYMO_SPARE_BLOCK, __ATOMIC_RELEASE);
	return (struct kymo_block *)(process->spare + (uint64_t)spare * KYMO_SPARE_BLOCK);
}
