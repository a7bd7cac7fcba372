/* SPDX-License-Identifier: Apache-2.0 */
/* The first screen for programs: all entities of all kinds, with all columns. */
#include "base/array.h"
#include "report/first/first_internal.h"

static const struct table_column machine_columns[] = {
	{ "name", "Name" },          { "process", "Of" },         { "runs", "Runs" },
	{ "published", NULL },       { "received", NULL },        { "never_received", NULL },
	{ "not_yet", NULL },         { "overwritten", NULL },     { "missed", NULL },
	{ "overrun", NULL },         { "duration_p50_ns", NULL }, { "duration_p99_ns", NULL },
	{ "duration_max_ns", NULL }, { "latency_count", NULL },   { "latency_p50_ns", NULL },
	{ "latency_p99_ns", NULL },  { "latency_max_ns", NULL },  { "waited_ns", NULL },
	{ "period_p50_ns", NULL },
};

static void cells_or_none(struct table *t, const struct histogram *h)
{
	if (h->count) {
		first_cells_times(t, h);
		return;
	}
	for (unsigned i = 0; i < 3; i++)
		table_none(t);
}

static void machine_row(struct table *t, const struct summary_entity *entity)
{
	static const enum summary_counter counters[] = {
		SUMMARY_RUNS,    SUMMARY_PUBLISHED,   SUMMARY_RECEIVED, SUMMARY_NEVER_RECEIVED,
		SUMMARY_NOT_YET, SUMMARY_OVERWRITTEN, SUMMARY_MISSED,   SUMMARY_OVERRUN,
	};
	const struct histogram *period = &entity->histogram[SUMMARY_PERIOD];

	table_text(t, entity->name);
	table_text(t, *entity->of ? entity->of : NULL);
	for (unsigned i = 0; i < COUNT_OF(counters); i++)
		table_u64(t, entity->count[counters[i]]);
	cells_or_none(t, &entity->histogram[SUMMARY_DURATION]);
	table_u64(t, entity->histogram[SUMMARY_LATENCY].count);
	cells_or_none(t, &entity->histogram[SUMMARY_LATENCY]);
	table_u64(t, entity->count[SUMMARY_WAITED_NS]);
	if (period->count)
		table_ns(t, (int64_t)histogram_quantile(period, 0.5));
	else
		table_none(t);
}

void first_print_machine(struct table *table, const struct summary *summary,
			 const struct first_options *options)
{
	static const char *const keys[SUMMARY_KINDS] = {
		"callbacks", "timers",  "topics",    "subscriptions", "chains", "services",
		"executors", "threads", "processes", "loops",         "spans",  "actions",
	};
	char missing[512];

	(void)first_incomplete(summary, missing, sizeof(missing));
	table_value_text(table, "incomplete", "Incomplete",
			 *missing ? missing + sizeof(FIRST_INCOMPLETE) : NULL);
	table_value_text(table, "trace", "Trace", options->name);
	table_value_ns(table, "duration_ns", "Duration",
		       summary->end_ns > summary->begin_ns ? summary->end_ns - summary->begin_ns
							   : 0);
	table_value_u64(table, "events", "Events", summary->events);
	table_value_u64(table, "lost_events", "Lost events", summary->trust.lost_events);
	table_value_u64(table, "lost_packets", "Lost packets", summary->trust.lost_packets);
	table_value_u64(table, "hidden_startup", "Hidden start-up", summary_hidden(summary));
	first_print_findings(table, summary, options, SUMMARY_FINDINGS_MAX);
	for (unsigned kind = 0; kind < SUMMARY_KINDS; kind++) {
		table_section(table, keys[kind], "", machine_columns, COUNT_OF(machine_columns));
		for (unsigned i = 0; i < summary->entities; i++)
			if (summary->entity[i]->kind == kind)
				machine_row(table, summary->entity[i]);
	}
}
