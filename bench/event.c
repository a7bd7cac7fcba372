/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one event costs, in one process and in turns: through the preload library, against the
 * least that any tracer must do (read the clock, store the same bytes), against an empty call,
 * and against LTTng-UST. Batches of all kinds alternate, so that other load on the machine meets
 * all of them alike; the median of the batches counts.
 *
 * Run by event.sh. The program plays the recorder for its own region: it switches runtime events
 * on and off, and takes what was written after each batch, so nothing is dropped and no other
 * process takes part.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "abi/points.h"
#include "abi/region.h"
#include "peers/floor.h"
#include "peers/peers.h"
#include "tracetools/tracetools.h"

#define EVENTS 1000		/* in a batch */
#define ROUNDS 2000		/* batches of each kind */
#define SINGLES 300000		/* events timed one by one */
#define TEXT "abcdefghijklmnopqrstuvwxyz0123"	/* 30 characters */

static const void *const first = (void *)0x7ffc12345678, *const second = (void *)0x55e118819a80;

/* ---- our own region, as a recorder sees it ---- */

static struct kymo_region *region;
static uint8_t *enable;
static struct kymo_ring *ring;

static void die(const char *what)
{
	fprintf(stderr, "bench_event: %s\n", what);
	exit(1);
}

static bool region_map(void)
{
	const char *directory = getenv("KYMO_DIR");
	char own[32], path[4096];
	DIR *dir = directory ? opendir(directory) : NULL;
	struct dirent *entry;
	struct stat st;
	int fd = -1;

	snprintf(own, sizeof(own), "%d-", getpid());
	while (dir && fd < 0 && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, own, strlen(own))) {
			snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
			fd = open(path, O_RDWR | O_CLOEXEC);
		}
	if (dir)
		closedir(dir);
	if (fd < 0 || fstat(fd, &st))
		return false;
	region = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (region == MAP_FAILED)
		die("cannot map the region");
	enable = (uint8_t *)region + KYMO_ENABLE_PAGE * KYMO_PAGE;
	return true;
}

static void ring_find(void)
{
	const uint32_t *page;

	for (uint32_t i = 0; i < region->ring_count; i++) {
		page = (uint32_t *)((uint8_t *)region + KYMO_RING_DIR_PAGE * KYMO_PAGE) + i;
		ring = (struct kymo_ring *)((uint8_t *)region + (size_t)*page * KYMO_PAGE);
		if (ring->state == KYMO_RING_OWNED && ring->tid == (uint32_t)gettid())
			return;
	}
	die("our thread has no ring");
}

static void record(bool on)
{
	for (int id = 0; id < KYMO_POINTS_TABLE; id++)
		if (kymo_points[id].phase == KYMO_PHASE_RUN)
			__atomic_store_n(&enable[id], on, __ATOMIC_RELAXED);
}

static void region_open(void)
{
	ros_trace_rcl_init(first);
	if (!region_map())
		die("not traced: run it through event.sh");
	region->state = KYMO_STATE_RECORD;
	record(true);
	ros_trace_rcl_take(first);
	munmap(region, KYMO_PAGE);
	if (!region_map())
		die("the region is gone");
	ring_find();
}

static void consume(void)
{
	__atomic_store_n(&ring->rpos, KYMO_WORD_POS(ring->wpos), __ATOMIC_RELEASE);
}

/* ---- the floor writes into a ring of the same size ---- */

static struct floor_ring floor_ring;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void floor_open(void)
{
	size_t size = (size_t)ring->block_size * ring->block_count;
	uint64_t until;

	floor_ring.data = mmap(NULL, size + KYMO_PAGE, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (floor_ring.data == MAP_FAILED)
		die("out of memory");
	floor_ring.mask = size - 1;
	floor_ring.ns = now_ns();
	floor_ring.counter = kymo_counter();
	until = floor_ring.ns + 20000000;
	while (now_ns() < until)
		;
	floor_ring.mult = (uint64_t)(((unsigned __int128)(now_ns() - floor_ring.ns) << 32) /
				     (kymo_counter() - floor_ring.counter));
	bench_floor = floor_ring;
}

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
BATCH(kymo_string, ros_trace_rcl_lifecycle_transition(first, "", TEXT))
#ifdef BENCH_LTTNG
BATCH(lttng_8, bench_lttng_8(first))
BATCH(lttng_16, bench_lttng_16(first, second))
BATCH(lttng_string, bench_lttng_string(first, "", TEXT))
#endif

enum { FLOOR, CALLED, KYMO, EMPTY, DISABLED, LTTNG, KINDS };
enum { PAYLOADS = 3 };

static const struct kind {
	const char *name;
	void (*batch[PAYLOADS])(int events);
} kinds[KINDS] = {
	[FLOOR] = { "clock read + store, inline", { inline_8, inline_16, inline_string } },
	[CALLED] = { "the same behind a call", { called_8, called_16, called_string } },
	[KYMO] = { "kymo, through the preload", { kymo_8, kymo_16, kymo_string } },
	[EMPTY] = { "empty call", { empty_8, empty_16, empty_string } },
	[DISABLED] = { "kymo, not recording", { kymo_8, kymo_16, kymo_string } },
#ifdef BENCH_LTTNG
	[LTTNG] = { "LTTng-UST", { lttng_8, lttng_16, lttng_string } },
#endif
};

static float cost[KINDS][PAYLOADS][ROUNDS];

static bool has_lttng;

static void measure(void)
{
	for (int round = 0; round < ROUNDS; round++)
		for (int kind = 0; kind < KINDS; kind++)
			for (int p = 0; p < PAYLOADS; p++) {
				uint64_t begin;

				if (kind == LTTNG && !has_lttng)
					continue;
				record(kind == KYMO);
				kinds[kind].batch[p](EVENTS / 10);
				begin = now_ns();
				kinds[kind].batch[p](EVENTS);
				cost[kind][p][round] = (float)(now_ns() - begin) / EVENTS;
				consume();
			}
}

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static double quantile(const float *sorted, size_t count, double q)
{
	return sorted[(size_t)(q * (double)(count - 1))];
}

static double median(int kind, int p)
{
	return quantile(cost[kind][p], ROUNDS, 0.5);
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
			qsort(cost[kind][p], ROUNDS, sizeof(float), by_value);
			printf("  %5.2f (%.2f-%.2f)", median(kind, p),
			       quantile(cost[kind][p], ROUNDS, 0.05),
			       quantile(cost[kind][p], ROUNDS, 0.9));
		}
		printf("\n");
	}
	row("kymo : clock read + store", KYMO, FLOOR, true, "target <= 1.10 (8 B)");
	row("kymo : the same behind a call", KYMO, CALLED, true, "");
	row("not recording - empty call", DISABLED, EMPTY, false, "target <= 0.3");
	if (has_lttng) {
		row("LTTng-UST : clock read + store", LTTNG, FLOOR, true, "reference 6.4-8.5");
		row("LTTng-UST : kymo", LTTNG, KYMO, true, "");
	}
}

/* ---- the tail: events timed one by one ---- */

static inline uint64_t fenced_counter(void)
{
#if defined(__x86_64__)
	__builtin_ia32_lfence();
	uint64_t value = kymo_counter();
	__builtin_ia32_lfence();
	return value;
#else
	return kymo_counter();
#endif
}

static float single[SINGLES];

static void print_tail(const char *name, void (*batch)(int))
{
	for (int i = 0; i < SINGLES; i++) {
		uint64_t begin = fenced_counter();

		batch(1);
		single[i] = (float)(fenced_counter() - begin) * (float)floor_ring.mult / 4294967296.0f;
		if (i % EVENTS == 0)
			consume();
	}
	qsort(single, SINGLES, sizeof(float), by_value);
	printf("%-34s  %7.0f  %7.0f  %7.0f  %7.0f   %.1f\n", name, quantile(single, SINGLES, 0.5),
	       quantile(single, SINGLES, 0.99), quantile(single, SINGLES, 0.999),
	       quantile(single, SINGLES, 0.9999),
	       quantile(single, SINGLES, 0.9999) / quantile(single, SINGLES, 0.5));
}

int main(void)
{
	has_lttng = kinds[LTTNG].name && getenv("BENCH_LTTNG_SESSION");
	if (!ros_trace_enabled_rcl_init())
		die("libkymo-ros2.so is not preloaded: run it through event.sh");
	region_open();
	floor_open();
	measure();
	print_costs();
	printf("\nns of one event, warm, timed alone (the timer's own cost included)\n");
	printf("%-34s  %7s  %7s  %7s  %7s   p99.99:p50, target <= 2\n", "8 B", "p50", "p99", "p99.9",
	       "p99.99");
	print_tail(kinds[EMPTY].name, empty_8);
	record(true);
	print_tail(kinds[KYMO].name, kymo_8);
	if (has_lttng)
		print_tail(kinds[LTTNG].name, kinds[LTTNG].batch[0]);
	if (ring->dropped) {
		printf("%llu events were dropped: the numbers do not count\n",
		       (unsigned long long)ring->dropped);
		return 1;
	}
	return 0;
}
