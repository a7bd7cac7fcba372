/* SPDX-License-Identifier: Apache-2.0 */
/* What a plot of a comparison needs: the value of each run, and the distributions of both sides. */
#include <string.h>

#include "base/array.h"
#include "base/histogram.h"
#include "compare/compare_print.h"
#include "compare/metrics.h"

static const char *const side_name[] = { "base", "new" };

static void put_name(struct table *table, const struct summary_entity *entity)
{
	table_text(table, summary_kind_name(entity->kind));
	table_text(table, entity->name);
	table_text(table, *entity->of ? entity->of : NULL);
}

static void put_values(struct table *table, const struct compare_row *row,
		       const struct change_design *design)
{
	const struct metric *metric = metric_named(row->entity->kind, row->metric);

	for (unsigned r = 0; r < design->bases + design->news; r++) {
		const bool is_new = r >= design->bases;
		const double value = row->is_less_worse ? -row->value[r] : row->value[r];

		put_name(table, row->entity);
		table_text(table, row->metric);
		table_text(table, side_name[is_new]);
		table_u64(table, is_new ? r - design->bases + 1 : r + 1);
		table_f64(table, metric_unlog(metric, value));
	}
}

/* The distribution of row @at; NULL: it has none, or an earlier row has the same one. */
static const struct metric *new_distribution(const struct comparison *c, unsigned at)
{
	const struct compare_row *row = &c->row[at];
	const struct metric *metric = metric_named(row->entity->kind, row->metric);

	if (metric->unit != COMPARE_NS)
		return NULL;
	for (unsigned i = 0; i < at; i++)
		if (c->row[i].entity == row->entity && c->row[i].unit == COMPARE_NS &&
		    metric_named(row->entity->kind, c->row[i].metric)->of == metric->of)
			return NULL;
	return metric;
}

static void put_side(struct table *table, const struct compare_row *row,
		     enum summary_distribution of, unsigned side, const struct summary *const *run,
		     unsigned runs)
{
	uint64_t counts[HISTOGRAM_COARSE_MAX] = { 0 }, middle, count;

	for (unsigned r = 0; r < runs; r++) {
		const struct summary_entity *entity = summary_entity_like(run[r], row->entity);
		unsigned at = 0;

		while (entity && histogram_next(&entity->histogram[of], &at, &middle, &count))
			counts[histogram_coarse(middle)] += count;
	}
	for (unsigned bucket = 0; bucket < HISTOGRAM_COARSE_MAX; bucket++) {
		if (!counts[bucket])
			continue;
		put_name(table, row->entity);
		table_text(table, summary_distribution_name(of));
		table_text(table, side_name[side]);
		table_u64(table, histogram_coarse_middle(bucket));
		table_u64(table, counts[bucket]);
	}
}

void compare_print_plot(struct table *table, const struct comparison *comparison,
			const struct compare_print *print, const struct summary *const *base,
			const struct summary *const *new)
{
	static const struct table_column values[] = { { "kind", "Kind" },  { "name", "Name" },
						      { "of", "Of" },      { "metric", "Metric" },
						      { "side", "Side" },  { "run", "Run" },
						      { "value", "Value" } };
	static const struct table_column distributions[] = {
		{ "kind", "Kind" },         { "name", "Name" }, { "of", "Of" },
		{ "distribution", "What" }, { "side", "Side" }, { "ns", "ns" },
		{ "count", "Count" }
	};
	const struct change_design *design = &print->options->design;

	table_section(table, "values", "Values of the runs", values, COUNT_OF(values));
	for (unsigned i = 0; i < comparison->rows; i++)
		put_values(table, &comparison->row[i], design);
	table_section(table, "distributions", "Distributions", distributions,
		      COUNT_OF(distributions));
	for (unsigned i = 0; i < comparison->rows; i++) {
		const struct metric *metric = new_distribution(comparison, i);

		if (!metric)
			continue;
		put_side(table, &comparison->row[i], metric->of, 0, base, design->bases);
		put_side(table, &comparison->row[i], metric->of, 1, new, design->news);
	}
}
