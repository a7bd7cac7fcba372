/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a change to a verdict. "Worse" is said only of what is worse by more than a limit that was
 * set before, and that the runs prove; "not worse" only if the runs prove that too. Everything else
 * is not known yet.
 *
 * Context of all functions: wait-free.
 */
#ifndef KYMO_COMPARE_VERDICT_H
#define KYMO_COMPARE_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "compare/change.h"

enum verdict {
	VERDICT_WORSE, /* the lower bound is beyond the limit, and q <= CHANGE_ALARM */
	VERDICT_UNKNOWN,
	VERDICT_BETTER, /* the upper bound is beyond the limit downwards, and q <= CHANGE_ALARM */
	VERDICT_NOT_WORSE, /* the upper bound is within the limit */
	VERDICTS
};

/* By how much a metric may grow. */
struct verdict_limit {
	double ratio;  /* 0.1: by a tenth */
	double least;  /* and by at least so much, in the unit of the metric */
	bool is_count; /* it does not depend on the machine: one run a side is enough */
	bool is_by_chance; /* ... but not here: chance explains it (verdict_is_chance) */
};

struct verdict_of {
	enum verdict verdict;
	bool is_suspect; /* UNKNOWN, and the estimate is beyond the limit */
	/* UNKNOWN: about so many runs a side would show it if the estimate stays; 0: not within
	 * VERDICT_RUNS_MAX */
	unsigned runs;
};

#define VERDICT_RUNS_MAX 100u

/**
 * verdict() - judge one metric
 * @base: what it is on the base side, in its unit, > 0
 */
struct verdict_of verdict(const struct change_design *design, const struct change *change,
			  double base, const struct verdict_limit *limit);

/** verdict_most() - the logarithm of the ratio by which what is @base may grow within @limit. */
double verdict_most(double base, const struct verdict_limit *limit);

/**
 * verdict_is_chance() - one run a side: does chance explain that something happened @new_count
 * times in @new_runs, after @base_count in @base_runs? At one in a thousand it does not, if it
 * also happens half a time more often in each run: what a program does in each run is no chance.
 */
bool verdict_is_chance(uint64_t base_count, uint64_t base_runs, uint64_t new_count,
		       uint64_t new_runs);

/** verdict_name() - "worse", "not known", "better", "not worse". */
const char *verdict_name(enum verdict verdict);

#endif
