/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's own events, without kernel modules: tracepoints through an instance of tracefs or, where that is not
 * permitted, perf_event_open(2), as a CTF trace of its own with the names and fields of LTTng's kernel tracer.
 *
 *   CPU 0  its ring  ──▶ DIR/channel0_0 ─┐
 *   CPU 1  its ring  ──▶ DIR/channel0_1 ─┤ DIR/metadata, DIR/index/
 *   ...                                  ┘
 *
 * Of threads that are followed, and of what had their CPU instead, see select.c; or all of them.
 *
 * Times are CLOCK_MONOTONIC, as those of all other events here. What did not fit into a ring the kernel counts; it is in
 * events_discarded of the packets, as everywhere.
 *
 * Context of all functions: allocate and block; one thread.
 */
#ifndef KYMO_KERNEL_KERNEL_H
#define KYMO_KERNEL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "ctf/write/writer.h"

struct kernel;

struct kernel_options {
	const char *dir;		/* of the trace, made here; its parent must be there. NULL: kept for kernel_snapshot(), or ... */
	const struct ctf_store *store;	/* ... it goes there, and outlives it */
	const struct ctf_trace_desc *desc;
	uint64_t window_ns, memory;	/* without dir: how much of the past is kept, in at most so many bytes */
	bool all;			/* of all threads, not only those that are followed */
	bool syscalls;			/* system calls, too, of these threads only */
	bool cycles;			/* CPU cycles that threads have had whenever they leave a CPU; where there are none: CPU time */
	const char *source;		/* "tracefs" or "perf_event_open"; NULL: the first that can be */
	size_t ring_size;		/* bytes per CPU, rounded up to a power of two; 0: 4 MiB, or what is allowed */
};

struct kernel_stats {
	uint64_t events, lost, bytes;
	uint64_t left_out;		/* on purpose: of other threads */
	unsigned cpus;
	const char *source;		/* where they came from */
	bool all;			/* of all threads */
	bool syscalls;			/* with system calls */
	const char *counter;		/* "cpu-cycles", "cpu-clock"; NULL: none */
	bool full;			/* some because a ring was full; the others the kernel did not deliver */
};

/**
 * kernel_open() - begin to record on all CPUs
 *
 * Return: 0 and *@kernel; -1 with @err, which says what is missing and what grants it. Then nothing was made.
 */
int kernel_open(struct kernel **kernel, const struct kernel_options *options, struct kymo_err *err);

/**
 * kernel_probe() - whether kernel_open() could be, as this user; nothing is left behind
 * Return: where the events would come from; NULL with @err: what is missing, and what grants it.
 */
const char *kernel_probe(struct kymo_err *err);

/** kernel_no_cycles() - why, as errno, this machine's CPU cycles are not recorded, but CPU time; 0: they are, or nobody asked. */
int kernel_no_cycles(const struct kernel *kernel);

/** kernel_has_syscalls() - are system calls recorded, too? Not if this kernel does not have them. */
bool kernel_has_syscalls(const struct kernel *kernel);

/**
 * kernel_follow() - the threads of process @pid, and those that they make, are wanted
 * @pid: of the host
 *
 * What happened since the last kernel_poll() is taken, too. Without effect with options.all.
 */
void kernel_follow(struct kernel *kernel, int pid);

/**
 * kernel_starts() - this thread is about to start a process that will be followed: its system calls are there from its begin
 *
 * The kernel leaves out calls of threads that it has not been told of, but it tells itself of those that such a thread makes.
 */
void kernel_starts(struct kernel *kernel);

/**
 * kernel_turn() - what came until now ends the present directory; the trace goes on in @dir, which is made here
 * @desc: as in the options
 * @left: what is in the present one in the end
 *
 * Each event is in one of both. What was held back may be older than the turn, and is in the second one. Only with options.dir.
 * Return: 0; -1 with @err: @dir cannot be made, and the present one stays. What cannot be written is said by kernel_poll().
 */
int kernel_turn(struct kernel *kernel, const char *dir, const struct ctf_trace_desc *desc, struct kernel_stats *left,
		struct kymo_err *err);

/** kernel_place() - @stats of the present directory alone; what is on its way to it is counted. */
void kernel_place(const struct kernel *kernel, struct kernel_stats *stats);

/**
 * kernel_poll() - write what came
 * Return: milliseconds after which it wants to be called again; -1 with @err: the trace cannot be written, or the rest of
 * it is missing.
 */
int kernel_poll(struct kernel *kernel, struct kymo_err *err);

/* A trace of what is kept. */
struct kernel_snapshot {
	const char *dir;		/* made here; its parent must be there */
	const struct ctf_trace_desc *desc;
	uint64_t begin_ns, end_ns;	/* CLOCK_MONOTONIC; up to a tenth of a second more */
};

/**
 * kernel_snapshot() - write what is kept, with options.dir NULL
 * @stats: of the snapshot; left_out is not known of it
 * Return: 0; -1 with @err.
 */
int kernel_snapshot(struct kernel *kernel, const struct kernel_snapshot *snapshot, struct kernel_stats *stats, struct kymo_err *err);

/**
 * kernel_told() - with options.store: nothing before it will come any more, CLOCK_MONOTONIC ns
 *
 * What was held back until it was wanted has a later time then than it happened at: who ran on a CPU before a thread that is wanted
 * came to wait for it.
 */
uint64_t kernel_told(const struct kernel *kernel);

/** kernel_shortest() - to what the memory has shortened the window at worst, in ns; 0: never. */
uint64_t kernel_shortest(const struct kernel *kernel);

/**
 * kernel_close() - the rest, and the indexes; a trace without events is removed. NULL is allowed
 * @stats: of all
 * @left: of the present directory
 * Return: 0; -1 with @err as for kernel_poll().
 */
int kernel_close(struct kernel *kernel, struct kernel_stats *stats, struct kernel_stats *left, struct kymo_err *err);

#endif
