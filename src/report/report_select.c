/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all sections of the report ask: which rows are wanted, how many, and how processes and times
 * are written.
 */
#include <stdio.h>

#include "report/report_internal.h"

#include "analysis/chains/chains.h"

#define ROWS_AS_TEXT 20

/* Fewer events, or in a shorter time, are a burst: their rate is not how often something happens.
 */
#define RATE_COUNT_MIN 20u
#define RATE_TIME_MIN_NS 1000000000ll

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

/* ---- what nodes do when they start ---- */

static bool is_startup(const struct model_callback *callback)
{
	return callback->subscription && chains_is_infrastructure(callback->subscription->topic);
}

/* Not if there is nothing else to show. */
bool report_hides_startup(const struct report *report)
{
	const struct report_options *options = report->options;

	if (options->format != TABLE_TEXT || options->unlimited ||
	    selection_any(options->selection))
		return false;
	for (unsigned i = 0; i < model_count(report->model, MODEL_CALLBACK); i++)
		if (stats_callback(report->stats, i)->duration.count &&
		    !is_startup(model_callback(report->model, i)))
			return true;
	return false;
}

bool report_shows_callback(struct report *report, const struct model_callback *callback)
{
	bool hides = report->hides_startup && is_startup(callback);

	if (!report_wants_callback(report, callback))
		return false;
	report->hidden_callbacks += hides;
	return !hides;
}

bool report_shows_topic(struct report *report, const struct model_topic *topic)
{
	bool hides = report->hides_startup && chains_is_infrastructure(topic);

	report->hidden_topics += hides;
	return !hides;
}

bool report_shows_row(struct report *report, const struct model_callback *callback,
		      const struct model_topic *topic)
{
	bool hides = report->hides_startup && ((topic && chains_is_infrastructure(topic)) ||
					       (callback && is_startup(callback)));

	report->hidden_rows += hides;
	return !hides;
}

/* A section hides one of the three, or callbacks and topics. */
static void note_hidden(struct report *report)
{
	unsigned callbacks = report->hidden_callbacks, topics = report->hidden_topics;
	unsigned all = callbacks + topics + report->hidden_rows;

	if (callbacks && topics)
		table_note(report->table,
			   "%u start-up callbacks and topics hidden; --all shows them", all);
	else if (all)
		table_note(report->table, "%u start-up %s%s hidden; --all shows %s", all,
			   callbacks ? "callback"
			   : topics  ? "topic"
				     : "row",
			   all > 1 ? "s" : "", all > 1 ? "them" : "it");
	report->hidden_callbacks = report->hidden_topics = report->hidden_rows = 0;
}

/* ---- rows ---- */

double report_rate(const struct report *report, uint64_t count, int64_t first_ns, int64_t last_ns)
{
	if (report->options->format == TABLE_TEXT &&
	    (count < RATE_COUNT_MIN || last_ns - first_ns < RATE_TIME_MIN_NS))
		return 0;
	return stats_rate(count, first_ns, last_ns);
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
	note_hidden(report);
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
	int64_t offset =
		clock ? simclock_stamp(clock, ns) : ns - model_facts(report->model)->first_ns;

	snprintf(buffer, size, "%.6f s", (double)offset / 1e9);
	return buffer;
}
