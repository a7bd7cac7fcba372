/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets about events: what must be real-time, and lists of expectations as caret_report has them.
 * A summary has no events, so the report reads the traces of the runs once more.
 */
#ifndef KYMO_CLI_CHECK_EVENTS_H
#define KYMO_CLI_CHECK_EVENTS_H

#include "base/err.h"
#include "base/opt.h"
#include "check/check.h"
#include "cli/input/report_paths.h"
#include "cli/verbs/diff/diff_runs.h"

struct check_events {
	struct expectations *expect; /* NULL: no list was read */
	struct report_paths paths;
	struct check_told *told;
	unsigned tolds, tolds_size;
};

/** check_events_is_list() - is the file @path a list of expectations rather than YAML? Context:
 * blocks. */
bool check_events_is_list(const char *path);

/**
 * check_events_read_list() - each line of the list @path becomes a budget
 * @architecture, @path_list: as for report_paths_read()
 *
 * Context: blocks. Return: 0; -1 with @err.
 */
int check_events_read_list(struct check_events *events, struct budgets *budgets, const char *path,
			   const char *architecture, const struct opt_list *path_list,
			   struct kymo_err *err);

/**
 * check_events_judge() - read the traces of @runs if a budget is about events
 *
 * Context: blocks; shows progress on stderr. Return: 0, and @events->told is set; -1 with @err.
 */
int check_events_judge(struct check_events *events, const struct budgets *budgets,
		       const struct diff_runs *runs, struct kymo_err *err);
void check_events_free(struct check_events *events);

#endif
