/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node whose callbacks make system calls of which it is known how many.
 *
 *   syscalls [ROUNDS]
 *
 * Each round each timer's callback runs once (long before it is due): of 1 s without any, of 2 s
 * PARENTS getppid(2), of 3 s a read(2) that another thread lets wait until it sleeps in it, of 4 s
 * a mutex that this thread has meanwhile. Then there is a span "control"/"step" with STEP_PARENTS
 * getppid(2) and a close(2) that fails. All of it is done by a thread of its own, "caller", which
 * begins when a line has come; "ready" is printed before.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <kymo/kymo.h>

#include "tracetools/tracetools.h"

#define PARENTS 5
#define STEP_PARENTS 2
#define WAITED_FOR 2		/* of a mutex of glibc: somebody sleeps on it */

enum { QUIET, PARENT, READ, LOCK, KINDS };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t held;
static unsigned rounds;
static int ends[2];
static pid_t caller;
static bool reads;

static const void *handle(uintptr_t base, unsigned number)
{
	return (const void *)(base + number * 0x40u);
}

static void make_node(void)
{
	const void *context = handle(0x1000, 0), *node = handle(0x2000, 0);

	ros_trace_rcl_init(context);
	ros_trace_rcl_node_init(node, handle(0x3000, 0), "calling", "/");
	for (unsigned kind = 0; kind < KINDS; kind++) {
		ros_trace_rcl_timer_init(handle(0x4000, kind), (int64_t)(kind + 1) * 1000000000);
		ros_trace_rclcpp_timer_callback_added(handle(0x4000, kind), handle(0x5000, kind));
		ros_trace_rclcpp_timer_link_node(handle(0x4000, kind), node);
		ros_trace_rclcpp_callback_register(handle(0x5000, kind), "calling");
	}
}

static void parents(unsigned count)
{
	while (count--)
		(void)syscall(SYS_getppid);
}

static void run(unsigned kind)
{
	const void *callback = handle(0x5000, kind);
	char byte;

	if (kind >= READ)
		(void)pthread_barrier_wait(&held);
	ros_trace_callback_start(callback, false);
	if (kind == PARENT) {
		parents(PARENTS);
	} else if (kind == READ) {
		__atomic_store_n(&reads, true, __ATOMIC_RELEASE);
		if (read(ends[0], &byte, 1) != 1)
			abort();
	} else if (kind == LOCK) {
		(void)pthread_mutex_lock(&mutex);
		(void)pthread_mutex_unlock(&mutex);
	}
	ros_trace_callback_end(callback);
	if (kind >= READ)
		(void)pthread_barrier_wait(&held);
}

static void *call(void *arg)
{
	(void)arg;
	__atomic_store_n(&caller, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	kymo_thread_name("caller");
	for (unsigned round = 0; round < rounds; round++) {
		for (unsigned kind = 0; kind < KINDS; kind++)
			run(kind);
		KYMO_SPAN("control", "step");
		parents(STEP_PARENTS);
		(void)close(-1);
	}
	return NULL;
}

static void a_while(void)
{
	(void)nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

/* Until the caller sleeps in its read, which it is about to begin. */
static void until_it_sleeps(void)
{
	char path[64], text[256] = "";
	const char *state;
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)__atomic_load_n(&caller, __ATOMIC_ACQUIRE));
	while (!__atomic_exchange_n(&reads, false, __ATOMIC_ACQ_REL))
		a_while();
	do {
		a_while();
		file = fopen(path, "re");
		if (!file || !fgets(text, sizeof(text), file))
			abort();
		(void)fclose(file);
		state = strrchr(text, ')');
	} while (!state || state[2] != 'S');
}

static void serve_round(void)
{
	(void)pthread_barrier_wait(&held);	/* READ */
	until_it_sleeps();
	if (write(ends[1], "x", 1) != 1)
		abort();
	(void)pthread_barrier_wait(&held);
	(void)pthread_mutex_lock(&mutex);
	(void)pthread_barrier_wait(&held);	/* LOCK */
	while (__atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED) != WAITED_FOR)
		a_while();
	(void)pthread_mutex_unlock(&mutex);
	(void)pthread_barrier_wait(&held);
}

int main(int argc, char **argv)
{
	char line[16];
	pthread_t thread;

	rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 50;
	make_node();
	(void)pthread_barrier_init(&held, NULL, 2);
	(void)puts("ready");
	(void)fflush(stdout);
	if (pipe(ends) < 0 || !fgets(line, sizeof(line), stdin) ||
	    pthread_create(&thread, NULL, call, NULL))
		return 1;
	for (unsigned round = 0; round < rounds; round++)
		serve_round();
	(void)pthread_join(thread, NULL);
	return 0;
}
