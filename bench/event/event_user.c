/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the events of kymo.h cost: recorded, not recorded, with the ring full; beside the least that
 * any tracer must do and LTTng-UST. Batches of all kinds in turn; a ratio is taken within a round,
 * so that other load on the machine meets both sides. Run by event.sh.
 */
#include <stdio.h>
#include <stdlib.h>

#include "peers/own.h"
#include "peers/user.h"

#define EVENTS 1000		/* in a batch */
#define ROUNDS 1000

enum kind { EMPTY, FLOOR, KYMO, OFF, FULL, LTTNG, KINDS };

static user_batch *const *const batches[KINDS] = {
	user_empty_batch, user_floor_batch, user_kymo_batch, user_kymo_batch, user_kymo_batch,
#ifdef BENCH_LTTNG
	user_lttng_batch,
#endif
};
static const char *const kind_name[KINDS] = {
	"empty", "clock + store", "kymo", "not recorded", "ring full", "LTTng-UST",
};

static float cost[KINDS][USER_OPS][ROUNDS];
static uint64_t refused;	/* events that met a full ring, as they should */

static void fill_ring(void)
{
	const uint64_t before = own_dropped();

	while (own_dropped() == before)
		user_kymo_batch[USER_INSTANT](1);
}

/* Events of a batch that finds the ring full: the begin of a span, which then has no end. */
static void measure_kind(enum kind kind, int round)
{
	const uint64_t before = own_dropped();

	own_record(kind == KYMO || kind == FULL ? KYMO_ENABLE_YES : KYMO_ENABLE_NO);
	if (kind == FULL)
		fill_ring();
	for (int op = 0; op < USER_OPS; op++) {
		uint64_t begin;

		batches[kind][op](EVENTS / 10);
		begin = own_ns();
		batches[kind][op](EVENTS);
		cost[kind][op][round] = (float)(own_ns() - begin) / EVENTS;
		if (kind == KYMO)
			own_consume();
	}
	own_consume();
	if (kind == FULL)
		refused += own_dropped() - before;
}

static void print_costs(unsigned kinds)
{
	printf("\nns per call of kymo.h: median (p5-p90) of %d batches of %d; a span is two events\n", ROUNDS, EVENTS);
	printf("%-22s", "");
	for (unsigned kind = FLOOR; kind < kinds; kind++)
		printf("  %-19s", kind_name[kind]);
	printf("\n");
	for (int op = 0; op < USER_OPS; op++) {
		printf("%-22s", user_name[op]);
		for (unsigned kind = FLOOR; kind < kinds; kind++) {
			char text[64];
			float *c = cost[kind][op];

			snprintf(text, sizeof(text), "%.2f (%.1f-%.1f)", own_quantile(c, ROUNDS, 0.5),
				 own_quantile(c, ROUNDS, 0.05), own_quantile(c, ROUNDS, 0.9));
			printf("  %-19s", text);
		}
		printf("\n");
	}
}

static void print_compared(enum kind a, enum kind b, bool ratio, const char *what)
{
	static float sorted[ROUNDS];

	printf("%-34s", what);
	for (int op = 0; op < USER_OPS; op++) {
		for (int i = 0; i < ROUNDS; i++)
			sorted[i] = ratio ? cost[a][op][i] / cost[b][op][i]
					  : cost[a][op][i] - cost[b][op][i];
		own_sort(sorted, ROUNDS);
		printf("  %.2f (%.2f-%.2f)", own_quantile(sorted, ROUNDS, 0.5), own_quantile(sorted, ROUNDS, 0.1),
		       own_quantile(sorted, ROUNDS, 0.9));
	}
	printf("\n");
}

int main(void)
{
	const unsigned kinds = getenv("BENCH_LTTNG_SESSION") && batches[LTTNG] ? KINDS : LTTNG;

	own_open();
	user_floor = own_floor();
	for (int round = 0; round < ROUNDS; round++)
		for (unsigned kind = 0; kind < kinds; kind++)
			measure_kind((enum kind)kind, round);
	printf("\nkymo.h: within a round, median (p10-p90) for each of");
	for (int op = 0; op < USER_OPS; op++)
		printf("%s %s", op ? ";" : "", user_name[op]);
	printf("\n");
	print_compared(KYMO, FLOOR, true, "kymo : clock read + store, x");
	print_compared(OFF, EMPTY, false, "not recorded - empty, ns");
	print_compared(FULL, FLOOR, true, "ring full : clock read + store, x");
	if (kinds == KINDS) {
		print_compared(LTTNG, FLOOR, true, "LTTng-UST : clock read + store, x");
		print_compared(LTTNG, KYMO, true, "LTTng-UST : kymo, x");
	}
	for (unsigned kind = 0; kind < kinds; kind++)
		for (int op = 0; op < USER_OPS; op++)
			own_sort(cost[kind][op], ROUNDS);
	print_costs(kinds);
	if (own_dropped() != refused) {
		printf("%llu events were dropped: the numbers do not count\n",
		       (unsigned long long)(own_dropped() - refused));
		return 1;
	}
	return 0;
}
