/* SPDX-License-Identifier: Apache-2.0 */
/* What event_user.c emits, as LTTng-UST tracepoints; included several times by LTTng-UST. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER kymo_bench_user

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_user_point.h"

#if !defined(BENCH_LTTNG_USER_POINT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_USER_POINT_H

#include <stdint.h>
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(kymo_bench_user, instant, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())

LTTNG_UST_TRACEPOINT_EVENT(kymo_bench_user, integer,
	LTTNG_UST_TP_ARGS(int, n),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, n, n)))

LTTNG_UST_TRACEPOINT_EVENT(kymo_bench_user, counter,
	LTTNG_UST_TP_ARGS(double, value),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_float(double, value, value)))

LTTNG_UST_TRACEPOINT_EVENT(kymo_bench_user, three,
	LTTNG_UST_TP_ARGS(uint64_t, id, double, force, const char *, state),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, id, id)
			    lttng_ust_field_float(double, force, force)
			    lttng_ust_field_string(state, state)))

LTTNG_UST_TRACEPOINT_EVENT(kymo_bench_user, named,
	LTTNG_UST_TP_ARGS(const char *, category, const char *, name),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_string(category, category)
			    lttng_ust_field_string(name, name)))

LTTNG_UST_TRACEPOINT_EVENT(kymo_bench_user, work_begin,
	LTTNG_UST_TP_ARGS(int, step),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, step, step)))

LTTNG_UST_TRACEPOINT_EVENT(kymo_bench_user, work_end, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())
#endif

#include <lttng/tracepoint-event.h>
