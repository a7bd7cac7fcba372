/* SPDX-License-Identifier: Apache-2.0 */
/* The first screen of the report, and the section of its findings. */
#include <string.h>

#include "report/first/first.h"
#include "report/report_internal.h"

static struct first_options options_of(const struct report *report)
{
	return (struct first_options){
		.name = report->path,
		.operand = report->options->operand ? report->options->operand : "",
		.clock = report->options->clock,
	};
}

void report_findings(struct report *report)
{
	const struct first_options options = options_of(report);

	if (report->options->sections)
		report->rows += first_has_rows(report->summary);
	first_print_findings(report->table, report->summary, &options, report_limit(report));
}

bool report_has_findings(const struct report *report)
{
	struct summary_finding finding;

	return summary_findings(report->summary, &finding, 1) > 0;
}

/* With the kernel's events, `kymo why` knows more of what held up the first finding. */
static void explain(struct report *report, char *text, size_t size)
{
	const struct report_options *options = report->options;
	struct summary_finding finding;

	*text = '\0';
	if (options->explain && summary_findings(report->summary, &finding, 1) &&
	    *summary_finding_ask(&finding) && finding.instance &&
	    options->explain(options->explain_context, summary_finding_ask(&finding), text, size,
			     report->err))
		*text = '\0';
}

bool report_first(struct report *report)
{
	struct first_options options = options_of(report);
	const struct report_options *o = report->options;
	char cause[2048], text[128];

	if (!first_has_rows(report->summary))
		return false;
	explain(report, cause, sizeof(cause));
	options.cause = cause;
	options.lines = (o->clock != NULL) + (o->told_snapshot != NULL) + (o->told_rules != NULL) +
			report_remark_lines(report);
	first_print(report->table, report->summary, &options);
	if (o->align)
		report_hosts(report);
	if (o->clock)
		table_value_text(report->table, "clock", "Simulation's clock",
				 simclock_text(o->clock, text, sizeof(text)));
	if (o->told_snapshot)
		table_value_text(report->table, "snapshot", "Snapshot", o->told_snapshot);
	if (o->told_rules)
		table_value_text(report->table, "rules", "Recorded only", o->told_rules);
	report_remarks(report);
	first_print_next(report->table, report->summary, &options);
	return true;
}
