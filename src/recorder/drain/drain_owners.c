/* SPDX-License-Identifier: Apache-2.0 */
/* Whose the records of a ring are, and what each thread's account counts. */
#include <string.h>

#include "base/array.h"
#include "recorder/drain/promise.h"
#include "recorder/drain/slice.h"

static uint32_t account_new(struct drained_process *process, int32_t tid, const char *name)
{
	struct thread_account *account;

	if (process->thread_count == THREADS_MAX)
		return THREADS_MAX - 1;
	if (!ARRAY_ROOM(process->thread, process->thread_count, process->thread_room))
		return process->thread_count ? process->thread_count - 1 : 0;
	account = &process->thread[process->thread_count];
	*account = (struct thread_account){ .tid = tid };
	for (unsigned i = 0; i < KYMO_NAME_MAX && name[i]; i++)
		account->name[i] = (unsigned char)name[i] < ' ' ? '?' : name[i];
	return process->thread_count++;
}

/* Reads who owner number @seq is. Return: false: overwritten by later owners, or being entered at
 * this moment. */
static bool find_owner(const struct kymo_ring *shared, uint32_t seq, struct kymo_owner *owner)
{
	const struct kymo_owner *entry = &shared->owner[seq % KYMO_OWNERS];

	if (!seq || __atomic_load_n(&entry->seq, __ATOMIC_ACQUIRE) != seq)
		return false;
	memcpy(owner, entry, sizeof *owner);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&entry->seq, __ATOMIC_RELAXED) == seq;
}

/* Drops up to the count @dropped belong to the present owner. */
static void account_drops(struct drained_process *process, struct ring *ring, uint64_t dropped)
{
	if (!promise_dropped_since(dropped, ring->dropped_seen))
		return;
	if (process->thread)
		process->thread[ring->thread].dropped += dropped - ring->dropped_seen;
	process->dropped += dropped - ring->dropped_seen;
	ring->dropped_seen = dropped;
}

/* An owner that is not known any more gets tid 0 and no name. */
void ring_owner(struct drained_process *process, struct ring *ring, uint32_t seq, uint64_t dropped)
{
	const struct kymo_ring *shared = ring_shared(process, ring);
	const uint64_t all = __atomic_load_n(&shared->dropped, __ATOMIC_RELAXED);
	struct kymo_owner owner = { 0 };

	if (ring->owner_known && seq == ring->owner_seq)
		return;
	if (ring->owner_known)
		account_drops(process, ring, promise_dropped_since(dropped, all) ? all : dropped);
	if (!find_owner(shared, seq, &owner) &&
	    seq == __atomic_load_n(&shared->owner_seq, __ATOMIC_ACQUIRE)) {
		owner.tid = shared->tid;
		memcpy(owner.name, shared->name, sizeof owner.name);
	}
	ring->owner_known = true;
	ring->owner_seq = seq;
	ring->thread = account_new(process, (int32_t)owner.tid, owner.name);
}

/* The counts come from the traced process: what grew by more than anything can is not a count. */
static void account_waits(struct drained_process *process, struct ring *ring)
{
	const struct kymo_ring *shared = ring_shared(process, ring);
	const uint64_t waits = __atomic_load_n(&shared->waits, __ATOMIC_RELAXED);
	const uint64_t waited_ns = __atomic_load_n(&shared->waited_ns, __ATOMIC_RELAXED);

	if (waits == ring->waits_seen)
		return;
	process->waits += promise_dropped_since(waits, ring->waits_seen);
	if (waited_ns - ring->waited_seen <= (uint64_t)INT64_MAX / KYMO_RINGS_MAX)
		process->waited_ns += waited_ns - ring->waited_seen;
	ring->waits_seen = waits;
	ring->waited_seen = waited_ns;
}

void ring_account(struct drained_process *process, unsigned index)
{
	struct ring *ring = &process->ring[index];
	uint64_t dropped;

	if (ring->bad)
		return;
	account_waits(process, ring);
	dropped = __atomic_load_n(&ring_shared(process, ring)->dropped, __ATOMIC_RELAXED);
	if (!promise_dropped_since(dropped, ring->dropped_seen))
		return;
	if (!ring->owner_known) /* no record of it ever found room */
		ring_owner(
			process, ring,
			__atomic_load_n(&ring_shared(process, ring)->owner_seq, __ATOMIC_ACQUIRE),
			dropped);
	account_drops(process, ring, dropped);
}
