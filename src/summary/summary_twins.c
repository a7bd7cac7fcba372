/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Twins: callbacks, loops, spans and executors of one name, in processes of one name that run at
 * the same time. An entity is known by its names, so they would be one entity. The first process
 * stays "talker", the next one is "talker #2"; people see the pid instead, or the host. Chains are
 * of the twins that they lead through: of "", "filter #2", "driver #2, filter".
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

static void add_callback(struct summary_collect *collect, unsigned index)
{
	const struct model_callback *callback = model_callback(collect->from.model, index);
	const struct stats_callback *stats = stats_callback(collect->from.stats, index);
	char name[512];

	add(collect, SUMMARY_CALLBACK, summary_callback_name(callback, name, sizeof(name)),
	    callback->process, stats->first_ns, stats->last_ns);
}

/*
 * Process by process, so that of two of them the same one is the second for each name: the names of
 * a chain's steps, "driver", "driver #2", then say which way it goes.
 */
static void add_callbacks(struct summary_collect *collect)
{
	const struct model *model = collect->from.model;
	const unsigned processes = model_count(model, MODEL_PROCESS);
	const unsigned callbacks = model_count(model, MODEL_CALLBACK);
	uint32_t *first = calloc((size_t)processes + callbacks + 1, sizeof(*first));
	uint32_t *next = first + processes; /* callbacks of one process, from 1; 0: no more */

	if (!first) {
		collect->failed = true;
		return;
	}
	for (unsigned i = callbacks; i-- > 0;) {
		uint32_t *of = &first[model_callback(model, i)->process->index];

		next[i] = *of;
		*of = i + 1;
	}
	for (unsigned p = 0; p < processes; p++)
		for (uint32_t at = first[p]; at; at = next[at - 1])
			add_callback(collect, at - 1);
	free(first);
}

void collect_find_twins(struct summary_collect *collect)
{
	add_callbacks(collect);
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

/* "driver 4711", of several hosts "driver 4711 @left". Return: @text; NULL: there is only one. */
static const char *told_apart(const struct summary_collect *collect, enum summary_kind kind,
			      const char *name, const struct model_process *process,
			      char text[COLLECT_OF_MAX])
{
	const struct collect_twin *twin = first_of(collect, kind, name, process);
	bool several = false, hosts = false;

	for (; twin; twin = twin->next) {
		several |= twin->number > 1;
		hosts |= twin->process->host != process->host;
	}
	if (!several)
		return NULL;
	(void)snprintf(text, COLLECT_OF_MAX, "%s %" PRId32 "%s%s", process->name, process->pid,
		       hosts ? " @" : "", hosts ? process->hostname : "");
	return text;
}

void collect_label(const struct summary_collect *collect, struct summary *summary,
		   struct summary_entity *entity, const struct model_process *process)
{
	char text[COLLECT_OF_MAX], label[1024];

	if (!told_apart(collect, entity->kind, entity->name, process, text))
		return;
	entity->pid = process->pid;
	(void)snprintf(label, sizeof(label), "%s (%s)", entity->name, text);
	entity->label = summary_text(summary, label);
}

static void append(char *list, size_t size, const char *text)
{
	const size_t used = strlen(list);

	(void)snprintf(list + used, size - used, "%s%s", used ? ", " : "", text);
}

/*
 * The processes in the order of the way, each when the way enters it: messages may go from one twin
 * to another. Only the first ones are "", so that the entity is the same with a twin and without.
 */
const struct model_process *summary_collect_ways(const struct summary_collect *collect,
						 const struct chains_path *path,
						 struct summary_ways *ways)
{
	const struct chains_path *step[CHAINS_STEPS_MAX];
	const unsigned steps = chains_steps(path, step);
	const struct model_process *first = NULL, *last = NULL;
	bool are_first = true;

	ways->of[0] = ways->text[0] = '\0';
	for (unsigned i = 0; i < steps; i++) {
		const struct model_process *process = step[i]->callback ? step[i]->callback->process
									: last;
		char name[512], text[COLLECT_OF_MAX];
		const char *of;

		if (process == last)
			continue;
		summary_callback_name(step[i]->callback, name, sizeof(name));
		if (!told_apart(collect, SUMMARY_CALLBACK, name, process, text))
			continue;
		append(ways->text, sizeof(ways->text), text);
		of = collect_of(collect, SUMMARY_CALLBACK, name, process, text);
		append(ways->of, sizeof(ways->of), of);
		are_first &= of == process->name;
		first = first ? first : process;
		last = process;
	}
	if (are_first)
		ways->of[0] = '\0';
	return first;
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
