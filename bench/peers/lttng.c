/* SPDX-License-Identifier: Apache-2.0 */
/* LTTng-UST behind a function call, as libtracetools puts it. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_point.h"
#include "peers.h"

void bench_lttng_8(const void *a)
{
	lttng_ust_tracepoint(kymo_bench, one_pointer, a);
}

void bench_lttng_16(const void *a, const void *b)
{
	lttng_ust_tracepoint(kymo_bench, two_pointers, a, b);
}

void bench_lttng_string(const void *a, const char *empty, const char *text)
{
	lttng_ust_tracepoint(kymo_bench, strings, a, empty, text);
}
