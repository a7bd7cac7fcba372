/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock that knows its owner. libkymo and libkymo-functions contain it each; nothing exports it.
 *
 * The word holds the owner's tid. If that thread no longer exists, the next one that wants the lock
 * takes it over, so what the lock protects must be usable after each of its stores. The locks live
 * in pages that the kernel wipes in a forked child, so a child never inherits a lock of its
 * parent's thread.
 *
 * Only threads in a slow path wait for a lock: the caller is calm (tracer_calm.h) and not nested in
 * a slow path of its own thread.
 */
#ifndef KYMO_TRACER_LOCK_H
#define KYMO_TRACER_LOCK_H

#include <stdbool.h>
#include <stdint.h>

struct kymo_lock {
	uint32_t owner; /* tid; 0: free */
	uint32_t stuck; /* an owner for which a thread waited in vain: nobody waits for that owner
			   again */
};

#define KYMO_LOCK_FOREVER UINT32_MAX
#define KYMO_LOCK_TRIES 10000u /* about a second */

/**
 * kymo_lock_try() - take the lock, if it is free or its owner no longer exists
 * Context: async-signal-safe; a system call if the lock is taken.
 */
bool kymo_lock_try(struct kymo_lock *lock, uint32_t tid);
/**
 * kymo_lock_take() - wait for the lock
 * @tid: the calling thread
 * @tries: number of attempts, the first 1000 without a pause, then 0.1 ms each; KYMO_LOCK_FOREVER
 * Context: a compare-exchange if the lock is free; else it makes system calls and sleeps.
 * Return: false: the owner lives, and keeps the lock; at once if another thread waited in vain.
 */
bool kymo_lock_take(struct kymo_lock *lock, uint32_t tid, uint32_t tries);
void kymo_lock_release(struct kymo_lock *lock);
/** kymo_lock_is_taken() - whether a thread that lives holds the lock. Context: at most a system
 * call. */
bool kymo_lock_is_taken(const struct kymo_lock *lock);
/** kymo_own_tid() - as the kernel numbers the calling thread, also in a child of vfork(). */
uint32_t kymo_own_tid(void);

#endif
