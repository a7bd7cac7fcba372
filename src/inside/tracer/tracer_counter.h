/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU's counter, and a compare-exchange for words that only one thread and its signal handlers
 * write.
 *
 * Context of all functions: wait-free, async-signal-safe, no system call.
 */
#ifndef KYMO_TRACER_COUNTER_H
#define KYMO_TRACER_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__SANITIZE_THREAD__)
#define KYMO_PLAIN_ATOMICS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KYMO_PLAIN_ATOMICS 1
#endif
#endif

/* Not ordered against other cores: see KYMO_CLOCK_ORDER_NS. */
static inline uint64_t kymo_counter(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#else
	/* unused: kymo_clock_counter_usable() returns false, so the tracer reads the vDSO clock */
	return 0;
#endif
}

/*
 * Only this thread and its signal handlers write *word. So on x86-64 a single instruction without
 * LOCK prefix is enough, which saves about 5 ns. Other CPUs, and TSan, which cannot see into asm,
 * use the atomic builtin.
 */
static inline bool kymo_local_cas(uint64_t *word, uint64_t expected, uint64_t desired)
{
#if defined(__x86_64__) && !defined(KYMO_PLAIN_ATOMICS)
	bool done;

	__asm__ volatile("cmpxchgq %3, %1"
			 : "=@ccz"(done), "+m"(*word), "+a"(expected)
			 : "r"(desired)
			 : "memory");
	return done;
#else
	return __atomic_compare_exchange_n(word, &expected, desired, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
#endif
}

#endif
