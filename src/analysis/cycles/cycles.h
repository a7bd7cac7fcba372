/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of a perf counter per callback and thread (kymo record --cycles), in one pass with a
 * model.
 *
 * The trace has the count of each stretch of time in which a thread was on a CPU. A run of a
 * callback is charged with a share of each stretch in which it ran, in proportion to time. The
 * share is exact if the counter advances evenly within a stretch; the sum over a thread is always
 * exact. A nested run counts for the outer run, too. A stretch that is not in the trace counts as
 * zero. If most runs of a thread are outside of the stretches with its tid, these stretches belong
 * to another thread, in another PID namespace.
 *
 * Context of all functions: not thread-safe; allocate; do not block.
 */
#ifndef KYMO_ANALYSIS_CYCLES_H
#define KYMO_ANALYSIS_CYCLES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "ctf/read/reader.h"

struct cycles_sum {
	uint64_t runs;			/* for a callback: all runs that returned */
	double count;			/* value of the counter */
	int64_t ns;			/* time on CPUs while the counter was running */
};

/* A thread that runs callbacks, or a thread with the same tid and host. */
struct cycles_thread {
	const struct model_thread *thread;
	struct cycles_sum sum;		/* inside and outside of callbacks; runs: of callbacks */
	/* Number of runs inside of stretches, and outside of all stretches. */
	uint64_t inside, outside;
};

struct cycles;

/**
 * cycles_name() - the counter in the trace: "cpu-cycles", or "cpu-clock" (CPU time in ns); NULL:
 * neither.
 */
const char *cycles_name(const struct kymo_ctf_reader *reader);

/** cycles_create() - listen to @model, before model_attach(). Return: 0, or -1 with @err. */
int cycles_create(struct cycles **cycles, struct model *model, const struct kymo_ctf_reader *reader,
		  struct kymo_err *err);

/**
 * cycles_callback() - the sums of the callback with this index in the model; NULL: nothing was
 * counted.
 */
const struct cycles_sum *cycles_callback(const struct cycles *cycles, uint32_t index);

/** cycles_thread() - by index, in order of their first run; NULL after the last. */
const struct cycles_thread *cycles_thread(const struct cycles *cycles, uint32_t index);

/** cycles_thread_is_known() - do the stretches with its tid belong to this thread? */
bool cycles_thread_is_known(const struct cycles_thread *thread);

/* For pass_add(). Only stretches and runs that end inside the window count. */
extern const struct pass_ops cycles_pass;

#endif
