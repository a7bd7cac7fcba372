/* SPDX-License-Identifier: Apache-2.0 */
/* After the pass: entities of most kinds, and what the summary says of itself. */
#include <stdio.h>
#include <string.h>

#include "summary/summary_collect_internal.h"
#include "summary/summary_limit.h"

struct summary_entity *collect_entity(struct summary *summary, enum summary_kind kind,
				      const char *name, const char *of)
{
	return summary_entity(summary, kind, *name ? name : "(not known)", of ? of : "");
}

void collect_merge(struct summary *summary, struct summary_entity *entity,
		   enum summary_distribution which, const struct histogram *from)
{
	summary->failed |= histogram_merge(&entity->histogram[which], from) != 0;
}

void collect_seen(struct summary_entity *entity, int64_t first_ns, int64_t last_ns)
{
	if (first_ns && (!entity->first_ns || first_ns < entity->first_ns))
		entity->first_ns = first_ns;
	if (last_ns > entity->last_ns)
		entity->last_ns = last_ns;
}

/* ---- messages ---- */

static void take_topics(struct summary_collect *collect, struct summary *summary)
{
	for (unsigned i = 0; i < model_count(collect->from.model, MODEL_TOPIC); i++) {
		const struct model_topic *topic = model_topic(collect->from.model, i);
		const struct stats_topic *s = stats_topic(collect->from.stats, i);
		const uint64_t sent = s->sent + s->sent_intra;
		struct summary_entity *entity;

		if (!s->published && !s->taken && !s->taken_intra)
			continue;
		entity = collect_entity(summary, SUMMARY_TOPIC, topic->name, "");
		if (!entity)
			return;
		entity->is_startup = chains_is_infrastructure(topic);
		entity->count[SUMMARY_PUBLISHED] += s->published;
		entity->count[SUMMARY_RECEIVED] += s->taken + s->taken_intra;
		entity->count[SUMMARY_NEVER_SENT] += s->published > sent ? s->published - sent : 0;
		entity->count[SUMMARY_OVERWRITTEN] += s->overwritten;
		entity->count[SUMMARY_CLEARED] += s->cleared;
		collect_merge(summary, entity, SUMMARY_LATENCY, &s->latency);
		collect_seen(entity, s->first_ns, s->last_ns);
		summary->trust.other_host += s->other_host;
	}
}

static void take_subscriptions(struct summary_collect *collect, struct summary *summary)
{
	for (uint32_t i = 0; i < collect->subscriptions; i++) {
		const struct collect_subscription *s = &collect->subscription[i];
		const struct model_subscription *subscription;
		struct summary_entity *entity, *topic;
		const char *topic_name;
		char name[512];

		if (!s->received && !s->never && !s->not_yet && !s->overwritten && !s->cleared)
			continue;
		subscription = model_subscription(collect->from.model, i);
		topic_name = subscription->topic ? subscription->topic->name : "(not known)";
		snprintf(name, sizeof(name), "%s %s",
			 subscription->node ? subscription->node->full_name : "(not known)",
			 topic_name);
		entity = collect_entity(summary, SUMMARY_SUBSCRIPTION, name, topic_name);
		topic = collect_entity(summary, SUMMARY_TOPIC, topic_name, "");
		if (!entity || !topic)
			return;
		if (subscription->node) {
			entity->label = summary_text(summary, subscription->node->full_name);
			snprintf(name, sizeof(name), "%s -> %s", topic_name, entity->label);
			entity->ask = summary_text(summary, name);
		}
		entity->is_startup = topic->is_startup;
		entity->count[SUMMARY_RECEIVED] += s->received;
		entity->count[SUMMARY_OVERWRITTEN] += s->overwritten;
		entity->count[SUMMARY_CLEARED] += s->cleared;
		entity->count[SUMMARY_NOT_YET] += s->not_yet;
		entity->count[SUMMARY_NEVER_RECEIVED] += s->never;
		for (unsigned where = MODEL_LOST_NOT_SENT; where < MODEL_LOSTS; where++)
			entity->count[SUMMARY_LOST_NOT_SENT + where - MODEL_LOST_NOT_SENT] +=
				s->where[where];
		topic->count[SUMMARY_NOT_YET] += s->not_yet;
		topic->count[SUMMARY_NEVER_RECEIVED] += s->never;
	}
}

static void take_services(struct summary_collect *collect, struct summary *summary)
{
	for (uint32_t i = 0; i < collect->services; i++) {
		const struct collect_service *s = &collect->service[i];
		struct summary_entity *entity;

		if (!s->calls)
			continue;
		entity = collect_entity(summary, SUMMARY_SERVICE,
				   model_client(collect->from.model, i)->name, "");
		if (!entity)
			return;
		entity->count[SUMMARY_RUNS] += s->calls;
		entity->count[SUMMARY_UNFINISHED] += s->unanswered;
		collect_merge(summary, entity, SUMMARY_LATENCY, &s->total);
	}
}

/* ---- threads, processes, executors ---- */

static void take_threads(struct summary_collect *collect, struct summary *summary)
{
	for (unsigned i = 0; i < model_count(collect->from.model, MODEL_THREAD); i++) {
		const struct model_thread *thread = model_thread(collect->from.model, i);
		const struct model_process *process = thread->process;
		const struct collect_thread *t = i < collect->threads ? &collect->thread[i] : NULL;
		struct summary_entity *entity;
		char name[256];

		snprintf(name, sizeof(name), "%s/%s", process->name, thread->name);
		entity = collect_entity(summary, SUMMARY_THREAD, name, process->name);
		if (!entity)
			return;
		if (!t || !t->runs)
			continue;
		entity->count[SUMMARY_RUNS] += t->runs;
		entity->count[SUMMARY_RUN_NS] += (uint64_t)t->busy_ns;
		entity = collect_entity(summary, SUMMARY_PROCESS, process->name, "");
		if (!entity)
			return;
		entity->count[SUMMARY_RUNS] += t->runs;
		entity->count[SUMMARY_RUN_NS] += (uint64_t)t->busy_ns;
	}
	/* Also those that ran nothing. */
	for (unsigned i = 0; i < model_count(collect->from.model, MODEL_PROCESS); i++)
		(void)collect_entity(summary, SUMMARY_PROCESS,
				model_process(collect->from.model, i)->name, "");
}

static void take_executors(struct summary_collect *collect, struct summary *summary)
{
	const struct model *model = collect->from.model;

	for (unsigned i = 0; i < model_count(model, MODEL_THREAD); i++) {
		const struct model_process *process = model_thread(model, i)->process;
		struct summary_entity *entity;
		char name[1024], of[COLLECT_OF_MAX];

		if (!view_thread(collect->from.view, i)->thread ||
		    view_executor_of(collect->from.view, i) != i)
			continue;
		summary_executor_name(model, collect->from.view, i, name, sizeof(name));
		entity = collect_entity(summary, SUMMARY_EXECUTOR, name,
				   collect_of(collect, SUMMARY_EXECUTOR, name, process, of));
		if (!entity)
			return;
		if (!summary_is_other(entity))
			collect_label(collect, summary, entity, process);
		for (int c = view_first_callback(collect->from.view, i); c >= 0;
		     c = view_next_callback(collect->from.view, c)) {
			const struct view_callback *callback =
				view_callback(collect->from.view, (unsigned)c);

			entity->count[SUMMARY_RUNS] += callback->runs;
			entity->count[SUMMARY_RUN_NS] += (uint64_t)callback->running_ns;
			entity->count[SUMMARY_WAITED] += callback->blocked;
			entity->count[SUMMARY_WAITED_NS] +=
				(uint64_t)(callback->thread_ns + callback->group_ns);
		}
	}
}

/* ---- the whole ---- */

static void take_loss(struct summary_collect *collect, struct summary *summary)
{
	const struct stats *stats = collect->from.stats;
	struct summary_trust *trust = &summary->trust;
	uint64_t most = 0;

	trust->lost_events = stats_lost_events(stats);
	trust->lost_packets = stats_lost_packets(stats);
	trust->lost_kernel_events = stats_lost_elsewhere(stats).events;
	trust->lost_kernel_packets = stats_lost_elsewhere(stats).packets;
	for (unsigned i = 0; i < stats_loss_count(stats); i++) {
		const struct stats_loss *loss = stats_loss(stats, i);

		if (!trust->lost_begin_ns || (uint64_t)loss->begin_ns < trust->lost_begin_ns)
			trust->lost_begin_ns = (uint64_t)loss->begin_ns;
		if ((uint64_t)loss->end_ns > trust->lost_end_ns)
			trust->lost_end_ns = (uint64_t)loss->end_ns;
		if (loss->thread && loss->events >= most) {
			most = loss->events;
			trust->lost_of = summary_text(summary, loss->thread->process->name);
		}
	}
	for (unsigned i = 0; i < model_count(collect->from.model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(collect->from.model, i);

		trust->callbacks++;
		trust->unnamed += !callback->subscription && !callback->timer &&
				  !callback->service && !callback->added_ns &&
				  !callback->registered_ns;
	}
}

static void take_facts(struct summary_collect *collect, struct summary *summary)
{
	const struct model_facts *facts = model_facts(collect->from.model);
	const struct summary_sources *from = &collect->from;

	summary->windows = 1;
	summary->clock = "system";
	summary->events = facts->events - collect->before.events;
	summary->ros_events = facts->ros_events - collect->before.ros_events;
	summary->nodes = model_count(from->model, MODEL_NODE);
	summary->processes = model_count(from->model, MODEL_PROCESS);
	for (unsigned part = 0; part < MACHINE_PARTS; part++)
		if (facts->machine[part])
			summary->machine[part] = summary_text(summary, facts->machine[part]);
	if (facts->events) {
		summary->origin_ns = facts->first_ns;
		summary->begin_ns =
			facts->first_ns > from->begin_ns ? facts->first_ns : from->begin_ns;
		if (collect->before.last_ns > summary->begin_ns)
			summary->begin_ns = collect->before.last_ns;
		summary->end_ns = facts->last_ns < from->end_ns ? facts->last_ns : from->end_ns;
	}
	for (unsigned i = 0; i < model_count(from->model, MODEL_PROCESS); i++) {
		const char *host = model_process(from->model, i)->hostname;

		if (*host && *summary->host && strcmp(host, summary->host) != 0)
			summary->host = "several";
		else if (*host)
			summary->host = summary_text(summary, host);
	}
}

#define QUANTILES_LEAST 20u

/* What the histograms still know exactly, and a file does not. */
static void take_quantiles(struct summary *summary)
{
	for (unsigned e = 0; e < summary->entities; e++)
		for (unsigned which = 0; which < SUMMARY_DISTRIBUTIONS; which++) {
			struct summary_entity *entity = summary->entity[e];

			/* Nobody compares those of few values. */
			if ((which == SUMMARY_PERIOD && entity->kind != SUMMARY_ACTION) ||
			    entity->histogram[which].count < QUANTILES_LEAST)
				continue;
			for (unsigned i = 0; i < SUMMARY_QUANTILES; i++)
				entity->quantile[which][i] = histogram_quantile(
					&entity->histogram[which], summary_quantile_at(i));
		}
}

int summary_collect_take(struct summary_collect *collect, struct summary *summary)
{
	collect_find_twins(collect);
	take_facts(collect, summary);
	take_loss(collect, summary);
	collect_take_chains(collect, summary);
	collect_take_callbacks(collect, summary);
	take_topics(collect, summary);
	take_subscriptions(collect, summary);
	take_services(collect, summary);
	collect_take_actions(collect, summary);
	take_executors(collect, summary);
	take_threads(collect, summary);
	if (collect->from.spans_stats)
		collect_take_spans(collect, summary);
	take_quantiles(summary);
	summary_limit_end(summary);
	summary->failed |= collect->failed;
	return summary->failed ? -1 : 0;
}
