/* SPDX-License-Identifier: Apache-2.0 */
/* What verbs that print a report ask besides the trace: the recorder's accounts, and `kymo why`. */
#ifndef KYMO_CLI_INPUT_REPORT_TOLD_H
#define KYMO_CLI_INPUT_REPORT_TOLD_H

#include "accounts/accounts.h"
#include "cli/input/answer.h"
#include "cli/input/fired.h"
#include "report/report.h"

/**
 * report_told() - what the recorder of the trace @path counted, into @report
 * @quiet: do not warn on stderr
 * @accounts: filled; must stay valid as long as @report; accounts_free() frees it
 *
 * Context: allocates, blocks.
 */
void report_told(const char *path, struct accounts *accounts, struct report_options *report,
		 bool quiet);

/**
 * report_told_fired() - for the page of a snapshot: the instance that fired, into @report
 * @fired: keeps its name, as long as @report
 */
void report_told_fired(const struct accounts *accounts, struct fired *fired,
		       struct report_options *report);

/* For report_options.explain_context. */
struct report_explainer {
	struct answer *answer;
	const struct report_options *report;
};

/** report_explain() - for report_options.explain. Context: allocates, blocks. */
int report_explain(void *context, const char *ask, char *text, size_t size, struct kymo_err *err);

#endif
