/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of metrics, and the value of a metric in one run; see metrics.h.
 *
 * Values are logarithms, so that a difference of two is a ratio, and so that the runs of a side
 * can be averaged. Shares and numbers per run may be 0, so a small amount is added to them first.
 * It also keeps a change from "hardly ever" to "hardly ever" small.
 */
#include "compare/metrics.h"

#include <math.h>
#include <string.h>

#include "base/array.h"

/* A share has no logarithm at 0, so this much is added: changes of far less than a thousandth do
 * not count. */
#define SHARE_ADDED 0.001
/* So does a number per run: changes of far less than one in ten runs do not count. */
#define PER_RUN_ADDED 0.05
#define NS_ADDED 100.0
#define INSTANCES_MIN 10.0
#define INSTANCES_LOW 2.0 /* the fastest ones vary least */

#define US 1000.0
/* The tail varies more from run to run than the middle does. */
#define LOWER                                   \
	{                                       \
		.ratio = 0.05, .least = 10 * US \
	}
#define MIDDLE                                  \
	{                                       \
		.ratio = 0.10, .least = 10 * US \
	}
#define UPPER                                   \
	{                                       \
		.ratio = 0.15, .least = 10 * US \
	}
#define TAIL                                    \
	{                                       \
		.ratio = 0.20, .least = 10 * US \
	}

/* The runs that nothing disturbed: what the code itself takes varies least there, so the limit is
 * narrow. */
#define OWN(entity, what, distribution)                                                   \
	{                                                                                 \
		.kind = entity, .name = what " p2", .of = distribution, .quantile = 0.02, \
		.limit = LOWER                                                            \
	}
#define TIMES(entity, what, distribution)                                                  \
	{ .kind = entity,                                                                  \
	  .name = what " p50",                                                             \
	  .of = distribution,                                                              \
	  .quantile = 0.50,                                                                \
	  .limit = MIDDLE },                                                               \
		{ .kind = entity,                                                          \
		  .name = what " p90",                                                     \
		  .of = distribution,                                                      \
		  .quantile = 0.90,                                                        \
		  .limit = UPPER },                                                        \
	{                                                                                  \
		.kind = entity, .name = what " p99", .of = distribution, .quantile = 0.99, \
		.limit = TAIL                                                              \
	}
#define RATE(entity, counter)                                                                      \
	{                                                                                          \
		.kind = entity, .name = "rate", .unit = COMPARE_PER_SECOND, .is_less_worse = true, \
		.count = counter, .limit = {                                                       \
			.ratio = 0.10                                                              \
		}                                                                                  \
	}
/* Goals are few: four have a p50. */
#define GOALS(what, distribution)                                                                  \
	{ .kind = SUMMARY_ACTION,                                                                  \
	  .name = what " p50",                                                                     \
	  .of = distribution,                                                                      \
	  .quantile = 0.50,                                                                        \
	  .is_rare = true,                                                                         \
	  .limit = MIDDLE },                                                                       \
	{                                                                                          \
		.kind = SUMMARY_ACTION, .name = what " p90", .of = distribution, .quantile = 0.90, \
		.limit = UPPER                                                                     \
	}
/* Half a percentage point more is worse. */
#define PERCENTAGE_POINTS                                       \
	{                                                       \
		.ratio = 0.10, .least = 0.005, .is_count = true \
	}
#define ENDS(what, part, among)                                              \
	{                                                                    \
		.kind = SUMMARY_ACTION, .name = what, .unit = COMPARE_SHARE, \
		.count = SUMMARY_RUNS, .other = part, .is_among = among,     \
		.limit = PERCENTAGE_POINTS                                   \
	}
#define SHARE(entity, what, all, part)                                                            \
	{                                                                                         \
		.kind = entity, .name = what, .unit = COMPARE_SHARE, .count = all, .other = part, \
		.limit = PERCENTAGE_POINTS                                                        \
	}

/* How often it happens in a run, or for a message: by what the program does, not by the machine. */
#define ONE_IN_TEN                                            \
	{                                                     \
		.ratio = 0.10, .least = 0.1, .is_count = true \
	}
#define PER_RUN(entity, what, runs, happened)                                         \
	{                                                                             \
		.kind = entity, .name = what, .unit = COMPARE_PER_RUN, .count = runs, \
		.other = happened, .limit = ONE_IN_TEN                                \
	}

static const struct metric metrics[] = {
	TIMES(SUMMARY_CHAIN, "latency", SUMMARY_LATENCY),
	RATE(SUMMARY_CHAIN, SUMMARY_RUNS),
	{ .kind = SUMMARY_CHAIN,
	  .name = "arrivals",
	  .unit = COMPARE_PER_RUN,
	  .is_per_input = true,
	  .other = SUMMARY_RUNS,
	  .limit = ONE_IN_TEN },
	OWN(SUMMARY_CALLBACK, "own", SUMMARY_OWN),
	TIMES(SUMMARY_CALLBACK, "own", SUMMARY_OWN),
	OWN(SUMMARY_CALLBACK, "duration", SUMMARY_DURATION),
	TIMES(SUMMARY_CALLBACK, "duration", SUMMARY_DURATION),
	RATE(SUMMARY_CALLBACK, SUMMARY_RUNS),
	{ .kind = SUMMARY_CALLBACK,
	  .name = "CPU",
	  .unit = COMPARE_NS_PER_RUN,
	  .count = SUMMARY_CPU_RUNS,
	  .other = SUMMARY_CPU_NS,
	  .limit = MIDDLE },
	PER_RUN(SUMMARY_CALLBACK, "messages", SUMMARY_RUNS, SUMMARY_SENT),
	PER_RUN(SUMMARY_CALLBACK, "allocations", SUMMARY_COST_RUNS, SUMMARY_ALLOCATIONS),
	{ .kind = SUMMARY_CALLBACK,
	  .name = "lock waits",
	  .unit = COMPARE_NS_PER_RUN,
	  .count = SUMMARY_COST_RUNS,
	  .other = SUMMARY_LOCK_NS,
	  .limit = TAIL },
	TIMES(SUMMARY_TIMER, "late", SUMMARY_WAIT),
	TIMES(SUMMARY_TOPIC, "latency", SUMMARY_LATENCY),
	RATE(SUMMARY_TOPIC, SUMMARY_PUBLISHED),
	PER_RUN(SUMMARY_TOPIC, "deliveries", SUMMARY_PUBLISHED, SUMMARY_RECEIVED),
	SHARE(SUMMARY_TOPIC, "lost", SUMMARY_RECEIVED, SUMMARY_NEVER_RECEIVED),
	TIMES(SUMMARY_SERVICE, "latency", SUMMARY_LATENCY),
	GOALS("total", SUMMARY_LATENCY),
	GOALS("accept", SUMMARY_WAIT),
	GOALS("execution", SUMMARY_DURATION),
	GOALS("silence", SUMMARY_PERIOD),
	ENDS("aborted", SUMMARY_ABORTED, true),
	ENDS("canceled", SUMMARY_CANCELED, true),
	ENDS("rejected", SUMMARY_REJECTED, false),
	TIMES(SUMMARY_LOOP, "wake-up", SUMMARY_LATENCY),
	TIMES(SUMMARY_LOOP, "duration", SUMMARY_DURATION),
	{ .kind = SUMMARY_LOOP,
	  .name = "missed",
	  .unit = COMPARE_SHARE,
	  .count = SUMMARY_RUNS,
	  .other = SUMMARY_MISSED,
	  .is_among = true,
	  .limit = PERCENTAGE_POINTS },
	OWN(SUMMARY_SPAN, "duration", SUMMARY_DURATION),
	TIMES(SUMMARY_SPAN, "duration", SUMMARY_DURATION),
};

const struct metric *metric_at(enum summary_kind kind, unsigned at)
{
	for (unsigned i = 0; i < COUNT_OF(metrics); i++)
		if (metrics[i].kind == kind && !at--)
			return &metrics[i];
	return NULL;
}

const struct metric *metric_named(enum summary_kind kind, const char *name)
{
	for (unsigned i = 0; i < COUNT_OF(metrics); i++)
		if (metrics[i].kind == kind && !strcmp(metrics[i].name, name))
			return &metrics[i];
	return NULL;
}

/* What has no logarithm at 0. */
static double added_of(const struct metric *metric)
{
	static const double added[] = { [COMPARE_SHARE] = SHARE_ADDED,
					[COMPARE_PER_RUN] = PER_RUN_ADDED,
					[COMPARE_NS_PER_RUN] = NS_ADDED };

	return metric->unit < COUNT_OF(added) ? added[metric->unit] : 0;
}

/*
 * What a chain begins with has an entity of its own: a callback, or a topic that somebody else
 * publishes. Its name is the first step of the chain's. Callbacks of this name in several processes
 * are the same chain.
 */
static uint64_t inputs_of(const struct summary *summary, const struct summary_entity *chain)
{
	const char *end = strstr(chain->name, " -> ");
	const size_t length = end ? (size_t)(end - chain->name) : 0;
	uint64_t count = 0;

	for (unsigned i = 0; end && i < summary->entities; i++) {
		const struct summary_entity *first = summary->entity[i];

		if (strncmp(first->name, chain->name, length) != 0 || first->name[length])
			continue;
		if (first->kind == SUMMARY_CALLBACK)
			count += first->count[SUMMARY_RUNS];
		else if (first->kind == SUMMARY_TOPIC)
			count += first->count[SUMMARY_PUBLISHED];
	}
	return count;
}

double metric_alike(const struct summary_entity *entity)
{
	return entity->alike > 1 ? entity->alike : 1;
}

uint64_t metric_count(const struct metric *metric, const struct summary *summary,
		      const struct summary_entity *entity)
{
	return metric->is_per_input ? inputs_of(summary, entity) : entity->count[metric->count];
}

bool metric_of(const struct metric *metric, const struct summary *summary,
	       const struct summary_entity *entity, double *log_of)
{
	const struct histogram *histogram = &entity->histogram[metric->of];
	const double count = (double)metric_count(metric, summary, entity),
		     other = (double)entity->count[metric->other];
	const double seconds = (double)(summary->end_ns - summary->begin_ns) / 1e9;
	double value, all;

	if (metric->unit == COMPARE_PER_RUN || metric->unit == COMPARE_NS_PER_RUN) {
		*log_of = log(other / fmax(count, 1) + added_of(metric));
		return count >= INSTANCES_MIN;
	}
	if (metric->unit == COMPARE_NS) {
		const double beyond =
			metric->quantile < 0.5 || metric->is_rare ? INSTANCES_LOW : INSTANCES_MIN;

		if ((double)histogram->count * fmin(metric->quantile, 1 - metric->quantile) <
		    beyond - 1e-9)
			return false;
		value = (double)summary_quantile(entity, metric->of, metric->quantile);
		*log_of = log(value < 1 ? 1 : value);
		return true;
	}
	if (metric->unit == COMPARE_PER_SECOND) {
		*log_of = seconds > 0 ? log(count / metric_alike(entity) / seconds) : 0;
		return seconds > 0 && count >= INSTANCES_MIN;
	}
	/* Cycles that missed their deadline are among all cycles; messages never received are not
	 * among those received. */
	all = metric->is_among ? count : count + other;
	*log_of = log(other / (all > 0 ? all : 1) + added_of(metric));
	return all >= INSTANCES_MIN;
}

double metric_unlog(const struct metric *metric, double value)
{
	const double back = exp(value) - added_of(metric);

	return back > 0 ? back : 0;
}

double metric_base(const struct metric *metric, double value)
{
	return value + added_of(metric);
}
