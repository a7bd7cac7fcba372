/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls, by thread: from the kernel's syscall_entry_NAME to syscall_exit_NAME, of kymo's and of LTTng's traces.
 *
 *   thread  |-- runs --|-- in the call; it may sleep there ----------|-- runs --|
 *                      syscall_entry_read                syscall_exit_read { ret }
 *
 * What begins or ends one may be missing: it was under way when the recording began, or ended; it does not return (exit); a new thread
 * begins with the exit of the clone that made it; events were lost. Where events of that trace were lost meanwhile, and it is longer
 * than CALLS_SURE_NS, it may be two of the same name: its end is not in the trace then.
 *
 * Whose they are: the event tells in kymo's traces, and in LTTng's with the context tid or vtid; else it is who is on its CPU by the
 * scheduler's events (analysis/sched).
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
#define CALLS_FUTEX "futex"		/* what a mutex waits in */

struct system_call {
	uint32_t host;
	int32_t tid;
	const char *name;		/* LTTng's, without syscall_entry_; of the reader */
	int64_t start_ns, end_ns;	/* the same where one of them is missing */
	int64_t told_ns;		/* of the event that ends it, for sure or maybe; INT64_MAX: none does */
	bool is_begun, is_ended;	/* its begin is in the trace; its end is */
	bool has_ret;
	int64_t ret;			/* what it returned; below zero: an errno */
};

struct calls {
	void (*take)(void *context, const struct system_call *call);
	void *context;
	struct map threads;		/* (tid, host) -> what it is in */
	struct map lost_to;		/* trace -> struct calls_loss: to when events of it were lost */
	bool failed;			/* no memory: some are missing */
};

/** calls_init() - @take is called for each call when it has returned, or when it is clear that its end is not in the trace. */
void calls_init(struct calls *calls, void (*take)(void *context, const struct system_call *call), void *context);
void calls_free(struct calls *calls);

/** calls_bind() - what to give to kymo_ctf_bind(). */
const struct kymo_ctf_bind *calls_bind(unsigned *count);

/** calls_are_there() - may the trace have system calls? */
bool calls_are_there(const struct kymo_ctf_reader *reader);

/**
 * calls_event() - the next event, whichever, or loss
 * @first: number of the first row of calls_bind() in what is bound
 * @on_cpu: who is on the CPU of the event; 0 or less: not known
 *
 * Return: 0, or -1: no memory.
 */
int calls_event(struct calls *calls, const struct kymo_ctf_event *event, unsigned first, uint32_t host, int32_t on_cpu);

/* The same, without a trace. @name must stay valid. */
void calls_entry(struct calls *calls, uint32_t host, int32_t tid, int64_t ns, const char *name);
void calls_exit(struct calls *calls, uint32_t host, int32_t tid, uint32_t trace, int64_t ns, const char *name, int64_t ret);
void calls_lost(struct calls *calls, uint32_t trace, int64_t to_ns);

/** calls_finish() - the trace is read: what did not return goes to take(). */
void calls_finish(struct calls *calls);

#endif
