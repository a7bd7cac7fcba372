/* SPDX-License-Identifier: Apache-2.0 */
/* See serve_metrics.h. */
#include "serve/serve_metrics_internal.h"

#include <stdlib.h>

#include "base/text.h"
#include "summary/summary_limit.h"

/* ---- which entities have room ---- */

#define SERIES_OF_HISTOGRAM (SERVE_METRICS_BOUNDS + 3) /* +Inf, _sum, _count */

/* Series that an entity may have at most. */
static unsigned series_of(const struct summary_entity *entity)
{
	switch (entity->kind) {
	case SUMMARY_CALLBACK:
		return SERIES_OF_HISTOGRAM + SERVE_METRICS_CULPRITS + 1;
	case SUMMARY_TIMER:
	case SUMMARY_CHAIN:
		return SERIES_OF_HISTOGRAM;
	case SUMMARY_TOPIC:
		return SERIES_OF_HISTOGRAM + 5;
	default:
		return 0;
	}
}

static bool has_room(struct serve_metrics *metrics, const struct summary_entity *entity)
{
	const unsigned series = series_of(entity);
	const uint64_t hash = text_hash(text_hash(TEXT_HASH, entity->name), entity->of);

	if (!series || (entity->is_startup && !metrics->options.all))
		return false;
	if (map_get(&metrics->known, hash, entity->kind))
		return true;
	if (!summary_is_other(entity) && metrics->series + series > metrics->options.series_max) {
		metrics->dropped += series;
		return false;
	}
	if (map_put(&metrics->known, hash, entity->kind, metrics))
		return false;
	metrics->series += series;
	return true;
}

int serve_metrics_add(struct serve_metrics *metrics, const struct summary *summary, int64_t end_ns)
{
	struct summary some = *summary;
	int status;

	some.entity = calloc(summary->entities + 1, sizeof(struct summary_entity *));
	some.entities = 0;
	if (!some.entity)
		return -1;
	for (unsigned i = 0; i < summary->entities; i++)
		if (has_room(metrics, summary->entity[i]))
			some.entity[some.entities++] = summary->entity[i];
	status = summary_merge(metrics->total, &some);
	free(some.entity);
	metrics->windows++;
	metrics->over += summary->over;
	metrics->end_ns = end_ns;
	return status;
}

/* ---- life cycle ---- */

struct serve_metrics *serve_metrics_new(const struct serve_metrics_options *options)
{
	struct serve_metrics *metrics = calloc(1, sizeof(*metrics));

	if (!metrics)
		return NULL;
	metrics->options = *options;
	metrics->total = summary_new();
	if (metrics->total)
		return metrics;
	free(metrics);
	return NULL;
}

void serve_metrics_free(struct serve_metrics *metrics)
{
	if (!metrics)
		return;
	summary_free(metrics->total);
	map_free(&metrics->known);
	free(metrics);
}
