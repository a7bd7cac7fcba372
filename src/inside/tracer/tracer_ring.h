/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast path: write one event to the calling thread's ring. Inlined into every hook.
 *
 * Each thread writes only to its own ring, so the only competitor is a signal handler on the same
 * thread. A private word holds the reserved position; the ring's wpos holds the published position.
 * An event moves the word (reserve), writes its bytes, and then moves wpos (publish):
 *
 *     w = word                      position and record count, private to the thread
 *     no room in the block: slow path
 *     nest += 1                     a signal handler restores this counter
 *     ts = clock                    after the load of word: if the exchange succeeds, no earlier record in the ring has a later time
 *     word: w -> w'                 compare-exchange without LOCK; fails only if a handler on this thread has reserved a record
 *                                   meanwhile: then the slow path repeats the steps
 *     write id, ts, payload
 *     if nest was 0: publish up to w', nest = 0, check that word still is w'
 *
 * An event in a handler that interrupts another event is nested: the handler reserves and writes
 * its records, but does not publish them. Two cases follow. If the handler reserved after the outer
 * event, the handler's records follow the outer record, and the last check of word finds them. If
 * the handler reserved first, the outer event's exchange fails, and kymo__reserve() finds the
 * handler's records before the next attempt. In both cases kymo__publish_nested() publishes the
 * handler's records. No other function publishes them together with another record.
 *
 * tests/model/ring.pml is this protocol for a model checker; tests/model/overwrite.pml models
 * blocks that overwrite older blocks.
 *
 * Context of everything here: wait-free, async-signal-safe, no allocation, no system call. Only a
 * thread's very first event allocates its ring, in kymo__reserve().
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

/* Bytes of a string in a ring record; longer strings are cut. */
#define KYMO_RING_STRING_MAX 1024u

/*
 * Private state of one thread. It lives in pages that the kernel wipes in a forked child. So the
 * child sees zeros, which mean: no ring and no room. Its first event then runs the slow path, which
 * creates a region for the child.
 */
struct kymo_thread {
	/* reserved so far: KYMO_WORD(position, records of the block) */
	uint64_t word;
	uint64_t end;			/* position where the current block ends; 0: no room */
	uint8_t *data; /* the block of the word; read between a load of the word and its exchange */
	uint64_t mask; /* block bytes - 1 */
	struct kymo_ring *ring;		/* shared page of the ring; NULL: none yet */
	const struct kymo_anchor *anchor;	/* the valid entry of anchors[] */
	/* a slow path is in progress: nested events that need one are dropped */
	uint16_t in_slow;
	uint16_t vdso_clock;		/* the CPU's counter is not usable: read the vDSO clock */
	/* spans of kymo.h whose begin is recorded and whose end is not */
	uint32_t open_spans;
	uint64_t left;			/* the word at the end of the previous block */
	struct kymo_anchor anchors[2];
	struct kymo_count *counts; /* of the ring, for KYMO_ENABLE_COUNT; NULL: none yet */
	/*
	 * The fast path does not use the fields from here on; this cache line is used once per
	 * block.
	 */
	uint64_t free_until;		/* blocks below this position are known to be free */
	const uint32_t *mode;		/* of the region */
	uint8_t *stirred;		/* the ring's byte in the region */
	/* the word in which the kernel stores the thread's CPU; NULL: call sched_getcpu() */
	const int32_t *cpu;
	uint32_t number;                /* of the ring */
	uint8_t *home;                  /* the ring's own blocks */
	uint64_t home_mask;             /* bytes of these - 1 */
	bool starved;                   /* the last search for a spare block found none */
	bool own_only;                  /* the ring takes no spare blocks */
	bool gave_up;                   /* the last wait for room was in vain, ... */
	uint64_t gave_up_rpos;          /* ... when the recorder had read up to here */
	uint64_t wanted; /* bytes of the ring that the thread asked for; 0: as usual */
	/* clock pair of 10 to 20 s ago: the start of the rate's baseline */
	uint64_t old_counter, old_ns;
	/* clock pair of 0 to 10 s ago: the start of the next baseline */
	uint64_t new_counter, new_ns;
	uint64_t pair_width;		/* ticks that reading the best clock pair lasted */
	/* For events whose object is looked up; see tracer_left_out.c. */
	/* message of the last event with an object, if the event was left out */
	const void *left_out_message;
	/* message of a rclcpp_publish whose publisher is not known yet */
	const void *held_message;
	uint64_t held_ns;		/* time of that event */
	/* For the init log; see tracer_initlog.c. */
	/* 1 + position from which on the thread writes, and since when; 0: it does not write */
	uint64_t log_claim, log_claim_ns;
	uint32_t named;			/* the log has facts about this thread */
	uint32_t tid;
	uint32_t used;			/* the slot belongs to a thread */
	char name[KYMO_NAME_MAX];	/* thread name at the first event */
} __attribute__((aligned(256)));

/* Exported for libkymo-ros2 and libkymo-malloc; not part of the public interface. */
extern KYMO_EXPORT __thread struct kymo_thread *kymo__thread;	/* never NULL */
/* one byte per event id; see tracer_switch.c */
extern KYMO_EXPORT const uint8_t *kymo__enable;

/* A reserved record; filled by a reserve function, consumed by kymo_commit_sp(). */
struct kymo_record {
	struct kymo_thread *thread;
	struct kymo_ring *ring;
	uint8_t *at;			/* address of the payload */
	uint64_t before, word;		/* the thread's word before and after this record */
	uint64_t ns;
	uint32_t nest;			/* interrupted tracepoints: 0, except in a signal handler */
};

/**
 * kymo__reserve() - the slow path of kymo_try_reserve_sp()
 *
 * Provides what the fast path lacks (a slot, a ring, the next block, a new clock anchor) and
 * repeats the attempt.
 *
 * Return: false: the event is dropped and counted.
 */
KYMO_EXPORT bool kymo__reserve(struct kymo_record *record, unsigned id, size_t payload);
/**
 * kymo__publish_nested() - publish all reserved records, if some of them were written by signal
 * handlers.
 */
KYMO_EXPORT void kymo__publish_nested(struct kymo_thread *thread);
/**
 * kymo__publish_behind() - publish a record that does not directly follow the published records.
 */
KYMO_EXPORT void kymo__publish_behind(const struct kymo_record *record);

/*
 * What the inlined code of libkymo-ros2, libkymo-malloc and libkymo-functions shares with libkymo,
 * as a number. With LD_LIBRARY_PATH, a program may load a libkymo of another version.
 */
#define KYMO_INLINE_LAYOUT                                                                        \
	((uint32_t)sizeof(struct kymo_thread) << 20 ^                                             \
	 (uint32_t)offsetof(struct kymo_thread, ring) << 12 ^                                     \
	 (uint32_t)offsetof(struct kymo_thread, anchors) << 6 ^                                   \
	 (uint32_t)offsetof(struct kymo_thread, free_until) ^ KYMO_ABI_VERSION << 28)

/**
 * kymo__guest_begins() - a library with inlined code is loaded; if its @layout is another one, the
 * process is not traced.
 */
KYMO_EXPORT __attribute__((weak)) void kymo__guest_begins(uint32_t layout);

/* For one file of such a library. A libkymo from before this check does not have the function. */
#define KYMO_GUEST_CHECKS_LAYOUT()                                                                \
	static __attribute__((constructor(101))) void check_layout(void)                          \
	{                                                                                         \
		if (kymo__guest_begins)                                                           \
			kymo__guest_begins(KYMO_INLINE_LAYOUT);                                   \
	}

#define kymo_signal_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/** kymo_enable_byte() - the enable byte of a runtime event: enum kymo_enable. */
static inline uint8_t kymo_enable_byte(unsigned id)
{
	return __atomic_load_n(&__atomic_load_n(&kymo__enable, __ATOMIC_RELAXED)[id],
			       __ATOMIC_RELAXED);
}

/**
 * kymo_enabled() - whether a runtime event is wanted; its object may still be left out. One load
 * and a branch.
 */
static inline bool kymo_enabled(unsigned id)
{
	return kymo_unlikely(kymo_enable_byte(id));
}

static inline uint64_t kymo_anchor_ns(const struct kymo_anchor *anchor, uint64_t ticks)
{
	return anchor->ns + (uint64_t)((unsigned __int128)ticks * anchor->mult >> 32);
}

/*
 * The deciding step: move the word from @before to @after, and write the record's header. @nest:
 * the ring's nest before this event raised it. Return: false: a handler has moved the word since
 * the load of @before; nest is restored.
 */
static inline __attribute__((always_inline))
bool kymo_claim_sp(struct kymo_record *record, struct kymo_thread *thread, unsigned id,
		   uint64_t before, uint64_t after, uint64_t ns, uint32_t nest)
{
	/* Loaded before the exchange: if that succeeds, no handler has begun a block meanwhile. */
	uint8_t *at = __atomic_load_n(&thread->data, __ATOMIC_RELAXED) +
		      (KYMO_WORD_POS(before) & thread->mask);

	kymo_signal_fence();
	if (kymo_unlikely(!kymo_local_cas(&thread->word, before, after))) {
		kymo_signal_fence();
		__atomic_store_n(&thread->ring->nest, nest, __ATOMIC_RELAXED);
		return false;
	}
	memcpy(at, &(uint16_t){ (uint16_t)id }, 2);
	memcpy(at + 2, &ns, 8);
	record->at = at + KYMO_RECORD_HEADER;
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
 * Return: false: nothing is reserved; call kymo__reserve(), the slow path.
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
	return kymo_claim_sp(record, thread, id, before, after, kymo_anchor_ns(anchor, ticks),
			     nest);
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
	 * A handler's unpublished record is in front of this record, or this record begins a block.
	 * The two stores below would be wrong then: a consumer that reads between them would use
	 * this record's time as the bound of earlier records.
	 */
	if (kymo_unlikely(__atomic_load_n(&ring->wpos, __ATOMIC_RELAXED) != record->before)) {
		kymo__publish_behind(record);
		return;
	}
	__atomic_store_n(&ring->lastts, record->ns, __ATOMIC_RELAXED);
	/* pairs with the consumer's acquire */
	__atomic_store_n(&ring->wpos, record->word, __ATOMIC_RELEASE);
	kymo_signal_fence();
	__atomic_store_n(&ring->nest, 0, __ATOMIC_RELAXED);
	kymo_signal_fence();
	if (kymo_unlikely(__atomic_load_n(&record->thread->word, __ATOMIC_RELAXED) != record->word))
		kymo__publish_nested(record->thread);
}

#endif
