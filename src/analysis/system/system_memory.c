/* SPDX-License-Identifier: Apache-2.0 */
/* Allocated memory; see system_memory.h. */
#include "analysis/system/system_memory.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MAX 4096
#define PAGE_BYTES 4096
#define ORDER_MAX 20

enum {
	MALLOC,
	CALLOC,
	REALLOC,
	FREE,
	MEMALIGN,
	POSIX_MEMALIGN,
	SUM,
	PAGE_ALLOC,
	PAGE_FREE,
	SWITCH
};

static const struct kymo_ctf_bind wanted[] = {
	[MALLOC] = { "lttng_ust_libc:malloc", { "size", "ptr" } },
	[CALLOC] = { "lttng_ust_libc:calloc", { "nmemb", "size", "ptr" } },
	[REALLOC] = { "lttng_ust_libc:realloc", { "in_ptr", "size", "ptr" } },
	[FREE] = { "lttng_ust_libc:free", { "ptr" } },
	[MEMALIGN] = { "lttng_ust_libc:memalign", { "alignment", "size", "ptr" } },
	[POSIX_MEMALIGN] = { "lttng_ust_libc:posix_memalign",
			     { "out_ptr", "alignment", "size", "result" } },
	[SUM] = { "kymo_libc:sum", { "allocations", "frees", "allocated", "freed", "most" } },
	[PAGE_ALLOC] = { "kmem_mm_page_alloc", { "order" } },
	[PAGE_FREE] = { "kmem_mm_page_free", { "order" } },
	[SWITCH] = { "sched_switch", { "next_tid", "next_comm" } },
};

const struct kymo_ctf_bind *memory_bind(unsigned *count)
{
	*count = COUNT_OF(wanted);
	return wanted;
}

void memory_init(struct memory *memory, const struct kymo_ctf_reader *reader, int64_t begin_ns,
		 int64_t end_ns)
{
	*memory = (struct memory){ .begin_ns = begin_ns, .end_ns = end_ns };
	os_threads_init(&memory->threads, sizeof(struct memory_thread), reader);
	os_threads_init(&memory->processes, sizeof(struct memory_thread), reader);
}

void memory_free(struct memory *memory)
{
	os_threads_free(&memory->threads);
	os_threads_free(&memory->processes);
	map_free(&memory->blocks);
	free(memory->running);
}

static bool inside(const struct memory *memory, int64_t ns)
{
	return ns >= memory->begin_ns && ns <= memory->end_ns;
}

static void use_change(const struct memory *memory, struct memory_use *use, int64_t ns,
		       int64_t bytes)
{
	/* Sizes come from the trace: a damaged trace must not cause an overflow. */
	if (__builtin_add_overflow(use->now, bytes, &use->now))
		use->now = bytes < 0 ? INT64_MIN : INT64_MAX;
	if (!inside(memory, ns))
		return;
	if (use->now > use->most) {
		use->most = use->now;
		use->most_ns = ns;
	}
	if (use->now < use->least)
		use->least = use->now;
}

static void use_allocate(const struct memory *memory, struct memory_use *use, int64_t ns,
			 int64_t bytes)
{
	use_change(memory, use, ns, bytes);
	if (!inside(memory, ns))
		return;
	use->allocations++;
	use->allocated += (uint64_t)bytes;
}

static void use_free(const struct memory *memory, struct memory_use *use, int64_t ns, int64_t bytes)
{
	use_change(memory, use, ns, -bytes);
	use->frees += inside(memory, ns);
}

/* ---- user space ---- */

/* The thread and the process of an event. */
struct pair {
	struct memory_thread *thread, *process;
	int64_t ns;
	const struct kymo_ctf_event *event;
};

static void tell(const struct memory *memory, const struct pair *who, uint64_t address,
		 uint64_t bytes, bool is_freed)
{
	if (memory->block)
		memory->block(memory->block_context,
			      &(struct memory_block){ .ns = who->ns,
						      .address = address,
						      .bytes = bytes,
						      .trace = who->event->trace,
						      .process = who->process->os.index,
						      .pid = who->event->vpid,
						      .tid = who->event->vtid,
						      .is_freed = is_freed });
}

static void block_free(struct memory *memory, const struct pair *who, uint64_t address)
{
	uint64_t bytes;

	if (!address)
		return;
	tell(memory, who, address, 0, true);
	bytes = (uintptr_t)map_del(&memory->blocks, address, who->process->os.index);
	if (!bytes) {
		who->thread->user.unknown_frees += inside(memory, who->ns);
		who->process->user.unknown_frees += inside(memory, who->ns);
		return;
	}
	use_free(memory, &who->thread->user, who->ns, (int64_t)(bytes - 1));
	use_free(memory, &who->process->user, who->ns, (int64_t)(bytes - 1));
}

static int block_allocate(struct memory *memory, const struct pair *who, uint64_t address,
			  uint64_t bytes)
{
	if (!address || bytes > INT64_MAX / 2)
		return 0;
	/* The address is in use already: its free is not in the trace. */
	if (map_get(&memory->blocks, address, who->process->os.index))
		block_free(memory, who, address);
	tell(memory, who, address, bytes, false);
	use_allocate(memory, &who->thread->user, who->ns, (int64_t)bytes);
	use_allocate(memory, &who->process->user, who->ns, (int64_t)bytes);
	return map_put(&memory->blocks, address, who->process->os.index,
		       (void *)(uintptr_t)(bytes + 1));
}

/* Many calls in one event: their balance, and its maximum on the way. */
static void use_sum(const struct memory *memory, struct memory_use *use,
		    const struct kymo_ctf_event *event)
{
	const struct kymo_ctf_value *value = event->value;
	uint64_t allocated = value[2].u, freed = value[3].u;
	int64_t most = value[4].i;

	/* Of a damaged trace. */
	if (allocated > INT64_MAX / 2 || freed > INT64_MAX / 2 || most < 0 ||
	    (uint64_t)most > allocated)
		return;
	use_change(memory, use, event->ns, most);
	use_change(memory, use, event->ns, (int64_t)allocated - (int64_t)freed - most);
	if (!inside(memory, event->ns))
		return;
	use->allocations += value[0].u;
	use->frees += value[1].u;
	use->allocated += allocated;
}

static uint64_t product(uint64_t a, uint64_t b)
{
	uint64_t result;

	return __builtin_mul_overflow(a, b, &result) ? UINT64_MAX : result;
}

static int on_user(struct memory *memory, const struct kymo_ctf_event *event)
{
	const struct kymo_ctf_value *value = event->value;
	struct pair who = {
		.thread = os_thread(&memory->threads, event->trace, event->vtid),
		.process = os_thread(&memory->processes, event->trace, event->vpid),
		.ns = event->ns,
		.event = event,
	};

	if (!who.thread || !who.process)
		return -ENOMEM;
	os_thread_name(who.thread, event->procname, SIZE_MAX, event->vpid);
	if (event->vtid == event->vpid || !*who.process->os.name)
		os_thread_name(who.process, event->procname, SIZE_MAX, event->vpid);
	who.process->is_process = true;
	switch (event->bound) {
	case MALLOC:
		return block_allocate(memory, &who, value[1].u, value[0].u);
	case CALLOC:
		return block_allocate(memory, &who, value[2].u, product(value[0].u, value[1].u));
	case REALLOC:
		/* If realloc fails, the old block stays; size 0 frees the block. */
		if (value[2].u || !value[1].u)
			block_free(memory, &who, value[0].u);
		return block_allocate(memory, &who, value[2].u, value[1].u);
	case MEMALIGN:
		return block_allocate(memory, &who, value[2].u, value[1].u);
	case POSIX_MEMALIGN:
		return value[3].u ? 0 : block_allocate(memory, &who, value[0].u, value[2].u);
	case SUM:
		use_sum(memory, &who.thread->user, event);
		use_sum(memory, &who.process->user, event);
		break;
	case FREE:
		block_free(memory, &who, value[0].u);
		break;
	}
	return 0;
}

/* ---- kernel ---- */

static int on_switch(struct memory *memory, const struct kymo_ctf_event *event)
{
	int32_t *running;
	void *thread;

	if (event->cpu < 0 || event->cpu >= CPUS_MAX || !event->value[0].present)
		return 0;
	running = ARRAY_AT(memory->running, memory->cpus, (uint32_t)event->cpu);
	if (!running)
		return -ENOMEM;
	*running = (int32_t)event->value[0].i;
	thread = os_thread_find(&memory->threads, event->trace, *running);
	if (thread)
		os_thread_name(thread, event->value[1].bytes, event->value[1].size, 0);
	return 0;
}

static int on_pages(struct memory *memory, const struct kymo_ctf_event *event)
{
	const struct kymo_ctf_value *value = event->value;
	struct memory_thread *thread;
	int32_t tid = event->vtid;
	int64_t bytes;

	if (!value[0].present || value[0].u > ORDER_MAX)
		return 0;
	/* Without the context field tid, use the thread that ran on this CPU. */
	if (!tid && event->cpu >= 0 && (uint32_t)event->cpu < memory->cpus)
		tid = memory->running[event->cpu];
	thread = os_thread(&memory->threads, event->trace, tid);
	if (!thread)
		return -ENOMEM;
	os_thread_name(thread, event->procname, SIZE_MAX, event->vpid);
	bytes = (int64_t)PAGE_BYTES << value[0].u;
	if (event->bound == PAGE_ALLOC)
		use_allocate(memory, &thread->kernel, event->ns, bytes);
	else
		use_free(memory, &thread->kernel, event->ns, bytes);
	return 0;
}

int memory_event(struct memory *memory, const struct kymo_ctf_event *event)
{
	if (event->bound == SWITCH)
		return on_switch(memory, event);
	if (event->bound < 0 || event->bound > SWITCH)
		return 0;
	memory->events++;
	return event->bound >= PAGE_ALLOC ? on_pages(memory, event) : on_user(memory, event);
}

const struct memory_thread *memory_thread(const struct memory *memory, unsigned index)
{
	return index < memory->threads.count ? memory->threads.record[index] : NULL;
}

const struct memory_thread *memory_process(const struct memory *memory, unsigned index)
{
	return index < memory->processes.count ? memory->processes.record[index] : NULL;
}

/* ---- in a pass ---- */

static int memory_pass_bind(void *analysis, struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	unsigned count;
	const struct kymo_ctf_bind *rows = memory_bind(&count);

	(void)analysis;
	return os_bind(reader, rows, count, err);
}

static void memory_pass_destroy(void *analysis)
{
	memory_free(analysis);
}

PASS_EVENT(memory)
const struct pass_ops memory_pass = {
	.turn = PASS_BEFORE_SPANS,
	.bind = memory_pass_bind,
	.event = memory_pass_event,
	.destroy = memory_pass_destroy,
};
