/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a slow path needs before it makes system calls or takes a lock: nothing may end it halfway.
 *
 * A thread that is cancelled, or that a signal handler leaves by a long jump, would leave a lock
 * behind, and half of a change. So the thread is not cancelled meanwhile, and no signal handler
 * runs on it. Signals that a fault raises stay open: the kernel would end the process if they were
 * blocked. Afterwards the program has its own settings again, and its errno.
 *
 * Context: async-signal-safe; two system calls each.
 */
#ifndef KYMO_TRACER_CALM_H
#define KYMO_TRACER_CALM_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>

/* What the program has set. */
struct kymo_calm {
	sigset_t mask;
	int cancel, error;
};

static inline void kymo_calm_begin(struct kymo_calm *calm)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT };
	sigset_t block;

	calm->error = errno;
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &calm->cancel);
	(void)sigfillset(&block);
	for (unsigned i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		(void)sigdelset(&block, faults[i]);
	(void)pthread_sigmask(SIG_BLOCK, &block, &calm->mask);
}

static inline void kymo_calm_end(const struct kymo_calm *calm)
{
	(void)pthread_sigmask(SIG_SETMASK, &calm->mask, NULL);
	(void)pthread_setcancelstate(calm->cancel, NULL);
	errno = calm->error;
}

#endif
