/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the kernel's events are taken (kernel/kernel_select.c), against a scheduler made here,
 * which knows who ran, and who waited where: all of threads that are followed is there; who had
 * their CPU meanwhile; and nothing of a CPU that they never saw.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "kernel/kernel_place.h"

#define CPUS 4				/* the last one is never ours */
/* Tids 1 ..; odd ones are ours at first, and children of ours. */
#define THREADS 14
#define STEPS 20000
#define EVENTS_MAX (STEPS * 6)

/* A record as the formats below have it. */
struct raw {
	uint16_t id, pad;
	int32_t tid, other, cpu;	/* prev, next; parent, child */
	int64_t state;
};

struct happened {
	unsigned cpu, event;
	uint64_t ns;
	struct raw raw;
	bool must, taken;
};

static struct happened happened[EVENTS_MAX];
static unsigned count, taken_count;
static uint64_t last_ns[CPUS];

static struct {
	bool alive, ours, ready, exits;
	int cpu;			/* where it runs or waits; -1: asleep */
} thread[THREADS + 1];
static int runs[CPUS];			/* tid; 0: idle */
static int last_switch[CPUS];		/* index in happened; -1 */

static bool is_wanted(unsigned cpu)
{
	for (int i = 1; i <= THREADS; i++)
		if (thread[i].alive && thread[i].ours && thread[i].ready &&
		    thread[i].cpu == (int)cpu)
			return true;
	return false;
}

static void put(unsigned cpu, unsigned event, struct raw raw, bool must)
{
	assert_true(count < EVENTS_MAX);
	raw.id = (uint16_t)(event + 1);
	happened[count] =
		(struct happened){ cpu, event, 1000 * (uint64_t)(count + 1), raw, must, false };
	if (event == KEVENT_ID_sched_switch)
		last_switch[cpu] = (int)count;
	count++;
}

static void switch_to(unsigned cpu, int next, bool sleeps)
{
	int prev = runs[cpu];
	bool must = (prev && thread[prev].ours) || (next && thread[next].ours) || is_wanted(cpu);
	/* It may sleep, and be preempted, before it does. */
	const bool dies = sleeps && prev && thread[prev].exits && rand() % 2;

	put(cpu, KEVENT_ID_sched_switch,
	    (struct raw){ .tid = prev, .other = next, .state = dies ? 0x10 : prev && sleeps },
	    must);
	if (dies) {
		memset(&thread[prev], 0, sizeof(thread[prev]));
		thread[prev].cpu = -1;
	} else if (prev) {
		thread[prev].ready = !sleeps;
		thread[prev].cpu = sleeps ? -1 : (int)cpu;
	}
	if (next) {
		thread[next].ready = false;
		thread[next].cpu = (int)cpu;
	}
	runs[cpu] = next;
}

/* A thread begins to wait on @target: who has that CPU has to be told. */
static void wake(unsigned cpu, int tid, unsigned target, unsigned event)
{
	put(cpu, event, (struct raw){ .tid = tid, .cpu = (int32_t)target }, thread[tid].ours);
	thread[tid].ready = true;
	thread[tid].cpu = (int)target;
	if (thread[tid].ours && last_switch[target] >= 0)
		happened[last_switch[target]].must = true;
}

static int pick(unsigned cpu)
{
	for (int tries = 0, tid; tries < THREADS; tries++) {
		tid = 1 + rand() % THREADS;
		if (thread[tid].alive && thread[tid].ready && thread[tid].cpu == (int)cpu)
			return tid;
	}
	return 0;
}

static void step(void)
{
	unsigned cpu = (unsigned)rand() % CPUS, target = (unsigned)rand() % (CPUS - 1);
	int tid = 1 + rand() % THREADS, next;

	switch (rand() % 6) {
	case 0:
	case 1:				/* whoever runs sleeps, or is preempted */
		next = pick(cpu);
		if (next || runs[cpu])
			switch_to(cpu, next, !next || rand() % 2);
		break;
	case 2:				/* from an interrupt */
		put(cpu, KEVENT_ID_irq_handler_entry, (struct raw){ 0 },
		    is_wanted(cpu) || (runs[cpu] && thread[runs[cpu]].ours));
		happened[count - 1].raw.tid = (int32_t)cpu;
		if (thread[tid].alive && thread[tid].cpu < 0) {
			if (thread[tid].ours)
				happened[count - 1].must = true;
			wake(cpu, tid, thread[tid].ours ? target : (unsigned)rand() % CPUS,
			     KEVENT_ID_sched_waking);
		}
		put(cpu, KEVENT_ID_irq_handler_exit, (struct raw){ 0 },
		    happened[count - 1].event == KEVENT_ID_sched_waking ? happened[count - 2].must
									: happened[count - 1].must);
		break;
	case 3:
		if (thread[tid].alive && thread[tid].ready)
			wake(cpu, tid, thread[tid].ours ? target : (unsigned)rand() % CPUS,
			     KEVENT_ID_sched_migrate_task);
		break;
	case 4:				/* one that is not there yet is made by who runs */
		if (!runs[cpu] || thread[tid].alive)
			break;
		thread[tid].alive = true;
		thread[tid].ours = thread[runs[cpu]].ours;
		put(cpu, KEVENT_ID_sched_process_fork,
		    (struct raw){ .tid = runs[cpu], .other = tid }, thread[tid].ours);
		wake(cpu, tid, thread[tid].ours ? target : CPUS - 1, KEVENT_ID_sched_wakeup_new);
		break;
	default:
		if (!runs[cpu] || thread[runs[cpu]].exits || rand() % 8)
			break;
		put(cpu, KEVENT_ID_sched_process_exit, (struct raw){ .tid = runs[cpu] },
		    thread[runs[cpu]].ours);
		thread[runs[cpu]].exits = true;
	}
}

/* ---- what is checked ---- */

static void take(void *context, unsigned cpu, unsigned event, const struct krecord *record)
{
	const uint64_t index = record->ns / 1000 - 1;

	(void)context;
	assert_true(index < count && happened[index].cpu == cpu && happened[index].event == event);
	assert_memory_equal(record->raw, &happened[index].raw, sizeof(struct raw));
	assert_false(happened[index].taken);
	assert_true(record->ns > last_ns[cpu]);
	last_ns[cpu] = record->ns;
	happened[index].taken = true;
	taken_count++;
}

static struct kplace place(const char *raw)
{
#define AT(member, is_signed)                                                                     \
	(struct kplace)                                                                           \
	{                                                                                         \
		offsetof(struct raw, member), sizeof(((struct raw *)0)->member), false, is_signed \
	}
	if (strcmp(raw, "prev_pid") == 0 || strcmp(raw, "pid") == 0 || strcmp(raw, "parent_pid") == 0)
		return AT(tid, true);
	if (strcmp(raw, "next_pid") == 0 || strcmp(raw, "child_pid") == 0)
		return AT(other, true);
	if (strcmp(raw, "prev_state") == 0)
		return AT(state, true);
	if (strcmp(raw, "target_cpu") == 0 || strcmp(raw, "dest_cpu") == 0)
		return AT(cpu, true);
	return (struct kplace){ 0 };
}

static void run(unsigned seed)
{
	struct kformat format[KEVENT_ID_COUNT] = { 0 };
	struct select *select;
	unsigned of_ours = 0;

	srand(seed);
	memset(thread, 0, sizeof(thread));
	memset(runs, 0, sizeof(runs));
	memset(last_ns, 0, sizeof(last_ns));
	memset(last_switch, -1, sizeof(last_switch));
	count = taken_count = 0;
	for (unsigned i = 0; i < KEVENT_ID_COUNT; i++) {
		format[i].id = i + 1;
		for (unsigned field = 0; kevents[i].field[field].kind != KEVENT_NONE; field++)
			format[i].place[field] = place(kevents[i].field[field].raw);
	}
	select = select_create(CPUS, format, take, NULL);
	assert_non_null(select);
	for (int i = 1; i <= THREADS; i++) {
		thread[i].cpu = -1;
		thread[i].alive = i <= 8;
		thread[i].ours = i <= 8 && i % 2;
		if (thread[i].ours)
			assert_int_equal(select_follow(select, i), 1);
	}
	while (count < STEPS)
		step();
	for (unsigned i = 0; i < count; i++) {
		struct krecord record = { happened[i].ns, (const uint8_t *)&happened[i].raw,
					  sizeof(struct raw) };

		assert_int_equal(format_find(format, &record), happened[i].event);
		select_record(select, happened[i].cpu, happened[i].event, &record);
		of_ours += happened[i].must;
	}
	select_free(select);
	for (unsigned i = 0; i < count; i++) {
		if (happened[i].must && !happened[i].taken)
			fail_msg("seed %u: event %u (%s) on CPU %u is not there", seed, i, kevents[happened[i].event].name,
				 happened[i].cpu);
	}
	assert_true(of_ours > 100);
	assert_true(taken_count < count);
}

static void all_of_ours_is_there(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 40; seed++)
		run(seed);
}

static void take_nothing(void *context, unsigned cpu, unsigned event, const struct krecord *record)
{
	(void)cpu;
	(void)event;
	(void)record;
	++*(unsigned *)context;
}

/* A record that is too short for its fields names nobody; a CPU that is none is none. */
static void damage_is_nobody(void **state)
{
	struct kformat format[KEVENT_ID_COUNT] = { 0 };
	struct raw raw = { .id = 1, .tid = 5, .cpu = 4711 };
	unsigned taken = 0;
	struct select *select;

	(void)state;
	for (unsigned i = 0; i < KEVENT_ID_COUNT; i++)
		for (unsigned field = 0; kevents[i].field[field].kind != KEVENT_NONE; field++)
			format[i].place[field] = place(kevents[i].field[field].raw);
	select = select_create(CPUS, format, take_nothing, &taken);
	assert_int_equal(select_follow(select, 5), 1);
	assert_int_equal(select_follow(select, 5), 0);
	assert_int_equal(select_follow(select, 0), 0);
	assert_int_equal(select_follow(select, -1), 0);
	for (unsigned event = 0; event < KEVENT_ID_COUNT; event++) {
		for (uint32_t size = 0; size < 8; size++)
			select_record(select, 0, event,
				      &(struct krecord){ 1, (const uint8_t *)&raw, size });
		select_record(select, CPUS, event,
			      &(struct krecord){ 1, (const uint8_t *)&raw, sizeof(raw) });
	}
	/* Four events of disks and the network are of the whole machine, whoever they name. */
	assert_int_equal(taken, 4 * 8);
	taken = 0;
	select_record(select, 0, KEVENT_ID_sched_waking,
		      &(struct krecord){ 1, (const uint8_t *)&raw, sizeof(raw) });
	assert_true(taken >= 1);	/* with the switch before it, for all one can tell */
	select_free(select);
}

static void switches(struct unseen *unseen, struct select *select, const int (*pairs)[2],
		     unsigned pairs_count)
{
	for (unsigned i = 0; i < pairs_count; i++) {
		const struct raw raw = { .tid = pairs[i][0], .other = pairs[i][1] };
		const struct krecord record = { i + 1, (const uint8_t *)&raw, sizeof(raw) };

		unseen_record(unseen, select, 0, KEVENT_ID_sched_switch, &record);
		if (select)
			select_record(select, 0, KEVENT_ID_sched_switch, &record);
	}
}

/* 5 is followed. Switches are missing to it, from it, and between threads that nobody follows. */
static void unseen_switches_are_counted(void **state)
{
	static const int whole[][2] = { { 0, 7 }, { 7, 5 }, { 5, 0 }, { 0, 7 } };
	static const int to[][2] = { { 7, 8 }, { 5, 0 } }, from[][2] = { { 0, 5 }, { 8, 0 } },
			 strangers[][2] = { { 0, 7 }, { 8, 0 }, { 7, 0 } };
	struct kformat format[KEVENT_ID_COUNT] = { 0 };
	unsigned taken = 0;
	struct unseen *unseen;
	struct select *select;

	(void)state;
	for (unsigned i = 0; i < KEVENT_ID_COUNT; i++)
		for (unsigned field = 0; kevents[i].field[field].kind != KEVENT_NONE; field++)
			format[i].place[field] = place(kevents[i].field[field].raw);
	select = select_create(CPUS, format, take_nothing, &taken);
	unseen = unseen_create(CPUS, format);
	assert_true(select && unseen);
	assert_int_equal(select_follow(select, 5), 1);
	switches(unseen, select, whole, COUNT_OF(whole));
	assert_int_equal(unseen_switches(unseen), 0);
	switches(unseen, select, to, COUNT_OF(to));
	assert_int_equal(unseen_switches(unseen), 1);
	switches(unseen, select, from, COUNT_OF(from));
	assert_int_equal(unseen_switches(unseen), 2);
	switches(unseen, select, strangers,
		 1); /* and whole, for what the selection shows behind a thread of ours */
	switches(unseen, select, strangers + 2, 1);
	assert_int_equal(unseen_switches(unseen), 2);
	switches(unseen, select, strangers, COUNT_OF(strangers));
	assert_int_equal(unseen_switches(unseen), 2);

	/* Without a selection all count, but for those of a time in which the source counted losses
	 * itself. */
	unseen_pass(unseen, 0, 3);
	switches(unseen, NULL, strangers, COUNT_OF(strangers));
	assert_int_equal(unseen_switches(unseen), 2);
	unseen_pass(unseen, 0, 3);
	switches(unseen, NULL, strangers, COUNT_OF(strangers));
	assert_int_equal(unseen_switches(unseen), 2); /* captured then, and walked one pass later */
	unseen_pass(unseen, 0, 3);
	switches(unseen, NULL, strangers, COUNT_OF(strangers));
	assert_int_equal(unseen_switches(unseen), 4);
	assert_int_equal(unseen_switches(NULL), 0);
	free(unseen);
	select_free(select);
}

#define ENTRY KEVENT_ID_syscall_entry_unknown
#define EXIT KEVENT_ID_syscall_exit_unknown

static void call(struct unseen *unseen, struct select *select, unsigned event, int tid, int number)
{
	const struct raw raw = { .tid = tid, .other = number };

	unseen_record(unseen, select, 0, event,
		      &(struct krecord){ 1, (const uint8_t *)&raw, sizeof(raw) });
}

/* 5 is followed. A call begins or ends inside another one, and what is no gap. */
static void unseen_calls_are_counted(void **state)
{
	struct kformat format[KEVENT_ID_COUNT] = { 0 };
	unsigned taken = 0;
	struct unseen *unseen;
	struct select *select;

	(void)state;
	format[ENTRY].place[0] = format[EXIT].place[0] = place("next_pid"); /* id, tid */
	format[ENTRY].place[1] = format[EXIT].place[2] = place("pid");	    /* id, ret, tid */
	select = select_create(CPUS, format, take_nothing, &taken);
	unseen = unseen_create(CPUS, format);
	assert_true(select && unseen);
	assert_int_equal(select_follow(select, 5), 1);
	call(unseen, select, EXIT, 5, SYS_read); /* the recording began inside of it */
	call(unseen, select, ENTRY, 5, SYS_read);
	call(unseen, select, EXIT, 5, SYS_read);
	call(unseen, select, EXIT, 5, SYS_write); /* refused by a filter */
	call(unseen, select, ENTRY, 5, SYS_rt_sigreturn);
	call(unseen, select, EXIT, 5, -1);
	call(unseen, select, ENTRY, 5, SYS_futex); /* another thread calls execve(2) */
	call(unseen, select, EXIT, 5, SYS_execve);
	call(unseen, select, ENTRY, 9, SYS_read); /* a stranger */
	call(unseen, select, ENTRY, 9, SYS_read);
	assert_int_equal(unseen_calls(unseen), 0);
	call(unseen, select, ENTRY, 5, SYS_read);
	call(unseen, select, ENTRY, 5, SYS_write); /* the end of read is missing */
	assert_int_equal(unseen_calls(unseen), 1);
	/* So are the end of write and the begin of close. */
	call(unseen, select, EXIT, 5, SYS_close);
	assert_int_equal(unseen_calls(unseen), 2);
	call(unseen, select, ENTRY, 5, SYS_read);
	unseen_pass(unseen, 1, 3); /* losses that the source counted, on any CPU */
	call(unseen, select, ENTRY, 5, SYS_write);
	call(unseen, select, ENTRY, 5, SYS_write);
	unseen_pass(unseen, 1, 3);
	call(unseen, select, ENTRY, 5, SYS_write);
	call(unseen, select, ENTRY, 5, SYS_write);
	assert_int_equal(unseen_calls(unseen), 2);
	unseen_pass(unseen, 1, 3);
	call(unseen, select, ENTRY, 5, SYS_write);
	assert_int_equal(unseen_calls(unseen), 3);
	assert_int_equal(unseen_calls(NULL), 0);
	free(unseen);
	select_free(select);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_ours_is_there),
		cmocka_unit_test(damage_is_nobody),
		cmocka_unit_test(unseen_switches_are_counted),
		cmocka_unit_test(unseen_calls_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
