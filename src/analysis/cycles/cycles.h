/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What callbacks and threads had of a counter of perf (kymo record --cycles): beside a model, in one pass.
 *
 *   cycles_create(&cycles, model, reader);		before model_attach()
 *   while (kymo_ctf_next(...))
 *       cycles_event(cycles, &event), model_event(model, &event);	in this order
 *
 * The counter is told for each stretch that a thread is on a CPU. A run of a callback has its part of what the stretches counted that
 * it ran in, by time: exact where the counter goes evenly within a stretch, and in sum over a thread. Runs inside others count for both.
 * Of a stretch that is not told (not all switches come) nothing counts. Where runs of a thread lie outside of what is told of its number,
 * that is another thread, of another PID namespace.
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

/* A thread that runs callbacks, or of the same number and host as one. */
struct cycles_thread {
	const struct model_thread *thread;
	struct cycles_sum sum;		/* in callbacks or not; runs: of callbacks */
	uint64_t inside, outside;	/* runs in stretches that are told, and in none */
};

struct cycles;

/** cycles_name() - "cpu-cycles" or "cpu-clock" (CPU time in ns), as the trace has it; NULL: neither. */
const char *cycles_name(const struct kymo_ctf_reader *reader);

/** cycles_create() - listen to @model, before model_attach(). Return: 0, or -1 with @err. */
int cycles_create(struct cycles **cycles, struct model *model, const struct kymo_ctf_reader *reader, struct kymo_err *err);

/** cycles_callback() - of the callback with that index of the model; NULL: nothing was counted. */
const struct cycles_sum *cycles_callback(const struct cycles *cycles, uint32_t index);

/** cycles_thread() - by index, in order of their first run; NULL behind the last one. */
const struct cycles_thread *cycles_thread(const struct cycles *cycles, uint32_t index);

/** cycles_thread_is_known() - is what is told under its number its own? */
bool cycles_thread_is_known(const struct cycles_thread *thread);

/* For pass_add(). Only stretches and runs that end inside its window count. */
extern const struct pass_ops cycles_pass;

#endif
