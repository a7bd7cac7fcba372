/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo report` of files of summaries, instead of traces. */
#ifndef KYMO_CLI_REPORT_SUMMARY_H
#define KYMO_CLI_REPORT_SUMMARY_H

#include <stdbool.h>

#include "base/err.h"

struct report_judge;

/* How `kymo report` prints: enum table_format, and this one. */
#define REPORT_FORMAT_SUMMARY 3

/** report_summary_named() - are the operands, at least one, files of summaries? Context: blocks. */
bool report_summary_named(int argc, char **argv);

/**
 * report_summary() - merge the files, and print them in @format, or write them to @output
 * @output: with REPORT_FORMAT_SUMMARY
 * @lost: set to whether they say that events were lost
 *
 * Return: KYMO_EXIT_OK; KYMO_EXIT_EMPTY: they have nothing to show, which was said; -1 with @err.
 */
int report_summary(int argc, char **argv, int format, const char *output, bool *lost,
		   struct kymo_err *err);

/**
 * report_summary_page() - merge the files, and write their page to @output; NULL: the first one's
 * name with .html
 * @command: that was typed
 * @judge: of budgets; NULL: none
 *
 * Return: as report_summary().
 */
int report_summary_page(int argc, char **argv, const char *output, const char *command,
			const struct report_judge *judge, bool *lost, struct kymo_err *err);

#endif
