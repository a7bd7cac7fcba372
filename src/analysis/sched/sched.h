/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of each thread of the machine, from the kernel's scheduler events:
 *
 *   thread  |-- on CPU --|-- preempted: another one has the CPU --|-- on CPU --|-- blocked --|-- waiting --|-- on CPU
 *           sched_switch  (prev_state: R)                sched_switch    (S, D, ...)    sched_waking   sched_switch
 *
 * A spell is a stretch of time in which a thread is in one state on one CPU. While the thread
 * waits, one and the same other thread has that CPU during the whole spell. A spell is reported
 * when it ends. A spell whose begin or end is not in the trace is not reported. If the switch to a
 * CPU was lost, the next event of the thread itself shows that the thread is on a CPU, provided
 * that the kernel knows the thread by the same name. Memory depends on the number of threads and
 * CPUs at a time, not on the length of the trace.
 *
 * Threads are identified by host and tid. In another pid namespace, a thread's own events contain a
 * tid that differs from the kernel's. To join kernel events with a thread's own events, call
 * sched_is_on() at each of its own events.
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
	SCHED_PREEMPTED,	/* switched off although it could run */
	SCHED_WAITING,		/* woken, but not on a CPU yet */
	SCHED_BLOCKED,		/* asleep: waiting for a lock, an event, or a page from a disk */
};
#define SCHED_STATES 5

struct sched_spell {
	uint32_t host;		/* sched_host() */
	int32_t tid;
	enum sched_state state;	/* except SCHED_UNKNOWN */
	/* The CPU that it is on or waits for; BLOCKED: its latest CPU; -1: unknown. */
	int32_t cpu;
	int64_t from_ns, to_ns;	/* to_ns > from_ns */
	/*
	 * PREEMPTED, WAITING: the thread on that CPU; BLOCKED: the thread on the CPU that woke it;
	 * 0: idle CPU; -1: unknown
	 */
	int32_t by_tid;
	const char *name;	/* its latest known name, or "" */
	const char *by;		/* name of by_tid, or "" */
};

/* Totals of a thread up to some time. */
struct sched_usage {
	int64_t ns[SCHED_STATES];	/* SCHED_UNKNOWN: time since the thread's first event */
	uint64_t preemptions;		/* how often it was switched off although it could run */
	uint64_t migrations;		/* how often it came to a CPU other than its previous one */
};

/* Any member may be NULL. */
struct sched_listener {
	/*
	 * A spell has ended. Spells of one thread come in order of time; the texts are valid during
	 * the call only.
	 */
	void (*spell)(void *context, const struct sched_spell *spell);
	/* A thread has exited; its tid may be reused. @usage: as from sched_usage_inside(). */
	void (*gone)(void *context, uint32_t host, int32_t tid, const struct sched_usage *usage);
};

struct sched;

/**
 * sched_create() - for the traces of @reader. @listener must stay valid.
 *
 * Return: 0, or -1: out of memory.
 */
int sched_create(struct sched **sched, const struct kymo_ctf_reader *reader,
		 const struct sched_listener *listener, void *context);
void sched_destroy(struct sched *sched);

/**
 * sched_window() - limit sched_usage_inside() and gone() to [@begin_ns, @end_ns]; call it before
 * the first event.
 */
void sched_window(struct sched *sched, int64_t begin_ns, int64_t end_ns);

/** sched_is_there() - does the trace have scheduler events? */
bool sched_is_there(const struct kymo_ctf_reader *reader);

/** sched_bind() - the rows for kymo_ctf_bind() or model_bind_also(). */
const struct kymo_ctf_bind *sched_bind(unsigned *count);

/**
 * sched_event() - process one event or loss; call it for every event of the trace. @first: number
 * of the first row of sched_bind() among the bound rows.
 *
 * Return: 0, or -1: out of memory.
 */
int sched_event(struct sched *sched, const struct kymo_ctf_event *event, unsigned first);

/**
 * sched_host() - look up the number of a host name.
 *
 * Return: whether the reader has traces of this host.
 */
bool sched_host(const struct sched *sched, const char *hostname, uint32_t *host);

/** sched_trace_host() - the number of the host of trace @trace. */
uint32_t sched_trace_host(const struct sched *sched, uint32_t trace);

/**
 * sched_usage() - the totals of thread @tid up to @ns, which is the time of the latest event or
 * later
 *
 * Return: whether the trace has events of this thread.
 */
bool sched_usage(const struct sched *sched, uint32_t host, int32_t tid, int64_t ns,
		 struct sched_usage *usage);

/**
 * sched_usage_inside() - the totals of @tid inside the window, without the state in progress.
 *
 * Return: whether the trace has events of this thread.
 */
bool sched_usage_inside(const struct sched *sched, uint32_t host, int32_t tid,
			struct sched_usage *usage);

/**
 * sched_state_of() - the state of @tid at the latest event; SCHED_UNKNOWN also for an unknown
 * thread.
 */
enum sched_state sched_state_of(const struct sched *sched, uint32_t host, int32_t tid);

/** sched_is_on() - is @tid on a CPU at the latest event? */
bool sched_is_on(const struct sched *sched, uint32_t host, int32_t tid);

/**
 * sched_waits_since() - since when @tid has been able to run without a CPU, as far as that is not
 * reported as a spell yet; INT64_MAX: it has a CPU, is blocked, or is not known.
 */
int64_t sched_waits_since(const struct sched *sched, uint32_t host, int32_t tid);

/**
 * sched_seen_on() - another event shows that @tid is on @cpu now. If the scheduler's events differ,
 * some of them were lost, and the state of @tid since its latest event is unknown.
 */
void sched_seen_on(struct sched *sched, uint32_t host, int32_t tid, int32_t cpu, int64_t ns);

/**
 * sched_running() - the thread on @cpu at the latest event. Return: its tid; 0: idle; -1: unknown.
 */
int32_t sched_running(const struct sched *sched, uint32_t host, int32_t cpu);

/** sched_state_name() - "unknown", "running", "preempted", "waiting", "blocked". */
const char *sched_state_name(enum sched_state state);

#endif
