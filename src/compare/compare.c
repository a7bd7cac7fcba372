/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/compare_internal.h"

/* ---- verdicts ---- */

static struct verdict_limit limit_of(const struct compare_options *options,
				     const struct compare_row *row)
{
	struct verdict_limit limit = metric_named(row->entity->kind, row->metric)->limit;

	if (options->limit > 0 && row->unit != COMPARE_SHARE && row->unit != COMPARE_PER_RUN)
		limit.ratio = options->limit;
	limit.is_by_chance = row->is_chance;
	return limit;
}

double compare_limit(const struct compare_options *options, const struct compare_row *row)
{
	const struct verdict_limit limit = limit_of(options, row);

	return verdict_most(metric_base(metric_named(row->entity->kind, row->metric), row->base),
			    &limit);
}

unsigned compare_open(const struct comparison *comparison, const struct compare_options *options,
		      const struct looks *looks)
{
	const unsigned pairs = options->design.bases;
	double difference[COMPARE_RUNS_MAX / 2];
	unsigned open = 0;

	for (unsigned m = 0; m < comparison->rows; m++) {
		const struct compare_row *row = &comparison->row[m];

		for (unsigned i = 0; i < pairs; i++)
			difference[i] = row->value[pairs + i] - row->value[i];
		/* What it must grow by at least depends on the base runs to come; the ratio does
		 * not. */
		open += looks_are_open(looks, difference, pairs,
				       log1p(limit_of(options, row).ratio));
	}
	return open;
}

static bool judge(struct comparing *c)
{
	struct comparison *out = c->out;
	struct change *change = calloc(out->rows + 1, sizeof(*change));

	if (!change || change_judge(&c->options->design, (const double *const *)out->value,
				    out->rows, change)) {
		free(change);
		return false;
	}
	for (unsigned i = 0; i < out->rows; i++) {
		struct compare_row *row = &out->row[i];
		const struct metric *metric = metric_named(row->entity->kind, row->metric);
		const struct verdict_limit limit = limit_of(c->options, row);

		row->change = change[i];
		row->verdict = verdict(&c->options->design, &change[i],
				       metric_base(metric, row->base), &limit);
		out->count[row->verdict.verdict]++;
	}
	free(change);
	return true;
}

static int by_harm(const void *left, const void *right)
{
	const struct compare_row *a = left, *b = right;
	int order = (int)a->verdict.verdict - (int)b->verdict.verdict;
	double x = a->change.estimate, y = b->change.estimate;

	if (!order) /* what is suspected first */
		order = (int)b->verdict.is_suspect - (int)a->verdict.is_suspect;
	if (order)
		return order;
	if (a->verdict.verdict == VERDICT_BETTER)
		x = -x, y = -y;
	if (x != y)
		return x < y ? 1 : -1;
	order = (int)a->entity->kind - (int)b->entity->kind;
	if (!order)
		order = strcmp(a->entity->name, b->entity->name);
	if (!order)
		order = strcmp(a->entity->of, b->entity->of);
	return order ? order : strcmp(a->metric, b->metric);
}

void compare_sort(struct comparison *comparison)
{
	if (comparison->rows)
		qsort(comparison->row, comparison->rows, sizeof(*comparison->row), by_harm);
}

int compare(struct comparison *comparison, const struct summary *const *base,
	    const struct summary *const *new, const struct compare_options *options,
	    struct kymo_err *err)
{
	struct comparing c = { .options = options, .out = comparison };
	bool done;

	*comparison = (struct comparison){ 0 };
	c.runs = options->design.bases + options->design.news;
	if (c.runs > COMPARE_RUNS_MAX)
		return err_set(err, KYMO_EXIT_USAGE, "%u runs are more than %u, which is the most",
			       c.runs, COMPARE_RUNS_MAX);
	for (unsigned r = 0; r < c.runs; r++)
		c.run[r] = r < options->design.bases ? base[r] : new[r - options->design.bases];
	done = compare_values(&c) && judge(&c) && compare_likely(&c);
	free(c.found);
	if (!done) {
		compare_free(comparison);
		return err_no_memory(err);
	}
	compare_sort(comparison);
	return 0;
}

void compare_free(struct comparison *comparison)
{
	/* One array of values a row. */
	for (unsigned i = 0; comparison->value && i < comparison->rows; i++)
		free(comparison->value[i]);
	for (unsigned i = 0; i < comparison->rows; i++)
		free(comparison->row[i].segment);
	for (unsigned i = 0; i < comparison->likelies; i++) {
		free(comparison->likely[i].old);
		free(comparison->likely[i].new);
	}
	free(comparison->likely);
	free(comparison->value);
	free(comparison->row);
	free(comparison->appeared);
	free(comparison->gone);
	free(comparison->number);
	*comparison = (struct comparison){ 0 };
}
