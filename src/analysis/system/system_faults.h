/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page faults, by thread: from the kernel's x86_exceptions_page_fault_user, when a program touched a page that is not mapped,
 * to minor-faults or major-faults, when the kernel had brought it (without, or with, reading a disk).
 *
 *   thread  |-- runs --|- enters the kernel -|-- is handled ----------|- returns -|-- runs --|
 *                                            page_fault_user          minor-faults
 *
 * LTTng has the first event only, and other machines than x86 the second one only: then how long a fault took is not known.
 * Faults that the kernel itself has on behalf of a program, in a system call, have no first event, either.
 *
 * Entering and returning are not between the two events, nor what recording the second one costs. Programs that touch page after
 * page do little else between two faults; so faults_around_ns(), the first quartile of the short times from the end of a fault to the
 * next one of the same thread, is an estimate of it.
 *
 * Whose they are: the first event tells in kymo's traces, and in LTTng's with the context tid; else it is who is on its CPU by the
 * scheduler's events (analysis/sched), or who had a first event there before.
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
	int64_t start_ns, end_ns;	/* the same: not known how long */
	bool is_handled;		/* is_major is known */
	bool is_major;			/* read from a disk */
};

struct faults {
	void (*take)(void *context, const struct fault *fault);
	void *context;
	struct map latest;		/* (CPU, host) -> tid of the latest first event */
	struct map threads;		/* (tid, host) -> what it is in, or was */
	struct histogram around;	/* ns between two faults */
	bool failed;			/* no memory: some are missing */
};

/** faults_init() - @take is called for each fault when it is over, or when it is clear that its end is not in the trace. */
void faults_init(struct faults *faults, void (*take)(void *context, const struct fault *fault), void *context);
void faults_free(struct faults *faults);

/** faults_bind() - what to give to kymo_ctf_bind(). */
const struct kymo_ctf_bind *faults_bind(unsigned *count);

/**
 * faults_event() - the next event
 * @first: number of the first row of faults_bind() in what is bound
 * @on_cpu: who is on the CPU of the event; 0 or less: not known
 *
 * Return: 0, or -1: no memory.
 */
int faults_event(struct faults *faults, const struct kymo_ctf_event *event, unsigned first, uint32_t host, int32_t on_cpu);

/** faults_whose() - the thread of a first event, if it tells; else 0. */
int32_t faults_whose(const struct kymo_ctf_event *event, unsigned first);

/* The same, without a trace. @tid: 0 or less: not known. */
void faults_entry(struct faults *faults, uint32_t host, int32_t cpu, int32_t tid, int64_t ns, uint64_t address);
void faults_handled(struct faults *faults, uint32_t host, int32_t cpu, int32_t tid, int64_t ns, uint64_t address,
		    bool is_major);

/** faults_finish() - the trace is read: the rest goes to take(). */
void faults_finish(struct faults *faults);

/** faults_around_ns() - roughly the time that a fault takes besides what its events show; 0: not known. */
int64_t faults_around_ns(const struct faults *faults);

#endif
