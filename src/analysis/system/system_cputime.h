/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time of each thread on a CPU, from the kernel's sched_switch. A slice is the time between two
 * sched_switch events on one CPU. It belongs to the thread that the second event switches off. The
 * first and the last slice of each CPU are not known, and neither are slices with a loss of events.
 *
 *   cpu 0   ---- switch A -> B ----------- switch B -> A ----
 *                            |<- slice of B ->|
 *
 * Context of all functions: not thread-safe; cputime_init() and cputime_event() allocate; none
 * blocks.
 */
#ifndef KYMO_ANALYSIS_CPUTIME_H
#define KYMO_ANALYSIS_CPUTIME_H

#include <stdint.h>

#include "analysis/pass/pass.h"
#include "analysis/system/system_cputime_thread.h"
#include "base/histogram.h"
#include "ctf/read/reader.h"

#define CPUTIME_CPUS_MAX 4096u

struct cputime_thread {
	struct os_thread os;
	struct histogram slice;
	int32_t last_cpu;
	uint64_t migrations;		/* slices on another CPU than the slice before */
};

struct cputime {
	struct os_threads threads;	/* of struct cputime_thread */
	int64_t begin_ns, end_ns;	/* time that counts, epoch */
	struct {
		int64_t since_ns;	/* the latest switch; 0: unknown */
		uint32_t stream;
	} *cpu;				/* by the trace's host and the CPU number */
	uint32_t cpus;
	int64_t busy_ns, idle_ns;	/* sum of all slices; of tid 0 */
	int64_t first_ns, last_ns;	/* times of the first and last switch; 0: none */
	uint64_t switches;
};

/**
 * cputime_init() - count slices between @begin_ns and @end_ns, cut at these times. @reader: for
 * hosts, or NULL
 */
void cputime_init(struct cputime *cputime, const struct kymo_ctf_reader *reader, int64_t begin_ns,
		  int64_t end_ns);
void cputime_free(struct cputime *cputime);

/** cputime_bind() - the rows of cputime_event(), for kymo_ctf_bind(). */
const struct kymo_ctf_bind *cputime_bind(unsigned *count);

/** cputime_event() - process an event bound by that table, or a loss. Return: 0, or -ENOMEM. */
int cputime_event(struct cputime *cputime, const struct kymo_ctf_event *event);

/** cputime_thread() - by index; NULL after the last. Threads are in no particular order. */
const struct cputime_thread *cputime_thread(const struct cputime *cputime, unsigned index);

/* For pass_add(). */
extern const struct pass_ops cputime_pass;

#endif
