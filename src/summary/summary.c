/* SPDX-License-Identifier: Apache-2.0 */
/* A summary: its entities and texts, and merging; see summary.h. */
#include "summary/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/text.h"
#include "summary/summary_internal.h"
#include "summary/summary_limit.h"
#include "summary/summary_machine_internal.h"

/* Texts by their hash, and entities by the copies of their names. */
struct summary_names {
	struct map texts;    /* (hash, n-th with this hash) -> text */
	struct map entities; /* (name, of and kind) -> struct summary_entity */
};

struct summary *summary_new(void)
{
	struct summary *summary = calloc(1, sizeof(*summary));
	struct summary_names *names = calloc(1, sizeof(*names));

	if (!summary || !names) {
		free(summary);
		free(names);
		return NULL;
	}
	summary->names = names;
	summary->begin_ns = summary->origin_ns = INT64_MAX;
	summary->end_ns = INT64_MIN;
	summary->host = summary->clock = "";
	for (unsigned part = 0; part < MACHINE_PARTS; part++)
		summary->machine[part] = "";
	return summary;
}

void summary_free(struct summary *summary)
{
	if (!summary)
		return;
	for (unsigned i = 0; i < summary->entities; i++) {
		struct summary_entity *entity = summary->entity[i];

		for (unsigned d = 0; d < SUMMARY_DISTRIBUTIONS; d++)
			histogram_free(&entity->histogram[d]);
		summary_startup_free(entity);
		free(entity->worst);
		free(entity->culprit);
		free(entity->segment);
		free(entity);
	}
	free(summary->entity);
	map_free(&summary->names->entities);
	map_free_all(&summary->names->texts);
	free(summary->names);
	free(summary);
}

/* ---- texts ---- */

/* One address for all empty texts. */
static const char no_text[] = "";

/* The copy of @text, or NULL; *@n: how many other texts have its hash. */
static char *text_known(const struct summary *summary, uint64_t hash, const char *text, uint64_t *n)
{
	char *copy;

	for (*n = 0; (copy = map_get(&summary->names->texts, hash, *n)); ++*n)
		if (strcmp(copy, text) == 0)
			return copy;
	return NULL;
}

const char *summary_text(struct summary *summary, const char *text)
{
	const uint64_t hash = text ? text_hash(TEXT_HASH, text) : 0;
	char *copy;
	uint64_t n;

	if (!text || !*text)
		return no_text;
	copy = text_known(summary, hash, text, &n);
	if (copy)
		return copy;
	copy = strdup(text);
	if (!copy || map_put(&summary->names->texts, hash, n, copy)) {
		free(copy);
		summary->failed = true;
		return "";
	}
	return copy;
}

/* ---- entities ---- */

/* Texts are unique, and aligned: the kind has room in the low bits of one address. */
static uint64_t scope_of(enum summary_kind kind, const char *owner)
{
	return ((uint64_t)(uintptr_t)owner << 4) + kind;
}

/* NULL and "" are no text, as for summary_text(). Return: NULL: it has no copy. */
static const char *copy_of(const struct summary *summary, const char *text)
{
	uint64_t n;

	return text && *text ? text_known(summary, text_hash(TEXT_HASH, text), text, &n) : no_text;
}

struct summary_entity *summary_find(const struct summary *summary, enum summary_kind kind,
				    const char *name, const char *of)
{
	const char *own = copy_of(summary, name), *owner = copy_of(summary, of);

	return own && owner ? map_get(&summary->names->entities, (uintptr_t)own,
				      scope_of(kind, owner))
			    : NULL;
}

static struct summary_entity *entity_new(struct summary *summary, enum summary_kind kind,
					 const char *name, const char *of)
{
	const char *own = summary_text(summary, name), *owner = summary_text(summary, of);
	const uint64_t scope = scope_of(kind, owner);
	struct summary_entity *entity =
		ARRAY_ROOM(summary->entity, summary->entities, summary->entities_size)
			? calloc(1, sizeof(*entity))
			: NULL;

	if (!entity || map_put(&summary->names->entities, (uintptr_t)own, scope, entity)) {
		free(entity);
		summary->failed = true;
		return NULL;
	}
	entity->kind = kind;
	entity->name = entity->label = own;
	entity->of = owner;
	entity->ask = "";
	return summary->entity[summary->entities++] = entity;
}

struct summary_entity *summary_entity(struct summary *summary, enum summary_kind kind,
				      const char *name, const char *of)
{
	struct summary_entity *entity = summary_find(summary, kind, name, of);

	if (!entity && !summary_limit_has(summary->limit, kind, name, of ? of : "")) {
		summary->over = 1;
		name = SUMMARY_OTHER;
		of = "";
		entity = summary_find(summary, kind, name, of);
	}
	return entity ? entity : entity_new(summary, kind, name, of);
}

const struct summary_entity *summary_entity_like(const struct summary *summary,
						 const struct summary_entity *entity)
{
	return summary_find(summary, entity->kind, entity->name, entity->of);
}

/* Equal values: the earlier one first, so that merging does not depend on the order. */
static bool is_worse(const struct summary_instance *a, const struct summary_instance *b)
{
	if (a->is_startup != b->is_startup)
		return b->is_startup;
	return a->value_ns != b->value_ns ? a->value_ns > b->value_ns : a->begin_ns < b->begin_ns;
}

bool summary_takes_worst(const struct summary_entity *entity,
			 const struct summary_instance *instance)
{
	return entity->worsts < SUMMARY_WORST_MAX ||
	       is_worse(instance, &entity->worst[SUMMARY_WORST_MAX - 1]);
}

/* Room for one instance more, and no more: most entities of a window have few. */
static bool worst_room(struct summary *summary, struct summary_entity *entity)
{
	struct summary_instance *larger =
		reallocarray(entity->worst, entity->worsts + 1, sizeof(*larger));

	if (larger)
		entity->worst = larger;
	summary->failed |= !larger;
	return larger != NULL;
}

void summary_add_worst(struct summary *summary, struct summary_entity *entity,
		       const struct summary_instance *instance)
{
	unsigned at = entity->worsts;

	if (!summary_takes_worst(entity, instance) ||
	    (at < SUMMARY_WORST_MAX && !worst_room(summary, entity)))
		return;
	if (at == SUMMARY_WORST_MAX)
		at--;
	else
		entity->worsts++;
	for (; at && is_worse(instance, &entity->worst[at - 1]); at--)
		entity->worst[at] = entity->worst[at - 1];
	entity->worst[at] = *instance;
}

void summary_add_culprit(struct summary *summary, struct summary_entity *entity,
			 const struct summary_culprit *culprit)
{
	for (unsigned i = 0; i < entity->culprits; i++) {
		struct summary_culprit *known = &entity->culprit[i];

		if (known->by != culprit->by || known->is_group != culprit->is_group)
			continue;
		known->is_assumed |= culprit->is_assumed;
		known->count += culprit->count;
		known->ns += culprit->ns;
		if (culprit->worst_ns > known->worst_ns)
			known->worst_ns = culprit->worst_ns;
		if (culprit->steady_ns > known->steady_ns)
			known->steady_ns = culprit->steady_ns;
		return;
	}
	if (ARRAY_ROOM(entity->culprit, entity->culprits, entity->culprits_size))
		entity->culprit[entity->culprits++] = *culprit;
	else
		summary->failed = true;
}

/* ---- merging ---- */

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

void summary_add_segment(struct summary *summary, struct summary_entity *entity,
			 const struct summary_segment *segment)
{
	for (unsigned i = 0; i < entity->segments; i++) {
		struct summary_segment *at = &entity->segment[i];

		if (at->what != segment->what || strcmp(at->who, segment->who) != 0 ||
		    strcmp(at->by, segment->by) != 0)
			continue;
		at->ns += segment->ns;
		memset(at->quantile, 0, sizeof(at->quantile));
		return;
	}
	if (ARRAY_ROOM(entity->segment, entity->segments, entity->segments_size))
		entity->segment[entity->segments++] = *segment;
	else
		summary->failed = true;
}

static void merge_entity(struct summary *into, const struct summary_entity *from)
{
	struct summary_entity *entity = summary_entity(into, from->kind, from->name, from->of);

	if (!entity)
		return;
	if (!*entity->ask) {
		entity->label = summary_text(into, from->label);
		entity->ask = summary_text(into, from->ask);
	}
	if (from->pid && !entity->pid) { /* its twin came later */
		entity->label = summary_text(into, from->label);
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
	struct summary_trust *trust = &into->trust;

	if (from->lost_of && (!trust->lost_of || from->lost_events > trust->lost_events))
		trust->lost_of = summary_text(into, from->lost_of);
	trust->lost_events += from->lost_events;
	trust->lost_packets += from->lost_packets;
	trust->lost_kernel_events += from->lost_kernel_events;
	trust->lost_kernel_packets += from->lost_kernel_packets;
	if (from->lost_begin_ns &&
	    (!trust->lost_begin_ns || from->lost_begin_ns < trust->lost_begin_ns))
		trust->lost_begin_ns = from->lost_begin_ns;
	if (from->lost_end_ns > trust->lost_end_ns)
		trust->lost_end_ns = from->lost_end_ns;
	trust->damaged += from->damaged;
	trust->callbacks += from->callbacks;
	trust->unnamed += from->unnamed;
	trust->other_host += from->other_host;
}

int summary_merge(struct summary *into, const struct summary *from)
{
	const bool is_first = !into->windows;

	if (is_first || strcmp(into->host, from->host) == 0)
		into->host = summary_text(into, from->host);
	else
		into->host = "several";
	if (is_first)
		into->clock = summary_text(into, from->clock);
	summary_machine_merge(into, from);
	into->begin_ns = from->begin_ns < into->begin_ns ? from->begin_ns : into->begin_ns;
	into->end_ns = from->end_ns > into->end_ns ? from->end_ns : into->end_ns;
	into->origin_ns = from->origin_ns < into->origin_ns ? from->origin_ns : into->origin_ns;
	into->events += from->events;
	into->ros_events += from->ros_events;
	into->windows += from->windows;
	into->nodes = from->nodes > into->nodes ? from->nodes : into->nodes;
	into->processes = from->processes > into->processes ? from->processes : into->processes;
	merge_trust(into, &from->trust);
	for (unsigned i = 0; i < from->entities; i++)
		merge_entity(into, from->entity[i]);
	into->over += from->over;
	into->left_objects += from->left_objects;
	into->left_events += from->left_events;
	into->failed |= from->failed;
	return into->failed ? -1 : 0;
}

/* ---- names ---- */

char *summary_number(char buffer[32], uint64_t value)
{
	char plain[24];
	size_t digits = (size_t)snprintf(plain, sizeof(plain), "%" PRIu64, value), at = 0;

	for (size_t i = 0; i < digits; i++) {
		if (i && (digits - i) % 3 == 0)
			buffer[at++] = ',';
		buffer[at++] = plain[i];
	}
	buffer[at] = '\0';
	return buffer;
}

const char *summary_kind_name(enum summary_kind kind)
{
	static const char *const names[SUMMARY_KINDS] = {
		"callback", "timer",  "topic",   "subscription", "chain", "service",
		"executor", "thread", "process", "loop",         "span",  "action",
	};

	return names[kind];
}

const char *summary_counter_name(enum summary_counter counter)
{
	static const char *const names[SUMMARY_COUNTERS] = {
		"runs",        "unfinished",      "published",
		"received",    "never_sent",      "never_received",
		"not_yet",     "overwritten",     "cleared",
		"late",        "overrun",         "missed",
		"waited",      "waited_ns",       "run_ns",
		"kept_ns",     "publish_ns",      "way_ns",
		"wait_ns",     "take_ns",         "sent",
		"cpu_runs",    "cpu_ns",          "cost_runs",
		"allocations", "allocated_bytes", "lock_waits",
		"lock_ns",     "lost_not_sent",   "lost_wire",
		"lost_rejected", "lost_queue",    "lost_not_taken",
		"aborted",       "canceled",      "rejected",
	};

	return names[counter];
}

const char *summary_distribution_name(enum summary_distribution distribution)
{
	static const char *const names[SUMMARY_DISTRIBUTIONS] = { "duration", "latency", "wait",
								  "period", "own" };

	return names[distribution];
}

double summary_quantile_at(unsigned at)
{
	static const double quantiles[SUMMARY_QUANTILES] = { 0.02, 0.5, 0.9, 0.99 };

	return quantiles[at];
}

uint64_t summary_quantile(const struct summary_entity *entity, enum summary_distribution which,
			  double q)
{
	for (unsigned i = 0; i < SUMMARY_QUANTILES; i++)
		if (fabs(q - summary_quantile_at(i)) < 1e-9 && entity->quantile[which][i])
			return entity->quantile[which][i];
	return histogram_quantile(&entity->histogram[which], q);
}

const char *summary_what_name(enum summary_what what)
{
	static const char *const names[SUMMARY_WHATS] = {
		"ran",        "kept",      "publishing", "on_its_way", "waited_for",
		"taking",     "being_late", "accepting", "beginning",  "executing",
		"canceling",  "keeping",   "awaiting",
	};

	return names[what];
}
