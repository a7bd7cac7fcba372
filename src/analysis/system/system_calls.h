/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls, by thread: from the kernel's syscall_entry_NAME to syscall_exit_NAME, in traces of
 * kymo and of LTTng.
 *
 *   thread  |-- runs --|-- in the call; it may sleep there ----------|-- runs --|
 *                      syscall_entry_read                syscall_exit_read { ret }
 *
 * The entry or the exit may be missing: the call was in progress when the recording began or ended;
 * it does not return (exit); a new thread begins with the exit of the clone call that created it;
 * events were lost. If events of the trace were lost during a call that is longer than
 * CALLS_SURE_NS, the entry and the exit may belong to two calls of the same name. Then the end of
 * the call counts as missing.
 *
 * The thread of a call: kymo's events name it, and LTTng's do with the context tid or vtid.
 * Otherwise it is the thread on the event's CPU, according to the scheduler's events
 * (analysis/sched).
 *
 * Context of all functions: not thread-safe; allocate.
 */
#ifndef KYMO_ANALYSIS_CALLS_H
#define KYMO_ANALYSIS_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "ctf/read/reader.h"

#define CALLS_SURE_NS 100000
#define CALLS_FUTEX "futex"		/* the system call of a wait for a mutex */

struct system_call {
	uint32_t host;
	int32_t tid;
	const char *name;		/* without syscall_entry_; belongs to the reader */
	int64_t start_ns, end_ns;	/* equal if one of them is missing */
	/* Time of the event that ends the call, for sure or possibly; INT64_MAX: no such event. */
	int64_t told_ns;
	bool is_begun, is_ended;	/* the entry is in the trace; the exit is */
	bool has_ret;
	int64_t ret;			/* return value; negative: an errno */
};

struct calls {
	void (*take)(void *context, const struct system_call *call);
	void *context;
	struct map threads;		/* (tid, host) -> the call that the thread is in */
	/* Trace -> struct calls_loss: end of its latest loss of events. */
	struct map lost_to;
	bool failed;			/* out of memory: some calls are missing */
};

/**
 * calls_init() - call @take for each system call when it has returned, or when its end is known to
 * be missing in the trace.
 */
void calls_init(struct calls *calls, void (*take)(void *context, const struct system_call *call),
		void *context);
void calls_free(struct calls *calls);

/** calls_bind() - the rows for kymo_ctf_bind(). */
const struct kymo_ctf_bind *calls_bind(unsigned *count);

/** calls_are_there() - does the trace declare events of system calls? */
bool calls_are_there(const struct kymo_ctf_reader *reader);

/**
 * calls_event() - process one event or loss; call it for every event
 * @first: number of the first row of calls_bind() among the bound rows
 * @on_cpu: the thread on the event's CPU; 0 or less: unknown
 *
 * Return: 0, or -1: out of memory.
 */
int calls_event(struct calls *calls, const struct kymo_ctf_event *event, unsigned first,
		uint32_t host, int32_t on_cpu);

/* The same without a trace event. @name must stay valid. */
void calls_entry(struct calls *calls, uint32_t host, int32_t tid, int64_t ns, const char *name);
void calls_exit(struct calls *calls, uint32_t host, int32_t tid, uint32_t trace, int64_t ns,
		const char *name, int64_t ret);
void calls_lost(struct calls *calls, uint32_t trace, int64_t to_ns);

/** calls_finish() - the whole trace was read: report the calls that did not return. */
void calls_finish(struct calls *calls);

#endif
