/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory allocated by programs and by the kernel.
 *
 * User space: the events of lttng_ust_libc (liblttng-ust-libc-wrapper.so). Each thread is charged
 * for its allocations and credited for its frees, regardless of the thread that allocated the
 * memory. So the balance of a thread that frees other threads' memory is negative; the balance of
 * the process includes both threads. Frees of memory from before the trace have no known size and
 * are only counted. Kernel: kmem_mm_page_alloc and _free, 4096 << order bytes each, charged to the
 * thread that caused them.
 *
 * The memory of the analysis grows with the number of allocations that are live at the same time.
 *
 * Context of all functions: not thread-safe; memory_init() and memory_event() allocate; none
 * blocks.
 */
#ifndef KYMO_ANALYSIS_MEMORY_H
#define KYMO_ANALYSIS_MEMORY_H

#include <stdint.h>

#include "analysis/pass/pass.h"
#include "analysis/system/system_cputime_thread.h"
#include "ctf/read/reader.h"

struct memory_use {
	uint64_t allocations, frees;	/* realloc counts as both */
	uint64_t allocated;		/* total allocated bytes */
	/* Balance in bytes, since the start of the trace: now, maximum, minimum. */
	int64_t now, most, least;
	int64_t most_ns;		/* time of the maximum; 0: never above 0 */
	uint64_t unknown_frees;		/* frees of memory from before the trace */
};

struct memory_thread {
	struct os_thread os;
	struct memory_use user, kernel;
	bool is_process;		/* tid is a pid, and the values are of all its threads */
};

/* A block of memory that is allocated or freed. */
struct memory_block {
	int64_t ns;
	uint64_t address, bytes; /* freed: bytes is 0 */
	uint32_t trace, process; /* process: a number of its own for each */
	int32_t pid, tid;
	bool is_freed;
};

struct memory {
	/* May be set after memory_init(): called for each block. Blocks from before the trace are
	 * freed, too. */
	void (*block)(void *context, const struct memory_block *block);
	void *block_context;
	struct os_threads threads;	/* of struct memory_thread */
	struct os_threads processes;	/* likewise */
	struct map blocks;		/* (address, process) -> bytes + 1 */
	int64_t begin_ns, end_ns;
	int32_t *running; /* tid by CPU, from sched_switch: for events without a tid */
	uint32_t cpus;
	uint64_t events;
};

/**
 * memory_init() - counts and peaks between @begin_ns and @end_ns; the balance is followed from the
 * start of the trace. @reader: for hosts, or NULL
 */
void memory_init(struct memory *memory, const struct kymo_ctf_reader *reader, int64_t begin_ns,
		 int64_t end_ns);
void memory_free(struct memory *memory);

/** memory_bind() - the rows of memory_event(), for kymo_ctf_bind(). */
const struct kymo_ctf_bind *memory_bind(unsigned *count);

/** memory_event() - process an event that was bound by that table. Return: 0, or -ENOMEM. */
int memory_event(struct memory *memory, const struct kymo_ctf_event *event);

/* By index; NULL after the last. */
const struct memory_thread *memory_thread(const struct memory *memory, unsigned index);
const struct memory_thread *memory_process(const struct memory *memory, unsigned index);

/* For pass_add(). */
extern const struct pass_ops memory_pass;

#endif
