/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much callbacks and threads counted of a perf counter (kymo record --cycles), in one pass with a model.
 *
 * The trace has the count of each stretch of time that a thread was on a CPU. A run of a callback gets its share of the stretches
 * that it ran in, by time. The share is exact if the counter advances evenly within a stretch, and the sum over a thread always
 * is. A run inside another run counts for both. A stretch that is not in the trace counts nothing. If most runs of a thread
 * lie outside of the stretches of its number, these belong to another thread, of another PID namespace.
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
	uint64_t runs;			/* of a callback: that returned, wherever */
	double count;			/* of the counter */
	int64_t ns;			/* on CPUs, while it counted */
};

/* A thread that runs callbacks, or one with the same number and host. */
struct cycles_thread {
	const struct model_thread *thread;
	struct cycles_sum sum;		/* in callbacks or not; runs: of callbacks */
	uint64_t inside, outside;	/* runs inside of stretches, and outside of all */
};

struct cycles;

/** cycles_name() - which counter the trace has: "cpu-cycles", or "cpu-clock" (CPU time in ns); NULL: neither. */
const char *cycles_name(const struct kymo_ctf_reader *reader);

/** cycles_create() - listen to @model, before model_attach(). Return: 0, or -1 with @err. */
int cycles_create(struct cycles **cycles, struct model *model, const struct kymo_ctf_reader *reader, struct kymo_err *err);

/** cycles_callback() - of the callback with that index of the model; NULL: nothing was counted. */
const struct cycles_sum *cycles_callback(const struct cycles *cycles, uint32_t index);

/** cycles_thread() - by index, in order of their first run; NULL behind the last one. */
const struct cycles_thread *cycles_thread(const struct cycles *cycles, uint32_t index);

/** cycles_thread_is_known() - do the stretches of its number belong to it? */
bool cycles_thread_is_known(const struct cycles_thread *thread);

/* For pass_add(). Only stretches and runs that end inside its window count. */
extern const struct pass_ops cycles_pass;

#endif
