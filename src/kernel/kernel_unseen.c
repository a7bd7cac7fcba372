/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches that the kernel did not report, and did not count as lost either
 * (docs/decisions/kernel.md).
 *
 * Switches of a CPU form a chain: each one is away from the thread to which the one before was.
 * Where the chain is broken, at least one switch is missing. A broken chain says nothing new if the
 * source counted losses meanwhile, as when a ring was full. A thread that is not the first of its
 * process and calls execve(2) gets another number, which looks the same.
 */
#include <stdlib.h>

#include "kernel/kernel_place.h"

struct unseen_cpu {
	bool known; /* the thread on the CPU */
	int64_t on;
	bool counted;  /* the source counted losses in this pass */
	uint64_t lost; /* by the source, up to this pass */
};

struct unseen {
	struct kplace prev, next;
	uint64_t switches;
	struct unseen_cpu cpu[];
};

struct unseen *unseen_create(unsigned cpus, const struct kformat *format)
{
	struct unseen *unseen = calloc(1, sizeof(*unseen) + cpus * sizeof(unseen->cpu[0]));

	if (unseen) {
		unseen->prev = select_place(format, KEVENT_ID_sched_switch, "prev_pid");
		unseen->next = select_place(format, KEVENT_ID_sched_switch, "next_pid");
	}
	return unseen;
}

void unseen_pass(struct unseen *unseen, unsigned cpu, uint64_t lost)
{
	struct unseen_cpu *at = &unseen->cpu[cpu];

	at->counted = lost != at->lost;
	at->lost = lost;
}

void unseen_switch(struct unseen *unseen, struct select *select, unsigned cpu,
		   const struct krecord *record)
{
	struct unseen_cpu *at = &unseen->cpu[cpu];
	const int64_t prev = record_integer(record, &unseen->prev);
	const bool broken = at->known && at->on != prev;

	at->on = record_integer(record, &unseen->next);
	at->known = true;
	if (broken && (!select || select_unseen(select, cpu, prev)) && !at->counted)
		unseen->switches++;
}

uint64_t unseen_switches(const struct unseen *unseen)
{
	return unseen ? unseen->switches : 0;
}
