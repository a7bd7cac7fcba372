/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emits events of 8 B payload for the recorder to keep up with, at a rate or flat out.
 *
 *   bench_producer EVENTS_PER_S SECONDS        0 events per second: flat out
 *
 * Prints how many it emitted. Run by recorder.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tracetools/tracetools.h"

#define BURST 1000

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sleep_until(double when)
{
	struct timespec t = { (time_t)when, (long)((when - (double)(time_t)when) * 1e9) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

int main(int argc, char **argv)
{
	double rate, begin, end;
	unsigned long emitted = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: bench_producer EVENTS_PER_S SECONDS\n");
		return 2;
	}
	rate = strtod(argv[1], NULL);
	ros_trace_rcl_init(&rate);
	/* The thread's first event makes its ring; let the recorder find it before the flood. */
	ros_trace_rcl_take(&rate);
	sleep_until(now() + 0.3);
	begin = now();
	end = begin + strtod(argv[2], NULL);
	while (now() < end) {
		for (uintptr_t i = 0; i < BURST; i++)
			ros_trace_rcl_take((void *)i);
		emitted += BURST;
		if (rate > 0)
			sleep_until(begin + (double)emitted / rate);
	}
	printf("%lu %.6f\n", emitted + 1, now() - begin);
	return 0;
}
