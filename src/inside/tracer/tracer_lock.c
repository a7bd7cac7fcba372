/* SPDX-License-Identifier: Apache-2.0 */
/* A lock that knows its owner; see tracer_lock.h. */
#include "inside/tracer/tracer_lock.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define YIELDS 1000u   /* then the waiting thread sleeps: the owner may have a lower priority */
#define LOOK_EVERY 64u /* attempts between two looks at the owner */

uint32_t kymo_own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/* Not tgkill(): the owner may belong to another process that shares this memory, a child of vfork()
 * or clone(CLONE_VM). */
static bool is_gone(uint32_t tid)
{
	return syscall(SYS_tkill, (pid_t)tid, 0) && errno == ESRCH;
}

/* Take the lock from @owner; 0: a free lock. */
static bool take_from(struct kymo_lock *lock, uint32_t owner, uint32_t tid)
{
	return __atomic_compare_exchange_n(&lock->owner, &owner, tid, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

bool kymo_lock_try(struct kymo_lock *lock, uint32_t tid)
{
	const uint32_t owner = __atomic_load_n(&lock->owner, __ATOMIC_RELAXED);

	/* The own tid: an earlier thread with this number ended. */
	return (!owner || owner == tid || is_gone(owner)) && take_from(lock, owner, tid);
}

bool kymo_lock_take(struct kymo_lock *lock, uint32_t tid, uint32_t tries)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	uint32_t owner = 0;

	for (uint32_t try = 0; try < tries || tries == KYMO_LOCK_FOREVER; try++) {
		if (take_from(lock, 0, tid) || (try % LOOK_EVERY == 0 && kymo_lock_try(lock, tid)))
			return true;
		owner = __atomic_load_n(&lock->owner, __ATOMIC_RELAXED);
		if (owner && owner == __atomic_load_n(&lock->stuck, __ATOMIC_RELAXED))
			return false;
		if (try < YIELDS)
			(void)sched_yield();
		else
			(void)nanosleep(&pause, NULL);
	}
	__atomic_store_n(&lock->stuck, owner, __ATOMIC_RELAXED);
	return false;
}

void kymo_lock_release(struct kymo_lock *lock)
{
	__atomic_store_n(&lock->stuck, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
}

bool kymo_lock_is_taken(const struct kymo_lock *lock)
{
	const uint32_t owner = __atomic_load_n(&lock->owner, __ATOMIC_ACQUIRE);

	return owner && !is_gone(owner);
}
