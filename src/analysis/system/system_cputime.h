/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long each thread was on a CPU, from the kernel's sched_switch. A slice is the time between
 * two sched_switch on one CPU and belongs to the thread that the second one takes off. The first
 * slice of each CPU, the last one and those with a loss of events in between are not known.
 *
 *   cpu 0   ---- switch A -> B ----------- switch B -> A ----
 *                            |<- slice of B ->|
 */
#ifndef KYMO_ANALYSIS_CPUTIME_H
#define KYMO_ANALYSIS_CPUTIME_H

#include <stdint.h>

#include "analysis/pass/pass.h"
#include "analysis/system/system_cputime_thread.h"
#include "base/err.h"
#include "base/histogram.h"
#include "ctf/read/reader.h"

#define CPUTIME_CPUS_MAX 4096u

struct cputime_thread {
	struct os_thread os;
	struct histogram slice;
	int32_t last_cpu;
	uint64_t migrations;		/* slices on another CPU than the one before */
};

struct cputime {
	struct os_threads threads;	/* of struct cputime_thread */
	int64_t begin_ns, end_ns;	/* of what is counted, epoch */
	struct {
		int64_t since_ns;	/* the latest switch; 0: not known */
		uint32_t stream;
	} *cpu;				/* by trace's host and number */
	uint32_t cpus;
	int64_t busy_ns, idle_ns;	/* all slices; of tid 0 */
	int64_t first_ns, last_ns;	/* of the switches; 0: none */
	uint64_t switches;
};

/** cputime_init() - slices between @begin_ns and @end_ns count, cut there. @reader: for hosts, or NULL */
void cputime_init(struct cputime *cputime, const struct kymo_ctf_reader *reader, int64_t begin_ns,
		  int64_t end_ns);
void cputime_free(struct cputime *cputime);

/** cputime_bind() - what cputime_event() wants, for kymo_ctf_bind(). */
const struct kymo_ctf_bind *cputime_bind(unsigned *count);

/** cputime_event() - an event bound by that table, or a loss. Return: 0, or -ENOMEM. */
int cputime_event(struct cputime *cputime, const struct kymo_ctf_event *event);

/** cputime_thread() - by index; NULL behind the last. Slices are in no order. */
const struct cputime_thread *cputime_thread(const struct cputime *cputime, unsigned index);

/* For pass_add(). */
extern const struct pass_ops cputime_pass;

#endif
