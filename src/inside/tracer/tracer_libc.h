/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded into a program of another libc than the GNU C library, as musl, kymo's libraries stay
 * inert. A shell that was started with the preload may start such a program, which would end with
 * 127 if its libc lacks a single symbol. So what musl does not have is asked for weakly.
 *
 * Context: kymo_libc_is_known() is wait-free; kymo_at_fork() allocates and takes a lock of libc.
 */
#ifndef KYMO_TRACER_LIBC_H
#define KYMO_TRACER_LIBC_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * libkymo.a belongs to the program that it is linked into; there, nothing would link a weak symbol.
 */
#ifdef KYMO_IS_SHARED
extern const char *gnu_get_libc_version(void) __attribute__((weak));

static inline bool kymo_libc_is_known(void)
{
	return gnu_get_libc_version != NULL;
}

/* Of glibc, whose pthread_atfork() is in no shared library and calls this. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
			     void *dso) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static inline void kymo_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	if (__register_atfork)
		(void)__register_atfork(prepare, parent, child, &__dso_handle);
}
#else
static inline bool kymo_libc_is_known(void)
{
	return true;
}

static inline void kymo_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
	(void)pthread_atfork(prepare, parent, child);
}
#endif

#endif
