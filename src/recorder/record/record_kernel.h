/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's events beside a session's: kernel/ in its (first) trace directory, or in each of its chunks; without a directory a
 * trace of their own at its relay. What goes wrong is said, and recording goes on.
 */
#ifndef KYMO_RECORDER_RECORD_KERNEL_H
#define KYMO_RECORDER_RECORD_KERNEL_H

#include "kernel/kernel.h"
#include "recorder/flight/flight.h"
#include "recorder/session/session.h"
#include "recorder/drain/sink.h"

struct record_kernel {
	struct kernel *kernel;		/* NULL: it cannot be, was not asked for, or has ended */
	struct session *session;
	const struct session_options *options;
	struct sink *sink;		/* whose place it is in, or whose store; NULL: it is kept */
	struct sink_beside beside;	/* for it */
	struct kernel_stats left;	/* of the place that it left last */
	struct kernel_stats stats;	/* of all, when it has ended */
	unsigned followed;		/* processes of the session that have been looked at */
	uint64_t window_ns;		/* of the flight recorder; 0: all is written */
	bool all;			/* of all threads */
	bool syscalls, cycles;		/* system calls, CPU cycles, too */
	bool tried;			/* to begin */
	bool told_short;
	bool told;			/* of one whose threads have no number here */
};

/**
 * record_kernel_begin() - @session and @options must live on
 * @all: of all threads
 * @syscalls: system calls, too; @cycles: CPU cycles, too
 * @flight: they are kept, in a quarter as much memory besides; NULL: they are written
 */
void record_kernel_begin(struct record_kernel *record, struct session *session, const struct session_options *options,
			 bool all, bool syscalls, bool cycles, const struct flight_options *flight);

/** record_kernel_snapshot() - into the snapshot that was just written. */
void record_kernel_snapshot(struct record_kernel *record, const struct flight_report *report);

/** record_kernel_starts() - a command will be started, by this thread. */
void record_kernel_starts(struct record_kernel *record);

/** record_kernel_command() - the threads of @pid, and of what it starts, are wanted, too. */
void record_kernel_command(struct record_kernel *record, int pid);

/** record_kernel_poll() - Return: @wait_ms, or less: when to come back. */
int record_kernel_poll(struct record_kernel *record, int wait_ms);

/** record_kernel_end() - @stats: zero without events of the kernel. Before session_end(); with @flight, after it. @record must live on until then. */
void record_kernel_end(struct record_kernel *record, struct kernel_stats *stats);

#endif
