/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the first screen: the worst rows of each kind, and one line about the rest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/first/first_internal.h"

#define NAME_WIDTH 33u

/* ---- cells ---- */

void first_cells_times(struct table *t, const struct histogram *h)
{
	table_ns(t, (int64_t)histogram_quantile(h, 0.5));
	table_ns(t, (int64_t)histogram_quantile(h, 0.99));
	table_ns(t, (int64_t)h->max);
}

static void cell_count(struct table *t, uint64_t count)
{
	table_u64(t, count);
}

/* Where most of a chain's time went. */
static const char *mostly(const struct summary_entity *entity)
{
	static const struct {
		enum summary_counter counter;
		const char *word;
	} words[] = {
		{ SUMMARY_RUN_NS, "running" },      { SUMMARY_WAIT_NS, "waiting" },
		{ SUMMARY_WAY_NS, "transport" },    { SUMMARY_PUBLISH_NS, "publishing" },
		{ SUMMARY_KEPT_NS, "being kept" },  { SUMMARY_TAKE_NS, "taking" },
		{ SUMMARY_AWAITED_NS, "awaiting" },
	};
	unsigned most = 0;

	for (unsigned i = 1; i < COUNT_OF(words); i++)
		if (entity->count[words[i].counter] > entity->count[words[most].counter])
			most = i;
	return words[most].word;
}

static void cell_busy(struct table *t, const struct summary *summary, uint64_t ns)
{
	char text[32];

	if (summary->end_ns <= summary->begin_ns) {
		table_none(t);
		return;
	}
	snprintf(text, sizeof(text), "%.1f %%",
		 100.0 * (double)ns / (double)(summary->end_ns - summary->begin_ns));
	table_text(t, text);
}

static void cell_name(struct table *t, const struct summary_entity *entity)
{
	char text[256];

	table_text(t, first_short(text, sizeof(text), entity->label,
				  NAME_WIDTH + first_width(t) - FIRST_WIDTH));
}

/* ---- tables ---- */

static void chain_row(struct table *t, const struct summary *summary,
		      const struct summary_entity *entity)
{
	(void)summary;
	cell_name(t, entity);
	cell_count(t, entity->count[SUMMARY_RUNS]);
	first_cells_times(t, &entity->histogram[SUMMARY_LATENCY]);
	table_text(t, mostly(entity));
}

static void run_row(struct table *t, const struct summary *summary,
		    const struct summary_entity *entity)
{
	const struct histogram *duration = &entity->histogram[SUMMARY_DURATION];

	cell_name(t, entity);
	cell_count(t, entity->count[SUMMARY_RUNS]);
	first_cells_times(t, duration);
	cell_busy(t, summary, duration->sum);
}

static void loop_row(struct table *t, const struct summary *summary,
		     const struct summary_entity *entity)
{
	(void)summary;
	cell_name(t, entity);
	cell_count(t, entity->count[SUMMARY_RUNS]);
	first_cells_times(t, &entity->histogram[SUMMARY_LATENCY]);
	cell_count(t, entity->count[SUMMARY_MISSED]);
}

static void action_row(struct table *t, const struct summary *summary,
		       const struct summary_entity *entity)
{
	(void)summary;
	cell_name(t, entity);
	cell_count(t, entity->count[SUMMARY_RUNS]);
	first_cells_times(t, &entity->histogram[SUMMARY_LATENCY]);
	cell_count(t, entity->count[SUMMARY_ABORTED]);
}

static const struct kind {
	enum summary_kind kind;
	enum summary_distribution by;
	const char *key, *one;
	const char *section; /* its full table in `kymo report`; NULL: that of `kymo flow` */
	struct table_column column[6];
	void (*print)(struct table *t, const struct summary *summary,
		      const struct summary_entity *entity);
} kinds[FIRST_KINDS] = {
	{ SUMMARY_CHAIN,
	  SUMMARY_LATENCY,
	  "chains",
	  "chain",
	  NULL,
	  { { "name", "Chains" },
	    { "arrived", "arrived" },
	    { "usual_ns", "usually" },
	    { "p99_ns", "p99" },
	    { "worst_ns", "worst" },
	    { "mostly", "mostly" } },
	  chain_row },
	{ SUMMARY_CALLBACK,
	  SUMMARY_DURATION,
	  "callbacks",
	  "callback",
	  "--section callbacks",
	  { { "name", "Callbacks" },
	    { "runs", "runs" },
	    { "usual_ns", "usually" },
	    { "p99_ns", "p99" },
	    { "worst_ns", "worst" },
	    { "busy", "busy" } },
	  run_row },
	{ SUMMARY_ACTION,
	  SUMMARY_LATENCY,
	  "actions",
	  "action",
	  "--section actions",
	  { { "name", "Actions" },
	    { "goals", "goals" },
	    { "usual_ns", "usually" },
	    { "p99_ns", "p99" },
	    { "worst_ns", "worst" },
	    { "aborted", "aborted" } },
	  action_row },
	{ SUMMARY_LOOP,
	  SUMMARY_LATENCY,
	  "loops",
	  "loop",
	  "--section loops",
	  { { "name", "Loops: how late they woke" },
	    { "cycles", "cycles" },
	    { "usual_ns", "usually" },
	    { "p99_ns", "p99" },
	    { "worst_ns", "worst" },
	    { "missed", "missed" } },
	  loop_row },
	{ SUMMARY_SPAN,
	  SUMMARY_DURATION,
	  "spans",
	  "span",
	  "--section spans",
	  { { "name", "Spans" },
	    { "count", "count" },
	    { "usual_ns", "usually" },
	    { "p99_ns", "p99" },
	    { "worst_ns", "worst" },
	    { "busy", "busy" } },
	  run_row },
};

static void print_row(struct table *table, const struct summary *summary, const struct kind *kind,
		      const struct first_row *row)
{
	struct summary_entity whole;
	char label[1100];

	if (row->alike <= SUMMARY_ALIKE_ROWS) {
		kind->print(table, summary, row->entity);
		return;
	}
	if (!first_whole(summary, row, kind->by, &whole, label, sizeof(label)))
		kind->print(table, summary, &whole);
	histogram_free(&whole.histogram[kind->by]);
}

static unsigned print_kind(struct table *table, const struct summary *summary,
			   const struct kind *kind, unsigned rows, bool print)
{
	struct first_list list = first_list(summary, kind->kind, kind->by);
	const unsigned shown = list.count < rows ? list.count : rows;
	unsigned lines = shown ? shown + 2 : 0;

	if (print && shown)
		table_section(table, kind->key, NULL, kind->column, COUNT_OF(kind->column));
	for (unsigned i = 0; print && i < shown; i++)
		print_row(table, summary, kind, &list.row[i]);
	free(list.row);
	return lines;
}

/* ---- one line about messages and timers ---- */

static void count_topics(const struct summary *summary, unsigned *topics, uint64_t *lost,
			 uint64_t *not_yet)
{
	for (unsigned i = 0; i < summary->entities; i++) {
		const struct summary_entity *entity = summary->entity[i];

		if (entity->kind != SUMMARY_TOPIC || entity->is_startup)
			continue;
		++*topics;
		*lost += entity->count[SUMMARY_NEVER_RECEIVED] + entity->count[SUMMARY_OVERWRITTEN];
		*not_yet += entity->count[SUMMARY_NOT_YET];
	}
}

static void topics_text(const struct summary *summary, char *buffer, size_t size)
{
	unsigned topics = 0;
	uint64_t lost = 0, not_yet = 0;
	char count[32];

	*buffer = '\0';
	count_topics(summary, &topics, &lost, &not_yet);
	if (!topics)
		return;
	if (lost)
		snprintf(buffer, size, "Topics: %u, %s %s %s received. ", topics,
			 summary_number(count, lost), lost == 1 ? "message" : "messages",
			 summary->trust.lost_events ? "perhaps not" : "never");
	else if (not_yet)
		snprintf(buffer, size, "Topics: %u, all received (but %s before discovery). ",
			 topics, summary_number(count, not_yet));
	else
		snprintf(buffer, size, "Topics: %u, all received. ", topics);
}

static void timers_text(const struct summary *summary, char *buffer, size_t size)
{
	unsigned timers = 0, other = 0, late = 0;

	*buffer = '\0';
	for (unsigned i = 0; i < summary->entities; i++) {
		const struct summary_entity *entity = summary->entity[i];

		if (entity->kind != SUMMARY_TIMER)
			continue;
		timers++;
		other += entity->is_other_clock;
		late += !entity->is_other_clock && entity->count[SUMMARY_OVERRUN];
	}
	if (!timers)
		return;
	snprintf(buffer, size, "Timers: %u", timers);
	if (other)
		(void)snprintf(buffer + strlen(buffer), size - strlen(buffer),
			       ", %u of a simulation's clock", other);
	if (late)
		(void)snprintf(buffer + strlen(buffer), size - strlen(buffer),
			       ", %u a period late at times. ", late);
	else
		(void)snprintf(buffer + strlen(buffer), size - strlen(buffer), ", %s. ",
			       other == timers ? "not judged" : "none a period late");
}

/* ---- what is not shown, and the command that shows it ---- */

/* Names of what one command shows, "8 more callbacks, 3 spans", and its options. */
struct left {
	char names[256], options[256];
};

static void append(char *list, size_t size, const char *between, const char *text)
{
	const size_t used = strlen(list);

	(void)snprintf(list + used, size - used, "%s%s", used ? between : "", text);
}

/* A command with a longer name of the trace needs a line of its own: the last line of the screen,
 * with --all, is enough then. */
#define OPERAND_LONG 24u

/* "8 more callbacks: `kymo report TRACE --section callbacks`. "; of a file, nothing shows more. */
static void put_left(const struct left *left, const char *verb, const struct first_room *room,
		     char *buffer, size_t size)
{
	const char *gap = *room->operand ? " " : "";
	char command[4200] = "";

	if (!*left->names)
		return;
	if (!room->is_file && (strlen(room->operand) <= OPERAND_LONG || strcmp(verb, "report")))
		(void)snprintf(command, sizeof(command), ": `kymo %s%s%s%s%s`", verb, gap,
			       room->operand, *left->options ? " " : "", left->options);
	if (strlen(command) > FIRST_WIDTH && strlen(left->options) > strlen("--all"))
		(void)snprintf(command, sizeof(command), ": `kymo %s%s%s --all`", verb, gap,
			       room->operand);
	(void)snprintf(buffer + strlen(buffer), size - strlen(buffer), "%s%s. ", left->names,
		       command);
}

/* Of each table that was cut or left out. */
static void more_text(const struct summary *summary, const struct first_room *room, char *buffer,
		      size_t size)
{
	struct left chains = { "", "" }, others = { "", "" };
	char name[64];

	for (unsigned i = 0; i < COUNT_OF(kinds); i++) {
		const unsigned rows = room->rows[i];
		struct first_list list = first_list(summary, kinds[i].kind, kinds[i].by);
		const unsigned more = first_left(&list, rows);
		struct left *left = kinds[i].section ? &others : &chains;

		free(list.row);
		if (!more)
			continue;
		(void)snprintf(name, sizeof(name), "%u %s%s", more, rows ? "more " : "",
			       more == 1 ? kinds[i].one : kinds[i].key);
		append(left->names, sizeof(left->names), ", ", name);
		if (kinds[i].section)
			append(left->options, sizeof(left->options), " ", kinds[i].section);
	}
	put_left(&chains, "flow", room, buffer, size);
	put_left(&others, "report", room, buffer, size);
}

/* What belongs to the start of programs, and runs that would stand out, had they not just begun. */
static void hidden_text(const struct summary *summary, const struct first_room *room, char *buffer,
			size_t size)
{
	const uint64_t hidden = summary_hidden(summary);
	struct left left = { "", "--all" };
	char name[128], number[32];

	for (unsigned i = 0; i < COUNT_OF(kinds); i++) {
		struct first_list list = first_list(summary, kinds[i].kind, kinds[i].by);

		if (list.hidden && !first_left(&list, room->rows[i])) {
			(void)snprintf(name, sizeof(name), "%u start-up %s hidden", list.hidden,
				       list.hidden == 1 ? kinds[i].one : kinds[i].key);
			append(left.names, sizeof(left.names), ", ", name);
		}
		free(list.row);
	}
	(void)snprintf(name, sizeof(name),
		       "%s start-up instance%s hidden from the findings and count%s in the tables",
		       summary_number(number, hidden), hidden == 1 ? " is" : "s are",
		       hidden == 1 ? "s" : "");
	if (hidden)
		append(left.names, sizeof(left.names), "; ", name);
	put_left(&left, "report", room, buffer, size);
}

unsigned first_tables(struct table *table, const struct summary *summary,
		      const struct first_room *room, bool print)
{
	char text[10240], topics[256], timers[256], more[9216];
	unsigned lines = 0;

	for (unsigned i = 0; i < COUNT_OF(kinds); i++)
		lines += print_kind(table, summary, &kinds[i], room->rows[i], print);
	topics_text(summary, topics, sizeof(topics));
	timers_text(summary, timers, sizeof(timers));
	*more = '\0';
	more_text(summary, room, more, sizeof(more));
	hidden_text(summary, room, more, sizeof(more));
	snprintf(text, sizeof(text), "%s%s%s", topics, timers, more);
	if (*text && text[strlen(text) - 1] == ' ')
		text[strlen(text) - 1] = '\0';
	/* A table ends with an empty line. */
	if (*text && !lines && print)
		table_note(table, "%s", "");
	if (*text)
		lines += first_fold(table, "", "", text, print) + 1;
	return lines;
}

void first_fit(struct table *table, const struct summary *summary, unsigned lines,
	       struct first_room *room)
{
	for (unsigned i = 0; i < FIRST_KINDS; i++) {
		struct first_list list = first_list(summary, kinds[i].kind, kinds[i].by);

		free(list.row);
		room->rows[i] = list.count < FIRST_ROWS ? list.count : FIRST_ROWS;
	}
	for (;;) {
		unsigned most = FIRST_KINDS - 1;

		for (unsigned i = FIRST_KINDS - 1; i-- > 0;)
			if (room->rows[i] > room->rows[most] ||
			    (room->rows[i] == room->rows[most] && room->rows[i] > 1))
				most = i;
		if (!room->rows[most] ||
		    lines + first_tables(table, summary, room, false) <= first_lines(table))
			return;
		room->rows[most]--;
	}
}
