/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do the runs keep their budgets?
 *
 *   budgets_read(&budgets, "budgets.yaml", &err);
 *   check_judge(&check, &budgets, run, runs, base, bases, &options, &err);
 *   ... check.row[0] is the worst one ...
 *   check_free(&check);
 *
 * Violated is a fact: the value that a run had is beyond its limit. Kept is a promise: of a
 * quantile, its upper confidence bound must be within the limit too, so that a few lucky instances
 * keep nothing. What is neither is not known. What is relative to a base line is judged as `kymo
 * diff` judges it.
 *
 * Context of all functions: not thread-safe; they allocate and do not block.
 */
#ifndef KYMO_CHECK_CHECK_H
#define KYMO_CHECK_CHECK_H

#include "base/err.h"
#include "check/budget.h"
#include "summary/summary.h"

enum check_verdict {
	CHECK_VIOLATED,
	CHECK_UNKNOWN,
	CHECK_NOT_JUDGED, /* events were lost in all runs */
	CHECK_KEPT,
	CHECK_VERDICTS
};

/* One budget of one entity, or of all that are alike but for their process: each has to keep it. */
struct check_row {
	const struct budget *budget;
	const struct summary_entity *entity; /* of one of the runs; NULL: of none, or the whole */
	const struct summary_entity *worst;  /* of which the values below are; NULL: of @entity */
	unsigned alike; /* how many they are, in the run that has most; 0: there is no entity */
	enum check_verdict verdict;
	double value;   /* of the worst run, in the unit of the budget's limit; NAN: not measured */
	double bound;   /* of the same run: what the quantile is surely within; NAN: none */
	double limit;   /* the budget's; WITHIN: NAN */
	uint64_t count; /* instances of that run */
	unsigned runs[CHECK_VERDICTS]; /* how many runs kept it, ... */
	char why[160];                 /* a sentence without its full stop; "": nothing to add */
};

struct check {
	struct check_row *row; /* worst first */
	unsigned rows, capacity;
	unsigned count[CHECK_VERDICTS];
	unsigned runs, runs_with_loss;
};

/* What reading the trace of a run found about a budget that is about events. */
struct check_told {
	const struct budget *budget;
	unsigned run;
	enum check_verdict verdict;
	uint64_t count; /* of instances */
	char why[160];
};

struct check_options {
	bool with_losses; /* also judge runs in which events were lost */
	const struct check_told *told; /* a run without one of a budget is not judged */
	unsigned tolds;
};

/**
 * check_judge() - judge all budgets
 * @run: [runs] summaries, at least one; they must stay valid as long as @check
 * @base: [bases] those of the base line
 *
 * Return: 0; -1 with @err.
 */
int check_judge(struct check *check, const struct budgets *budgets,
		const struct summary *const *run, unsigned runs, const struct summary *const *base,
		unsigned bases, const struct check_options *options, struct kymo_err *err);
void check_free(struct check *check);

/** check_verdict_name() - "violated", "not known", "not judged", "kept". */
const char *check_verdict_name(enum check_verdict verdict);

/** check_has_loss() - do events of @summary miss, so that its numbers may be wrong? */
bool check_has_loss(const struct summary *summary);

/**
 * check_measure() - the value of @budget's metric in one run
 * @entity: NULL: the whole
 * @count: set to the instances it is of
 *
 * Return: in the unit of the budget's limit; NAN: nothing was measured.
 */
double check_measure(const struct budget *budget, const struct summary *summary,
		     const struct summary_entity *entity, uint64_t *count);

/**
 * check_bound() - of a quantile, what it is surely within
 * @entity: NULL: the whole, which has no quantiles
 * @confidence: 0.5 or more, below 1
 *
 * Return: ns; NAN: too few instances, or the budget is about no quantile.
 */
double check_bound(const struct budget *budget, const struct summary_entity *entity,
		   double confidence, bool is_upper);

/** check_means() - is @entity one that @budget is about? Entities of start-up only by their name or
 * label, not by a glob or by steps. */
bool check_means(const struct budget *budget, const struct summary_entity *entity);

#endif
