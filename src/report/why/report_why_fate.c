/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kymo why`: single messages that did not come to where they should have: between which two points
 * they were lost, and why.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/report.h"
#include "report/why/report_why_internal.h"

#define ROWS_AS_TEXT 10u
#define SAID_MAX 3u		/* subscriptions in a sentence */

/* ---- as text ---- */

/* What they have in common, behind a number. */
static const char *const kinds[FATE_WHYS] = {
	[FATE_NO_CALLBACK] = "received, but no callback ran",
	[FATE_GONE] = "at its end",
	[FATE_NEVER] = "of a publisher it never receives from",
	[FATE_NOT_YET] = "before it received its first one",
	[FATE_NO_MORE] = "after it received its last one",
	[FATE_UNDERWAY] = "while its executor waited for work",
	[FATE_OVERRUN] = "probably dropped from its queue by newer ones",
	[FATE_NOT_SENT] = "never sent by the middleware",
	[FATE_WIRE] = "lost on the wire",
	[FATE_REJECTED] = "rejected by the middleware",
	[FATE_QUEUE] = "displaced from its queue by newer ones",
	[FATE_NOT_TAKEN] = "in its queue, never taken",
	[FATE_UNKNOWN] = "for an unknown reason",
};

/* That a ring buffer overwrites is how it works, and what fell into a gap may have come. */
static const bool is_lost[FATE_WHYS] = {
	[FATE_NO_CALLBACK] = true, [FATE_GONE] = true, [FATE_NEVER] = true, [FATE_NOT_YET] = true, [FATE_NO_MORE] = true,
	[FATE_UNDERWAY] = true, [FATE_OVERRUN] = true, [FATE_UNKNOWN] = true,
	[FATE_NOT_SENT] = true, [FATE_WIRE] = true, [FATE_REJECTED] = true, [FATE_QUEUE] = true, [FATE_NOT_TAKEN] = true,
};

static void next_text(const struct fate *fate, char *buffer, size_t size)
{
	char later[TEXT_QUANTITY_MAX];

	*buffer = '\0';
	if (fate->next_id && fate->is_timed)
		snprintf(buffer, size, "message %" PRIu64 ", received %s later", fate->next_id,
			 text_ns(later, fate->next_ns - fate->publish_ns));
	else if (fate->next_id)
		snprintf(buffer, size, "message %" PRIu64, fate->next_id);
}

static void gone_text(const struct fate *fate, char *buffer, size_t size)
{
	const struct model_process *process = fate->subscription->process;
	int64_t after_ns = fate->last_ns - fate->publish_ns;
	char time[TEXT_QUANTITY_MAX];

	snprintf(buffer, size, "the last event of %s (%d) in the trace is %s %s it was published: it had ended, or the recording",
		 process->name, process->pid, text_ns(time, after_ns < 0 ? -after_ns : after_ns), after_ns < 0 ? "before" : "after");
}

/* Where the next one that was received says something. */
static void next_reason(const struct fate *fate, char *buffer, size_t size)
{
	char next[96], time[TEXT_QUANTITY_MAX];

	next_text(fate, next, sizeof(next));
	switch (fate->why) {
	case FATE_NOT_YET:
		snprintf(buffer, size,
			 "it had received nothing from this publisher before: perhaps they had not "
			 "discovered each other yet; "
			 "the next one that it received is %s",
			 next);
		break;
	case FATE_UNDERWAY:
		snprintf(buffer, size, "its executor waited for work %s until its next one, %s",
			 text_ns(time, fate->waited_ns), next);
		break;
	case FATE_OVERRUN:
		snprintf(buffer, size,
			 "its queue holds %" PRIu64 "%s, and %" PRIu64
			 " newer ones were published before it received "
			 "its next one, %s: probably they displaced it (KEEP_LAST)",
			 fate->subscription ? fate->subscription->depth : (uint64_t)0,
			 fate->waited_ns < 0 ? "" : ", its executor was busy", fate->newer, next);
		break;
	default:
		snprintf(buffer, size, "the trace does not say why; its next one is %s",
			 *next ? next : "not in the trace");
		break;
	}
}

static void rejected_text(const struct fate *fate, char *buffer, size_t size)
{
	const char *conflict = model_qos_conflict(fate->publisher, fate->subscription);

	if (conflict)
		snprintf(buffer, size,
			 "the middleware never connects the two: their %s is incompatible", conflict);
	else
		snprintf(buffer, size, "its process received it, and its reader did not accept it");
}

static void queue_text(const struct fate *fate, char *buffer, size_t size)
{
	char next[96];

	next_text(fate, next, sizeof(next));
	snprintf(buffer, size, "it was in the queue, which holds %" PRIu64 ", and newer ones displaced it before it was taken%s%s",
		 fate->subscription->depth, *next ? "; the next one that it took is " : "", next);
}

static void reason_of_trace(const struct fate *fate, char *buffer, size_t size)
{
	static const char *const plain[] = {
		[FATE_CAME] = "it came",
		[FATE_OVERWRITTEN] = "a newer one replaced it in the ring buffer",
		[FATE_CLEARED] = "the ring buffer was cleared",
		[FATE_NEVER] = "it received nothing from this publisher in the whole trace",
		[FATE_NO_MORE] = "it received nothing from this publisher afterwards",
		[FATE_NOT_SENT] = "the publisher's middleware never gave it to the network, "
				  "perhaps because it had not discovered this subscription",
		[FATE_WIRE] = "it was given to the network, and its process never received it",
		[FATE_NOT_TAKEN] = "it was in the queue, and nothing was taken from there afterwards",
	};
	char time[TEXT_QUANTITY_MAX];

	*buffer = '\0';
	if (fate->why < COUNT_OF(plain) && plain[fate->why])
		snprintf(buffer, size, "%s", plain[fate->why]);
	else if (fate->why == FATE_NO_CALLBACK)
		snprintf(buffer, size, "it was received%s%s, and no known callback ran with it",
			 fate->is_timed ? " after " : "",
			 fate->is_timed ? text_ns(time, fate->take_ns - fate->publish_ns) : "");
	else if (fate->why == FATE_GAP)
		snprintf(buffer, size,
			 "events of %s (%d) were lost meanwhile, so it may have been received",
			 fate->subscription->process->name, fate->subscription->process->pid);
	else if (fate->why == FATE_REJECTED)
		rejected_text(fate, buffer, size);
	else if (fate->why == FATE_QUEUE)
		queue_text(fate, buffer, size);
	else if (fate->why == FATE_GONE)
		gone_text(fate, buffer, size);
	else
		next_reason(fate, buffer, size);
}

/* What the trace and the captures say. */
static char *reason(const struct why_answer *answer, const struct fate *fate, char *buffer,
		    size_t size)
{
	size_t used;

	reason_of_trace(fate, buffer, size);
	used = strlen(buffer);
	why_wire_lost(answer, fate, buffer + used, size - used);
	return buffer;
}

/* The last point of its way that it is known to have passed, and the first one that it is not. */
static const char *from_point(const struct fate *fate)
{
	if (fate->why == FATE_NO_CALLBACK)
		return "rmw_take";
	if (fate->why == FATE_OVERWRITTEN || fate->why == FATE_CLEARED)
		return "ring buffer";
	if (fate->why == FATE_WIRE)
		return "network";
	if (fate->why == FATE_QUEUE || fate->why == FATE_NOT_TAKEN)
		return "its queue";
	return fate->send_ns ? "rmw_publish" : "publish call";
}

static const char *to_point(const struct fate *fate)
{
	switch (fate->why) {
	case FATE_NO_CALLBACK:
		return "callback";
	case FATE_OVERWRITTEN:
	case FATE_CLEARED:
		return "dequeue";
	case FATE_UNDERWAY:
	case FATE_REJECTED:
		return "its queue";
	case FATE_NOT_SENT:
		return "network";
	case FATE_WIRE:
		return "its process";
	default:
		return "rmw_take";
	}
}

static const char *to_whom(const struct fate *fate)
{
	if (!fate->subscription)
		return "(nobody)";
	return fate->subscription->node ? fate->subscription->node->full_name : "(node not known)";
}

static const char *by_whom(const struct fate *fate)
{
	return fate->publisher->node ? fate->publisher->node->full_name : "(node not known)";
}

/* Is it one of those that did not come to @path? */
static bool is_of(const struct fate *fate, const struct chains_path *path)
{
	if (fate->subscription != path->callback->subscription ||
	    fate->publisher != path->parent->publisher)
		return false;
	for (unsigned i = 0; i < path->untaken_count; i++)
		if (path->untaken[i] == fate->id)
			return true;
	return false;
}

uint64_t why_fate_lost(const struct why_answer *answer, const struct chains_path *path)
{
	const struct fate *fate;
	uint64_t lost = 0;

	if (!answer->fates || path->untaken_count == CHAINS_UNTAKEN_MAX)
		return chains_untaken(path);
	for (unsigned i = 0; (fate = fates_at(answer->fates, i)); i++)
		lost += is_of(fate, path) && is_lost[fate->why];
	return lost;
}

char *why_fate_kinds(const struct why_answer *answer, const struct chains_path *path, char *buffer,
		     size_t size)
{
	unsigned count[FATE_WHYS] = { 0 };
	const struct fate *fate;
	size_t used = 0;

	*buffer = '\0';
	for (unsigned i = 0; (fate = fates_at(answer->fates, i)); i++)
		if (is_of(fate, path))
			count[fate->why]++;
	for (unsigned why = 0; why < FATE_WHYS && used < size; why++)
		if (count[why] && is_lost[why])
			used += (size_t)snprintf(buffer + used, size - used, "%s%u %s", used ? ", " : " (", count[why], kinds[why]);
	if (used && used < size)
		snprintf(buffer + used, size - used, ")");
	return buffer;
}

/* ---- as rows ---- */

static const struct table_column columns[] = {
	{ "message", "Message" },
	{ "topic", "Of" },
	{ "by", NULL },
	{ "to", "Never received by" },
	{ "at", "Published at" },
	{ "published_ns", NULL },
	{ "from_point", "Lost after" },
	{ "to_point", "and before" },
	{ "why", NULL },
	{ "reason", "Why" },
	{ "next_message", NULL },
	{ "next_ns", NULL },
	{ "newer", NULL },
	{ "depth", NULL },
	{ "waited_ns", NULL },
};

static void row(struct why_answer *answer, const struct fate *fate)
{
	struct table *t = answer->table;
	char text[512];

	table_u64(t, fate->id);
	table_text(t, fate->publisher->topic->name);
	table_text(t, by_whom(fate));
	table_text(t, to_whom(fate));
	table_text(t, why_offset(answer, fate->publish_ns, text, sizeof(text)));
	table_time(t, fate->publish_ns);
	table_text(t, from_point(fate));
	table_text(t, to_point(fate));
	table_text(t, fate_why_name(fate->why));
	table_text(t, fate->subscription ? reason(answer, fate, text, sizeof(text)) : "there was no subscription");
	CELL_IF(t, fate->next_id, table_u64(t, fate->next_id));
	CELL_IF(t, fate->next_id, table_time(t, fate->next_ns));
	table_u64(t, fate->newer);
	table_u64(t, fate->subscription ? fate->subscription->depth : 0);
	CELL_IF(t, fate->next_id && fate->waited_ns >= 0, table_ns(t, fate->waited_ns));
}

/* On the chain's way, or the message that was asked for. */
static bool is_shown(const struct why_answer *answer, const struct fate *fate)
{
	const struct chains_path *path;

	if (fate->why == FATE_CAME)
		return false;
	if (answer->options->message && fate->id == answer->options->message)
		return true;
	for (path = why_next_link(answer, 0); path; path = why_next_link(answer, path->depth))
		if (is_of(fate, path))
			return true;
	return false;
}

void why_print_lost(struct why_answer *answer)
{
	bool is_text = answer->options->format == TABLE_TEXT;
	const struct fate *fate;
	unsigned all = 0;

	for (unsigned i = 0; (fate = fates_at(answer->fates, i)); i++)
		all += is_shown(answer, fate);
	if (is_text && !all)
		return;
	table_section(answer->table, "lost", "Lost on the way", columns, COUNT_OF(columns));
	all = 0;
	for (unsigned i = 0; (fate = fates_at(answer->fates, i)); i++)
		if (is_shown(answer, fate) && (all++ < ROWS_AS_TEXT || !is_text))
			row(answer, fate);
	if (is_text && all > ROWS_AS_TEXT)
		table_note(answer->table, "... and %u more: --format json has all.", all - ROWS_AS_TEXT);
}

/* ---- a message that came to nobody ---- */

static void fate_sentence(const struct why_answer *answer, char *buffer, size_t size)
{
	const struct fate *fate = fates_at(answer->fates, 0);
	char text[512];
	size_t used;

	if (!fate->subscription) {
		snprintf(buffer, size, "message %" PRIu64 " of %s, published by %s, reached nobody: the topic had no subscription "
			 "in the trace at that time", fate->id, fate->publisher->topic->name, by_whom(fate));
		return;
	}
	used = (size_t)snprintf(buffer, size, "message %" PRIu64 " of %s, published by %s, ", fate->id, fate->publisher->topic->name,
				by_whom(fate));
	for (unsigned i = 0; (fate = fates_at(answer->fates, i)) && i < SAID_MAX && used < size;
	     i++)
		if (fate->why == FATE_CAME)
			used += (size_t)snprintf(buffer + used, size - used, "%sreached %s, whose callback has no end in the trace",
						 i ? "; it " : "", to_whom(fate));
		else
			used += (size_t)snprintf(buffer + used, size - used,
						 "%snever reached %s: lost between %s and %s: %s",
						 i ? "; it " : "", to_whom(fate), from_point(fate),
						 to_point(fate),
						 reason(answer, fate, text, sizeof(text)));
}

void why_print_fate(struct why_answer *answer)
{
	const struct fate *fate = fates_at(answer->fates, 0);
	struct table *t = answer->table;
	char text[4096];

	fate_sentence(answer, text, sizeof(text));
	table_value_text(t, "sentence", "Why", text);
	table_value_u64(t, "message", "Message", fate->id);
	table_value_text(t, "topic", "Topic", fate->publisher->topic->name);
	table_value_text(t, "publisher", "Published by", by_whom(fate));
	table_value_text(t, "trace", "Trace", answer->path);
	table_value_text(t, "at", "Published at", why_offset(answer, fate->publish_ns, text, sizeof(text)));
	if (answer->lost_events || answer->options->format != TABLE_TEXT)
		table_value_u64(t, "lost_events", "Lost events", answer->lost_events);
	why_print_lost(answer);
	why_print_parts(answer);
	report_print_hosts(t, answer->options->align);
}
