/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by check.c (the runs) and check_base.c (the base line). Context: as check.h. */
#ifndef KYMO_CHECK_INTERNAL_H
#define KYMO_CHECK_INTERNAL_H

#include "check/check.h"

struct checking {
	const struct budgets *budgets;
	const struct check_options *options;
	const struct summary *const *run, *const *base;
	unsigned runs, bases;
	struct check *out;
};

/** check_is_judged() - may run @at be judged? */
bool check_is_judged(const struct checking *c, unsigned at);

/** check_against_base() - judge the rows whose budget is relative. Return: 0; -ENOMEM. */
int check_against_base(struct checking *c);

#endif
