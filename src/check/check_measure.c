/* SPDX-License-Identifier: Apache-2.0 */
/* What a run has of the metric of a budget. */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check/bound.h"
#include "check/check.h"

bool check_has_loss(const struct summary *summary)
{
	return summary->trust.lost_events || summary->trust.lost_packets || summary->trust.damaged;
}

/* ---- which entities ---- */

/* The next step of "a -> b -> c" at *@at; false behind the last one. */
static bool step(const char **at, char *out, size_t size)
{
	const char *end = strstr(*at, " -> ");
	const size_t length = end ? (size_t)(end - *at) : strlen(*at);

	if (!**at)
		return false;
	(void)snprintf(out, size, "%.*s", (int)length, *at);
	*at += length + (end ? strlen(" -> ") : 0);
	return true;
}

/* Does the chain @name lead through the steps of @wanted, in this order? */
static bool leads_through(const char *name, const char *wanted)
{
	char want[512], have[512];

	while (step(&wanted, want, sizeof(want))) {
		bool found = false;

		while (!found && step(&name, have, sizeof(have)))
			found = fnmatch(want, have, 0) == 0;
		if (!found)
			return false;
	}
	return true;
}

bool check_means(const struct budget *budget, const struct summary_entity *entity)
{
	if (entity->kind != budget->metric->kind)
		return false;
	if (!strcmp(budget->name, entity->name) || !strcmp(budget->name, entity->label))
		return true;
	if (entity->is_startup)
		return false;
	if (entity->kind == SUMMARY_CHAIN && strstr(budget->name, " -> "))
		return leads_through(entity->name, budget->name);
	return fnmatch(budget->name, entity->name, 0) == 0;
}

/* ---- values ---- */

/* Messages of all topics that are not of the start of nodes. */
static double whole_count(const struct budget *budget, const struct summary *summary,
			  uint64_t *count)
{
	const struct summary_trust *trust = &summary->trust;
	uint64_t part = 0, all = summary->events;

	if (strcmp(budget->metric->name, "events") == 0) {
		part = trust->lost_events + trust->lost_packets + trust->damaged;
	} else {
		all = 0;
		for (unsigned i = 0; i < summary->entities; i++) {
			const struct summary_entity *entity = summary->entity[i];

			if (entity->kind != SUMMARY_TOPIC || entity->is_startup)
				continue;
			part += entity->count[budget->metric->count];
			all += entity->count[budget->metric->all];
		}
	}
	*count = all + part;
	return budget->is_share ? (double)part / (double)(*count ? *count : 1) : (double)part;
}

static double counted(const struct budget *budget, const struct summary_entity *entity,
		      uint64_t *count)
{
	const struct budget_metric *metric = budget->metric;
	const uint64_t part = entity->count[metric->count];

	*count = entity->count[metric->all] + (metric->apart ? part : 0);
	if (!budget->is_share)
		return (double)part;
	return *count ? (double)part / (double)*count : 0;
}

/*
 * From its first start on: a node that starts late is not slow. To the end of the run: one that
 * died is.
 */
static double rate(const struct budget *budget, const struct summary *summary,
		   const struct summary_entity *entity, uint64_t *count)
{
	const int64_t first_ns = entity->first_ns ? entity->first_ns : summary->begin_ns;

	*count = entity->count[budget->metric->count];
	if (summary->end_ns <= first_ns)
		return *count ? NAN : 0;
	return (double)*count * 1e9 / (double)(summary->end_ns - first_ns);
}

static double of_distribution(const struct budget *budget, const struct histogram *histogram,
			      uint64_t *count)
{
	*count = histogram->count;
	if (!histogram->count)
		return NAN;
	if (budget->how == BUDGET_MAX)
		return (double)histogram->max;
	if (budget->how == BUDGET_MEAN)
		return histogram_mean(histogram);
	return (double)histogram_quantile(histogram, budget->quantile);
}

double check_measure(const struct budget *budget, const struct summary *summary,
		     const struct summary_entity *entity, uint64_t *count)
{
	const int64_t ns = summary->end_ns - summary->begin_ns;

	*count = 0;
	if (!entity)
		return whole_count(budget, summary, count);
	switch (budget->metric->unit) {
	case BUDGET_TIME:
		return of_distribution(budget, &entity->histogram[budget->metric->of], count);
	case BUDGET_RATE:
		return rate(budget, summary, entity, count);
	case BUDGET_COUNT:
		return counted(budget, entity, count);
	case BUDGET_BUSY:
		*count = entity->count[SUMMARY_RUNS];
		return ns > 0 ? (double)entity->count[SUMMARY_RUN_NS] / (double)ns : NAN;
	}
	return NAN;
}

/* ---- bounds ---- */

/* The @rank-th smallest value, from 1. */
static double value_at(const struct histogram *histogram, uint64_t rank)
{
	uint64_t middle = 0, count, seen = 0;
	unsigned at = 0;

	while (seen < rank && histogram_next(histogram, &at, &middle, &count))
		seen += count;
	if (rank >= histogram->count || middle > histogram->max)
		return (double)histogram->max;
	return (double)(middle < histogram->min ? histogram->min : middle);
}

double check_bound(const struct budget *budget, const struct summary_entity *entity,
		   double confidence, bool is_upper)
{
	const struct histogram *histogram;
	uint64_t rank;

	if (!entity || budget->metric->unit != BUDGET_TIME || budget->how != BUDGET_QUANTILE)
		return NAN;
	histogram = &entity->histogram[budget->metric->of];
	rank = is_upper ? bound_upper(histogram->count, budget->quantile, confidence)
			: bound_lower(histogram->count, budget->quantile, confidence);
	return rank ? value_at(histogram, rank) : NAN;
}
