/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a library: the program's own threads handle its signals. */
#ifndef KYMO_BASE_THREAD_H
#define KYMO_BASE_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#define THREAD_STACK	((size_t)512 << 10)	/* a program may lock all of its memory */

/** thread_start() - a thread with all signals blocked, and a stack of THREAD_STACK bytes. Return:
 * 0, or an errno. Context: allocates. */
static inline int thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int error;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, THREAD_STACK);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before); /* the new thread inherits it */
	error = pthread_create(thread, &attr, run, context);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attr);
	return error;
}

/** thread_cpus() - how many CPUs this process may use; 1 if that is not known. */
static inline unsigned thread_cpus(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : (unsigned)CPU_COUNT(&cpus);
}

#endif
