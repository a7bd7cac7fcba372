/* SPDX-License-Identifier: Apache-2.0 */
/* After the pass: callbacks and timers, and what their worst instances are made of. */
#include <string.h>

#include "summary/summary_collect_internal.h"
#include "summary/summary_limit.h"

struct taken_run {
	struct summary_collect *collect;
	struct summary *summary;
	const struct model_callback *callback;
	const struct collect_callback *own; /* NULL: nothing */
	const struct stats_callback *stats;
	const struct histogram *total;
};

static int64_t usual(const struct histogram *histogram)
{
	return (int64_t)histogram_quantile(histogram, 0.5);
}

/* Of the time before its start: 0 if most runs did not wait. */
static int64_t usual_wait(const struct taken_run *run)
{
	return run->own && run->own->wait.count * 2 > run->total->count ? usual(&run->own->wait)
									: 0;
}

static int64_t usual_before(const struct taken_run *run)
{
	const int64_t before = usual(run->total) - usual(&run->stats->duration) - usual_wait(run);

	return before > 0 ? before : 0;
}

static int64_t add_wait(const struct taken_run *run, struct collect_parts *parts, int64_t start_ns,
			int64_t most_ns)
{
	const struct collect_wait *wait =
		collect_wait_of(run->collect, run->callback->index, start_ns);
	const struct summary_part part = { .what = SUMMARY_WAITED_FOR,
					   .who = collect_callback_name(run->summary,
									run->callback),
					   .by = "",
					   .usual_ns = usual_wait(run) };

	if (!wait || !wait->by || most_ns <= 0)
		return 0;
	collect_parts_wait(run->summary, parts, wait, &part, most_ns);
	return wait->blocked_ns < most_ns ? wait->blocked_ns : most_ns;
}

static int64_t awaited_of(const struct why_hop *hop)
{
	int64_t ns = 0;

	for (unsigned i = 0; i < hop->at.awaits; i++)
		ns += hop->at.await[i].end_ns - hop->at.await[i].begin_ns;
	return ns;
}

static void parts_of_run(const struct taken_run *run, const struct why_run *at,
			 struct collect_parts *parts)
{
	const struct why_hop *hop = &at->hop[at->hops - 1];
	const char *name = collect_callback_name(run->summary, run->callback);
	const char *topic = at->hops > 1 && at->hop[0].publisher->topic
				    ? summary_text(run->summary, at->hop[0].publisher->topic->name)
				    : "";
	struct summary_part part = { .who = topic, .by = "" };
	int64_t waited_ns, sent_ns = hop->at.send_ns ? hop->at.send_ns : hop->at.publish_ns;

	if (at->hops > 1) {
		part.what = SUMMARY_PUBLISHING;
		part.ns = sent_ns - hop->at.publish_ns;
		collect_parts_add(parts, &part);
		waited_ns = add_wait(run, parts, hop->at.start_ns, hop->at.take_ns - sent_ns);
		part.what = SUMMARY_ON_ITS_WAY;
		part.by = collect_node_name(run->summary, run->callback);
		part.ns = hop->at.take_ns - sent_ns - waited_ns;
		part.usual_ns = usual_before(run);
		collect_parts_add(parts, &part);
		part = (struct summary_part){ .what = SUMMARY_TAKING,
					      .who = name,
					      .by = "",
					      .ns = hop->at.start_ns - hop->at.take_ns };
		collect_parts_add(parts, &part);
	} else if (hop->due_ns) {
		waited_ns = add_wait(run, parts, hop->at.start_ns, hop->at.start_ns - hop->due_ns);
		part = (struct summary_part){ .what = SUMMARY_BEING_LATE,
					      .who = name,
					      .by = "",
					      .ns = hop->at.start_ns - hop->due_ns - waited_ns,
					      .usual_ns = usual_before(run) };
		collect_parts_add(parts, &part);
	}
	part = (struct summary_part){ .what = SUMMARY_RAN,
				      .who = name,
				      .by = "",
				      .ns = hop->at.end_ns - hop->at.start_ns - awaited_of(hop),
				      .usual_ns = usual(&run->stats->duration) };
	collect_parts_add(parts, &part);
	part = (struct summary_part){
		.what = SUMMARY_AWAITED, .who = name, .by = "", .ns = awaited_of(hop)
	};
	if (hop->at.awaits)
		collect_parts_add(parts, &part);
}

static int64_t error_of_run(const struct why_run *at)
{
	const struct why_hop *last = &at->hop[at->hops - 1];

	return at->hops > 1 ? model_clock_error(at->hop[0].publisher->process,
						last->callback->process, last->at.take_ns)
			    : 0;
}

static void add_worst(const struct taken_run *run, struct summary_entity *entity,
		      const struct why_callback *why)
{
	for (unsigned i = 0; i < why->worst_count; i++) {
		const struct why_run *at = &why->worst[i];
		struct summary_instance instance = {
			.begin_ns = at->hop[at->hops - 1].at.end_ns - at->total_ns,
			.value_ns = at->total_ns,
			.is_startup = at->is_startup,
			.error_ns = error_of_run(at),
		};
		struct collect_parts parts = { .count = 0 };

		if (!summary_takes_worst(entity, &instance))
			continue;
		parts_of_run(run, at, &parts);
		collect_parts_put(&parts, &instance);
		summary_add_worst(run->summary, entity, &instance);
	}
}

/* Without times of arrival, or on another clock, a run is its duration. */
static void add_longest(const struct taken_run *run, struct summary_entity *entity)
{
	for (unsigned i = 0; run->own && i < SUMMARY_WORST_MAX; i++) {
		const struct collect_run *longest = &run->own->longest[i];
		struct summary_instance instance = { .begin_ns = longest->start_ns,
						     .value_ns = longest->duration_ns,
						     .is_startup = longest->is_startup,
						     .parts = 1 };

		if (!longest->duration_ns)
			return;
		instance.part[0] =
			(struct summary_part){ .what = SUMMARY_RAN,
					       .who = entity->name,
					       .by = "",
					       .ns = longest->duration_ns,
					       .usual_ns = usual(&run->stats->duration) };
		summary_add_worst(run->summary, entity, &instance);
	}
}

/*
 * Does the timer follow a clock of its own? Then most of its starts come at another interval than
 * its period, while nothing in the trace held them up.
 */
static bool has_other_clock(const struct taken_run *run)
{
	const struct model_node *node = model_callback_node(run->callback);
	const struct collect_clock *clock = run->own ? &run->own->clock : NULL;

	if (node && node->has_clock)
		return true;
	if (!clock || !clock->periods || run->callback->timer->period_ns <= 0)
		return false;
	return (clock->is_short * 2 > clock->periods || clock->is_long * 2 > clock->periods) &&
	       clock->waited_ns * 2 < clock->late_ns && clock->ran_ns * 2 < clock->period_ns;
}

static void add_timer(const struct taken_run *run, const struct summary_entity *callback)
{
	struct summary *summary = run->summary;
	struct summary_entity *timer =
		summary_entity(summary, SUMMARY_TIMER, callback->name, callback->of);
	static const struct histogram none;

	if (!timer)
		return;
	timer->period_ns = run->callback->timer->period_ns;
	timer->ask = callback->ask;
	timer->label = callback->label;
	timer->pid = callback->pid;
	timer->is_other_clock |= callback->is_other_clock;
	timer->count[SUMMARY_RUNS] += run->stats->duration.count;
	timer->first_ns = callback->first_ns;
	timer->last_ns = callback->last_ns;
	if (!run->own)
		return;
	timer->count[SUMMARY_LATE] += run->own->half_late;
	timer->count[SUMMARY_OVERRUN] += run->own->overrun;
	summary_startup_set(summary, timer, SUMMARY_WAIT,
			    run->own->startup ? &run->own->startup->late : &none,
			    (uint64_t)run->own->steady_late_ns);
	if (timer->startup && run->own->startup)
		timer->startup->overrun += run->own->startup->overrun;
	summary->failed |= histogram_merge(&timer->histogram[SUMMARY_WAIT], &run->own->late) ||
			   histogram_merge(&timer->histogram[SUMMARY_PERIOD], &run->own->period);
}

/* What of the runs was the program's own, and what they cost, as far as it was recorded. */
static void add_costs(const struct taken_run *run, struct summary_entity *entity)
{
	const struct summary_own_callback *own =
		summary_own_callback(run->collect->from.own, run->callback->index);
	struct costs *costs = run->collect->from.costs;
	const struct costs_use *use = costs ? costs_own(costs, run->callback->index) : NULL;

	if (own) {
		entity->count[SUMMARY_CPU_RUNS] += own->runs;
		entity->count[SUMMARY_CPU_NS] += own->cpu_ns > 0 ? (uint64_t)own->cpu_ns : 0;
		run->summary->failed |=
			histogram_merge(&entity->histogram[SUMMARY_OWN], &own->own) != 0;
	}
	if (!use || !costs_seen(costs, COSTS_ALLOCATION))
		return;
	entity->count[SUMMARY_COST_RUNS] += run->stats->duration.count + run->stats->unfinished;
	entity->count[SUMMARY_ALLOCATIONS] += use->count[COSTS_ALLOCATION];
	entity->count[SUMMARY_ALLOCATED_BYTES] += use->bytes;
	entity->count[SUMMARY_LOCK_WAITS] += use->count[COSTS_LOCK];
	entity->count[SUMMARY_LOCK_NS] += use->lock_ns > 0 ? (uint64_t)use->lock_ns : 0;
}

static void add_counts(const struct taken_run *run, struct summary_entity *entity)
{
	const struct view_callback *view =
		view_callback(run->collect->from.view, run->callback->index);

	entity->count[SUMMARY_RUNS] += run->stats->duration.count;
	entity->count[SUMMARY_UNFINISHED] += run->stats->unfinished;
	entity->count[SUMMARY_RUN_NS] += run->stats->duration.sum;
	entity->count[SUMMARY_SENT] += run->own ? run->own->sent : 0;
	entity->count[SUMMARY_WAITED] += view->blocked;
	entity->count[SUMMARY_WAITED_NS] += (uint64_t)(view->thread_ns + view->group_ns);
	collect_seen(entity, run->stats->first_ns, run->stats->last_ns);
	run->summary->failed |=
		histogram_merge(&entity->histogram[SUMMARY_DURATION], &run->stats->duration) ||
		(run->own && histogram_merge(&entity->histogram[SUMMARY_WAIT], &run->own->wait));
}

/*
 * What is start-up, before anything else is added: the values that the entity has until now are
 * those of another callback of the same name.
 */
static void add_startup(const struct taken_run *run, struct summary_entity *entity,
			const struct why_callback *why)
{
	const struct collect_run *longest = run->own ? run->own->longest : NULL;
	const uint64_t ran = longest && !longest->is_startup ? (uint64_t)longest->duration_ns : 0;
	static const struct histogram none;
	const struct histogram *startup =
		run->own && run->own->startup ? &run->own->startup->ran : &none;
	const bool is_timed = why && !entity->is_other_clock;

	summary_startup_set(run->summary, entity, SUMMARY_DURATION, startup, ran);
	summary_startup_set(
		run->summary, entity, SUMMARY_LATENCY, is_timed ? &why->startup : startup,
		!is_timed ? ran
		: why->worst_count && !why->worst->is_startup ? (uint64_t)why->worst->total_ns
							      : 0);
}

/* Without its init events, only its messages tell that a callback is of /rosout or
 * /parameter_events. */
static bool receives_startup(const struct why_callback *why)
{
	const struct model_publisher *publisher =
		why->worst_count ? why->worst[0].hop[0].publisher : NULL;

	return publisher && chains_is_infrastructure(publisher->topic);
}

static struct summary_entity *entity_of(struct summary_collect *collect, struct summary *summary,
					const struct model_callback *callback, char *name,
					size_t size, char of[COLLECT_OF_MAX])
{
	summary_callback_name(callback, name, size);
	return summary_entity(summary, SUMMARY_CALLBACK, name,
			      collect_of(collect, SUMMARY_CALLBACK, name, callback->process, of));
}

/* "/imu_driver timer 5 ms", of one of several processes of one name as its label says it. */
static const char *ask_of(struct summary *summary, const struct summary_entity *entity,
			  const char *label)
{
	char text[1024];

	(void)snprintf(text, sizeof(text), "%s%s", label,
		       entity->pid ? entity->label + strlen(entity->name) : "");
	return summary_text(summary, text);
}

static void take_callback(struct taken_run *run)
{
	const struct why_callback *why =
		why_callback(run->collect->from.callbacks, run->callback->index);
	struct summary *summary = run->summary;
	char name[512], label[512], of[COLLECT_OF_MAX];
	struct summary_entity *entity =
		entity_of(run->collect, summary, run->callback, name, sizeof(name), of);
	static const struct histogram none;

	if (!entity)
		return;
	run->total = why ? &why->total : &none;
	entity->is_startup = collect_is_startup(run->callback) || (why && receives_startup(why));
	if (summary_is_other(entity))
		entity->is_other_clock = false; /* that of the callback before */
	else
		collect_label(run->collect, summary, entity, run->callback->process);
	if (!summary_is_other(entity))
		entity->ask = ask_of(summary, entity, model_callback_label(run->callback, label,
									   sizeof(label)));
	if (run->callback->timer) {
		entity->is_other_clock |= has_other_clock(run);
		entity->period_ns = run->callback->timer->period_ns;
	}
	add_startup(run, entity, why);
	add_counts(run, entity);
	add_costs(run, entity);
	if (why && !entity->is_other_clock) {
		summary->failed |=
			histogram_merge(&entity->histogram[SUMMARY_LATENCY], &why->total) != 0;
		add_worst(run, entity, why);
	} else {
		summary->failed |= histogram_merge(&entity->histogram[SUMMARY_LATENCY],
						   &run->stats->duration) != 0;
		add_longest(run, entity);
	}
	if (run->callback->timer)
		add_timer(run, entity);
}

static void take_culprits(struct summary_collect *collect, struct summary *summary)
{
	const struct view_pair *pair;

	for (unsigned i = 0; (pair = view_pair(collect->from.view, i)); i++) {
		char name[512], of[COLLECT_OF_MAX];
		struct summary_entity *entity =
			entity_of(collect, summary, pair->callback, name, sizeof(name), of);
		struct summary_culprit culprit = {
			.is_group = pair->is_group,
			.is_assumed = pair->is_assumed,
			.count = pair->count,
			.ns = (uint64_t)pair->ns,
			.worst_ns = (uint64_t)pair->worst_ns,
			.steady_ns = (uint64_t)pair->steady_ns,
		};

		/* Those of many callbacks are too many. */
		if (!entity || summary_is_other(entity))
			continue;
		culprit.by = collect_callback_name(summary, pair->by);
		summary_add_culprit(summary, entity, &culprit);
	}
}

void collect_take_callbacks(struct summary_collect *collect, struct summary *summary)
{
	for (unsigned i = 0; i < model_count(collect->from.model, MODEL_CALLBACK); i++) {
		struct taken_run run = {
			.collect = collect,
			.summary = summary,
			.callback = model_callback(collect->from.model, i),
			.own = collect_callback_at(collect, i),
			.stats = stats_callback(collect->from.stats, i),
		};

		if (run.stats->duration.count || run.stats->unfinished)
			take_callback(&run);
	}
	take_culprits(collect, summary);
}
