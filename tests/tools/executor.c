/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for rclcpp's MultiThreadedExecutor while a callback group is blocked: every thread
 * asks for work again and again, and each time emits the two events of the executor.
 *
 *   executor THREADS EVENTS_PER_S EVENTS BUSY [GATE]
 *
 * Each thread emits EVENTS events. EVENTS_PER_S is the rate of a thread as long as it has a CPU;
 * BUSY processes compete for the CPUs. With GATE, the threads begin when that file exists. Prints
 * the number of events.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tracetools/tracetools.h"

#define THREADS_MAX 64
#define BUSY_MAX 64

static uint64_t turn_ns, events;

static uint64_t now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *spin(void *unused)
{
	uint64_t at = now();

	for (uint64_t n = 0; n < events; n += 2) {
		const uint64_t next = at + turn_ns;

		ros_trace_rclcpp_executor_get_next_ready();
		ros_trace_rclcpp_executor_wait_for_work(-1);
		while ((at = now()) < next)
			;
	}
	return unused;
}

static void compete(void)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (volatile unsigned i = 0;; i++)
		;
}

int main(int argc, char **argv)
{
	const unsigned threads = argc > 4 ? (unsigned)atoi(argv[1]) : 0,
		       busy = argc > 4 ? (unsigned)atoi(argv[4]) : 0;
	const double rate = argc > 4 ? atof(argv[2]) : 0;
	pthread_t thread[THREADS_MAX];
	pid_t other[BUSY_MAX];

	if (!threads || threads > THREADS_MAX || busy > BUSY_MAX || rate <= 0) {
		(void)fprintf(stderr, "usage: executor THREADS EVENTS_PER_S EVENTS BUSY [GATE]\n");
		return 2;
	}
	turn_ns = (uint64_t)(2e9 / rate);
	events = strtoull(argv[3], NULL, 10) / 2 * 2;
	for (unsigned i = 0; i < busy; i++)
		if ((other[i] = fork()) == 0)
			compete();
	ros_trace_rclcpp_executor_get_next_ready(); /* the largest ring is the main thread's */
	while (argc > 5 && access(argv[5], F_OK))
		(void)usleep(1000);
	for (unsigned i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, spin, NULL))
			return 1;
	for (unsigned i = 0; i < threads; i++)
		(void)pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < busy; i++) {
		(void)kill(other[i], SIGKILL);
		(void)waitpid(other[i], NULL, 0);
	}
	(void)printf("%llu\n", (unsigned long long)(events * threads + 1));
	return 0;
}
