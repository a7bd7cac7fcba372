/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that are only counted (KYMO_ENABLE_COUNT): one addition to an entry of the thread's own
 * table, and no clock is read. abi/region.h describes the table.
 */
#ifndef KYMO_TRACER_COUNT_H
#define KYMO_TRACER_COUNT_H

#include "inside/tracer/tracer_ring.h"

/**
 * kymo__count_more() - the slow path of kymo_count(): the thread has no table, or the object's
 * entry is not the first one of its hash
 *
 * Context: as kymo__reserve(): system calls on a thread's first counted event only.
 */
KYMO_EXPORT void kymo__count_more(uint64_t key);

/* Only this thread and its signal handlers write the word; see kymo_local_cas(). */
static inline void kymo_local_increment(uint64_t *word)
{
#if defined(__x86_64__) && !defined(KYMO_PLAIN_ATOMICS)
	__asm__ volatile("incq %0" : "+m"(*word) : : "cc");
#else
	(void)__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
#endif
}

/**
 * kymo_count() - count an event of an object
 * @key: KYMO_COUNT_KEY()
 *
 * Context: wait-free, async-signal-safe.
 */
static inline __attribute__((always_inline)) void kymo_count(uint64_t key)
{
	struct kymo_count *table = __atomic_load_n(&kymo__thread->counts, __ATOMIC_RELAXED);
	struct kymo_count *entry;

	if (kymo_likely(table)) {
		entry = &table[KYMO_COUNT_SLOT(key)];
		if (kymo_likely(__atomic_load_n(&entry->key, __ATOMIC_RELAXED) == key)) {
			kymo_local_increment(&entry->count);
			return;
		}
	}
	kymo__count_more(key);
}

#endif
