/* SPDX-License-Identifier: Apache-2.0 */
/* What verbs that print a report ask besides the trace: the recorder's accounts, and `kymo why`. */
#ifndef KYMO_CLI_INPUT_REPORT_TOLD_H
#define KYMO_CLI_INPUT_REPORT_TOLD_H

#include "accounts/accounts.h"
#include "cli/input/answer.h"
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

/* For report_options.explain_context. */
struct report_explainer {
	struct answer *answer;
	const struct report_options *report;
};

/** report_explain() - for report_options.explain. Context: allocates, blocks. */
int report_explain(void *context, const char *ask, char *text, size_t size, struct kymo_err *err);

#endif
