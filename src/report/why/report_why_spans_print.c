/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo why` for loops and spans: the sentence, the parts, the longest instances. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/why/report_why_spans.h"

static const char *const kind_names[] = {
	[SPAN_LATE] = "late",
	[SPAN_PREEMPTED] = "preempted",
	[SPAN_BLOCKED] = "blocked",
	[SPAN_RUNNING] = "running",
};

static const struct spans_name *name_of(const struct span_answer *answer)
{
	return answer->is_loop
		       ? loops_at(answer->loops, answer->index)->name
		       : spans_stats_row(answer->stats, SPANS_OF_SPANS, answer->index)->name;
}

char *why_spans_label(const struct span_answer *answer, char *buffer, size_t size)
{
	const struct spans_name *name = name_of(answer);
	const struct model_thread *thread =
		answer->instances ? model_thread(answer->model, answer->worst[0].thread) : NULL;

	snprintf(buffer, size, "%s %s:%s of thread %s (%lld)", answer->is_loop ? "loop" : "span",
		 name->category, name->name, thread ? thread->name : "",
		 thread ? (long long)thread->tid : 0);
	return buffer;
}

/* Who had the CPU, or woke the thread. Return: @buffer; "" if there is nobody. */
static char *by_text(const struct span_part *part, char *buffer, size_t size)
{
	*buffer = '\0';
	if (part->kind != SPAN_PREEMPTED && part->kind != SPAN_BLOCKED)
		return buffer;
	if (part->by_tid > 0)
		snprintf(buffer, size, "%s (%d)", *part->by ? part->by : "thread", part->by_tid);
	else if (part->by_tid == 0)
		snprintf(buffer, size, "%s",
			 part->kind == SPAN_BLOCKED ? "an interrupt" : "an idle CPU that woke up");
	else
		snprintf(buffer, size, "(not known)");
	return buffer;
}

static int64_t usual_of(const struct span_answer *answer, const struct span_part *part)
{
	const struct span_part *usual = why_spans_same(&answer->usual.parts, part);

	return usual ? usual->ns : 0;
}

/* What took the most time above the usual. */
static const struct span_part *cause_of(const struct span_answer *answer,
					const struct span_instance *instance)
{
	const struct span_part *cause = NULL;
	int64_t most = -1;

	for (unsigned i = 0; i < instance->parts.count; i++) {
		const struct span_part *part = &instance->parts.part[i];
		const int64_t excess = part->ns - usual_of(answer, part);

		if (excess > most) {
			most = excess;
			cause = part;
		}
	}
	return cause;
}

static void cause_text(const struct span_answer *answer, const struct span_part *part, char *buffer,
		       size_t size)
{
	char time[TEXT_QUANTITY_MAX], usual[TEXT_QUANTITY_MAX], by[WHY_COMM_SIZE + 32];
	char usually[TEXT_QUANTITY_MAX + 16] = "";
	const char *of = part->of ? part->of->name : NULL;

	text_ns(time, part->ns);
	if (answer->has_usual)
		snprintf(usually, sizeof(usually), ", usually %s",
			 text_ns(usual, usual_of(answer, part)));
	by_text(part, by, sizeof(by));
	switch (part->kind) {
	case SPAN_LATE:
		snprintf(buffer, size, "it woke %s late%s", time, usually);
		break;
	case SPAN_PREEMPTED:
		snprintf(buffer, size, "%s%s %s because %s had the CPU%s", of ? of : "it",
			 of ? " was preempted" : " woke late by", time, by, usually);
		break;
	case SPAN_BLOCKED:
		snprintf(buffer, size, "%s was blocked %s%s%s until %s woke it%s",
			 of ? of : "it", time, part->call ? " in the system call " : "",
			 part->call ? part->call : "", by, usually);
		break;
	case SPAN_RUNNING:
		snprintf(buffer, size, "%s itself took %s%s", of ? of : "it", time,
			 usually);
		break;
	}
}

char *why_spans_sentence(const struct span_answer *answer, unsigned rank, char *buffer, size_t size)
{
	const struct span_instance *instance = &answer->worst[rank];
	const struct span_part *cause = cause_of(answer, instance);
	char total[TEXT_QUANTITY_MAX], usual[TEXT_QUANTITY_MAX], missed[TEXT_QUANTITY_MAX],
		why[1024] = "";

	text_ns(total, instance->end_ns - instance->begin_ns);
	text_ns(usual, answer->has_usual ? answer->usual.end_ns - answer->usual.begin_ns : 0);
	text_ns(missed, instance->missed_ns);
	if (cause)
		cause_text(answer, cause, why, sizeof(why));
	snprintf(buffer, size, "%s%s%s%s%s%s%s%s%s", total,
		 answer->is_loop ? " after it was due" : "", answer->has_usual ? ", usually " : "",
		 answer->has_usual ? usual : "", *why ? ": " : "", why,
		 instance->missed_ns ? "; it ended " : "", instance->missed_ns ? missed : "",
		 instance->missed_ns ? " after its deadline" : "");
	return buffer;
}

/* ---- parts ---- */

static const struct table_column part_columns[] = {
	{ "rank", NULL },
	{ "kind", "Part" },
	{ "who", "Of" },
	{ "by", "By" },
	{ "call", NULL },
	{ "ns", "Time" },
	{ "usual_ns", "Usually" },
	{ "begin_ns", NULL },
	{ "offset_ns", "Begins at" },
	{ "pieces", NULL },
	{ "bar", "" },
};

static void part_row(const struct span_answer *answer, struct table *t, unsigned rank,
		     const struct span_part *part)
{
	const struct span_instance *instance = &answer->worst[rank];
	char by[WHY_COMM_SIZE + 32], line[WHY_BAR_MAX + 1];

	table_u64(t, rank + 1);
	table_text(t, kind_names[part->kind]);
	table_text(t, part->of ? part->of->name : name_of(answer)->name);
	table_text(t, *by_text(part, by, sizeof(by)) ? by : NULL);
	table_text(t, part->call);
	table_ns(t, part->ns);
	CELL_IF(t, answer->has_usual, table_ns(t, usual_of(answer, part)));
	table_time(t, part->begin_ns);
	table_ns(t, part->begin_ns - instance->begin_ns);
	table_u64(t, part->pieces);
	if (answer->options->format == TABLE_TEXT)
		table_text(t, why_bar(t, part->begin_ns - instance->begin_ns, part->ns,
				      instance->end_ns - instance->begin_ns, line));
	else
		table_none(t);
}

/* What the usual instance spent and this one did not: the columns add up. */
static void usual_row(const struct span_answer *answer, struct table *t, unsigned rank,
		      const struct span_part *usual)
{
	char by[WHY_COMM_SIZE + 32];

	table_u64(t, rank + 1);
	table_text(t, kind_names[usual->kind]);
	table_text(t, usual->of ? usual->of->name : name_of(answer)->name);
	table_text(t, *by_text(usual, by, sizeof(by)) ? by : NULL);
	table_text(t, usual->call);
	table_ns(t, 0);
	table_ns(t, usual->ns);
	cells_none(t, 2);
	table_u64(t, 0);
	table_text(t, NULL);
}

static void sum_row(const struct span_answer *answer, struct table *t, unsigned rank)
{
	const struct span_instance *instance = &answer->worst[rank];

	cells_none(t, 1);
	table_text(t, "= all");
	cells_none(t, 3);
	table_ns(t, instance->end_ns - instance->begin_ns);
	CELL_IF(t, answer->has_usual, table_ns(t, answer->usual.end_ns - answer->usual.begin_ns));
	cells_none(t, 3);
	table_text(t, NULL);
}

static void print_parts(const struct span_answer *answer, struct table *t)
{
	const bool is_text = answer->options->format == TABLE_TEXT;
	char title[64];

	for (unsigned rank = 0; rank < answer->instances; rank++) {
		const struct span_parts *parts = &answer->worst[rank].parts;

		why_parts_title(title, sizeof(title), rank, answer->options->at_ns,
				answer->has_usual);
		if (!rank || is_text)
			table_section(t, "parts", title, part_columns, COUNT_OF(part_columns));
		for (unsigned i = 0; i < parts->count; i++)
			part_row(answer, t, rank, &parts->part[i]);
		for (unsigned i = 0; i < answer->usual.parts.count; i++)
			if (!why_spans_same(parts, &answer->usual.parts.part[i]))
				usual_row(answer, t, rank, &answer->usual.parts.part[i]);
		if (is_text)
			sum_row(answer, t, rank);
	}
}

/* ---- instances ---- */

static const struct table_column instance_columns[] = {
	{ "rank", "#" },       { "latency_ns", "Time" }, { "at", "Begun at" },
	{ "begin_ns", NULL },  { "cycle", "Cycle" },     { "late_ns", NULL },
	{ "missed_ns", NULL }, { "sentence", "Why" },
};

static void print_instances(const struct span_answer *answer, struct table *t)
{
	char text[2048];

	if (answer->instances < 2 && answer->options->format == TABLE_TEXT)
		return;
	table_section(t, "instances", "The longest", instance_columns, COUNT_OF(instance_columns));
	for (unsigned rank = 0; rank < answer->instances; rank++) {
		const struct span_instance *instance = &answer->worst[rank];

		table_u64(t, rank + 1);
		table_ns(t, instance->end_ns - instance->begin_ns);
		snprintf(text, sizeof(text), "+%.6f s",
			 (double)(instance->begin_ns - model_facts(answer->model)->first_ns) / 1e9);
		table_text(t, text);
		table_time(t, instance->begin_ns);
		CELL_IF(t, instance->cycle, table_u64(t, instance->cycle));
		table_ns(t, instance->woke_ns - instance->begin_ns);
		table_ns(t, instance->missed_ns);
		table_text(t, why_spans_sentence(answer, rank, text, sizeof(text)));
	}
}

void why_spans_print(const struct span_answer *answer, struct table *table)
{
	char text[2048];

	table_value_text(table, "trace", "Trace", answer->path);
	table_value_text(table, "worst", "Worst", why_spans_label(answer, text, sizeof(text)));
	table_value_u64(table, "count", answer->is_loop ? "Cycles" : "Spans", answer->count);
	table_value_text(table, "why", "Why", why_spans_sentence(answer, 0, text, sizeof(text)));
	why_alike_print(&answer->alike, answer->options, "why", *answer->ways, table);
	print_parts(answer, table);
	print_instances(answer, table);
	if (!answer->cpu)
		table_note(table, "The trace has no events of the kernel, so another thread may "
				  "have had the CPU "
				  "meanwhile: kymo record --kernel.");
}
