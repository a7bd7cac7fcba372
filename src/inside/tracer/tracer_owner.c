/* SPDX-License-Identifier: Apache-2.0 */
/* Which ring a thread gets, and what a ring says about its owner. */
#include "inside/tracer/tracer_process.h"

static struct kymo_ring *take_free_ring(struct kymo_process *process)
{
	unsigned count = __atomic_load_n(&process->region->ring_count, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < count; i++) {
		struct kymo_ring *ring = process->ring[i];
		uint32_t was = KYMO_RING_FREE;

		if (__atomic_load_n(&ring->state, __ATOMIC_RELAXED) == KYMO_RING_RETIRED &&
		    KYMO_WORD_POS(__atomic_load_n(&ring->wpos, __ATOMIC_RELAXED)) ==
			    __atomic_load_n(&ring->rpos, __ATOMIC_ACQUIRE))
			was = KYMO_RING_RETIRED; /* the consumer read all of the ring, and ended
						    before freeing it */
		if (__atomic_compare_exchange_n(&ring->state, &was, KYMO_RING_OWNED, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return ring;
	}
	return NULL;
}

static bool overwriting(const struct kymo_process *process)
{
	return __atomic_load_n(&process->region->mode, __ATOMIC_RELAXED) == KYMO_MODE_OVERWRITE;
}

/*
 * In OVERWRITE mode no consumer empties the rings of ended threads. If there are more than @keep
 * such rings, the calling thread gets the one whose last record is oldest. The new owner's blocks
 * follow the old records.
 */
static struct kymo_ring *take_oldest_retired(struct kymo_process *process, unsigned keep)
{
	const unsigned count = __atomic_load_n(&process->region->ring_count, __ATOMIC_ACQUIRE);
	struct kymo_ring *oldest;
	uint64_t oldest_at = 0, at;
	unsigned retired;
	uint32_t was;

	do {
		oldest = NULL;
		retired = 0;
		for (unsigned i = 0; i < count; i++) {
			struct kymo_ring *ring = process->ring[i];

			if (__atomic_load_n(&ring->state, __ATOMIC_ACQUIRE) != KYMO_RING_RETIRED)
				continue;
			retired++;
			at = __atomic_load_n(&ring->lastts, __ATOMIC_RELAXED);
			if (oldest && at >= oldest_at)
				continue;
			oldest = ring;
			oldest_at = at;
		}
		if (retired <= keep)
			return NULL;
		was = KYMO_RING_RETIRED;
	} while (!__atomic_compare_exchange_n(&oldest->state, &was, KYMO_RING_OWNED, false,
					      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	return oldest;
}

/* The loop repeats only if another thread got the ring that this thread created. */
static struct kymo_ring *add_ring(struct kymo_process *process)
{
	struct kymo_ring *ring = NULL;

	while (!ring) {
		int index;

		if (!kymo_region_lock(process))
			return NULL;
		index = kymo_region_add_ring(process);
		kymo_region_unlock(process);
		ring = take_free_ring(
			process); /* the new ring, or one that became free meanwhile */
		if (index < 0) {
			__atomic_store_n(&process->region->no_ring_why, (uint32_t)-index,
					 __ATOMIC_RELAXED);
			break;
		}
	}
	return ring;
}

static struct kymo_ring *find_ring(struct kymo_process *process)
{
	const bool overwrite = overwriting(process);
	struct kymo_ring *ring = take_free_ring(process);

	if (!ring && overwrite)
		ring = take_oldest_retired(process, KYMO_RETIRED_KEPT);
	if (!ring)
		ring = add_ring(process);
	if (!ring && overwrite)
		ring = take_oldest_retired(process, 0);
	return ring;
}

/* Enter the thread as owner number @seq. A reader may be reading the old entry: seq is 0 while the
 * entry changes. */
static void enter_owner(struct kymo_ring *ring, const struct kymo_thread *thread, uint32_t seq)
{
	struct kymo_owner *owner = &ring->owner[seq % KYMO_OWNERS];

	kymo_store_before(&owner->seq, 0);
	owner->tid = thread->tid;
	memcpy(owner->name, thread->name, sizeof owner->name);
	__atomic_store_n(&owner->seq, seq, __ATOMIC_RELEASE);

	memcpy(ring->name, thread->name, sizeof ring->name);
	ring->tid = thread->tid;
	__atomic_store_n(&ring->owner_seq, seq, __ATOMIC_RELEASE);
}

/* The thread's word begins where the records of the last owner end. */
bool kymo_ring_get(struct kymo_thread *thread)
{
	struct kymo_process *process = kymo_process;
	struct kymo_ring *ring = find_ring(process);

	if (!ring)
		return false;
	__atomic_store_n(&ring->nest, 0, __ATOMIC_RELAXED);
	enter_owner(ring, thread, ring->owner_seq + 1);

	thread->number = ring->number % KYMO_RINGS_MAX;
	thread->home = (uint8_t *)ring + KYMO_PAGE;
	thread->home_mask = (uint64_t)ring->block_size * ring->block_count - 1;
	thread->data = process->last_block[thread->number];
	thread->mask = ring->block_size - 1;
	thread->word = ring->wpos;
	thread->left = ring->wpos;
	thread->mode = &process->region->mode;
	thread->stirred = &process->region->stirred[thread->number % KYMO_STIRS];
	thread->free_until = 0;
	thread->end = 0;
	kymo_signal_fence();
	thread->ring = ring;
	return true;
}
