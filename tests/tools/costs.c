/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node whose callbacks do what a real-time program should not, each of them one thing, and how
 * often is known.
 *
 *   costs [ROUNDS]
 *
 * Each round each timer's callback runs once (long before it is due): of 1 s nothing, of 2 s
 * allocations, of 3 s an allocation that nobody frees, of 4 s page faults (PAGES in every tenth
 * round, else none), of 5 s a lock that another thread holds, named "holder", in a span
 * "holder"/"hold", of 6 s system calls. Then there is a span "control"/"step" with an allocation in
 * it. Prints "ready", then waits for a line.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <kymo/kymo.h>

#include "tracetools/tracetools.h"

#define PAGES	2048u
#define SIZE	1000u
#define LEAK	333u
#define CALLS	3
#define WAITED_FOR 2		/* of a mutex of glibc: somebody sleeps on it */

enum { QUIET, MEMORY, LEAKS, FAULTS, LOCK, SYSTEM, KINDS };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t held;
static void *volatile kept;		/* or the compiler leaves allocations out */

static const void *handle(uintptr_t base, unsigned number)
{
	return (const void *)(base + number * 0x40u);
}

static void make_node(void)
{
	const void *context = handle(0x1000, 0), *node = handle(0x2000, 0);

	ros_trace_rcl_init(context);
	ros_trace_rcl_node_init(node, handle(0x3000, 0), "costly", "/");
	for (unsigned kind = 0; kind < KINDS; kind++) {
		ros_trace_rcl_timer_init(handle(0x4000, kind), (int64_t)(kind + 1) * 1000000000);
		ros_trace_rclcpp_timer_callback_added(handle(0x4000, kind), handle(0x5000, kind));
		ros_trace_rclcpp_timer_link_node(handle(0x4000, kind), node);
		ros_trace_rclcpp_callback_register(handle(0x5000, kind), "costly");
	}
}

static void allocate(void)
{
	void *at;

	kept = malloc(SIZE);
	kept = realloc(kept, 2 * SIZE);
	free(kept);
	kept = calloc(2, SIZE);
	free(kept);
	if (posix_memalign(&at, 64, SIZE) == 0) {
		kept = at;
		free(kept);
	}
	kept = aligned_alloc(64, 1024);
	free(kept);
	kept = reallocarray(NULL, 3, SIZE);
	free(kept);
	free(NULL);
}

static void fault(unsigned round)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *at;

	if (round % 10 != 5)
		return;
	at = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return;
	(void)madvise((void *)at, PAGES * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		at[i * page] = 1;
	(void)munmap((void *)at, PAGES * page);
}

static void *hold(void *rounds)
{
	const struct timespec a_while = { .tv_nsec = 100000 };

	kymo_thread_name("holder");
	for (unsigned i = 0; i < *(const unsigned *)rounds; i++) {
		KYMO_SPAN("holder", "hold");
		(void)pthread_mutex_lock(&mutex);
		(void)pthread_barrier_wait(&held);
		while (__atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED) != WAITED_FOR)
			(void)nanosleep(&a_while, NULL);
		(void)pthread_mutex_unlock(&mutex);
		(void)pthread_barrier_wait(&held);
	}
	return NULL;
}

static void run(unsigned kind, unsigned round)
{
	const void *callback = handle(0x5000, kind);

	if (kind == LOCK)
		(void)pthread_barrier_wait(&held);
	ros_trace_callback_start(callback, false);
	if (kind == MEMORY) {
		allocate();
	} else if (kind == LEAKS) {
		kept = malloc(LEAK);
	} else if (kind == FAULTS) {
		fault(round);
	} else if (kind == LOCK) {
		(void)pthread_mutex_lock(&mutex);
		(void)pthread_mutex_unlock(&mutex);
	} else if (kind == SYSTEM) {
		for (int i = 0; i < CALLS; i++)
			(void)syscall(SYS_getppid);
	}
	ros_trace_callback_end(callback);
	if (kind == LOCK)
		(void)pthread_barrier_wait(&held);
}

int main(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 50;
	char line[16];
	pthread_t holder;

	make_node();
	(void)pthread_barrier_init(&held, NULL, 2);
	(void)puts("ready");
	(void)fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	if (pthread_create(&holder, NULL, hold, &rounds))
		return 1;
	for (unsigned round = 0; round < rounds; round++) {
		for (unsigned kind = 0; kind < KINDS; kind++)
			run(kind, round);
		{
			KYMO_SPAN("control", "step");
			kept = malloc(SIZE);
			free(kept);
		}
		(void)nanosleep(&pause, NULL);
	}
	(void)pthread_join(holder, NULL);
	return 0;
}
