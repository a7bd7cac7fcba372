/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Twins: callbacks, loops, spans and executors of one name, in processes of one name that run at
 * the same time. An entity is known by its names, so they would be one entity. The first process
 * stays "talker", the next one is "talker #2"; people see the pid instead, or the host.
 *
 * A process that was started again is the same to a summary: its callback ran before or after the
 * other one's, not meanwhile.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "summary/summary_collect_internal.h"

/* One process that has an entity of this name. */
struct collect_twin {
	struct collect_twin *next; /* of the same kind, name and name of the process */
	const struct model_process *process;
	int64_t first_ns, last_ns; /* when the entity was seen */
	unsigned number;           /* from 1 */
};

static uint64_t key_of(const char *name, const struct model_process *process)
{
	return text_hash(text_hash(TEXT_HASH, name), process->name);
}

static struct collect_twin *first_of(const struct summary_collect *collect, enum summary_kind kind,
				     const char *name, const struct model_process *process)
{
	return map_get(&collect->twins, key_of(name, process), kind);
}

static bool overlap(const struct collect_twin *a, const struct collect_twin *b)
{
	return a->first_ns <= b->last_ns && b->first_ns <= a->last_ns;
}

/* The lowest number that no other one has at that time; 0: no memory. */
static unsigned free_number(const struct collect_twin *first, const struct collect_twin *twin)
{
	const struct collect_twin *other;
	unsigned count = 0, number = 1;
	bool *taken;

	for (other = first; other; other = other->next)
		count++;
	taken = calloc(count + 2, sizeof(*taken));
	if (!taken)
		return 0;
	for (other = first; other; other = other->next)
		taken[other->number] |= overlap(other, twin);
	while (taken[number])
		number++;
	free(taken);
	return number;
}

static void add(struct summary_collect *collect, enum summary_kind kind, const char *name,
		const struct model_process *process, int64_t first_ns, int64_t last_ns)
{
	struct collect_twin *first = first_of(collect, kind, name, process), *twin = first;

	if (!first_ns || !process)
		return;
	while (twin && twin->process != process)
		twin = twin->next;
	if (twin) {
		twin->first_ns = first_ns < twin->first_ns ? first_ns : twin->first_ns;
		twin->last_ns = last_ns > twin->last_ns ? last_ns : twin->last_ns;
		return;
	}
	twin = malloc(sizeof(*twin));
	if (!twin) {
		collect->failed = true;
		return;
	}
	*twin = (struct collect_twin){ NULL, process, first_ns, last_ns, 0 };
	twin->number = free_number(first, twin);
	if (twin->number && first) {
		twin->next = first->next;
		first->next = twin;
	} else if (!twin->number ||
		   map_put(&collect->twins, key_of(name, process), kind, twin) < 0) {
		free(twin);
		collect->failed = true;
	}
}

static void add_spans(struct summary_collect *collect)
{
	const struct spans_stats *stats = collect->from.spans_stats;
	char name[512];

	for (unsigned i = 0; i < loops_count(collect->from.loops); i++) {
		const struct loop *loop = loops_at(collect->from.loops, i);

		add(collect, SUMMARY_LOOP, collect_spans_name(loop->name, name, sizeof(name)),
		    loop->thread->process, loop->first_ns, loop->last_ns);
	}
	for (unsigned i = 0; i < spans_stats_count(stats, SPANS_OF_SPANS); i++) {
		const struct spans_row *row = spans_stats_row(stats, SPANS_OF_SPANS, i);

		add(collect, SUMMARY_SPAN, collect_spans_name(row->name, name, sizeof(name)),
		    row->process, row->first_ns, row->last_ns);
	}
}

/* An executor is seen when its callbacks are. */
static void add_executors(struct summary_collect *collect)
{
	const struct model *model = collect->from.model;
	struct executor_view *view = collect->from.view;
	char name[1024];

	for (unsigned i = 0; i < model_count(model, MODEL_THREAD); i++) {
		if (!view_thread(view, i)->thread || view_executor_of(view, i) != i)
			continue;
		summary_executor_name(model, view, i, name, sizeof(name));
		for (int c = view_first_callback(view, i); c >= 0;
		     c = view_next_callback(view, c)) {
			const struct stats_callback *stats =
				stats_callback(collect->from.stats, (unsigned)c);

			add(collect, SUMMARY_EXECUTOR, name, model_thread(model, i)->process,
			    stats->first_ns, stats->last_ns);
		}
	}
}

void collect_find_twins(struct summary_collect *collect)
{
	char name[512];

	for (unsigned i = 0; i < model_count(collect->from.model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(collect->from.model, i);
		const struct stats_callback *stats = stats_callback(collect->from.stats, i);

		add(collect, SUMMARY_CALLBACK, summary_callback_name(callback, name, sizeof(name)),
		    callback->process, stats->first_ns, stats->last_ns);
	}
	add_executors(collect);
	if (collect->from.spans_stats)
		add_spans(collect);
}

const char *collect_of(const struct summary_collect *collect, enum summary_kind kind,
		       const char *name, const struct model_process *process,
		       char of[COLLECT_OF_MAX])
{
	const struct collect_twin *twin = first_of(collect, kind, name, process);

	while (twin && twin->process != process)
		twin = twin->next;
	if (!twin || twin->number == 1)
		return process->name;
	(void)snprintf(of, COLLECT_OF_MAX, "%s #%u", process->name, twin->number);
	return of;
}

const struct summary_entity *summary_collect_entity(const struct summary_collect *collect,
						    const struct summary *summary,
						    enum summary_kind kind, const char *name,
						    const struct model_process *process)
{
	/* A timer is named as its callback. */
	const enum summary_kind like = kind == SUMMARY_TIMER ? SUMMARY_CALLBACK : kind;
	char of[COLLECT_OF_MAX];

	return summary_find(summary, kind, name, collect_of(collect, like, name, process, of));
}

void collect_label(const struct summary_collect *collect, struct summary *summary,
		   struct summary_entity *entity, const struct model_process *process)
{
	const struct collect_twin *twin = first_of(collect, entity->kind, entity->name, process);
	bool several = false, hosts = false;
	char label[1024];

	for (; twin; twin = twin->next) {
		several |= twin->number > 1;
		hosts |= twin->process->host != process->host;
	}
	if (!several)
		return;
	entity->pid = process->pid;
	(void)snprintf(label, sizeof(label), "%s (%s %" PRId32 "%s%s)", entity->name, process->name,
		       process->pid, hosts ? " @" : "", hosts ? process->hostname : "");
	entity->label = summary_text(summary, label);
}

void collect_free_twins(struct summary_collect *collect)
{
	const struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&collect->twins, &at)))
		for (struct collect_twin *twin = slot->value, *next; twin; twin = next) {
			next = twin->next;
			free(twin);
		}
	map_free(&collect->twins);
}
