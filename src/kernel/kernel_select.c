/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the kernel's events are recorded: those of the threads that are followed, and of
 * whatever had their CPU instead.
 *
 *   switch          to or from a followed thread; every switch on a CPU on which a followed thread
 *                   is ready and waits, and one more, so that each interval that begins in the
 *                   trace also ends there
 *   waking, migrate,
 *   exit, fork      of a followed thread; a thread that it forks is followed, too
 *   irq, softirq    on a CPU where a followed thread runs, or waits
 *   page faults, system
 *   calls, counts   of a followed thread
 *   disks, network  all
 *
 * Other events are held for a while: the last switch of each CPU, and the interrupts in which the
 * CPU is. If an event on that CPU is recorded, or a followed thread begins to wait there, the held
 * events are recorded before it. So the trace always says which thread ran, and in which interrupt
 * a thread was woken.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "kernel/kernel_select.h"

#define RAW_MAX 160			/* bytes of a record that can be held */
#define BLOCKED 0xff			/* bits of prev_state; 0: the thread could continue */
#define GONE 0xf0                       /* bits of a thread that exits: it never runs again */
/* a thread that is woken this shortly before it switches off does not sleep */
#define CROSSING_NS 100000u

enum select_state { ASLEEP, READY, RUNS };

struct select_thread {
	enum select_state state;
	unsigned cpu;			/* where it waits */
	uint64_t woken_ns;		/* while it ran */
	bool ends;
	struct select_call call;
};

enum { HELD_SWITCH, HELD_IRQ, HELD_SOFTIRQ, HELD_COUNT };

struct select_held {
	bool any;
	unsigned event;
	uint64_t ns;
	uint32_t size;
	uint8_t raw[RAW_MAX];
};

struct select_cpu {
	struct select_held held[HELD_COUNT];
	unsigned inside[HELD_COUNT]; /* interrupts whose entry was recorded */
	unsigned waiting;            /* threads */
	bool ours;                   /* the running thread is followed */
	int64_t gone; /* the followed thread that exited at the latest switch; 0: none */
	bool shown;   /* the switch to the running thread was recorded */
};

/* Where records have the fields that decide. */
struct select_places {
	struct kplace prev, state, next;	/* of a switch */
	struct kplace tid[KEVENT_ID_COUNT];	/* of other events: the thread */
	struct kplace cpu[KEVENT_ID_COUNT];	/* to which CPU the thread goes */
	struct kplace child;
};

struct select {
	struct map threads;		/* tid -> struct select_thread */
	struct select_places at;
	select_take *take;
	void *context;
	unsigned cpus;
	struct select_cpu cpu[];
};

struct kplace select_place(const struct kformat *format, unsigned event, const char *raw)
{
	for (unsigned i = 0; kevents[event].field[i].kind != KEVENT_NONE; i++)
		if (strcmp(kevents[event].field[i].raw, raw) == 0)
			return format[event].place[i];
	return (struct kplace){ 0 };
}

struct select *select_create(unsigned cpus, const struct kformat *format, select_take *take,
			     void *context)
{
	struct select *select = calloc(1, sizeof(*select) + cpus * sizeof(select->cpu[0]));
	struct select_places *at = select ? &select->at : NULL;

	if (!select)
		return NULL;
	select->cpus = cpus;
	select->take = take;
	select->context = context;
	at->prev = select_place(format, KEVENT_ID_sched_switch, "prev_pid");
	at->state = select_place(format, KEVENT_ID_sched_switch, "prev_state");
	at->next = select_place(format, KEVENT_ID_sched_switch, "next_pid");
	at->child = select_place(format, KEVENT_ID_sched_process_fork, "child_pid");
	for (unsigned i = 0; i < KEVENT_ID_COUNT; i++) {
		at->tid[i] = select_place(format, i,
					  i == KEVENT_ID_sched_process_fork ? "parent_pid"
					  : kevents[i].counts               ? "tid"
					  : i == KEVENT_ID_x86_exceptions_page_fault_user ||
							  calls_is_one(i)
						  ? "common_pid"
						  : "pid");
		at->cpu[i] = select_place(
			format, i, i == KEVENT_ID_sched_migrate_task ? "dest_cpu" : "target_cpu");
	}
	return select;
}

void select_free(struct select *select)
{
	const struct map_slot *slot;

	if (!select)
		return;
	for (size_t at = 0; (slot = map_next(&select->threads, &at));)
		free(slot->value);
	map_free(&select->threads);
	free(select);
}

static struct select_thread *thread_of(const struct select *select, int64_t tid)
{
	return tid > 0 ? map_get(&select->threads, (uint64_t)tid, 0) : NULL;
}

int select_follow(struct select *select, int32_t tid)
{
	struct select_thread *thread;

	if (tid <= 0 || thread_of(select, tid))
		return 0;
	thread = calloc(1, sizeof(*thread));
	if (!thread || map_put(&select->threads, (uint64_t)tid, 0, thread) < 0) {
		free(thread);
		return -ENOMEM;
	}
	return 1;
}

/* ---- held events ---- */

static void hold(struct select_held *held, unsigned event, const struct krecord *record)
{
	held->any = record->raw_size <= RAW_MAX;
	if (!held->any)
		return;
	held->event = event;
	held->ns = record->ns;
	held->size = record->raw_size;
	memcpy(held->raw, record->raw, record->raw_size);
}

/* Records the held events of a CPU, in the order of time. */
static void take_held(struct select *select, unsigned number)
{
	struct select_cpu *cpu = &select->cpu[number];
	struct select_held *first;
	unsigned which = 0;

	do {
		first = NULL;
		for (unsigned i = 0; i < HELD_COUNT; i++)
			if (cpu->held[i].any && (!first || cpu->held[i].ns < first->ns)) {
				first = &cpu->held[i];
				which = i;
			}
		if (!first)
			return;
		first->any = false;
		cpu->shown |= which == HELD_SWITCH;
		cpu->inside[which]++;
		select->take(select->context, number, first->event,
			     &(struct krecord){ first->ns, first->raw, first->size });
	} while (first);
}

/* ---- threads ---- */

static void waits(struct select *select, struct select_thread *thread, unsigned cpu)
{
	if (thread->state == READY)
		select->cpu[thread->cpu].waiting--;
	thread->state = READY;
	thread->cpu = cpu;
	select->cpu[cpu].waiting++;
}

static void waits_no_more(struct select *select, struct select_thread *thread,
			  enum select_state state)
{
	if (thread->state == READY)
		select->cpu[thread->cpu].waiting--;
	thread->state = state;
}

static void switch_off(struct select *select, unsigned cpu, struct select_thread *thread,
		       int64_t tid, int64_t state, uint64_t ns)
{
	const bool woken = thread->woken_ns && ns < thread->woken_ns + CROSSING_NS;

	thread->woken_ns = 0;
	if (thread->ends && (state & GONE)) {
		waits_no_more(select, thread, ASLEEP);
		free(map_del(&select->threads, (uint64_t)tid, 0));
	} else if (woken || !(state & BLOCKED)) {
		waits(select, thread, cpu);
	} else {
		waits_no_more(select, thread, ASLEEP);
	}
}

static void on_switch(struct select *select, unsigned number, const struct krecord *record)
{
	const int64_t prev_tid = record_integer(record, &select->at.prev),
		      next_tid = record_integer(record, &select->at.next);
	struct select_thread *prev = thread_of(select, prev_tid),
			     *next = thread_of(select, next_tid);
	struct select_cpu *cpu = &select->cpu[number];
	bool wanted = prev || next || cpu->waiting || cpu->shown;

	if (prev)
		switch_off(select, number, prev, prev_tid,
			   record_integer(record, &select->at.state), record->ns);
	if (next)
		waits_no_more(select, next, RUNS);
	cpu->ours = next != NULL;
	cpu->gone = prev && !thread_of(select, prev_tid) ? prev_tid : 0;
	cpu->shown = prev || next || cpu->waiting;
	cpu->held[HELD_SWITCH].any = false;
	if (wanted)
		select->take(select->context, number, KEVENT_ID_sched_switch, record);
	else
		hold(&cpu->held[HELD_SWITCH], KEVENT_ID_sched_switch, record);
}

bool select_unseen(struct select *select, unsigned number, int64_t tid)
{
	struct select_cpu *cpu = &select->cpu[number];
	struct select_thread *now = thread_of(select, tid);
	const bool wanted = now || cpu->ours || cpu->waiting || cpu->shown;

	if (now)
		waits_no_more(select, now, RUNS);
	cpu->ours = now != NULL;
	return wanted;
}

struct select_call *select_call(const struct select *select, unsigned event,
				const struct krecord *record)
{
	struct select_thread *thread =
		thread_of(select, record_integer(record, &select->at.tid[event]));

	return thread ? &thread->call : NULL;
}

/* An event of one thread: it is woken, moves, exits or forks. */
static void on_thread(struct select *select, unsigned number, unsigned event,
		      const struct krecord *record)
{
	struct select_thread *thread =
		thread_of(select, record_integer(record, &select->at.tid[event]));
	int64_t target = record_integer(record, &select->at.cpu[event]);
	const bool woken = event == KEVENT_ID_sched_waking || event == KEVENT_ID_sched_wakeup_new;

	if (!thread)
		return;
	take_held(select, number);
	select->take(select->context, number, event, record);
	if (event == KEVENT_ID_sched_process_exit)
		thread->ends = true;
	/* Without memory its child is left out, until the threads of the process are looked for
	 * again. */
	if (event == KEVENT_ID_sched_process_fork)
		(void)select_follow(select, (int32_t)record_integer(record, &select->at.child));
	if (target < 0 || target >= select->cpus)
		return;
	if (woken && thread->state == RUNS) {
		thread->woken_ns = record->ns;
	} else if (woken || (event == KEVENT_ID_sched_migrate_task && thread->state == READY)) {
		waits(select, thread, (unsigned)target);
		take_held(select, (unsigned)target);
	}
}

static void on_enter(struct select *select, unsigned number, unsigned event,
		     const struct krecord *record)
{
	const unsigned which = event == KEVENT_ID_irq_handler_entry ? HELD_IRQ : HELD_SOFTIRQ;
	struct select_cpu *cpu = &select->cpu[number];

	if (!cpu->ours && !cpu->waiting) {
		hold(&cpu->held[which], event, record);
		return;
	}
	cpu->inside[which]++;
	select->take(select->context, number, event, record);
}

static void on_leave(struct select *select, unsigned number, unsigned event,
		     const struct krecord *record)
{
	const unsigned which = event == KEVENT_ID_irq_handler_exit ? HELD_IRQ : HELD_SOFTIRQ;
	struct select_cpu *cpu = &select->cpu[number];

	if (cpu->held[which].any) {
		cpu->held[which].any = false;
	} else if (cpu->inside[which]) {
		cpu->inside[which]--;
		select->take(select->context, number, event, record);
	}
}

/* The thread that faults runs. */
static void on_fault(struct select *select, unsigned number, unsigned event,
		     const struct krecord *record)
{
	struct select_cpu *cpu = &select->cpu[number];

	if (event == KEVENT_ID_x86_exceptions_page_fault_user)
		cpu->ours =
			thread_of(select, record_integer(record, &select->at.tid[event])) != NULL;
	if (cpu->ours)
		select->take(select->context, number, event, record);
}

/* A count arrives just after the switch that ends its interval. */
static void on_count(struct select *select, unsigned cpu, unsigned event,
		     const struct krecord *record)
{
	const int64_t tid = record_integer(record, &select->at.tid[event]);

	if (thread_of(select, tid) || (tid && select->cpu[cpu].gone == tid))
		select->take(select->context, cpu, event, record);
}

void select_record(struct select *select, unsigned cpu, unsigned event,
		   const struct krecord *record)
{
	if (cpu >= select->cpus)
		return;
	switch (event) {
	case KEVENT_ID_sched_switch:
		on_switch(select, cpu, record);
		break;
	case KEVENT_ID_irq_handler_entry:
	case KEVENT_ID_irq_softirq_entry:
		on_enter(select, cpu, event, record);
		break;
	case KEVENT_ID_irq_handler_exit:
	case KEVENT_ID_irq_softirq_exit:
		on_leave(select, cpu, event, record);
		break;
	case KEVENT_ID_cpu_cycles:
	case KEVENT_ID_cpu_clock:
		on_count(select, cpu, event, record);
		break;
	case KEVENT_ID_block_rq_issue:
	case KEVENT_ID_block_rq_complete:
	case KEVENT_ID_net_dev_queue:
	case KEVENT_ID_net_if_receive_skb:
		select->take(select->context, cpu, event, record);
		break;
	case KEVENT_ID_syscall_entry_unknown:
	case KEVENT_ID_syscall_exit_unknown:
		if (thread_of(select, record_integer(record, &select->at.tid[event])))
			select->take(select->context, cpu, event, record);
		break;
	case KEVENT_ID_x86_exceptions_page_fault_user:
	case KEVENT_ID_minor_faults:
	case KEVENT_ID_major_faults:
		on_fault(select, cpu, event, record);
		break;
	default:
		on_thread(select, cpu, event, record);
	}
}
