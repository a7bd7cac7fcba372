/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by sched.c (threads and CPUs) and sched_events.c (the kernel's events). */
#ifndef KYMO_ANALYSIS_SCHED_INTERNAL_H
#define KYMO_ANALYSIS_SCHED_INTERNAL_H

#include "analysis/sched/sched.h"
#include "base/map.h"

#define CPUS_MAX 4096u		/* CPUs of a host; higher numbers are ignored */
/* Threads waiting for one CPU that are reported with the thread on that CPU. */
#define READY_MAX 256u

struct task {
	uint32_t host;
	int32_t tid;
	enum sched_state state;
	int32_t cpu;
	int64_t since_ns;		/* start of the time that is not reported yet */
	int32_t last_cpu;		/* the latest CPU that it was on; -1: none yet */
	/* Another CPU woke it while it was still on a CPU: time, and target CPU. */
	bool woken;
	int64_t woken_ns;
	int32_t woken_cpu;
	bool exits;			/* it is exiting */
	int32_t waker_tid;		/* at the latest wake-up; -1: unknown */
	char waker[SCHED_COMM_SIZE];
	bool is_listed;
	struct task *next, *previous;	/* list of threads waiting for one CPU */
	struct sched_usage usage, inside;	/* in total; inside the window */
	char name[SCHED_COMM_SIZE];
};

struct sched_cpu {
	bool known;			/* the thread on it is known */
	uint32_t stream;		/* the stream of its events */
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
	struct sched_cpu **cpu;		/* by host * CPUS_MAX + number; NULL: not seen */
	uint32_t cpu_room;
	uint32_t *host;			/* by trace */
	uint32_t traces;
	int64_t begin_ns, end_ns;	/* the window */
	uint8_t *has_names;		/* by event class: next_comm and prev_comm are texts */
	unsigned classes;
};

/* Is field @name of @class a text? A trace may declare fields of any type under the kernel's
 * names. */
bool sched_is_text(const struct kymo_ctf_event_class *class, const char *name);

/* Returns the thread, which is created if necessary. Return: NULL: out of memory. */
struct task *sched_task(struct sched *sched, uint32_t host, int32_t tid);
/*
 * Returns the CPU, which is created if necessary. Return: NULL: out of memory, or the number is not
 * valid.
 */
struct sched_cpu *sched_cpu(struct sched *sched, uint32_t host, int32_t number);
bool sched_is_cpu(uint32_t host, int32_t number);

/* @task changes to @state at @ns, on or for @cpu; its previous state is reported. */
void sched_become(struct sched *sched, struct task *task, enum sched_state state, int32_t cpu,
		  int64_t ns);
/*
 * Report the wait of all threads that wait for @cpu up to @ns, because the thread on @cpu changes.
 */
void sched_settle(struct sched *sched, struct sched_cpu *cpu, int64_t ns);
void sched_forget(struct sched *sched, struct task *task);

#endif
