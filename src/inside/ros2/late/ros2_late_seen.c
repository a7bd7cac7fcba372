/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table with open addressing, never resized. An entry keeps its address for good: the next
 * object at this address uses the entry again. So threads only ever add entries, with one
 * compare-exchange, and a search needs no lock.
 */
#include "inside/ros2/late/ros2_late_seen.h"

#include <time.h>

#define ENTRIES 8192u /* a power of two */
#define STEPS 64u     /* so far an entry may be from its place */

static struct kymo_seen table[ENTRIES];

static unsigned place(uintptr_t address)
{
	return (unsigned)((address * 0x9e3779b97f4a7c15ull) >> 40) % ENTRIES;
}

static int64_t now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

struct kymo_seen *kymo_seen_find(uintptr_t address)
{
	const unsigned first = place(address);

	for (unsigned i = 0; i < STEPS; i++) {
		struct kymo_seen *seen = &table[(first + i) % ENTRIES];
		const uintptr_t its = __atomic_load_n(&seen->address, __ATOMIC_ACQUIRE);

		if (its == address)
			return kymo_seen_kind(seen) ? seen : NULL;
		if (!its)
			return NULL;
	}
	return NULL;
}

static struct kymo_seen *claim(uintptr_t address)
{
	const unsigned first = place(address);

	for (unsigned i = 0; i < STEPS; i++) {
		struct kymo_seen *seen = &table[(first + i) % ENTRIES];
		uintptr_t its = __atomic_load_n(&seen->address, __ATOMIC_ACQUIRE);

		if (!its && __atomic_compare_exchange_n(&seen->address, &its, address, false,
							__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return seen;
		if (its == address)
			return seen;
	}
	return NULL;
}

struct kymo_seen *kymo_seen_add(uintptr_t address, enum kymo_seen_kind kind)
{
	struct kymo_seen *seen = address ? kymo_seen_find(address) : NULL;

	if (seen && kymo_seen_kind(seen) == kind)
		return seen;
	seen = address ? claim(address) : NULL;
	if (!seen)
		return NULL;
	__atomic_store_n(&seen->node, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&seen->object, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&seen->since, now(), __ATOMIC_RELAXED);
	__atomic_store_n(&seen->state, (uint32_t)kind << 8, __ATOMIC_RELEASE);
	return seen;
}

bool kymo_seen_mark(struct kymo_seen *seen, enum kymo_seen_mark mark)
{
	return !(__atomic_fetch_or(&seen->state, mark, __ATOMIC_ACQ_REL) & mark);
}

void kymo_seen_each(enum kymo_seen_kind kind,
		    void (*visit)(struct kymo_seen *seen, void *context), void *context)
{
	for (unsigned i = 0; i < ENTRIES; i++)
		if (kymo_seen_kind(&table[i]) == kind)
			visit(&table[i], context);
}

void kymo_seen_gone(uintptr_t address)
{
	struct kymo_seen *seen = kymo_seen_find(address);

	if (seen)
		__atomic_store_n(&seen->state, 0, __ATOMIC_RELEASE);
}

/*
 * A thread that entered a hook before kymo was detached may still have an entry: its address stays.
 */
void kymo_seen_forget(void)
{
	for (unsigned i = 0; i < ENTRIES; i++)
		__atomic_store_n(&table[i].state, 0, __ATOMIC_RELEASE);
}
