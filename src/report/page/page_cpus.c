/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strips of CPUs in a page: which threads had each CPU in each column of time, how many threads
 * of traced programs waited for it, and how long threads of traced programs waited for a CPU. From the kernel's events
 * of the scheduler, which are others than those of the model: the trace is read again.
 *
 * Waits of other threads do not count: a recording of the traced programs alone has the switches to
 * and from their threads, and when another thread stopped waiting is often not in it.
 *
 * A spell counts in each column that it overlaps, with the time that it has there.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/sched/sched.h"
#include "base/array.h"
#include "report/page/page_internal.h"
#include "summary/summary_file.h"

#define COLUMNS 320u
#define CPUS_MAX 256u
#define MOST 3u /* threads of a column that are named */

struct thread {
	uint32_t number; /* in the page's list */
	uint32_t host;
	int32_t tid;
	bool is_own; /* of a traced program */
	char name[SCHED_COMM_SIZE];
};

struct column {
	int64_t own_ns, other_ns, waited_ns;
	struct {
		uint32_t thread; /* from 1; 0: none */
		int64_t ns;
	} most[MOST]; /* the longest first */
};

struct cpu {
	uint32_t host;
	int32_t number;
	struct column column[COLUMNS];
};

struct page_cpus {
	struct page *page;
	struct sched *sched;
	int64_t begin_ns, end_ns, width_ns;
	struct map threads; /* (tid, host) -> struct thread */
	struct thread **thread;
	unsigned thread_count, thread_size;
	struct map cpus; /* (number, host) -> struct cpu */
	struct map sums; /* (thread, CPU and column) -> int64_t */
	struct histogram wait;
	bool failed;
};

/* ---- while the trace is read ---- */

static struct thread *thread_of(struct page_cpus *cpus, uint32_t host, int32_t tid)
{
	struct thread *thread = map_at(&cpus->threads, (uint32_t)tid, host, sizeof(*thread));

	if (!thread || thread->number)
		return thread;
	if (!ARRAY_ROOM(cpus->thread, cpus->thread_count, cpus->thread_size))
		return NULL;
	cpus->thread[cpus->thread_count++] = thread;
	thread->number = cpus->thread_count;
	thread->host = host;
	thread->tid = tid;
	return thread;
}

static struct cpu *cpu_of(struct page_cpus *cpus, const struct sched_spell *spell)
{
	struct cpu *cpu = map_get(&cpus->cpus, (uint32_t)spell->cpu, spell->host);

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
static void rank(struct column *column, uint32_t thread, int64_t ns)
{
	unsigned at = 0;

	while (at < MOST - 1 && column->most[at].thread != thread)
		at++;
	if (column->most[at].thread != thread && ns <= column->most[at].ns)
		return;
	for (; at > 0 && column->most[at - 1].ns < ns; at--)
		column->most[at] = column->most[at - 1];
	column->most[at].thread = thread;
	column->most[at].ns = ns;
}

static void add_run(struct page_cpus *cpus, struct cpu *cpu, unsigned at, const struct thread *thread,
		    int64_t ns)
{
	struct column *column = &cpu->column[at];
	const uint64_t scope = ((uint64_t)cpu->host << 40) + (uint64_t)cpu->number * COLUMNS + at;
	int64_t *sum = map_at(&cpus->sums, thread->number, scope, sizeof(*sum));

	if (!sum) {
		cpus->failed = true;
		return;
	}
	*sum += ns;
	*(thread->is_own ? &column->own_ns : &column->other_ns) += ns;
	rank(column, thread->number, *sum);
}

static void spread(struct page_cpus *cpus, struct cpu *cpu, const struct sched_spell *spell,
		   const struct thread *thread)
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

static void on_spell(void *context, const struct sched_spell *spell)
{
	struct page_cpus *cpus = context;
	struct thread *thread;
	struct cpu *cpu;

	if (!spell->tid || spell->cpu < 0 || spell->state == SCHED_BLOCKED)
		return;
	thread = thread_of(cpus, spell->host, spell->tid);
	if (!thread) {
		cpus->failed = true;
		return;
	}
	if (*spell->name)
		snprintf(thread->name, sizeof(thread->name), "%s", spell->name);
	if (spell->state != SCHED_ON_CPU && thread->is_own && spell->from_ns >= cpus->begin_ns &&
	    spell->from_ns <= cpus->end_ns)
		cpus->failed |= histogram_add(&cpus->wait,
					      (uint64_t)(spell->to_ns - spell->from_ns)) != 0;
	cpu = cpu_of(cpus, spell);
	if (cpu)
		spread(cpus, cpu, spell, thread);
}

static const struct sched_listener listener = { .spell = on_spell };

/* ---- as a pass ---- */

static int page_cpus_bind(void *analysis, struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	unsigned count;
	const struct kymo_ctf_bind *bind = sched_bind(&count);

	(void)analysis;
	return kymo_ctf_bind(reader, bind, count, err);
}

static int page_cpus_event(struct page_cpus *cpus, const struct kymo_ctf_event *event)
{
	return sched_event(cpus->sched, event, 0) || cpus->failed ? -1 : 0;
}
PASS_EVENT(page_cpus)

static const struct pass_ops page_cpus_pass = { .turn = PASS_BEFORE_SPANS,
						.bind = page_cpus_bind,
						.event = page_cpus_pass_event };

static int know_own(struct page_cpus *cpus)
{
	const struct model *model = cpus->page->report->model;

	for (unsigned i = 0; i < model_count(model, MODEL_THREAD); i++) {
		const struct model_thread *thread = model_thread(model, i);
		struct thread *own;
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

/* ---- as data ---- */

/* Each: [name, tid, is it of a traced program] */
static void put_threads(struct page_cpus *cpus)
{
	struct json_text *json = &cpus->page->json;

	json_text_open(json, "threads", '[');
	for (unsigned i = 0; i < cpus->thread_count; i++) {
		json_text_open(json, NULL, '[');
		json_text_string(json, NULL, cpus->thread[i]->name);
		json_text_i64(json, NULL, cpus->thread[i]->tid);
		json_text_u64(json, NULL, cpus->thread[i]->is_own);
		json_text_close(json, ']');
	}
	json_text_close(json, ']');
}

/* Each: [column, own, other, waited, thread, ns, ...] */
static void put_column(struct json_text *json, unsigned at, const struct column *column)
{
	if (!column->own_ns && !column->other_ns && !column->waited_ns)
		return;
	json_text_open(json, NULL, '[');
	json_text_u64(json, NULL, at);
	json_text_i64(json, NULL, column->own_ns);
	json_text_i64(json, NULL, column->other_ns);
	json_text_i64(json, NULL, column->waited_ns);
	for (unsigned i = 0; i < MOST && column->most[i].thread; i++) {
		json_text_u64(json, NULL, column->most[i].thread - 1);
		json_text_i64(json, NULL, column->most[i].ns);
	}
	json_text_close(json, ']');
}

static int by_number(const void *a, const void *b)
{
	const struct cpu *x = *(const struct cpu *const *)a, *y = *(const struct cpu *const *)b;

	return x->host != y->host ? (x->host > y->host) - (x->host < y->host)
				  : x->number - y->number;
}

static void put_strips(struct page_cpus *cpus)
{
	struct json_text *json = &cpus->page->json;
	const struct map_slot *slot;
	struct cpu *cpu[CPUS_MAX];
	unsigned count = 0;
	size_t at = 0;

	while ((slot = map_next(&cpus->cpus, &at)) && count < CPUS_MAX)
		cpu[count++] = slot->value;
	qsort(cpu, count, sizeof(*cpu), by_number);
	json_text_open(json, "cpus", '[');
	for (unsigned i = 0; i < count; i++) {
		json_text_open(json, NULL, '{');
		json_text_i64(json, "number", cpu[i]->number);
		json_text_u64(json, "host", cpu[i]->host);
		json_text_open(json, "columns", '[');
		for (unsigned k = 0; k < COLUMNS; k++)
			put_column(json, k, &cpu[i]->column[k]);
		json_text_close(json, ']');
		json_text_close(json, '}');
	}
	json_text_close(json, ']');
}

static void put_all(struct page_cpus *cpus)
{
	struct page *page = cpus->page;

	json_text_open(&page->json, "cpus", '{');
	page_put_time(page, "begin", cpus->begin_ns);
	json_text_i64(&page->json, "width", cpus->width_ns);
	put_threads(cpus);
	put_strips(cpus);
	page_put_distribution(page, "wait", &cpus->wait);
	json_text_close(&page->json, '}');
}

int page_put_cpus(struct page *page)
{
	struct report *report = page->report;
	const struct summary *summary = page->summary;
	struct page_cpus cpus = { .page = page,
				  .begin_ns = summary->begin_ns,
				  .end_ns = summary->end_ns,
				  .width_ns = (summary->end_ns - summary->begin_ns) / COLUMNS + 1 };
	struct passes passes = { 0 };
	int status;

	if (!sched_is_there(report->reader) || !summary->events)
		return 0;
	if (sched_create(&cpus.sched, report->reader, &listener, &cpus))
		return err_no_memory(report->err);
	pass_add(&passes, &page_cpus_pass, &cpus);
	status = know_own(&cpus) ? err_no_memory(report->err) : page_read(page, &passes);
	if (!status)
		put_all(&cpus);
	sched_destroy(cpus.sched);
	map_free_all(&cpus.threads);
	map_free_all(&cpus.cpus);
	map_free_all(&cpus.sums);
	free(cpus.thread);
	histogram_free(&cpus.wait);
	return status;
}
