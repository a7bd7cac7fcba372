/* SPDX-License-Identifier: Apache-2.0 */
/* As user.c, with LTTng-UST: a span is two events, as its users write it. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_user_point.h"
#include "user.h"

USER_BATCH(lttng_instant, lttng_ust_tracepoint(kymo_bench_user, instant))
USER_BATCH(lttng_integer, lttng_ust_tracepoint(kymo_bench_user, integer, user_int))
USER_BATCH(lttng_counter, lttng_ust_tracepoint(kymo_bench_user, counter, user_double))
USER_BATCH(lttng_point, lttng_ust_tracepoint(kymo_bench_user, three, (uint64_t)user_int,
					     user_double, user_state))
USER_BATCH(lttng_named, lttng_ust_tracepoint(kymo_bench_user, named, user_category, user_text))
USER_BATCH(lttng_span, {
	lttng_ust_tracepoint(kymo_bench_user, work_begin, user_int);
	USER_HIDE;
	lttng_ust_tracepoint(kymo_bench_user, work_end);
})

user_batch *const user_lttng_batch[USER_OPS] = {
	lttng_instant, lttng_integer, lttng_counter, lttng_point, lttng_named, lttng_span,
};
