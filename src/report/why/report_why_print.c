/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo why`: the sentence, the waterfall, and what cannot be reported. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/report.h"
#include "report/why/report_why_internal.h"
#include "summary/summary.h"

/* ---- parts ---- */

#define PART_COLUMNS(host) { \
	{ "rank", NULL }, \
	{ "step", NULL }, \
	{ "kind", "Part" }, \
	{ "who", "Of" }, \
	{ "host", host }, \
	{ "where", NULL }, \
	{ "by", NULL }, \
	{ "call", NULL }, \
	{ "ns", "Time" }, \
	{ "usual_ns", "Usually" }, \
	{ "error_ns", NULL }, \
	{ "begin_ns", NULL }, \
	{ "offset_ns", "Begins at" }, \
	{ "pieces", NULL }, \
	{ "faults", NULL }, \
	{ "major_faults", NULL }, \
	{ "group", NULL }, \
	{ "assumed", NULL }, \
	{ "bar", "" }, \
}
static const struct table_column part_columns[] = PART_COLUMNS(NULL), host_part_columns[] = PART_COLUMNS("Host");

static const char *host_of(const struct why_part *part)
{
	return part->thread ? part->thread->process->hostname : NULL;
}

static void by_cell(struct table *t, const struct why_part *part)
{
	char text[WHY_LABEL_MAX];

	if (part->kind == WHY_AWAITED) {
		const char *what = model_awaited_text(&part->await, text, sizeof(text));

		table_text(t, *what ? what : NULL);
		return;
	}
	table_text(t, part->kind == WHY_PREEMPTED || part->kind == WHY_BLOCKED ||
					      part->kind == WHY_GIL
			      ? why_by(part, text, sizeof(text))
			      : NULL);
}

static void part_row(struct why_answer *answer, unsigned rank, const struct why_part *part)
{
	const struct why_instance *instance = &answer->instance[rank];
	const struct why_part *usual = why_part_in(&answer->usual_parts[rank], part);
	struct table *t = answer->table;
	char text[WHY_LABEL_MAX], line[WHY_BAR_MAX + 1];
	bool is_text = answer->options->format == TABLE_TEXT;
	int64_t error_ns = why_part_error(instance, part);

	table_u64(t, rank + 1);
	table_u64(t, part->hop);
	table_text(t, why_kind_name(part->kind));
	table_text(t, why_who(instance, part, text, sizeof(text)));
	table_text(t, host_of(part));
	table_text(t, why_where(answer, part, text, sizeof(text)));
	by_cell(t, part);
	table_text(t, part->call);
	table_ns_within(t, part->ns, error_ns);
	CELL_IF(t, answer->usual.total_ns >= 0,
		table_ns_within(t, usual ? usual->ns : 0, usual ? error_ns : 0));
	table_ns(t, error_ns);
	table_time(t, part->begin_ns);
	table_ns(t, part->begin_ns - instance->begin_ns);
	table_u64(t, part->pieces);
	table_u64(t, part->faults);
	table_u64(t, part->major);
	table_u64(t, part->is_group);
	table_u64(t, part->is_assumed);
	table_text(t, is_text ? why_bar(t, part->begin_ns - instance->begin_ns, part->ns,
					instance->total_ns, line)
			      : NULL);
}

/* What the usual instance spent and this one did not: the columns add up. */
static void usual_row(struct why_answer *answer, unsigned rank, const struct why_part *usual)
{
	struct table *t = answer->table;
	char text[WHY_LABEL_MAX];
	int64_t error_ns = why_part_error(&answer->usual, usual);

	table_u64(t, rank + 1);
	table_u64(t, usual->hop);
	table_text(t, why_kind_name(usual->kind));
	table_text(t, why_who(&answer->usual, usual, text, sizeof(text)));
	table_text(t, host_of(usual));
	table_text(t, why_where(answer, usual, text, sizeof(text)));
	by_cell(t, usual);
	table_text(t, usual->call);
	table_ns(t, 0);
	table_ns_within(t, usual->ns, error_ns);
	table_ns(t, error_ns);
	cells_none(t, 2);
	for (unsigned i = 0; i < 3; i++)
		table_u64(t, 0);
	table_u64(t, usual->is_group);
	table_u64(t, usual->is_assumed);
	table_text(t, NULL);
}

/* From number *@next on, those rows that belong before step @hop. */
static void usual_rows(struct why_answer *answer, unsigned rank, unsigned *next, unsigned hop)
{
	const struct why_parts *usual = &answer->usual_parts[rank];

	for (; *next < usual->count && usual->part[*next].hop < hop; ++*next)
		if (!why_part_in(&answer->parts[rank], &usual->part[*next]))
			usual_row(answer, rank, &usual->part[*next]);
}

static void sum_row(struct why_answer *answer, unsigned rank)
{
	struct table *t = answer->table;

	cells_none(t, 2);
	table_text(t, "= all");
	table_text(t, "");
	cells_none(t, 4);
	table_ns_within(t, answer->instance[rank].total_ns,
			why_total_error(&answer->instance[rank]));
	CELL_IF(t, answer->usual.total_ns >= 0,
		table_ns_within(t, answer->usual.total_ns, why_total_error(&answer->usual)));
	cells_none(t, 8);
	table_text(t, "");
}

void why_parts_title(char *title, size_t size, unsigned rank, bool at, bool has_usual)
{
	if (rank)
		snprintf(title, size, "The parts of number %u", rank + 1);
	else
		snprintf(title, size, "The parts of the %s%s", at ? "one at that time" : "longest",
			 has_usual ? ", next to a usual one" : "");
}

void why_print_parts(struct why_answer *answer)
{
	char title[128];

	/* Programs find the key in every answer. */
	if (!answer->instances && answer->options->format != TABLE_TEXT)
		table_section(answer->table, "parts", "Taken apart", part_columns, COUNT_OF(part_columns));

	for (unsigned rank = 0; rank < answer->instances; rank++) {
		const struct why_parts *parts = &answer->parts[rank];
		unsigned i, next = 0;

		/*
		 * As text each instance has a table of its own; elsewhere one has them all, by
		 * rank.
		 */
		why_parts_title(title, sizeof(title), rank, answer->options->at_ns,
				answer->usual.total_ns >= 0);
		if (!rank || answer->options->format == TABLE_TEXT)
			table_section(answer->table, "parts", title, answer->options->align ? host_part_columns : part_columns,
				      COUNT_OF(part_columns));
		for (i = 0; i < parts->count; i++) {
			if (i && parts->part[i].hop != parts->part[i - 1].hop)
				usual_rows(answer, rank, &next, parts->part[i].hop);
			part_row(answer, rank, &parts->part[i]);
		}
		usual_rows(answer, rank, &next, UINT_MAX);
		if (answer->options->format == TABLE_TEXT)
			sum_row(answer, rank);
	}
}

/* ---- instances ---- */

static const struct table_column instance_columns[] = {
	{ "rank", "#" },
	{ "latency_ns", "Latency" },
	{ "error_ns", NULL },
	{ "at", "Begun at" },
	{ "begin_ns", NULL },
	{ "message", "Message" },
	{ "cause", NULL },
	{ "cause_who", NULL },
	{ "cause_ns", NULL },
	{ "cause_usual_ns", NULL },
	{ "sentence", "Why" },
};

static uint64_t message_of(const struct why_instance *instance)
{
	for (unsigned i = instance->hops; i-- > 0;)
		if (instance->hop[i].publisher)
			return instance->hop[i].at.id;
	return 0;
}

char *why_offset(const struct why_answer *answer, int64_t ns, char *buffer, size_t size)
{
	if (answer->options->clock)
		snprintf(buffer, size, "%.6f s", (double)simclock_stamp(answer->options->clock, ns) / 1e9);
	else
		snprintf(buffer, size, "+%.6f s", (double)(ns - model_facts(answer->model)->first_ns) / 1e9);
	return buffer;
}

static void instance_row(struct why_answer *answer, unsigned rank)
{
	const struct why_instance *instance = &answer->instance[rank];
	struct table *t = answer->table;
	const struct why_cause cause = why_cause(answer, rank);
	char text[4 * WHY_LABEL_MAX];

	table_u64(t, rank + 1);
	table_ns_within(t, instance->total_ns, why_total_error(instance));
	table_ns(t, why_total_error(instance));
	table_text(t, why_offset(answer, instance->begin_ns, text, sizeof(text)));
	table_time(t, instance->begin_ns);
	CELL_IF(t, message_of(instance), table_u64(t, message_of(instance)));
	table_text(t, cause.part ? why_kind_name(cause.part->kind) : NULL);
	table_text(t, cause.part ? why_who(instance, cause.part, text, sizeof(text)) : NULL);
	table_ns(t, cause.ns);
	CELL_IF(t, answer->usual.total_ns >= 0,
		table_ns_within(t, cause.usual_ns, cause.error_ns));
	table_text(t, why_sentence(answer, rank, text, sizeof(text)));
}

static void print_instances(struct why_answer *answer)
{
	if (answer->instances < 2 && answer->options->format == TABLE_TEXT)
		return;
	table_section(answer->table, "instances", "The longest", instance_columns, COUNT_OF(instance_columns));
	for (unsigned rank = 0; rank < answer->instances; rank++)
		instance_row(answer, rank);
}

/* ---- what cannot be reported ---- */

static bool has_kernel(const struct kymo_ctf_reader *reader)
{
	for (unsigned i = 0; i < kymo_ctf_trace_count(reader); i++)
		if (strcmp(kymo_ctf_trace(reader, i)->domain, "kernel") == 0)
			return true;
	return false;
}

static void print_remarks(struct why_answer *answer)
{
	bool assumed = false;

	for (unsigned rank = 0; rank < answer->instances; rank++)
		for (unsigned i = 0; i < answer->parts[rank].count; i++)
			assumed |= answer->parts[rank].part[i].is_assumed;
	if (assumed)
		table_note(answer->table, "The trace does not contain callback groups: that callbacks of one node on other "
			   "threads blocked each other is a guess.");
	if (answer->joined)
		table_note(answer->table, "Where the trace splits the way of only one of the two into dds, network and cache, "
			   "both are shown as transport.");
	if (answer->lost_here)
		table_note(answer->table, "Events were lost: what is shown as transport may be a callback that is missing.");
	else if (answer->lost_events)
		table_note(answer->table, "Events of the kernel were lost: who had the CPU at that time is not known.");
	if (!answer->cpu && has_kernel(answer->reader))
		table_note(answer->table, "The trace has events of the kernel, but none of its "
					  "scheduler (sched_switch), so it "
					  "does not show who was preempted or blocked.");
	else if (!answer->cpu)
		table_note(answer->table, "The trace has no events of the kernel, so it does not show who was preempted or "
			   "blocked; record with kymo record --kernel.");
}

static void value_within(const struct why_answer *answer, const char *key, const char *title,
			 int64_t ns, int64_t error_ns)
{
	char text[TEXT_QUANTITY_MAX + 1], quantity[TEXT_QUANTITY_MAX];
	struct table *t = answer->table;

	if (!error_ns || ns > error_ns) {
		table_value_ns(t, key, title, ns);
	} else if (answer->options->format == TABLE_TEXT) {
		snprintf(text, sizeof(text), "<%s", text_ns(quantity, error_ns));
		table_value_text(t, key, title, text);
	} else {
		table_value_text(t, key, title, NULL);
	}
}

/* Start-up that took longer than what is explained. */
static void print_hidden(struct why_answer *answer)
{
	const uint64_t hidden = answer->target.hidden;
	struct table *t = answer->table;
	char text[96], number[32];

	if (answer->options->format != TABLE_TEXT) {
		table_value_u64(t, "hidden_startup", "Hidden", hidden);
		return;
	}
	if (!hidden)
		return;
	snprintf(text, sizeof(text), "%s longer start-up instance%s; --all explains %s",
		 summary_number(number, hidden), hidden == 1 ? "" : "s", hidden == 1 ? "it" : "them");
	table_value_text(t, "hidden_startup", "Hidden", text);
}

void why_print_finding(const struct why_answer *answer)
{
	if (answer->tells_finding)
		table_value_text(answer->table, "finding", "Finding", answer->finding);
	else if (*answer->nothing)
		table_value_text(answer->table, "nothing", "Finding", answer->nothing);
}

void why_print(struct why_answer *answer)
{
	const struct why_instance *worst = &answer->instance[0];
	int64_t error_ns = why_total_error(worst);
	struct table *t = answer->table;
	char text[8192];

	why_print_finding(answer);
	table_value_text(t, "sentence", "Why", why_sentence(answer, 0, text, sizeof(text)));
	if (*why_lost_text(answer, text, sizeof(text)) || answer->options->format != TABLE_TEXT)
		table_value_text(t, "lost_messages", "Lost on the way", text);
	table_value_text(t, answer->target.is_chain ? "chain" : "callback", answer->target.is_chain ? "Chain" : "Callback",
			 why_target_label(answer, text, sizeof(text)));
	if (*why_ways_text(answer, text, sizeof(text)))
		table_value_text(t, "process", "Process", text);
	if (answer->options->format == TABLE_TEXT)
		why_alike_print(&answer->alike, answer->options, "why", answer->names_ways, t);
	table_value_text(t, "trace", "Trace", answer->path);
	table_value_text(t, "at", "Begun at", why_offset(answer, worst->begin_ns, text, sizeof(text)));
	value_within(answer, "latency_ns", "Latency", worst->total_ns, error_ns);
	if (answer->target.count > 1)
		value_within(answer, "usual_ns", "Usually (p50)", answer->target.usual_ns, error_ns);
	else
		table_value_text(t, "usual_ns", NULL, NULL);
	if (error_ns || answer->options->format != TABLE_TEXT)
		table_value_ns(t, "error_ns", "Between hosts, error up to", error_ns);
	table_value_u64(t, "count", "Instances", answer->target.count);
	print_hidden(answer);
	if (answer->lost_events || answer->options->format != TABLE_TEXT)
		table_value_u64(t, "lost_events", "Lost events", answer->lost_events);
	if (answer->options->format != TABLE_TEXT)
		why_alike_print(&answer->alike, answer->options, "why", answer->names_ways, t);
	print_instances(answer);
	why_print_parts(answer);
	why_print_because(answer);
	why_print_wire(answer);
	why_print_lost(answer);
	if (answer->options->format != TABLE_TEXT)
		why_print_links(answer);
	report_print_hosts(answer->table, answer->options->align);
	print_remarks(answer);
}
