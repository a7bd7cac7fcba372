/* SPDX-License-Identifier: Apache-2.0 */
/* The strips of CPUs: page_cpus.c fills them, page_cpus_put.c puts them into the page. */
#ifndef KYMO_REPORT_PAGE_CPUS_INTERNAL_H
#define KYMO_REPORT_PAGE_CPUS_INTERNAL_H

#include "report/page/page_cpus.h"

#define CPUS_COLUMNS 320u
#define CPUS_MAX 256u
#define CPUS_MOST 3u      /* threads of a column that are named */

struct cpus_thread {
	uint32_t number; /* in the page's list */
	uint32_t host;
	int32_t tid;
	bool is_own; /* of a traced program */
	int64_t wait_ns, waited_ns; /* begin and end of its latest wait; equal: none */
	char name[SCHED_COMM_SIZE];
};

struct cpus_column {
	int64_t own_ns, other_ns, waited_ns;
	struct {
		uint32_t thread; /* from 1; 0: none */
		int64_t ns;
	} most[CPUS_MOST]; /* the longest first */
};

struct cpus_cpu {
	uint32_t host;
	int32_t number;
	struct page_queue queue;
	struct cpus_column column[CPUS_COLUMNS];
};

struct page_cpus {
	struct page *page;
	const struct sched *sched;
	int64_t begin_ns, end_ns, width_ns;
	struct map threads; /* (tid, host) -> struct cpus_thread */
	struct cpus_thread **thread;
	unsigned thread_count, thread_size;
	struct map cpus; /* (number, host) -> struct cpus_cpu */
	struct map sums; /* (thread, CPU and column) -> int64_t */
	struct histogram wait;
	unsigned waits, waits_most; /* in all queues; count when so many */
	struct page_slices *slices;
	unsigned windows;
	bool failed;
};

/* The trace is over, and so are all waits. */
void page_cpus_end(struct page_cpus *cpus);

#endif
