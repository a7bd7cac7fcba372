/* SPDX-License-Identifier: Apache-2.0 */
/* The tracepoints behind bench_lttng_*(); included several times by LTTng-UST. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER kymo_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_point.h"

#if !defined(BENCH_LTTNG_POINT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_POINT_H

#include <stdint.h>
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(kymo_bench, one_pointer,
	LTTNG_UST_TP_ARGS(const void *, a),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, a, (uintptr_t)a)))

LTTNG_UST_TRACEPOINT_EVENT(kymo_bench, two_pointers,
	LTTNG_UST_TP_ARGS(const void *, a, const void *, b),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, a, (uintptr_t)a)
			    lttng_ust_field_integer_hex(uintptr_t, b, (uintptr_t)b)))

LTTNG_UST_TRACEPOINT_EVENT(kymo_bench, strings,
	LTTNG_UST_TP_ARGS(const void *, a, const char *, first, const char *, second),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, a, (uintptr_t)a)
			    lttng_ust_field_string(first, first)
			    lttng_ust_field_string(second, second)))
#endif

#include <lttng/tracepoint-event.h>
