/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of allocations instead of an event for each; see malloc_sums.h.
 *
 * The idea: a thread counts what it allocates and frees, and records the sums before each begin and
 * end of a callback. So the sums between both events are those of the callback's run. A thread
 * without callbacks records them every CALLS_MAX calls, and when it ends.
 *
 * ros_trace_callback_start() and _end() are functions of tracetools. This library comes before
 * libkymo-ros2 in LD_PRELOAD, so it is called first, and calls the next one.
 */
#include "inside/malloc/malloc_sums.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "inside/malloc/malloc_emit.h"

#define CALLS_MAX 4096u

struct sums {
	/* As recorded: */
	struct {
		uint64_t allocations, frees, allocated, freed;
		int64_t most; /* the maximum of allocated - freed on the way; at least 0 */
	} sum;
	unsigned calls;
	bool busy; /* a signal handler that interrupts a change records its own sums */
	bool is_known, is_ending; /* the thread will record the sums at its end; it has done so */
	bool is_arranging;        /* is_known is being arranged: what that allocates is ours */
};
static __thread struct sums sums;

bool malloc_sums;

typedef size_t usable_size_function(void *ptr);
static usable_size_function *below_size;

size_t malloc_size(void *ptr)
{
	usable_size_function *size = __atomic_load_n(&below_size, __ATOMIC_ACQUIRE);

	return size && ptr ? size(ptr) : 0;
}

static void add(struct sums *to, size_t allocated, bool allocates, size_t freed, bool frees)
{
	int64_t balance;

	to->sum.frees += frees;
	to->sum.freed += freed;
	to->sum.allocations += allocates;
	to->sum.allocated += allocated;
	balance = (int64_t)(to->sum.allocated - to->sum.freed);
	if (balance > to->sum.most)
		to->sum.most = balance;
	to->calls++;
}

static void record(struct sums *from)
{
	const struct sums whole = *from;

	if (!whole.calls)
		return;
	memset(&from->sum, 0, sizeof(from->sum));
	from->calls = 0;
	if (malloc_wanted(KYMO_POINT_libc_sum))
		malloc_emit(KYMO_POINT_libc_sum, &whole.sum, sizeof(whole.sum));
}

void malloc_sums_record(void)
{
	if (!sums.calls || sums.busy)
		return;
	sums.busy = true;
	kymo_signal_fence();
	record(&sums);
	kymo_signal_fence();
	sums.busy = false;
}

/* A function of the C++ runtime in libc, with which thread_local objects end: before the thread
 * gives its ring back. */
int __cxa_thread_atexit_impl(void (*end)(void *), void *object, void *library)
	__attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static void thread_ends(void *unused)
{
	(void)unused;
	malloc_sums_record();
	sums.is_ending = true;
}

void malloc_count(const void *allocated, size_t size, const void *freed, size_t freed_size)
{
	struct sums own = { 0 };

	if ((!allocated && !freed) || sums.is_arranging || !malloc_may_emit())
		return;
	if (sums.busy) {
		add(&own, size, allocated, freed_size, freed);
		record(&own);
		return;
	}
	sums.busy = true;
	kymo_signal_fence();
	if (!sums.is_known) {
		sums.is_known = true;
		sums.is_arranging = true;
		if (__cxa_thread_atexit_impl)
			(void)__cxa_thread_atexit_impl(thread_ends, NULL, &__dso_handle);
		sums.is_arranging = false;
	}
	add(&sums, size, allocated, freed_size, freed);
	if (sums.calls >= CALLS_MAX || sums.is_ending)
		record(&sums);
	kymo_signal_fence();
	sums.busy = false;
}

void malloc_sums_find(void)
{
	const char *how = secure_getenv("KYMO_MALLOC");
	union {
		void *object;
		usable_size_function *function;
	} found = { dlsym(RTLD_NEXT, "malloc_usable_size") };

	__atomic_store_n(&below_size, found.function, __ATOMIC_RELEASE);
	malloc_sums = how && strcmp(how, "sums") == 0;
}

/* ---- the begin and end of callbacks ---- */

typedef void start_function(const void *callback, bool is_intra_process);
typedef void end_function(const void *callback);

KYMO_EXPORT void ros_trace_callback_start(const void *callback, bool is_intra_process);
KYMO_EXPORT void ros_trace_callback_start(const void *callback, bool is_intra_process)
{
	static start_function *next;
	union {
		void *object;
		start_function *function;
	} found;

	malloc_sums_record();
	if (kymo_unlikely(!__atomic_load_n(&next, __ATOMIC_ACQUIRE))) {
		found.object = dlsym(RTLD_NEXT, "ros_trace_callback_start");
		if (!found.object)
			return;
		__atomic_store_n(&next, found.function, __ATOMIC_RELEASE);
	}
	next(callback, is_intra_process);
}

KYMO_EXPORT void ros_trace_callback_end(const void *callback);
KYMO_EXPORT void ros_trace_callback_end(const void *callback)
{
	static end_function *next;
	union {
		void *object;
		end_function *function;
	} found;

	malloc_sums_record();
	if (kymo_unlikely(!__atomic_load_n(&next, __ATOMIC_ACQUIRE))) {
		found.object = dlsym(RTLD_NEXT, "ros_trace_callback_end");
		if (!found.object)
			return;
		__atomic_store_n(&next, found.function, __ATOMIC_RELEASE);
	}
	next(callback);
}
