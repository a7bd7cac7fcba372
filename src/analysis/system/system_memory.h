/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that programs and the kernel allocated.
 *
 * User space: the events of lttng_ust_libc (liblttng-ust-libc-wrapper.so). Each thread is charged
 * with what it allocates and credited with what it frees, whoever allocated it, so a thread
 * that frees other threads' memory goes below zero; the process has both. What was allocated
 * before the trace and is freed in it has no known size and is only counted.
 * Kernel: kmem_mm_page_alloc and _free, 4096 << order bytes each, on the thread that caused it.
 *
 * Memory of the analysis grows with the number of allocations that are alive at once.
 */
#ifndef KYMO_ANALYSIS_MEMORY_H
#define KYMO_ANALYSIS_MEMORY_H

#include <stdint.h>

#include "analysis/pass/pass.h"
#include "analysis/system/system_cputime_thread.h"
#include "base/err.h"
#include "ctf/read/reader.h"

struct memory_use {
	uint64_t allocations, frees;	/* realloc is both */
	uint64_t allocated;		/* bytes, all allocations together */
	int64_t now, most, least;	/* bytes, since the trace began */
	int64_t most_ns;		/* when it was so; 0: never above 0 */
	uint64_t unknown_frees;		/* of what was allocated before */
};

struct memory_thread {
	struct os_thread os;
	struct memory_use user, kernel;
	bool is_process;		/* tid is a pid, and all of its threads are in it */
};

struct memory {
	struct os_threads threads;	/* of struct memory_thread */
	struct os_threads processes;	/* likewise */
	struct map blocks;		/* (address, process) -> bytes + 1 */
	int64_t begin_ns, end_ns;
	int32_t *running;		/* tid by CPU, from sched_switch: for events without a tid */
	uint32_t cpus;
	uint64_t events;
};

/**
 * memory_init() - counts and peaks between @begin_ns and @end_ns; what is in use is followed from
 * the start of the trace. @reader: for hosts, or NULL
 */
void memory_init(struct memory *memory, const struct kymo_ctf_reader *reader, int64_t begin_ns,
		 int64_t end_ns);
void memory_free(struct memory *memory);

/** memory_bind() - what memory_event() wants, for kymo_ctf_bind(). */
const struct kymo_ctf_bind *memory_bind(unsigned *count);

/** memory_event() - an event bound by that table. Return: 0, or -ENOMEM. */
int memory_event(struct memory *memory, const struct kymo_ctf_event *event);

/* By index; NULL behind the last. */
const struct memory_thread *memory_thread(const struct memory *memory, unsigned index);
const struct memory_thread *memory_process(const struct memory *memory, unsigned index);

/* For pass_add(). */
extern const struct pass_ops memory_pass;

#endif
