/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging: the summary of two windows from theirs. Counts and histograms are added, so the numbers
 * are exact and do not depend on the order. Entities that are alike become one in the same way.
 */
#include <stdio.h>
#include <string.h>

#include "summary/summary_internal.h"

static void merge_worst(struct summary *into, struct summary_entity *entity,
			const struct summary_entity *from)
{
	for (unsigned i = 0; i < from->worsts; i++) {
		struct summary_instance instance = from->worst[i];

		for (unsigned p = 0; p < instance.parts; p++) {
			instance.part[p].who = summary_text(into, instance.part[p].who);
			instance.part[p].by = summary_text(into, instance.part[p].by);
		}
		instance.topic = summary_text(into, instance.topic);
		summary_add_worst(into, entity, &instance);
	}
}

/* @entity of @into gets all that @from has. */
static void merge_entity(struct summary *into, struct summary_entity *entity,
			 const struct summary_entity *from)
{
	if (!*entity->ask) {
		entity->label = summary_text(into, from->label);
		entity->ask = summary_text(into, from->ask);
	}
	if (from->pid && !entity->pid) { /* its twin came later */
		entity->label = summary_text(into, from->label);
		entity->ask = summary_text(into, from->ask);
		entity->pid = from->pid;
	}
	entity->is_startup |= from->is_startup;
	entity->is_other_clock |= from->is_other_clock;
	entity->period_ns = entity->period_ns ? entity->period_ns : from->period_ns;
	if (from->first_ns && (!entity->first_ns || from->first_ns < entity->first_ns))
		entity->first_ns = from->first_ns;
	if (from->last_ns > entity->last_ns)
		entity->last_ns = from->last_ns;
	for (unsigned i = 0; i < SUMMARY_COUNTERS; i++)
		entity->count[i] += from->count[i];
	summary_startup_merge(into, entity, from);
	for (unsigned i = 0; i < SUMMARY_DISTRIBUTIONS; i++) {
		/* Those of two windows do not tell those of both. */
		if (!entity->histogram[i].count)
			memcpy(entity->quantile[i], from->quantile[i], sizeof(from->quantile[i]));
		else if (from->histogram[i].count)
			memset(entity->quantile[i], 0, sizeof(entity->quantile[i]));
		into->failed |= histogram_merge(&entity->histogram[i], &from->histogram[i]) != 0;
	}
	for (unsigned i = 0; i < from->segments; i++) {
		struct summary_segment segment = from->segment[i];

		segment.who = summary_text(into, segment.who);
		segment.by = summary_text(into, segment.by);
		summary_add_segment(into, entity, &segment);
	}
	for (unsigned i = 0; i < from->culprits; i++) {
		struct summary_culprit culprit = from->culprit[i];

		culprit.by = summary_text(into, culprit.by);
		summary_add_culprit(into, entity, &culprit);
	}
	merge_worst(into, entity, from);
}

static void merge_trust(struct summary *into, const struct summary_trust *from)
{
#define ADD(name) trust->name += from->name;
	struct summary_trust *trust = &into->trust;

	if (from->lost_of && (!trust->lost_of || from->lost_events > trust->lost_events))
		trust->lost_of = summary_text(into, from->lost_of);
	SUMMARY_TRUST_COUNTS(ADD)
	if (from->lost_begin_ns &&
	    (!trust->lost_begin_ns || from->lost_begin_ns < trust->lost_begin_ns))
		trust->lost_begin_ns = from->lost_begin_ns;
	if (from->lost_end_ns > trust->lost_end_ns)
		trust->lost_end_ns = from->lost_end_ns;
#undef ADD
}

/* What is not the same in both becomes "several". */
static void merge_machine(struct summary *into, const struct summary *from)
{
	for (unsigned part = 0; part < MACHINE_PARTS; part++) {
		if (!*into->machine[part])
			into->machine[part] = summary_text(into, from->machine[part]);
		else if (*from->machine[part] &&
			 strcmp(into->machine[part], from->machine[part]) != 0)
			into->machine[part] = "several";
	}
}

static void merge_facts(struct summary *into, const struct summary *from)
{
	const bool is_first = !into->windows;

	if (is_first || strcmp(into->host, from->host) == 0)
		into->host = summary_text(into, from->host);
	else
		into->host = "several";
	if (is_first)
		into->clock = summary_text(into, from->clock);
	merge_machine(into, from);
	into->begin_ns = from->begin_ns < into->begin_ns ? from->begin_ns : into->begin_ns;
	into->end_ns = from->end_ns > into->end_ns ? from->end_ns : into->end_ns;
	into->origin_ns = from->origin_ns < into->origin_ns ? from->origin_ns : into->origin_ns;
	into->events += from->events;
	into->ros_events += from->ros_events;
	into->windows += from->windows;
	into->nodes = from->nodes > into->nodes ? from->nodes : into->nodes;
	into->processes = from->processes > into->processes ? from->processes : into->processes;
	merge_trust(into, &from->trust);
#define ADD(name) into->name += from->name;
	SUMMARY_LEFT_COUNTS(ADD)
#undef ADD
	into->failed |= from->failed;
}

int summary_merge(struct summary *into, const struct summary *from)
{
	merge_facts(into, from);
	for (unsigned i = 0; i < from->entities; i++) {
		const struct summary_entity *one = from->entity[i];
		struct summary_entity *entity =
			summary_entity(into, one->kind, one->name, one->of);

		if (entity)
			merge_entity(into, entity, one);
	}
	return into->failed ? -1 : 0;
}

/* ---- those that are alike ---- */

/* @entity stands for all that are alike, so it names no process. */
static void name_alike(struct summary *into, struct summary_entity *entity)
{
	char text[2048];

	(void)snprintf(text, sizeof(text), "%.*s", summary_plain_length(entity->label),
		       entity->label);
	entity->label = entity->kind == SUMMARY_CHAIN ? summary_text(into, text) : entity->name;
	(void)snprintf(text, sizeof(text), "%.*s", summary_plain_length(entity->ask), entity->ask);
	entity->ask = summary_text(into, text);
	entity->pid = 0;
}

/*
 * A timer that often could not run in time seems to follow another clock, which nothing is judged
 * by. One such twin does not hide the others.
 */
static void fold_entity(struct summary *into, struct summary_entity *entity,
			const struct summary_entity *from)
{
	const bool is_other = from->is_other_clock && (!entity->alike || entity->is_other_clock);

	merge_entity(into, entity, from);
	entity->is_other_clock = is_other;
	if (++entity->alike > 1 || strcmp(entity->of, from->of) != 0)
		name_alike(into, entity);
}

struct summary *summary_folded(const struct summary *from)
{
	struct summary *into = summary_new();
	char of[512];

	if (!into)
		return NULL;
	merge_facts(into, from);
	for (unsigned i = 0; i < from->entities; i++) {
		const struct summary_entity *one = from->entity[i];
		struct summary_entity *entity =
			summary_entity(into, one->kind, one->name,
				       summary_alike_of(one, of, sizeof(of)));

		if (entity)
			fold_entity(into, entity, one);
	}
	if (!into->failed)
		return into;
	summary_free(into);
	return NULL;
}
