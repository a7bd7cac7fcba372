/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KYMO_HOOK() defines the functions of one tracepoint of libtracetools. With KYMO_FORWARD=1, the
 * hooks also call the wrapped functions of the real libtracetools, so that a user's own LTTng
 * session still records.
 *
 * Context of the hooks: as tracer_ring.h for runtime events, as tracer_initlog.h for facts. With
 * KYMO_FORWARD=1 the first call of each takes the loader's lock, and all do what the real ones do.
 */
#ifndef KYMO_HOOKS_FORWARD_H
#define KYMO_HOOKS_FORWARD_H

#include "inside/ros2/ros2_tracetools.h"

/*
 * Defines `real`: the wrapped function of this name, looked up once; NULL: libtracetools has no
 * such function. `real` has the type of the hook.
 */
#define KYMO_REAL(function)								\
	static __typeof__(&function) real;						\
	static bool looked;								\
											\
	if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {				\
		kymo_tracetools_known();						\
		__atomic_store_n(&real, (__typeof__(&function))kymo_tracetools_symbol(#function), \
				 __ATOMIC_RELAXED);					\
		__atomic_store_n(&looked, true, __ATOMIC_RELEASE);			\
	}

#define KYMO_FORWARDING __builtin_expect(kymo_forward, 0)

/* Call the wrapped function, if it exists. */
#define FORWARD(function, args) do {							\
		KYMO_REAL(function)							\
		if (real)								\
			real args;							\
	} while (0)

/* The result of the wrapped function ros_trace_enabled_X(); false if it does not exist. */
#define FORWARD_ENABLED(function) ({							\
		KYMO_REAL(function)							\
		real && real();								\
	})

/*
 * The three functions of one tracepoint. Forwarding, and events whose object is looked up, are in
 * functions of their own that are reached by a tail call, so that the usual path saves no registers
 * for them.
 *
 * @enable: expression: whether to record, enum kymo_enable
 * @count: function that counts the event by its object; false: such events are not counted
 * @left_out: function that returns whether the object is left out
 * @emit: function that records
 * @params, @args: parameters and arguments, each in parentheses
 */
#define KYMO_HOOK(name, enable, count, left_out, emit, params, args)			\
KYMO_EXPORT void ros_trace_##name params;						\
KYMO_EXPORT void ros_trace_do_##name params;						\
KYMO_EXPORT bool ros_trace_enabled_##name(void);					\
											\
static __attribute__((noinline, cold, unused)) void look_up_##name params		\
{											\
	if (!left_out args)								\
		emit args;								\
}											\
											\
static inline __attribute__((always_inline)) void record_##name params			\
{											\
	const uint8_t wanted = (enable);						\
											\
	if (kymo_likely(!wanted))							\
		return;									\
	if (kymo_likely(wanted == KYMO_ENABLE_YES))					\
		emit args;								\
	else if (wanted != KYMO_ENABLE_COUNT || !count args)				\
		look_up_##name args;							\
}											\
											\
static __attribute__((noinline, cold)) void forward_##name params			\
{											\
	record_##name args;								\
	FORWARD(ros_trace_##name, args);						\
}											\
											\
KYMO_EXPORT void ros_trace_##name params						\
{											\
	if (KYMO_FORWARDING)								\
		forward_##name args;							\
	else										\
		record_##name args;							\
}											\
											\
KYMO_EXPORT bool ros_trace_enabled_##name(void)						\
{											\
	return (enable) || (KYMO_FORWARDING && FORWARD_ENABLED(ros_trace_enabled_##name));	\
}											\
											\
/* The caller may have prepared the arguments for kymo only: the wrapped tracepoint may be off. */	\
KYMO_EXPORT void ros_trace_do_##name params						\
{											\
	record_##name args;								\
	if (KYMO_FORWARDING && FORWARD_ENABLED(ros_trace_enabled_##name))		\
		FORWARD(ros_trace_do_##name, args);					\
}

#endif
