/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches and system calls that the kernel did not report, and did not count as lost either
 * (docs/decisions/kernel.md).
 *
 * Switches of a CPU form a chain: each one is away from the thread to which the one before was.
 * Where the chain is broken, at least one switch is missing. A thread that is not the first of its
 * process and calls execve(2) gets another number, which looks the same.
 *
 * System calls of a thread form a chain, too: a call ends before the next one begins. Where one
 * begins or ends inside another one, at least one event is missing. An end without a begin is none:
 * a filter of seccomp(2) that refuses a call leaves out its begin.
 *
 * A broken chain says nothing new if the source counted losses meanwhile, as when a ring was full.
 * What a pass captured may be walked in the next one, so a loss holds for two passes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/syscalls.h"
#include "kernel/kernel_place.h"

#define NO_CALL (-1)
#define COUNTED_PASSES 2

struct unseen_cpu {
	bool known; /* the thread on the CPU */
	int64_t on;
	unsigned counted; /* passes in which a loss that the source counted explains a gap */
	uint64_t lost;	  /* by the source, up to this pass */
};

struct unseen {
	struct kplace prev, next;
	struct kplace number[2]; /* of a system call: when it begins, when it ends */
	uint64_t switches, calls;
	unsigned since; /* the last loss that the source counted, on any CPU; begins with 1 */
	unsigned cpus;
	struct unseen_cpu cpu[];
};

struct unseen *unseen_create(unsigned cpus, const struct kformat *format)
{
	struct unseen *unseen = calloc(1, sizeof(*unseen) + cpus * sizeof(unseen->cpu[0]));

	if (!unseen)
		return NULL;
	unseen->cpus = cpus;
	unseen->since = 1;
	unseen->prev = select_place(format, KEVENT_ID_sched_switch, "prev_pid");
	unseen->next = select_place(format, KEVENT_ID_sched_switch, "next_pid");
	unseen->number[0] = select_place(format, KEVENT_ID_syscall_entry_unknown, "id");
	unseen->number[1] = select_place(format, KEVENT_ID_syscall_exit_unknown, "id");
	return unseen;
}

void unseen_pass(struct unseen *unseen, unsigned cpu, uint64_t lost)
{
	struct unseen_cpu *at = &unseen->cpu[cpu];

	if (lost != at->lost)
		at->counted = COUNTED_PASSES;
	else if (at->counted)
		at->counted--;
	if (at->counted)
		unseen->since++;
	at->lost = lost;
}

static void count_switch(struct unseen *unseen, struct select *select, unsigned cpu,
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

static bool is_counted(const struct unseen *unseen)
{
	for (unsigned i = 0; i < unseen->cpus; i++)
		if (unseen->cpu[i].counted)
			return true;
	return false;
}

/* Does call @number end with an exit that has its number? */
static bool ends_as_it_began(int64_t number)
{
	static const char *const others[] = { "exit", "exit_group", "execve", "execveat",
					      "rt_sigreturn" };
	const char *name = syscall_name(number);

	for (unsigned i = 0; name && i < COUNT_OF(others); i++)
		if (strcmp(name, others[i]) == 0)
			return false;
	return name != NULL;
}

static void count_call(struct unseen *unseen, struct select *select, bool is_exit,
		       const struct krecord *record)
{
	const int64_t number = record_integer(record, &unseen->number[is_exit]);
	struct select_call *call = select_call(
		select, is_exit ? KEVENT_ID_syscall_exit_unknown : KEVENT_ID_syscall_entry_unknown,
		record);

	if (!call)
		return;
	if (call->since == unseen->since && call->number != NO_CALL &&
	    ends_as_it_began(call->number) &&
	    (!is_exit || (call->number != number && ends_as_it_began(number))) &&
	    !is_counted(unseen))
		unseen->calls++;
	call->since = unseen->since;
	call->number = is_exit ? NO_CALL : number;
}

void unseen_record(struct unseen *unseen, struct select *select, unsigned cpu, unsigned event,
		   const struct krecord *record)
{
	if (event == KEVENT_ID_sched_switch)
		count_switch(unseen, select, cpu, record);
	else if (select && calls_is_one(event))
		count_call(unseen, select, event == KEVENT_ID_syscall_exit_unknown, record);
}

uint64_t unseen_switches(const struct unseen *unseen)
{
	return unseen ? unseen->switches : 0;
}

uint64_t unseen_calls(const struct unseen *unseen)
{
	return unseen ? unseen->calls : 0;
}
