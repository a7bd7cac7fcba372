/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a comparison, with the values of all runs.
 *
 * The entities of all runs are put into one list and sorted by name, so those of one name stand
 * side by side. A name that all runs have becomes rows; one that all runs of a single side have
 * has appeared or is gone; any other one is irregular.
 */
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "compare/compare_internal.h"

/* ---- entities of all runs, those of one name side by side ---- */

int compare_found_order(const void *left, const void *right)
{
	const struct compare_found *a = left, *b = right;
	int order = (int)a->entity->kind - (int)b->entity->kind;

	if (!order)
		order = strcmp(a->entity->name, b->entity->name);
	if (!order)
		order = strcmp(a->entity->of, b->entity->of);
	return order ? order : (a->run > b->run) - (a->run < b->run);
}

bool compare_found_same(const struct compare_found *a, const struct compare_found *b)
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
			if (!ARRAY_ADD(c->found, c->founds, c->capacity,
				       (struct compare_found){ entity, r }))
				return false;
		}
	if (c->founds)
		qsort(c->found, c->founds, sizeof(*c->found), compare_found_order);
	return true;
}

/* ---- rows ---- */

/* Has any run anything to measure? */
static bool metric_exists(const struct comparing *c, const struct metric *metric,
			  const struct compare_found *found)
{
	for (unsigned r = 0; r < c->runs; r++) {
		const struct summary_entity *entity = found[r].entity;

		if (metric->unit == COMPARE_PER_RUN || metric->unit == COMPARE_NS_PER_RUN
			    ? metric_count(metric, c->run[r], entity) &&
				      entity->count[metric->other]
			    : metric->unit != COMPARE_NS || entity->histogram[metric->of].count)
			return true;
	}
	return false;
}

/* Do the kernel's events tell of most runs of the callback what was its own? */
static bool has_own(const struct compare_found *found, unsigned runs)
{
	for (unsigned r = 0; r < runs; r++)
		if (found[r].entity->histogram[SUMMARY_OWN].count * 2 <
			    found[r].entity->histogram[SUMMARY_DURATION].count ||
		    !found[r].entity->histogram[SUMMARY_OWN].count)
			return false;
	return true;
}

/* Then the duration is not judged: what other programs took is only shown. */
static bool is_judged(const struct metric *metric, const struct compare_found *found, unsigned runs)
{
	return found->entity->kind != SUMMARY_CALLBACK || metric->unit != COMPARE_NS ||
	       (metric->of == SUMMARY_OWN) == has_own(found, runs);
}

/* What a run took beyond its own time, at the same quantile. */
static void add_others(struct compare_row *row, const struct metric *metric,
		       const struct compare_found *found, unsigned bases, unsigned runs)
{
	if (metric->unit != COMPARE_NS || metric->of != SUMMARY_OWN)
		return;
	row->has_others = true;
	for (unsigned r = 0; r < runs; r++) {
		const double others =
			(double)summary_quantile(found[r].entity, SUMMARY_DURATION,
						 metric->quantile) -
			(double)summary_quantile(found[r].entity, SUMMARY_OWN, metric->quantile);

		if (r < bases)
			row->base_others += fmax(others, 0) / bases;
		else
			row->new_others += fmax(others, 0) / (runs - bases);
	}
}

/* The values of @metric in all runs, and their means. Return: false: not in all of them. */
static bool take_values(const struct comparing *c, const struct compare_found *found,
			const struct metric *metric, double *value, double mean[2])
{
	const struct change_design *design = &c->options->design;

	for (unsigned r = 0; r < c->runs; r++) {
		const bool is_new = r >= design->bases;

		if (!metric_of(metric, c->run[r], found[r].entity, &value[r]))
			return false;
		mean[is_new] += value[r] / (is_new ? design->news : design->bases);
		if (metric->is_less_worse)
			value[r] = -value[r];
	}
	return true;
}

/* How many of one name they are, in the base or the new run that has most. */
static unsigned most_alike(const struct compare_found *found, unsigned from, unsigned to)
{
	unsigned most = 1;

	for (unsigned r = from; r < to; r++)
		most = found[r].entity->alike > most ? found[r].entity->alike : most;
	return most;
}

static bool is_in_processes(const struct summary_entity *entity)
{
	return entity->kind == SUMMARY_CALLBACK || entity->kind == SUMMARY_LOOP ||
	       entity->kind == SUMMARY_SPAN;
}

/* Return: false without memory. */
static bool add_number(struct comparing *c, const struct compare_found *found)
{
	const unsigned bases = c->options->design.bases;
	const unsigned base = most_alike(found, 0, bases), new = most_alike(found, bases, c->runs);
	struct comparison *out = c->out;

	if (base == new || !is_in_processes(found->entity))
		return true;
	return ARRAY_ADD(out->number, out->numbers, c->numbers_size,
			 (struct compare_number){ found->entity, base, new });
}

static bool complete_row(struct comparing *c, struct compare_row *row,
			 const struct compare_found *found, const struct metric *metric)
{
	const unsigned bases = c->options->design.bases;

	row->base_alike = most_alike(found, 0, bases);
	row->new_alike = most_alike(found, bases, c->runs);
	add_others(row, metric, found, bases, c->runs);
	if (metric->unit == COMPARE_PER_RUN && c->runs == 2)
		row->is_chance = verdict_is_chance(
			found[0].entity->count[metric->other],
			metric_count(metric, c->run[0], found[0].entity),
			found[1].entity->count[metric->other],
			metric_count(metric, c->run[1], found[1].entity));
	return metric->kind != SUMMARY_CHAIN || metric->unit != COMPARE_NS ||
	       compare_segments(row, found, bases, c->runs, metric->quantile);
}

/* Adds a row for @metric of the entity of all runs in @found. Return: false without memory. */
static bool add_row(struct comparing *c, const struct compare_found *found,
		    const struct metric *metric)
{
	struct comparison *out = c->out;
	double *value, mean[2] = { 0, 0 };

	if (!is_judged(metric, found, c->runs) || !metric_exists(c, metric, found))
		return true;
	value = calloc(c->runs, sizeof(*value));
	if (!value)
		return false;
	if (!take_values(c, found, metric, value, mean)) {
		free(value);
		out->few++;
		return true;
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
		.value = value,
	};
	return complete_row(c, &out->row[out->rows - 1], found, metric);
}

static bool add_entity(struct comparing *c, const struct compare_found *found, unsigned count)
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
		return add_number(c, found);
	}
	if (in_base == 0 && count == news) {
		if (!ARRAY_ADD(out->appeared, out->appeareds, c->appeared_size, found->entity))
			return false;
	} else if (in_base == bases && count == bases) {
		if (!ARRAY_ADD(out->gone, out->gones, c->gone_size, found->entity))
			return false;
	} else {
		out->irregular++;
	}
	return true;
}

static bool add_entities(struct comparing *c)
{
	unsigned end;

	for (unsigned i = 0; i < c->founds; i = end) {
		for (end = i + 1;
		     end < c->founds && compare_found_same(&c->found[i], &c->found[end]); end++)
			;
		if (!add_entity(c, &c->found[i], end - i))
			return false;
	}
	return true;
}

bool compare_values(struct comparing *c)
{
	return gather(c) && add_entities(c);
}
