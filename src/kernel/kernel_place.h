/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the kernel's events go: a directory, a store, memory (kernel_place.c); the metadata there
 * (kernel_trace.c); and the recording itself, which kernel.c drives.
 *
 * Context of all functions: the thread of kernel.h. Those that begin with unseen_, but for
 * unseen_create(), neither allocate nor make system calls; the others allocate and block.
 */
#ifndef KYMO_KERNEL_PLACE_H
#define KYMO_KERNEL_PLACE_H

#include <stdio.h>

#include "kernel/kernel.h"
#include "kernel/kernel_select.h"
#include "kernel/kernel_stream.h"

struct unseen;

struct kernel {
	char *dir;			/* NULL: events are kept, or stored */
	const struct ctf_store *store;
	int dir_fd;
	uint8_t uuid[16];
	struct kformat *format;		/* by event */
	struct ksource *source;
	struct select *select;  /* NULL: everything is recorded */
	struct unseen *unseen;  /* NULL: switches are not recorded */
	struct kkept *kept;     /* by CPU; NULL: events are written */
	struct kstream *stream; /* by CPU; not open for a CPU that is switched off */
	int *process; /* [processes] that are followed, to look for their threads again after a
		       * loss */
	unsigned processes, process_room;
	bool left_out[KEVENT_ID_COUNT]; /* read for the selection, and not recorded */
	unsigned calls_of;              /* so many of them are followed for system calls, too */
	uint64_t lost, looked_ns;       /* when their threads were last looked for after a loss */
	uint64_t seen, seen_before;	/* events in all, and in earlier directories */
	uint64_t unseen_before, calls_before; /* switches and calls, in earlier directories */
	bool full;
	uint64_t flushed_ns, told_ns;
	const char *counter;		/* NULL: none */
	int no_cycles;			/* errno; 0: cycles are recorded, or not wanted */
	int rc;				/* the first error */
};

/** unseen_create() - nothing is missing yet. Return: to be freed with free(); NULL without
 * memory. */
struct unseen *unseen_create(unsigned cpus, const struct kformat *format);

/** unseen_pass() - records of @cpu follow; up to them, the source counted @lost. */
void unseen_pass(struct unseen *unseen, unsigned cpu, uint64_t lost);

/** unseen_record() - is a switch or the event of a system call missing before @record of @event?
 * Counts it, and reports a switch to @select; NULL: all are recorded, and calls are not looked at,
 * because records then come CPU by CPU. */
void unseen_record(struct unseen *unseen, struct select *select, unsigned cpu, unsigned event,
		   const struct krecord *record);

/** unseen_switches() - how many switches are missing at least, of those that would have been
 * recorded. @unseen may be NULL. */
uint64_t unseen_switches(const struct unseen *unseen);

/** unseen_calls() - how many events of system calls are missing at least, of the threads that are
 * recorded. @unseen may be NULL. */
uint64_t unseen_calls(const struct unseen *unseen);

/** place_open() - create the place that @options name: a directory, a store, memory. Return: 0; -1
 * with @err. */
int place_open(struct kernel *kernel, const struct kernel_options *options, struct kymo_err *err);

/** place_remove() - remove a trace without events. */
void place_remove(const struct kernel *kernel);

/** stats_begin() - the facts of a recording, without its counts. */
struct kernel_stats stats_begin(const struct kernel *kernel);

/** kernel_follow_calls() - record the system calls of all processes that kernel_follow() named. */
void kernel_follow_calls(struct kernel *kernel);

/** kernel_follow_all_calls() - record the system calls of all threads. */
void kernel_follow_all_calls(struct kernel *kernel);

/** kernel_follow_again() - a lost event may have been the birth of a thread: look for threads
 * again, once a second. */
void kernel_follow_again(struct kernel *kernel, uint64_t now_ns);

/** kernel_read() - bring what happened up to @until_ns into the streams. */
void kernel_read(struct kernel *kernel, uint64_t until_ns);

/* Prints the metadata of a trace; @of: what is in it. */
typedef void trace_put(FILE *out, const struct ctf_trace_desc *desc, const uint8_t uuid[16],
		       unsigned stream, const void *of);

/** trace_put_kernel() - that of the kernel's events. @formats: struct kformat, by event. */
trace_put trace_put_kernel;

/**
 * trace_create() - a directory with the metadata
 * @put, @of: prints it
 * @uuid: of the trace, set here
 * @dir_fd: of the directory, set here; also after a failure, if the directory was created
 *
 * Return: 0; -1 with @err.
 */
int trace_create(const char *dir, const struct ctf_trace_desc *desc, trace_put *put, const void *of,
		 uint8_t uuid[16], int *dir_fd, struct kymo_err *err);

/** trace_store() - the metadata into @store. Return: 0; -1 with @err. */
int trace_store(const struct ctf_store *store, const struct ctf_trace_desc *desc,
		const struct kformat *format, uint8_t uuid[16], struct kymo_err *err);

/** trace_remove() - remove what trace_create() and stream_open() created. */
void trace_remove(const char *dir, int dir_fd, const struct kstream *stream, unsigned count);

#endif
