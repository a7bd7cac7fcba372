/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for the global interpreter lock of CPython, the GIL.
 *
 * The idea: a thread that does not get the GIL waits for a condition variable of the interpreter,
 * at most 5 ms at a time (its switch interval); the thread that releases the GIL signals it. This
 * variable is in the interpreter's one global object, _PyRuntime, and nothing else there is waited
 * for with a timeout. So the calls of the interpreter of pthread_cond_timedwait() and
 * pthread_cond_signal() are led here, those alone: no other object's, and none of a program without
 * Python.
 *
 *     waits        timedwait(_PyRuntime ... cond)  ──▶ on_timedwait: one event after each wait
 *     has the GIL  signal(_PyRuntime ... cond)     ──▶ on_signal: its thread, if somebody waits
 *
 * Whoever gets the GIL signals another variable of _PyRuntime, for a thread that gave it away and
 * may take it only after somebody else had it: that is no release.
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

#define WAIT "pthread_cond_timedwait"
#define SIGNAL "pthread_cond_signal"

KYMO_EXPORT void kymo__python_gil(bool on);

static uintptr_t runtime, runtime_end;
static int (*timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*signal_one)(pthread_cond_t *);
static uint32_t waiting;    /* threads that wait for the GIL, */
static const void *awaited; /* for this condition */
static int64_t releasing;   /* that released it last while one did */

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

static int on_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
			const struct timespec *until)
{
	int64_t begin_ns, by;
	int status;

	if (!is_gil(condition) || !kymo_enable_byte(KYMO_POINT_gil_wait))
		return timedwait(condition, mutex, until);
	begin_ns = now_ns();
	__atomic_store_n(&awaited, condition, __ATOMIC_RELAXED);
	__atomic_fetch_add(&waiting, 1, __ATOMIC_RELAXED);
	status = timedwait(condition, mutex, until);
	__atomic_fetch_sub(&waiting, 1, __ATOMIC_RELAXED);
	by = status ? 0 : __atomic_load_n(&releasing, __ATOMIC_RELAXED);
	KYMO_RECORD(gil_wait, now_ns() - begin_ns, by);
	return status;
}

static int on_signal(pthread_cond_t *condition)
{
	if (__atomic_load_n(&waiting, __ATOMIC_RELAXED) &&
	    __atomic_load_n(&awaited, __ATOMIC_RELAXED) == condition)
		__atomic_store_n(&releasing, syscall(SYS_gettid), __ATOMIC_RELAXED);
	return signal_one(condition);
}

/* The threads that waited are not in the child. */
static void forked(void)
{
	waiting = 0;
}

/* Return: false: this process has no such interpreter. */
static bool find(void)
{
	const ElfW(Sym) *symbol = NULL;
	void *at = dlsym(RTLD_DEFAULT, "_PyRuntime"), *function;
	Dl_info info;

	if (!at || !dladdr1(at, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
		return false;
	function = dlsym(RTLD_DEFAULT, WAIT);
	memcpy(&timedwait, &function, sizeof(function));
	function = dlsym(RTLD_DEFAULT, SIGNAL);
	memcpy(&signal_one, &function, sizeof(function));
	if (!runtime)
		kymo_at_fork(NULL, NULL, forked);
	runtime = (uintptr_t)at;
	runtime_end = runtime + symbol->st_size;
	return timedwait && signal_one;
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
		(void)kymo_slots_lead((const void *)runtime, SIGNAL, (const void *)signal_one,
				      (const void *)on_signal);
		(void)kymo_slots_lead((const void *)runtime, WAIT, (const void *)timedwait,
				      (const void *)on_timedwait);
	} else {
		(void)kymo_slots_lead((const void *)runtime, WAIT, (const void *)on_timedwait,
				      (const void *)timedwait);
		(void)kymo_slots_lead((const void *)runtime, SIGNAL, (const void *)on_signal,
				      (const void *)signal_one);
	}
}
