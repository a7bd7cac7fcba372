/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C interface of ROS 2's libtracetools, all versions, expanded from tracepoints.def. A
 * function that had two shapes in its life is declared under its row's id and bound to the one
 * symbol: ros_trace_rmw_publish() takes three arguments (8.0.0 and later),
 * ros_trace_rmw_publish_message() calls the same symbol with the one argument of Humble and Iron.
 */
#ifndef TRACETOOLS_TRACETOOLS_H
#define TRACETOOLS_TRACETOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/each.h"
#include "abi/kinds.h"

/* A row's fields as a C parameter list: "void" where there are none. */
#define STUB_PARAM(kind, arg, ...) KYMO_PARAM_##kind(arg)
#define STUB_DROP_FIRST_(first, ...) __VA_ARGS__
#define STUB_DROP_FIRST(...) STUB_DROP_FIRST_(__VA_ARGS__)
#define STUB_PARAMS_(...) void
#define STUB_PARAMS_SOME(...) STUB_DROP_FIRST(~EACH(STUB_PARAM, __VA_ARGS__))
#define STUB_PARAMS(...) KYMO_CAT(STUB_PARAMS_, __VA_OPT__(SOME))(__VA_ARGS__)

#ifdef __cplusplus
extern "C" {
#endif

#define POINT(provider, id, name, phase, hook, from, to, text, ...)				\
	void ros_trace_##id(STUB_PARAMS(__VA_ARGS__)) __asm__("ros_trace_" #name);		\
	bool ros_trace_enabled_##id(void) __asm__("ros_trace_enabled_" #name);			\
	void ros_trace_do_##id(STUB_PARAMS(__VA_ARGS__)) __asm__("ros_trace_do_" #name);
#include "abi/tracepoints.def"
#undef POINT

bool ros_trace_compile_status(void);
bool ros_trace_runtime_status(void);	/* 8.9.0 and later */

#ifdef __cplusplus
}
#endif

#endif
