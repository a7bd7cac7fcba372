/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See attach_stop.h. A thread that waits in a system call leaves the call when it is stopped. When
 * all registers are as they were, the kernel makes the call again, with the rest of its time. Some
 * calls are never made again by the kernel, and return EINTR, as epoll_wait() does; attach_code_*.c
 * lets them be made again, unless a signal has arrived meanwhile.
 */
#include "attach/attach_stop.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "attach/attach_maps.h"
#include "base/now.h"

#ifndef PTRACE_GETSIGMASK
#define PTRACE_GETSIGMASK 0x420a
#define PTRACE_SETSIGMASK 0x420b
#endif
#ifndef NT_ARM_SVE
#define NT_ARM_SVE 0x405
#endif

#define STOP_NS 5000000000 /* a busy machine: until the thread gets a CPU */
#define CALL_NS 1000000000
#define RUN_NS 60000000000
#define SETXID_SIGNAL 33 /* of glibc: setuid() in another thread waits for its handler */

/* What we were before the thread was stopped. */
static struct {
	sigset_t mask;
	int policy;
	struct sched_param priority;
} before_us;

/* Nothing must end us now, and, as far as we may, nobody else's work must make the pause longer. */
static void hold_signals(void)
{
	const struct sched_param first = { .sched_priority = 1 };
	sigset_t all;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, &before_us.mask);
	before_us.policy = sched_getscheduler(0);
	(void)sched_getparam(0, &before_us.priority);
	(void)sched_setscheduler(0, SCHED_FIFO, &first);
}

static void let_signals(void)
{
	(void)sched_setscheduler(0, before_us.policy, &before_us.priority);
	(void)sigprocmask(SIG_SETMASK, &before_us.mask, NULL);
}

/* Sanitizers reserve terabytes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

void stop_prepare(void)
{
	if (!SANITIZED)
		(void)mlockall(MCL_CURRENT);
}

void stop_finish(void)
{
	(void)munlockall();
}

/* Return: 0: it stopped, see @status; -ESRCH: it ended; -EAGAIN: it did not stop in time. */
static int wait_stopped(unsigned tid, int64_t limit, int *status)
{
	static const struct timespec slice = { 0, 1000000 };
	const int64_t until = now_ns() + limit;
	sigset_t child;
	pid_t got;

	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD); /* comes with each stop, and is blocked */
	do {
		got = waitpid((pid_t)tid, status, __WALL | WNOHANG);
		if (got == (pid_t)tid)
			return WIFSTOPPED(*status) ? 0 : -ESRCH;
		if (got < 0 && errno != EINTR)
			return -ESRCH;
		(void)sigtimedwait(&child, NULL, &slice);
	} while (now_ns() < until);
	return -EAGAIN;
}

static bool get_general(unsigned tid, struct registers *registers)
{
	struct iovec to = { &registers->general, sizeof registers->general };

	return !ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &to);
}

static bool set_general(unsigned tid, struct registers *registers)
{
	struct iovec from = { &registers->general, sizeof registers->general };

	return !ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &from);
}

#if defined(__x86_64__)
static const int vector_sets[] = { NT_X86_XSTATE, NT_PRFPREG };
#else
static const int vector_sets[] = { NT_ARM_SVE, NT_PRFPREG };
#endif

/* @set: which of vector_sets the machine has. */
static bool vectors(unsigned tid, struct registers *registers, bool get)
{
	static unsigned set;

	for (; set < 2; set++) {
		struct iovec io = { registers->vectors,
				    get ? sizeof registers->vectors : registers->vectors_size };

		if (!ptrace(get ? PTRACE_GETREGSET : PTRACE_SETREGSET, tid,
			    (void *)(long)vector_sets[set], &io)) {
			registers->vectors_size = get ? io.iov_len : registers->vectors_size;
			return true;
		}
		if (!get)
			return false;
	}
	set = 0;
	return false;
}

/*
 * A thread that is stopped needs a CPU some ten times until it goes on. On a busy machine it would
 * wait for each, so an ordinary thread has a real-time priority meanwhile, if we may give it one.
 * What it creates does not inherit it.
 */
static void hurry(struct stopped *stopped)
{
	const struct sched_param first = { .sched_priority = 1 };

	stopped->hurried =
		sched_getscheduler((pid_t)stopped->tid) == SCHED_OTHER &&
		!sched_setscheduler((pid_t)stopped->tid, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
}

static void no_hurry(const struct stopped *stopped)
{
	const struct sched_param usual = { 0 };

	if (stopped->hurried)
		(void)sched_setscheduler((pid_t)stopped->tid, SCHED_OTHER, &usual);
}

int stop_thread(struct stopped *stopped, unsigned pid, unsigned tid)
{
	int status, error = 0;

	stopped->pid = pid;
	stopped->tid = tid;
	stopped->whole = false;
	hold_signals();
	if (ptrace(PTRACE_SEIZE, tid, 0, 0)) {
		error = -errno;
		let_signals();
		return error;
	}
	hurry(stopped);
	stopped->since = now_ns();
	if (!ptrace(PTRACE_INTERRUPT, tid, 0, 0))
		error = wait_stopped(tid, STOP_NS, &status);
	else
		error = -errno;
	if (!error && (!get_general(tid, &stopped->before) ||
		       !memory_read(pid, registers_pc(&stopped->before) - 4, stopped->code, 8)))
		error = -errno;
	if (error) {
		no_hurry(stopped);
		(void)ptrace(PTRACE_DETACH, tid, 0, 0);
		let_signals();
	}
	return error;
}

int stop_save(struct stopped *stopped)
{
	uint64_t all = ~(1ull << (SETXID_SIGNAL - 1));

	if (!vectors(stopped->tid, &stopped->before, true) ||
	    ptrace(PTRACE_GETSIGMASK, stopped->tid, (void *)8L, &stopped->before.mask) ||
	    ptrace(PTRACE_SETSIGMASK, stopped->tid, (void *)8L, &all))
		return -errno;
	stopped->whole = true;
	return 0;
}

/* A signal for the thread or its process that is not blocked. */
static bool has_signal(const struct stopped *stopped)
{
	uint64_t own = 0, shared = 0, blocked = 0;
	char path[64], line[512];
	FILE *file;

	(void)snprintf(path, sizeof path, "/proc/%u/task/%u/status", stopped->pid, stopped->tid);
	file = fopen(path, "re");
	if (!file)
		return true;
	while (fgets(line, sizeof line, file)) {
		(void)sscanf(line, "SigPnd: %lx", &own);
		(void)sscanf(line, "ShdPnd: %lx", &shared);
		(void)sscanf(line, "SigBlk: %lx", &blocked);
	}
	(void)fclose(file);
	return ((own | shared) & ~blocked) != 0;
}

/* Calls that wait, and that the kernel ends with EINTR when their thread is stopped: signal(7). */
static bool is_never_restarted(long call)
{
	switch (call) {
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_rt_sigtimedwait:
	case SYS_io_getevents:
	case SYS_read:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_accept:
	case SYS_accept4:
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
#endif
		return true;
	default:
		return false;
	}
}

int64_t release_thread(struct stopped *stopped)
{
	bool ok = true;
	int64_t stopped_for;

	if (stopped->whole) {
		ok &= vectors(stopped->tid, &stopped->before, false);
		ok &= !ptrace(PTRACE_SETSIGMASK, stopped->tid, (void *)8L, &stopped->before.mask);
	}
	if (is_never_restarted(registers_call(&stopped->before, stopped->code)) &&
	    !has_signal(stopped))
		registers_interrupted(&stopped->before);
	(void)(set_general(stopped->tid, &stopped->before) && ok);
	no_hurry(stopped);
	(void)ptrace(PTRACE_DETACH, stopped->tid, 0, 0);
	stopped_for = now_ns() - stopped->since;
	let_signals();
	return stopped_for;
}

/* Is it a stop because of ptrace or of a stopped process, not of a signal of the program? */
static bool is_event(int status)
{
	return status >> 16 != 0;
}

int64_t stop_call(struct stopped *stopped, uint64_t at, long number, const uint64_t argument[6])
{
	int status, error;

	stopped->now = stopped->before;
	registers_set_call(&stopped->now, at, number, argument);
	if (!set_general(stopped->tid, &stopped->now))
		return -errno;
	do {
		if (ptrace(PTRACE_SINGLESTEP, stopped->tid, 0, 0))
			return -errno;
		error = wait_stopped(stopped->tid, CALL_NS, &status);
		if (error)
			return error;
	} while (is_event(status));
	if (WSTOPSIG(status) != SIGTRAP || !get_general(stopped->tid, &stopped->now))
		return -EFAULT;
	return registers_result(&stopped->now);
}

int stop_run(struct stopped *stopped, uint64_t code, uint64_t stack, uint64_t block)
{
	const int64_t until = now_ns() + RUN_NS;
	int status, signal = 0, error;

	stopped->now = stopped->before;
	registers_set_code(&stopped->now, code, stack, block);
	if (!set_general(stopped->tid, &stopped->now))
		return -errno;
	while (now_ns() < until) {
		if (ptrace(PTRACE_CONT, stopped->tid, 0, (void *)(long)signal))
			return -errno;
		error = wait_stopped(stopped->tid, RUN_NS, &status);
		if (error)
			return error;
		signal = 0;
		if (is_event(status))
			continue;
		if (WSTOPSIG(status) == SIGTRAP)
			return 0;
		if (WSTOPSIG(status) != SETXID_SIGNAL)
			return -EFAULT;
		signal = SETXID_SIGNAL;
	}
	return -EAGAIN;
}
