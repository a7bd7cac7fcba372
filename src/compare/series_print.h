/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The changes of a series of commits, for people and for programs.
 *
 * Context of all functions: not thread-safe; they write to @out and block as it does.
 */
#ifndef KYMO_COMPARE_SERIES_PRINT_H
#define KYMO_COMPARE_SERIES_PRINT_H

#include <stdio.h>

#include "base/table/table.h"
#include "compare/series.h"

struct series_print {
	const char *const *commit; /* names, oldest first */
	unsigned commits;
	unsigned most;     /* changes to show; 0: all */
	unsigned left_out; /* runs in which events were lost */
};

/** series_print_text() - at most 80 columns unless a name is longer. */
void series_print_text(FILE *out, const struct series *series, const struct series_print *print);

/** series_print_table() - all changes, in the section changes; for JSON and CSV. */
void series_print_table(struct table *table, const struct series *series,
			const struct series_print *print);

#endif
