/* SPDX-License-Identifier: Apache-2.0 */
/* The part of `kymo export` that writes the dependency graph: dot, and SVG through graphviz. */
#ifndef KYMO_CLI_EXPORT_GRAPH_H
#define KYMO_CLI_EXPORT_GRAPH_H

#include <stdbool.h>

#include "cli/input/input_traces.h"
#include "base/err.h"
#include "base/selection.h"

struct export_graph {
	bool svg;
	const struct cli_traces *traces;
	const char *name;		/* of the trace, for title and output */
	const char *output;		/* NULL: made of the name; "-": standard output */
	const struct selection *selection;
	const char *begin, *end;	/* as on the command line; NULL: none */
	int clock;			/* enum cli_clock */
	bool all, force, quiet;
};

/**
 * export_graph() - write what @request says, with a summary on stderr
 * @lost: set to whether events were lost while recording
 *
 * Return: 0, or -1 with @err filled; then nothing incomplete is left behind.
 */
int export_graph(const struct export_graph *request, bool *lost, struct kymo_err *err);

#endif
