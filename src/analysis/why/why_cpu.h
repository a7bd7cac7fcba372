/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's states of threads while instances were in progress. It keeps the spells of
 * sched.h, the page faults and the system calls of the model's threads, inside windows only.
 * Threads are identified by tid, so threads of other pid namespaces are not found.
 *
 * Context of all functions: not thread-safe; allocate.
 */
#ifndef KYMO_ANALYSIS_WHY_CPU_H
#define KYMO_ANALYSIS_WHY_CPU_H

#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "analysis/sched/sched.h"
#include "analysis/system/system_calls.h"
#include "analysis/system/system_faults.h"
#include "analysis/why/why.h"
#include "ctf/read/reader.h"

#define WHY_COMM_SIZE SCHED_COMM_SIZE

struct why_cpu;

/**
 * why_cpu_create() - for the threads of @model, and only inside the windows in @window.
 *
 * Return: 0, or -1 with @err.
 */
int why_cpu_create(struct why_cpu **cpu, const struct kymo_ctf_reader *reader,
		   const struct model *model, const struct why_window *window, unsigned windows,
		   struct kymo_err *err);

/**
 * why_cpu_also() - report the spells of all threads of the machine, not only in windows, to @spell;
 * before the pass. @context must stay valid as long as the pass.
 */
void why_cpu_also(struct why_cpu *cpu,
		  void (*spell)(void *context, const struct sched_spell *spell), void *context);

/** why_cpu_sched() - the scheduler's states at the latest event; valid as long as @cpu. */
const struct sched *why_cpu_sched(const struct why_cpu *cpu);

/* State of a thread during a stretch of time. */
enum why_state {
	WHY_ON_CPU,	/* on a CPU, or unknown */
	WHY_READY,	/* it could run, but was not on a CPU */
	WHY_ASLEEP,	/* blocked: a lock, a wait, a page from a disk */
};

struct why_spell {
	enum why_state state;
	int64_t from_ns, to_ns;
	/*
	 * READY: the thread on the CPU; ASLEEP: the thread on the CPU that woke it; 0: idle CPU;
	 * -1: unknown
	 */
	int32_t by_tid;
	char by[WHY_COMM_SIZE];		/* its name */
};

/**
 * why_spells() - report the states of @thread in [@from_ns, @to_ns]
 * @take: called for each spell, in order, without gaps between spells
 */
void why_spells(const struct why_cpu *cpu, const struct model_thread *thread, int64_t from_ns,
		int64_t to_ns, void (*take)(void *context, const struct why_spell *spell),
		void *context);

/**
 * why_idle_until() - the end of the last sleep of an executor on @thread in [@from_ns, @to_ns]
 * while it waited for work
 * @cpu: NULL: use the end of the last wait for work, if that wait is long enough to be a sleep
 *
 * During the sleep no message was ready. So callbacks that ran before the end of the sleep did not
 * delay the message that the executor received afterwards.
 * Return: @from_ns if the thread did not sleep.
 */
int64_t why_idle_until(const struct why_others *others, const struct why_cpu *cpu,
		       const struct model_thread *thread, int64_t from_ns, int64_t to_ns);

/**
 * why_faults() - find the page faults of @thread that overlap [@from_ns, @to_ns), ordered by start
 * @first: set to the first one. Their ends are later than in the events: by faults_around_ns(), or,
 *   if the thread's next fault came within twice that time, until that fault
 *
 * Return: their number.
 */
size_t why_faults(const struct why_cpu *cpu, const struct model_thread *thread, int64_t from_ns,
		  int64_t to_ns, const struct fault **first);

/**
 * why_call() - the name of the system call that @thread was in during all of [@from_ns, @to_ns];
 * NULL: none, or unknown.
 */
const char *why_call(const struct why_cpu *cpu, const struct model_thread *thread, int64_t from_ns,
		     int64_t to_ns);

/* For pass_add(): in a pass of its own, because it binds other events than the model. */
extern const struct pass_ops why_cpu_pass;

#endif
