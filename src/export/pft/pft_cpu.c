/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel did on a CPU: bundles of ftrace events. Readers derive from them which thread ran
 * when, the states of threads, and slices of interrupts:
 *
 *   packet { ftrace_events { cpu | clock 4 | event { timestamp, pid, sched_switch { ... } } ... } }
 *
 * Bundles name their clock, and the format has no number for CLOCK_MONOTONIC there. So they name
 * MONOTONIC_RAW (4), and a clock snapshot says that both are the same.
 *
 * A switch is held back until the next switch of its CPU. If that leaves another thread than the
 * held one enters, switches in between are not in the trace, and readers would report damage. Then
 * the CPU is shown idle in between.
 */
#include "export/pft/pft_internal.h"

#include <errno.h>
#include <stdlib.h>

#define BUNDLE_BYTES (16u << 10)
#define CLOCK_MONO_RAW 4		/* of a bundle */
#define PRIO_IDLE 120

/* Field numbers: of a bundle, of an event, of the kinds of events. */
enum { B_CPU = 1, B_EVENT = 2, B_LOST = 3, B_CLOCK = 5 };
enum {
	E_TIME = 1,
	E_PID = 2,
	E_SWITCH = 4,
	E_WAKING = 20,
	E_SOFTIRQ_ENTRY = 24,
	E_SOFTIRQ_EXIT = 25,
	E_IRQ_ENTRY = 36,
	E_IRQ_EXIT = 37,
	E_SYS_ENTER = 329,
	E_SYS_EXIT = 330,
};

struct pft_cpu {
	struct pft *pft;
	uint32_t machine, number;
	struct pb events;		/* of the bundle that is being filled */
	bool lost;			/* before it */
	bool begun;			/* a switch was written, to `current` */
	bool held;
	int32_t current;
	char current_name[PFT_COMM];
	int32_t current_prio;
	struct pft_switch held_switch;
};

static void put_clock(struct pft_cpu *cpu, int64_t ns)
{
	struct pb *pb = &cpu->pft->block;

	pft_packet_of(cpu->pft, cpu->machine);
	pb_open(pb, F_CLOCK_SNAPSHOT);
	pft_clock(pb, PFT_CLOCK_MONOTONIC, ns, false);
	pft_clock(pb, PFT_CLOCK_MONOTONIC_RAW, ns, false);
	pb_close(pb);
	pft_packet_end(cpu->pft);
}

struct pft_cpu *pft_cpu(struct pft *pft, uint32_t machine, uint32_t number, int64_t ns)
{
	struct pft_cpu *cpu = calloc(1, sizeof(*cpu));

	if (!cpu) {
		pft_fail(pft, ENOMEM, "cannot write");
		return NULL;
	}
	cpu->pft = pft;
	cpu->machine = machine;
	cpu->number = number;
	put_clock(cpu, ns);
	return cpu;
}

void pft_kernel(struct pft *pft, uint32_t machine, const char *release, const char *architecture)
{
	struct pb *pb = &pft->block;

	pft_packet_of(pft, machine);
	pb_open(pb, F_SYSTEM_INFO);
	pb_open(pb, 1);
	pb_text(pb, 1, "Linux");
	pb_text(pb, 3, release);
	if (architecture)
		pb_text(pb, 4, architecture);
	pb_close(pb);
	pb_close(pb);
	pft_packet_end(pft);
}

static void flush(struct pft_cpu *cpu)
{
	struct pb *pb = &cpu->pft->block;

	if (cpu->events.failed)
		pft_fail(cpu->pft, ENOMEM, "cannot write");
	if (!cpu->events.size)
		return;
	pft_packet_of(cpu->pft, cpu->machine);
	pb_open(pb, F_FTRACE);
	pb_uint(pb, B_CPU, cpu->number);
	if (cpu->lost)
		pb_uint(pb, B_LOST, 1);
	pb_uint(pb, B_CLOCK, CLOCK_MONO_RAW);
	pb_raw(pb, cpu->events.data, cpu->events.size);
	pb_close(pb);
	pft_packet_end(cpu->pft);
	cpu->events.size = 0;
	cpu->lost = false;
}

/* Begins an event: two messages are open until end(). */
static struct pb *begin(struct pft_cpu *cpu, int64_t ns, int32_t tid, uint32_t what)
{
	pb_open(&cpu->events, B_EVENT);
	pb_uint(&cpu->events, E_TIME, (uint64_t)ns);
	pb_uint(&cpu->events, E_PID, (uint32_t)tid);
	pb_open(&cpu->events, what);
	return &cpu->events;
}

static void end(struct pft_cpu *cpu)
{
	pb_close(&cpu->events);
	pb_close(&cpu->events);
	if (cpu->events.size >= BUNDLE_BYTES)
		flush(cpu);
}

static void put_switch(struct pft_cpu *cpu, const struct pft_switch *change)
{
	struct pb *pb = begin(cpu, change->ns, change->prev_tid, E_SWITCH);

	pb_text(pb, 1, change->prev_name);
	pb_uint(pb, 2, (uint64_t)change->prev_tid);
	pb_uint(pb, 3, (uint64_t)(int64_t)change->prev_prio);
	pb_uint(pb, 4, (uint64_t)change->prev_state);
	pb_text(pb, 5, change->next_name);
	pb_uint(pb, 6, (uint64_t)change->next_tid);
	pb_uint(pb, 7, (uint64_t)(int64_t)change->next_prio);
	end(cpu);
	cpu->begun = true;
	cpu->current = change->next_tid;
	memcpy(cpu->current_name, change->next_name, PFT_COMM);
	cpu->current_prio = change->next_prio;
}

/* Writes the held switch; @known: the thread that it enters runs until the next switch. */
static void put_held(struct pft_cpu *cpu, bool known)
{
	struct pft_switch change = cpu->held_switch;

	if (!cpu->held)
		return;
	cpu->held = false;
	if (!known) {
		change.next_tid = 0;
		change.next_prio = PRIO_IDLE;
		snprintf(change.next_name, PFT_COMM, "swapper/%u", cpu->number % 1000);
	}
	put_switch(cpu, &change);
}

void pft_cpu_switch(struct pft_cpu *cpu, const struct pft_switch *change)
{
	struct pft_switch between = *change;

	if (!cpu)
		return;
	put_held(cpu, cpu->held_switch.next_tid == change->prev_tid);
	if (cpu->begun && cpu->current != change->prev_tid) {
		between.prev_tid = cpu->current;
		between.prev_prio = cpu->current_prio;
		between.prev_state = 0;
		memcpy(between.prev_name, cpu->current_name, PFT_COMM);
		between.next_tid = change->prev_tid;
		between.next_prio = change->prev_prio;
		memcpy(between.next_name, change->prev_name, PFT_COMM);
		put_switch(cpu, &between);
	}
	cpu->held = true;
	cpu->held_switch = *change;
}

/* The thread on the CPU, as far as it is known. */
static int32_t current(const struct pft_cpu *cpu)
{
	return cpu->held ? cpu->held_switch.next_tid : cpu->current;
}

void pft_cpu_waking(struct pft_cpu *cpu, int64_t ns, int32_t tid, const char *name, int32_t prio,
		    int32_t target)
{
	struct pb *pb;

	if (!cpu)
		return;
	pb = begin(cpu, ns, current(cpu), E_WAKING);
	pb_text(pb, 1, name);
	pb_uint(pb, 2, (uint64_t)tid);
	pb_uint(pb, 3, (uint64_t)(int64_t)prio);
	pb_uint(pb, 4, 1);
	pb_uint(pb, 5, (uint64_t)(int64_t)target);
	end(cpu);
}

void pft_cpu_irq_entry(struct pft_cpu *cpu, int64_t ns, int32_t irq, const char *name)
{
	struct pb *pb;

	if (!cpu)
		return;
	pb = begin(cpu, ns, current(cpu), E_IRQ_ENTRY);
	pb_uint(pb, 1, (uint64_t)(int64_t)irq);
	pb_text(pb, 2, name);
	end(cpu);
}

void pft_cpu_irq_exit(struct pft_cpu *cpu, int64_t ns, int32_t irq, int32_t ret)
{
	struct pb *pb;

	if (!cpu)
		return;
	pb = begin(cpu, ns, current(cpu), E_IRQ_EXIT);
	pb_uint(pb, 1, (uint64_t)(int64_t)irq);
	pb_uint(pb, 2, (uint64_t)(int64_t)ret);
	end(cpu);
}

void pft_cpu_softirq(struct pft_cpu *cpu, int64_t ns, bool is_entry, uint32_t vec)
{
	if (!cpu)
		return;
	pb_uint(begin(cpu, ns, current(cpu), is_entry ? E_SOFTIRQ_ENTRY : E_SOFTIRQ_EXIT), 1, vec);
	end(cpu);
}

void pft_cpu_syscall(struct pft_cpu *cpu, int64_t ns, int32_t tid, bool is_entry, uint32_t number,
		     int64_t ret)
{
	struct pb *pb;

	if (!cpu)
		return;
	pb = begin(cpu, ns, tid, is_entry ? E_SYS_ENTER : E_SYS_EXIT);
	pb_uint(pb, 1, number);
	if (!is_entry)
		pb_uint(pb, 2, (uint64_t)ret);
	end(cpu);
}

void pft_cpu_loss(struct pft_cpu *cpu)
{
	if (!cpu)
		return;
	flush(cpu);		/* the next switch shows whether one is missing */
	cpu->lost = true;
}

void pft_cpu_close(struct pft_cpu *cpu)
{
	if (!cpu)
		return;
	put_held(cpu, true);
	flush(cpu);
	pb_free(&cpu->events);
	free(cpu);
}
