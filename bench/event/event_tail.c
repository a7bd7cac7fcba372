/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a single event costs a real-time thread, call by call: SCHED_FIFO, memory locked, on the
 * last CPU, woken every millisecond for a burst of each kind, while a recorder (and LTTng's
 * consumer) empties the rings from the other CPUs. Run by event.sh.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "peers/own.h"
#include "peers/peers.h"
#include "peers/user.h"
#include "tracetools/tracetools.h"

#define BURST 50		/* calls of one kind after each wake-up */
#define PERIOD_NS 1000000
#define PRIORITY 50

static const void *const object = (void *)0x7ffc12345678;

USER_BATCH(hook_8, ros_trace_rcl_take(object))
#ifdef BENCH_LTTNG
USER_BATCH(lttng_8, bench_lttng_8(object))
#endif

struct row {
	const char *name;
	user_batch *batch;
	float *first, *later;		/* of a burst: cold, then warm */
	size_t firsts, laters;
};

#define ROWS_MAX 32
static struct row rows[ROWS_MAX];
static unsigned row_count;
static double ns_per_tick;

static void add_row(const char *name, user_batch *batch, size_t bursts)
{
	struct row *row = &rows[row_count++];

	*row = (struct row){ .name = name, .batch = batch };
	row->first = calloc(bursts, sizeof(float));
	row->later = calloc(bursts * (BURST - 1), sizeof(float));
	if (!row->first || !row->later)
		own_die("out of memory");
}

static void add_rows(size_t bursts, bool lttng)
{
	static char name[ROWS_MAX][64];

	add_row("timer alone", user_empty_batch[USER_INSTANT], bursts);
	add_row("clock read + store, an integer", user_floor_batch[USER_INTEGER], bursts);
	add_row("kymo, preload, 8 B", hook_8, bursts);
	for (int op = 0; op < USER_OPS; op++) {
		snprintf(name[op], sizeof(name[op]), "kymo.h, %s", user_name[op]);
		add_row(name[op], user_kymo_batch[op], bursts);
	}
#ifdef BENCH_LTTNG
	if (!lttng)
		return;
	add_row("LTTng-UST, call, 8 B", lttng_8, bursts);
	add_row("LTTng-UST, an integer", user_lttng_batch[USER_INTEGER], bursts);
	add_row("LTTng-UST, span, an integer", user_lttng_batch[USER_SPAN], bursts);
#else
	(void)lttng;
#endif
}

static void become_realtime(void)
{
	const struct sched_param wanted = { .sched_priority = PRIORITY };
	cpu_set_t last;

	CPU_ZERO(&last);
	CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &last);
	if (sched_setaffinity(0, sizeof(last), &last) || mlockall(MCL_CURRENT | MCL_FUTURE) ||
	    pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted)) {
		printf("skipped: SCHED_FIFO, locked memory or a CPU of our own is not permitted here\n");
		exit(0);
	}
}

static void measure(struct row *row)
{
	for (int i = 0; i < BURST; i++) {
		const uint64_t begin = own_fenced_counter();
		uint64_t end;

		row->batch(1);
		end = own_fenced_counter();
		if (i)
			row->later[row->laters++] = (float)((double)(end - begin) * ns_per_tick);
		else
			row->first[row->firsts++] = (float)((double)(end - begin) * ns_per_tick);
	}
}

static void print_row(struct row *row)
{
	float *l = row->later;
	const size_t n = row->laters;

	own_sort(l, n);
	own_sort(row->first, row->firsts);
	printf("%-34s %6.0f %6.0f %6.0f %7.0f %8.0f  %6.1f | %6.0f %6.0f %8.0f\n", row->name,
	       own_quantile(l, n, 0.5), own_quantile(l, n, 0.99), own_quantile(l, n, 0.999),
	       own_quantile(l, n, 0.9999), l[n - 1],
	       own_quantile(l, n, 0.9999) / own_quantile(l, n, 0.5),
	       own_quantile(row->first, row->firsts, 0.5),
	       own_quantile(row->first, row->firsts, 0.99), row->first[row->firsts - 1]);
}

int main(int argc, char **argv)
{
	const size_t bursts = argc > 1 ? strtoul(argv[1], NULL, 10) : 4000;
	struct timespec due;

	if (!bursts) {
		fprintf(stderr, "usage: bench_event_tail [BURSTS]\n");
		return 2;
	}
	ros_trace_rcl_init(object);
	own_attach();
	user_floor = own_floor();
	ns_per_tick = (double)user_floor.mult / 4294967296.0;
	add_rows(bursts, getenv("BENCH_LTTNG_SESSION") != NULL);
	become_realtime();
	clock_gettime(CLOCK_MONOTONIC, &due);
	for (size_t burst = 0; burst < bursts; burst++) {
		due.tv_nsec += PERIOD_NS;
		if (due.tv_nsec >= 1000000000) {
			due.tv_nsec -= 1000000000;
			due.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
		for (unsigned i = 0; i < row_count; i++)
			measure(&rows[i]);
	}
	printf("ns of one call, SCHED_FIFO %d, a recorder draining; %zu bursts of %d; the timer's own cost included\n",
	       PRIORITY, bursts, BURST);
	printf("%-34s %6s %6s %6s %7s %8s  %6s | %6s %6s %8s\n", "", "p50", "p99", "p99.9", "p99.99", "max",
	       "p99.99", "first", "in a", "burst");
	printf("%-34s %6s %6s %6s %7s %8s  %6s | %6s %6s %8s\n", "", "", "", "", "", "", ": p50", "p50", "p99", "max");
	for (unsigned i = 0; i < row_count; i++)
		print_row(&rows[i]);
	return 0;
}
