/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's own events, without kernel modules: tracepoints through an instance of tracefs or,
 * where that is not permitted, perf_event_open(2), as a CTF trace of its own with the names and
 * fields of LTTng's kernel tracer.
 *
 *   CPU 0  its ring  ──▶ DIR/channel0_0 ─┐
 *   CPU 1  its ring  ──▶ DIR/channel0_1 ─┤ DIR/metadata, DIR/index/
 *   ...                                  ┘
 *
 * Recorded are events of the threads that are followed, and of whatever had their CPU instead
 * (kernel_select.c); or of all threads.
 *
 * Times are CLOCK_MONOTONIC, as in all other events. The kernel counts events that did not fit into
 * a ring; the packets report them as events_discarded.
 *
 * Context of all functions: allocate and block; one thread.
 */
#ifndef KYMO_KERNEL_KERNEL_H
#define KYMO_KERNEL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/opt.h"
#include "ctf/write/writer.h"

struct kernel;

struct kernel_options {
	const char *dir; /* of the trace, created here; its parent must exist. NULL: kept for
			    kernel_snapshot(), or ... */
	const struct ctf_store *store; /* ... written there; the store outlives the kernel */
	const struct ctf_trace_desc *desc;
	uint64_t window_ns,
		memory; /* without dir: how much of the past is kept, in at most so many bytes */
	bool all;       /* record all threads, not only those that are followed */
	bool syscalls;  /* also system calls, of followed threads only */
	bool cycles;    /* also the CPU cycles of a thread whenever it leaves a CPU; CPU time if the
			   machine has no counter */
	const struct opt_list *events; /* only events whose name one of these globs matches; NULL or
					  empty: the usual ones, without disks and network */
	const char *source; /* "tracefs" or "perf_event_open"; NULL: the first that works */
	size_t ring_size;   /* bytes per CPU, rounded up to a power of two; 0: 4 MiB, or what is
			       allowed */
};

struct kernel_stats {
	uint64_t events, lost, bytes;
	uint64_t left_out;		/* not selected: of other threads */
	unsigned cpus;
	const char *source;  /* "tracefs", "perf_event_open" */
	bool all;            /* of all threads */
	bool syscalls;       /* with system calls */
	const char *counter; /* "cpu-cycles", "cpu-clock"; NULL: none */
	bool full; /* some were lost because a ring was full; others the kernel did not deliver */
	/* Switches, and events of system calls, that the kernel did not report, at least; not in
	 * lost. */
	uint64_t unseen, unseen_calls;
};

/**
 * kernel_open() - begin to record on all CPUs
 *
 * Return: 0 and *@kernel; -1 with @err: what is missing and which command grants it. Then nothing
 * was created.
 */
int kernel_open(struct kernel **kernel, const struct kernel_options *options, struct kymo_err *err);

/**
 * kernel_probe() - would kernel_open() succeed for this user? Nothing is left behind
 * @options: all, syscalls and source of these; NULL: as if zero
 * Return: where the events would come from; NULL with @err: what is missing, and which command
 * grants it.
 */
const char *kernel_probe(const struct kernel_options *options, struct kymo_err *err);

/**
 * kernel_events_check() - does each of @globs match an event that kymo knows?
 * Return: 0; -1 with @err (KYMO_EXIT_USAGE), which lists the names.
 */
int kernel_events_check(const struct opt_list *globs, struct kymo_err *err);

/** kernel_no_cycles() - why CPU time is recorded instead of CPU cycles, as errno; 0: cycles are
 * recorded, or were not requested. */
int kernel_no_cycles(const struct kernel *kernel);

/** kernel_has_syscalls() - are system calls recorded? Return: false also if this kernel has no
 * events for them. */
bool kernel_has_syscalls(const struct kernel *kernel);

/**
 * kernel_follow() - record the threads of process @pid, and those that they create
 * @pid: of the host
 *
 * Includes their events since the last kernel_poll(); their system calls from the next one on.
 * Without effect with options.all.
 */
void kernel_follow(struct kernel *kernel, int pid);

/**
 * kernel_starts() - this thread is about to start a process that will be followed: record its
 * system calls from the beginning
 *
 * The kernel leaves out calls of threads that are not in its list, but it adds the threads that a
 * listed thread creates.
 */
void kernel_starts(struct kernel *kernel);

/**
 * kernel_turn() - complete the present directory with the events up to now; the trace continues in
 * @dir, which is created here
 * @desc: as in the options
 * @left: totals of the completed directory
 *
 * Each event is in exactly one of the two. An event that was held back may be older than the turn,
 * and is in the new one. Only with options.dir.
 * Return: 0; -1 with @err: @dir cannot be created, and the present one stays. kernel_poll() reports
 * what cannot be written.
 */
int kernel_turn(struct kernel *kernel, const char *dir, const struct ctf_trace_desc *desc,
		struct kernel_stats *left, struct kymo_err *err);

/** kernel_place() - @stats of the present directory alone, including events that are not written
 * yet. */
void kernel_place(const struct kernel *kernel, struct kernel_stats *stats);

/**
 * kernel_poll() - write the events that have arrived
 * Return: milliseconds after which to call it again; -1 with @err: the trace cannot be written, or
 * is incomplete from now on.
 */
int kernel_poll(struct kernel *kernel, struct kymo_err *err);

/* A trace of the kept events. */
struct kernel_snapshot {
	const char *dir;		/* created here; its parent must exist */
	const struct ctf_trace_desc *desc;
	uint64_t begin_ns, end_ns;	/* CLOCK_MONOTONIC; up to a tenth of a second more */
};

/**
 * kernel_snapshot() - write the kept events, with options.dir NULL
 * @stats: of the snapshot; left_out is not known
 * Return: 0; -1 with @err.
 */
int kernel_snapshot(struct kernel *kernel, const struct kernel_snapshot *snapshot,
		    struct kernel_stats *stats, struct kymo_err *err);

/**
 * kernel_told() - with options.store: a time before which no event will come any more,
 * CLOCK_MONOTONIC ns
 *
 * An event that was held back until it was needed (which thread ran on a CPU when a followed thread
 * began to wait there) gets a later time than that at which it happened.
 */
uint64_t kernel_told(const struct kernel *kernel);

/** kernel_shortest() - the shortest window that the memory limit left, in ns; 0: the limit was
 * never reached. */
uint64_t kernel_shortest(const struct kernel *kernel);

/**
 * kernel_close() - write the remaining events and the indexes; a trace without events is removed.
 * NULL is allowed
 * @stats: of all
 * @left: of the present directory
 * Return: 0; -1 with @err as for kernel_poll().
 */
int kernel_close(struct kernel *kernel, struct kernel_stats *stats, struct kernel_stats *left,
		 struct kymo_err *err);

#endif
