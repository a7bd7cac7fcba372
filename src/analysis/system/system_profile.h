/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions took the time: call trees per thread from func_entry and func_exit of programs
 * built with -finstrument-functions (lttng_ust_cyg_profile and lttng_ust_cyg_profile_fast), and
 * with the kernel's sched_switch the part of it that was spent on a CPU.
 *
 * An exit ends the innermost open call; where it says which function (not the fast variant), the
 * innermost call of that one, and what is open inside it has no end in the trace. Calls without an
 * end are counted in no time. A loss of events of a thread's stream ends everything it has open.
 *
 * Memory depends on the number of different call paths.
 */
#ifndef KYMO_ANALYSIS_PROFILE_H
#define KYMO_ANALYSIS_PROFILE_H

#include <stdint.h>

#include "analysis/pass/pass.h"
#include "analysis/system/system_cputime_thread.h"
#include "analysis/system/system_modules.h"
#include "base/err.h"
#include "base/pool.h"
#include "ctf/read/reader.h"

#define PROFILE_DEPTH_MAX 256u		/* calls deeper than this belong to the one above */
#define PROFILE_PATHS_MAX 1000000u
#define PROFILE_BINDS (5u + MODULES_BINDS)

/* A function, called by the one above. */
struct profile_call {
	struct profile_call *parent, *child, *sibling;	/* child, child->sibling, ... */
	uint64_t address;
	uint32_t index, depth;
	uint64_t calls, unfinished;
	int64_t total_ns, own_ns;	/* own: without what it called */
	int64_t cpu_ns;			/* on a CPU, of total; only if there are switches */
	int64_t most_ns;		/* the longest call */
};

struct profile_frame {
	struct profile_call *call;	/* NULL: begun outside the window */
	uint64_t address;
	int64_t start_ns, cpu_ns, inside_ns;
};

struct profile_thread {
	struct os_thread os;
	uint32_t trace;			/* of its functions */
	struct profile_call *root;	/* its children are the outermost calls; NULL: none */
	uint32_t calls;			/* different paths */
	struct profile_frame *frame;
	unsigned depth;			/* open calls, also those deeper than are kept */
	uint32_t stream;
	/* On a CPU: all of it up to the latest switch, and since when it runs; 0: it does not. */
	int64_t cpu_ns, running_ns;
};

struct profile {
	struct os_threads threads;	/* of struct profile_thread */
	struct pool pool;
	struct modules modules;		/* where functions' names are */
	struct map calls;		/* (address, parent's index) -> struct profile_call */
	uint32_t call_count;
	int64_t begin_ns, end_ns;	/* calls that begin within count */
	uint64_t events, switches, exits_without_entry, too_many;
	struct kymo_ctf_bind bind[PROFILE_BINDS];
};

/** profile_init() - @reader: for hosts, or NULL */
void profile_init(struct profile *profile, const struct kymo_ctf_reader *reader, int64_t begin_ns,
		  int64_t end_ns);
void profile_free(struct profile *profile);

/** profile_bind() - what profile_event() wants, for kymo_ctf_bind(). Valid as long as @profile. */
const struct kymo_ctf_bind *profile_bind(struct profile *profile, unsigned *count);

/** profile_event() - an event bound by that table, or a loss. Return: 0, or -ENOMEM. */
int profile_event(struct profile *profile, const struct kymo_ctf_event *event);

/** profile_finish() - the trace is over: what is open has no end. */
void profile_finish(struct profile *profile);

/** profile_thread() - by index; NULL behind the last. Those without calls have no root. */
const struct profile_thread *profile_thread(const struct profile *profile, unsigned index);

/* For pass_add(). */
extern const struct pass_ops profile_pass;

#endif
