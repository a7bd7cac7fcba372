/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From budgets and runs to verdicts; see check.h.
 *
 * The idea: a budget that means several entities becomes a row for each. A row is judged in each
 * run alone: violated if the measured value is beyond the limit, kept if the confidence bound is
 * within it, too. Of entities that are alike but for their process, the worst one is judged:
 * processes have other numbers in each run. Then the runs are counted: `keep` of `of` runs have to
 * keep it, in proportion to the runs that were judged. A run with losses is not judged unless the
 * user asks for it.
 */
#include "check/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "check/bound.h"
#include "check/check_internal.h"

const char *check_verdict_name(enum check_verdict verdict)
{
	static const char *const name[CHECK_VERDICTS] = { "violated", "not known", "not judged",
							  "kept" };

	return name[verdict];
}

bool check_is_judged(const struct checking *c, unsigned at)
{
	return c->options->with_losses || !check_has_loss(c->run[at]);
}

/* ---- one run ---- */

/* Is @value beyond the limit? Then so are larger ones, or smaller ones. */
static bool is_beyond(const struct budget *budget, double value)
{
	switch (budget->op) {
	case BUDGET_AT_MOST:
		return value > budget->limit;
	case BUDGET_AT_LEAST:
		return value < budget->limit;
	case BUDGET_EQUAL:
		return value != budget->limit;
	case BUDGET_WITHIN: /* check_base.c judges it */
		break;
	}
	return false;
}

/* A glob need not match something in each run; a name has to. */
static bool is_glob(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

/* What one entity of a run has. */
struct measured {
	enum check_verdict verdict;
	const struct summary_entity *entity; /* NULL: the whole */
	double value, bound;
	uint64_t count;
};

static struct measured of_entity(const struct checking *c, const struct budget *budget,
				 const struct summary *summary,
				 const struct summary_entity *entity)
{
	struct measured m = { .entity = entity, .bound = NAN };

	m.value = check_measure(budget, summary, entity, &m.count);
	if (isnan(m.value) || budget->op == BUDGET_WITHIN) {
		m.verdict = CHECK_UNKNOWN;
		return m;
	}
	if (is_beyond(budget, m.value)) {
		m.verdict = CHECK_VIOLATED;
		return m;
	}
	m.verdict = CHECK_KEPT;
	if (budget->metric->unit != BUDGET_TIME || budget->how != BUDGET_QUANTILE)
		return m;
	m.bound = check_bound(budget, entity, c->budgets->confidence, budget->op == BUDGET_AT_MOST);
	if (isnan(m.bound) || is_beyond(budget, m.bound))
		m.verdict = CHECK_UNKNOWN;
	return m;
}

/* Is @value worse than @than? NAN: nothing was measured. */
static bool is_worse(const struct budget *budget, double value, double than)
{
	if (isnan(than) || isnan(value))
		return !isnan(value);
	return budget->op == BUDGET_AT_LEAST ? value < than : value > than;
}

/* Of several that are alike, the one that is farthest from keeping the budget. */
static struct measured of_run(const struct checking *c, struct check_row *row,
			      const struct summary *summary)
{
	const struct budget *budget = row->budget;
	struct measured worst = { .value = NAN, .bound = NAN }, one;
	const struct summary_entity *entity;
	unsigned at = 0, alike = 0;

	if (!row->entity)
		return of_entity(c, budget, summary, NULL);
	while ((entity = summary_next_alike(summary, row->entity, &at))) {
		if (!check_means(budget, entity))
			continue;
		one = of_entity(c, budget, summary, entity);
		if (!alike++ || one.verdict < worst.verdict ||
		    (one.verdict == worst.verdict && is_worse(budget, one.value, worst.value)))
			worst = one;
	}
	row->alike = alike > row->alike ? alike : row->alike;
	if (!alike) {
		(void)snprintf(row->why, sizeof(row->why), "it is missing in some of the runs");
		worst.verdict = is_glob(budget->name) ? CHECK_UNKNOWN : CHECK_VIOLATED;
	}
	return worst;
}

/* ---- one row ---- */

/* k of n runs, whatever their number is: 2 of 3 is 4 of 6. */
static enum check_verdict of_runs(const struct checking *c, const struct check_row *row)
{
	const unsigned kept = row->runs[CHECK_KEPT], violated = row->runs[CHECK_VIOLATED],
		       judged = kept + violated + row->runs[CHECK_UNKNOWN],
		       needed = (unsigned)(((uint64_t)judged * c->budgets->keep + c->budgets->of -
					    1) /
					   c->budgets->of);

	if (!judged)
		return CHECK_NOT_JUDGED;
	if (violated > judged - needed)
		return CHECK_VIOLATED;
	return kept >= needed ? CHECK_KEPT : CHECK_UNKNOWN;
}

static void say_why(const struct checking *c, struct check_row *row)
{
	const struct budget *budget = row->budget;
	const double q = budget->op == BUDGET_AT_LEAST ? 1 - budget->quantile : budget->quantile;

	if (row->verdict == CHECK_NOT_JUDGED)
		(void)snprintf(row->why, sizeof(row->why), "events were lost");
	else if (row->verdict == CHECK_UNKNOWN && !*row->why && isnan(row->value))
		(void)snprintf(row->why, sizeof(row->why), "nothing was measured");
	else if (row->verdict == CHECK_UNKNOWN && !*row->why && isnan(row->bound))
		(void)snprintf(row->why, sizeof(row->why),
			       "too few to be sure: at least %llu are needed",
			       (unsigned long long)bound_instances(q, c->budgets->confidence));
}

static int judge_row(struct checking *c, const struct budget *budget,
		     const struct summary_entity *entity)
{
	struct check *out = c->out;
	struct check_row row = { .budget = budget,
				 .entity = entity,
				 .value = NAN,
				 .bound = NAN,
				 .limit = budget->op == BUDGET_WITHIN ? NAN : budget->limit };
	const bool is_of_loss = !entity && strcmp(budget->metric->name, "events") == 0;

	for (unsigned i = 0; i < c->runs; i++) {
		struct measured m = { .verdict = CHECK_NOT_JUDGED };

		if (is_of_loss || check_is_judged(c, i)) {
			m = of_run(c, &row, c->run[i]);
			if (is_worse(budget, m.value, row.value)) {
				row.worst = m.entity;
				row.value = m.value;
				row.bound = m.bound;
				row.count = m.count;
			}
		}
		row.runs[m.verdict]++;
	}
	row.verdict = of_runs(c, &row);
	if (budget->op != BUDGET_WITHIN || row.verdict == CHECK_NOT_JUDGED)
		say_why(c, &row);
	return ARRAY_ADD(out->row, out->rows, out->capacity, row) ? 0 : -1;
}

/* ---- budgets about events ---- */

/* The worst of what was found about it in run @at. */
static const struct check_told *told_of(const struct checking *c, const struct budget *budget,
					unsigned at)
{
	const struct check_told *worst = NULL;

	for (unsigned i = 0; i < c->options->tolds; i++) {
		const struct check_told *told = &c->options->told[i];

		if (told->budget == budget && told->run == at &&
		    (!worst || told->verdict < worst->verdict))
			worst = told;
	}
	return worst;
}

static int judge_told(struct checking *c, const struct budget *budget)
{
	struct check *out = c->out;
	struct check_row row = { .budget = budget, .value = NAN, .bound = NAN, .limit = NAN };
	enum check_verdict worst = CHECK_VERDICTS;

	(void)snprintf(row.why, sizeof(row.why), "%s",
		       "events were lost, or there are none: a summary has no single events");
	for (unsigned i = 0; i < c->runs; i++) {
		const struct check_told *told =
			check_is_judged(c, i) ? told_of(c, budget, i) : NULL;

		row.runs[told ? told->verdict : CHECK_NOT_JUDGED]++;
		if (!told || told->verdict >= worst)
			continue;
		worst = told->verdict;
		row.count = told->count;
		memcpy(row.why, told->why, sizeof(row.why));
	}
	row.verdict = of_runs(c, &row);
	return ARRAY_ADD(out->row, out->rows, out->capacity, row) ? 0 : -1;
}

/* ---- one budget: all entities that it means ---- */

/* Is it the first of those that are alike, and that the budget means? */
static bool is_first(const struct checking *c, const struct budget *budget, unsigned run,
		     const struct summary_entity *entity)
{
	for (unsigned i = 0; i <= run; i++) {
		const struct summary_entity *one;
		unsigned at = 0;

		while ((one = summary_next_alike(c->run[i], entity, &at))) {
			if (one == entity)
				return true;
			if (check_means(budget, one))
				return false;
		}
	}
	return true;
}

static int missing(struct checking *c, const struct budget *budget)
{
	struct text_nearest nearest = { 0 };
	struct check *out = c->out;
	struct check_row row = { .budget = budget,
				 .verdict = CHECK_VIOLATED,
				 .value = NAN,
				 .bound = NAN,
				 .limit = NAN };

	for (unsigned r = 0; r < c->runs; r++)
		for (unsigned i = 0; i < c->run[r]->entities; i++)
			if (c->run[r]->entity[i]->kind == budget->metric->kind) {
				text_nearest_try(&nearest, budget->name,
						 c->run[r]->entity[i]->name);
				text_nearest_try(&nearest, budget->name,
						 c->run[r]->entity[i]->label);
			}
	row.runs[CHECK_VIOLATED] = c->runs;
	if (nearest.name)
		(void)snprintf(row.why, sizeof(row.why), "no run has it; did you mean '%.80s'?",
			       nearest.name);
	else
		(void)snprintf(row.why, sizeof(row.why), "no run has it");
	return ARRAY_ADD(out->row, out->rows, out->capacity, row) ? 0 : -1;
}

static int judge_budget(struct checking *c, const struct budget *budget)
{
	bool found = false;

	if (budget_is_told(budget))
		return judge_told(c, budget);
	if (budget->metric->kind == BUDGET_WHOLE)
		return judge_row(c, budget, NULL);
	for (unsigned r = 0; r < c->runs; r++)
		for (unsigned i = 0; i < c->run[r]->entities; i++) {
			const struct summary_entity *entity = c->run[r]->entity[i];

			if (!check_means(budget, entity))
				continue;
			found = true;
			if (is_first(c, budget, r, entity) && judge_row(c, budget, entity))
				return -1;
		}
	return found ? 0 : missing(c, budget);
}

/* ---- all of it ---- */

/* How far beyond the limit, as a ratio. */
static double excess(const struct check_row *row)
{
	if (isnan(row->value) || isnan(row->limit))
		return HUGE_VAL;
	if (row->budget->op == BUDGET_AT_LEAST)
		return row->value > 0 ? row->limit / row->value : HUGE_VAL;
	return row->limit > 0 ? row->value / row->limit : 1 + row->value;
}

static int by_harm(const void *left, const void *right)
{
	const struct check_row *a = left, *b = right;
	const double x = excess(a), y = excess(b);

	if (a->verdict != b->verdict)
		return (int)a->verdict - (int)b->verdict;
	if (x != y)
		return x < y ? 1 : -1;
	if (a->budget->line != b->budget->line)
		return a->budget->line < b->budget->line ? -1 : 1;
	return a->entity && b->entity ? strcmp(a->entity->name, b->entity->name) : 0;
}

int check_judge(struct check *check, const struct budgets *budgets,
		const struct summary *const *run, unsigned runs, const struct summary *const *base,
		unsigned bases, const struct check_options *options, struct kymo_err *err)
{
	struct checking c = { budgets, options, run, base, runs, bases, check };
	int status = 0;

	*check = (struct check){ .runs = runs };
	for (unsigned i = 0; i < runs; i++)
		check->runs_with_loss += check_has_loss(run[i]);
	for (unsigned i = 0; i < budgets->count && !status; i++)
		status = judge_budget(&c, &budgets->budget[i]);
	if (!status)
		status = check_against_base(&c);
	if (status) {
		check_free(check);
		return err_no_memory(err);
	}
	for (unsigned i = 0; i < check->rows; i++)
		check->count[check->row[i].verdict]++;
	if (check->rows)
		qsort(check->row, check->rows, sizeof(*check->row), by_harm);
	return 0;
}

void check_free(struct check *check)
{
	free(check->row);
	*check = (struct check){ 0 };
}
