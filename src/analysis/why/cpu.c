/* SPDX-License-Identifier: Apache-2.0 */
/* Who had the CPU; see cpu.h. */
#include "analysis/why/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

/* A spell that is not on a CPU. */
struct kept {
	uint32_t host;
	int32_t tid;
	struct why_spell spell;
};

struct why_cpu {
	struct sched *sched;
	struct map threads;		/* (tid, host) -> this struct: whom the model knows */
	struct why_window *window;
	unsigned windows;
	struct kept *item;
	size_t count, size;
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

static struct kept *room(struct why_cpu *cpu)
{
	size_t size = cpu->size ? cpu->size * 2 : 1024;
	struct kept *grown;

	if (cpu->count == cpu->size) {
		grown = realloc(cpu->item, size * sizeof(*grown));
		if (!grown)
			return NULL;
		cpu->item = grown;
		cpu->size = size;
	}
	return &cpu->item[cpu->count++];
}

static void on_spell(void *context, const struct sched_spell *spell)
{
	struct why_cpu *cpu = context;
	struct kept *kept;

	if (spell->state == SCHED_ON_CPU || !is_inside(cpu, spell->from_ns, spell->to_ns) ||
	    !map_get(&cpu->threads, (uint32_t)spell->tid, spell->host))
		return;
	kept = room(cpu);
	if (!kept) {
		cpu->failed = true;
		return;
	}
	*kept = (struct kept){
		.host = spell->host, .tid = spell->tid,
		.spell = { .state = spell->state == SCHED_BLOCKED ? WHY_ASLEEP : WHY_READY, .from_ns = spell->from_ns,
			   .to_ns = spell->to_ns, .by_tid = spell->by_tid },
	};
	memcpy(kept->spell.by, spell->by, strnlen(spell->by, WHY_COMM_SIZE - 1));
}

static const struct sched_listener listener = { .spell = on_spell };

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

int why_cpu_create(struct why_cpu **out, const struct ctf_reader *reader, const struct model *model,
		   const struct why_window *window, unsigned windows)
{
	struct why_cpu *cpu = calloc(1, sizeof(*cpu));

	*out = cpu;
	if (!cpu)
		return -1;
	cpu->windows = windows;
	cpu->window = malloc((windows ? windows : 1) * sizeof(*window));
	if (!cpu->window || sched_create(&cpu->sched, reader, &listener, cpu) || know_threads(cpu, model)) {
		why_cpu_destroy(cpu);
		*out = NULL;
		return -1;
	}
	memcpy(cpu->window, window, windows * sizeof(*window));
	return 0;
}

void why_cpu_destroy(struct why_cpu *cpu)
{
	if (!cpu)
		return;
	sched_destroy(cpu->sched);
	map_free(&cpu->threads);
	free(cpu->window);
	free(cpu->item);
	free(cpu);
}

int why_cpu_event(struct why_cpu *cpu, const struct ctf_event *event)
{
	return sched_event(cpu->sched, event, 0) || cpu->failed ? -1 : 0;
}

static int by_thread(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->spell.from_ns < y->spell.from_ns ? -1 : x->spell.from_ns > y->spell.from_ns;
}

void why_cpu_finish(struct why_cpu *cpu)
{
	if (cpu->count)
		qsort(cpu->item, cpu->count, sizeof(*cpu->item), by_thread);
}

/* ---- answering ---- */

/* The first spell that is not before @key. */
static size_t lower_bound(const struct why_cpu *cpu, const struct kept *key)
{
	size_t low = 0, high = cpu->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_thread(&cpu->item[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void why_spells(const struct why_cpu *cpu, const struct model_thread *thread, int64_t from_ns, int64_t to_ns,
		void (*take)(void *context, const struct why_spell *spell), void *context)
{
	struct kept key = { .tid = (int32_t)thread->tid, .spell.from_ns = INT64_MIN };
	struct why_spell spell, on = { .state = WHY_ON_CPU, .by_tid = -1 };
	size_t at = cpu->count;

	if (sched_host(cpu->sched, thread->process->hostname, &key.host))
		at = lower_bound(cpu, &key);
	for (; at < cpu->count && cpu->item[at].host == key.host && cpu->item[at].tid == key.tid; at++) {
		spell = cpu->item[at].spell;
		spell.from_ns = spell.from_ns > from_ns ? spell.from_ns : from_ns;
		spell.to_ns = spell.to_ns < to_ns ? spell.to_ns : to_ns;
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
