/* SPDX-License-Identifier: Apache-2.0 */
/* What all sections of the report ask: which rows are wanted, how many, and how processes and times are written. */
#include <stdio.h>

#include "report/report_internal.h"

#define ROWS_AS_TEXT 20

bool report_wants_process(const struct report *report, const struct model_process *process)
{
	return selection_process(report->options->selection, process->name, process->pid);
}

bool report_wants_node(const struct report *report, const struct model_process *process,
		       const struct model_node *node)
{
	return report_wants_process(report, process) &&
	       selection_node(report->options->selection, node ? node->full_name : NULL);
}

bool report_wants_topic(const struct report *report, const struct model_topic *topic)
{
	return selection_topic(report->options->selection, topic ? topic->name : NULL);
}

bool report_wants_callback(const struct report *report, const struct model_callback *callback)
{
	const struct model_subscription *subscription = callback->subscription;

	return report_wants_node(report, callback->process, model_callback_node(callback)) &&
	       report_wants_topic(report, subscription ? subscription->topic : NULL);
}

unsigned report_limit(const struct report *report)
{
	const struct report_options *options = report->options;

	if (options->limit)
		return options->limit < UINT32_MAX ? (unsigned)options->limit : UINT32_MAX;
	return options->format == TABLE_TEXT && !options->unlimited ? ROWS_AS_TEXT : UINT32_MAX;
}

void report_more(struct report *report, unsigned shown, unsigned all)
{
	if (shown < all)
		table_note(report->table, "... and %u more: --limit %u", all - shown, all);
}

/* ---- texts ---- */

const char *report_node_name(const struct model_callback *callback)
{
	const struct model_node *node = model_callback_node(callback);

	return node ? node->full_name : "";
}

char *report_process(const struct report *report, const struct model_process *process,
		     char *buffer, unsigned size)
{
	snprintf(buffer, size, "%s (%d)%s%s", *process->name ? process->name : "?", process->pid,
		 report->hosts > 1 ? " @" : "", report->hosts > 1 ? process->hostname : "");
	return buffer;
}

char *report_offset(const struct report *report, int64_t ns, char *buffer, unsigned size)
{
	const struct simclock *clock = report->options->clock;
	int64_t offset = clock ? simclock_stamp(clock, ns) : ns - model_facts(report->model)->first_ns;

	snprintf(buffer, size, "%.6f s", (double)offset / 1e9);
	return buffer;
}
