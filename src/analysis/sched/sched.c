/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads, CPUs, and the time between two events; see sched.h.
 *
 * The idea: each thread has a state and the time since which that state is not reported yet. An
 * event that changes the state first reports the time until now as a spell, and then sets the new
 * state. A thread that waits for a CPU is in a list of that CPU. When the CPU switches to another
 * thread, the waits of all threads in the list are reported up to that time, so each spell has
 * exactly one thread on the CPU.
 */
#include "analysis/sched/sched_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void sched_seen_on(struct sched *sched, uint32_t host, int32_t tid, int32_t cpu, int64_t ns)
{
	uint64_t at = (uint64_t)host * CPUS_MAX + (uint32_t)cpu;
	struct sched_cpu *its =
		sched_is_cpu(host, cpu) && at < sched->cpu_room ? sched->cpu[at] : NULL;
	struct task *task = map_get(&sched->tasks, (uint32_t)tid, host), *other;

	if (!task || !its ||
	    (task->state == SCHED_ON_CPU && task->cpu == cpu && its->known && its->tid == tid))
		return;
	other = its->known && its->tid != tid ? map_get(&sched->tasks, (uint32_t)its->tid, host)
					      : NULL;
	if (other && other->state == SCHED_ON_CPU && other->cpu == cpu)
		other->state = SCHED_UNKNOWN;
	task->state = SCHED_UNKNOWN;
	sched_become(sched, task, SCHED_ON_CPU, cpu, ns);
	sched_settle(sched, its, ns);
	its->known = true;
	its->tid = tid;
	memcpy(its->name, task->name, sizeof(its->name));
}

int32_t sched_running(const struct sched *sched, uint32_t host, int32_t cpu)
{
	uint64_t at = (uint64_t)host * CPUS_MAX + (uint32_t)cpu;

	if (!sched_is_cpu(host, cpu) || at >= sched->cpu_room || !sched->cpu[at])
		return -1;
	return sched->cpu[at]->known ? sched->cpu[at]->tid : -1;
}

const char *sched_state_name(enum sched_state state)
{
	static const char *const names[SCHED_STATES] = {
		[SCHED_UNKNOWN] = "unknown", [SCHED_ON_CPU] = "running", [SCHED_PREEMPTED] = "preempted",
		[SCHED_WAITING] = "waiting", [SCHED_BLOCKED] = "blocked",
	};

	return names[state];
}

/* ---- hosts, threads, CPUs ---- */

static uint32_t host_of(const struct kymo_ctf_reader *reader, uint32_t trace)
{
	uint32_t i;

	/* Traces with the same host name are of one host, as in the model. */
	for (i = 0; i < trace; i++)
		if (strcmp(kymo_ctf_trace(reader, i)->hostname,
			   kymo_ctf_trace(reader, trace)->hostname) == 0)
			break;
	return i;
}

bool sched_is_text(const struct kymo_ctf_event_class *class, const char *name)
{
	const char *type;

	for (uint32_t i = 0; i < class->field_count; i++) {
		if (strcmp(class->field[i].name, name) != 0)
			continue;
		type = class->field[i].type;
		return strcmp(type, "string") == 0 || strncmp(type, "char[", strlen("char[")) == 0;
	}
	return false;
}

/* A trace may declare fields of any type under these names; a number must not be read as a text. */
static void find_names(struct sched *sched)
{
	for (unsigned i = 0; i < sched->classes; i++) {
		const struct kymo_ctf_event_class *class = kymo_ctf_class(sched->reader, i);

		sched->has_names[i] =
			sched_is_text(class, "next_comm") && sched_is_text(class, "prev_comm");
	}
}

int sched_create(struct sched **out, const struct kymo_ctf_reader *reader,
		 const struct sched_listener *listener, void *context)
{
	struct sched *sched = calloc(1, sizeof(*sched));

	*out = sched;
	if (!sched)
		return -1;
	sched->reader = reader;
	sched->listener = listener;
	sched->context = context;
	sched->begin_ns = INT64_MIN;
	sched->end_ns = INT64_MAX;
	sched->traces = kymo_ctf_trace_count(reader);
	sched->classes = kymo_ctf_class_count(reader);
	sched->host = calloc(sched->traces + 1, sizeof(*sched->host));
	sched->has_names = calloc(sched->classes + 1, 1);
	if (!sched->host || !sched->has_names) {
		sched_destroy(sched);
		*out = NULL;
		return -1;
	}
	for (uint32_t i = 0; i < sched->traces; i++)
		sched->host[i] = host_of(reader, i);
	find_names(sched);
	return 0;
}

void sched_window(struct sched *sched, int64_t begin_ns, int64_t end_ns)
{
	sched->begin_ns = begin_ns;
	sched->end_ns = end_ns;
}

void sched_destroy(struct sched *sched)
{

	if (!sched)
		return;
	map_free_all(&sched->tasks);
	for (uint32_t i = 0; i < sched->cpu_room; i++)
		free(sched->cpu[i]);
	free(sched->cpu);
	free(sched->host);
	free(sched->has_names);
	free(sched);
}

bool sched_is_there(const struct kymo_ctf_reader *reader)
{
	return reader_declares(reader, "sched_switch");
}

bool sched_host(const struct sched *sched, const char *hostname, uint32_t *host)
{
	for (uint32_t i = 0; i < sched->traces; i++)
		if (strcmp(kymo_ctf_trace(sched->reader, i)->hostname, hostname) == 0) {
			*host = i;
			return true;
		}
	return false;
}

struct task *sched_task(struct sched *sched, uint32_t host, int32_t tid)
{
	const size_t known = sched->tasks.count;
	struct task *task = map_at(&sched->tasks, (uint32_t)tid, host, sizeof(*task));

	if (!task || sched->tasks.count == known)
		return task;
	task->host = host;
	task->tid = tid;
	task->cpu = task->last_cpu = -1;
	task->since_ns = INT64_MIN;	/* no event yet */
	return task;
}

bool sched_is_cpu(uint32_t host, int32_t number)
{
	return number >= 0 && (uint32_t)number < CPUS_MAX && host < UINT32_MAX / CPUS_MAX / 2;
}

struct sched_cpu *sched_cpu(struct sched *sched, uint32_t host, int32_t number)
{
	struct sched_cpu **slot;

	if (!sched_is_cpu(host, number))
		return NULL;
	slot = ARRAY_AT(sched->cpu, sched->cpu_room, host * CPUS_MAX + (uint32_t)number);
	if (slot && !*slot)
		*slot = calloc(1, sizeof(struct sched_cpu));
	return slot ? *slot : NULL;
}

static struct sched_cpu *known_cpu(const struct sched *sched, uint32_t host, int32_t number)
{
	uint64_t at = (uint64_t)host * CPUS_MAX + (uint32_t)number;

	return sched_is_cpu(host, number) && at < sched->cpu_room ? sched->cpu[at] : NULL;
}

/* ---- reporting time ---- */

/* The part of [@from_ns, @to_ns] inside the window. */
static int64_t between(const struct sched *sched, int64_t from_ns, int64_t to_ns)
{
	from_ns = from_ns > sched->begin_ns ? from_ns : sched->begin_ns;
	to_ns = to_ns < sched->end_ns ? to_ns : sched->end_ns;
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* Reports the time of @task in its state up to @ns. */
static void pass(struct sched *sched, struct task *task, int64_t ns)
{
	const struct sched_cpu *cpu = known_cpu(sched, task->host, task->cpu);
	struct sched_spell spell = {
		.host = task->host, .tid = task->tid, .state = task->state, .cpu = task->cpu,
		.from_ns = task->since_ns, .to_ns = ns, .by_tid = -1, .name = task->name, .by = "",
	};

	/* Times of a damaged trace may go backwards: reported time stays reported. */
	if (ns > task->since_ns)
		task->since_ns = ns;
	if (spell.from_ns == INT64_MIN || ns <= spell.from_ns)
		return;
	task->usage.ns[task->state] += ns - spell.from_ns;
	task->inside.ns[task->state] += between(sched, spell.from_ns, ns);
	if (task->state == SCHED_UNKNOWN || !sched->listener->spell)
		return;
	if (task->state == SCHED_BLOCKED) {
		spell.by_tid = task->waker_tid;
		spell.by = task->waker;
	} else if (task->is_listed && cpu->known) {
		spell.by_tid = cpu->tid;
		spell.by = cpu->name;
	}
	sched->listener->spell(sched->context, &spell);
}

static void take_off(struct sched *sched, struct task *task)
{
	struct sched_cpu *cpu = known_cpu(sched, task->host, task->cpu);

	if (!task->is_listed)
		return;
	if (task->previous)
		task->previous->next = task->next;
	else
		cpu->ready = task->next;
	if (task->next)
		task->next->previous = task->previous;
	cpu->ready_count--;
	task->is_listed = false;
}

static void put_on(struct sched *sched, struct task *task)
{
	struct sched_cpu *cpu = known_cpu(sched, task->host, task->cpu);

	if (!cpu || cpu->ready_count == READY_MAX)
		return;
	task->previous = NULL;
	task->next = cpu->ready;
	if (cpu->ready)
		cpu->ready->previous = task;
	cpu->ready = task;
	cpu->ready_count++;
	task->is_listed = true;
}

void sched_become(struct sched *sched, struct task *task, enum sched_state state, int32_t cpu,
		  int64_t ns)
{
	pass(sched, task, ns);
	take_off(sched, task);
	task->state = state;
	task->cpu = cpu;
	if (state == SCHED_PREEMPTED || state == SCHED_WAITING)
		put_on(sched, task);
}

void sched_settle(struct sched *sched, struct sched_cpu *cpu, int64_t ns)
{
	for (struct task *task = cpu->ready; task; task = task->next)
		pass(sched, task, ns);
}

void sched_forget(struct sched *sched, struct task *task)
{
	take_off(sched, task);
	if (sched->listener->gone)
		sched->listener->gone(sched->context, task->host, task->tid, &task->inside);
	(void)map_del(&sched->tasks, (uint32_t)task->tid, task->host);
	free(task);
}

/* ---- queries ---- */

bool sched_usage(const struct sched *sched, uint32_t host, int32_t tid, int64_t ns,
		 struct sched_usage *usage)
{
	const struct task *task = map_get(&sched->tasks, (uint32_t)tid, host);

	if (!task)
		return false;
	*usage = task->usage;
	if (task->since_ns != INT64_MIN && ns > task->since_ns)
		usage->ns[task->state] += ns - task->since_ns;
	return true;
}

bool sched_usage_inside(const struct sched *sched, uint32_t host, int32_t tid,
			struct sched_usage *usage)
{
	const struct task *task = map_get(&sched->tasks, (uint32_t)tid, host);

	if (task)
		*usage = task->inside;
	return task;
}

uint32_t sched_trace_host(const struct sched *sched, uint32_t trace)
{
	return trace < sched->traces ? sched->host[trace] : 0;
}

enum sched_state sched_state_of(const struct sched *sched, uint32_t host, int32_t tid)
{
	const struct task *task = map_get(&sched->tasks, (uint32_t)tid, host);

	return task ? task->state : SCHED_UNKNOWN;
}

int64_t sched_waits_since(const struct sched *sched, uint32_t host, int32_t tid)
{
	const struct task *task = map_get(&sched->tasks, (uint32_t)tid, host);

	return task && (task->state == SCHED_PREEMPTED || task->state == SCHED_WAITING)
		       ? task->since_ns
		       : INT64_MAX;
}

bool sched_is_on(const struct sched *sched, uint32_t host, int32_t tid)
{
	return sched_state_of(sched, host, tid) == SCHED_ON_CPU;
}
