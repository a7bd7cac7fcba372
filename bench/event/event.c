/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one event costs, in one process and in turns: through the preload library, against the
 * least that any tracer must do (read the clock, store the same bytes), against an empty call,
 * and against LTTng-UST. Batches of all kinds alternate, so that other load on the machine meets
 * all of them alike; the median of the batches counts. Run by event.sh.
 */
#include <stdio.h>
#include <stdlib.h>

#include "peers/floor.h"
#include "peers/own.h"
#include "peers/peers.h"
#include "tracetools/tracetools.h"

#define EVENTS 1000		/* in a batch */
#define ROUNDS 2000		/* batches of each kind */
#define SINGLES 300000		/* events timed one by one */
#define TEXT "abcdefghijklmnopqrstuvwxyz0123"	/* 30 characters */

static const void *const first = (void *)0x7ffc12345678, *const second = (void *)0x55e118819a80;
static struct floor_ring floor_ring;

/* ---- one batch of each kind and payload ---- */

#define HIDE __asm__ volatile("" ::: "memory")
#define BATCH(name, ...)						\
	static __attribute__((noinline)) void name(int events)		\
	{								\
		for (int i = 0; i < events; i++) {			\
			__VA_ARGS__;					\
			HIDE;						\
		}							\
	}

BATCH(inline_8, floor_8(&floor_ring, first))
BATCH(inline_16, floor_16(&floor_ring, first, second))
BATCH(inline_string, floor_string(&floor_ring, first, TEXT))
BATCH(called_8, bench_floor_8(first))
BATCH(called_16, bench_floor_16(first, second))
BATCH(called_string, bench_floor_string(first, "", TEXT))
BATCH(empty_8, bench_empty_8(first))
BATCH(empty_16, bench_empty_16(first, second))
BATCH(empty_string, bench_empty_string(first, "", TEXT))
BATCH(kymo_8, ros_trace_rcl_take(first))
BATCH(kymo_16, ros_trace_rcl_publish(first, second))
BATCH(callback_9, ros_trace_callback_start(first, false))
BATCH(object_8, ros_trace_callback_end(first))
BATCH(kymo_string, ros_trace_rcl_lifecycle_transition(first, "", TEXT))
#ifdef BENCH_LTTNG
BATCH(lttng_8, bench_lttng_8(first))
BATCH(lttng_16, bench_lttng_16(first, second))
BATCH(lttng_string, bench_lttng_string(first, "", TEXT))
#endif

enum { FLOOR, CALLED, KYMO, LOOKED_UP, LEFT_OUT, EMPTY, DISABLED, COUNTED, LTTNG, KINDS };
enum { PAYLOADS = 3 };

static const struct kind {
	const char *name;
	void (*batch[PAYLOADS])(int events);
} kinds[KINDS] = {
	[FLOOR] = { "clock read + store, inline", { inline_8, inline_16, inline_string } },
	[CALLED] = { "the same behind a call", { called_8, called_16, called_string } },
	[KYMO] = { "kymo, through the preload", { kymo_8, kymo_16, kymo_string } },
	[LOOKED_UP] = { "kymo, object looked up", { object_8, kymo_16, kymo_string } },
	[LEFT_OUT] = { "kymo, object left out", { object_8, kymo_16, kymo_string } },
	[EMPTY] = { "empty call", { empty_8, empty_16, empty_string } },
	[DISABLED] = { "kymo, not recording", { kymo_8, kymo_16, kymo_string } },
	[COUNTED] = { "kymo, counting only", { callback_9, kymo_16, callback_9 } },
#ifdef BENCH_LTTNG
	[LTTNG] = { "LTTng-UST", { lttng_8, lttng_16, lttng_string } },
#endif
};

static float cost[KINDS][PAYLOADS][ROUNDS];

static bool has_lttng;

static enum kymo_enable wanted(int kind)
{
	if (kind == LOOKED_UP || kind == LEFT_OUT)
		return KYMO_ENABLE_LOOK_UP;
	if (kind == COUNTED)
		return KYMO_ENABLE_COUNT;
	return kind == KYMO ? KYMO_ENABLE_YES : KYMO_ENABLE_NO;
}

static void measure(void)
{
	for (int round = 0; round < ROUNDS; round++)
		for (int kind = 0; kind < KINDS; kind++)
			for (int p = 0; p < PAYLOADS; p++) {
				uint64_t begin;

				if (kind == LTTNG && !has_lttng)
					continue;
				own_record(wanted(kind));
				if (kind == LOOKED_UP || kind == LEFT_OUT)
					own_leave_out(kind == LEFT_OUT ? first : NULL);
				kinds[kind].batch[p](EVENTS / 10);
				begin = own_ns();
				kinds[kind].batch[p](EVENTS);
				cost[kind][p][round] = (float)(own_ns() - begin) / EVENTS;
				own_consume();
			}
}

static double median(int kind, int p)
{
	return own_quantile(cost[kind][p], ROUNDS, 0.5);
}

static void row(const char *what, int a, int b, bool ratio, const char *target)
{
	printf("%-34s", what);
	for (int p = 0; p < PAYLOADS; p++)
		printf(ratio ? "  %7.2f x      " : "  %7.2f ns     ",
		       ratio ? median(a, p) / median(b, p) : median(a, p) - median(b, p));
	printf("  %s\n", target);
}

static void print_costs(void)
{
	printf("ns per event: median (p5-p90) of %d batches of %d\n", ROUNDS, EVENTS);
	printf("%-34s  %-15s  %-15s  %-15s\n", "", "8 B", "16 B", "8 B + 30 chars");
	for (int kind = 0; kind < KINDS; kind++) {
		if (kind == LTTNG && !has_lttng)
			continue;
		printf("%-34s", kinds[kind].name);
		for (int p = 0; p < PAYLOADS; p++) {
			own_sort(cost[kind][p], ROUNDS);
			printf("  %5.2f (%.2f-%.2f)", median(kind, p),
			       own_quantile(cost[kind][p], ROUNDS, 0.05),
			       own_quantile(cost[kind][p], ROUNDS, 0.9));
		}
		printf("\n");
	}
	row("kymo : clock read + store", KYMO, FLOOR, true, "target <= 1.10 (8 B)");
	row("kymo : the same behind a call", KYMO, CALLED, true, "");
	row("object looked up - without", LOOKED_UP, KYMO, false, "");
	row("object left out - empty call", LEFT_OUT, EMPTY, false, "");
	row("not recording - empty call", DISABLED, EMPTY, false, "target <= 0.3");
	row("counting only - empty call", COUNTED, EMPTY, false, "target <= 2");
	row("counting only : empty call", COUNTED, EMPTY, true, "8 B: a callback");
	if (has_lttng) {
		row("LTTng-UST : clock read + store", LTTNG, FLOOR, true, "reference 6.4-8.5");
		row("LTTng-UST : kymo", LTTNG, KYMO, true, "");
	}
}

/* ---- the tail: events timed one by one ---- */

static float single[SINGLES];

static void print_tail(const char *name, void (*batch)(int))
{
	for (int i = 0; i < SINGLES; i++) {
		uint64_t begin = own_fenced_counter();

		batch(1);
		single[i] = (float)(own_fenced_counter() - begin) * (float)floor_ring.mult /
			    4294967296.0f;
		if (i % EVENTS == 0)
			own_consume();
	}
	own_sort(single, SINGLES);
	printf("%-34s  %7.0f  %7.0f  %7.0f  %7.0f   %.1f\n", name, own_quantile(single, SINGLES, 0.5),
	       own_quantile(single, SINGLES, 0.99), own_quantile(single, SINGLES, 0.999),
	       own_quantile(single, SINGLES, 0.9999),
	       own_quantile(single, SINGLES, 0.9999) / own_quantile(single, SINGLES, 0.5));
}

int main(void)
{
	has_lttng = kinds[LTTNG].name && getenv("BENCH_LTTNG_SESSION");
	if (!ros_trace_enabled_rcl_init())
		own_die("libkymo-ros2.so is not preloaded: run it through event.sh");
	ros_trace_rcl_init(first);
	own_open();
	bench_floor = floor_ring = own_floor();
	measure();
	print_costs();
	printf("\nns of one event, warm, timed alone (the timer's own cost included)\n");
	printf("%-34s  %7s  %7s  %7s  %7s   p99.99:p50, target <= 2\n", "8 B", "p50", "p99", "p99.9",
	       "p99.99");
	print_tail(kinds[EMPTY].name, empty_8);
	own_record(KYMO_ENABLE_YES);
	print_tail(kinds[KYMO].name, kymo_8);
	if (has_lttng)
		print_tail(kinds[LTTNG].name, kinds[LTTNG].batch[0]);
	if (own_dropped()) {
		printf("%llu events were dropped: the numbers do not count\n",
		       (unsigned long long)own_dropped());
		return 1;
	}
	return 0;
}
