/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks of recorded threads, sampled by perf_event_open(2), as a CTF trace of its own:
 *
 *   a thread runs       a sample of its stack at a fixed rate of CPU time
 *   it leaves its CPU   its stack at that moment, and how long it was away
 *
 * With them are the facts that give the addresses names: which file is where in a process, and the
 * functions of the kernel. Stacks are followed by frame pointers.
 *
 *   CPU 0  its ring  ──▶ DIR/channel0_0 ─┐
 *   CPU 1  its ring  ──▶ DIR/channel0_1 ─┤ DIR/metadata, DIR/index/
 *   ...                                  ┘
 *
 * Context of all functions: allocate and block; one thread.
 */
#ifndef KYMO_KERNEL_STACKS_H
#define KYMO_KERNEL_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ctf/write/writer.h"

#define STACKS_HZ 997u /* not a multiple of what timers usually have */
#define STACKS_HZ_MAX 10000u

struct stacks;

struct stacks_stats {
	uint64_t samples; /* stacks of threads that ran */
	uint64_t waits;   /* times that they were off their CPU */
	uint64_t lost;    /* records that the kernel dropped */
	uint64_t bytes;   /* in the present directory */
	uint64_t events;  /* likewise, with the facts */
	unsigned hz;
	bool user_only; /* no frames of the kernel, and no time off the CPU */
};

/**
 * stacks_open() - begin with @hz samples per second of CPU time; no thread is followed yet
 * Return: 0 and *@stacks; -1 with @err: what is missing and which command grants it.
 */
int stacks_open(struct stacks **stacks, unsigned hz, struct kymo_err *err);

/**
 * stacks_place() - write into @dir from now on, which is created here; the present directory is
 * complete then
 * Return: 0; -1 with @err: @dir cannot be created, and everything stays as it was.
 */
int stacks_place(struct stacks *stacks, const char *dir, const struct ctf_trace_desc *desc,
		 struct kymo_err *err);

/** stacks_follow() - sample the threads of process @pid, and all threads and processes that they
 * create. It may be followed already. Return: 0; -1 with @err: some of them are not sampled. */
int stacks_follow(struct stacks *stacks, int pid, struct kymo_err *err);

/** stacks_poll() - write what has arrived. Return: milliseconds after which to call it again; -1
 * with @err: the trace cannot be written. */
int stacks_poll(struct stacks *stacks, struct kymo_err *err);

/** stacks_stats() - numbers so far. */
void stacks_stats(const struct stacks *stacks, struct stacks_stats *stats);

/** stacks_close() - write what remains; a trace without samples is removed. NULL is allowed.
 * Return: 0; -1 with @err as for stacks_poll(). */
int stacks_close(struct stacks *stacks, struct stacks_stats *stats, struct kymo_err *err);

#endif
