/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo why`: what those did behind whom an instance was queued, one level deep. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/why/report_why_internal.h"
#include "summary/summary_collect.h"


/* What is less of the time in the queue than this is not worth a word. */
#define NOTABLE 0.1
#define REASONS_MAX 3u

/* ---- as a clause ---- */

/* A reason in the whole instance: the pieces of one kind by one. */
struct reason {
	const struct why_part *part;
	int64_t ns;
	unsigned pieces, faults;
};

static bool is_same_reason(const struct why_part *a, const struct why_part *b)
{
	return a->kind == b->kind && (a->kind != WHY_PREEMPTED || a->by_tid == b->by_tid);
}

/*
 * Return: the longest of what the culprit of @cause did beside executing and that is less than
 * @below_ns.
 */
static struct reason next_reason(const struct why_parts *because, const struct why_cause *cause,
				 int64_t below_ns)
{
	struct reason best = { 0 };

	for (unsigned i = 0; i < because->count; i++) {
		struct reason reason = { .part = &because->part[i] };

		if (reason.part->kind == WHY_EXECUTING)
			continue;
		for (unsigned k = 0; k < because->count; k++) {
			const struct why_part *part = &because->part[k];

			if (part->callback != cause->part->callback ||
			    part->is_group != cause->part->is_group ||
			    !is_same_reason(part, reason.part))
				continue;
			reason.ns += part->ns;
			reason.pieces += part->pieces;
			reason.faults += part->faults;
		}
		if (reason.ns < below_ns && reason.ns > best.ns)
			best = reason;
	}
	return best;
}

static void append(char *buffer, size_t size, const char *text)
{
	size_t length = strlen(buffer);

	snprintf(buffer + length, size - length, "%s", text);
}

static void reason_text(const struct reason *reason, char *buffer, size_t size)
{
	char time[TEXT_QUANTITY_MAX], by[64], times[32] = "";

	text_ns(time, reason->ns);
	if (reason->pieces > 1)
		snprintf(times, sizeof(times), " (%u times)", reason->pieces);
	if (reason->part->kind == WHY_BLOCKED)
		snprintf(buffer, size, "blocked %s%s%.40s%s%s", time, reason->part->call ? " in " : "",
			 reason->part->call ? reason->part->call : "", reason->part->call ? "()" : "", times);
	else if (reason->part->kind == WHY_PAGE_FAULT)
		snprintf(buffer, size, "in %u page faults %s", reason->faults, time);
	else if (reason->part->by_tid)
		snprintf(buffer, size, "preempted %s by %s%s", time, why_by(reason->part, by, sizeof(by)), times);
	else
		snprintf(buffer, size, "kept waiting %s by %s%s", time, why_by(reason->part, by, sizeof(by)), times);
}

char *why_because_text(const struct why_answer *answer, unsigned rank,
		       const struct why_cause *cause, char *buffer, size_t size)
{
	struct reason reason = { .ns = INT64_MAX };
	char text[160];

	*buffer = '\0';
	if (cause->part->kind != WHY_QUEUED)
		return buffer;
	for (unsigned i = 0; i < REASONS_MAX; i++) {
		reason = next_reason(&answer->because[rank], cause, reason.ns);
		if (!reason.part || (double)reason.ns < NOTABLE * (double)cause->ns)
			break;
		append(buffer, size, i ? ", " : "; meanwhile that one was ");
		reason_text(&reason, text, sizeof(text));
		append(buffer, size, text);
	}
	return buffer;
}

/* ---- as rows ---- */

static const struct table_column because_columns[] = {
	{ "rank", "#" },
	{ "step", NULL },
	{ "culprit", "Blocked by" },
	{ "where", NULL },
	{ "group", NULL },
	{ "kind", "which was" },
	{ "by", "by" },
	{ "call", "in" },
	{ "ns", "Time" },
	{ "pieces", "Pieces" },
	{ "faults", NULL },
	{ "major_faults", NULL },
};

static void because_row(const struct why_answer *answer, unsigned rank, const struct why_part *part)
{
	char text[WHY_LABEL_MAX];
	struct table *t = answer->table;

	table_u64(t, rank + 1);
	table_u64(t, part->hop);
	table_text(t, summary_callback_name(part->callback, text, sizeof(text)));
	table_text(t, why_where(answer, part, text, sizeof(text)));
	table_u64(t, part->is_group);
	table_text(t, why_kind_name(part->kind));
	table_text(t, part->kind == WHY_PREEMPTED || part->kind == WHY_BLOCKED
			      ? why_by(part, text, sizeof(text))
			      : NULL);
	table_text(t, part->call);
	table_ns(t, part->ns);
	table_u64(t, part->pieces);
	table_u64(t, part->faults);
	table_u64(t, part->major);
}

void why_print_because(struct why_answer *answer)
{
	bool is_text = answer->options->format == TABLE_TEXT, any = false;
	unsigned rank, i;

	for (rank = 0; rank < answer->instances; rank++)
		any |= answer->because[rank].count != 0;
	/* Programs find the key in every answer. */
	if (!any && is_text)
		return;
	table_section(answer->table, "because", "What delayed the callbacks it was queued behind", because_columns,
		      COUNT_OF(because_columns));
	for (rank = 0; rank < answer->instances; rank++)
		for (i = 0; i < answer->because[rank].count; i++)
			because_row(answer, rank, &answer->because[rank].part[i]);
}
