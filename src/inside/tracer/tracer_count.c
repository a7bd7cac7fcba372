/* SPDX-License-Identifier: Apache-2.0 */
/* The thread's table of counts: where it comes from, and its entries. See tracer_count.h. */
#include "inside/tracer/tracer_count.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Nobody holds the claim of the region, so nobody reads what is counted: its recorder was killed.
 * The lock of the claim keeps recorders away meanwhile; they try again. Flight recorders go on
 * when a verb gives them back (recorder/runtime/counts_left.h). */
static void stop_counting(struct kymo_region *region)
{
	uint8_t *enable = (uint8_t *)region + KYMO_ENABLE_PAGE * KYMO_PAGE;

	if (__atomic_load_n(&region->state, __ATOMIC_ACQUIRE) != KYMO_STATE_PREPARE ||
	    __atomic_load_n(&region->flags, __ATOMIC_ACQUIRE) & KYMO_REGION_FLIGHT)
		return;
	for (unsigned id = 0; id < KYMO_PAGE; id++)
		if (__atomic_load_n(&enable[id], __ATOMIC_RELAXED) == KYMO_ENABLE_COUNT)
			__atomic_store_n(&enable[id], KYMO_ENABLE_NO, __ATOMIC_RELAXED);
	__atomic_store_n(&region->state, KYMO_STATE_WAIT, __ATOMIC_RELEASE);
}

static void stop_if_left(const struct kymo_process *process)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = KYMO_LOCK_CLAIM, .l_len = 1,
	};
	const int fd = open(process->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_dev == process->dev && st.st_ino == process->ino &&
	    !fcntl(fd, F_OFD_SETLK, &lock)) {
		stop_counting(process->region);
		lock.l_type = F_UNLCK; /* explicitly: a forked child may have the file open, too */
		(void)fcntl(fd, F_OFD_SETLK, &lock);
	}
	(void)close(fd);
}

/* NULL: there is no room for a table, or a signal handler interrupted a slow path. */
static struct kymo_count *table_of_thread(void)
{
	struct kymo_thread *thread = kymo_thread_with_ring();
	struct kymo_calm calm;

	if (!thread || thread->in_slow)
		return thread ? thread->counts : NULL;
	kymo_calm_begin(&calm);
	thread->in_slow = 1;
	kymo_signal_fence();
	if (!thread->counts)
		add_table(thread);
	if (thread->counts) /* of the thread that had the ring before, or new */
		stop_if_left(kymo_process);
	kymo_signal_fence();
	thread->in_slow = 0;
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
