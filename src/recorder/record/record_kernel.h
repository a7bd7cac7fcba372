/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the kernel's events together with a session: into kernel/ of its (first) trace directory,
 * or of each chunk; without a directory, as a trace of their own at its relay. Errors after the
 * beginning are reported, and the session continues.
 */
#ifndef KYMO_RECORDER_RECORD_KERNEL_H
#define KYMO_RECORDER_RECORD_KERNEL_H

#include "kernel/kernel.h"
#include "recorder/record/record.h"
#include "recorder/flight/flight.h"
#include "recorder/session/session.h"
#include "recorder/drain/sink.h"

struct record_kernel {
	struct kernel *kernel;		/* NULL: not possible, not requested, or ended */
	struct session *session;
	const struct session_options *options;
	struct sink *sink;		/* in whose directory or store it is; NULL: it is kept */
	struct sink_beside beside;	/* for it */
	struct kernel_stats left;	/* of the directory that it left last */
	struct kernel_stats stats;	/* of all, when it has ended */
	unsigned followed;		/* processes of the session that were checked */
	uint64_t window_ns;		/* of the flight recorder; 0: everything is written */
	struct kymo_err refused; /* why it did not begin; status 0: it did, or it is optional */
	bool optional;           /* without it, the session continues */
	const struct opt_list *events;  /* only these; NULL: the usual ones */
	size_t ring_size;               /* 0: the usual one */
	bool all;			/* of all threads */
	bool syscalls, cycles;		/* also system calls, CPU cycles */
	bool tried;			/* to begin */
	bool told_short;
	bool told;			/* that threads of a process have no number here */
};

/**
 * record_kernel_check() - whether what these options request is available; nothing is left behind
 * Return: 0; -1 with @err: it is not, and is not optional. Context: blocks.
 */
int record_kernel_check(const struct record_options *options, struct kymo_err *err);

/**
 * record_kernel_begin() - @session and @options must live on
 *
 * With options->flight, the events are kept, in additional memory, a quarter of that of the flight
 * recorder. Return: 0; -1 with @err: as record_kernel_check().
 */
int record_kernel_begin(struct record_kernel *record, struct session *session,
			const struct record_options *options, struct kymo_err *err);

/** record_kernel_snapshot() - write the kernel's events into the snapshot that was just written. */
void record_kernel_snapshot(struct record_kernel *record, const struct flight_report *report);

/** record_kernel_starts() - this thread will start a command. */
void record_kernel_starts(struct record_kernel *record);

/** record_kernel_command() - also record the threads of @pid, and of processes that it starts. */
void record_kernel_command(struct record_kernel *record, int pid);

/** record_kernel_poll() - Return: @wait_ms, or less: when to come back. */
int record_kernel_poll(struct record_kernel *record, int wait_ms);

/** record_kernel_end() - @stats: zero without events of the kernel. Before session_end(); with
 * @flight, after it. @record must live on until then. */
void record_kernel_end(struct record_kernel *record, struct kernel_stats *stats);

#endif
