/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who had the CPU while instances were under way: what sched.h tells of the threads of the model is kept, as far as it is
 * inside of windows; and their page faults and system calls. Threads are known by their number, so those of other pid namespaces are not found.
 *
 * Context of all functions: not thread-safe; allocate.
 */
#ifndef KYMO_ANALYSIS_WHY_CPU_H
#define KYMO_ANALYSIS_WHY_CPU_H

#include <stdbool.h>
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

/** why_cpu_create() - of the threads of @model, and of what is inside of @window only. Return: 0, or -1 with @err. */
int why_cpu_create(struct why_cpu **cpu, const struct kymo_ctf_reader *reader, const struct model *model,
		   const struct why_window *window, unsigned windows, struct kymo_err *err);

/* How a thread spent a stretch of time. */
enum why_state {
	WHY_ON_CPU,	/* or not known */
	WHY_READY,	/* it could run, and did not */
	WHY_ASLEEP,	/* blocked: a lock, a wait, a page from a disk */
};

struct why_spell {
	enum why_state state;
	int64_t from_ns, to_ns;
	int32_t by_tid;			/* READY: who ran there; ASLEEP: on whose CPU it was woken; 0: the CPU was idle; -1: not known */
	char by[WHY_COMM_SIZE];		/* its name */
};

/**
 * why_spells() - what @thread did in [@from_ns, @to_ns]
 * @take: called for each spell, in order, without gaps between them
 */
void why_spells(const struct why_cpu *cpu, const struct model_thread *thread, int64_t from_ns, int64_t to_ns,
		void (*take)(void *context, const struct why_spell *spell), void *context);

/**
 * why_idle_until() - the end of the last sleep of an executor on @thread in [@from_ns, @to_ns] while it waited for work
 * @cpu: NULL: the end of its last wait, if that is too long to be a thread's that only looks
 *
 * What it then took had not come before that: callbacks that ran earlier did not hold it up.
 * Return: @from_ns: it did not sleep.
 */
int64_t why_idle_until(const struct why_others *others, const struct why_cpu *cpu, const struct model_thread *thread,
		       int64_t from_ns, int64_t to_ns);

/**
 * why_faults() - page faults of @thread that are in [@from_ns, @to_ns), also in part, by their start
 * @first: out. Their ends are faults_around_ns() later than told, or up to twice that, when the thread's next one came.
 *
 * Return: their number.
 */
size_t why_faults(const struct why_cpu *cpu, const struct model_thread *thread, int64_t from_ns, int64_t to_ns,
		  const struct fault **first);

/** why_call() - the name of the system call that @thread was in for all of [@from_ns, @to_ns]; NULL: not known, or in none. */
const char *why_call(const struct why_cpu *cpu, const struct model_thread *thread, int64_t from_ns, int64_t to_ns);

/* For pass_add(): a pass of its own, as it binds other events than the model. */
extern const struct pass_ops why_cpu_pass;

#endif
