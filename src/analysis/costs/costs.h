/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the runs of callbacks cost that a real-time program avoids: allocations, page faults, mutexes that were waited for. Beside a
 * model, in one pass:
 *
 *   costs_create(&costs, model, reader);		before model_attach()
 *   while (ctf_next(...))
 *       costs_event(costs, &event), model_event(model, &event);	in this order
 *   model_finish(model);
 *
 * What happens in a run that began inside another one counts for both. What a run frees counts for it, whoever allocated it, if that
 * is in the trace. Page faults are those whose event tells the thread (kymo's; LTTng's with the context tid).
 *
 * Context of all functions: not thread-safe; allocate; do not block.
 */
#ifndef KYMO_ANALYSIS_COSTS_H
#define KYMO_ANALYSIS_COSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/model.h"
#include "ctf/reader.h"

enum costs_kind { COSTS_ALLOCATION, COSTS_FREE, COSTS_LOCK, COSTS_FAULT, COSTS_MAJOR, COSTS_KINDS };

struct costs_use {
	uint64_t count[COSTS_KINDS];	/* FAULT: with the MAJOR ones */
	uint64_t bytes;			/* allocated, all together */
	int64_t growth, peak;		/* bytes allocated less freed: in the end, and at most */
	int64_t lock_ns;		/* waited for mutexes */
};

/* The runs of a callback that returned. */
struct costs_callback {
	uint64_t runs;
	uint64_t with[COSTS_KINDS];	/* runs in which it happened */
	uint64_t most[COSTS_KINDS];	/* in one run */
	int64_t first_ns[COSTS_KINDS];	/* start of the first such run */
	const struct model_thread *thread[COSTS_KINDS];	/* which it was on */
	struct costs_use sum;		/* peak: the largest */
};

struct costs;

/** costs_create() - listen to @model. Return: 0, or -1: no memory. */
int costs_create(struct costs **costs, struct model *model, const struct ctf_reader *reader);
void costs_destroy(struct costs *costs);

/** costs_event() - the next event, before the model gets it. Return: 0, or -1: no memory. */
int costs_event(struct costs *costs, const struct ctf_event *event);

/** costs_callback() - of the callback with that index of the model; NULL: it did not run. */
const struct costs_callback *costs_callback(const struct costs *costs, uint32_t index);

/** costs_seen() - has an event of the trace told of @kind, in a callback or elsewhere? LOCK: or of allocations, which come together. */
bool costs_seen(const struct costs *costs, enum costs_kind kind);

#endif
