/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a change to a verdict; see verdict.h.
 *
 * All comparisons are of logarithms of ratios. A limit has two parts, a ratio and a least amount
 * in the unit of the metric; the larger one counts (verdict_most). The interval decides: below the
 * limit as a whole, above it as a whole, or neither. q only has to agree with "worse" and
 * "better". A count that does not depend on the machine is judged by its estimate if there is one
 * run a side.
 *
 * verdict_is_chance() is the conditional test of two rates of Przyborowski and Wilenski 1940:
 * given how often something happened on both sides together, the number on the new side is
 * binomial.
 */
#include "compare/verdict.h"

#include <math.h>

/* So many runs a side have bounds, and so few pairs: below, no rearrangement is rare enough. */
#define RUNS_MIN 4u
#define PAIRS_MIN 6u
#define CHANCE 0.001
#define GROWN_LEAST 0.5 /* of something that happens in a run */

/*
 * The width of an interval shrinks with the root of the number of runs. It has to become as short
 * as the estimate is away from the nearest limit that it would cross.
 */
static unsigned runs_needed(const struct change_design *design, const struct change *change,
			    double limit)
{
	const unsigned least = design->paired ? PAIRS_MIN : RUNS_MIN;
	const unsigned runs = design->bases < design->news ? design->bases : design->news;
	const double distance = fabs(fabs(change->estimate) - limit);
	double half = change->estimate > limit || change->estimate < 0
			      ? change->estimate - change->low
			      : change->high - change->estimate;
	double needed;

	if (!isfinite(half))
		return least;
	if (distance <= 0)
		return 0;
	needed = ceil(runs * (half / distance) * (half / distance)) + 1;
	if (needed < runs + 1)
		needed = runs + 1;
	return needed <= VERDICT_RUNS_MAX ? (unsigned)needed : 0;
}

double verdict_most(double base, const struct verdict_limit *limit)
{
	const double ratio = log1p(limit->ratio), least = log1p(limit->least / base);

	return ratio > least ? ratio : least;
}

struct verdict_of verdict(const struct change_design *design, const struct change *change,
			  double base, const struct verdict_limit *limit)
{
	const double most = verdict_most(base, limit);
	struct verdict_of of = { .verdict = VERDICT_UNKNOWN };

	if (limit->is_count && design->bases == 1 && design->news == 1 &&
	    !(limit->is_by_chance && change->estimate > most))
		of.verdict = change->estimate > most ? VERDICT_WORSE : VERDICT_NOT_WORSE;
	else if (change->low > most && change->q_up <= change_alarm(design))
		of.verdict = VERDICT_WORSE;
	else if (change->high < -most && change->q_down <= change_alarm(design))
		of.verdict = VERDICT_BETTER;
	else if (change->high <= most)
		of.verdict = VERDICT_NOT_WORSE;
	if (of.verdict != VERDICT_UNKNOWN)
		return of;
	of.is_suspect = change->estimate > most;
	of.runs = runs_needed(design, change, most);
	return of;
}

/*
 * If what happens follows no rule, each of all cases had the same chance to be on the new side: a
 * binomial distribution. What does follow a rule, such as one message for each run, varies less, so
 * this is on the safe side.
 */
bool verdict_is_chance(uint64_t base_count, uint64_t base_runs, uint64_t new_count,
		       uint64_t new_runs)
{
	const double n = (double)base_count + (double)new_count;
	const double share = (double)new_runs / ((double)base_runs + (double)new_runs);
	double k = (double)new_count, term, sum = 0;

	if (!base_runs || !new_runs || k <= n * share ||
	    k / (double)new_runs - (double)base_count / (double)base_runs < GROWN_LEAST)
		return true;
	term = exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(share) +
		   (n - k) * log1p(-share));
	for (; k <= n && term > 1e-12 * sum; k++) {
		sum += term;
		term *= (n - k) / (k + 1) * share / (1 - share);
	}
	return sum > CHANCE;
}

const char *verdict_name(enum verdict verdict)
{
	static const char *const name[VERDICTS] = { "worse", "not known", "better", "not worse" };

	return name[verdict];
}
