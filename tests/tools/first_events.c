/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First events where little is allowed, for tests/system/program/first_events.sh:
 *
 *     first_events cancel COUNT        in threads that are cancelled and signalled meanwhile
 *     first_events stack KIND [warm]   on a stack of PTHREAD_STACK_MIN bytes
 *     first_events alt KIND [warm]     in a signal handler, on an alternate stack of SIGSTKSZ bytes
 *     first_events errno KIND
 *     first_events filter KIND warm    in threads that may not open files
 *
 * KIND: run, fact or user. With "warm" the process has its first event before. Prints how many
 * events it emitted.
 */
#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KYMO_REGISTER_LATE /* a first event is that of main() or later */
#include <kymo/kymo.h>

#include "tracetools/tracetools.h"

#define SIGNAL_STACK 8192 /* SIGSTKSZ was a constant once */
#define GUARD 4096
#define MANY 12 /* more threads than rings */

static const char *kind;
static unsigned long emitted; /* events, without facts */

static void emit(void)
{
	if (!strcmp(kind, "fact")) {
		ros_trace_rcl_node_init(&kind, &kind, "node", "/");
	} else if (!strcmp(kind, "user")) {
		KYMO_INSTANT("first", "event", ("n", 1));
		(void)__atomic_add_fetch(&emitted, 1, __ATOMIC_RELAXED);
	} else {
		ros_trace_rcl_take(&kind);
		(void)__atomic_add_fetch(&emitted, 1, __ATOMIC_RELAXED);
	}
}

static void *run(void *unused)
{
	(void)unused;
	emit();
	return NULL;
}

static void handler(int number)
{
	(void)number;
	emit();
}

static int on_small_stack(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	return pthread_attr_init(&attributes) || pthread_attr_setstacksize(&attributes, 16384) ||
	       pthread_create(&thread, &attributes, run, NULL) || pthread_join(thread, NULL);
}

static int on_signal_stack(void)
{
	const struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_size = SIGNAL_STACK };
	char *memory = mmap(NULL, GUARD + SIGNAL_STACK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory, GUARD, PROT_NONE))
		return 1;
	stack.ss_sp = memory + GUARD;
	return sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL) || raise(SIGUSR1);
}

/* No function of the thread but the events could be a cancellation point. Return: threads that did
 * not end as ever. */
static unsigned cancelled(unsigned count)
{
	const struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	unsigned bad = (unsigned)sigaction(SIGUSR1, &action, NULL);

	for (unsigned i = 0; i < count; i++) {
		pthread_t thread;
		void *result;

		if (pthread_create(&thread, NULL, run, NULL))
			return count;
		if (i % 2)
			(void)usleep((unsigned)rand() % 200);
		if (i % 3)
			(void)pthread_kill(thread, SIGUSR1);
		(void)pthread_cancel(thread);
		(void)pthread_join(thread, &result);
		bad += result != NULL;
	}
	return bad;
}

static pthread_barrier_t all;

static void *run_beside_others(void *unused)
{
	emit();
	(void)pthread_barrier_wait(
		&all); /* none of them ends before: its ring would be free again */
	return unused;
}

static int filtered(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };
	pthread_t thread[MANY];
	int bad = pthread_barrier_init(&all, NULL, MANY);

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 77;
	for (unsigned i = 0; i < MANY; i++)
		bad |= pthread_create(&thread[i], NULL, run_beside_others, NULL);
	for (unsigned i = 0; i < MANY && !bad; i++)
		bad |= pthread_join(thread[i], NULL);
	return bad;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	int bad = 2;

	kind = argc > 2 && strcmp(what, "cancel") ? argv[2] : "run";
	if (argc > 3)
		emit();
	errno = EXDEV;
	if (!strcmp(what, "cancel"))
		bad = (int)cancelled((unsigned)atoi(argv[2]));
	else if (!strcmp(what, "stack"))
		bad = on_small_stack();
	else if (!strcmp(what, "alt"))
		bad = on_signal_stack();
	else if (!strcmp(what, "filter"))
		bad = filtered();
	else if (!strcmp(what, "errno")) {
		emit();
		bad = errno != EXDEV;
	}
	if (!bad)
		emit(); /* does not wait for anything that others left */
	(void)printf("%lu\n", emitted);
	return bad == 77 ? bad : bad != 0;
}
