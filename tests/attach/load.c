// SPDX-License-Identifier: Apache-2.0
/* A program under one kind of load, with a result that must not depend on kymo. Usage: load KIND
 * THREADS [PLUGIN [sandbox]] */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tracetools/tracetools.h"

static atomic_bool ends;
static atomic_ulong rounds, wrong, signals;
static const char *plugin;

static void bad(const char *what)
{
	if (atomic_load(&ends))
		return; /* the signal that ends us interrupts calls */
	if (!atomic_fetch_add(&wrong, 1))
		fprintf(stderr, "load: %s (errno %d)\n", what, errno);
}

static uint64_t mix(uint64_t seed)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^ seed << 17;
}

/* Each allocated byte keeps its value. */
static void allocate(uint64_t *seed)
{
	unsigned char *block[64];
	size_t size[64];

	for (int i = 0; i < 64; i++) {
		*seed = mix(*seed);
		size[i] = *seed % (i % 16 ? 2000 : 300000) + 1;
		block[i] = malloc(size[i]);
		memset(block[i], i, size[i]);
	}
	for (int i = 0; i < 64; i++) {
		if (block[i][0] != i || block[i][size[i] - 1] != i)
			bad("a byte changed");
		free(block[i]);
	}
}

/* Sums in vector registers: a known result. */
static void compute(uint64_t *seed)
{
	static const double expected = 499999500000.0;
	double sum[8] = { 0 }, total = 0;

	(void)seed;
	for (int i = 0; i < 1000000; i += 8)
		for (int j = 0; j < 8; j++)
			sum[j] += i + j;
	for (int j = 0; j < 8; j++)
		total += sum[j];
	if (total != expected)
		bad("a sum is wrong");
}

static void fork_child(uint64_t *seed)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		char *text = malloc(1000);

		ros_trace_callback_start(seed, false);
		ros_trace_callback_end(seed);
		_exit(text ? 7 : 1);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != 7)
		bad("a child went wrong");
}

static void load_library(uint64_t *seed)
{
	void *library = dlopen(plugin, *seed & 1 ? RTLD_NOW : RTLD_LAZY);
	int (*answer)(int) = library ? (int (*)(int))dlsym(library, "answer") : NULL;

	*seed = mix(*seed);
	if (!answer || answer(20) != 41)
		bad("a plugin answers wrong");
	if (library && dlclose(library))
		bad("dlclose");
}

/* EINTR is none of kymo's business: nothing here handles signals. */
static void wait_events(uint64_t *seed)
{
	struct epoll_event event;
	const int poll = epoll_create1(0), fd = eventfd(0, 0);
	uint64_t one = 1;

	(void)seed;
	event = (struct epoll_event){ .events = EPOLLIN };
	if (epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) || epoll_wait(poll, &event, 1, 7) != 0)
		bad("epoll_wait without an event");
	if (write(fd, &one, sizeof one) != sizeof one || epoll_wait(poll, &event, 1, 1000) != 1)
		bad("epoll_wait with an event");
	close(fd);
	close(poll);
}

static void sleep_exactly(uint64_t *seed)
{
	struct timespec begin, end, time = { 0, 20000000 };

	(void)seed;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (nanosleep(&time, NULL))
		bad("nanosleep");
	clock_gettime(CLOCK_MONOTONIC, &end);
	if ((end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec < 20000000)
		bad("slept too short");
}

static void on_signal(int number)
{
	const int saved = errno;

	(void)number;
	atomic_fetch_add(&signals, 1);
	ros_trace_callback_start((void *)&signals, false);
	ros_trace_callback_end((void *)&signals);
	errno = saved;
}

static void take_signals(uint64_t *seed)
{
	allocate(seed);
	errno = 123;
	for (volatile int i = 0; i < 1000; i++)
		if (errno != 123)
			bad("errno changed");
}

static const struct {
	const char *name;
	void (*step)(uint64_t *seed);
} kind[] = {
	{ "allocate", allocate },    { "compute", compute },   { "fork", fork_child },
	{ "load", load_library },    { "epoll", wait_events }, { "sleep", sleep_exactly },
	{ "signals", take_signals },
};
static void (*step)(uint64_t *seed);

static void *work(void *number)
{
	uint64_t seed = (uintptr_t)number * 0x9e3779b97f4a7c15ull + 1;

	while (!atomic_load(&ends)) {
		ros_trace_callback_start(number, false);
		step(&seed);
		ros_trace_callback_end(number);
		atomic_fetch_add(&rounds, 1);
	}
	return NULL;
}

static void on_end(int number)
{
	(void)number;
	atomic_store(&ends, true);
}

/* A file in memory ends the program; all else is allowed. */
static int sandbox(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof code / sizeof *code, code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	const int threads = argc > 2 ? atoi(argv[2]) : 1;
	const struct itimerval often = { { 0, 500 }, { 0, 500 } };
	pthread_t thread[64];

	if (argc < 3 || threads > 64)
		return 2;
	plugin = argc > 3 ? argv[3] : "";
	for (unsigned i = 0; i < sizeof kind / sizeof *kind; i++)
		if (!strcmp(argv[1], kind[i].name))
			step = kind[i].step;
	if (!step)
		return 2;
	if (argc > 4 && sandbox())
		return 2;
	signal(SIGTERM, on_end);
	if (step == take_signals) {
		sigaction(SIGALRM,
			  &(struct sigaction){ .sa_handler = on_signal, .sa_flags = SA_RESTART },
			  NULL);
		setitimer(ITIMER_REAL, &often, NULL);
	}
	for (int i = 1; i < threads; i++)
		pthread_create(&thread[i], NULL, work, (void *)(intptr_t)(i + 1));
	puts("begun");
	fflush(stdout);
	work((void *)1);
	for (int i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("%lu rounds, %lu signals, %lu wrong\n", atomic_load(&rounds), atomic_load(&signals),
	       atomic_load(&wrong));
	return atomic_load(&wrong) ? 1 : 0;
}
