/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions and their durations: call trees per thread, from one of two sources.
 *
 * Entries and exits: func_entry and func_exit of programs built with -finstrument-functions or -pg
 * (lttng_ust_cyg_profile and lttng_ust_cyg_profile_fast). With the kernel's sched_switch also the
 * part of the time that was spent on a CPU.
 *
 * Samples: call stacks of `kymo record --stacks`. Times are then the CPU time of the samples; and
 * there is the time that a thread was off its CPU with this stack. The number of calls is not
 * known; a callback has its runs as calls. What was on a thread's stack outside of callbacks, too,
 * is around the callback and not in it (main(), the executor), and is marked.
 *
 * An exit ends the innermost open call. If the exit names its function (the fast variant does not),
 * it ends the innermost open call of that function, and the calls nested inside have no end in the
 * trace. Calls without an end have no time. A loss of events in a thread's stream ends all its open
 * calls.
 *
 * Memory depends on the number of different call paths.
 *
 * Context of all functions: not thread-safe; profile_init() and profile_event() allocate; none
 * blocks.
 */
#ifndef KYMO_ANALYSIS_PROFILE_H
#define KYMO_ANALYSIS_PROFILE_H

#include <stdint.h>

#include "analysis/pass/pass.h"
#include "analysis/system/system_cputime_thread.h"
#include "analysis/system/system_modules.h"
#include "base/pool.h"
#include "ctf/read/reader.h"

#define PROFILE_DEPTH_MAX 256u		/* deeper calls count for their caller at this depth */
#define PROFILE_PATHS_MAX 1000000u
#define PROFILE_BINDS (9u + MODULES_BINDS)

/* A function, called by its parent; or the runs of a callback of ROS 2. */
struct profile_call {
	struct profile_call *parent, *child, *sibling;	/* child, child->sibling, ... */
	uint64_t address;
	uint32_t index, depth;
	bool is_callback; /* address is that of the callback's object */
	uint64_t calls, unfinished; /* calls: of samples, only a callback has them: its runs */
	uint64_t samples;           /* of threads that ran */
	int64_t total_ns, own_ns;	/* own: without the functions that it called */
	int64_t cpu_ns;			/* part of total_ns on a CPU; only with sched_switch */
	int64_t most_ns;		/* duration of the longest call */
	/* By samples only: time off a CPU, and of it that of this function itself; the duration of
	 * a callback's runs; whether the function is around the callback. */
	int64_t off_ns, own_off_ns, runs_ns;
	bool is_around;
};

struct profile_frame {
	struct profile_call *call;	/* NULL: begun outside the window */
	uint64_t address;
	int64_t start_ns, cpu_ns, inside_ns;
};

struct profile_thread {
	struct os_thread os;
	uint32_t trace;			/* the trace of its functions */
	struct profile_call *root;	/* the parent of the outermost calls; NULL: no calls */
	uint32_t calls;			/* number of different paths */
	bool has_functions;             /* otherwise it has run callbacks only */
	struct profile_frame *frame;
	/* Number of open calls, including calls deeper than the limit. */
	unsigned depth;
	uint32_t stream;
	/*
	 * Time on a CPU up to the latest switch, and the start of the present time on a CPU; 0: not
	 * on a CPU.
	 */
	int64_t cpu_ns, running_ns;
};

struct profile {
	struct os_threads threads;	/* of struct profile_thread */
	struct pool pool;
	struct modules modules;		/* for the names of functions */
	struct map calls;		/* (address, parent's index) -> struct profile_call */
	uint32_t call_count;
	int64_t begin_ns, end_ns;	/* calls that begin inside count */
	uint64_t events, switches, waits, exits_without_entry, too_many; /* waits: off_cpu */
	bool sampled; /* of samples; before profile_bind() */
	struct kymo_ctf_bind bind[PROFILE_BINDS];
};

/**
 * profile_init() - @reader: for hosts, or NULL; @begin_ns, @end_ns: calls that begin inside count,
 * ns since 1970
 */
void profile_init(struct profile *profile, const struct kymo_ctf_reader *reader, int64_t begin_ns,
		  int64_t end_ns);
void profile_free(struct profile *profile);

/** profile_bind() - the rows of profile_event(), for kymo_ctf_bind(). Valid as long as @profile. */
const struct kymo_ctf_bind *profile_bind(struct profile *profile, unsigned *count);

/** profile_has() - does a trace declare events of that source? kymo declares func_entry always. */
bool profile_has(const struct kymo_ctf_reader *reader, bool sampled);

/** profile_event() - process an event bound by that table, or a loss. Return: 0, or -ENOMEM. */
int profile_event(struct profile *profile, const struct kymo_ctf_event *event);

/** profile_finish() - the trace is over: open calls have no end. */
void profile_finish(struct profile *profile);

/** profile_mark_around() - for profile_finish(): mark the functions that are around the callbacks
 * below @outside. */
void profile_mark_around(const struct profile *profile, const struct profile_call *outside);

/** profile_thread() - by index; NULL after the last. Threads without calls have no root. */
const struct profile_thread *profile_thread(const struct profile *profile, unsigned index);

struct model;

/**
 * profile_call_name() - the name of @call on @thread
 * @file: set to the file that the function is in, "callback" for a callback; NULL: not known
 * @out: room for the name of a callback, @size bytes
 *
 * Return: NULL: not known; otherwise valid until profile_free(), or as long as @out.
 * Context: may read files of programs; blocks.
 */
const char *profile_call_name(struct profile *profile, const struct kymo_ctf_reader *reader,
			      const struct model *model, const struct profile_thread *thread,
			      const struct profile_call *call, const char **file, char *out,
			      size_t size);

/* For pass_add(). */
extern const struct pass_ops profile_pass;

#endif
