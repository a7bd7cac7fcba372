/* SPDX-License-Identifier: Apache-2.0 */
/* What reading a clock costs in a tight loop: prints the ns of one bare read, median of batches. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "inside/tracer/tracer_counter.h"

#define READS 1000
#define BATCHES 2001

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(void)
{
	static uint64_t cost[BATCHES];
	volatile uint64_t sink;

	for (int batch = 0; batch < BATCHES; batch++) {
		uint64_t begin = now_ns();

		for (int i = 0; i < READS; i++)
			sink = kymo_counter();
		cost[batch] = now_ns() - begin;
	}
	(void)sink;
	qsort(cost, BATCHES, sizeof(*cost), by_value);
	printf("%.2f\n", (double)cost[BATCHES / 2] / READS);
	return 0;
}
