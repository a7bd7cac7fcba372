/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first screen of `kymo report`, from a summary: what was looked at and whether it can be
 * trusted, the findings, the worst five of each kind, and what to type next. It fits 80 columns,
 * and 24 lines if there is little to say.
 */
#ifndef KYMO_REPORT_FIRST_H
#define KYMO_REPORT_FIRST_H

#include "analysis/simclock/simclock.h"
#include "base/table/table.h"
#include "summary/findings.h"
#include "summary/summary.h"

struct first_options {
	const char *name;    /* of the trace, as the user named it */
	const char *operand; /* what commands name it, in the quotes of a shell; "": they need no
				name */
	const struct simclock *clock; /* times are of this; NULL: since the trace began */
	const char
		*cause; /* `kymo why`'s sentence about the first finding; NULL: the summary's own */
	unsigned lines; /* that come between the screen and its last line */
	bool is_file;   /* the summary was read from a file: there is no trace for other verbs */
};

/** first_incomplete() - "INCOMPLETE: 5,731 events lost (13 %), the recorder did not end in order";
 * "" of a whole trace. Return: @buffer. */
char *first_incomplete(const struct summary *summary, char *buffer, size_t size);

/** first_doubt() - what lost events mean for the numbers; "": none were lost. Return: @buffer. */
char *first_doubt(const struct summary *summary, const struct first_options *options, char *buffer,
		  size_t size);

/** first_at() - "+4.325 s" within the trace, or the time of the simulation. Return: @buffer. */
char *first_at(const struct summary *summary, const struct first_options *options, int64_t ns,
	       char *buffer, size_t size);

/** first_command() - "kymo why TRACE '/scan -> /cmd_vel'"; "": there is nothing to type. Return:
 * @buffer. */
char *first_command(const struct summary *summary, const struct summary_finding *finding,
		    const struct first_options *options, char *buffer, size_t size);

/** first_print() - the screen but for its last line, as text. Context: allocates. */
void first_print(struct table *table, const struct summary *summary,
		 const struct first_options *options);

/** first_print_next() - its last line: what to type next. */
void first_print_next(struct table *table, const struct summary *summary,
		      const struct first_options *options);

/** first_note() - a paragraph in lines that fit. */
void first_note(struct table *table, const char *text);

/** first_note_lines() - how many lines that is. */
unsigned first_note_lines(struct table *table, const char *text);

/** first_print_findings() - the findings: as text, or as the section "findings" of JSON and CSV. */
void first_print_findings(struct table *table, const struct summary *summary,
			  const struct first_options *options, unsigned max);

/** first_print_machine() - what the summary has, as sections of JSON or CSV. */
void first_print_machine(struct table *table, const struct summary *summary,
			 const struct first_options *options);

/** first_has_rows() - is there anything to show? */
bool first_has_rows(const struct summary *summary);

#endif
