/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by sched.c (threads, CPUs) and sched_events.c (what an event means). */
#ifndef KYMO_ANALYSIS_SCHED_INTERNAL_H
#define KYMO_ANALYSIS_SCHED_INTERNAL_H

#include "analysis/sched/sched.h"
#include "base/map.h"

#define CPUS_MAX 4096u		/* of a host; a number beyond is none */
#define READY_MAX 256u		/* threads that wait for one CPU and are kept to report who has it */

struct task {
	uint32_t host;
	int32_t tid;
	enum sched_state state;
	int32_t cpu;
	int64_t since_ns;		/* since when the state is not reported yet */
	int32_t last_cpu;		/* it was on; -1: none yet */
	bool woken;			/* by another CPU, while it was on one: when, and for which */
	int64_t woken_ns;
	int32_t woken_cpu;
	bool exits;			/* it is about to be gone */
	int32_t waker_tid;		/* of the latest wake-up; -1: not known */
	char waker[SCHED_COMM_SIZE];
	bool is_listed;
	struct task *next, *previous;	/* of those who wait for a CPU */
	struct sched_usage usage, inside;	/* in all; inside of the window */
	char name[SCHED_COMM_SIZE];
};

struct cpu {
	bool known;			/* who is on it */
	uint32_t stream;		/* its events are in */
	int32_t tid;
	char name[SCHED_COMM_SIZE];
	struct task *ready;
	unsigned ready_count;
};

struct sched {
	const struct kymo_ctf_reader *reader;
	const struct sched_listener *listener;
	void *context;
	struct map tasks;		/* (tid, host) -> struct task */
	struct cpu **cpu;		/* by host * CPUS_MAX + number; NULL: not seen */
	uint32_t cpu_room;
	uint32_t *host;			/* by trace */
	uint32_t traces;
	int64_t begin_ns, end_ns;	/* the window */
	uint8_t *has_names;		/* by class: next_comm and prev_comm are texts */
	unsigned classes;
};

/* A thread, created if need be. Return: NULL without memory. */
struct task *sched_task(struct sched *sched, uint32_t host, int32_t tid);
/* A CPU, created if need be. Return: NULL: without memory, or the number is none. */
struct cpu *sched_cpu(struct sched *sched, uint32_t host, int32_t number);
bool sched_is_cpu(uint32_t host, int32_t number);

/* @task is in @state from now on, on or for @cpu; its state until now is reported. */
void sched_become(struct sched *sched, struct task *task, enum sched_state state, int32_t cpu, int64_t ns);
/* Who waits for this CPU waited until now for who has it. */
void sched_settle(struct sched *sched, struct cpu *cpu, int64_t ns);
void sched_forget(struct sched *sched, struct task *task);

#endif
