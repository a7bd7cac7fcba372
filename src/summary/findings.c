/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which findings stay, and their order; see findings.h.
 *
 * The idea: each entity proposes what may be wrong with it, with its harm (findings_propose.c). The
 * proposals are sorted, and of several that tell of the same trouble (the same entity; the same
 * culprit at the same time) the most harmful one stays. So it is of several that are alike but for
 * their process.
 */
#include "summary/findings_internal.h"

#include <stdlib.h>
#include <string.h>

/* Below this part of the first finding's harm, slow instances are no findings. */
#define PART_OF_FIRST 3
/* A chain is preferred to the callback in it, unless it explains less than this share of the
 * callback's excess. */
#define CHAIN_SHARE 0.9

static double rank_of(const struct summary_finding *finding)
{
	return (double)finding->harm_ns /
	       (finding->kind == SUMMARY_FINDING_CHAIN ? CHAIN_SHARE : 1.0);
}

static int by_harm(const void *a, const void *b)
{
	const struct summary_finding *x = a, *y = b;
	int order;

	if (rank_of(x) != rank_of(y))
		return rank_of(x) < rank_of(y) ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	order = strcmp(x->entity->name, y->entity->name);
	return order ? order : strcmp(x->entity->of, y->entity->of);
}

static bool overlap(const struct summary_finding *a, const struct summary_finding *b)
{
	return a->instance && b->instance &&
	       a->instance->begin_ns < b->instance->begin_ns + b->instance->value_ns &&
	       b->instance->begin_ns < a->instance->begin_ns + a->instance->value_ns;
}

/* Do both tell of the same trouble? */
static bool repeats(const struct summary_finding *known, const struct summary_finding *new)
{
	if (summary_is_alike(known->entity, new->entity))
		return true;
	return overlap(known, new) && known->cause.who && new->cause.who &&
	       (findings_is_same_trouble(&known->cause, &new->cause) ||
		(known->cause.what == SUMMARY_WAITED_FOR && new->cause.what == SUMMARY_RAN &&
		 known->cause.by == new->cause.who &&new->kind == SUMMARY_FINDING_CHAIN));
}

static bool is_of_goals(const struct summary_finding *finding)
{
	return finding->kind == SUMMARY_FINDING_GOAL || finding->kind == SUMMARY_FINDING_ABORTED;
}

static bool is_slow_instance(const struct summary_finding *finding)
{
	return finding->kind == SUMMARY_FINDING_CHAIN ||
	       finding->kind == SUMMARY_FINDING_CALLBACK ||
	       finding->kind == SUMMARY_FINDING_SPAN || finding->kind == SUMMARY_FINDING_GOAL;
}

static void count_alike(const struct proposals *all, const struct summary *summary,
			struct summary_finding *finding)
{
	finding->alike = finding->affected = 0;
	for (unsigned i = 0; i < summary->entities; i++)
		finding->alike += summary->entity[i]->kind == finding->entity->kind &&
				  summary_is_alike(finding->entity, summary->entity[i]);
	/* One may be affected in several ways. */
	for (unsigned i = 0; i < all->count; i++) {
		const struct summary_entity *entity = all->finding[i].entity;
		bool again = !summary_is_alike(finding->entity, entity);

		for (unsigned k = 0; k < i && !again; k++)
			again = all->finding[k].entity->of == entity->of &&
				summary_is_alike(all->finding[k].entity, entity);
		finding->affected += !again;
	}
}

/* Is one of the findings that were kept, or one that is alike, about the same? */
static bool is_told(const struct proposals *all, const struct summary_finding *new)
{
	bool is_told = false;

	for (unsigned k = 0; !is_told && k < all->count; k++)
		is_told = all->finding[k].alike && repeats(&all->finding[k], new);
	return is_told;
}

/* Those like the finding that was kept are told with it: alike is not 0. */
static void tell_alike(struct proposals *all, const struct summary_finding *kept)
{
	for (unsigned i = 0; i < all->count; i++)
		if (summary_is_alike(kept->entity, all->finding[i].entity))
			all->finding[i].alike = kept->alike;
}

static unsigned keep(struct proposals *all, const struct summary *summary,
		     struct summary_finding *out, unsigned max)
{
	int64_t first_ns = 0;
	unsigned kept = 0;

	for (unsigned i = 0; i < all->count && kept < max; i++) {
		struct summary_finding *new = &all->finding[i];

		if ((is_slow_instance(new) && new->harm_ns < first_ns / PART_OF_FIRST) ||
		    is_told(all, new))
			continue;
		if (!first_ns && !is_of_goals(new))
			first_ns = new->harm_ns;
		count_alike(all, summary, new);
		tell_alike(all, new);
		out[kept++] = *new;
	}
	return kept;
}

static bool is_trusted(const struct summary_trust *trust)
{
	return !trust->lost_events && !trust->lost_packets && !trust->damaged && !trust->unnamed &&
	       !trust->other_host;
}

unsigned summary_findings(const struct summary *summary, struct summary_finding *out, unsigned max)
{
	struct proposals all = { 0 };
	unsigned kept;

	for (unsigned i = 0; i < summary->entities; i++)
		findings_propose(&all, summary, summary->entity[i]);
	if (all.count)
		qsort(all.finding, all.count, sizeof(*all.finding), by_harm);
	kept = keep(&all, summary, out, max);
	free(all.finding);
	if (kept < max && !is_trusted(&summary->trust))
		out[kept++] = (struct summary_finding){ .kind = SUMMARY_FINDING_TRUST };
	return kept;
}

bool summary_slowest(const struct summary *summary, struct summary_finding *out)
{
	bool found = false;

	for (unsigned i = 0; i < summary->entities; i++) {
		const struct summary_entity *entity = summary->entity[i];
		struct summary_finding finding;

		if ((entity->kind != SUMMARY_CHAIN && entity->kind != SUMMARY_CALLBACK) ||
		    entity->is_startup || !summary_steady_count(entity, SUMMARY_LATENCY, 0))
			continue;
		finding = findings_instance(entity, entity->kind == SUMMARY_CHAIN
						      ? SUMMARY_FINDING_CHAIN
						      : SUMMARY_FINDING_CALLBACK);
		if (!found || by_harm(&finding, out) < 0)
			*out = finding;
		found = true;
	}
	return found;
}

const char *summary_finding_ask(const struct summary_finding *finding)
{
	return finding->entity ? finding->entity->ask : "";
}

const char *summary_finding_kind_name(enum summary_finding_kind kind)
{
	static const char *const names[SUMMARY_FINDING_KINDS] = { "chain", "callback", "holds",
								  "loss",  "timer",    "loop",
								  "span",  "goal",     "aborted",
								  "trust" };

	return names[kind];
}
