/* SPDX-License-Identifier: Apache-2.0 */
/* The thread's table of counts: where it comes from, and its entries. See tracer_count.h. */
#include "inside/tracer/tracer_count.h"

#include "inside/tracer/tracer_calm.h"
#include "inside/tracer/tracer_process.h"

static void not_counted(void)
{
	const struct kymo_process *process = __atomic_load_n(&kymo_process, __ATOMIC_ACQUIRE);

	if (process && __atomic_load_n(&process->registration, __ATOMIC_ACQUIRE) == KYMO_REGISTERED)
		(void)__atomic_fetch_add(&process->region->uncounted, 1, __ATOMIC_RELAXED);
}

/* Tables belong to rings: at most one thread at a time has a ring, so nobody else adds its table.
 */
static void add_table(struct kymo_thread *thread)
{
	if (!kymo_region_lock(kymo_process))
		return;
	(void)kymo_region_add_counts(kymo_process, thread->number);
	kymo_region_unlock(kymo_process);
	__atomic_store_n(&thread->counts, kymo_process->counts[thread->number], __ATOMIC_RELAXED);
}

/* NULL: there is no room for a table, or a signal handler interrupted a slow path. */
static struct kymo_count *table_of_thread(void)
{
	struct kymo_thread *thread = kymo_thread_with_ring();
	struct kymo_calm calm;

	if (!thread || thread->counts || thread->in_slow)
		return thread ? thread->counts : NULL;
	kymo_calm_begin(&calm);
	if (!thread->counts) {
		thread->in_slow = 1;
		kymo_signal_fence();
		add_table(thread);
		kymo_signal_fence();
		thread->in_slow = 0;
	}
	kymo_calm_end(&calm);
	return thread->counts;
}

/* The entry of @key, which may be new; NULL: its places are taken. */
static struct kymo_count *entry_of(struct kymo_count *table, uint64_t key)
{
	for (unsigned i = 0; i < KYMO_COUNT_PROBES; i++) {
		struct kymo_count *entry = &table[(KYMO_COUNT_SLOT(key) + i) % KYMO_COUNTS];
		uint64_t there = __atomic_load_n(&entry->key, __ATOMIC_RELAXED);

		/* A signal handler may take the free entry first, also for this key. */
		if (!there && !kymo_local_cas(&entry->key, 0, key))
			there = __atomic_load_n(&entry->key, __ATOMIC_RELAXED);
		else if (!there)
			return entry;
		if (there == key)
			return entry;
	}
	return NULL;
}

void kymo__count_more(uint64_t key)
{
	struct kymo_count *table = __atomic_load_n(&kymo__thread->counts, __ATOMIC_RELAXED);
	struct kymo_count *entry;

	if (!table)
		table = table_of_thread();
	entry = table ? entry_of(table, key) : NULL;
	if (entry)
		kymo_local_increment(&entry->count);
	else
		not_counted();
}
