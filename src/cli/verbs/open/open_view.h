/* SPDX-License-Identifier: Apache-2.0 */
/* Where a viewer opens a trace: a window of time, and the tracks that belong to it. */
#ifndef KYMO_CLI_VERBS_OPEN_VIEW_H
#define KYMO_CLI_VERBS_OPEN_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define OPEN_PINS_MAX 4
#define OPEN_PIN_MAX 4096

struct open_view {
	bool has_window;
	int64_t begin_ns, end_ns;	/* of the clock of a Perfetto file */
	unsigned pins;
	/* regular expressions of JavaScript for the names of tracks */
	char pin[OPEN_PINS_MAX][OPEN_PIN_MAX];
	char what[1024];		/* a sentence about what is there; "": nothing in particular */
};

/**
 * open_view() - the worst instance in @trace, or @at
 * @trace: a directory with a trace
 * @at: a point in time, as cli_read_point() reads it; NULL: the worst instance of the first
 *      finding, else of what is slowest, else nothing
 *
 * Reads the trace once if @at is NULL, with progress on stderr if not @quiet. Return: 0; -1 with
 * @err. Context: allocates, blocks.
 */
int open_view(const char *trace, const char *at, bool quiet, struct open_view *view,
	      struct kymo_err *err);

#endif
