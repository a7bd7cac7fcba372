/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records when pthread_mutex_lock() has to wait. Names and fields of the events are those of
 * LTTng's liblttng-ust-pthread-wrapper, but only locks that another thread holds are recorded, and
 * the events contain that thread. Locks that libc acquires itself, and those of
 * std::condition_variable after a wait, do not call this function.
 *
 * Context: that of pthread_mutex_lock(), and of kymo__reserve().
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include "inside/malloc/malloc_emit.h"

/*
 * The owner that glibc stores in a mutex: a tid in the process's own pid namespace. 0: no owner
 * now, or a libc other than glibc.
 */
static int32_t owner_of(pthread_mutex_t *mutex)
{
#ifdef __GLIBC__
	return __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
#else
	(void)mutex;
	return 0;
#endif
}

typedef int lock_function(pthread_mutex_t *mutex);

/* The functions of libc. Calls by name would reach the hooks in this file. */
static lock_function *below_lock, *below_trylock;

__attribute__((constructor(101)))
static void find(void)
{
	union { void *object; lock_function *function; } found;

	found.object = dlsym(RTLD_NEXT, "pthread_mutex_trylock");
	__atomic_store_n(&below_trylock, found.function, __ATOMIC_RELEASE);
	found.object = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	__atomic_store_n(&below_lock, found.function, __ATOMIC_RELEASE);
}

KYMO_EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	const uint64_t address = (uint64_t)(uintptr_t)mutex;
	struct __attribute__((packed)) {
		uint64_t mutex;
		int32_t owner;
	} wanted = { .mutex = address };
	struct __attribute__((packed)) {
		uint64_t mutex;
		int32_t status;
	} acquired = { .mutex = address };
	lock_function *lock = __atomic_load_n(&below_lock, __ATOMIC_ACQUIRE);

	if (kymo_unlikely(!lock)) {
		find();
		lock = below_lock;
	}
	if (!malloc_wanted(KYMO_POINT_mutex_lock_req))
		return lock(mutex);
	acquired.status = below_trylock(mutex);
	if (acquired.status != EBUSY)
		return acquired.status;
	wanted.owner = owner_of(mutex);
	malloc_emit(KYMO_POINT_mutex_lock_req, &wanted, sizeof(wanted));
	acquired.status = lock(mutex);
	malloc_emit(KYMO_POINT_mutex_lock_acq, &acquired, sizeof(acquired));
	return acquired.status;
}
