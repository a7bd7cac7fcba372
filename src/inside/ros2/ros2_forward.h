/* SPDX-License-Identifier: Apache-2.0 */
/* KYMO_FORWARD=1: the wrapped functions are called too, so that a user's own LTTng session goes on. */
#ifndef KYMO_HOOKS_FORWARD_H
#define KYMO_HOOKS_FORWARD_H

#include "inside/ros2/ros2_tracetools.h"

/*
 * `real`: the function of this name below us, looked up once; NULL when there is none. It has the
 * type of the hook itself.
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

/* Call the function below us. */
#define FORWARD(function, args) do {							\
		KYMO_REAL(function)							\
		if (real)								\
			real args;							\
	} while (0)

/* What the enabled_ function below us says. */
#define FORWARD_ENABLED(function) ({							\
		KYMO_REAL(function)							\
		real && real();								\
	})

/*
 * The three functions of one tracepoint. With forwarding on they take a path of their own, by a
 * tail call, so that the usual path saves no registers for it; so do events that are looked up.
 *
 * @enable: whether to record, enum kymo_enable; @left_out: function that says whether the object is
 * left out; @emit: function that records; @params, @args: in parentheses
 */
#define KYMO_HOOK(name, enable, left_out, emit, params, args)				\
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
	if (kymo_unlikely(wanted != KYMO_ENABLE_YES))					\
		look_up_##name args;							\
	else										\
		emit args;								\
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
/* The caller may have prepared the arguments for our sake only: the one below may still be off. */	\
KYMO_EXPORT void ros_trace_do_##name params						\
{											\
	record_##name args;								\
	if (KYMO_FORWARDING && FORWARD_ENABLED(ros_trace_enabled_##name))		\
		FORWARD(ros_trace_do_##name, args);					\
}

#endif
