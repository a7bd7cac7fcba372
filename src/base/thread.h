/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a library: the program's own threads handle its signals. */
#ifndef KYMO_BASE_THREAD_H
#define KYMO_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/** thread_start() - a thread with all signals blocked. Return: 0, or an errno. Context: allocates.
 */
static inline int thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
	sigset_t all, before;
	int error;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before); /* the new thread inherits it */
	error = pthread_create(thread, NULL, run, context);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

#endif
