/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strips of CPUs in a page: which threads had each CPU in each column of time, how many threads
 * of traced programs waited for it, and how long threads of traced programs waited for a CPU. From
 * the kernel's events of the scheduler, which why_cpu.h reads.
 *
 * Waits of other threads do not count: a recording of the traced programs alone has the switches to
 * and from their threads, and when another thread stopped waiting is often not in it.
 *
 * A spell counts in each column that it overlaps, with the time that it has there. A wait consists
 * of spells, one for each thread that had the CPU meanwhile: it counts when no more spell continues
 * it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/page/page_cpus_internal.h"

#define WAITS 65536u /* of all CPUs, before they are counted */

/* ---- while the trace is read ---- */

static struct cpus_thread *thread_of(struct page_cpus *cpus, uint32_t host, int32_t tid)
{
	struct cpus_thread *thread = map_at(&cpus->threads, (uint32_t)tid, host, sizeof(*thread));

	if (!thread || thread->number)
		return thread;
	if (!ARRAY_ADD(cpus->thread, cpus->thread_count, cpus->thread_size, thread))
		return NULL;
	thread->number = cpus->thread_count;
	thread->host = host;
	thread->tid = tid;
	return thread;
}

static struct cpus_cpu *cpu_of(struct page_cpus *cpus, const struct sched_spell *spell)
{
	struct cpus_cpu *cpu = map_get(&cpus->cpus, (uint32_t)spell->cpu, spell->host);

	if (cpu || cpus->cpus.count >= CPUS_MAX)
		return cpu;
	cpu = map_at(&cpus->cpus, (uint32_t)spell->cpu, spell->host, sizeof(*cpu));
	if (!cpu) {
		cpus->failed = true;
		return NULL;
	}
	cpu->host = spell->host;
	cpu->number = spell->cpu;
	return cpu;
}

/* The longest of a column: a thread moves up as its sum grows. */
static void rank(struct cpus_column *column, uint32_t thread, int64_t ns)
{
	unsigned at = 0;

	while (at < CPUS_MOST - 1 && column->most[at].thread != thread)
		at++;
	if (column->most[at].thread != thread && ns <= column->most[at].ns)
		return;
	for (; at > 0 && column->most[at - 1].ns < ns; at--)
		column->most[at] = column->most[at - 1];
	column->most[at].thread = thread;
	column->most[at].ns = ns;
}

static void add_run(struct page_cpus *cpus, struct cpus_cpu *cpu, unsigned at,
		    const struct cpus_thread *thread, int64_t ns)
{
	struct cpus_column *column = &cpu->column[at];
	const uint64_t scope =
		((uint64_t)cpu->host << 40) + (uint64_t)cpu->number * CPUS_COLUMNS + at;
	int64_t *sum = map_at(&cpus->sums, thread->number, scope, sizeof(*sum));

	if (!sum) {
		cpus->failed = true;
		return;
	}
	*sum += ns;
	*(thread->is_own ? &column->own_ns : &column->other_ns) += ns;
	rank(column, thread->number, *sum);
}

static void spread(struct page_cpus *cpus, struct cpus_cpu *cpu, const struct sched_spell *spell,
		   const struct cpus_thread *thread)
{
	int64_t from_ns = spell->from_ns > cpus->begin_ns ? spell->from_ns : cpus->begin_ns;
	const int64_t to_ns = spell->to_ns < cpus->end_ns ? spell->to_ns : cpus->end_ns;

	while (from_ns < to_ns) {
		const unsigned at = (unsigned)((from_ns - cpus->begin_ns) / cpus->width_ns);
		const int64_t next_ns = cpus->begin_ns + (at + 1) * cpus->width_ns;
		const int64_t ns = (next_ns < to_ns ? next_ns : to_ns) - from_ns;

		if (spell->state == SCHED_ON_CPU)
			add_run(cpus, cpu, at, thread, ns);
		else if (thread->is_own)
			cpu->column[at].waited_ns += ns;
		from_ns += ns;
	}
}

/* ---- waits ---- */

static bool is_inside(const struct page_cpus *cpus, int64_t ns)
{
	return ns >= cpus->begin_ns && ns <= cpus->end_ns;
}

static void end_wait(struct page_cpus *cpus, struct cpus_thread *thread)
{
	if (thread->waited_ns > thread->wait_ns && is_inside(cpus, thread->wait_ns))
		cpus->failed |= histogram_add(&cpus->wait,
					      (uint64_t)(thread->waited_ns - thread->wait_ns)) != 0;
	thread->wait_ns = thread->waited_ns = 0;
}

static void count_queues_until(struct page_cpus *cpus, int64_t until_ns)
{
	const struct map_slot *slot;
	size_t at = 0;

	cpus->waits = 0;
	while ((slot = map_next(&cpus->cpus, &at))) {
		struct cpus_cpu *cpu = slot->value;

		cpus->failed |= !page_queue_count(&cpu->queue, until_ns);
		cpus->waits += cpu->queue.waits;
	}
	cpus->waits_most = 2 * cpus->waits > WAITS ? 2 * cpus->waits : WAITS;
}

/* Count what no wait in progress can change any more. */
static void count_queues(struct page_cpus *cpus, int64_t now_ns)
{
	int64_t until_ns = now_ns;

	for (unsigned i = 0; i < cpus->thread_count; i++) {
		const struct cpus_thread *thread = cpus->thread[i];
		const int64_t ns =
			thread->is_own ? sched_waits_since(cpus->sched, thread->host, thread->tid)
				       : INT64_MAX;

		if (ns < until_ns)
			until_ns = ns;
	}
	count_queues_until(cpus, until_ns);
}

static void add_wait(struct page_cpus *cpus, struct cpus_cpu *cpu, const struct sched_spell *spell,
		     struct cpus_thread *thread)
{
	const int64_t from_ns = spell->from_ns > cpus->begin_ns ? spell->from_ns : cpus->begin_ns;
	const int64_t to_ns = spell->to_ns < cpus->end_ns ? spell->to_ns : cpus->end_ns;

	if (thread->waited_ns != spell->from_ns) {
		end_wait(cpus, thread);
		thread->wait_ns = spell->from_ns;
	}
	thread->waited_ns = spell->to_ns;
	if (!cpu || from_ns >= to_ns)
		return;
	cpus->failed |= !page_queue_add(&cpu->queue, from_ns, to_ns);
	cpus->waits++;
}

/* ---- spells ---- */

static void add_slice(struct page_cpus *cpus, const struct sched_spell *spell,
		      const struct cpus_thread *thread)
{
	const struct page_slice slice = { .host = spell->host,
					  .cpu = spell->cpu,
					  .thread = thread->number - 1,
					  .from_ns = spell->from_ns,
					  .to_ns = spell->to_ns };

	for (unsigned i = 0; i < cpus->windows; i++)
		cpus->failed |= !page_slices_add(&cpus->slices[i], &slice);
}

static void on_spell(void *context, const struct sched_spell *spell)
{
	struct page_cpus *cpus = context;
	struct cpus_thread *thread;
	struct cpus_cpu *cpu;

	if (!spell->tid || spell->cpu < 0 || spell->state == SCHED_BLOCKED)
		return;
	/* Here, where no wait is under way that sched.h has settled but not reported. */
	if (cpus->waits >= cpus->waits_most && spell->state == SCHED_ON_CPU)
		count_queues(cpus, spell->from_ns);
	thread = thread_of(cpus, spell->host, spell->tid);
	if (!thread) {
		cpus->failed = true;
		return;
	}
	if (*spell->name)
		snprintf(thread->name, sizeof(thread->name), "%s", spell->name);
	cpu = cpu_of(cpus, spell);
	if (spell->state != SCHED_ON_CPU && thread->is_own)
		add_wait(cpus, cpu, spell, thread);
	else if (spell->state == SCHED_ON_CPU && cpu)
		add_slice(cpus, spell, thread);
	if (cpu)
		spread(cpus, cpu, spell, thread);
}

static int know_own(struct page_cpus *cpus)
{
	const struct model *model = cpus->page->report->model;

	for (unsigned i = 0; i < model_count(model, MODEL_THREAD); i++) {
		const struct model_thread *thread = model_thread(model, i);
		struct cpus_thread *own;
		uint32_t host;

		if (!sched_host(cpus->sched, thread->process->hostname, &host))
			continue;
		own = thread_of(cpus, host, (int32_t)thread->tid);
		if (!own)
			return -1;
		own->is_own = true;
		snprintf(own->name, sizeof(own->name), "%s", thread->name);
	}
	return 0;
}

void page_cpus_end(struct page_cpus *cpus)
{
	for (unsigned i = 0; i < cpus->thread_count; i++)
		end_wait(cpus, cpus->thread[i]);
	count_queues_until(cpus, INT64_MAX);
}

/* ---- life cycle ---- */

struct page_slices *page_cpus_slices(struct page_cpus *cpus, unsigned window)
{
	return &cpus->slices[window];
}

void page_cpus_destroy(struct page_cpus *cpus)
{
	const struct map_slot *slot;
	size_t at = 0;

	if (!cpus)
		return;
	while ((slot = map_next(&cpus->cpus, &at)))
		page_queue_free(&((struct cpus_cpu *)slot->value)->queue);
	for (unsigned i = 0; i < cpus->windows; i++)
		free(cpus->slices[i].slice);
	free(cpus->slices);
	map_free_all(&cpus->threads);
	map_free_all(&cpus->cpus);
	map_free_all(&cpus->sums);
	free(cpus->thread);
	histogram_free(&cpus->wait);
	free(cpus);
}

int page_cpus_create(struct page_cpus **out, struct page *page, struct why_cpu *why,
		     const struct why_window *window, unsigned windows)
{
	const struct summary *summary = page->summary;
	struct page_cpus *cpus = calloc(1, sizeof(*cpus));

	if (!cpus)
		return err_no_memory(page->report->err);
	*cpus = (struct page_cpus){
		.page = page,
		.sched = why_cpu_sched(why),
		.begin_ns = summary->begin_ns,
		.end_ns = summary->end_ns,
		.width_ns = (summary->end_ns - summary->begin_ns) / CPUS_COLUMNS + 1,
		.waits_most = WAITS,
		.windows = windows,
		.slices = calloc(windows + 1, sizeof(*cpus->slices)),
	};
	if (!cpus->slices || know_own(cpus)) {
		cpus->windows = cpus->slices ? windows : 0;
		page_cpus_destroy(cpus);
		return err_no_memory(page->report->err);
	}
	for (unsigned i = 0; i < windows; i++)
		cpus->slices[i].window = window[i];
	why_cpu_also(why, on_spell, cpus);
	*out = cpus;
	return 0;
}
