/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hooks of libtracetools' functions, for every row of tracepoints.def whose shape does not
 * depend on the version. A tracepoint X of tracetools has up to three functions:
 *
 *     ros_trace_X(args)          checks whether the event is wanted, and emits it
 *     ros_trace_enabled_X()      returns whether the event is wanted, so that the caller prepares the arguments
 *     ros_trace_do_X(args)       emits the event, after ros_trace_enabled_X() returned true
 *
 * Context: as kymo_try_reserve_sp() for runtime events, kymo__log_reserve() for init events.
 */
#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_forward.h"

#define HOOK_OWN(...)
#define HOOK_NONE(...)
#define HOOK_FN(id, name, phase, ...)							\
	KYMO_HOOK(name, KYMO_WANTED_##phase(id), KYMO_COUNT_##phase(id),	\
		  KYMO_LEFT_OUT_##phase(id), kymo_emit_##id,				\
		  (PARAMS(__VA_ARGS__)), (ARGS(__VA_ARGS__)))
#define HOOK_ALSO HOOK_FN

#define POINT(provider, id, name, phase, hook, from, to, text, ...)			\
	HOOK_##hook(id, name, phase __VA_OPT__(,) __VA_ARGS__)
#include "abi/tracepoints.def"
#undef POINT
