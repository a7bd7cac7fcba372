/* SPDX-License-Identifier: Apache-2.0 */
/* Translates the kernel's events into state changes of threads and CPUs; see sched.h. */
#include <string.h>

#include "analysis/sched/sched_internal.h"
#include "base/array.h"

/* Of prev_state: the states that block; higher bits mark a preemption. */
#define RUNNABLE_MASK 0xff
/*
 * Of prev_state of an exiting thread that never runs again; older kernels use other bits of this
 * mask.
 */
#define GONE_MASK 0xf0
/* Maximum time from a wake-up by another CPU to the switch-off that it crosses. */
#define CROSSING_NS 100000

#define TIME_MAX (INT64_MAX / 4)	/* later times are damage */
/* Clocks differ: an event just before a switch may seem this much later. */
#define CLOCKS_DIFFER_NS 10000

enum { SWITCH, WAKING, WAKEUP_NEW, MIGRATE, EXIT };
enum { PREV_TID, NEXT_TID, PREV_STATE, NEXT_COMM, PREV_COMM };
enum { TID, TARGET };

static const struct kymo_ctf_bind wanted[] = {
	[SWITCH] = { "sched_switch", { "prev_tid", "next_tid", "prev_state", "next_comm", "prev_comm" } },
	[WAKING] = { "sched_waking", { "tid", "target_cpu" } },
	[WAKEUP_NEW] = { "sched_wakeup_new", { "tid", "target_cpu" } },
	[MIGRATE] = { "sched_migrate_task", { "tid", "dest_cpu" } },
	[EXIT] = { "sched_process_exit", { "tid" } },
};
#define WANTED (COUNT_OF(wanted))

const struct kymo_ctf_bind *sched_bind(unsigned *count)
{
	*count = WANTED;
	return wanted;
}

static void name(const struct sched *sched, const struct kymo_ctf_event *event, unsigned field,
		 char *out)
{
	const struct kymo_ctf_value *value = &event->value[field];
	bool has = value->present && event->class && event->class->index < sched->classes &&
		   sched->has_names[event->class->index];
	size_t size =
		!has ? 0
		     : strnlen(value->bytes,
			       value->size < SCHED_COMM_SIZE ? value->size : SCHED_COMM_SIZE - 1);

	if (!size)
		return;
	memcpy(out, value->bytes, size);
	memset(out + size, 0, SCHED_COMM_SIZE - size);
}

/* ---- switches ---- */

static bool is_inside(const struct sched *sched, int64_t ns)
{
	return ns >= sched->begin_ns && ns <= sched->end_ns;
}

/* Counts a migration if @task comes to another CPU than its previous one. */
static void count_migration(const struct sched *sched, struct task *task, int32_t number,
			    int64_t ns)
{
	if (task->last_cpu < 0 || task->last_cpu == number)
		return;
	task->usage.migrations++;
	task->inside.migrations += is_inside(sched, ns);
}

/* @task was on CPU @number until now, and is switched off. */
static void leaves(struct sched *sched, struct task *task, int32_t number,
		   const struct kymo_ctf_event *event)
{
	const struct kymo_ctf_value *state = &event->value[PREV_STATE];
	bool stays_ready = state->present && (state->i & RUNNABLE_MASK) == 0;

	if (task->state == SCHED_ON_CPU && task->cpu < 0) {
		count_migration(sched, task, number, event->ns);
		task->cpu = number;
	} else if (task->state != SCHED_ON_CPU || task->cpu != number) {
		/* Its switch to this CPU was lost, so the start is unknown. */
		task->state = SCHED_UNKNOWN;
		sched_become(sched, task, SCHED_UNKNOWN, number, event->ns);
	}
	task->last_cpu = number;
	if (stays_ready) {
		task->usage.preemptions++;
		task->inside.preemptions += is_inside(sched, event->ns);
		sched_become(sched, task, SCHED_PREEMPTED, number, event->ns);
	} else if (task->woken && event->ns - task->woken_ns <= CROSSING_NS) {
		sched_become(sched, task, SCHED_WAITING, task->woken_cpu, event->ns);
	} else {
		sched_become(sched, task, SCHED_BLOCKED, number, event->ns);
		task->waker_tid = -1;
		*task->waker = '\0';
	}
	task->woken = false;
	/* Between its exit and its end the thread may still be preempted or sleep. */
	if (task->exits && state->present && (state->i & GONE_MASK))
		sched_forget(sched, task);
}

static void comes(struct sched *sched, struct task *task, int32_t number,
		  const struct kymo_ctf_event *event)
{
	/* The thread is on another CPU already: the switch that took it off was lost. */
	if (task->state == SCHED_ON_CPU)
		task->state = SCHED_UNKNOWN;
	count_migration(sched, task, number, event->ns);
	task->last_cpu = number;
	task->woken = false;
	name(sched, event, NEXT_COMM, task->name);
	sched_become(sched, task, SCHED_ON_CPU, number, event->ns);
}

static int on_switch(struct sched *sched, const struct kymo_ctf_event *event, uint32_t host)
{
	int32_t prev_tid = (int32_t)event->value[PREV_TID].i,
		next_tid = (int32_t)event->value[NEXT_TID].i;
	struct sched_cpu *cpu = sched_cpu(sched, host, event->cpu);
	struct task *task;

	if (!cpu)
		return sched_is_cpu(host, event->cpu) ? -1 : 0;
	if (cpu->known && cpu->tid != prev_tid) {
		task = map_get(&sched->tasks, (uint32_t)cpu->tid, host);
		if (task && task->state == SCHED_ON_CPU && task->cpu == event->cpu)
			task->state = SCHED_UNKNOWN;
		cpu->known = false;
	}
	/* Update the name: when a new thread first runs, it still has the name of its creator. */
	if (cpu->known)
		name(sched, event, PREV_COMM, cpu->name);
	sched_settle(sched, cpu, event->ns);
	if (prev_tid) {
		task = sched_task(sched, host, prev_tid);
		if (!task)
			return -1;
		name(sched, event, PREV_COMM, task->name);
		leaves(sched, task, event->cpu, event);
	}
	if (next_tid) {
		task = sched_task(sched, host, next_tid);
		if (!task)
			return -1;
		comes(sched, task, event->cpu, event);
	}
	cpu->known = true;
	cpu->tid = next_tid;
	cpu->stream = event->stream;
	memset(cpu->name, 0, sizeof(cpu->name));
	name(sched, event, NEXT_COMM, cpu->name);
	return 0;
}

/* ---- wake-ups, migrations, losses ---- */

/*
 * Remembers the thread on the CPU that wakes @task. The wake-up itself may come from an interrupt
 * on that CPU.
 */
static void set_waker(struct sched *sched, struct task *task, const struct kymo_ctf_event *event,
		      uint32_t host)
{
	const struct sched_cpu *cpu = sched_cpu(sched, host, event->cpu);

	if (task->state != SCHED_BLOCKED || !cpu || !cpu->known)
		return;
	task->waker_tid = cpu->tid;
	memcpy(task->waker, cpu->name, sizeof(task->waker));
}

/*
 * A wake-up of a thread that is still on a CPU. If the event is on the thread's own CPU, the thread
 * stays awake, and sleeps after a later switch-off. If another CPU wakes it, the thread may be
 * about to switch off: then it is ready from that switch on.
 */
static void crosses(struct task *task, const struct kymo_ctf_event *event, int32_t target)
{
	if (task->cpu < 0 || task->cpu == event->cpu)
		return;
	task->woken = true;
	task->woken_ns = event->ns;
	task->woken_cpu = target;
}

static int on_waking(struct sched *sched, const struct kymo_ctf_event *event, uint32_t host)
{
	int32_t target = event->value[TARGET].present ? (int32_t)event->value[TARGET].i : -1;
	int32_t tid = (int32_t)event->value[TID].i;
	struct task *task = tid ? sched_task(sched, host, tid) : NULL;

	if (!task)
		return tid ? -1 : 0;
	/* Create the CPU, so that the thread can be in its list of waiting threads. */
	if (sched_is_cpu(host, target) && !sched_cpu(sched, host, target))
		return -1;
	if (task->state == SCHED_ON_CPU) {
		crosses(task, event, target);
		return 0;
	}
	set_waker(sched, task, event, host);
	sched_become(sched, task, task->state == SCHED_PREEMPTED ? SCHED_PREEMPTED : SCHED_WAITING,
		     target, event->ns);
	return 0;
}

/* A sleeping thread may also be moved; it becomes ready only with a wake-up. */
static int on_migrate(struct sched *sched, const struct kymo_ctf_event *event, uint32_t host)
{
	struct task *task = map_get(&sched->tasks, (uint32_t)event->value[TID].i, host);
	int32_t target = (int32_t)event->value[TARGET].i;

	if (!task)
		return 0;
	if (task->woken)
		task->woken_cpu = target;
	if (task->state != SCHED_PREEMPTED && task->state != SCHED_WAITING)
		return 0;
	if (sched_is_cpu(host, target) && !sched_cpu(sched, host, target))
		return -1;
	sched_become(sched, task, task->state, target, event->ns);
	return 0;
}

/* The file of @stream, without its directory. */
static const char *file_name(const struct kymo_ctf_stream_info *stream)
{
	const char *slash = strrchr(stream->path, '/');

	return slash ? slash + 1 : stream->path;
}

/*
 * Does the stream of @event have the events of CPU @number? In a later chunk, the same file is
 * another stream, and a loss may come before its first switch.
 */
static bool has_events_of(const struct sched *sched, const struct kymo_ctf_event *event,
			  uint32_t number)
{
	const uint32_t known = sched->cpu[number]->stream;
	const struct kymo_ctf_stream_info *before, *now;
	const struct kymo_ctf_trace_info *left, *present;

	if (known == event->stream)
		return true;
	if (event->cpu < 0 || sched_trace_host(sched, event->trace) != number / CPUS_MAX ||
	    (uint32_t)event->cpu != number % CPUS_MAX)
		return false;
	before = kymo_ctf_stream(sched->reader, known);
	now = kymo_ctf_stream(sched->reader, event->stream);
	left = kymo_ctf_trace(sched->reader, before->trace);
	present = kymo_ctf_trace(sched->reader, now->trace);
	return left->chunk < present->chunk && strcmp(left->domain, present->domain) == 0 &&
	       strcmp(file_name(before), file_name(now)) == 0;
}

/*
 * Events of a CPU were lost: the states of the threads on it and of the threads waiting for it are
 * unknown from now on. Sleeping threads keep their state, although the lost events may contain
 * their wake-up.
 */
static void on_loss(struct sched *sched, const struct kymo_ctf_event *event)
{
	for (uint32_t i = 0; i < sched->cpu_room; i++) {
		struct sched_cpu *cpu = sched->cpu[i];
		struct task *task;

		if (!cpu || !cpu->known || !has_events_of(sched, event, i))
			continue;
		task = cpu->tid ? map_get(&sched->tasks, (uint32_t)cpu->tid, i / CPUS_MAX) : NULL;
		if (task && task->state == SCHED_ON_CPU)
			task->state = SCHED_UNKNOWN;
		while (cpu->ready) {
			task = cpu->ready;
			cpu->ready->state = SCHED_UNKNOWN;
			sched_become(sched, task, SCHED_UNKNOWN, task->cpu, task->since_ns);
		}
		cpu->known = false;
	}
}

/*
 * A thread with an event of its own is on some CPU. If the scheduler's events disagree, its switch
 * was lost, as perf_event_open(2) loses switches from an idle CPU. A thread with another name is a
 * different thread, in another pid namespace.
 */
static void saw(struct sched *sched, const struct kymo_ctf_event *event, uint32_t host)
{
	struct task *task = map_get(&sched->tasks, (uint32_t)event->vtid, host);

	if (!task || task->state == SCHED_ON_CPU || task->since_ns < 0 ||
	    event->ns - task->since_ns < CLOCKS_DIFFER_NS ||
	    strncmp(task->name, event->procname, SCHED_COMM_SIZE - 1) != 0 || !*task->name)
		return;
	sched_become(sched, task, SCHED_ON_CPU, -1, event->ns);
	task->woken = false;
}

int sched_event(struct sched *sched, const struct kymo_ctf_event *event, unsigned first)
{
	unsigned row = event->bound < 0 || (unsigned)event->bound < first
			       ? WANTED
			       : (unsigned)event->bound - first;
	uint32_t host = sched_trace_host(sched, event->trace);
	const struct kymo_ctf_value *value = event->value;
	struct task *task;

	if (event->ns < 0 || event->ns > TIME_MAX)
		return 0;
	if (event->bound == KYMO_CTF_LOSS)
		on_loss(sched, event);
	/* Facts that are recorded late have another time. */
	else if (row == WANTED && event->vtid && !event->init_ns)
		saw(sched, event, host);
	if (row == SWITCH && value[PREV_TID].present && value[NEXT_TID].present)
		return on_switch(sched, event, host);
	if ((row == WAKING || row == WAKEUP_NEW) && value[TID].present)
		return on_waking(sched, event, host);
	if (row == MIGRATE && value[TID].present && value[TARGET].present)
		return on_migrate(sched, event, host);
	if (row == EXIT && value[TID].present) {
		task = map_get(&sched->tasks, (uint32_t)value[TID].i, host);
		if (task && task->state == SCHED_ON_CPU)
			task->exits = true;
	}
	return 0;
}
