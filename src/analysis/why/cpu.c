/* SPDX-License-Identifier: Apache-2.0 */
/* Who had the CPU; see cpu.h. */
#include "analysis/why/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define CPUS_MAX 4096u		/* of a host; a number beyond is none */
#define RUNNABLE_MASK 0xff	/* of prev_state: the states that block; what lies above marks a preemption */

#define MOVES_MAX 16u		/* of a thread that waits, from CPU to CPU */

enum { SWITCH, WAKING, WAKEUP_NEW, MIGRATE };
enum { PREV_TID, NEXT_TID, NEXT_COMM, PREV_STATE };
enum { TID, TARGET };

/* A thread on a CPU; or when it got to wait for one. */
enum item { ITEM_WOKEN, ITEM_MOVED, ITEM_SLICE };

struct slice {
	enum item what;
	uint32_t host;
	int32_t cpu, tid;
	bool stays_ready;		/* it was taken off while it could run */
	int64_t start_ns, end_ns;
	char comm[WHY_COMM_SIZE];
};

struct slices {
	struct slice *item;
	size_t count, size;
};

/* Who is on a CPU. */
struct running {
	struct slice slice;
	uint32_t stream;
	bool known;
};

/* The latest of a thread outside of the windows: what comes inside follows from it. */
struct earlier {
	struct slice slice, woken;
	bool has_slice, has_woken;
};

struct why_cpu {
	const struct ctf_reader *reader;
	struct map earlier;		/* (tid, host) -> struct earlier */
	struct why_window *window;
	unsigned windows;
	struct running *running;	/* by host and CPU */
	uint32_t running_count;
	struct slices by_thread, by_cpu;	/* the same ones, in two orders; by_thread has the wake-ups, too */
};

static const struct ctf_bind wanted[] = {
	[SWITCH] = { "sched_switch", { "prev_tid", "next_tid", "next_comm", "prev_state" } },
	[WAKING] = { "sched_waking", { "tid", "target_cpu" } },
	[WAKEUP_NEW] = { "sched_wakeup_new", { "tid", "target_cpu" } },
	[MIGRATE] = { "sched_migrate_task", { "tid", "dest_cpu" } },
};

const struct ctf_bind *why_cpu_bind(unsigned *count)
{
	*count = sizeof(wanted) / sizeof(*wanted);
	return wanted;
}

int why_cpu_create(struct why_cpu **out, const struct ctf_reader *reader, const struct why_window *window,
		   unsigned windows)
{
	struct why_cpu *cpu = calloc(1, sizeof(*cpu));

	*out = cpu;
	if (!cpu)
		return -1;
	cpu->reader = reader;
	cpu->windows = windows;
	cpu->window = malloc((windows ? windows : 1) * sizeof(*window));
	if (!cpu->window) {
		free(cpu);
		*out = NULL;
		return -1;
	}
	memcpy(cpu->window, window, windows * sizeof(*window));
	return 0;
}

void why_cpu_destroy(struct why_cpu *cpu)
{
	const struct map_slot *slot;

	if (!cpu)
		return;
	for (size_t at = 0; (slot = map_next(&cpu->earlier, &at));)
		free(slot->value);
	map_free(&cpu->earlier);
	free(cpu->window);
	free(cpu->running);
	free(cpu->by_thread.item);
	free(cpu->by_cpu.item);
	free(cpu);
}

/* ---- collecting ---- */

static bool is_inside(const struct why_cpu *cpu, int64_t start_ns, int64_t end_ns)
{
	for (unsigned i = 0; i < cpu->windows; i++)
		if (start_ns <= cpu->window[i].end_ns && end_ns >= cpu->window[i].begin_ns)
			return true;
	return false;
}

static int add(struct slices *slices, const struct slice *slice)
{
	size_t size = slices->size ? slices->size * 2 : 1024;
	struct slice *grown = slices->item;

	if (slices->count == slices->size) {
		grown = realloc(grown, size * sizeof(*grown));
		if (!grown)
			return -1;
		slices->item = grown;
		slices->size = size;
	}
	slices->item[slices->count++] = *slice;
	return 0;
}

static struct earlier *earlier_of(struct why_cpu *cpu, const struct slice *slice)
{
	struct earlier *earlier = map_get(&cpu->earlier, (uint32_t)slice->tid, slice->host);

	if (earlier)
		return earlier;
	earlier = calloc(1, sizeof(*earlier));
	if (earlier && map_put(&cpu->earlier, (uint32_t)slice->tid, slice->host, earlier)) {
		free(earlier);
		return NULL;
	}
	return earlier;
}

/* @item of a thread; with what it follows from, when it is the first one inside. */
static int add_of_thread(struct why_cpu *cpu, const struct slice *item)
{
	struct earlier *earlier = item->tid ? earlier_of(cpu, item) : NULL;
	int failed = 0;

	if (!item->tid)
		return 0;		/* nobody asks what an idle CPU waits for */
	if (!earlier)
		return -1;
	if (!is_inside(cpu, item->start_ns, item->end_ns)) {
		if (item->what == ITEM_SLICE) {
			*earlier = (struct earlier){ .slice = *item, .has_slice = true };
		} else if (item->what == ITEM_WOKEN) {
			earlier->woken = *item;
			earlier->has_woken = true;
		} else if (earlier->has_woken) {
			earlier->woken.cpu = item->cpu;
		} else if (earlier->has_slice) {
			earlier->slice.cpu = item->cpu;
		}
		return 0;
	}
	if (earlier->has_slice)
		failed |= add(&cpu->by_thread, &earlier->slice);
	if (earlier->has_woken)
		failed |= add(&cpu->by_thread, &earlier->woken);
	earlier->has_slice = earlier->has_woken = false;
	return failed | add(&cpu->by_thread, item);
}

/* Traces of one host name are one host, as in the model. */
static uint32_t host_of(const struct why_cpu *cpu, uint32_t trace)
{
	uint32_t i;

	for (i = 0; i < trace; i++)
		if (strcmp(ctf_trace(cpu->reader, i)->hostname, ctf_trace(cpu->reader, trace)->hostname) == 0)
			break;
	return i;
}

static struct running *running_of(struct why_cpu *cpu, uint32_t host, int32_t number)
{
	uint32_t at = host * CPUS_MAX + (uint32_t)number, count = cpu->running_count ? cpu->running_count : 16;
	struct running *grown;

	if (at < cpu->running_count)
		return &cpu->running[at];
	while (count <= at)
		count *= 2;
	grown = realloc(cpu->running, count * sizeof(*grown));
	if (!grown)
		return NULL;
	memset(grown + cpu->running_count, 0, (count - cpu->running_count) * sizeof(*grown));
	cpu->running = grown;
	cpu->running_count = count;
	return &cpu->running[at];
}

/* A thread's switch away is needed as well when the switch to it was not seen. */
static int on_switch(struct why_cpu *cpu, const struct ctf_event *event, uint32_t host)
{
	const struct ctf_value *value = event->value;
	struct running *running;
	struct slice *slice;
	size_t size;

	if (event->cpu < 0 || (uint32_t)event->cpu >= CPUS_MAX || host > UINT32_MAX / CPUS_MAX / 2)
		return 0;
	running = running_of(cpu, host, event->cpu);
	if (!running)
		return -1;
	slice = &running->slice;
	if (!running->known || slice->tid != (int32_t)value[PREV_TID].i)
		*slice = (struct slice){ .what = ITEM_SLICE, .host = host, .cpu = event->cpu,
					 .tid = (int32_t)value[PREV_TID].i, .start_ns = event->ns };
	slice->end_ns = event->ns;
	slice->stays_ready = value[PREV_STATE].present && (value[PREV_STATE].i & RUNNABLE_MASK) == 0;
	if (add_of_thread(cpu, slice) || (is_inside(cpu, slice->start_ns, slice->end_ns) && add(&cpu->by_cpu, slice)))
		return -1;
	*slice = (struct slice){ .what = ITEM_SLICE, .host = host, .cpu = event->cpu,
				 .tid = (int32_t)value[NEXT_TID].i, .start_ns = event->ns, .end_ns = INT64_MAX };
	size = value[NEXT_COMM].present ? strnlen((const char *)value[NEXT_COMM].bytes,
						   value[NEXT_COMM].size < WHY_COMM_SIZE - 1 ? value[NEXT_COMM].size :
						   WHY_COMM_SIZE - 1) : 0;
	memcpy(slice->comm, value[NEXT_COMM].bytes, size);
	running->known = true;
	running->stream = event->stream;
	return 0;
}

static int on_ready(struct why_cpu *cpu, const struct ctf_event *event, enum item what)
{
	const struct ctf_value *value = event->value;

	return add_of_thread(cpu, &(struct slice){
		.what = what, .host = host_of(cpu, event->trace), .tid = (int32_t)value[TID].i,
		.cpu = value[TARGET].present ? (int32_t)value[TARGET].i : -1, .start_ns = event->ns, .end_ns = event->ns,
	});
}

int why_cpu_event(struct why_cpu *cpu, const struct ctf_event *event)
{
	if (event->bound == CTF_LOSS) {		/* who runs there is not known */
		for (uint32_t i = 0; i < cpu->running_count; i++)
			if (cpu->running[i].stream == event->stream)
				cpu->running[i].known = false;
		return 0;
	}
	if (event->bound == SWITCH && event->value[PREV_TID].present && event->value[NEXT_TID].present)
		return on_switch(cpu, event, host_of(cpu, event->trace));
	if ((event->bound == WAKING || event->bound == WAKEUP_NEW) && event->value[TID].present)
		return on_ready(cpu, event, ITEM_WOKEN);
	if (event->bound == MIGRATE && event->value[TID].present && event->value[TARGET].present)
		return on_ready(cpu, event, ITEM_MOVED);
	return 0;
}

static int compare(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* A wake-up and a switch of one time: the wake-up is first. */
static int by_thread(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	int order = compare(x->host, y->host);

	order = order ? order : compare(x->tid, y->tid);
	order = order ? order : compare(x->start_ns, y->start_ns);
	return order ? order : compare(x->what, y->what);
}

static int by_cpu(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	int order = compare(x->host, y->host);

	order = order ? order : compare(x->cpu, y->cpu);
	return order ? order : compare(x->start_ns, y->start_ns);
}

bool why_cpu_finish(struct why_cpu *cpu)
{
	/* Who was on a CPU to the end. */
	for (uint32_t i = 0; i < cpu->running_count; i++)
		if (cpu->running[i].known && (add_of_thread(cpu, &cpu->running[i].slice) ||
					      add(&cpu->by_cpu, &cpu->running[i].slice)))
			break;
	if (cpu->by_thread.count)
		qsort(cpu->by_thread.item, cpu->by_thread.count, sizeof(struct slice), by_thread);
	if (cpu->by_cpu.count)
		qsort(cpu->by_cpu.item, cpu->by_cpu.count, sizeof(struct slice), by_cpu);
	return cpu->by_cpu.count != 0;
}

/* ---- answering ---- */

/* The first item of @slices that is not before @key, by @order. */
static size_t lower_bound(const struct slices *slices, const struct slice *key,
			  int (*order)(const void *a, const void *b))
{
	size_t low = 0, high = slices->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (order(&slices->item[middle], key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct telling {
	const struct why_cpu *cpu;
	void (*take)(void *context, const struct why_spell *spell);
	void *context;
	int64_t from_ns, to_ns;		/* what is told of */
};

static void tell(const struct telling *telling, struct why_spell spell)
{
	if (spell.from_ns < telling->from_ns)
		spell.from_ns = telling->from_ns;
	if (spell.to_ns > telling->to_ns)
		spell.to_ns = telling->to_ns;
	if (spell.to_ns > spell.from_ns)
		telling->take(telling->context, &spell);
}

/* Ready, and others ran on the CPU @number: a spell for each of them. */
static void tell_ready(const struct telling *telling, uint32_t host, int32_t number, int64_t from_ns, int64_t to_ns)
{
	const struct slices *slices = &telling->cpu->by_cpu;
	size_t at = lower_bound(slices, &(struct slice){ .host = host, .cpu = number, .start_ns = from_ns }, by_cpu);

	if (at && slices->item[at - 1].host == host && slices->item[at - 1].cpu == number)
		at--;		/* it began before */
	for (; at < slices->count && from_ns < to_ns; at++) {
		const struct slice *slice = &slices->item[at];
		struct why_spell spell = { .state = WHY_READY, .by_tid = slice->tid };

		if (slice->host != host || slice->cpu != number || slice->start_ns >= to_ns)
			break;
		if (slice->end_ns <= from_ns)
			continue;
		if (slice->start_ns > from_ns)
			tell(telling, (struct why_spell){ WHY_READY, from_ns, slice->start_ns, -1, "" });
		spell.from_ns = slice->start_ns > from_ns ? slice->start_ns : from_ns;
		spell.to_ns = slice->end_ns < to_ns ? slice->end_ns : to_ns;
		memcpy(spell.by, slice->comm, sizeof(spell.by));
		tell(telling, spell);
		from_ns = spell.to_ns;
	}
	tell(telling, (struct why_spell){ WHY_READY, from_ns, to_ns, -1, "" });
}

/* A thread that waits for a CPU: on which one since when. */
struct ready {
	int64_t from_ns;
	int32_t cpu;
};

/* Between two slices of a thread. @ready: since it could run again, in order; @moves of them, and maybe none. */
static void tell_off(const struct telling *telling, const struct slice *before, const struct slice *after,
		     const struct ready *ready, unsigned moves)
{
	int64_t from_ns = before->stays_ready ? before->end_ns : moves ? ready[0].from_ns : after->start_ns;
	int32_t cpu = before->stays_ready ? before->cpu : moves ? ready[0].cpu : after->cpu;

	/* Another CPU may wake a thread that is about to switch away. */
	if (from_ns < before->end_ns)
		from_ns = before->end_ns;
	tell(telling, (struct why_spell){ WHY_ASLEEP, before->end_ns, from_ns, -1, "" });
	for (unsigned i = 0; i < moves; i++) {
		if (ready[i].from_ns > from_ns) {
			tell_ready(telling, before->host, cpu, from_ns, ready[i].from_ns);
			from_ns = ready[i].from_ns;
		}
		cpu = ready[i].cpu;
	}
	tell_ready(telling, before->host, cpu, from_ns, after->start_ns);
}

static bool find_host(const struct why_cpu *cpu, const char *hostname, uint32_t *host)
{
	for (uint32_t i = 0; i < ctf_trace_count(cpu->reader); i++)
		if (strcmp(ctf_trace(cpu->reader, i)->hostname, hostname) == 0) {
			*host = i;
			return true;
		}
	return false;
}

/* One thread's items, in order. */
struct walk {
	const struct slice *before;
	struct ready ready[MOVES_MAX];
	unsigned moves;
	int64_t told_ns;
	int64_t off_ns;			/* end of the latest time off */
};

static void on_item(const struct telling *telling, struct walk *walk, const struct slice *item)
{
	const struct slice *before = walk->before;

	if (item->what != ITEM_SLICE) {
		/* A thread that sleeps may be moved as well; it is ready when it was woken. */
		if (walk->moves < MOVES_MAX && (item->what == ITEM_WOKEN || walk->moves || (before && before->stays_ready)))
			walk->ready[walk->moves++] = (struct ready){ item->start_ns, item->cpu };
		return;
	}
	/* Where events were lost a thread may seem to be on two CPUs: that is no time off. */
	if (before && item->start_ns > telling->from_ns && before->end_ns < telling->to_ns &&
	    before->end_ns >= walk->off_ns && item->start_ns >= before->end_ns) {
		tell(telling, (struct why_spell){ WHY_ON_CPU, walk->told_ns, before->end_ns, -1, "" });
		tell_off(telling, before, item, walk->ready, walk->moves);
		walk->told_ns = walk->off_ns = item->start_ns;
	}
	walk->before = item;
	walk->moves = 0;
}

void why_spells(const struct why_cpu *cpu, const struct model_thread *thread, int64_t from_ns, int64_t to_ns,
		void (*take)(void *context, const struct why_spell *spell), void *context)
{
	const struct telling telling = { cpu, take, context, from_ns, to_ns };
	struct slice key = { .tid = (int32_t)thread->tid, .start_ns = INT64_MIN };
	struct walk walk = { .told_ns = from_ns, .off_ns = INT64_MIN };

	if (find_host(cpu, thread->process->hostname, &key.host))
		for (size_t at = lower_bound(&cpu->by_thread, &key, by_thread); at < cpu->by_thread.count; at++) {
			const struct slice *item = &cpu->by_thread.item[at];

			if (item->host != key.host || item->tid != key.tid)
				break;
			on_item(&telling, &walk, item);
		}
	tell(&telling, (struct why_spell){ WHY_ON_CPU, walk.told_ns > from_ns ? walk.told_ns : from_ns, to_ns, -1, "" });
}
