/* SPDX-License-Identifier: Apache-2.0 */
/* The section about where messages were lost. */
#include <stdio.h>
#include <string.h>

#include "analysis/stats/stats_losses.h"
#include "base/array.h"
#include "report/report_internal.h"

static const struct table_column columns[] = {
	{ "topic", "Topic" },
	{ "node", "Never received by" },
	{ "received", NULL },
	{ "lost", "Lost" },
	{ "depth", "Depth" },
	{ "where", "Where" },
	{ "not_sent", NULL },
	{ "wire", NULL },
	{ "rejected", NULL },
	{ "queue", NULL },
	{ "not_taken", NULL },
	{ "overwritten", NULL },
	{ "unknown", NULL },
	{ "reliability", NULL },
	{ "durability", NULL },
	{ "history", NULL },
	{ "deadline_ns", NULL },
	{ "conflict", NULL },
	{ "conflict_with", NULL },
	{ "pid", NULL },
};

/* The first publisher that the middleware does not connect with @subscription. */
static const struct model_publisher *conflicting(const struct report *report,
						 const struct model_subscription *subscription)
{
	for (unsigned i = 0; i < model_count(report->model, MODEL_PUBLISHER); i++) {
		const struct model_publisher *publisher = model_publisher(report->model, i);

		if (publisher->topic == subscription->topic &&
		    model_qos_conflict(publisher, subscription))
			return publisher;
	}
	return NULL;
}

static void word(struct table *t, const char *text)
{
	cell_name(t, *text ? text : NULL);
}

/* A column for each place would be too wide for a terminal. */
static void where_cell(struct table *t, const struct losses_subscription *its)
{
	const struct cell_count places[] = {
		{ its->where[MODEL_LOST_NOT_SENT], "not sent" },
		{ its->where[MODEL_LOST_WIRE], "on the wire" },
		{ its->where[MODEL_LOST_REJECTED], "rejected" },
		{ its->where[MODEL_LOST_QUEUE] + its->overwritten, "in queue" },
		{ its->where[MODEL_LOST_NOT_TAKEN], "not taken" },
		{ its->where[MODEL_LOST_UNKNOWN], "unknown" },
	};

	cell_counts(t, places, COUNT_OF(places));
}

static void row(struct report *report, const struct report_row *at)
{
	const struct model_subscription *s = at->of;
	const struct losses_subscription *its = losses_subscription(report->losses, s->index);
	const struct model_publisher *publisher = conflicting(report, s);
	struct table *t = report->table;

	table_text(t, s->topic->name);
	cell_node(t, s->node);
	table_u64(t, its->received);
	table_u64(t, its->lost);
	table_u64(t, s->depth);
	where_cell(t, its);
	table_u64(t, its->where[MODEL_LOST_NOT_SENT]);
	table_u64(t, its->where[MODEL_LOST_WIRE]);
	table_u64(t, its->where[MODEL_LOST_REJECTED]);
	table_u64(t, its->where[MODEL_LOST_QUEUE]);
	table_u64(t, its->where[MODEL_LOST_NOT_TAKEN]);
	table_u64(t, its->overwritten);
	table_u64(t, its->where[MODEL_LOST_UNKNOWN]);
	word(t, s->qos.reliability);
	word(t, s->qos.durability);
	word(t, s->qos.history);
	CELL_IF(t, s->qos.deadline_ns, table_ns(t, s->qos.deadline_ns));
	cell_name(t, publisher ? model_qos_conflict(publisher, s) : NULL);
	cell_name(t, publisher && publisher->node ? publisher->node->full_name : NULL);
	table_i64(t, s->process->pid);
}

/* What each of the two asked for, where their QoS is incompatible. */
static void both_sides(char *buffer, size_t size, const struct model_publisher *publisher,
		       const struct model_subscription *subscription)
{
	const char *conflict = model_qos_conflict(publisher, subscription);

	if (strcmp(conflict, "reliability") == 0)
		snprintf(buffer, size, "the publisher offers %s, and the subscription asks for %s",
			 publisher->qos.reliability, subscription->qos.reliability);
	else if (strcmp(conflict, "durability") == 0)
		snprintf(buffer, size, "the publisher offers %s, and the subscription asks for %s",
			 publisher->qos.durability, subscription->qos.durability);
	else
		snprintf(buffer, size, "the publisher offers a longer one, or none");
}

/* Text has no room for all QoS policies; it has those that are incompatible. */
static void note_conflicts(struct report *report, const struct report_rows *rows)
{
	char sides[128];

	for (unsigned i = 0; i < rows->count; i++) {
		const struct model_subscription *s = rows->row[i].of;
		const struct model_publisher *publisher = conflicting(report, s);

		if (!publisher)
			continue;
		both_sides(sides, sizeof(sides), publisher, s);
		table_note(report->table,
			   "%s can receive nothing from %s on %s, because their %s is "
			   "incompatible: %s.",
			   s->node ? s->node->full_name : "A node",
			   publisher->node ? publisher->node->full_name : "a publisher",
			   s->topic->name, model_qos_conflict(publisher, s), sides);
	}
}

void report_losses(struct report *report)
{
	struct report_rows rows = { 0 };

	table_section(report->table, "losses", "Where messages were lost, most lost first", columns,
		      COUNT_OF(columns));
	for (unsigned i = 0; i < model_count(report->model, MODEL_SUBSCRIPTION); i++) {
		const struct model_subscription *s = model_subscription(report->model, i);
		const struct losses_subscription *its = losses_subscription(report->losses, i);

		if (its->lost && report_wants_node(report, s->process, s->node) &&
		    report_wants_topic(report, s->topic) && report_shows_topic(report, s->topic))
			REPORT_ROW(&rows, .index = i, .of = s, .name = s->topic->name,
				   .key = (double)its->lost);
	}
	if (report->options->format == TABLE_TEXT)
		note_conflicts(report, &rows);
	report_rows_print(report, &rows, row);
}
