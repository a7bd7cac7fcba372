/* SPDX-License-Identifier: Apache-2.0 */
/* The slow paths of the ring: a thread's first event, the next block, nested commits, drops. */
#include <errno.h>
#include <sched.h>

#include "inside/tracer/tracer_process.h"

/*
 * Store a word that must be seen before anything that is stored after it, here to bytes that are no
 * atomics. x86-64 keeps the order of stores, so there the fence only holds the compiler; on aarch64
 * it is a dmb, once a block. A store with release would order what is before it, not what is after.
 * TSan knows no fences and runs on x86-64: there an exchange stands in.
 */
#ifdef KYMO_PLAIN_ATOMICS
#define kymo_store_before(word, value) ((void)__atomic_exchange_n(word, value, __ATOMIC_SEQ_CST))
#else
#define kymo_store_before(word, value) do {				\
	__atomic_store_n(word, value, __ATOMIC_RELAXED);		\
	__atomic_thread_fence(__ATOMIC_RELEASE);			\
} while (0)
#endif

static uint64_t dropped_early;		/* while there was no region */

static bool is_registered(const struct kymo_process *process)
{
	return process && __atomic_load_n(&process->registration, __ATOMIC_SEQ_CST) == KYMO_REGISTERED;
}

/* Only now it is known whether somebody wanted them. Of the drop and the registration, the later takes them over. */
void kymo_drop_hand_over(struct kymo_process *process)
{
	const uint64_t count = __atomic_exchange_n(&dropped_early, 0, __ATOMIC_SEQ_CST);

	if (__atomic_load_n(&process->region->state, __ATOMIC_RELAXED) == KYMO_STATE_RECORD)
		(void)__atomic_fetch_add(&process->region->dropped_no_ring, count, __ATOMIC_RELAXED);
}

/* Counters that a handler may bump in between, so atomic; off the fast path. */
bool kymo_drop(struct kymo_thread *thread)
{
	struct kymo_process *process = kymo_process;

	if (thread) {
		(void)__atomic_fetch_add(&thread->ring->dropped, 1, __ATOMIC_RELAXED);
	} else if (is_registered(process)) {
		(void)__atomic_fetch_add(&process->region->dropped_no_ring, 1, __ATOMIC_RELAXED);
	} else {
		(void)__atomic_fetch_add(&dropped_early, 1, __ATOMIC_SEQ_CST);
		process = __atomic_load_n(&kymo_process, __ATOMIC_ACQUIRE);
		if (is_registered(process))
			kymo_drop_hand_over(process);
	}
	return false;
}

void kymo_drop_forget(void)
{
	__atomic_store_n(&dropped_early, 0, __ATOMIC_RELAXED);
}

static struct kymo_ring *take_free_ring(struct kymo_process *process)
{
	unsigned count = __atomic_load_n(&process->region->ring_count, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < count; i++) {
		struct kymo_ring *ring = process->ring[i];
		uint32_t was = KYMO_RING_FREE;

		if (__atomic_load_n(&ring->state, __ATOMIC_RELAXED) == KYMO_RING_RETIRED &&
		    KYMO_WORD_POS(__atomic_load_n(&ring->wpos, __ATOMIC_RELAXED)) ==
			    __atomic_load_n(&ring->rpos, __ATOMIC_ACQUIRE))
			was = KYMO_RING_RETIRED;	/* read to its end, by a consumer that has left */
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
 * In OVERWRITE mode no consumer empties the rings of ended threads. If there are more than @keep of them, the ring that was silent
 * longest gets a new owner, whose blocks follow the records in it.
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

/* Each further round means that another thread took the ring that this thread created. */
static struct kymo_ring *add_ring(struct kymo_process *process)
{
	struct kymo_ring *ring = NULL;

	while (!ring) {
		int index;

		if (!kymo_region_lock(process))
			return NULL;
		index = kymo_region_add_ring(process);
		kymo_region_unlock(process);
		ring = take_free_ring(process);	/* the new one, or a better one */
		if (index < 0)
			break;
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

/* Enter the thread as owner number @seq; readers may be looking at what the entry said before. */
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

/* A ring for the calling thread. Its word goes on where the last owner's ended. */
static bool get_ring(struct kymo_thread *thread)
{
	struct kymo_ring *ring = find_ring(kymo_process);

	if (!ring)
		return false;
	__atomic_store_n(&ring->nest, 0, __ATOMIC_RELAXED);
	enter_owner(ring, thread, ring->owner_seq + 1);

	thread->data = (uint8_t *)ring + KYMO_PAGE;
	thread->mask = (uint64_t)ring->block_size * ring->block_count - 1;
	thread->word = ring->wpos;
	thread->left = ring->wpos;
	thread->block_size = ring->block_size;
	thread->mode = &kymo_process->region->mode;
	thread->stirred = &kymo_process->region->stirred[ring->number % KYMO_STIRS];
	thread->free_until = 0;
	thread->end = 0;
	kymo_signal_fence();
	thread->ring = ring;
	return true;
}

static struct kymo_block *block_at(const struct kymo_thread *thread, uint64_t pos)
{
	return (struct kymo_block *)(thread->data + (pos & thread->mask));
}

/* 0 where it is unknown. */
static uint32_t cpu_of(const struct kymo_thread *thread)
{
	unsigned cpu = 0;

	if (kymo_unlikely(!thread->cpu) || __atomic_load_n(thread->cpu, __ATOMIC_RELAXED) < 0) {
		(void)getcpu(&cpu, NULL);	/* vDSO */
		return cpu;
	}
	return (uint32_t)__atomic_load_n(thread->cpu, __ATOMIC_RELAXED);
}

/* Close the block that @word is in. Return: records in it and in all blocks before it. */
static uint64_t close_block(struct kymo_thread *thread, uint64_t word)
{
	uint64_t pos = KYMO_WORD_POS(word);
	uint64_t start = pos & ~(uint64_t)(thread->block_size - 1);
	struct kymo_block *block = block_at(thread, start);

	block->used = (uint32_t)(pos - start);
	block->records = (uint32_t)KYMO_WORD_COUNT(word);
	return block->records_before + KYMO_WORD_COUNT(word);
}

/*
 * May the block at @start be begun over the old block in its place? Bytes from rpos on must stay; without a consumer, from wpos on:
 * when a signal handler has filled the whole ring, the record of the interrupted code, which is not published yet, is at wpos.
 */
static bool may_begin(struct kymo_thread *thread, uint64_t start)
{
	const struct kymo_ring *ring = thread->ring;
	const uint64_t size = thread->block_size, bytes = thread->mask + 1;
	uint64_t limit;

	if (start < thread->free_until)
		return true;		/* the reader's line is on its way to and fro: not once a block */
	if (__atomic_load_n(thread->mode, __ATOMIC_RELAXED) == KYMO_MODE_OVERWRITE) {
		limit = KYMO_WORD_POS(ring->wpos);
	} else {
		limit = __atomic_load_n(&ring->rpos, __ATOMIC_ACQUIRE);
		thread->free_until = (limit & ~(size - 1)) + bytes;
	}
	return start < bytes || limit >= start - bytes + size;
}

/*
 * Begin the block after the one that thread->word is in. A handler cannot move the word
 * meanwhile: with in_slow set and end 0 it finds no room and is dropped.
 *
 * The new seq goes first, and nothing of the block is touched before it is out: whoever copies the
 * old block sees by its second look at seq that it came too late.
 */
static bool next_block(struct kymo_thread *thread)
{
	struct kymo_ring *ring = thread->ring;
	const uint64_t size = thread->block_size;
	const uint64_t word = thread->word, pos = KYMO_WORD_POS(word);
	const uint64_t start = pos ? (pos & ~(size - 1)) + size : 0;
	struct kymo_block *block = block_at(thread, start);
	uint64_t records_before = 0;

	if (!may_begin(thread, start))
		return false;
	if (pos)
		records_before = close_block(thread, word);
	thread->left = word;
	kymo_store_before(&block->seq, start / size + 1);
	block->used = 0;
	block->records = 0;
	block->ts_first = ring->lastts;
	block->dropped_at_start = __atomic_load_n(&ring->dropped, __ATOMIC_RELAXED);
	block->owner_seq = ring->owner_seq;
	block->cpu = cpu_of(thread);
	block->records_before = records_before;
	kymo_signal_fence();
	__atomic_store_n(&thread->word, KYMO_WORD(start + sizeof *block, 0), __ATOMIC_RELAXED);
	kymo_signal_fence();
	__atomic_store_n(&thread->end, start + size - 1, __ATOMIC_RELAXED);
	__atomic_store_n(thread->stirred, 1, __ATOMIC_RELAXED);
	return true;
}

/* Make room for a record. Return: false when there is none to be had. */
static bool make_room(struct kymo_thread *thread, size_t record_size)
{
	bool room;

	if (thread->in_slow)
		return false;		/* a handler that landed in a slow path */
	thread->in_slow = 1;
	kymo_signal_fence();
	if (KYMO_WORD_POS(thread->word) + record_size <= thread->end) {
		room = true;		/* a handler has created it meanwhile */
	} else {
		__atomic_store_n(&thread->end, 0, __ATOMIC_RELAXED);	/* nothing more goes into this block */
		kymo_signal_fence();
		room = record_size + sizeof(struct kymo_block) < thread->block_size &&
		       next_block(thread);
	}
	kymo_signal_fence();
	thread->in_slow = 0;
	return room;
}

/* As kymo_try_reserve_sp(), with the vDSO clock: where the counter cannot be used. */
static bool try_reserve_vdso(struct kymo_record *record, struct kymo_thread *thread, unsigned id,
			     size_t payload)
{
	const uint64_t before = __atomic_load_n(&thread->word, __ATOMIC_RELAXED);
	const uint64_t after = kymo_word_after(before, payload);
	const uint32_t nest = thread->ring->nest;

	if (KYMO_WORD_POS(after) > __atomic_load_n(&thread->end, __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&thread->ring->nest, nest + 1, __ATOMIC_RELAXED);
	kymo_signal_fence();
	return kymo_claim_sp(record, thread, id, before, after, kymo_clock_ns(), nest);
}

/*
 * A handler that landed in a failed attempt left its records unpublished. They must not go out
 * together with the next record: see kymo__publish_nested().
 */
static void catch_up(struct kymo_thread *thread)
{
	if (!thread->ring->nest && thread->word != thread->ring->wpos)
		kymo__publish_nested(thread);
}

/* The thread with a ring. NULL: not traced, no ring to be had, or a handler in a slow path. */
static struct kymo_thread *with_ring(struct kymo_thread *thread)
{
	bool have;

	if (!thread || thread->ring)
		return thread;
	/* A handler in a slow path, or on the thread that registers the process. */
	if (thread->in_slow || !is_registered(kymo_process))
		return NULL;
	thread->in_slow = 1;
	kymo_signal_fence();
	have = get_ring(thread);
	kymo_signal_fence();
	thread->in_slow = 0;
	return have ? thread : NULL;
}

struct kymo_thread *kymo_thread_with_ring(void)
{
	return with_ring(kymo_thread_slot());
}

bool kymo__reserve(struct kymo_record *record, unsigned id, size_t payload)
{
	const size_t size = KYMO_RECORD_HEADER + payload;
	struct kymo_thread *thread = kymo__thread;

	if (kymo_unlikely(!thread->ring)) {
		thread = kymo_thread_slot();
		/* Until the process is registered every event counts as enabled; now it is known better. */
		if (thread && !kymo_recorder_wants(id))
			return false;
		thread = with_ring(thread);
		if (!thread)
			return kymo_drop(NULL);
	}
	for (;;) {			/* each further round means that a handler made progress */
		catch_up(thread);
		if (kymo_likely(!thread->vdso_clock) ? kymo_try_reserve_sp(record, id, payload)
						     : try_reserve_vdso(record, thread, id, payload))
			return true;
		if (KYMO_WORD_POS(thread->word) + size > thread->end) {
			if (make_room(thread, size))
				continue;
		} else if (thread->vdso_clock || kymo_clock_renew(thread)) {
			continue;
		}
		/* The attempt above may have left a handler's records, and this event has no record. */
		catch_up(thread);
		return kymo_drop(thread);
	}
}

/*
 * Publish several records at once. nseq is odd meanwhile: a consumer that pairs the new time with
 * the old position would cut a packet that ends after the next one begins.
 *
 * The time is a new look at the clock: not earlier than any reserved record, not later than any
 * that follows.
 */
void kymo__publish_nested(struct kymo_thread *thread)
{
	struct kymo_ring *ring = thread->ring;
	uint64_t word, now;

	do {
		__atomic_store_n(&ring->nest, 1, __ATOMIC_RELAXED);
		kymo_signal_fence();
		__atomic_store_n(&ring->nseq, ring->nseq + 1, __ATOMIC_RELAXED);
		do {		/* no handler's record between the position and the time */
			word = __atomic_load_n(&thread->word, __ATOMIC_RELAXED);
			kymo_signal_fence();
			now = kymo_clock_read(thread);
			kymo_signal_fence();
		} while (__atomic_load_n(&thread->word, __ATOMIC_RELAXED) != word);
		__atomic_store_n(&ring->lastts, now, __ATOMIC_RELEASE);	/* after the odd nseq */
		__atomic_store_n(&ring->wpos, word, __ATOMIC_RELEASE);
		__atomic_store_n(&ring->nseq, ring->nseq + 1, __ATOMIC_RELEASE);
		kymo_signal_fence();
		__atomic_store_n(&ring->nest, 0, __ATOMIC_RELAXED);
		kymo_signal_fence();
	} while (__atomic_load_n(&thread->word, __ATOMIC_RELAXED) != word);
}

/*
 * What is published ends in front of the record, but not right there: handlers' records stand
 * between, or it is the first of a block. A consumer that sees its time with the old position would
 * take it for the bound of what comes next, so both change under an odd nseq.
 */
void kymo__publish_behind(const struct kymo_record *record)
{
	struct kymo_thread *thread = record->thread;
	struct kymo_ring *ring = record->ring;

	if (KYMO_WORD_COUNT(record->before) || ring->wpos != thread->left) {
		kymo__publish_nested(thread);
		return;
	}
	__atomic_store_n(&ring->nseq, ring->nseq + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->lastts, record->ns, __ATOMIC_RELEASE);	/* after the odd nseq */
	__atomic_store_n(&ring->wpos, record->word, __ATOMIC_RELEASE);
	__atomic_store_n(&ring->nseq, ring->nseq + 1, __ATOMIC_RELEASE);
	kymo_signal_fence();
	__atomic_store_n(&ring->nest, 0, __ATOMIC_RELAXED);
	kymo_signal_fence();
	if (kymo_unlikely(__atomic_load_n(&thread->word, __ATOMIC_RELAXED) != record->word))
		kymo__publish_nested(thread);
}
