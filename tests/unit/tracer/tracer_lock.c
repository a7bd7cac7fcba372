/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/* Locks with an owner: of an owner that no longer exists, that keeps the lock, and that is this
 * thread's number of long ago. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "inside/tracer/tracer_calm.h"
#include "inside/tracer/tracer_lock.h"

static void *take_and_end(void *lock)
{
	assert_true(kymo_lock_take(lock, kymo_own_tid(), 1));
	return NULL;
}

static void left_by_thread(struct kymo_lock *lock)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, take_and_end, lock), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	while (kymo_lock_is_taken(lock))
		(void)usleep(100); /* the kernel still knows a thread that was just joined */
	assert_int_not_equal(lock->owner, 0);
}

static void test_owner_ended(void **state)
{
	struct kymo_lock lock = { 0 };

	(void)state;
	left_by_thread(&lock);
	assert_true(kymo_lock_take(&lock, kymo_own_tid(), 1));
	assert_int_equal(lock.owner, kymo_own_tid());
	kymo_lock_release(&lock);
	assert_false(kymo_lock_is_taken(&lock));
	left_by_thread(&lock);
	assert_true(kymo_lock_try(&lock, kymo_own_tid()));
}

static void test_same_number(void **state)
{
	struct kymo_lock lock = { .owner = kymo_own_tid() };

	(void)state;
	assert_true(kymo_lock_take(&lock, kymo_own_tid(), 1));
	assert_true(kymo_lock_try(&lock, kymo_own_tid()));
}

/* Another process that shares the memory, as a child of clone(CLONE_VM). */
static void test_owner_keeps_it(void **state)
{
	struct kymo_lock *lock =
		mmap(NULL, sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const uint32_t self = kymo_own_tid();
	pid_t child;

	(void)state;
	assert_true(lock != MAP_FAILED);
	child = fork();
	if (!child) {
		(void)kymo_lock_take(lock, kymo_own_tid(), 1);
		(void)pause();
	}
	while (!kymo_lock_is_taken(lock))
		(void)usleep(100);
	assert_int_equal(lock->owner, child);
	assert_false(kymo_lock_try(lock, self));
	assert_false(kymo_lock_take(lock, self, 1100));
	assert_int_equal(lock->stuck, child);
	assert_false(kymo_lock_take(lock, self,
				    KYMO_LOCK_FOREVER)); /* nobody waits for this owner again */
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_true(kymo_lock_take(lock, self, 1));
	kymo_lock_release(lock);
	assert_int_equal(lock->stuck, 0);
	assert_int_equal(munmap(lock, sizeof *lock), 0);
}

static void test_calm(void **state)
{
	struct kymo_calm outer, inner;
	int cancel = -1;
	sigset_t mask;

	(void)state;
	errno = EXDEV;
	kymo_calm_begin(&outer);
	kymo_calm_begin(&inner);
	errno = ENOENT;
	kymo_calm_end(&inner);
	assert_int_equal(errno, EXDEV);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
	assert_true(sigismember(&mask, SIGTERM));
	assert_false(sigismember(&mask, SIGSEGV));
	kymo_calm_end(&outer);
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
	assert_false(sigismember(&mask, SIGTERM));
	assert_int_equal(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel), 0);
	assert_int_equal(cancel, PTHREAD_CANCEL_ENABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owner_ended),
		cmocka_unit_test(test_same_number),
		cmocka_unit_test(test_owner_keeps_it),
		cmocka_unit_test(test_calm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
