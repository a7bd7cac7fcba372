/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What check_judge() found, for people, for programs, and for CI services; and a first file of
 * budgets.
 *
 * Context of all functions: not thread-safe; they write to @out and block as it does.
 */
#ifndef KYMO_CHECK_CHECK_PRINT_H
#define KYMO_CHECK_CHECK_PRINT_H

#include <stdio.h>

#include "base/table/table.h"
#include "check/check.h"
#include "compare/ci.h"

/** check_print_text() - what is not kept, worst first, and how many are; @all: also what is kept.
 */
void check_print_text(FILE *out, const struct check *check, const struct budgets *budgets,
		      bool all);

/** check_print_table() - all rows, for JSON and CSV. */
void check_print_table(struct table *table, const struct check *check,
		       const struct budgets *budgets);

/** check_cases() - all rows, as tests: violated failed; not known and not judged were skipped. */
void check_cases(struct ci_suite *suite, const struct check *check);

/**
 * check_init() - write a file of budgets that all runs keep, with what was measured as comments
 * @run: [runs] summaries, at least one
 * @name: of the runs, for the comment at the top
 *
 * A time may take half as long again, a rate may be a tenth lower. What has too few instances for a
 * bound of its p99 has a budget of p90 or p50. Return: how many budgets.
 */
unsigned check_init(FILE *out, const struct summary *const *run, unsigned runs, const char *name);

#endif
