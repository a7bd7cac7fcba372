/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of a store from commit to commit, and where they changed for good. */
#ifndef KYMO_CLI_STORE_CHANGES_H
#define KYMO_CLI_STORE_CHANGES_H

#include "base/err.h"
#include "cli/verbs/store/store_dir.h"

struct store_changes {
	const struct store_dir *store;
	double limit;     /* a smaller change is none: 0.05 */
	const char *only; /* glob of names; NULL: all */
	unsigned most;    /* changes to print; 0: all */
	int format;       /* enum table_format */
};

/**
 * store_changes() - read all summaries, find the changes, and print them
 *
 * Context: blocks. Return: the exit status; -1 with @err.
 */
int store_changes(const struct store_changes *changes, struct kymo_err *err);

#endif
