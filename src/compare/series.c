/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of metrics by commit, and their change points; see series.h.
 *
 * Each metric of each entity has one line: a value for each commit that has it, the mean of the
 * logarithms of that commit's runs. A commit without the entity, or with too few instances, has no
 * place in the line. points.c searches each line alone. A level has to change by the limit, and by
 * the least amount that `kymo diff` demands of the metric, at the size of the line's first value.
 */
#include "compare/series.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "compare/verdict.h"

/* One metric of one entity; the values of a commit's runs are averaged. */
struct line {
	const struct summary_entity *entity; /* of @names: kind, name, of, label */
	const struct metric *metric;
	double *value; /* by commit that has it */
	unsigned *commit, *runs;
	unsigned count, values_size, commits_size, runs_size;
};

struct series {
	double limit;
	char *only;
	struct summary *names; /* the entities of all runs, without their numbers */
	struct map lines;      /* (entity, metric) -> struct line */
	struct line **line;
	unsigned count, capacity;
	struct series_change *change;
	unsigned changes, changes_size;
	unsigned searched;
};

struct series *series_new(double limit, const char *only)
{
	struct series *series = calloc(1, sizeof(*series));

	if (!series)
		return NULL;
	series->limit = limit;
	series->only = only ? strdup(only) : NULL;
	series->names = summary_new();
	if (series->names && (!only || series->only))
		return series;
	series_free(series);
	return NULL;
}

void series_free(struct series *series)
{
	if (!series)
		return;
	for (unsigned i = 0; i < series->count; i++) {
		free(series->line[i]->value);
		free(series->line[i]->commit);
		free(series->line[i]->runs);
		free(series->line[i]);
	}
	map_free(&series->lines);
	summary_free(series->names);
	free(series->line);
	free(series->change);
	free(series->only);
	free(series);
}

/* ---- runs ---- */

static struct line *line_of(struct series *series, const struct summary_entity *entity,
			    const struct metric *metric)
{
	struct line *line = map_get(&series->lines, (uintptr_t)entity, (uintptr_t)metric);

	if (line)
		return line;
	if (!ARRAY_ROOM(series->line, series->count, series->capacity))
		return NULL;
	line = calloc(1, sizeof(*line));
	if (!line || map_put(&series->lines, (uintptr_t)entity, (uintptr_t)metric, line)) {
		free(line);
		return NULL;
	}
	line->entity = entity;
	line->metric = metric;
	return series->line[series->count++] = line;
}

static int add_value(struct line *line, unsigned commit, double value)
{
	unsigned at = line->count;

	if (at && line->commit[at - 1] == commit) {
		const double runs = ++line->runs[at - 1];

		line->value[at - 1] += (value - line->value[at - 1]) / runs;
		return 0;
	}
	if (!ARRAY_ROOM(line->value, at, line->values_size) ||
	    !ARRAY_ROOM(line->commit, at, line->commits_size) ||
	    !ARRAY_ROOM(line->runs, at, line->runs_size))
		return -ENOMEM;
	line->value[at] = value;
	line->commit[at] = commit;
	line->runs[at] = 1;
	line->count++;
	return 0;
}

static int add_entity(struct series *series, unsigned commit, const struct summary *summary,
		      const struct summary_entity *from)
{
	struct summary_entity *entity =
		summary_entity(series->names, from->kind, from->name, from->of);
	const struct metric *metric;
	double value;

	if (!entity)
		return -ENOMEM;
	if (*from->label)
		entity->label = summary_text(series->names, from->label);
	for (unsigned i = 0; (metric = metric_at(from->kind, i)); i++) {
		struct line *line;

		if (!metric_of(metric, summary, from, &value))
			continue;
		line = line_of(series, entity, metric);
		if (!line || add_value(line, commit, value))
			return -ENOMEM;
	}
	return 0;
}

int series_add(struct series *series, unsigned commit, const struct summary *summary)
{
	for (unsigned i = 0; i < summary->entities; i++) {
		const struct summary_entity *entity = summary->entity[i];

		if (entity->is_startup || entity->is_other_clock ||
		    (series->only && fnmatch(series->only, entity->name, 0) != 0))
			continue;
		if (add_entity(series, commit, summary, entity))
			return -ENOMEM;
	}
	return 0;
}

/* ---- changes ---- */

/* A change must be as large as what `kymo diff` would call one, at least in its unit. */
static double least_of(const struct series *series, const struct line *line)
{
	const double base = metric_base(line->metric, metric_unlog(line->metric, line->value[0]));
	const double ratio = log1p(series->limit);
	const double least = log1p(line->metric->limit.least / fmax(base, 1e-9));

	return ratio > least ? ratio : least;
}

static int find_in(struct series *series, const struct line *line, struct point *point)
{
	const int points = points_find(line->value, line->count, least_of(series, line), point);

	if (points < 0)
		return points;
	series->searched += line->count >= POINTS_LEAST;
	for (int i = 0; i < points; i++) {
		if (!ARRAY_ROOM(series->change, series->changes, series->changes_size))
			return -ENOMEM;
		series->change[series->changes++] = (struct series_change){
			.kind = line->entity->kind,
			.name = line->entity->name,
			.of = line->entity->of,
			.label = line->entity->label,
			.metric = line->metric,
			.before_commit = line->commit[point[i].at - 1],
			.commit = line->commit[point[i].at],
			.before = metric_unlog(line->metric, point[i].before),
			.after = metric_unlog(line->metric, point[i].after),
			.p = point[i].p,
			.is_worse =
				(point[i].after > point[i].before) != line->metric->is_less_worse,
		};
	}
	return 0;
}

static double size_of(const struct series_change *change)
{
	return fabs(log(metric_base(change->metric, change->after) /
			metric_base(change->metric, change->before)));
}

static int by_commit(const void *left, const void *right)
{
	const struct series_change *a = left, *b = right;
	const double x = size_of(a), y = size_of(b);
	int order;

	if (a->commit != b->commit)
		return a->commit > b->commit ? -1 : 1;
	if (x != y)
		return x > y ? -1 : 1;
	order = strcmp(a->name, b->name);
	return order ? order : strcmp(a->metric->name, b->metric->name);
}

int series_find(struct series *series)
{
	struct point *point;
	unsigned most = 0;
	int status = 0;

	for (unsigned i = 0; i < series->count; i++)
		most = series->line[i]->count > most ? series->line[i]->count : most;
	point = calloc((size_t)most + 1, sizeof(*point));
	if (!point)
		return -ENOMEM;
	for (unsigned i = 0; i < series->count && !status; i++)
		status = find_in(series, series->line[i], point);
	free(point);
	if (!status && series->changes)
		qsort(series->change, series->changes, sizeof(*series->change), by_commit);
	return status;
}

const struct series_change *series_change(const struct series *series, unsigned at)
{
	return at < series->changes ? &series->change[at] : NULL;
}

unsigned series_metrics(const struct series *series, unsigned *searched)
{
	*searched = series->searched;
	return series->count;
}
