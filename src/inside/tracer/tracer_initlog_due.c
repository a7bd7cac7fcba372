/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the init log is cleaned, and who waits for it.
 *
 * If less than a quarter of the records can be forgotten, the cleaner leaves the log as it is. The
 * next cleaning begins when the log has doubled. So the cost of cleaning per fact is constant.
 */
#include <time.h>

#include "inside/tracer/tracer_calm.h"
#include "inside/tracer/tracer_initlog_internal.h"

#define WAIT_TRIES 300 /* of 0.1 ms, later of 1 ms */
/* bytes; a smaller log is not cleaned, unless $KYMO_LOG_SIZE allows no larger log */
#define CLEAN_FIRST (256u << 10)

static uint64_t used_bytes(const struct kymo_region *region)
{
	const uint64_t head = __atomic_load_n(&region->log_head, __ATOMIC_ACQUIRE);

	return __atomic_load_n(&region->log_tail, __ATOMIC_ACQUIRE) - head;
}

/*
 * Clean next when the log has twice the bytes in use now; if the log may not grow so far, when half
 * of its free room is used.
 */
static void choose_next(struct kymo_process *process)
{
	const uint64_t used = used_bytes(process->region), all = kymo_settings.log_size;
	uint64_t next = used * 2 > CLEAN_FIRST ? used * 2 : CLEAN_FIRST;

	if (next > all / 2)
		next = used < all ? used + (all - used) / 2 : all;
	__atomic_store_n(&process->log_clean_at, next, __ATOMIC_RELAXED);
}

/*
 * Clean, unless another thread is cleaning. @share: see kymo_log_clean(). Return: this thread has
 * cleaned.
 */
static bool clean_once(struct kymo_process *process, struct kymo_thread *thread, unsigned share)
{
	struct log_cleaned cleaned;
	struct kymo_calm calm;
	uint64_t freed;

	if (thread->in_slow)
		return false; /* in a signal handler that interrupted a slow path */
	kymo_calm_begin(&calm);
	if (!kymo_lock_try(&process->log_cleaning, thread->tid)) {
		kymo_calm_end(&calm); /* another thread cleans */
		return false;
	}
	thread->in_slow = 1;
	kymo_signal_fence();
	freed = process->log_freed;
	cleaned = kymo_log_clean(process, thread, share);
	freed = process->log_freed - freed;
	if (freed)
		__atomic_store_n(&process->log_failed, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&process->log_blocked, freed ? 0 : cleaned.blocked, __ATOMIC_RELAXED);
	__atomic_store_n(&process->log_futile, freed || cleaned.blocked ? 0 : 1 + cleaned.tail,
			 __ATOMIC_RELAXED);
	choose_next(process);
	kymo_signal_fence();
	thread->in_slow = 0;
	kymo_lock_release(&process->log_cleaning);
	kymo_calm_end(&calm);
	return true;
}

void kymo_log_clean_if_due(struct kymo_process *process, struct kymo_thread *thread)
{
	uint64_t at = __atomic_load_n(&process->log_clean_at, __ATOMIC_RELAXED);

	if (!at)
		at = smaller(CLEAN_FIRST, kymo_settings.log_size / 2);
	if (used_bytes(process->region) >= at)
		(void)clean_once(process, thread, 4);
}

static void wait_a_little(unsigned try)
{
	const struct timespec pause = { .tv_nsec = try < 20 ? 100000 : 1000000 };

	(void)nanosleep(&pause, NULL);
}

/* Wait for the thread that cleans, which frees room within some milliseconds. */
static bool wait_for_cleaner(const struct kymo_process *process)
{
	const struct kymo_lock *lock = &process->log_cleaning;
	struct kymo_calm calm;

	kymo_calm_begin(&calm);
	for (unsigned i = 0; i < WAIT_TRIES && __atomic_load_n(&lock->owner, __ATOMIC_ACQUIRE);
	     i++) {
		if (i % 32 == 0 && !kymo_lock_is_taken(lock))
			break;
		wait_a_little(i);
	}
	kymo_calm_end(&calm);
	return true;
}

/*
 * Whether the record at @at seems to be complete. Only for who waits for it: without a claim, the
 * memory may contain the bytes of another record by now, which is written while it is looked at.
 */
__attribute__((noinline, no_sanitize("thread"))) static bool
is_stamped(const struct kymo_log_record *record, uint64_t at)
{
	return __atomic_load_n(&record->stamp, __ATOMIC_ACQUIRE) == (KYMO_LOG_STAMP ^ at);
}

/*
 * Wait for the thread that writes the record at @position. A thread that was preempted while it
 * writes holds up cleaning, and other threads can fill the log meanwhile. The waiting thread
 * sleeps, so the other one gets a CPU.
 */
static bool wait_for_writer(struct kymo_process *process, struct kymo_thread *thread,
			    uint64_t position)
{
	struct kymo_calm calm;

	if (thread->log_claim)
		return false; /* in a signal handler: it may have interrupted that writer */
	kymo_calm_begin(&calm);
	for (unsigned i = 0; i < WAIT_TRIES; i++) {
		if (__atomic_load_n(&process->region->log_head, __ATOMIC_ACQUIRE) > position ||
		    is_stamped(kymo_log_at(process, position), position) ||
		    !kymo_log_is_claimed(process, thread, position))
			break;
		wait_a_little(i);
	}
	kymo_calm_end(&calm);
	return true;
}

/*
 * Whether the last cleaning freed nothing, and the log has hardly grown since. A log that grew by a
 * chunk had room at that time: the cleaning came just after another one.
 */
static bool is_futile(const struct kymo_process *process)
{
	const uint64_t futile = __atomic_load_n(&process->log_futile, __ATOMIC_RELAXED);
	const uint64_t tail = __atomic_load_n(&process->region->log_tail, __ATOMIC_RELAXED);

	return futile && tail + 1 - futile < KYMO_LOG_CHUNK;
}

/*
 * Going through a full log takes long. So while all facts hold, not every failed reservation
 * cleans: only those whose number is a power of two or a multiple of 1024.
 */
bool kymo_log_clean_if_full(struct kymo_process *process, struct kymo_thread *thread)
{
	const uint32_t failed = __atomic_add_fetch(&process->log_failed, 1, __ATOMIC_RELAXED);
	uint64_t blocked;

	if (thread->in_slow)
		return false;
	if (kymo_lock_is_taken(&process->log_cleaning))
		return wait_for_cleaner(process);
	if (is_futile(process) && (failed & (failed - 1)) && failed % 1024)
		return false;
	blocked = __atomic_load_n(&process->log_blocked, __ATOMIC_RELAXED);
	if (blocked && !wait_for_writer(process, thread, blocked - 1))
		return false;
	return clean_once(process, thread, 16) || wait_for_cleaner(process);
}
