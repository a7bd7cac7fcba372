/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page faults, by thread: from the kernel's x86_exceptions_page_fault_user, when a program touched
 * a page that is not mapped, to minor-faults or major-faults, when the kernel had mapped the page
 * (without or with reading from a disk).
 *
 *   thread  |-- runs --|- enters the kernel -|-- is handled ----------|- returns -|-- runs --|
 *                                            page_fault_user          minor-faults
 *
 * LTTng records the first event only, and machines other than x86 have the second one only: then
 * the duration of the fault is unknown. Faults of the kernel itself on behalf of a program, in a
 * system call, also have no first event.
 *
 * The time between the two events does not include the entry into the kernel, the return, and the
 * recording of the second event. faults_around_ns() estimates this time. A program that touches
 * page after page does little else between two faults. So the estimate is the first quartile of the
 * short times from the end of a fault to the next fault of the same thread.
 *
 * The thread of a fault: the first event names it in kymo's traces, and in LTTng's with the context
 * tid. Otherwise it is the thread on the event's CPU, according to the scheduler's events
 * (analysis/sched) or to the latest first event on that CPU.
 *
 * Context of all functions: not thread-safe; allocate.
 */
#ifndef KYMO_ANALYSIS_FAULTS_H
#define KYMO_ANALYSIS_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"
#include "base/map.h"
#include "ctf/read/reader.h"

struct fault {
	uint32_t host;
	int32_t tid;
	uint64_t address;
	int64_t start_ns, end_ns;	/* equal: duration unknown */
	bool is_handled;		/* the end is in the trace, so is_major is known */
	bool is_major;			/* read from a disk */
};

struct faults {
	void (*take)(void *context, const struct fault *fault);
	void *context;
	struct map latest;		/* (CPU, host) -> tid of the latest first event */
	/* (tid, host) -> the fault that the thread is in, or its latest one */
	struct map threads;
	struct histogram around;	/* ns between two faults */
	bool failed;			/* out of memory: some faults are missing */
};

/**
 * faults_init() - call @take for each fault when it is over, or when its end is known to be missing
 * in the trace.
 */
void faults_init(struct faults *faults, void (*take)(void *context, const struct fault *fault),
		 void *context);
void faults_free(struct faults *faults);

/** faults_bind() - the rows for kymo_ctf_bind(). */
const struct kymo_ctf_bind *faults_bind(unsigned *count);

/**
 * faults_event() - process one event
 * @first: number of the first row of faults_bind() among the bound rows
 * @on_cpu: the thread on the event's CPU; 0 or less: unknown
 *
 * Return: 0, or -1: out of memory.
 */
int faults_event(struct faults *faults, const struct kymo_ctf_event *event, unsigned first,
		 uint32_t host, int32_t on_cpu);

/** faults_whose() - the thread of a first event, if the event names it; else 0. */
int32_t faults_whose(const struct kymo_ctf_event *event, unsigned first);

/* The same without a trace event. @tid: 0 or less: unknown. */
void faults_entry(struct faults *faults, uint32_t host, int32_t cpu, int32_t tid, int64_t ns,
		  uint64_t address);
void faults_handled(struct faults *faults, uint32_t host, int32_t cpu, int32_t tid, int64_t ns,
		    uint64_t address, bool is_major);

/** faults_finish() - the whole trace was read: report the faults that are still open. */
void faults_finish(struct faults *faults);

/**
 * faults_around_ns() - rough duration of a fault outside of the time between its events; 0:
 * unknown.
 */
int64_t faults_around_ns(const struct faults *faults);

#endif
