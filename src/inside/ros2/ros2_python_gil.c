/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for the global interpreter lock of CPython, the GIL.
 *
 * The idea: a thread that does not get the GIL waits for a condition variable of the interpreter,
 * at most 5 ms at a time (its switch interval); the thread that releases the GIL signals it. A
 * thread that was asked to release the GIL then waits for a second variable, until another thread
 * has taken the GIL, which signals it. Both are in the interpreter's one global object, _PyRuntime,
 * and nothing else there is waited for. So the calls of the interpreter of these functions are led
 * here, those alone: no other object's, and none of a program without Python.
 *
 *     waits          timedwait(_PyRuntime ... cond)    ──▶ on_timedwait: one event after each wait
 *     was asked to   wait(_PyRuntime ... switch_cond)  ──▶ on_wait: the same
 *     has the GIL    signal(_PyRuntime ... either)     ──▶ on_signal: its thread, if somebody waits
 *
 * Whoever gets the GIL at once waits for nothing, and is not recorded. Tried with CPython 3.11.
 * Without a GIL (free-threaded builds of 3.13), nobody waits.
 *
 * Context: the waiting thread has a mutex of the interpreter, not the GIL.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_slots.h"
#include "inside/tracer/tracer_libc.h"

#define TIMEDWAIT "pthread_cond_timedwait"
#define WAIT "pthread_cond_wait"
#define SIGNAL "pthread_cond_signal"

KYMO_EXPORT void kymo__python_gil(bool on);

static uintptr_t runtime, runtime_end;
static int (*timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*wait_for)(pthread_cond_t *, pthread_mutex_t *);
static int (*signal_one)(pthread_cond_t *);

/* A condition variable of the interpreter. */
static struct variable {
	const void *condition;
	uint32_t waiting; /* threads */
	int64_t by;       /* the thread that signalled it last while one waited */
} released, taken;

static bool is_gil(const void *condition)
{
	return (uintptr_t)condition - runtime < runtime_end - runtime;
}

static int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int64_t wait_begins(struct variable *its, const void *condition)
{
	__atomic_store_n(&its->condition, condition, __ATOMIC_RELAXED);
	__atomic_fetch_add(&its->waiting, 1, __ATOMIC_RELAXED);
	return now_ns();
}

static void wait_ends(struct variable *its, int64_t begin_ns, int status)
{
	const int64_t by = status ? 0 : __atomic_load_n(&its->by, __ATOMIC_RELAXED);

	__atomic_fetch_sub(&its->waiting, 1, __ATOMIC_RELAXED);
	KYMO_RECORD(gil_wait, now_ns() - begin_ns, by);
}

static int on_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
			const struct timespec *until)
{
	int64_t begin_ns;
	int status;

	if (!is_gil(condition) || !kymo_enable_byte(KYMO_POINT_gil_wait))
		return timedwait(condition, mutex, until);
	begin_ns = wait_begins(&released, condition);
	status = timedwait(condition, mutex, until);
	wait_ends(&released, begin_ns, status);
	return status;
}

static int on_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	int64_t begin_ns;
	int status;

	if (!is_gil(condition) || !kymo_enable_byte(KYMO_POINT_gil_wait))
		return wait_for(condition, mutex);
	begin_ns = wait_begins(&taken, condition);
	status = wait_for(condition, mutex);
	wait_ends(&taken, begin_ns, status);
	return status;
}

static void signalled(struct variable *its, const void *condition)
{
	if (__atomic_load_n(&its->waiting, __ATOMIC_RELAXED) &&
	    __atomic_load_n(&its->condition, __ATOMIC_RELAXED) == condition)
		__atomic_store_n(&its->by, syscall(SYS_gettid), __ATOMIC_RELAXED);
}

static int on_signal(pthread_cond_t *condition)
{
	signalled(&released, condition);
	signalled(&taken, condition);
	return signal_one(condition);
}

/* The threads that waited are not in the child. */
static void forked(void)
{
	released.waiting = 0;
	taken.waiting = 0;
}

/* Return: false: this process has no such interpreter. */
static bool find(void)
{
	const ElfW(Sym) *symbol = NULL;
	void *at = dlsym(RTLD_DEFAULT, "_PyRuntime"), *function;
	Dl_info info;

	if (!at || !dladdr1(at, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
		return false;
	function = dlsym(RTLD_DEFAULT, TIMEDWAIT);
	memcpy(&timedwait, &function, sizeof(function));
	function = dlsym(RTLD_DEFAULT, WAIT);
	memcpy(&wait_for, &function, sizeof(function));
	function = dlsym(RTLD_DEFAULT, SIGNAL);
	memcpy(&signal_one, &function, sizeof(function));
	if (!runtime)
		kymo_at_fork(NULL, NULL, forked);
	runtime = (uintptr_t)at;
	runtime_end = runtime + symbol->st_size;
	return timedwait && wait_for && signal_one;
}

static void lead(const char *function, const void *from, const void *to)
{
	(void)kymo_slots_lead((const void *)runtime, function, from, to);
}

/**
 * kymo__python_gil() - record from now on who waits for the GIL, or do not any more
 *
 * Context: the caller has the GIL. A wait that is under way ends as it began.
 */
void kymo__python_gil(bool on)
{
	static bool is_on;

	if (on == is_on || (on && !find()))
		return;
	is_on = on;
	if (on) {
		lead(SIGNAL, (const void *)signal_one, (const void *)on_signal);
		lead(WAIT, (const void *)wait_for, (const void *)on_wait);
		lead(TIMEDWAIT, (const void *)timedwait, (const void *)on_timedwait);
	} else {
		lead(TIMEDWAIT, (const void *)on_timedwait, (const void *)timedwait);
		lead(WAIT, (const void *)on_wait, (const void *)wait_for);
		lead(SIGNAL, (const void *)on_signal, (const void *)signal_one);
	}
}
