/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stopping one thread of another process by ptrace, and letting it go as it was. Private to
 * src/attach.
 *
 * Context of all functions: block. From stop_thread() to release_thread() they belong to one
 * thread, as ptrace requires.
 */
#ifndef KYMO_ATTACH_STOP_H
#define KYMO_ATTACH_STOP_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/attach_code.h"

struct stopped {
	unsigned pid, tid;
	int64_t since;           /* CLOCK_MONOTONIC when it was asked to stop */
	bool hurried;            /* it has a real-time priority until it is released */
	bool whole;              /* `before` has the vector registers and the mask, too */
	uint8_t code[12];        /* from pc - 4 on */
	struct registers before; /* as it was */
	struct registers now;    /* for calls */
};

/** stop_prepare() - have all memory of ours ready, so that no page is read from a disk while a
 * thread is stopped; stop_finish(): no longer. Context: blocks; without rights for that much memory
 * nothing happens. */
void stop_prepare(void);
void stop_finish(void);

/**
 * stop_thread() - stop thread @tid of process @pid
 *
 * Return: 0: it is stopped, and its general registers are known; -errno: it is not (ESRCH: it
 * ended; EPERM; EAGAIN: it did not stop within 5 s, because it waits for a device; it stops being
 * traced when we end). Context: blocks. Until release_thread(), signals of ours are blocked: nobody
 * may end us halfway.
 */
int stop_thread(struct stopped *stopped, unsigned pid, unsigned tid);

/** stop_save() - also keep the vector registers and the signal mask, and block all signals. Return:
 * 0 or -errno. */
int stop_save(struct stopped *stopped);

/** stop_call() - let the thread make the system call @number at the instruction @at. Return: its
 * result; -errno also if the thread is gone. */
int64_t stop_call(struct stopped *stopped, uint64_t at, long number, const uint64_t argument[6]);

/** stop_run() - let the thread run the code until it stops itself. Return: 0; -EFAULT: it failed at
 * an address; -errno. */
int stop_run(struct stopped *stopped, uint64_t code, uint64_t stack, uint64_t block);

/** release_thread() - put everything back and let the thread go. Return: ns for which it was
 * stopped. */
int64_t release_thread(struct stopped *stopped);

#endif
