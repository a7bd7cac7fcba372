/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring of one thread: how much the thread can emit at once before a recorder has read it.
 *
 *     static void *camera(void *unused)
 *     {
 *             const struct kymo_thread_options options = {
 *                     .size = sizeof options,
 *                     .ring_bytes = 4 << 20,  // a burst of 150 000 events
 *             };
 *
 *             if (kymo_thread_prepare(&options) < 0)
 *                     puts("no larger ring; the thread uses the usual one");
 *             KYMO_INSTANT("camera", "frame");        // events from here on
 *             return unused;
 *     }
 *
 * C++: kymo::prepare_thread() of kymo.hpp.
 *
 * Usually a thread needs none of this: its ring grows into blocks that all rings of the process
 * share. Two kinds of threads do:
 *
 * - A thread that bursts: it emits more at once than ring and shared blocks hold, about 700 KiB by
 * default. Give it a ring of its own size.
 * - A thread that floods, and whose events matter least. own_only keeps it from taking the shared
 * blocks, which the other threads then have.
 *
 * Memory: ring_bytes and 4 KiB of shared memory, which the call allocates and maps in. They stay
 * until the process ends. When the thread ends, the next thread that asks for the same size gets
 * the ring. All rings of a process together have at most $KYMO_RING_MEMORY (64 MiB).
 *
 * Real time: the call makes system calls, and writes to each page of the ring once: 0.6 to 6 ms for
 * each MiB on two busy cores of a shared virtual machine. So call it before the real-time part.
 * Events then cost as much as without it: no allocation, no lock, no system call, no page fault. A
 * larger ring is spread over more cache lines, as far as the recorder lags behind.
 */
#ifndef KYMO_THREAD_H
#define KYMO_THREAD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Set size, and zero the rest for what a thread gets anyway. */
struct kymo_thread_options {
	size_t size; /* sizeof(struct kymo_thread_options) */
	/*
	 * Bytes of the thread's own ring: at most 1 GiB, rounded up to a power of two of at least
	 * 32 KiB. 0: the usual size. A ring of up to 4 MiB also grows into shared blocks when it is
	 * full; larger ones need not. $KYMO_RING_SIZE does not change a size that you set here.
	 */
	uint64_t ring_bytes;
	int own_only; /* 1: the ring does not grow: it takes no blocks that all threads share */
};

#ifdef KYMO_COMPILE_OUT
#define kymo_thread_prepare(options) ((void)(options), 0)
#else
/**
 * kymo_thread_prepare() - like kymo_thread_ready() of kymo.h, with a ring that you choose
 * @options: copied
 *
 * Call it in the thread itself, before the thread's first event. The ring is what a full one was
 * before: when it is full, events are dropped and counted. With KYMO_FLIGHT, a larger ring keeps
 * more of the thread's latest events.
 *
 * Context: allocates, makes system calls; not in a signal handler.
 * Return: 0; -EALREADY: the thread has emitted an event, so it has a ring; -EINVAL: the size of the
 * options or of the ring; -ENOMEM: more than $KYMO_RING_MEMORY; -ENOSPC: the file system of
 * $KYMO_DIR is full, or the process has 2048 rings; -ENOTSUP: this process can't be traced; another
 * -errno: the memory could not be created. After an error the thread is as before, and its first
 * event gets a ring of the usual size.
 */
int kymo_thread_prepare(const struct kymo_thread_options *options);
#endif

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
