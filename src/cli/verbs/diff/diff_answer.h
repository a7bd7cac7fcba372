/* SPDX-License-Identifier: Apache-2.0 */
/* From the runs of two sides to what `kymo diff` and `kymo bench` print, and their exit status. */
#ifndef KYMO_CLI_DIFF_ANSWER_H
#define KYMO_CLI_DIFF_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/opt.h"
#include "cli/verbs/diff/diff_runs.h"
#include "compare/ci.h"
#include "compare/compare.h"
#include "compare/rename.h"

enum diff_format { DIFF_TEXT, DIFF_JSON, DIFF_CSV, DIFF_JUNIT };

struct diff_options {
	int format; /* enum diff_format */
	bool paired, all, require, with_losses, anyway, values;
	int annotate; /* enum ci_service */
	const char *junit;
	bool html;
	uint64_t limit; /* percent; 0: those of the metrics */
	const char *only;
	struct opt_list rename;
};

/* Each verb says where its page goes: #define DIFF_HTML_HELP "..."
 * Option rows that both verbs have; the struct of the verb has a member struct diff_options diff.
 */
#define DIFF_OPTS(type)                                                                           \
	{ "format",                                                                               \
	  'f',                                                                                    \
	  OPT_CHOICE,                                                                             \
	  offsetof(type, diff.format),                                                            \
	  NULL,                                                                                   \
	  "how to print",                                                                         \
	  "table|json|csv|junit" },                                                               \
		{ "junit",  'j',                                                                  \
		  OPT_TEXT, offsetof(type, diff.junit),                                           \
		  "FILE",   "also write the verdicts as JUnit XML",                               \
		  NULL },                                                                         \
		{ "html", 0, OPT_FLAG, offsetof(type, diff.html), NULL, DIFF_HTML_HELP, NULL },   \
		{ "annotate",                                                                     \
		  0,                                                                              \
		  OPT_CHOICE,                                                                     \
		  offsetof(type, diff.annotate),                                                  \
		  NULL,                                                                           \
		  "also annotate what is worse: github prints annotations, gitlab writes the "    \
		  "report " CI_GITLAB_FILE,                                                       \
		  CI_CHOICES },                                                                   \
		{ "limit",                                                                        \
		  'l',                                                                            \
		  OPT_U64,                                                                        \
		  offsetof(type, diff.limit),                                                     \
		  "PERCENT",                                                                      \
		  "how much a time or a rate may change (default: p2 5, p50 10, p90 15, p99 20, " \
		  "rates 10)",                                                                    \
		  NULL },                                                                         \
		{ "only",   0,                                                                    \
		  OPT_TEXT, offsetof(type, diff.only),                                            \
		  "GLOB",   "only entities whose name matches",                                   \
		  NULL },                                                                         \
		{ "rename",                                                                       \
		  0,                                                                              \
		  OPT_LIST,                                                                       \
		  offsetof(type, diff.rename),                                                    \
		  "OLD=NEW",                                                                      \
		  "what the base runs call OLD is NEW in the new ones: a node, a "                \
		  "topic, a timer, a whole name; may be given several times",                     \
		  NULL },                                                                         \
		{ "require", 'r',                                                                 \
		  OPT_FLAG,  offsetof(type, diff.require),                                        \
		  NULL,      "exit with 6 if a metric is not known yet",                          \
		  NULL },                                                                         \
		{ "values",                                                                       \
		  0,                                                                              \
		  OPT_FLAG,                                                                       \
		  offsetof(type, diff.values),                                                    \
		  NULL,                                                                           \
		  "with --format json: also the value of each run, and the "                      \
		  "distributions of both sides, for plots",                                       \
		  NULL },                                                                         \
		{ "with-losses", 0,                                                               \
		  OPT_FLAG,      offsetof(type, diff.with_losses),                                \
		  NULL,          "also judge runs in which events were lost",                     \
		  NULL },                                                                         \
	{                                                                                         \
		"all", 'a', OPT_FLAG, offsetof(type, diff.all), NULL,                             \
			"show all entities, not five of a kind", NULL                             \
	}

struct diff {
	const char *verb;
	struct diff_options options;
	struct diff_runs base, new;
	double alarm, error; /* of this look, for struct change_design; 0: the usual ones */
	struct compare_options compare; /* set by diff_compare() */
	struct compare_renames renames;
	unsigned renamed; /* the first of the base runs */
	char base_name[64], new_name[64];
	const char *page;   /* --html: the file to write */
	char command[1024]; /* that was typed, for the page */
	struct compare_left_out left_out[2 * COMPARE_RUNS_MAX]; /* set by diff_print() */
};

/** diff_check_options() - do the options go together? Return: 0; -1 with @err. */
int diff_check_options(const struct diff_options *options, struct kymo_err *err);

/**
 * diff_compare() - read the runs that were not read yet, and compare the sides
 *
 * Context: blocks; shows progress on stderr. Return: 0, or -1 with @err.
 */
int diff_compare(struct diff *diff, struct comparison *comparison, struct kymo_err *err);

/** diff_print() - print the answer, and write the page. Return: the exit status, or -1 with @err.
 */
int diff_print(struct diff *diff, const struct comparison *comparison, struct kymo_err *err);

#endif
