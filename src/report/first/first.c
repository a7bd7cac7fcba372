/* SPDX-License-Identifier: Apache-2.0 */
/* The first screen: its head, its order, and what to type next; see first.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts/accounts.h"
#include "base/text.h"
#include "report/first/first_internal.h"

/* ---- texts ---- */

char *first_at(const struct summary *summary, const struct first_options *options, int64_t ns,
	       char *buffer, size_t size)
{
	if (options->clock)
		snprintf(buffer, size, "%.3f s", (double)simclock_stamp(options->clock, ns) / 1e9);
	else
		snprintf(buffer, size, "%+.3f s", (double)(ns - summary->origin_ns) / 1e9);
	return buffer;
}

unsigned first_width(const struct table *table)
{
	const unsigned width = table_looks(table)->width;

	return width <= FIRST_WIDTH       ? FIRST_WIDTH
	       : width <= FIRST_WIDTH_MAX ? width
					  : FIRST_WIDTH_MAX;
}

unsigned first_lines(const struct table *table)
{
	const unsigned lines = table_looks(table)->lines;

	return lines > FIRST_LINES + 1 ? lines - 1 : FIRST_LINES;
}

char *first_short(char *buffer, size_t size, const char *name, unsigned width)
{
	const size_t length = strlen(name), kept = width > 3 ? width - 3 : 0;
	const size_t tail = kept / 2, head = kept - tail;

	if (length <= width)
		snprintf(buffer, size, "%s", name);
	else
		snprintf(buffer, size, "%.*s...%s", (int)head, name, name + length - tail);
	return buffer;
}

unsigned first_fold(struct table *table, const char *first, const char *indent, const char *text,
		    bool print)
{
	char *folded = NULL;
	size_t size, length;
	FILE *out = open_memstream(&folded, &size);
	unsigned lines = 0;

	if (!out)
		return 0;
	fputs(first, out);
	text_fold(out, text, first_width(table), strlen(first), strlen(indent));
	if (fclose(out) == 0)
		for (const char *at = folded; at; at = at[length] ? at + length + 1 : NULL) {
			length = strcspn(at, "\n");
			if (print)
				table_note(table, "%.*s", (int)length, at);
			lines += first_rows(table, length);
		}
	free(folded);
	return lines;
}

unsigned first_rows(const struct table *table, size_t columns)
{
	const unsigned width = first_width(table);

	return columns > width ? (unsigned)((columns + width - 1) / width) : 1;
}

/* ---- the head ---- */

static unsigned entities_of(const struct summary *summary, enum summary_kind kind)
{
	unsigned count = 0;

	for (unsigned i = 0; i < summary->entities; i++)
		count += summary->entity[i]->kind == kind;
	return count;
}

static char *counted(char *buffer, size_t size, uint64_t count, const char *what,
		     const char *plural)
{
	char text[32];

	snprintf(buffer, size, "%s %s", summary_number(text, count), count == 1 ? what : plural);
	return buffer;
}

static bool is_complete(const struct summary_trust *trust)
{
	return !trust->lost_events && !trust->lost_packets && !trust->damaged && !trust->unnamed &&
	       !trust->unended && !trust->growing;
}

/* " the recorder did not end in order," */
static void append_end(char *buffer, size_t size, uint64_t recorders, enum accounts_end end)
{
	char count[32];
	const size_t used = strlen(buffer);

	if (recorders > 1)
		(void)snprintf(buffer + used, size - used, " %s recorders %s,",
			       summary_number(count, recorders), accounts_end_text(end));
	else if (recorders)
		(void)snprintf(buffer + used, size - used, " the recorder %s,",
			       accounts_end_text(end));
}

char *first_incomplete(const struct summary *summary, char *buffer, size_t size)
{
	const struct summary_trust *trust = &summary->trust;
	const uint64_t lost = trust->lost_events;
	char text[64], share[32] = "";

	*buffer = '\0';
	if (is_complete(trust))
		return buffer;
	snprintf(buffer, size, FIRST_INCOMPLETE);
	if (lost && summary->events)
		snprintf(share, sizeof(share), " (%.2g %%)",
			 100.0 * (double)lost / (double)(lost + summary->events));
	if (lost || trust->lost_packets)
		(void)snprintf(buffer + strlen(buffer), size - strlen(buffer), " %s lost%s,",
			       lost ? counted(text, sizeof(text), lost, "event", "events")
				    : counted(text, sizeof(text), trust->lost_packets, "packet",
					      "packets"),
			       share);
	if (trust->damaged)
		(void)snprintf(buffer + strlen(buffer), size - strlen(buffer), " damaged in %s,",
			       counted(text, sizeof(text), trust->damaged, "place", "places"));
	if (trust->unnamed)
		(void)snprintf(buffer + strlen(buffer), size - strlen(buffer),
			       " %" PRIu64 " of %" PRIu64 " callbacks without a name,",
			       trust->unnamed, trust->callbacks);
	append_end(buffer, size, trust->unended, ACCOUNTS_NOT_ENDED);
	append_end(buffer, size, trust->growing, ACCOUNTS_GROWING);
	buffer[strlen(buffer) - 1] = '\0'; /* the comma */
	return buffer;
}

char *first_doubt(const struct summary *summary, const struct first_options *options, char *buffer,
		  size_t size)
{
	const struct summary_trust *trust = &summary->trust;
	char begin[48], end[48];
	size_t used;

	*buffer = '\0';
	if (!trust->lost_events && !trust->lost_packets)
		return buffer;
	snprintf(buffer, size,
		 "Counts below are too low; messages that seem lost may only be unrecorded.");
	used = strlen(buffer);
	if (trust->lost_begin_ns && trust->lost_end_ns)
		(void)snprintf(
			buffer + used, size - used, " Lost from %s to %s%s%s.",
			first_at(summary, options, (int64_t)trust->lost_begin_ns, begin,
				 sizeof(begin)),
			first_at(summary, options, (int64_t)trust->lost_end_ns, end, sizeof(end)),
			trust->lost_of ? ", most of it in " : "",
			trust->lost_of ? trust->lost_of : "");
	return buffer;
}

/* What the loss means for the numbers below. */
static unsigned print_doubt(struct table *table, const struct summary *summary,
			    const struct first_options *options)
{
	const struct summary_trust *trust = &summary->trust;
	char text[4600];
	unsigned lines = 0;

	if (*first_doubt(summary, options, text, sizeof(text))) {
		if (!options->is_file)
			(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
				       " Each gap: `kymo report%s%s --section loss`.",
				       *options->operand ? " " : "", options->operand);
		table_mark(table, TABLE_DOUBTFUL);
		lines += first_fold(table, "", "", text, true);
	}
	if (trust->unnamed)
		lines +=
			first_fold(table, "", "",
				   "Names are missing because the trace does not have the start of "
				   "these programs.",
				   true);
	if (trust->damaged)
		lines += first_fold(table, "", "",
				    text_hints(text, sizeof(text),
					       "The trace is damaged: `kymo info` lists the "
					       "places.",
					       options->operand),
				    true);
	if (trust->unended)
		lines += first_fold(table, "", "",
				    "The end of the recording may be missing, and losses are those "
				    "that the files show.",
				    true);
	return lines;
}

static unsigned print_head(struct table *table, const struct summary *summary,
			   const struct first_options *options)
{
	const unsigned loops = entities_of(summary, SUMMARY_LOOP);
	const unsigned spans = entities_of(summary, SUMMARY_SPAN);
	const int64_t length_ns = summary->end_ns - summary->begin_ns;
	char line[1024], time[TEXT_QUANTITY_MAX], processes[64], things[160], events[64],
		trust[256];
	char of_loops[64], of_spans[64], name[256];
	const bool is_whole = is_complete(&summary->trust);
	unsigned lines = 0;

	counted(processes, sizeof(processes),
		summary->processes ? summary->processes : entities_of(summary, SUMMARY_PROCESS),
		"process", "processes");
	counted(events, sizeof(events), summary->events, "event", "events");
	if (summary->ros_events)
		counted(things, sizeof(things), summary->nodes, "node", "nodes");
	else
		snprintf(things, sizeof(things), "%s%s%s",
			 loops ? counted(of_loops, sizeof(of_loops), loops, "loop", "loops") : "",
			 loops ? ", " : "",
			 counted(of_spans, sizeof(of_spans), spans, "span", "spans"));
	snprintf(line, sizeof(line), "%s   %s   %s, %s, %s%s",
		 text_trace_name(name, sizeof(name), options->name),
		 text_ns(time, length_ns > 0 ? length_ns : 0), processes, things, events,
		 is_whole ? ", none lost" : "");
	if (!is_whole) {
		table_mark(table, TABLE_BAD);
		lines = first_fold(table, "", "    ",
				   first_incomplete(summary, trust, sizeof(trust)), true);
	}
	return lines + first_fold(table, "", "    ", line, true) +
	       print_doubt(table, summary, options);
}

/* ---- the screen ---- */

bool first_has_rows(const struct summary *summary)
{
	for (unsigned i = 0; i < summary->entities; i++)
		if (summary->entity[i]->count[SUMMARY_RUNS] ||
		    summary->entity[i]->count[SUMMARY_PUBLISHED] ||
		    summary->entity[i]->count[SUMMARY_UNFINISHED])
			return true;
	return false;
}

void first_note(struct table *table, const char *text)
{
	(void)first_fold(table, "", "", text, true);
}

unsigned first_note_lines(struct table *table, const char *text)
{
	return first_fold(table, "", "", text, false);
}

void first_print_next(struct table *table, const struct summary *summary,
		      const struct first_options *options)
{
	const char *operand = options->operand, *gap = *operand ? " " : "";

	table_note(table, "%s", "");
	if (options->is_file)
		table_note(table,
			   "This is a summary: `kymo why` and `kymo flow` need the trace itself.");
	else if (strlen(operand) >=
		 12) /* a path as long as it is: what can be typed as it stands */
		table_note(table, "kymo report %s --all", operand);
	else
		table_note(table,
			   "kymo report%s%s --all  all tables   kymo %s%s%s   kymo help report",
			   gap, operand, summary->ros_events ? "flow" : "events", gap, operand);
}

void first_print(struct table *table, const struct summary *summary,
		 const struct first_options *options)
{
	/* The last two are an empty line and what to type next; one stands before the findings. */
	unsigned lines = print_head(table, summary, options) + 2 + options->lines +
			 first_rows(table, strlen("kymo report  --all") + strlen(options->operand));
	struct first_room room = { .operand = options->operand, .is_file = options->is_file };
	const unsigned least = lines + first_tables(table, summary, &room, false);

	table_note(table, "%s", "");
	lines += first_text_findings(table, summary, options,
				     first_lines(table) > least ? first_lines(table) - least : 0);
	first_fit(table, summary, lines, &room);
	(void)first_tables(table, summary, &room, true);
}
