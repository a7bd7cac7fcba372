/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by callback; see sched_totals.h. */
#include "analysis/sched/sched_totals.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"

#define INSTEADS_MAX 100000u	/* further threads are summed up in one entry without a tid */

struct sched_totals {
	struct sched_runs *runs;
	int64_t begin_ns, end_ns;
	struct sched_callback *callback;	/* by index */
	unsigned callbacks;
	struct sched_instead **instead;
	unsigned insteads, room;
	struct map by;				/* (callback, tid) -> struct sched_instead */
	bool failed;
};

static struct sched_callback *callback_at(struct sched_totals *totals, unsigned index)
{
	struct sched_callback *callback = ARRAY_AT(totals->callback, totals->callbacks, index);

	totals->failed |= !callback;
	return callback;
}

static struct sched_instead *new_instead(struct sched_totals *totals)
{
	if (!ARRAY_ROOM(totals->instead, totals->insteads, totals->room))
		return NULL;
	return calloc(1, sizeof(struct sched_instead));
}

static struct sched_instead *instead_of(struct sched_totals *totals,
					const struct model_callback *callback, int32_t tid)
{
	struct sched_instead *instead = map_get(&totals->by, callback->index, (uint32_t)tid);

	if (!instead && totals->insteads >= INSTEADS_MAX && tid != -1)
		return instead_of(totals, callback, -1);
	if (instead)
		return instead;
	instead = new_instead(totals);
	if (!instead || map_put(&totals->by, callback->index, (uint32_t)tid, instead)) {
		free(instead);
		totals->failed = true;
		return NULL;
	}
	instead->callback = callback;
	instead->tid = tid;
	return totals->instead[totals->insteads++] = instead;
}

static void on_run(void *context, const struct sched_run *run)
{
	struct sched_totals *totals = context;
	struct sched_callback *callback;
	struct sched_instead *instead;

	if (run->instance->start_ns < totals->begin_ns || run->instance->start_ns > totals->end_ns)
		return;
	callback = callback_at(totals, run->instance->callback->index);
	if (!callback)
		return;
	callback->runs++;
	if (!run->is_known)
		return;
	callback->known++;
	callback->duration_ns += run->instance->duration_ns;
	sched_usage_add(&callback->usage, &run->usage);
	sched_usage_add(&callback->own, &run->own);
	for (unsigned i = 0; i < run->bys; i++) {
		instead = instead_of(totals, run->instance->callback, run->by[i].tid);
		if (!instead)
			return;
		if (instead->tid == run->by[i].tid)
			memcpy(instead->name, run->by[i].name, sizeof(instead->name));
		instead->ns += run->by[i].ns;
		instead->count += run->by[i].count;
	}
}

static const struct sched_runs_listener listener = { .run = on_run };

static void sched_totals_destroy(struct sched_totals *totals)
{
	if (!totals)
		return;
	sched_runs_destroy(totals->runs);
	for (unsigned i = 0; i < totals->insteads; i++)
		free(totals->instead[i]);
	free(totals->instead);
	free(totals->callback);
	map_free(&totals->by);
	free(totals);
}

int sched_totals_create(struct sched_totals **out, struct model *model,
			const struct kymo_ctf_reader *reader, int64_t begin_ns, int64_t end_ns,
			struct kymo_err *err)
{
	struct sched_totals *totals = calloc(1, sizeof(*totals));

	if (!totals)
		return err_no_memory(err);
	totals->begin_ns = begin_ns;
	totals->end_ns = end_ns;
	if (sched_runs_create(&totals->runs, model, reader, &listener, totals, err)) {
		sched_totals_destroy(totals);
		return -1;
	}
	sched_runs_window(totals->runs, begin_ns, end_ns);
	*out = totals;
	return 0;
}

static int sched_totals_event(struct sched_totals *totals, const struct kymo_ctf_event *event)
{
	return sched_runs_event(totals->runs, event) || totals->failed ? -1 : 0;
}

PASS_EVENT(sched_totals)
PASS_DESTROY(sched_totals)
const struct pass_ops sched_totals_pass = {
	.turn = PASS_BEFORE_SPANS,
	.event = sched_totals_pass_event,
	.destroy = sched_totals_pass_destroy,
};

const struct sched_callback *sched_totals_callback(const struct sched_totals *totals,
						   unsigned index)
{
	static const struct sched_callback none;

	return index < totals->callbacks ? &totals->callback[index] : &none;
}

const struct sched_instead *sched_totals_instead(const struct sched_totals *totals, unsigned index)
{
	return index < totals->insteads ? totals->instead[index] : NULL;
}

const struct sched_runs *sched_totals_runs(const struct sched_totals *totals)
{
	return totals->runs;
}
