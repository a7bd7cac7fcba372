/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up within a summary. model_startup.c defines it; counters, histograms, quantiles and maxima
 * include it. Beside them stands what of them is start-up, so that the findings can leave it out.
 */
#include <stdio.h>
#include <stdlib.h>

#include "summary/findings.h"
#include "summary/summary_internal.h"

struct summary_startup *summary_startup(struct summary *summary, struct summary_entity *entity)
{
	if (entity->startup)
		return entity->startup;
	entity->startup = calloc(1, sizeof(*entity->startup));
	summary->failed |= !entity->startup;
	/* Until now, all values were steady. */
	for (unsigned i = 0; entity->startup && i < SUMMARY_DISTRIBUTIONS; i++)
		entity->startup->steady_ns[i] = entity->histogram[i].max;
	return entity->startup;
}

void summary_startup_free(struct summary_entity *entity)
{
	for (unsigned i = 0; entity->startup && i < SUMMARY_DISTRIBUTIONS; i++)
		histogram_free(&entity->startup->histogram[i]);
	free(entity->startup);
	entity->startup = NULL;
}

const char *summary_steady_key(char key[32], enum summary_distribution which)
{
	snprintf(key, 32, "%s_steady_ns", summary_distribution_name(which));
	return key;
}

static void add(struct summary *summary, struct summary_startup *startup,
		enum summary_distribution which, const struct histogram *from, uint64_t steady_ns)
{
	summary->failed |= histogram_merge(&startup->histogram[which], from) != 0;
	if (steady_ns > startup->steady_ns[which])
		startup->steady_ns[which] = steady_ns;
}

void summary_startup_merge(struct summary *into, struct summary_entity *entity,
			   const struct summary_entity *from)
{
	struct summary_startup *startup = entity->startup || from->startup
						  ? summary_startup(into, entity)
						  : NULL;
	static const struct histogram none;

	for (unsigned i = 0; startup && i < SUMMARY_DISTRIBUTIONS; i++)
		add(into, startup, i, from->startup ? &from->startup->histogram[i] : &none,
		    summary_steady_max(from, i));
	if (startup && from->startup)
		startup->overrun += from->startup->overrun;
}

/* Several callbacks may be one entity: the others of its values may be there already. */
void summary_startup_set(struct summary *summary, struct summary_entity *entity,
			 enum summary_distribution which, const struct histogram *from,
			 uint64_t steady_ns)
{
	struct summary_startup *startup =
		entity->startup || from->count ? summary_startup(summary, entity) : NULL;

	if (startup)
		add(summary, startup, which, from, steady_ns);
}

uint64_t summary_steady_max(const struct summary_entity *entity, enum summary_distribution which)
{
	return entity->startup ? entity->startup->steady_ns[which] : entity->histogram[which].max;
}

uint64_t summary_steady_count(const struct summary_entity *entity, enum summary_distribution which,
			      uint64_t least_ns)
{
	const struct summary_startup *part = entity->startup;
	const uint64_t all = histogram_at_least(&entity->histogram[which], least_ns);
	const uint64_t startup =
		part ? histogram_at_least(&part->histogram[which], least_ns) : 0;

	return all > startup ? all - startup : 0;
}

bool summary_startup_matters(const struct summary_entity *entity, enum summary_distribution which)
{
	return !entity->is_startup && entity->startup &&
	       histogram_at_least(&entity->startup->histogram[which],
				  histogram_quantile(&entity->histogram[which], 0.5));
}

uint64_t summary_hidden(const struct summary *summary)
{
	uint64_t hidden = 0;

	for (unsigned i = 0; i < summary->entities; i++) {
		const struct summary_entity *entity = summary->entity[i];
		const struct histogram *all = &entity->histogram[SUMMARY_LATENCY];
		const uint64_t usual = histogram_quantile(all, 0.5);
		uint64_t least;

		if (entity->kind != SUMMARY_CALLBACK || entity->is_startup || !entity->startup)
			continue;
		least = summary_steady_max(entity, SUMMARY_LATENCY) + 1;
		if (least < 2 * usual)
			least = 2 * usual;
		if (least < usual + SUMMARY_FINDINGS_EXCESS_MIN_NS)
			least = usual + SUMMARY_FINDINGS_EXCESS_MIN_NS;
		hidden += histogram_at_least(&entity->startup->histogram[SUMMARY_LATENCY], least);
	}
	return hidden;
}
