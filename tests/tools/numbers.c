/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emits numbered events, so that a trace can be checked for gaps: thread t calls
 * ros_trace_rcl_publish(t, n) for n = 1, 2, 3 ... and notes n in a file when the call has
 * returned. Whatever kills the process, the file says what must be in the trace.
 *
 *   numbers [--threads N] [--rate EVENTS_PER_S] [--period MS] [--seconds S] [--die-at N] [--first
 * PUBLISHER] FILE
 *
 * Events come in bursts, one in each period, of 1 ms unless told otherwise.
 * The file holds one u64 per thread. With --die-at the process kills itself with SIGKILL when
 * thread 0 has noted N. Ends well at SIGINT, SIGTERM, or after --seconds.
 */
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tracetools/tracetools.h"

#define THREADS_MAX 64
#define MS 1000000ul

static unsigned long threads = 2, rate = 20000, period_ns = MS, die_at, first;
static double seconds = 10;
static volatile uint64_t *noted;
static atomic_int stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static void *emit_main(void *argument)
{
	uintptr_t thread = (uintptr_t)argument, n = 0;
	unsigned long burst = rate / threads * (period_ns / MS) / 1000 + (period_ns == MS);
	unsigned long bursts = (unsigned long)(seconds * 1e9 / (double)period_ns);
	struct timespec due;

	clock_gettime(CLOCK_MONOTONIC, &due);
	while (!stopped && bursts--) {
		for (unsigned long i = 0; i < burst; i++) {
			n++;
			ros_trace_rcl_publish((void *)(first + thread), (void *)n);
			noted[thread] = n;
			if (thread == 0 && n == die_at)
				kill(getpid(), SIGKILL);
		}
		due.tv_nsec += (long)period_ns;
		if (due.tv_nsec >= 1000000000) {
			due.tv_sec++;
			due.tv_nsec -= 1000000000;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
	}
	return NULL;
}

static void options_read(int argc, char **argv)
{
	static const struct option known[] = {
		{ "threads", required_argument, NULL, 't' },
		{ "first", required_argument, NULL, 'f' },
		{ "rate", required_argument, NULL, 'r' },
		{ "period", required_argument, NULL, 'p' },
		{ "seconds", required_argument, NULL, 's' },
		{ "die-at", required_argument, NULL, 'd' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 't')
			threads = strtoul(optarg, NULL, 10);
		else if (option == 'f')
			first = strtoul(optarg, NULL, 10);
		else if (option == 'r')
			rate = strtoul(optarg, NULL, 10);
		else if (option == 'p')
			period_ns = strtoul(optarg, NULL, 10) * MS;
		else if (option == 's')
			seconds = strtod(optarg, NULL);
		else if (option == 'd')
			die_at = strtoul(optarg, NULL, 10);
		else
			exit(2);
	}
	if (optind + 1 != argc || !threads || threads > THREADS_MAX || !period_ns ||
	    period_ns > 1000 * MS) {
		fprintf(stderr, "usage: numbers [--threads N] [--rate N] [--period MS] [--seconds "
				"S] [--die-at N] "
				"[--first PUBLISHER] FILE\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	int file;

	options_read(argc, argv);
	file = open(argv[optind], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0 || ftruncate(file, THREADS_MAX * sizeof(*noted))) {
		perror(argv[optind]);
		return 1;
	}
	noted = mmap(NULL, THREADS_MAX * sizeof(*noted), PROT_READ | PROT_WRITE, MAP_SHARED, file,
		     0);
	if (noted == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	ros_trace_rcl_init(thread);
	for (uintptr_t t = 0; t < threads; t++)
		if (pthread_create(&thread[t], NULL, emit_main, (void *)t))
			return 1;
	for (unsigned long t = 0; t < threads; t++)
		pthread_join(thread[t], NULL);
	return 0;
}
