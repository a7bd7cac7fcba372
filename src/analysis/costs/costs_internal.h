/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by costs.c (events), costs_runs.c (the runs that are open at that time), costs_sums.c (the
 * sums), costs_calls.c and costs_leaks.c.
 */
#ifndef KYMO_ANALYSIS_COSTS_INTERNAL_H
#define KYMO_ANALYSIS_COSTS_INTERNAL_H

#include "analysis/costs/costs.h"
#include "analysis/system/system_calls.h"
#include "analysis/system/system_faults.h"
#include "analysis/system/system_memory.h"
#include "base/array.h"
#include "base/map.h"

/* A run that has not ended. */
struct costs_open {
	const struct spans_name *span;	/* NULL: a callback's run */
	uint64_t id;			/* id of the callback's run */
	uint32_t callback;		/* index */
	int64_t begin_ns;
	const struct model_thread *thread;
	struct costs_open *outer;
	struct costs_use use;
	struct costs_calls calls;
	bool is_charged; /* use or calls have something */
};

/* A thread of the model. */
struct known {
	struct costs_self *self;
	const char *name; /* of its process, when that was claimed last */
};

/* A thread, identified by the tid in its events. */
struct costs_self {
	struct costs_open *open;		/* the innermost */
	struct costs_process *process;	/* NULL: not known yet; then its use is kept in unclaimed */
	struct costs_use unclaimed;
	struct memory_use before;	/* at its latest event */
	char name[COSTS_NAME_MAX];	/* at its latest event of libc; "": no such event */
	int64_t lock_ns;		/* start of its wait for a mutex; 0: it does not wait */
	struct costs_holder holder;	/* the holder of that mutex at the start of the wait */
};

struct costs {
	const struct kymo_ctf_reader *reader;
	const struct spans *told;	/* NULL: spans are not counted */
	struct memory memory;
	struct faults faults;
	struct calls calls;
	struct map selves;		/* (tid, host) -> struct costs_self */
	struct array known;             /* of struct known, by index of the thread */
	struct costs_open *spare;             /* runs that are over */
	struct costs_sum *callback;	/* by index */
	uint32_t callbacks;
	struct map span_of;		/* (name, process) -> index + 1 */
	struct costs_span *span;
	uint32_t spans, span_room;
	struct map process_of;		/* (pid, host) -> struct costs_process */
	struct costs_process **process;
	uint32_t processes, process_room;
	void (*run)(void *context, const struct model_instance *instance,
		    const struct costs_use *use);
	void *run_context;
	void (*made)(void *context, const struct costs_made *made);
	void *made_context;
	struct costs_self *present;    /* thread of the present event of libc */
	struct map blocks;       /* (address, process) -> struct costs_leak */
	struct costs_leak *leak; /* the same, by time; NULL: not asked for */
	uint64_t leaks;
	/* First row of each part, and the row after the last. */
	unsigned first, lock_first, fault_first, call_first, end;
	int64_t begin_ns, end_ns;	/* runs that start inside count */
	bool saw_libc, saw_faults, saw_calls;
	bool failed;
};

/* costs_runs.c */

/** costs_host() - a number for @hostname: traces with the same name are of one host. */
uint32_t costs_host(const struct costs *costs, const char *hostname);

/** costs_self_at() - Return: the thread, a new one if need be; NULL: no memory, `failed` is set. */
struct costs_self *costs_self_at(struct costs *costs, int64_t tid, uint32_t host);

int costs_runs_listen(struct costs *costs, struct model *model, struct kymo_err *err);
/** costs_runs_free() - threads, and what is open on them. */
void costs_runs_free(struct costs *costs);

/* costs_sums.c. Functions that cannot allocate memory set `failed`. */

/** costs_keep_name() - copy @name, cut to the size of @to. */
void costs_keep_name(char to[COSTS_NAME_MAX], const char *name);

/**
 * costs_claim() - set the process of @self: @pid, and @name if @self is its main thread. @name may
 * be "".
 */
void costs_claim(struct costs *costs, struct costs_self *self, uint32_t host, const char *hostname,
		 int32_t pid, const char *name, bool is_main);

/** costs_charge() - add @use to everything that is open on @self, and to its process. */
void costs_charge(struct costs *costs, struct costs_self *self, const struct costs_use *use);

void costs_callback_ran(struct costs *costs, const struct model_instance *instance,
			const struct costs_open *open);
void costs_span_ran(struct costs *costs, const struct spans_event *event,
		    const struct costs_open *open);
void costs_sums_free(struct costs *costs);

/* costs_calls.c */

/** costs_call_made() - count a system call of @self in every run that is open on its thread. */
void costs_call_made(struct costs *costs, struct costs_self *self, const struct system_call *call);

/** costs_calls_ran() - add @calls of a run that began at @start_ns to @sum. */
void costs_calls_ran(struct costs *costs, struct costs_calls *sum, const struct costs_calls *calls,
		     const struct model_thread *thread, int64_t start_ns);

/* costs_leaks.c */
void costs_on_block(void *context, const struct memory_block *block);
void costs_leaks_free(struct costs *costs);

#endif
