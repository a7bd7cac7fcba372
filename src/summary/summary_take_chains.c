/* SPDX-License-Identifier: Apache-2.0 */
/* After the pass: chains, and what their worst arrivals are made of. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "summary/summary_collect_internal.h"
#include "summary/summary_limit.h"

struct chain {
	struct summary_collect *collect;
	struct summary *summary;
	const struct chains_path *step[CHAINS_STEPS_MAX];
	unsigned steps;
	const struct chains_stats *stats;
};

/* ---- names ---- */

static const char *step_name(struct chain *chain, unsigned at)
{
	const struct chains_path *step = chain->step[at];
	char label[CHAINS_LABEL_MAX];

	if (step->publisher)
		return summary_text(chain->summary, chains_step_label(step, label, sizeof(label)));
	return collect_node_name(chain->summary, step->callback);
}

/* "/scan -> /obstacles -> /cmd_vel": its topics, and the node where it ends if that is no topic. */
static const char *chain_label(struct chain *chain)
{
	char text[1024] = "";
	size_t used = 0;

	for (unsigned i = 0; i < chain->steps && used < sizeof(text); i++)
		if (chain->step[i]->publisher || i + 1 == chain->steps)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used ? " -> " : "", step_name(chain, i));
	return summary_text(chain->summary, text);
}

char *summary_chain_ask(const struct chains_path *path, char *buffer, size_t size)
{
	const struct chains_path *step[CHAINS_STEPS_MAX];
	const unsigned last = chains_steps(path, step) - 1;
	const struct chains_path *const ends[] = { step[0], step[last] };
	char label[CHAINS_LABEL_MAX];
	size_t used = 0;

	*buffer = '\0';
	for (unsigned i = 0; i < COUNT_OF(ends); i++)
		if (ends[i]->callback && !model_callback_node(ends[i]->callback))
			return buffer;
	for (unsigned i = 0; i < COUNT_OF(ends) && used < size; i++)
		used += (size_t)snprintf(
			buffer + used, size - used, "%s%s", i ? " -> " : "",
			ends[i]->publisher
				? chains_step_label(ends[i], label, sizeof(label))
				: model_callback_node(ends[i]->callback)->full_name);
	return buffer;
}

/* ---- one arrival ---- */

static const enum summary_what what_of[] = {
	[CHAINS_RUN] = SUMMARY_RAN,
	[CHAINS_CACHED] = SUMMARY_KEPT,
	[CHAINS_PUBLISH] = SUMMARY_PUBLISHING,
	[CHAINS_TRANSPORT] = SUMMARY_ON_ITS_WAY,
	[CHAINS_WAIT] = SUMMARY_WAITED_FOR,
	[CHAINS_TAKE] = SUMMARY_TAKING,
	[CHAINS_AWAITED] = SUMMARY_AWAITED,
	[CHAINS_RESUMED] = SUMMARY_RAN,
};

/* Who was it: the names of part @p of the chain's segments. */
static void name_part(struct chain *chain, unsigned p, struct summary_part *part)
{
	const unsigned at = chain->stats->part[p].step;

	part->by = "";
	switch (part->what) {
	case SUMMARY_PUBLISHING:
		part->who = step_name(chain, at - 1);
		break;
	case SUMMARY_ON_ITS_WAY:
		part->who = step_name(chain, at - 1);
		part->by = step_name(chain, at);
		break;
	case SUMMARY_KEPT:
		part->who = at ? step_name(chain, at - 1) : "";
		break;
	default:
		part->who = collect_callback_name(chain->summary, chain->step[at]->callback);
	}
}

/*
 * Waiting for other runs, and on its way: the chain knows how long the receiving thread ran other
 * callbacks. The wait of that run, if it is among the worst ones, also knows whose runs, and what
 * held its group on other threads.
 */
static void add_wait(struct chain *chain, const struct chains_arrival *arrival,
		     const struct chains_part *of, struct summary_part *way,
		     const struct summary_part *wait, struct collect_parts *parts)
{
	const struct chains_path *step = chain->step[of->step];
	const struct collect_wait *known =
		arrival->hop ? collect_wait_of(chain->collect, step->callback->index,
					       arrival->hop[of->step].start_ns)
			     : NULL;
	const int64_t both = way->ns + wait->ns;

	if (!known || !known->by) {
		collect_parts_add(parts, way);
		collect_parts_add(parts, wait);
		return;
	}
	collect_parts_wait(chain->summary, parts, known, wait, both);
	way->ns = both - (known->blocked_ns < both ? known->blocked_ns : both);
	collect_parts_add(parts, way);
}

static void parts_of(struct chain *chain, const struct chains_arrival *arrival,
		     struct collect_parts *parts)
{
	struct summary_part part, way = { 0 };

	for (unsigned p = 0; p < chain->stats->parts; p++) {
		const struct chains_part *of = &chain->stats->part[p];

		part = (struct summary_part){
			.what = what_of[of->segment],
			.ns = arrival->part_ns[p],
			.usual_ns = (int64_t)histogram_quantile(&chain->stats->part_ns[p], 0.5),
		};
		/* What is not longer than the error of two clocks is no fact. */
		if (chain->stats->part_error_ns[p] > part.ns)
			continue;
		name_part(chain, p, &part);
		if (arrival->hop &&
		    (of->segment == CHAINS_PUBLISH || of->segment == CHAINS_TRANSPORT))
			part.source_ns = arrival->hop[of->step].source_ns;
		if (of->segment == CHAINS_TRANSPORT) {
			way = part;
			continue;
		}
		if (of->segment == CHAINS_WAIT)
			add_wait(chain, arrival, of, &way, &part, parts);
		else
			collect_parts_add(parts, &part);
	}
}

/* The message by which every host knows this arrival: the first, even if another host sent it. */
static void name_message(struct chain *chain, const struct chains_arrival *arrival,
			 struct summary_instance *instance)
{
	const struct model_callback *first = chain->step[0]->callback;

	if (arrival->hop && first && first->subscription && arrival->hop[0].source_ns > 0) {
		instance->topic = summary_text(chain->summary, first->subscription->topic->name);
		instance->source_ns = arrival->hop[0].source_ns;
		return;
	}
	for (unsigned at = 1; arrival->hop && at < chain->steps; at++) {
		if (!chain->step[at]->callback || arrival->hop[at].source_ns <= 0)
			continue;
		instance->topic = step_name(chain, at - 1);
		instance->source_ns = arrival->hop[at].source_ns;
		return;
	}
}

/* ---- one chain ---- */

static void take_times(struct chain *chain, struct summary_entity *entity)
{
	static const enum summary_counter counter_of[] = {
		[CHAINS_RUN] = SUMMARY_RUN_NS,         [CHAINS_CACHED] = SUMMARY_KEPT_NS,
		[CHAINS_PUBLISH] = SUMMARY_PUBLISH_NS, [CHAINS_TRANSPORT] = SUMMARY_WAY_NS,
		[CHAINS_WAIT] = SUMMARY_WAIT_NS,       [CHAINS_TAKE] = SUMMARY_TAKE_NS,
		[CHAINS_AWAITED] = SUMMARY_AWAITED_NS, [CHAINS_RESUMED] = SUMMARY_RUN_NS,
	};

	for (unsigned p = 0; p < chain->stats->parts; p++)
		entity->count[counter_of[chain->stats->part[p].segment]] +=
			chain->stats->part_ns[p].sum;
	entity->count[SUMMARY_RUNS] += chain->stats->total.count;
	chain->summary->failed |=
		histogram_merge(&entity->histogram[SUMMARY_LATENCY], &chain->stats->total) != 0;
}

/* Each part of the way, as it is usually and of all arrivals. */
static void take_segments(struct chain *chain, struct summary_entity *entity)
{
	for (unsigned p = 0; p < chain->stats->parts; p++) {
		const struct histogram *ns = &chain->stats->part_ns[p];
		struct summary_part part = { .what = what_of[chain->stats->part[p].segment] };
		struct summary_segment segment = { .what = part.what, .ns = ns->sum };

		name_part(chain, p, &part);
		segment.who = part.who;
		segment.by = part.by;
		for (unsigned i = 0; i < SUMMARY_QUANTILES; i++)
			segment.quantile[i] = histogram_quantile(ns, summary_quantile_at(i));
		summary_add_segment(chain->summary, entity, &segment);
	}
}

/* "/scan -> /cmd_vel" in @text gets " (filter 4711)". */
static const char *with_ways(struct chain *chain, const char *text, const struct summary_ways *ways)
{
	char whole[2048];

	if (!*text || !*ways->text)
		return text;
	(void)snprintf(whole, sizeof(whole), "%s (%s)", text, ways->text);
	return summary_text(chain->summary, whole);
}

static void take_chain(struct chain *chain, const struct chains_path *path)
{
	char name[4096], ask[1024];
	struct summary_ways ways;
	struct summary_entity *entity;
	const struct model_process *first = summary_collect_ways(chain->collect, path, &ways);

	chain->steps = chains_steps(path, chain->step);
	chain->stats = path->stats;
	entity = summary_entity(chain->summary, SUMMARY_CHAIN,
				chains_label(path, name, sizeof(name)), ways.of);
	if (!entity)
		return;
	if (!summary_is_other(entity)) {
		entity->label = with_ways(chain, chain_label(chain), &ways);
		entity->ask = with_ways(chain, summary_text(chain->summary,
							    summary_chain_ask(path, ask,
									      sizeof(ask))),
					&ways);
		entity->pid = first ? first->pid : 0;
		take_segments(chain, entity);
	}
	summary_startup_set(chain->summary, entity, SUMMARY_LATENCY, &chain->stats->startup,
			    chain->stats->worst_count && !chain->stats->worst->is_startup
				    ? (uint64_t)chain->stats->worst->total_ns
				    : 0);
	take_times(chain, entity);
	for (unsigned i = 0; i < chain->stats->worst_count; i++) {
		const struct chains_arrival *arrival = &chain->stats->worst[i];
		struct summary_instance instance = { .begin_ns = arrival->begin_ns,
						     .value_ns = arrival->total_ns,
						     .is_startup = arrival->is_startup,
						     .error_ns = chain->stats->error_ns,
						     .topic = "" };
		struct collect_parts parts;

		/* A page keeps many more. */
		if (!summary_takes_worst(entity, &instance))
			continue;
		parts.count = 0;
		parts_of(chain, arrival, &parts);
		name_message(chain, arrival, &instance);
		collect_parts_put(&parts, &instance);
		summary_add_worst(chain->summary, entity, &instance);
	}
}

void collect_take_chains(struct summary_collect *collect, struct summary *summary)
{
	const struct chains *chains = collect->from.chains;

	for (unsigned i = 0; i < chains_path_count(chains); i++) {
		const struct chains_path *path = chains_path(chains, i);
		struct chain chain = { .collect = collect, .summary = summary };

		if (path->stats && path->stats->total.count && chains_is_chain(chains, path))
			take_chain(&chain, path);
	}
}
