/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast path: one event into the calling thread's ring. Inlined into every hook.
 *
 *     w = word                      position and record count, private to the thread
 *     no room in the block: slow path
 *     nest += 1                     a signal handler leaves it as it found it
 *     ts = clock                    after the load of word: if the exchange succeeds, no record
 *                                   with a later time stands before this one
 *     word: w -> w'                 compare-exchange without LOCK; fails only if a handler on
 *                                   this thread reserved in between: slow path, which repeats
 *     write id, ts, payload
 *     outermost: publish up to w', nest = 0, and look whether word still is w'
 *
 * A handler that lands inside an event is nested: it reserves and does not publish. Its records
 * stand behind the outer one, and the last look at word finds them; or the outer one's exchange
 * failed, and kymo__reserve() finds them before it tries again. Either way
 * kymo__publish_nested() publishes them: never together with another record without it.
 *
 * tests/model/ring.pml is this protocol for a model checker, overwrite.pml that of blocks that are
 * begun over others.
 *
 * Context of everything here: wait-free, async-signal-safe, no allocation, no system call. A
 * thread's very first event, and none after it, allocates: in kymo__reserve(), for its ring.
 */
#ifndef KYMO_TRACER_RING_H
#define KYMO_TRACER_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "abi/clock.h"
#include "abi/region.h"
#include "inside/tracer/tracer_counter.h"

#define KYMO_EXPORT __attribute__((visibility("default")))
#define kymo_likely(x) __builtin_expect(!!(x), 1)
#define kymo_unlikely(x) __builtin_expect(!!(x), 0)

/* A string in a ring record: longer ones are cut. */
#define KYMO_RING_STRING_MAX 1024u

/*
 * Private state of one thread. Lives in pages that are wiped in a forked child, so a child sees
 * zeros: no ring, no room, and goes through the slow path to a region of its own.
 */
struct kymo_thread {
	uint64_t word;			/* reserved so far: KYMO_WORD(position, records of the block) */
	uint64_t end;			/* position where the present block ends; 0: no room */
	uint8_t *data;			/* first block */
	uint64_t mask;			/* ring bytes - 1 */
	struct kymo_ring *ring;		/* shared page of the ring; NULL: none yet */
	const struct kymo_anchor *anchor;	/* the valid one of anchors[] */
	uint16_t in_slow;		/* a slow path is in progress: nested events are dropped */
	uint16_t vdso_clock;		/* the CPU's counter cannot be used */
	uint32_t open_spans;		/* recorded begins of kymo.h whose ends are to come */
	uint64_t left;			/* the word when the block before this one was left */
	struct kymo_anchor anchors[2];
	/* From here on not in every event; this line once a block. */
	uint64_t free_until;		/* blocks below this position are known to be free */
	const uint32_t *mode;		/* of the region */
	uint8_t *stirred;		/* the ring's byte in the region */
	const int32_t *cpu;		/* where the kernel says which CPU it is; NULL: ask */
	uint32_t block_size;		/* of the ring */
	uint64_t old_counter, old_ns;	/* clock pairs 10-20 s and 0-10 s back: the rate's baseline */
	uint64_t new_counter, new_ns;
	uint64_t pair_width;		/* ticks the best clock pair took to read */
	/* Of events that are looked up; see left_out.c. */
	const void *left_out_message;	/* last one of an object that is left out */
	const void *held_message;	/* of a rclcpp_publish whose publisher is not known yet */
	uint64_t held_ns;		/* its time */
	/* Of the init log; see initlog.c. */
	uint64_t log_claim, log_claim_ns;	/* 1 + position from which on the thread is writing, since when; 0: is not */
	uint32_t named;			/* the log has facts about this thread */
	uint32_t tid;
	uint32_t used;			/* slot is taken */
	char name[KYMO_NAME_MAX];	/* at the first event */
} __attribute__((aligned(256)));

/* Exported to libkymo-ros2, not part of the public interface. */
extern KYMO_EXPORT __thread struct kymo_thread *kymo__thread;	/* never NULL */
extern KYMO_EXPORT const uint8_t *kymo__enable;			/* one byte per event id; see switch.c */

/* A reserved record; filled by a reserve function, consumed by kymo_commit_sp(). */
struct kymo_record {
	struct kymo_thread *thread;
	struct kymo_ring *ring;
	uint8_t *at;			/* where the payload goes */
	uint64_t before, word;		/* the thread's word before and after this record */
	uint64_t ns;
	uint32_t nest;			/* tracepoints in progress below this one */
};

/**
 * kymo__reserve() - as kymo_try_reserve_sp(), with all that may be needed first: a slot, a ring,
 * the next block, a new clock anchor, another try after a handler
 *
 * Return: false when the event is dropped (and counted).
 */
KYMO_EXPORT bool kymo__reserve(struct kymo_record *record, unsigned id, size_t payload);
/** kymo__publish_nested() - publish when records of signal handlers follow the outer record. */
KYMO_EXPORT void kymo__publish_nested(struct kymo_thread *thread);
/** kymo__publish_behind() - publish a record that does not directly follow the published ones. */
KYMO_EXPORT void kymo__publish_behind(const struct kymo_record *record);

#define kymo_signal_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/** kymo_enable_byte() - of a runtime event: enum kymo_enable. */
static inline uint8_t kymo_enable_byte(unsigned id)
{
	return __atomic_load_n(&__atomic_load_n(&kymo__enable, __ATOMIC_RELAXED)[id], __ATOMIC_RELAXED);
}

/** kymo_enabled() - whether a runtime event is wanted, but for its object. One load and a branch. */
static inline bool kymo_enabled(unsigned id)
{
	return kymo_unlikely(kymo_enable_byte(id));
}

static inline uint64_t kymo_anchor_ns(const struct kymo_anchor *anchor, uint64_t ticks)
{
	return anchor->ns + (uint64_t)((unsigned __int128)ticks * anchor->mult >> 32);
}

/*
 * The step that decides: move the word and write the header. @nest: what the ring's nest was
 * before it was raised for this event. Return: false, with nest restored, when a handler came
 * between the load of @before and here.
 */
static inline __attribute__((always_inline))
bool kymo_claim_sp(struct kymo_record *record, struct kymo_thread *thread, unsigned id,
		   uint64_t before, uint64_t after, uint64_t ns, uint32_t nest)
{
	if (kymo_unlikely(!kymo_local_cas(&thread->word, before, after))) {
		kymo_signal_fence();
		__atomic_store_n(&thread->ring->nest, nest, __ATOMIC_RELAXED);
		return false;
	}
	record->at = thread->data + (KYMO_WORD_POS(before) & thread->mask);
	memcpy(record->at, &(uint16_t){ (uint16_t)id }, 2);
	memcpy(record->at + 2, &ns, 8);
	record->at += KYMO_RECORD_HEADER;
	record->thread = thread;
	record->ring = thread->ring;
	record->before = before;
	record->word = after;
	record->ns = ns;
	record->nest = nest;
	return true;
}

/* The word after one more record of @payload bytes. */
static inline uint64_t kymo_word_after(uint64_t before, size_t payload)
{
	return before + ((uint64_t)(KYMO_RECORD_HEADER + payload) << KYMO_WORD_COUNT_BITS) + 1;
}

/**
 * kymo_try_reserve_sp() - reserve one record in the calling thread's ring and write its header
 * @id: event id
 * @payload: bytes
 *
 * Straight-line code for the usual case. The record stays invisible until kymo_commit_sp(), which
 * must follow on the same thread.
 *
 * Return: false when something needs doing first: nothing has happened, call kymo__reserve().
 */
static inline __attribute__((always_inline))
bool kymo_try_reserve_sp(struct kymo_record *record, unsigned id, size_t payload)
{
	struct kymo_thread *thread = kymo__thread;
	const uint64_t before = __atomic_load_n(&thread->word, __ATOMIC_RELAXED);
	const uint64_t after = kymo_word_after(before, payload);
	struct kymo_ring *ring = thread->ring;
	const struct kymo_anchor *anchor;
	uint64_t ticks;
	uint32_t nest;

	if (kymo_unlikely(KYMO_WORD_POS(after) > __atomic_load_n(&thread->end, __ATOMIC_RELAXED)))
		return false;		/* also a thread without a ring: its end is 0 */
	nest = ring->nest;
	__atomic_store_n(&ring->nest, nest + 1, __ATOMIC_RELAXED);
	anchor = __atomic_load_n(&thread->anchor, __ATOMIC_RELAXED);
	kymo_signal_fence();
	ticks = kymo_counter() - anchor->counter;
	if (kymo_unlikely(ticks >= anchor->span)) {
		kymo_signal_fence();
		__atomic_store_n(&ring->nest, nest, __ATOMIC_RELAXED);
		return false;
	}
	return kymo_claim_sp(record, thread, id, before, after, kymo_anchor_ns(anchor, ticks), nest);
}

/** kymo_commit_sp() - make the record visible to the consumer. */
static inline __attribute__((always_inline)) void kymo_commit_sp(const struct kymo_record *record)
{
	struct kymo_ring *ring = record->ring;

	kymo_signal_fence();
	if (kymo_unlikely(record->nest)) {
		__atomic_store_n(&ring->nest, record->nest, __ATOMIC_RELAXED);
		return;
	}
	/*
	 * A handler's unpublished record in front of this one, or a new block: a consumer between
	 * the two stores below would take our time for the bound of what it gets next.
	 */
	if (kymo_unlikely(__atomic_load_n(&ring->wpos, __ATOMIC_RELAXED) != record->before)) {
		kymo__publish_behind(record);
		return;
	}
	__atomic_store_n(&ring->lastts, record->ns, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->wpos, record->word, __ATOMIC_RELEASE);	/* pairs with the consumer's acquire */
	kymo_signal_fence();
	__atomic_store_n(&ring->nest, 0, __ATOMIC_RELAXED);
	kymo_signal_fence();
	if (kymo_unlikely(__atomic_load_n(&record->thread->word, __ATOMIC_RELAXED) != record->word))
		kymo__publish_nested(record->thread);
}

#endif
