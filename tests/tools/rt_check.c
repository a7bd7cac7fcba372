/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What events do in a real-time thread, counted: system calls, allocations, locks, page faults.
 *
 *     rt_check [syscall|malloc|lock|fault]     the argument puts one in, to see it counted
 *
 * Run it under `kymo record -- rt_check`. One thread emits every kind of event through the hooks
 * and through kymo.h, enough to go round its ring many times and to find it full. It does so under
 * a seccomp filter by which any system call but exit ends the thread (strict mode would forbid
 * reading the TSC, too); our own malloc and pthread_mutex_lock count; page faults are those of
 * the thread. First events, of the process and of the thread, make system calls: of these only
 * allocations and locks count.
 *
 * Exit status: 0 none of them; 1 some, named on stdout; 77 no seccomp here.
 */
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <kymo/kymo.h>

#include "tracetools/tracetools.h"

#define ROUNDS 40000

extern void *__libc_malloc(size_t size);

static atomic_bool counting;
static atomic_long allocations, locks;
static atomic_bool survived;
static long faults;
static const char *inject = "";

void *malloc(size_t size)
{
	if (counting)
		allocations++;
	return __libc_malloc(size);
}

static int (*real_lock)(pthread_mutex_t *mutex);

/* The one in this program is what all libraries call. */
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (counting)
		locks++;
	return real_lock ? real_lock(mutex) : 0;	/* before main() there is one thread */
}

static void hooks(uint64_t n)
{
	const void *p = (const void *)(uintptr_t)n;

	ros_trace_rclcpp_publish(NULL, p);
	ros_trace_rclcpp_intra_publish(p, p);
	ros_trace_rcl_publish(p, p);
	ros_trace_rmw_publish(p, p, (int64_t)n);
	ros_trace_rmw_take(p, p, (int64_t)n, true);
	ros_trace_rcl_take(p);
	ros_trace_rclcpp_take(p);
	ros_trace_callback_start(p, false);
	ros_trace_callback_end(p);
	ros_trace_rcl_lifecycle_transition(p, "inactive", "active");
	ros_trace_rclcpp_executor_get_next_ready();
	ros_trace_rclcpp_executor_wait_for_work(-1);
	ros_trace_rclcpp_executor_execute(p);
	ros_trace_rclcpp_ring_buffer_enqueue(p, n, n, false);
	ros_trace_rclcpp_ring_buffer_dequeue(p, n, n);
	ros_trace_rclcpp_ring_buffer_clear(p);
}

static void spans(uint64_t n)
{
	KYMO_SPAN("rt", "loop", ("n", n));
	KYMO_INSTANT("rt", "instant", ("text", "hello"), ("f", 0.5), ("flow", n));
	KYMO_COUNTER("rt", "counter", n);
	KYMO_TRACEPOINT("rt", "point", ("a", 1), ("b", (short)2));
	kymo_begin_named("rt", "a name made at run time");
	kymo_end_named();
	kymo_counter_named("rt", "counter made at run time", 1.0);
	kymo_set_enabled(false);
	KYMO_INSTANT("rt", "must not be there");
	kymo_set_enabled(true);
	kymo_snapshot();
	(void)kymo_now();
}

static void rounds(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		hooks(i);
		spans(i);
	}
}

static long thread_faults(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

static void put_in(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	void *volatile memory;		/* or the compiler leaves the pair out */

	if (!strcmp(inject, "syscall"))
		(void)syscall(SYS_getppid);
	else if (!strcmp(inject, "malloc"))
		free(memory = malloc(100));
	else if (!strcmp(inject, "lock"))
		(void)(pthread_mutex_lock(&mutex) || pthread_mutex_unlock(&mutex));
}

/* From here on any system call of this thread but exit ends it. */
static bool forbid_system_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
	};
	struct sock_fprog program = { sizeof code / sizeof *code, code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void *fault_page;

/* Page faults first, while getrusage() is allowed. */
static void *real_time_thread(void *argument)
{
	long before;

	(void)argument;
	counting = true;
	rounds(2);			/* registration, and lazy binding of the calls themselves */
	counting = false;
	before = thread_faults();
	rounds(ROUNDS);
	if (!strcmp(inject, "fault"))
		*(volatile char *)fault_page = 1;
	faults = thread_faults() - before;

	if (!forbid_system_calls())
		_exit(77);
	counting = true;
	rounds(ROUNDS);
	put_in();
	counting = false;
	survived = true;
	(void)syscall(SYS_exit, 0);	/* pthread_exit() would do more */
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	real_lock = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
	if (argc > 1)
		inject = argv[1];
	fault_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	counting = true;
	ros_trace_rcl_take(&thread); /* the process's first event */
	counting = false;
	ros_trace_rcl_init(&thread); /* asks the loader for the middleware, which allocates */
	if (pthread_create(&thread, NULL, real_time_thread, NULL))
		return 1;
	(void)pthread_join(thread, NULL);	/* also when the filter ended it */
	counting = false;
	(void)printf("system calls: %s, allocations: %ld, locks: %ld, page faults: %ld\n",
		     survived ? "none" : "some", allocations, locks, faults);
	(void)fflush(stdout);
	_exit(survived && !allocations && !locks && !faults ? 0 : 1);
}
