/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may be wrong with one entity, and its harm: a proposal each, see findings_internal.h. The
 * harm is a time, so that proposals of all kinds can be compared.
 */
#include <string.h>

#include "base/array.h"
#include "summary/findings_internal.h"
#include "summary/summary_limit.h"

#define LOST_MIN 3u
#define LOST_SHARE_MIN 0.01

static void propose(struct proposals *all, const struct summary_finding *finding)
{
	if (ARRAY_ROOM(all->finding, all->count, all->size))
		all->finding[all->count++] = *finding;
}

static int64_t usual_of(const struct histogram *histogram)
{
	return (int64_t)histogram_quantile(histogram, 0.5);
}

/* ---- one instance ---- */

bool findings_is_same_trouble(const struct summary_part *a, const struct summary_part *b)
{
	if (a->what != b->what)
		return false;
	return a->what == SUMMARY_WAITED_FOR ? a->by == b->by && a->is_group == b->is_group
					     : a->who == b->who;
}

/* The parts that the same one is to blame for, together. */
static struct summary_part cause_of(const struct summary_instance *instance)
{
	struct summary_part best = { .who = NULL };
	int64_t most_ns = 0;

	for (unsigned i = 0; i < instance->parts; i++) {
		struct summary_part sum = instance->part[i];

		sum.ns = sum.usual_ns = 0;
		for (unsigned j = 0; j < instance->parts; j++) {
			if (!findings_is_same_trouble(&instance->part[i], &instance->part[j]))
				continue;
			sum.ns += instance->part[j].ns;
			sum.usual_ns += instance->part[j].usual_ns;
			if (instance->part[j].ns > instance->part[i].ns)
				sum.who = instance->part[j].who;
		}
		if (sum.ns - sum.usual_ns > most_ns) {
			most_ns = sum.ns - sum.usual_ns;
			best = sum;
		}
	}
	return best;
}

/* How many values are at least half as far above the usual as the worst one is. */
static uint64_t times_of(const struct summary_finding *finding, enum summary_distribution which)
{
	const uint64_t least =
		(uint64_t)(finding->usual_ns + (finding->worst_ns - finding->usual_ns) / 2);
	const uint64_t times = summary_steady_count(finding->entity, which, least);

	return times ? times : 1;
}

/* The worst and the usual value, without start-up. */
static struct summary_finding finding_of(const struct summary_entity *entity,
					 enum summary_finding_kind kind,
					 enum summary_distribution which)
{
	return (struct summary_finding){ .kind = kind,
					 .entity = entity,
					 .worst_ns = (int64_t)summary_steady_max(entity, which),
					 .usual_ns = usual_of(&entity->histogram[which]) };
}

struct summary_finding findings_instance(const struct summary_entity *entity,
					 enum summary_finding_kind kind)
{
	struct summary_finding finding = finding_of(entity, kind, SUMMARY_LATENCY);

	if (entity->worsts) {
		finding.instance = &entity->worst[0];
		finding.at_ns = finding.instance->begin_ns;
		finding.cause = cause_of(finding.instance);
	}
	finding.times = times_of(&finding, SUMMARY_LATENCY);
	finding.harm_ns = finding.worst_ns - finding.usual_ns;
	return finding;
}

static bool is_notable(const struct summary_finding *finding, enum summary_distribution which)
{
	return finding->entity->histogram[which].count >= SUMMARY_FINDINGS_COUNT_MIN &&
	       finding->worst_ns - finding->usual_ns >= SUMMARY_FINDINGS_EXCESS_MIN_NS &&
	       finding->worst_ns >= 2 * finding->usual_ns;
}

/* A callback that runs long is a cause, not an effect: what it delays counts whole, itself half. */
static bool is_own_run(const struct summary_finding *finding)
{
	return finding->kind == SUMMARY_FINDING_CALLBACK &&
	       finding->cause.who == finding->entity->name && finding->cause.what == SUMMARY_RAN;
}

/* @holds: there is a finding already that others wait for it. */
static void propose_instance(struct proposals *all, const struct summary_entity *entity,
			     enum summary_finding_kind kind, bool holds)
{
	struct summary_finding finding = findings_instance(entity, kind);

	/* What is not longer than the error of two hosts' clocks is no fact. */
	if (finding.instance && finding.instance->error_ns >= finding.harm_ns)
		return;
	if (is_own_run(&finding)) {
		if (holds)
			return;
		finding.harm_ns /= 2;
	}
	if (is_notable(&finding, SUMMARY_LATENCY))
		propose(all, &finding);
}

/* ---- the kinds ---- */

/* A callback that others waited for: all that they say about it. Return: is it a finding? */
static bool propose_holds(struct proposals *all, const struct summary *summary,
			  const struct summary_entity *entity)
{
	struct summary_finding finding =
		finding_of(entity, SUMMARY_FINDING_HOLDS, SUMMARY_DURATION);
	uint64_t worst_ns = 0;
	int64_t longest_ns = 0;

	for (unsigned i = 0; i < summary->entities; i++) {
		const struct summary_entity *other = summary->entity[i];

		for (unsigned c = 0; c < other->culprits; c++)
			if (other != entity && other->culprit[c].by == entity->name &&
			    other->of == entity->of && !other->is_startup &&
			    other->culprit[c].steady_ns > worst_ns)
				worst_ns = other->culprit[c].steady_ns;
	}
	if (worst_ns < SUMMARY_FINDINGS_EXCESS_MIN_NS ||
	    entity->histogram[SUMMARY_DURATION].count < SUMMARY_FINDINGS_COUNT_MIN)
		return false;
	for (unsigned i = 0; i < entity->worsts; i++) {
		const struct summary_instance *instance = &entity->worst[i];

		for (unsigned p = 0; p < instance->parts; p++) {
			if (instance->is_startup || instance->part[p].what != SUMMARY_RAN ||
			    instance->part[p].ns <= longest_ns)
				continue;
			longest_ns = instance->part[p].ns;
			finding.at_ns =
				instance->begin_ns + instance->value_ns - instance->part[p].ns;
		}
	}
	finding.times = times_of(&finding, SUMMARY_DURATION);
	finding.cause = (struct summary_part){ .ns = (int64_t)worst_ns };
	finding.harm_ns = (int64_t)worst_ns;
	if (finding.worst_ns - finding.usual_ns > finding.harm_ns)
		finding.harm_ns = finding.worst_ns - finding.usual_ns;
	finding.harm_ns /= 2;
	propose(all, &finding);
	return true;
}

/* Lost events look like lost messages: then nothing can be said. */
static void propose_loss(struct proposals *all, const struct summary *summary,
			 const struct summary_entity *entity)
{
	const struct summary_entity *topic = summary_find(summary, SUMMARY_TOPIC, entity->of, "");
	const uint64_t lost =
		entity->count[SUMMARY_NEVER_RECEIVED] + entity->count[SUMMARY_OVERWRITTEN];
	const uint64_t whole = entity->count[SUMMARY_RECEIVED] + lost;
	struct summary_finding finding = { .kind = SUMMARY_FINDING_LOSS,
					   .entity = entity,
					   .times = lost };
	const uint64_t published = topic ? topic->count[SUMMARY_PUBLISHED] : 0;

	if (summary->trust.lost_events || summary->trust.lost_packets || published < 2 ||
	    lost < LOST_MIN || whole < SUMMARY_FINDINGS_COUNT_MIN ||
	    (double)lost < LOST_SHARE_MIN * (double)whole)
		return;
	finding.usual_ns = (topic->last_ns - topic->first_ns) / (int64_t)(published - 1);
	finding.harm_ns = (int64_t)(10.0 * (double)finding.usual_ns * (double)lost / (double)whole);
	propose(all, &finding);
}

static void propose_timer(struct proposals *all, const struct summary_entity *entity)
{
	const uint64_t overrun = entity->count[SUMMARY_OVERRUN] -
				 (entity->startup ? entity->startup->overrun : 0);
	const struct histogram *late = &entity->histogram[SUMMARY_WAIT];
	struct summary_finding finding = finding_of(entity, SUMMARY_FINDING_TIMER, SUMMARY_WAIT);

	finding.times = overrun;
	finding.harm_ns = finding.worst_ns / 5 * 4;
	if (entity->is_other_clock || late->count < SUMMARY_FINDINGS_COUNT_MIN ||
	    overrun < LOST_MIN || (double)overrun < LOST_SHARE_MIN * (double)late->count)
		return;
	propose(all, &finding);
}

static void propose_loop(struct proposals *all, const struct summary_entity *entity)
{
	const struct histogram *latency = &entity->histogram[SUMMARY_LATENCY];
	struct summary_finding finding = findings_instance(entity, SUMMARY_FINDING_LOOP);

	finding.times = entity->count[SUMMARY_MISSED];
	finding.harm_ns = finding.worst_ns;
	if (latency->count >= SUMMARY_FINDINGS_COUNT_MIN &&
	    (finding.times || is_notable(&finding, SUMMARY_LATENCY)))
		propose(all, &finding);
}

/* Is the longest span long because of one inside it, which is a finding itself? */
static bool is_explained_inside(const struct summary *summary, const struct summary_entity *entity)
{
	const struct summary_instance *longest = entity->worsts ? &entity->worst[0] : NULL;
	const struct summary_entity *inside =
		longest && longest->parts
			? summary_find(summary, SUMMARY_SPAN, longest->part[0].who, entity->of)
			: NULL;
	struct summary_finding finding;

	if (!inside || !inside->worsts)
		return false;
	finding = finding_of(inside, SUMMARY_FINDING_SPAN, SUMMARY_DURATION);
	return inside->worst[0].begin_ns == longest->begin_ns + longest->part[0].at_ns &&
	       is_notable(&finding, SUMMARY_DURATION);
}

const struct summary_entity *summary_span_around(const struct summary *summary,
						 const struct summary_entity *span)
{
	const struct summary_entity *best = NULL;

	for (unsigned i = 0; span->worsts && i < summary->entities; i++) {
		const struct summary_entity *entity = summary->entity[i];
		const struct summary_instance *longest = entity->worst;

		if (entity->kind == SUMMARY_SPAN && entity->of == span->of && entity->worsts &&
		    longest->parts && longest->part[0].who == span->name &&
		    span->worst[0].begin_ns == longest->begin_ns + longest->part[0].at_ns &&
		    (!best || longest->value_ns < best->worst[0].value_ns))
			best = entity;
	}
	return best;
}

static void propose_span(struct proposals *all, const struct summary *summary,
			 const struct summary_entity *entity)
{
	struct summary_finding finding = finding_of(entity, SUMMARY_FINDING_SPAN, SUMMARY_DURATION);

	finding.times = times_of(&finding, SUMMARY_DURATION);
	finding.harm_ns = (finding.worst_ns - finding.usual_ns) / 2;
	if (entity->worsts)
		finding.at_ns = entity->worst[0].begin_ns;
	if (is_notable(&finding, SUMMARY_DURATION) && !is_explained_inside(summary, entity))
		propose(all, &finding);
}

/* What a goal's node does all the time counts half, as a callback that runs long. */
static bool is_own_work(enum summary_what what)
{
	return what == SUMMARY_EXECUTING || what == SUMMARY_AWAITING;
}

static void propose_goals(struct proposals *all, const struct summary_entity *entity)
{
	struct summary_finding goal = findings_instance(entity, SUMMARY_FINDING_GOAL),
			       aborted = { .kind = SUMMARY_FINDING_ABORTED,
					   .entity = entity,
					   .times = entity->count[SUMMARY_ABORTED],
					   .usual_ns = goal.usual_ns };
	const uint64_t ended = entity->count[SUMMARY_RUNS];
	const double share = ended ? (double)aborted.times / (double)ended : 0;

	if (goal.cause.who && is_own_work(goal.cause.what))
		goal.harm_ns /= 2;
	if (is_notable(&goal, SUMMARY_LATENCY))
		propose(all, &goal);
	aborted.harm_ns = (int64_t)(10.0 * (double)aborted.usual_ns * share);
	if (ended >= SUMMARY_FINDINGS_COUNT_MIN && aborted.times >= LOST_MIN &&
	    share >= LOST_SHARE_MIN)
		propose(all, &aborted);
}

void findings_propose(struct proposals *all, const struct summary *summary,
		      const struct summary_entity *entity)
{
	/* Of many entities together, nothing is usual. */
	if (entity->is_startup || summary_is_other(entity))
		return;
	switch (entity->kind) {
	case SUMMARY_CHAIN:
		propose_instance(all, entity, SUMMARY_FINDING_CHAIN, false);
		return;
	case SUMMARY_CALLBACK:
		propose_instance(all, entity, SUMMARY_FINDING_CALLBACK,
				 propose_holds(all, summary, entity));
		return;
	case SUMMARY_SUBSCRIPTION:
		propose_loss(all, summary, entity);
		return;
	case SUMMARY_TIMER:
		propose_timer(all, entity);
		return;
	case SUMMARY_LOOP:
		propose_loop(all, entity);
		return;
	case SUMMARY_SPAN:
		propose_span(all, summary, entity);
		return;
	case SUMMARY_ACTION:
		propose_goals(all, entity);
		return;
	default:
		return;
	}
}
