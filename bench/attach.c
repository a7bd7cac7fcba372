/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop of 1 kHz in a process of several threads, all with tracepoints: how late it wakes up. For
 * bench/attach.py.
 *
 * usage: bench_attach THREADS     until SIGTERM; prints the wake-ups, and median, p99 and maximum
 * of their lateness in ns
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tracetools/tracetools.h"

#define PERIOD_NS 1000000
#define LOOPS_MAX 10000000

static atomic_bool ends;
static uint32_t late[LOOPS_MAX];

static void on_end(int number)
{
	(void)number;
	atomic_store(&ends, true);
}

static int compare(const void *a, const void *b)
{
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

/* Return: the number of wake-ups; @lateness: how late each was. */
static size_t loop(const void *callback, uint32_t *lateness)
{
	struct timespec due, now;
	size_t count = 0;

	clock_gettime(CLOCK_MONOTONIC, &due);
	while (!atomic_load(&ends) && count < LOOPS_MAX) {
		due.tv_nsec += PERIOD_NS;
		if (due.tv_nsec >= 1000000000) {
			due.tv_nsec -= 1000000000;
			due.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		ros_trace_callback_start(callback, false);
		ros_trace_callback_end(callback);
		if (atomic_load(&ends))
			break; /* the signal woke it up */
		lateness[count++] = (uint32_t)((now.tv_sec - due.tv_sec) * 1000000000 +
					       now.tv_nsec - due.tv_nsec);
	}
	return count;
}

static void *other(void *number)
{
	struct timespec pause = { 0, 20000000 };

	while (!atomic_load(&ends)) {
		nanosleep(&pause, NULL);
		ros_trace_callback_start(number, false);
		ros_trace_callback_end(number);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread;
	size_t count;

	signal(SIGTERM, on_end);
	for (int i = 1; i < threads; i++)
		pthread_create(&thread, NULL, other, (void *)(intptr_t)i);
	puts("begun");
	fflush(stdout);
	count = loop(&ends, late);
	qsort(late, count, sizeof *late, compare);
	if (count)
		printf("%zu %u %u %u\n", count, late[count / 2], late[count * 99 / 100],
		       late[count - 1]);
	return 0;
}
