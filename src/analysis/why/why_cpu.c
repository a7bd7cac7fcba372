/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler's states of threads; see why_cpu.h. */
#include "analysis/why/why_cpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/order.h"

#define BIND_MAX 16u

/* A spell in which the thread was not on a CPU. */
struct cpu_kept {
	uint32_t host;
	int32_t tid;
	struct why_spell spell;
};

struct why_cpu {
	struct sched *sched;
	const struct kymo_ctf_reader *reader;
	struct map threads;		/* (tid, host) -> this struct: the threads of the model */
	struct why_window *window;
	unsigned windows;
	struct cpu_kept *item;
	size_t count, size;
	struct faults faults;
	struct fault *fault;		/* by thread and start */
	size_t fault_count, fault_size;
	struct calls calls;
	struct system_call *call;	/* by thread and start; told_ns: its end */
	size_t call_count, call_size;
	struct kymo_ctf_bind bind[BIND_MAX];
	unsigned binds, sched_binds, call_first;
	void (*also)(void *context, const struct sched_spell *spell); /* why_cpu_also() */
	void *also_context;
	bool failed;
};

/* ---- collecting ---- */

static bool is_inside(const struct why_cpu *cpu, int64_t start_ns, int64_t end_ns)
{
	for (unsigned i = 0; i < cpu->windows; i++)
		if (start_ns < cpu->window[i].end_ns && end_ns > cpu->window[i].begin_ns)
			return true;
	return false;
}

static struct cpu_kept *room(struct why_cpu *cpu)
{
	if (!ARRAY_ROOM(cpu->item, cpu->count, cpu->size))
		return NULL;
	return &cpu->item[cpu->count++];
}

static void on_spell(void *context, const struct sched_spell *spell)
{
	struct why_cpu *cpu = context;
	struct cpu_kept *kept;

	if (cpu->also)
		cpu->also(cpu->also_context, spell);
	if (spell->state == SCHED_ON_CPU || !is_inside(cpu, spell->from_ns, spell->to_ns) ||
	    !map_get(&cpu->threads, (uint32_t)spell->tid, spell->host))
		return;
	kept = room(cpu);
	if (!kept) {
		cpu->failed = true;
		return;
	}
	*kept = (struct cpu_kept){
		.host = spell->host,
		.tid = spell->tid,
		.spell = { .state = spell->state == SCHED_BLOCKED ? WHY_ASLEEP : WHY_READY,
			   .from_ns = spell->from_ns,
			   .to_ns = spell->to_ns,
			   .by_tid = spell->by_tid },
	};
	memcpy(kept->spell.by, spell->by, strnlen(spell->by, WHY_COMM_SIZE - 1));
}

static const struct sched_listener listener = { .spell = on_spell };

static void take_fault(void *context, const struct fault *fault)
{
	struct why_cpu *cpu = context;

	if (!is_inside(cpu, fault->start_ns, fault->end_ns) ||
	    !map_get(&cpu->threads, (uint32_t)fault->tid, fault->host))
		return;
	cpu->failed |= !ARRAY_ADD(cpu->fault, cpu->fault_count, cpu->fault_size, *fault);
}

/* Keeps a system call that returned, or that had not returned at the end of the trace. */
static void take_call(void *context, const struct system_call *call)
{
	struct why_cpu *cpu = context;

	if (!call->is_begun || (!call->has_ret && call->told_ns != INT64_MAX) ||
	    !is_inside(cpu, call->start_ns, call->told_ns) ||
	    !map_get(&cpu->threads, (uint32_t)call->tid, call->host))
		return;
	cpu->failed |= !ARRAY_ADD(cpu->call, cpu->call_count, cpu->call_size, *call);
}

static void bind_all(struct why_cpu *cpu)
{
	const struct kymo_ctf_bind *calls;
	unsigned more, i;
	const struct kymo_ctf_bind *bind = sched_bind(&cpu->sched_binds),
				   *faults = faults_bind(&more);

	for (i = 0; i < cpu->sched_binds && cpu->binds < BIND_MAX; i++)
		cpu->bind[cpu->binds++] = bind[i];
	for (i = 0; i < more && cpu->binds < BIND_MAX; i++)
		cpu->bind[cpu->binds++] = faults[i];
	cpu->call_first = cpu->binds;
	calls = calls_bind(&more);
	for (i = 0; i < more && cpu->binds < BIND_MAX; i++)
		cpu->bind[cpu->binds++] = calls[i];
}

static int know_threads(struct why_cpu *cpu, const struct model *model)
{
	uint32_t host;

	for (unsigned i = 0; i < model_count(model, MODEL_THREAD); i++) {
		const struct model_thread *thread = model_thread(model, i);

		if (sched_host(cpu->sched, thread->process->hostname, &host) &&
		    map_put(&cpu->threads, (uint32_t)thread->tid, host, cpu))
			return -1;
	}
	return 0;
}

static void why_cpu_destroy(struct why_cpu *cpu)
{
	if (!cpu)
		return;
	sched_destroy(cpu->sched);
	map_free(&cpu->threads);
	free(cpu->window);
	free(cpu->item);
	faults_free(&cpu->faults);
	free(cpu->fault);
	calls_free(&cpu->calls);
	free(cpu->call);
	free(cpu);
}

int why_cpu_create(struct why_cpu **out, const struct kymo_ctf_reader *reader,
		   const struct model *model, const struct why_window *window, unsigned windows,
		   struct kymo_err *err)
{
	struct why_cpu *cpu = calloc(1, sizeof(*cpu));

	if (!cpu)
		return err_no_memory(err);
	cpu->reader = reader;
	cpu->windows = windows;
	faults_init(&cpu->faults, take_fault, cpu);
	calls_init(&cpu->calls, take_call, cpu);
	bind_all(cpu);
	cpu->window = malloc((windows ? windows : 1) * sizeof(*window));
	if (!cpu->window || sched_create(&cpu->sched, reader, &listener, cpu) ||
	    know_threads(cpu, model)) {
		why_cpu_destroy(cpu);
		return err_no_memory(err);
	}
	memcpy(cpu->window, window, windows * sizeof(*window));
	*out = cpu;
	return 0;
}

void why_cpu_also(struct why_cpu *cpu,
		  void (*spell)(void *context, const struct sched_spell *spell), void *context)
{
	cpu->also = spell;
	cpu->also_context = context;
}

const struct sched *why_cpu_sched(const struct why_cpu *cpu)
{
	return cpu->sched;
}

static int why_cpu_event(struct why_cpu *cpu, const struct kymo_ctf_event *event)
{
	uint32_t host = 0;
	int32_t tid, running;

	if (event->bound >= 0 && (unsigned)event->bound >= cpu->sched_binds) {
		(void)sched_host(cpu->sched, kymo_ctf_trace(cpu->reader, event->trace)->hostname,
				 &host);
		if ((unsigned)event->bound >= cpu->call_first) {
			running = sched_running(cpu->sched, host, event->cpu);
			return calls_event(&cpu->calls, event, cpu->call_first, host, running) ||
			       cpu->failed ? -1 : 0;
		}
		tid = faults_whose(event, cpu->sched_binds);
		if (tid > 0)
			sched_seen_on(cpu->sched, host, tid, event->cpu, event->ns);
		running = sched_running(cpu->sched, host, event->cpu);
		return faults_event(&cpu->faults, event, cpu->sched_binds, host, running) ||
		       cpu->failed ? -1 : 0;
	}
	return sched_event(cpu->sched, event, 0) || cpu->failed ? -1 : 0;
}

static int by_thread(const void *a, const void *b)
{
	const struct cpu_kept *x = a, *y = b;

	return ORDER(x->host, y->host) ?: ORDER(x->tid, y->tid) ?:
	       ORDER(x->spell.from_ns, y->spell.from_ns);
}

static int by_start(const void *a, const void *b)
{
	const struct fault *x = a, *y = b;

	return ORDER(x->host, y->host) ?: ORDER(x->tid, y->tid) ?: ORDER(x->start_ns, y->start_ns);
}

static int by_begin(const void *a, const void *b)
{
	const struct system_call *x = a, *y = b;

	return ORDER(x->host, y->host) ?: ORDER(x->tid, y->tid) ?: ORDER(x->start_ns, y->start_ns);
}

/*
 * Extends the faults: a fault takes longer than its two events show, but it ends before the
 * thread's next fault.
 */
static void finish_faults(struct why_cpu *cpu)
{
	int64_t around_ns;

	faults_finish(&cpu->faults);
	around_ns = faults_around_ns(&cpu->faults);
	if (cpu->fault_count)
		qsort(cpu->fault, cpu->fault_count, sizeof(*cpu->fault), by_start);
	for (size_t i = 0; i < cpu->fault_count; i++) {
		struct fault *fault = &cpu->fault[i],
			     *next = i + 1 < cpu->fault_count ? fault + 1 : NULL;
		bool has_next = next && next->host == fault->host && next->tid == fault->tid;

		if (fault->end_ns == fault->start_ns)
			continue;
		/*
		 * In such a short time the thread did nothing but return from this fault and enter
		 * the next one; on a busy machine this sometimes takes longer.
		 */
		if (has_next && next->start_ns - fault->end_ns <= 2 * around_ns)
			fault->end_ns = next->start_ns;
		else
			fault->end_ns += around_ns;
	}
}

static void why_cpu_finish(struct why_cpu *cpu)
{
	finish_faults(cpu);
	calls_finish(&cpu->calls);
	if (cpu->call_count)
		qsort(cpu->call, cpu->call_count, sizeof(*cpu->call), by_begin);
	if (cpu->count)
		qsort(cpu->item, cpu->count, sizeof(*cpu->item), by_thread);
}

static int why_cpu_bind(void *analysis, struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	const struct why_cpu *cpu = analysis;

	return kymo_ctf_bind(reader, cpu->bind, cpu->binds, err);
}

PASS_EVENT(why_cpu)
PASS_FINISH(why_cpu)
PASS_DESTROY(why_cpu)
const struct pass_ops why_cpu_pass = {
	.turn = PASS_BEFORE_SPANS,
	.bind = why_cpu_bind,
	.event = why_cpu_pass_event,
	.finish = why_cpu_pass_finish,
	.destroy = why_cpu_pass_destroy,
};

/* ---- queries ---- */

void why_spells(const struct why_cpu *cpu, const struct model_thread *thread, int64_t from_ns,
		int64_t to_ns, void (*take)(void *context, const struct why_spell *spell),
		void *context)
{
	struct cpu_kept key = { .tid = (int32_t)thread->tid, .spell.from_ns = INT64_MIN };
	struct why_spell spell, on = { .state = WHY_ON_CPU, .by_tid = -1 };
	size_t at = cpu->count;

	if (sched_host(cpu->sched, thread->process->hostname, &key.host))
		at = order_first(&key, cpu->item, cpu->count, sizeof(key), by_thread);
	for (; at < cpu->count && cpu->item[at].host == key.host && cpu->item[at].tid == key.tid;
	     at++) {
		spell = cpu->item[at].spell;
		spell.from_ns = larger(spell.from_ns, from_ns);
		spell.to_ns = lesser(spell.to_ns, to_ns);
		if (spell.from_ns >= spell.to_ns)
			continue;
		on.from_ns = from_ns;
		on.to_ns = spell.from_ns;
		if (on.to_ns > on.from_ns)
			take(context, &on);
		take(context, &spell);
		from_ns = spell.to_ns;
	}
	on.from_ns = from_ns;
	on.to_ns = to_ns;
	if (on.to_ns > on.from_ns)
		take(context, &on);
}

size_t why_faults(const struct why_cpu *cpu, const struct model_thread *thread, int64_t from_ns,
		  int64_t to_ns, const struct fault **first)
{
	struct fault key = { .tid = (int32_t)thread->tid, .start_ns = from_ns };
	size_t low, end;

	if (!sched_host(cpu->sched, thread->process->hostname, &key.host))
		return 0;
	low = order_first(&key, cpu->fault, cpu->fault_count, sizeof(key), by_start);
	/* A fault that began earlier may overlap. */
	if (low && cpu->fault[low - 1].host == key.host && cpu->fault[low - 1].tid == key.tid &&
	    cpu->fault[low - 1].end_ns > from_ns)
		low--;
	for (end = low; end < cpu->fault_count; end++) {
		const struct fault *fault = &cpu->fault[end];

		if (fault->host != key.host || fault->tid != key.tid || fault->start_ns >= to_ns)
			break;
	}
	*first = cpu->fault + low;
	return end - low;
}

const char *why_call(const struct why_cpu *cpu, const struct model_thread *thread, int64_t from_ns,
		     int64_t to_ns)
{
	struct system_call key = { .tid = (int32_t)thread->tid, .start_ns = from_ns };
	const struct system_call *latest;
	size_t behind;

	if (!sched_host(cpu->sched, thread->process->hostname, &key.host))
		return NULL;
	behind = order_after(&key, cpu->call, cpu->call_count, sizeof(key), by_begin);
	latest = behind ? &cpu->call[behind - 1] : NULL;
	if (!latest || latest->host != key.host || latest->tid != key.tid)
		return NULL;
	return latest->told_ns >= to_ns ? latest->name : NULL;
}
