/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slow paths of the ring: a thread's first event, the next block, records of signal handlers,
 * drops.
 *
 * A slow path changes several words of the thread. A signal handler that interrupts it would find
 * them half changed, so a slow path sets in_slow: a handler that needs a slow path meanwhile drops
 * its event. The layout of a ring is in abi/region.h, the fast path in tracer_ring.h.
 */
#include <sched.h>

#include "inside/tracer/tracer_calm.h"
#include "inside/tracer/tracer_process.h"
#include "inside/tracer/tracer_spare.h"
#include "inside/tracer/tracer_wait.h"

static uint64_t dropped_early;		/* events dropped before the region existed */

static bool is_registered(const struct kymo_process *process)
{
	return process &&
	       __atomic_load_n(&process->registration, __ATOMIC_SEQ_CST) == KYMO_REGISTERED;
}

/*
 * Early drops count only if the process registers into state RECORD: otherwise no recorder wanted
 * the events. Both the registration and a drop call this function, so that the later of the two
 * moves the count to the region.
 */
void kymo_drop_hand_over(struct kymo_process *process)
{
	const uint64_t count = __atomic_exchange_n(&dropped_early, 0, __ATOMIC_SEQ_CST);

	if (__atomic_load_n(&process->region->state, __ATOMIC_RELAXED) == KYMO_STATE_RECORD)
		(void)__atomic_fetch_add(&process->region->dropped_no_ring, count,
					 __ATOMIC_RELAXED);
}

/* The counters are atomic, because a signal handler may increment them at the same time. */
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

/* The CPU of the calling thread; 0: unknown. */
static uint32_t cpu_of(const struct kymo_thread *thread)
{
	if (kymo_unlikely(!thread->cpu) || __atomic_load_n(thread->cpu, __ATOMIC_RELAXED) < 0) {
		const int cpu = sched_getcpu(); /* vDSO */

		return cpu < 0 ? 0 : (uint32_t)cpu;
	}
	return (uint32_t)__atomic_load_n(thread->cpu, __ATOMIC_RELAXED);
}

/* Close the block of @word. Return: records in this block and in all blocks before it. */
static uint64_t close_block(struct kymo_thread *thread, uint64_t word)
{
	struct kymo_block *block = (struct kymo_block *)thread->data;

	block->used = (uint32_t)(KYMO_WORD_POS(word) & thread->mask);
	block->records = (uint32_t)KYMO_WORD_COUNT(word);
	return block->records_before + KYMO_WORD_COUNT(word);
}

/*
 * Begin the block after that of thread->word. A handler cannot move the word meanwhile: end is 0,
 * so the handler finds no room, and in_slow is set, so its event is dropped.
 *
 * The new seq is stored before any other byte of the block changes. So a reader that copies the old
 * block reads a different seq after the copy, and discards the copy.
 */
static bool next_block(struct kymo_thread *thread)
{
	struct kymo_ring *ring = thread->ring;
	const uint64_t size = thread->mask + 1;
	const uint64_t word = thread->word, pos = KYMO_WORD_POS(word);
	const uint64_t start = pos ? (pos & ~(size - 1)) + size : 0;
	struct kymo_block *block = kymo_block_memory(thread, start);
	uint64_t records_before = 0;

	if (!block)
		return false;
	if (pos)
		records_before = close_block(thread, word);
	thread->left = word;
	__atomic_store_n(&thread->data, (uint8_t *)block, __ATOMIC_RELAXED);
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

/* Make room for a record: begin the next block. Return: false: no room is available. */
static bool make_room(struct kymo_thread *thread, size_t record_size)
{
	bool room;

	if (thread->in_slow)
		return false;		/* in a signal handler that interrupted a slow path */
	thread->in_slow = 1;
	kymo_signal_fence();
	if (KYMO_WORD_POS(thread->word) + record_size <= thread->end) {
		room = true;		/* a handler has begun the next block meanwhile */
	} else {
		/* no more records in this block */
		__atomic_store_n(&thread->end, 0, __ATOMIC_RELAXED);
		kymo_signal_fence();
		room = record_size + sizeof(struct kymo_block) <= thread->mask &&
		       next_block(thread);
	}
	kymo_signal_fence();
	thread->in_slow = 0;
	return room;
}

/* As kymo_try_reserve_sp(), with the vDSO clock, for machines whose counter is not usable. */
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
 * A handler that interrupted a failed attempt left its records unpublished. Publish them now, not
 * together with the next record; see kymo__publish_nested().
 */
static void catch_up(struct kymo_thread *thread)
{
	if (!thread->ring->nest && thread->word != thread->ring->wpos)
		kymo__publish_nested(thread);
}

/*
 * The thread with a ring. NULL: the process is not traced, no ring is available, or a signal
 * handler interrupted a slow path.
 */
static struct kymo_thread *with_ring(struct kymo_thread *thread)
{
	struct kymo_calm calm;

	if (!thread || thread->ring)
		return thread;
	/* A signal handler that interrupted a slow path, or the registration of the process. */
	if (thread->in_slow || !is_registered(kymo_process))
		return NULL;
	kymo_calm_begin(&calm);
	if (!thread->ring) { /* a signal handler may have provided it */
		thread->in_slow = 1;
		kymo_signal_fence();
		(void)kymo_ring_get(thread);
		kymo_signal_fence();
		thread->in_slow = 0;
	}
	kymo_calm_end(&calm);
	return thread->ring ? thread : NULL;
}

struct kymo_thread *kymo_thread_with_ring(void)
{
	return with_ring(kymo_thread_slot());
}

/* Records of handlers that ran meanwhile are published: the recorder reads no further without them.
 */
static bool wait_for_room(struct kymo_thread *thread, size_t size)
{
	struct kymo_wait wait;
	bool room = false;

	if (size + sizeof(struct kymo_block) > thread->mask || !kymo_wait_begin(&wait, thread))
		return false;
	while (!room && kymo_wait_pause(&wait)) {
		catch_up(thread);
		room = make_room(thread, size);
	}
	kymo_wait_end(&wait, thread, room);
	return room;
}

bool kymo__reserve(struct kymo_record *record, unsigned id, size_t payload)
{
	const size_t size = KYMO_RECORD_HEADER + payload;
	struct kymo_thread *thread = kymo__thread;

	if (kymo_unlikely(!thread->ring)) {
		thread = kymo_thread_slot();
		/*
		 * Before registration every event counts as enabled; now the recorder's enable byte
		 * decides.
		 */
		if (thread && !kymo_recorder_wants(id))
			return false;
		thread = with_ring(thread);
		if (!thread)
			return kymo_drop(NULL);
	}
	/* the loop ends: it repeats only after progress of this thread or of a handler */
	for (;;) {
		catch_up(thread);
		if (kymo_likely(!thread->vdso_clock)
			    ? kymo_try_reserve_sp(record, id, payload)
			    : try_reserve_vdso(record, thread, id, payload))
			return true;
		if (KYMO_WORD_POS(thread->word) + size > thread->end) {
			if (make_room(thread, size) ||
			    (kymo_unlikely(kymo_settings.block_ns) && wait_for_room(thread, size)))
				continue;
		} else if (thread->vdso_clock || kymo_clock_renew(thread)) {
			continue;
		}
		/*
		 * A handler may have written records during the attempt above. This event will not
		 * publish them: it has no record.
		 */
		catch_up(thread);
		return kymo_drop(thread);
	}
}

/*
 * Publish several records at once. lastts gets a new reading of the clock: that time is not earlier
 * than any reserved record, and not later than any following record.
 *
 * nseq is odd while lastts and wpos change. Without nseq, a consumer could read the new lastts with
 * the old wpos, and would write a packet whose end time is after the start of the next packet.
 */
void kymo__publish_nested(struct kymo_thread *thread)
{
	struct kymo_ring *ring = thread->ring;
	uint64_t word, now;

	do {
		__atomic_store_n(&ring->nest, 1, __ATOMIC_RELAXED);
		kymo_signal_fence();
		__atomic_store_n(&ring->nseq, ring->nseq + 1, __ATOMIC_RELAXED);
		do {		/* repeat if a handler reserved a record between the two readings */
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
 * Something is between the published records and @record: records of handlers, or the start of a
 * block. A consumer that read the new lastts with the old wpos would use lastts as the bound of the
 * records in between. So both change while nseq is odd.
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
