/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/compare.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "compare/metrics.h"

/* ---- entities of all runs, those of one name side by side ---- */

struct found {
	const struct summary_entity *entity;
	unsigned run; /* base runs first */
};

struct comparing {
	const struct compare_options *options;
	const struct summary *run[COMPARE_RUNS_MAX];
	unsigned runs;
	struct found *found;
	unsigned founds, capacity;
	struct comparison *out;
	unsigned rows_size, values, values_size, appeared_size, gone_size;
};

static int by_name(const void *left, const void *right)
{
	const struct found *a = left, *b = right;
	int order = (int)a->entity->kind - (int)b->entity->kind;

	if (!order)
		order = strcmp(a->entity->name, b->entity->name);
	if (!order)
		order = strcmp(a->entity->of, b->entity->of);
	return order ? order : (a->run > b->run) - (a->run < b->run);
}

static bool same(const struct found *a, const struct found *b)
{
	return a->entity->kind == b->entity->kind && !strcmp(a->entity->name, b->entity->name) &&
	       !strcmp(a->entity->of, b->entity->of);
}

static bool is_wanted(const struct comparing *c, const struct summary_entity *entity)
{
	if (entity->is_startup || entity->is_other_clock)
		return false;
	return !c->options->only || fnmatch(c->options->only, entity->name, 0) == 0;
}

static bool gather(struct comparing *c)
{
	for (unsigned r = 0; r < c->runs; r++)
		for (unsigned i = 0; i < c->run[r]->entities; i++) {
			const struct summary_entity *entity = c->run[r]->entity[i];

			if (!is_wanted(c, entity))
				continue;
			if (!ARRAY_ROOM(c->found, c->founds, c->capacity))
				return false;
			c->found[c->founds++] = (struct found){ entity, r };
		}
	if (c->founds)
		qsort(c->found, c->founds, sizeof(*c->found), by_name);
	return true;
}

/* ---- rows ---- */

/* Whether any run has anything to measure. */
static bool metric_exists(const struct metric *metric, const struct found *found, unsigned runs)
{
	for (unsigned r = 0; r < runs; r++)
		if (metric->unit != COMPARE_NS || found[r].entity->histogram[metric->of].count)
			return true;
	return false;
}

/* Adds a row for @metric of the entity of all runs in @found. Return: false without memory. */
static bool add_row(struct comparing *c, const struct found *found, const struct metric *metric)
{
	struct comparison *out = c->out;
	double *value = calloc(c->runs, sizeof(*value));
	double mean[2] = { 0, 0 };

	if (!value)
		return false;
	for (unsigned r = 0; r < c->runs; r++) {
		const bool is_new = r >= c->options->design.bases;

		if (!metric_of(metric, c->run[r], found[r].entity, &value[r])) {
			free(value);
			out->few += metric_exists(metric, found, c->runs);
			return true;
		}
		mean[is_new] +=
			value[r] / (is_new ? c->options->design.news : c->options->design.bases);
		if (metric->is_less_worse)
			value[r] = -value[r];
	}
	if (!ARRAY_ROOM(out->row, out->rows, c->rows_size) ||
	    !ARRAY_ROOM(out->value, c->values, c->values_size)) {
		free(value);
		return false;
	}
	out->value[c->values++] = value;
	out->row[out->rows++] = (struct compare_row){
		.entity = found->entity,
		.metric = metric->name,
		.unit = metric->unit,
		.is_less_worse = metric->is_less_worse,
		.base = metric_unlog(metric, mean[0]),
		.new = metric_unlog(metric, mean[1]),
	};
	return true;
}

static bool add_entity(struct comparing *c, const struct found *found, unsigned count)
{
	const unsigned bases = c->options->design.bases, news = c->options->design.news;
	struct comparison *out = c->out;
	unsigned in_base = 0;

	for (unsigned i = 0; i < count; i++)
		in_base += found[i].run < bases;
	if (count == bases + news) {
		const struct metric *metric;

		for (unsigned i = 0; (metric = metric_at(found->entity->kind, i)); i++)
			if (!add_row(c, found, metric))
				return false;
		return true;
	}
	if (in_base == 0 && count == news) {
		if (!ARRAY_ROOM(out->appeared, out->appeareds, c->appeared_size))
			return false;
		out->appeared[out->appeareds++] = found->entity;
	} else if (in_base == bases && count == bases) {
		if (!ARRAY_ROOM(out->gone, out->gones, c->gone_size))
			return false;
		out->gone[out->gones++] = found->entity;
	} else {
		out->irregular++;
	}
	return true;
}

static bool add_entities(struct comparing *c)
{
	unsigned end;

	for (unsigned i = 0; i < c->founds; i = end) {
		for (end = i + 1; end < c->founds && same(&c->found[i], &c->found[end]); end++)
			;
		if (!add_entity(c, &c->found[i], end - i))
			return false;
	}
	return true;
}

/* ---- verdicts ---- */

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
		struct verdict_limit limit = metric->limit;

		if (c->options->limit > 0 && row->unit != COMPARE_SHARE)
			limit.ratio = c->options->limit;
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

/* ---- what of a chain it was ---- */

/* Whether the callback @name ("/node /topic", "/node timer 10 ms") is a step of @chain ("... ->
 * /topic -> /node -> ..."). */
static bool is_step(const char *chain, const char *name)
{
	const char *topic = strstr(name, " /"), *at = chain;
	const size_t length = strlen(name);

	if (!topic) /* a timer is the first step */
		return !strncmp(chain, name, length) &&
		       (!chain[length] || !strncmp(chain + length, " -> ", 4));
	for (topic++; (at = strstr(at, topic)); at++) {
		const char *node = at + strlen(topic);
		const size_t size = (size_t)(topic - 1 - name);

		if ((at == chain || at[-1] == ' ') && !strncmp(node, " -> ", 4) &&
		    !strncmp(node + 4, name, size) && (!node[4 + size] || node[4 + size] == ' '))
			return true;
	}
	return false;
}

/* The callback of the chain whose duration grew most in the same quantile: at least a tenth of what
 * the chain grew. */
static const struct compare_row *find_part(const struct comparison *out,
					   const struct compare_row *chain)
{
	const char *quantile = strrchr(chain->metric, ' ');
	const struct compare_row *best = NULL;
	double most = (chain->new - chain->base) / 10;

	for (unsigned i = 0; quantile && i < out->rows; i++) {
		const struct compare_row *row = &out->row[i];

		if (row->entity->kind == SUMMARY_CALLBACK && !strncmp(row->metric, "duration", 8) &&
		    !strcmp(strrchr(row->metric, ' '), quantile) && row->new - row->base > most &&
		    is_step(chain->entity->name, row->entity->name)) {
			best = row;
			most = row->new - row->base;
		}
	}
	return best;
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
	done = gather(&c) && add_entities(&c) && judge(&c);
	free(c.found);
	if (!done) {
		compare_free(comparison);
		return err_no_memory(err);
	}
	if (comparison->rows)
		qsort(comparison->row, comparison->rows, sizeof(*comparison->row), by_harm);
	for (unsigned i = 0; i < comparison->rows; i++)
		if (comparison->row[i].entity->kind == SUMMARY_CHAIN &&
		    comparison->row[i].unit == COMPARE_NS)
			comparison->row[i].part = find_part(comparison, &comparison->row[i]);
	return 0;
}

void compare_free(struct comparison *comparison)
{
	/* One array of values a row. */
	for (unsigned i = 0; comparison->value && i < comparison->rows; i++)
		free(comparison->value[i]);
	free(comparison->value);
	free(comparison->row);
	free(comparison->appeared);
	free(comparison->gone);
	*comparison = (struct comparison){ 0 };
}
