/* SPDX-License-Identifier: Apache-2.0 */
/* The findings: as sentences with the command that explains more, and as a table for programs. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/first/first_internal.h"

/* ---- for people ---- */

/* What shows why numbers cannot be trusted; "": nothing shows more. */
static void trust_command(const struct summary_trust *trust, const char *operand, char *buffer,
			  size_t size)
{
	const char *gap = *operand ? " " : "";

	if (trust->lost_events || trust->lost_packets)
		snprintf(buffer, size, "kymo report%s%s --section loss", gap, operand);
	else if (trust->damaged)
		snprintf(buffer, size, "kymo info%s%s", gap, operand);
	else if (!trust->unnamed)
		snprintf(buffer, size, "kymo report%s%s --section hosts", gap, operand);
}

char *first_command(const struct summary *summary, const struct summary_finding *finding,
		    const struct first_options *options, char *buffer, size_t size)
{
	const char *operand = options->operand, *gap = *operand ? " " : "";
	char ask[1100];

	*buffer = '\0';
	if (options->is_file)
		return buffer;
	if (*summary_finding_ask(finding))
		snprintf(buffer, size, "kymo why%s%s %s", gap, operand,
			 text_shell(ask, sizeof(ask), summary_finding_ask(finding)));
	else if (finding->kind == SUMMARY_FINDING_TRUST)
		trust_command(&summary->trust, operand, buffer, size);
	return buffer;
}

/* "at +4.325 s, 6 times" */
static void where_of(const struct summary *summary, const struct summary_finding *finding,
		     const struct first_options *options, char *buffer, size_t size)
{
	char at[48], times[32];

	*buffer = '\0';
	if (!finding->at_ns)
		return;
	first_at(summary, options, finding->at_ns, at, sizeof(at));
	if (finding->times > 1 && finding->kind != SUMMARY_FINDING_LOOP)
		snprintf(buffer, size, "at %s, %s times", at,
			 summary_number(times, finding->times));
	else
		snprintf(buffer, size, "at %s", at);
}

/* Columns of place and command in one line, the command best below those of the other findings;
 * @gap: set to the blanks between. */
static size_t one_line(struct table *table, const char *where, const char *command, size_t *gap)
{
	const size_t both = 4 + strlen(where) + strlen(command);

	*gap = !*where || !*command ? 0 : strlen(where) < 24 ? 24 - strlen(where) : 2;
	if (*gap && both + *gap > first_width(table))
		*gap = 2;
	return both + *gap;
}

static unsigned print_where(struct table *table, const char *where, const char *command, bool print)
{
	size_t gap;
	const size_t columns = one_line(table, where, command, &gap);

	if (!*where && !*command)
		return 0;
	if (print)
		table_note(table, "    %s%*s%s", where, (int)gap, "", command);
	return first_rows(table, columns);
}

/* At the end of the sentence, if it needs a line of its own: " At +4.325 s, 6 times." */
static void append_where(struct table *table, char *where, const char *command, char *text,
			 size_t size)
{
	const size_t used = strlen(text);
	size_t gap;

	if (!*where || (*command && one_line(table, where, command, &gap) <= first_width(table)))
		return;
	*where = 'A';
	(void)snprintf(text + used, size - used, " %s.", where);
	*where = '\0';
}

static unsigned print_finding(struct table *table, const struct summary *summary,
			      const struct summary_finding *finding, unsigned number,
			      const struct first_options *options, bool print)
{
	char text[2048], where[96], command[2200], before[16], alike[96];
	unsigned lines;

	summary_finding_text(summary, finding, text, sizeof(text));
	if (number == 1 && options->cause && *options->cause)
		snprintf(text, sizeof(text), "%s: %s.%s",
			 finding->entity ? finding->entity->label : "", options->cause,
			 summary_finding_alike(finding, alike, sizeof(alike)));
	where_of(summary, finding, options, where, sizeof(where));
	first_command(summary, finding, options, command, sizeof(command));
	/* Of the first one, whatever room it needs; `--section findings` has all of them. */
	if (number > 1 && 4 + strlen(command) > first_width(table))
		*command = '\0';
	append_where(table, where, command, text, sizeof(text));
	snprintf(before, sizeof(before), "%2u  ", number);
	if (print)
		table_mark(table, TABLE_FIRST);
	lines = first_fold(table, before, "    ", text, print);
	return lines + print_where(table, where, command, print);
}

static unsigned print_nothing(struct table *table, const struct summary *summary,
			      const struct first_options *options)
{
	struct summary_finding slowest;
	char text[1400], command[1200];
	unsigned lines;

	lines = first_fold(table, "ok  ", "    ", summary_nothing_text(summary, text, sizeof(text)),
			   true);
	if (!summary_slowest(summary, &slowest))
		return lines;
	first_command(summary, &slowest, options, command, sizeof(command));
	return lines + print_where(table, "", command, true);
}

unsigned first_text_findings(struct table *table, const struct summary *summary,
			     const struct first_options *options, unsigned room)
{
	struct summary_finding finding[SUMMARY_FINDINGS_MAX];
	unsigned count = summary_findings(summary, finding, SUMMARY_FINDINGS_MAX), lines = 0, shown;
	char more[4200];

	/* What is lost stands in the head already. */
	if (count && finding[count - 1].kind == SUMMARY_FINDING_TRUST && !summary->trust.other_host)
		count--;
	if (!count)
		return print_nothing(table, summary, options);
	for (shown = 0; shown < count && shown < FIRST_FINDINGS; shown++) {
		const struct summary_finding *next = &finding[shown];
		const unsigned with =
			lines + print_finding(table, summary, next, shown + 1, options, false);

		if (shown &&
		    (with + (count > shown + 1) > room ||
		     (shown > 1 && with > FIRST_FINDINGS_LINES + first_lines(table) - FIRST_LINES)))
			break;
		lines += print_finding(table, summary, next, shown + 1, options, true);
	}
	if (count > shown) {
		(void)snprintf(more, sizeof(more), "%u more: kymo report%s%s --section findings",
			       count - shown, *options->operand ? " " : "", options->operand);
		/* Else the last line of the screen shows them, too. */
		if (4 + strlen(more) > first_width(table))
			(void)snprintf(more, sizeof(more), "%u more", count - shown);
		table_note(table, "    %s", more);
		lines++;
	}
	return lines;
}

/* ---- for programs ---- */

static const struct table_column columns[] = {
	{ "rank", "Rank" },    { "kind", "Kind" },       { "name", "Of" },
	{ "text", "Finding" }, { "at_ns", NULL },        { "at", "At" },
	{ "times", "Times" },  { "worst_ns", "Worst" },  { "usual_ns", "usually" },
	{ "harm_ns", "Harm" }, { "culprit", "Culprit" }, { "culprit_ns", NULL },
	{ "cause", NULL },     { "process", NULL },      { "alike", NULL },
	{ "affected", NULL },  { "command", "Command" },
};

static void machine_row(struct table *t, const struct summary *summary,
			const struct summary_finding *finding, unsigned rank,
			const struct first_options *options)
{
	const struct summary_part *cause = &finding->cause;
	const char *culprit = !cause->who ? NULL : *cause->by ? cause->by : cause->who;
	char text[2200];

	table_u64(t, rank);
	table_text(t, summary_finding_kind_name(finding->kind));
	table_text(t, finding->entity ? finding->entity->name : NULL);
	table_text(t, summary_finding_text(summary, finding, text, sizeof(text)));
	if (finding->at_ns) {
		table_time(t, finding->at_ns);
		table_text(t, first_at(summary, options, finding->at_ns, text, sizeof(text)));
	} else {
		table_none(t);
		table_none(t);
	}
	table_u64(t, finding->times);
	table_ns(t, finding->worst_ns);
	table_ns(t, finding->usual_ns);
	table_ns(t, finding->harm_ns);
	table_text(t, culprit);
	if (culprit)
		table_ns(t, cause->ns);
	else
		table_none(t);
	table_text(t, culprit ? summary_what_name(cause->what) : NULL);
	table_text(t, finding->entity && *finding->entity->of ? finding->entity->of : NULL);
	table_u64(t, finding->alike);
	table_u64(t, finding->affected);
	first_command(summary, finding, options, text, sizeof(text));
	table_text(t, *text ? text : NULL);
}

void first_print_findings(struct table *table, const struct summary *summary,
			  const struct first_options *options, unsigned max)
{
	struct summary_finding finding[SUMMARY_FINDINGS_MAX];
	unsigned count = summary_findings(summary, finding, SUMMARY_FINDINGS_MAX);

	table_section(table, "findings", "Findings, most harmful first", columns,
		      COUNT_OF(columns));
	for (unsigned i = 0; i < count && i < max; i++)
		machine_row(table, summary, &finding[i], i + 1, options);
}
