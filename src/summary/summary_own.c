/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which part of a callback's runs was the program's own; see summary_own.h.
 *
 * The idea: sched_runs.c splits each run by the states of its thread. From its duration goes the
 * time in which the thread could have run and did not (preempted, or waiting for a CPU). What of
 * this time threads of the traced programs had the CPU comes back. A run with a state that is not
 * known does not count.
 */
#include "summary/summary_own.h"

#include <stdlib.h>

#include "analysis/sched/sched_runs.h"
#include "base/array.h"
#include "base/map.h"

struct summary_own {
	struct sched_runs *runs;
	const struct model *model;
	int64_t begin_ns, end_ns;
	struct summary_own_callback **callback; /* by index */
	uint32_t callbacks;
	struct map traced; /* tid -> this: threads of the traced programs */
	uint32_t threads;  /* of the model that are in it */
	bool failed;
};

/* Is @tid a thread of a traced program? Threads of two hosts may have the same number; then it is.
 */
static bool is_traced(struct summary_own *own, int32_t tid)
{
	for (; own->threads < model_count(own->model, MODEL_THREAD); own->threads++) {
		const struct model_thread *thread = model_thread(own->model, own->threads);

		if (map_put(&own->traced, (uint64_t)thread->tid, 0, own))
			own->failed = true;
	}
	return tid > 0 && map_get(&own->traced, (uint64_t)tid, 0);
}

static void on_run(void *context, const struct sched_run *run)
{
	struct summary_own *own = context;
	const struct model_instance *instance = run->instance;
	struct summary_own_callback **slot;
	int64_t ns = instance->duration_ns;

	if (!run->is_known || run->usage.ns[SCHED_UNKNOWN] || instance->start_ns < own->begin_ns ||
	    instance->start_ns > own->end_ns)
		return;
	slot = ARRAY_AT(own->callback, own->callbacks, instance->callback->index);
	if (slot && !*slot)
		*slot = calloc(1, sizeof(**slot));
	if (!slot || !*slot) {
		own->failed = true;
		return;
	}
	ns -= run->usage.ns[SCHED_PREEMPTED] + run->usage.ns[SCHED_WAITING];
	for (unsigned i = 0; i < run->bys; i++)
		ns += is_traced(own, run->by[i].tid) ? run->by[i].ns : 0;
	own->failed |= histogram_add(&(*slot)->own, ns > 0 ? (uint64_t)ns : 0) != 0;
	(*slot)->runs++;
	(*slot)->cpu_ns += run->own.ns[SCHED_ON_CPU];
}

static void destroy(struct summary_own *own)
{
	for (uint32_t i = 0; own && i < own->callbacks; i++) {
		if (own->callback[i])
			histogram_free(&own->callback[i]->own);
		free(own->callback[i]);
	}
	if (!own)
		return;
	sched_runs_destroy(own->runs);
	map_free(&own->traced);
	free(own->callback);
	free(own);
}

int summary_own_create(struct summary_own **out, struct model *model,
		       const struct kymo_ctf_reader *reader, int64_t begin_ns, int64_t end_ns,
		       struct kymo_err *err)
{
	static const struct sched_runs_listener listener = { .run = on_run };
	struct summary_own *own = calloc(1, sizeof(*own));

	if (!own)
		return err_no_memory(err);
	own->model = model;
	own->begin_ns = begin_ns;
	own->end_ns = end_ns;
	if (sched_runs_create(&own->runs, model, reader, &listener, own, err)) {
		destroy(own);
		return -1;
	}
	*out = own;
	return 0;
}

const struct summary_own_callback *summary_own_callback(const struct summary_own *own,
							uint32_t index)
{
	return own && index < own->callbacks ? own->callback[index] : NULL;
}

static int summary_own_pass_event(void *analysis, const struct kymo_ctf_event *event)
{
	struct summary_own *own = analysis;

	return sched_runs_event(own->runs, event) || own->failed;
}

static void summary_own_pass_destroy(void *analysis)
{
	destroy(analysis);
}

const struct pass_ops summary_own_pass = {
	.turn = PASS_BEFORE_SPANS,
	.event = summary_own_pass_event,
	.destroy = summary_own_pass_destroy,
};
