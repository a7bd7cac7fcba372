/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which ring a thread gets, and what a ring says about its owner.
 *
 * A thread takes, in this order: a free ring of the size that it wants; in OVERWRITE mode the ring
 * of an ended thread, the oldest, if there are more than KYMO_RETIRED_KEPT; a new one; and where
 * none can be created and it wants the usual size, one of any size. A compare-exchange of the
 * ring's state decides between two threads that want the same one.
 */
#include <errno.h>

#include "inside/tracer/tracer_calm.h"
#include "inside/tracer/tracer_process.h"
#include "kymo/thread.h"

#define ANY UINT64_MAX

/*
 * Whether ring @index has the size that its next owner wants. Threads that want the usual size
 * leave larger rings to threads that ask for them: these would otherwise create a ring each time.
 */
static bool fits(const struct kymo_process *process, unsigned index, uint64_t wanted)
{
	const struct kymo_ring *ring = process->ring[index];
	const uint64_t bytes = (uint64_t)ring->block_size * ring->block_count;

	return wanted == ANY || bytes == (wanted ? wanted : kymo_region_ring_bytes(index));
}

static struct kymo_ring *take_free_ring(struct kymo_process *process, uint64_t wanted)
{
	unsigned count = __atomic_load_n(&process->region->ring_count, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < count; i++) {
		struct kymo_ring *ring = process->ring[i];
		uint32_t was = KYMO_RING_FREE;

		if (!fits(process, i, wanted))
			continue;
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
static struct kymo_ring *take_oldest_retired(struct kymo_process *process, uint64_t wanted,
					     unsigned keep)
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

			if (__atomic_load_n(&ring->state, __ATOMIC_ACQUIRE) != KYMO_RING_RETIRED ||
			    !fits(process, i, wanted))
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
static struct kymo_ring *add_ring(struct kymo_process *process, uint64_t wanted, int *error)
{
	struct kymo_ring *ring = NULL;
	int index = 0;

	while (!ring && index >= 0) {
		if (!kymo_region_lock(process)) {
			*error = -EAGAIN;
			return NULL;
		}
		index = kymo_region_add_ring(process, wanted);
		kymo_region_unlock(process);
		/* The new ring, or one that became free meanwhile. */
		ring = take_free_ring(process, wanted);
	}
	*error = index;
	return ring;
}

static struct kymo_ring *find_ring(struct kymo_process *process, uint64_t wanted, int *error)
{
	const bool overwrite = overwriting(process);
	struct kymo_ring *ring = take_free_ring(process, wanted);

	if (!ring && overwrite)
		ring = take_oldest_retired(process, wanted, KYMO_RETIRED_KEPT);
	if (!ring)
		ring = add_ring(process, wanted, error);
	if (ring || wanted)
		return ring;
	if (*error != -EAGAIN)
		__atomic_store_n(&process->region->no_ring_why, (uint32_t) - *error,
				 __ATOMIC_RELAXED);
	ring = take_free_ring(process, ANY);
	if (!ring && overwrite)
		ring = take_oldest_retired(process, ANY, 0);
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
int kymo_ring_get(struct kymo_thread *thread)
{
	struct kymo_process *process = kymo_process;
	int error = 0;
	struct kymo_ring *ring = find_ring(process, thread->wanted, &error);

	if (!ring)
		return error;
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
	thread->counts = process->counts[thread->number];
	thread->free_until = 0;
	thread->end = 0;
	kymo_signal_fence();
	thread->ring = ring;
	return 0;
}

/* A thread that does not get what it wants is as it was: its first event gets the usual ring. */
static int prepare(struct kymo_thread *thread, uint64_t wanted, bool own_only)
{
	struct kymo_calm calm;
	int error = -EALREADY;

	kymo_calm_begin(&calm);
	if (!thread->ring && !thread->in_slow) {
		thread->wanted = wanted;
		thread->own_only = own_only;
		thread->in_slow = 1;
		kymo_signal_fence();
		error = kymo_ring_get(thread);
		kymo_signal_fence();
		thread->in_slow = 0;
		thread->wanted = 0;
		if (error)
			thread->own_only = false;
	}
	kymo_calm_end(&calm);
	return error;
}

int kymo_thread_prepare(const struct kymo_thread_options *options)
{
	uint64_t wanted = options ? options->ring_bytes : 0, power = KYMO_LATER_RING_BYTES;
	struct kymo_thread *thread;

	if (!options || options->size != sizeof *options || wanted > KYMO_RING_BYTES_MAX)
		return -EINVAL;
	while (power < wanted)
		power <<= 1;
	thread = kymo_settings.disabled ? NULL : kymo_thread_slot();
	return thread ? prepare(thread, wanted ? power : 0, options->own_only != 0) : -ENOTSUP;
}
