/* SPDX-License-Identifier: Apache-2.0 */
/* What event.c compares with: the same arguments, in shared libraries of their own. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

void bench_empty_8(const void *a);
void bench_empty_16(const void *a, const void *b);
void bench_empty_string(const void *a, const char *empty, const char *text);

/* The least, in a ring that the caller sets up. */
extern struct floor_ring bench_floor;
void bench_floor_8(const void *a);
void bench_floor_16(const void *a, const void *b);
void bench_floor_string(const void *a, const char *empty, const char *text);

/* LTTng-UST tracepoints with the fields of rcl_take, rcl_publish, rcl_lifecycle_transition. */
void bench_lttng_8(const void *a);
void bench_lttng_16(const void *a, const void *b);
void bench_lttng_string(const void *a, const char *empty, const char *text);

#endif
