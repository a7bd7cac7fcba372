/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the recorder, and the line that shows how much is recorded. */
#include "cli/verbs/record/record_show.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"

/* Of a recording without a process, until the reason is shown: of one without a command, and of one
 * with a command, which may take its time. */
#define NOBODY_NS  1000000000u
#define NOTHING_NS 5000000000u

void record_say(void *context, const char *text)
{
	const struct record_show *show = context;

	if (show->terminal)
		fputs("\r\033[K", stderr);
	cli_say((void *)show->verb, text);
}

/* A line of zeros does not show that something is wrong. */
static void tell_nothing(struct record_show *show)
{
	const struct stranger *stranger = &show->result->stranger;
	char text[sizeof stranger->text + sizeof stranger->remedy + 64];

	show->told_nothing = true;
	if (!show->record->command)
		(void)snprintf(text, sizeof text,
			       "no traced process is running, so nothing is recorded yet; start "
			       "programs with \"kymo run -- CMD\"; \"kymo doctor -p PID\" shows "
			       "why a running one is not traced");
	else
		(void)snprintf(text, sizeof text, "nothing of the command is traced yet%s%s%s%s",
			       *stranger->text ? ": " : "", stranger->text,
			       *stranger->remedy ? "; " : "", stranger->remedy);
	record_say(show, text);
}

/*
 * A command writes to the same terminal: what it prints would be appended to a line that changes.
 * So there are lines of their own, after 1, 2, 4, 8 ... seconds. Return: false: not yet.
 */
static bool begins_line(struct record_show *show, uint64_t duration_ns)
{
	if (!show->record->command)
		return true;
	if (duration_ns < (1000000000ull << show->lines))
		return false;
	show->lines++;
	return true;
}

void record_progress(void *context, const struct session_stats *stats)
{
	char time[TEXT_QUANTITY_MAX], bytes[TEXT_QUANTITY_MAX];
	struct record_show *show = context;

	if (!stats->processes && !show->told_nothing &&
	    stats->duration_ns >= (show->record->command ? NOTHING_NS : NOBODY_NS))
		tell_nothing(show);
	if (!begins_line(show, stats->duration_ns))
		return;
	fprintf(stderr, "\r%s  %" PRIu64 " events  %s  %u process%s", text_ns(time,
		(int64_t)stats->duration_ns), stats->recorded + stats->init_events,
		text_bytes(bytes, stats->bytes), stats->alive, stats->alive == 1 ? "" : "es");
	if (stats->dropped)
		fprintf(stderr, "  %" PRIu64 " dropped", stats->dropped);
	fputs(show->record->command ? "\033[K\n" : "\033[K", stderr);
	fflush(stderr);
}
