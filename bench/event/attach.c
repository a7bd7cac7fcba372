/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop of 1 kHz in a process of several threads, all with tracepoints: how late it wakes up. For
 * bench/event/attach.py.
 *
 * usage: bench_attach THREADS     until SIGTERM; at each SIGUSR1 prints how late the latest wake-up
 * since the last SIGUSR1 was, in ns
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

static atomic_bool ends, asked;

static void on_end(int number)
{
	(void)number;
	atomic_store(&ends, true);
}

static void on_question(int number)
{
	(void)number;
	atomic_store(&asked, true);
}

/* A signal wakes it up early; that is not late. */
static void loop(const void *callback)
{
	struct timespec due, now;
	int64_t latest = 0, late;

	clock_gettime(CLOCK_MONOTONIC, &due);
	while (!atomic_load(&ends)) {
		due.tv_nsec += PERIOD_NS;
		if (due.tv_nsec >= 1000000000) {
			due.tv_nsec -= 1000000000;
			due.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		ros_trace_callback_start(callback, false);
		ros_trace_callback_end(callback);
		late = (now.tv_sec - due.tv_sec) * 1000000000 + now.tv_nsec - due.tv_nsec;
		latest = late > latest ? late : latest;
		if (atomic_exchange(&asked, false)) {
			printf("%lld\n", (long long)latest);
			fflush(stdout);
			latest = 0;
		}
	}
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
	sigset_t signals;
	pthread_t thread;

	signal(SIGTERM, on_end);
	signal(SIGUSR1, on_question);
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL); /* of the others, too */
	for (int i = 1; i < threads; i++)
		pthread_create(&thread, NULL, other, (void *)(intptr_t)i);
	puts("begun");
	fflush(stdout);
	pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
	loop(&ends);
	return 0;
}
