/* SPDX-License-Identifier: Apache-2.0 */
/* What verbs that print a report ask besides the trace: the recorder's accounts, and `kymo why`. */
#ifndef KYMO_CLI_INPUT_REPORT_TOLD_H
#define KYMO_CLI_INPUT_REPORT_TOLD_H

#include "accounts/accounts.h"
#include "cli/input/answer.h"
#include "cli/input/fired.h"
#include "report/report.h"
#include "report/why/report_why.h"

/**
 * report_told() - what the recorder of the trace @path counted, and how it ended, into @report
 * @quiet: do not warn on stderr
 * @accounts: filled; must stay valid as long as @report; accounts_free() frees it
 *
 * Context: allocates, blocks.
 */
void report_told(const char *path, const struct kymo_ctf_reader *reader, struct accounts *accounts,
		 struct report_options *report, bool quiet);

/* What fired, for report_options.told_fired. */
struct report_told_fired {
	struct fired fired;
	struct why_said said;
	struct report_fired told;
};

/**
 * report_told_fired() - for the page of a snapshot: what `kymo why --at trigger` says, into @report
 * @told: must stay valid as long as @report
 *
 * Context: allocates, blocks. Return: 0, or -1 with @err.
 */
int report_told_fired(const struct accounts *accounts, struct answer *answer,
		      struct report_told_fired *told, struct report_options *report,
		      struct kymo_err *err);

/* For report_options.explain_context. */
struct report_explainer {
	struct answer *answer;
	const struct report_options *report;
};

/** report_explain() - for report_options.explain. Context: allocates, blocks. */
int report_explain(void *context, const char *ask, char *text, size_t size, struct kymo_err *err);

#endif
