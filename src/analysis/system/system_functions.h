/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of a profile without their callers: what each cost in a process, or in the runs of a
 * callback. A function that calls itself counts once. In the runs of a callback, what is around the
 * callback (main(), the executor) is left out.
 *
 * Context of all functions: not thread-safe; allocate; do not block.
 */
#ifndef KYMO_ANALYSIS_FUNCTIONS_H
#define KYMO_ANALYSIS_FUNCTIONS_H

#include "analysis/system/system_profile.h"

/* A process, or a callback of a process. */
struct functions_group {
	const struct profile_thread *thread; /* the first one */
	const struct profile_call *callback; /* of it; NULL: a process */
	uint64_t runs;                       /* of the callback */
	int64_t runs_ns;                     /* their duration */
	int64_t own_ns;                      /* of all its functions */
};

struct functions_row {
	const struct functions_group *group;
	const struct profile_thread *thread; /* the first one */
	const struct profile_call *call;     /* one of its calls, for the name */
	uint64_t calls, samples;             /* one of them: see system_profile.h */
	int64_t total_ns, own_ns;
	int64_t cpu_ns, off_ns; /* parts of the total; of samples, off_ns is beside it */
	unsigned open;
};

struct functions {
	struct pool pool;
	struct map groups, map;
	struct functions_row **row;
	uint32_t count, room;
	bool failed; /* no memory: rows are missing */
};

/** functions_collect() - @by_callback: by callback, else by process. @profile must stay as it is.
 */
void functions_collect(struct functions *functions, const struct profile *profile,
		       bool by_callback);
void functions_free(struct functions *functions);

#endif
