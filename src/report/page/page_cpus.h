/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPUs of a page, with the kernel's events: page_cpus.c draws on what its two helpers collect.
 *
 * Context of all functions: not thread-safe; allocate.
 */
#ifndef KYMO_REPORT_PAGE_CPUS_H
#define KYMO_REPORT_PAGE_CPUS_H

#include <stdint.h>

#include "analysis/why/why.h"
#include "analysis/why/why_cpu.h"
#include "report/page/page_internal.h"

/*
 * page_queue.c: for how long no thread waited for a CPU, one, two ... Waits are given when they
 * end. What lies before the begin of the oldest wait that has not ended is final: it is counted,
 * and its waits are forgotten.
 */
struct page_wait {
	int64_t from_ns, to_ns;
};

struct page_queue {
	struct page_wait *wait; /* not counted yet */
	unsigned waits, size;
	int64_t *ns; /* for so long, so many threads waited; [0] is not counted */
	uint32_t levels;
};

/* Return: false: no memory. */
bool page_queue_add(struct page_queue *queue, int64_t from_ns, int64_t to_ns);
/* Count what lies before @until_ns. Return: false: no memory. */
bool page_queue_count(struct page_queue *queue, int64_t until_ns);
void page_queue_free(struct page_queue *queue);

/* page_slices.c: which threads had the CPUs around an instance; if there are too many, the longest.
 */
struct page_slice {
	uint32_t host, thread; /* @thread: number in the page's list of threads, from 0 */
	int32_t cpu;
	int64_t from_ns, to_ns;
};

struct page_slices {
	struct why_window window;
	struct page_slice *slice;
	unsigned count, size;
	int64_t least_ns; /* shorter ones are left out */
};

bool page_slices_add(struct page_slices *slices, const struct page_slice *slice);
/* "cpus" of an instance */
void page_put_slices(struct page *page, struct page_slices *slices);

/* page_cpus.c */
struct page_cpus;

/**
 * page_cpus_create() - listen to @why, which reads the trace; keep who had the CPUs in each @window
 *
 * Return: 0, or -1 with report->err.
 */
int page_cpus_create(struct page_cpus **cpus, struct page *page, struct why_cpu *why,
		     const struct why_window *window, unsigned windows);
/* Of window number @window. */
struct page_slices *page_cpus_slices(struct page_cpus *cpus, unsigned window);
/* "cpus": each CPU over time */
void page_put_cpus(struct page_cpus *cpus);
void page_cpus_destroy(struct page_cpus *cpus);

#endif
