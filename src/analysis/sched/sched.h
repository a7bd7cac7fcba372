/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each thread of the machine did, from the kernel's scheduler events, while they are read:
 *
 *   thread  |-- on CPU --|-- preempted: another one has the CPU --|-- on CPU --|-- blocked --|-- waiting --|-- on CPU
 *           sched_switch  (prev_state: R)                sched_switch    (S, D, ...)    sched_waking   sched_switch
 *
 * A spell is a stretch of time in which a thread is in one state on one CPU; while it waits, also one other thread has that CPU. A
 * spell is reported when it ends. If its begin or its end is not in the trace, it is not reported. Where the switch to a CPU was lost,
 * the next event of the thread itself shows that it is on one, if it has the name that the kernel knows it by. Memory depends on how many threads
 * and CPUs there are at a time, not on the length of the trace.
 *
 * Threads are known by host and number. Those of other pid namespaces have other numbers in the kernel than in their own
 * events: to join the two, ask sched_is_on() when a thread's own events come.
 *
 * Context of all functions: not thread-safe; allocate; do not block.
 */
#ifndef KYMO_ANALYSIS_SCHED_H
#define KYMO_ANALYSIS_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "ctf/read/reader.h"

#define SCHED_COMM_SIZE 16

enum sched_state {
	SCHED_UNKNOWN,
	SCHED_ON_CPU,
	SCHED_PREEMPTED,	/* taken off its CPU while it could run, and not yet back */
	SCHED_WAITING,		/* woken, and not yet on a CPU */
	SCHED_BLOCKED,		/* asleep: a lock, a wait, a page from a disk */
};
#define SCHED_STATES 5

struct sched_spell {
	uint32_t host;		/* sched_host() */
	int32_t tid;
	enum sched_state state;	/* never SCHED_UNKNOWN */
	int32_t cpu;		/* on which, or for which it waits; BLOCKED: its latest; -1: not known */
	int64_t from_ns, to_ns;	/* not empty */
	int32_t by_tid;		/* PREEMPTED, WAITING: who had the CPU; BLOCKED: who was on the CPU that woke it; 0: nobody, it was idle;
				   -1: not known */
	const char *name;	/* the latest that is known, or "" */
	const char *by;		/* name of by_tid, or "" */
};

/* What a thread did in all, up to some time. */
struct sched_usage {
	int64_t ns[SCHED_STATES];	/* SCHED_UNKNOWN: since it was first seen */
	uint64_t preemptions;		/* times that it was taken off while it could run */
	uint64_t migrations;		/* times that it came to another CPU than it was on before */
};

/* Any member may be NULL. */
struct sched_listener {
	/* A spell has ended. Those of one thread come in order of time; the texts are lent. */
	void (*spell)(void *context, const struct sched_spell *spell);
	/* A thread has exited; its number may come again. @usage: as of sched_usage_inside(). */
	void (*gone)(void *context, uint32_t host, int32_t tid, const struct sched_usage *usage);
};

struct sched;

/** sched_create() - from the traces of @reader. @listener must stay valid. Return: 0, or -1: no memory. */
int sched_create(struct sched **sched, const struct kymo_ctf_reader *reader, const struct sched_listener *listener,
		 void *context);
void sched_destroy(struct sched *sched);

/** sched_window() - sched_usage_inside() and gone() count [@begin_ns, @end_ns] only; call it before the first event. */
void sched_window(struct sched *sched, int64_t begin_ns, int64_t end_ns);

/** sched_is_there() - has the trace scheduler events at all? */
bool sched_is_there(const struct kymo_ctf_reader *reader);

/** sched_bind() - what to give to kymo_ctf_bind(), or to model_bind_also(). */
const struct kymo_ctf_bind *sched_bind(unsigned *count);

/** sched_event() - the next event of the trace, whichever, or loss. @first: number of the first row of sched_bind() in what is bound. Return: 0, or -1: no memory. */
int sched_event(struct sched *sched, const struct kymo_ctf_event *event, unsigned first);

/** sched_host() - the number of that host name. Return: whether the reader has traces of it. */
bool sched_host(const struct sched *sched, const char *hostname, uint32_t *host);

/** sched_trace_host() - the number of the host that trace @trace is of. */
uint32_t sched_trace_host(const struct sched *sched, uint32_t trace);

/**
 * sched_usage() - what thread @tid did up to @ns, the time of the latest event or later
 *
 * Return: was it seen?
 */
bool sched_usage(const struct sched *sched, uint32_t host, int32_t tid, int64_t ns, struct sched_usage *usage);

/** sched_usage_inside() - what @tid did inside of the window, as far as an event has ended it. Return: was it seen? */
bool sched_usage_inside(const struct sched *sched, uint32_t host, int32_t tid, struct sched_usage *usage);

/** sched_state_of() - what @tid did at the latest event; SCHED_UNKNOWN also if it was never seen. */
enum sched_state sched_state_of(const struct sched *sched, uint32_t host, int32_t tid);

/** sched_is_on() - was it on a CPU? */
bool sched_is_on(const struct sched *sched, uint32_t host, int32_t tid);

/**
 * sched_seen_on() - another event shows that @tid is on @cpu now. If it was not by the scheduler's, some of these are lost,
 * and what it did since the latest is not known.
 */
void sched_seen_on(struct sched *sched, uint32_t host, int32_t tid, int32_t cpu, int64_t ns);

/** sched_running() - who is on @cpu at the latest event. Return: the thread; 0: nobody; -1: not known. */
int32_t sched_running(const struct sched *sched, uint32_t host, int32_t cpu);

/** sched_state_name() - "unknown", "running", "preempted", "waiting", "blocked". */
const char *sched_state_name(enum sched_state state);

#endif
