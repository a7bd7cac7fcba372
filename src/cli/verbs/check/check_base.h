/* SPDX-License-Identifier: Apache-2.0 */
/* The base line of a file of budgets. */
#ifndef KYMO_CLI_CHECK_BASE_H
#define KYMO_CLI_CHECK_BASE_H

#include <stdbool.h>

#include "base/err.h"
#include "check/budget.h"
#include "cli/verbs/diff/diff_runs.h"

/**
 * check_base_read() - read the runs of the base line, if a budget needs one
 * @base: empty; to be freed, also after an error
 * @given: instead of those that the file names; NULL: none
 *
 * Context: blocks; shows progress on stderr. Return: 1: it was read; 0: no budget needs one; -1
 * with @err.
 */
int check_base_read(struct diff_runs *base, const struct budgets *budgets, const char *given,
		    bool with_losses, struct kymo_err *err);

#endif
