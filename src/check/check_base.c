/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets relative to a base line: `duration p50 within 10 %`. They are judged as `kymo diff`
 * judges two sides of runs, all together, each with the limit of its budget.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check_internal.h"
#include "compare/change.h"
#include "compare/metrics.h"
#include "compare/verdict.h"

static struct metric metric_for(const struct budget *budget)
{
	const struct budget_metric *from = budget->metric;
	struct metric metric = { .kind = from->kind,
				 .name = from->name,
				 .unit = COMPARE_NS,
				 .of = from->of,
				 .quantile = budget->quantile,
				 .limit = { .ratio = budget->limit } };

	if (from->unit == BUDGET_RATE) {
		metric.unit = COMPARE_PER_SECOND;
		metric.is_less_worse = true;
		metric.count = from->count;
	} else if (from->unit == BUDGET_COUNT) {
		metric.unit = COMPARE_SHARE;
		metric.count = from->all;
		metric.other = from->count;
		metric.limit.is_count = true;
	}
	return metric;
}

struct relative {
	struct checking *c;
	const struct summary **side; /* the base line, then the runs that are judged */
	struct summary **folded; /* of these, copies in which those that are alike are one */
	struct change_design design;
	struct check_row **row;
	double **value;
	unsigned rows;
};

static void not_known(struct check_row *row, const char *why)
{
	row->verdict = CHECK_UNKNOWN;
	(void)snprintf(row->why, sizeof(row->why), "%s", why);
}

/* The values of all runs of both sides. Return: 1: @row can be compared; 0: not; -ENOMEM. */
static int take_values(struct relative *r, struct check_row *row)
{
	const struct metric metric = metric_for(row->budget);
	const unsigned runs = r->design.bases + r->design.news;
	double *value = calloc(runs, sizeof(*value));

	if (!value)
		return -ENOMEM;
	for (unsigned i = 0; i < runs; i++) {
		unsigned at = 0;
		const struct summary_entity *entity =
			summary_next_alike(r->side[i], row->entity, &at);

		if (entity && metric_of(&metric, r->side[i], entity, &value[i])) {
			value[i] = metric.is_less_worse ? -value[i] : value[i];
			continue;
		}
		free(value);
		not_known(row, entity                ? "too few instances to compare"
			       : i < r->design.bases ? "the base line does not have it"
						     : "it is missing in some of the runs");
		return 0;
	}
	r->value[r->rows] = value;
	r->row[r->rows++] = row;
	return 1;
}

static void judge(struct relative *r, unsigned at, const struct change *change)
{
	struct check_row *row = r->row[at];
	const struct metric metric = metric_for(row->budget);
	double base = 0;
	struct verdict_of of;

	for (unsigned i = 0; i < r->design.bases; i++)
		base += r->value[at][i] / r->design.bases;
	base = metric_unlog(&metric, metric.is_less_worse ? -base : base);
	of = verdict(&r->design, change, metric_base(&metric, base), &metric.limit);
	row->verdict = of.verdict == VERDICT_WORSE     ? CHECK_VIOLATED
		       : of.verdict == VERDICT_UNKNOWN ? CHECK_UNKNOWN
						       : CHECK_KEPT;
	(void)snprintf(row->why, sizeof(row->why), "%+.1f %% against the base line",
		       100 * expm1(metric.is_less_worse ? -change->estimate : change->estimate));
	if (of.verdict == VERDICT_UNKNOWN && of.runs)
		(void)snprintf(row->why + strlen(row->why), sizeof(row->why) - strlen(row->why),
			       "; about %u runs a side would show it", of.runs);
}

static int judge_all(struct relative *r)
{
	struct check *out = r->c->out;
	struct change *change;
	int status = 0;

	for (unsigned i = 0; i < out->rows && status >= 0; i++)
		if (out->row[i].budget->op == BUDGET_WITHIN && out->row[i].entity &&
		    out->row[i].verdict != CHECK_NOT_JUDGED)
			status = take_values(r, &out->row[i]);
	change = calloc(r->rows + 1, sizeof(*change));
	if (!change || status < 0 ||
	    change_judge(&r->design, (const double *const *)r->value, r->rows, change))
		status = -ENOMEM;
	for (unsigned i = 0; i < r->rows && status >= 0; i++)
		judge(r, i, &change[i]);
	free(change);
	return status < 0 ? status : 0;
}

static int add_side(struct relative *r, const struct summary *summary, unsigned *count)
{
	const unsigned at = r->design.bases + r->design.news;

	if (summary_has_alike(summary)) {
		r->folded[at] = summary_folded(summary);
		if (!r->folded[at])
			return -ENOMEM;
		summary = r->folded[at];
	}
	r->side[at] = summary;
	++*count;
	return 0;
}

static int judge_sides(struct relative *r)
{
	const struct checking *c = r->c;
	int status = 0;

	for (unsigned i = 0; i < c->bases && !status; i++)
		status = add_side(r, c->base[i], &r->design.bases);
	for (unsigned i = 0; i < c->runs && !status; i++)
		if (check_is_judged(c, i))
			status = add_side(r, c->run[i], &r->design.news);
	return !status && r->design.bases && r->design.news ? judge_all(r) : status;
}

int check_against_base(struct checking *c)
{
	struct relative r = { .c = c };
	int status = -ENOMEM;

	r.side = calloc(c->bases + c->runs, sizeof(*r.side));
	r.folded = calloc(c->bases + c->runs, sizeof(*r.folded));
	r.row = calloc(c->out->rows + 1, sizeof(*r.row));
	r.value = calloc(c->out->rows + 1, sizeof(*r.value));
	if (r.side && r.folded && r.row && r.value)
		status = judge_sides(&r);
	for (unsigned i = 0; i < r.rows; i++)
		free(r.value[i]);
	for (unsigned i = 0; r.folded && i < c->bases + c->runs; i++)
		summary_free(r.folded[i]);
	free(r.folded);
	free(r.value);
	free(r.row);
	free(r.side);
	return status;
}
