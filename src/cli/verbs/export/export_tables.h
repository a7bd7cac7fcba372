/* SPDX-License-Identifier: Apache-2.0 */
/* The part of `kymo export` that writes tables: SQLite, CSV, JSON Lines. */
#ifndef KYMO_CLI_EXPORT_TABLES_H
#define KYMO_CLI_EXPORT_TABLES_H

#include <stdbool.h>

#include "cli/input/input_traces.h"
#include "base/err.h"
#include "base/opt.h"
#include "base/selection.h"

enum tables_format { TABLES_SQLITE, TABLES_CSV, TABLES_JSON };

struct export_tables {
	enum tables_format format;
	const struct cli_traces *traces;
	const char *name;		/* of the trace, for the name of the output */
	const char *output;		/* NULL: made of the name; "-": standard output */
	const struct opt_list *table;	/* none: all but events */
	const char *begin, *end;	/* as on the command line; NULL: none */
	int clock;			/* enum cli_clock */
	const struct selection *selection;
	bool force, quiet;
};

/**
 * export_tables() - write what @request says, with progress and a summary on stderr
 * @lost: set to whether events were lost while recording
 *
 * Return: 0, or -1 with @err filled; then nothing incomplete is left behind.
 */
int export_tables(const struct export_tables *request, bool *lost, struct kymo_err *err);

#endif
