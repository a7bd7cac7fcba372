/* SPDX-License-Identifier: Apache-2.0 */
/* The report as a whole: which sections are printed, and in which order. */
#include "report/report.h"

#include <stdio.h>
#include <string.h>

#include "analysis/tables/tables.h"
#include "base/array.h"
#include "base/text.h"
#include "report/report_internal.h"
#include "summary/summary_file.h"

/* ---- which sections ---- */

static bool is_wanted(const struct report_options *options, const struct report_section *section)
{
	unsigned i;

	if ((section->expected && options->expect) || (section->behaviour && options->behaviours) ||
	    (section->capture && options->captures) ||
	    (section->realtime && (options->realtimes || !options->sections)))
		return true;
	/* In CSV, the first section of the usual ones has no heading: it stays what it was. */
	if (section->of_findings && !options->sections && options->format != TABLE_CSV &&
	    !selection_any(options->selection))
		return true;
	for (i = 0; i < options->sections; i++)
		if (strcmp(options->section[i], section->name) == 0)
			return true;
	if (!options->sections && section->paths)
		return options->paths && section->print == report_responses;
	return !options->sections && section->usual;
}

/*
 * Unasked, a section is left out when the trace has nothing of its kind but something of the other,
 * those of programs also when nodes or topics are looked for.
 */
static bool is_shown(const struct report *report, const struct report_section *section)
{
	const struct report_options *options = report->options;
	bool ros = model_facts(report->model)->ros_events,
	     programs = spans_facts(report->spans)->events;

	if (options->sections)
		return true;
	if (section->realtime)
		return report->costs && (options->realtimes || spans_realtime(report->spans, 0));
	if (section->of_kernel)
		return report->totals && ros;
	if (section->of_programs)
		return programs && (!ros || !selection_objects(options->selection));
	return !section->of_ros || ros || !programs;
}

/* For people who asked for no section: of neither ROS 2 nor kymo.h there is an event, which is
 * worth one line, and no empty tables. */
static bool is_of_others(const struct report *report)
{
	return report->options->format == TABLE_TEXT && !report->options->sections &&
	       !model_facts(report->model)->ros_events && !spans_facts(report->spans)->events;
}

/* A trace with only some of kymo.h's kinds of events, for people who asked for no section: the
 * other kinds are not worth a heading each. */
static bool is_bare(const struct report *report, const struct report_section *section)
{
	static const struct {
		void (*print)(struct report *report);
		enum spans_table table;
	} of[] = { { report_spans, SPANS_OF_SPANS },
		   { report_counters, SPANS_OF_COUNTERS },
		   { report_instants, SPANS_OF_INSTANTS } };

	if (report->options->sections || !report->options->first ||
	    model_facts(report->model)->ros_events || !spans_facts(report->spans)->events)
		return false;
	if (section->print == report_findings)
		return !report_has_findings(report);
	if (section->print == report_loops)
		return !loops_count(report->loops);
	for (unsigned i = 0; i < COUNT_OF(of); i++)
		if (section->print == of[i].print)
			return !spans_stats_count(report->spans_stats, of[i].table);
	return false;
}

/* ---- all of it ---- */

static unsigned needs_of(const struct report_options *options)
{
	const struct report_section *section;
	unsigned needs = 0;

	if (options->summary)
		return REPORT_SUMMARY;
	if (options->page)
		return REPORT_SUMMARY | REPORT_PAGE | REPORT_WAITS | REPORT_TOTALS |
		       REPORT_ACTIVITY | REPORT_INTERVALS | REPORT_COSTS | REPORT_VIEW |
		       (options->expect ? REPORT_EXPECT | REPORT_PATHS : 0);
	for (unsigned i = 0; (section = report_section(i)); i++)
		needs |= is_wanted(options, section) ? section->needs : 0;
	/* The first screen has waits from the summary. Without callbacks there are none, either. */
	return options->first ? needs & ~(unsigned)REPORT_WAITS : needs;
}

/* Tables of `kymo query` that are no section of their own, as they were named. */
static int other_tables(struct report *report)
{
	const struct report_options *o = report->options;

	for (unsigned i = 0; i < o->sections; i++)
		if (!report_section_named(o->section[i]) && report_list(report, o->section[i]))
			return -1;
	return 0;
}

/* What it means that a section has no rows. */
static const char *none_of(struct report *report, const struct report_section *section)
{
	if (!section->of_kernel)
		return section->none;
	snprintf(report->none_text, sizeof(report->none_text), section->none,
		 report_kernel_remedy(report));
	return report->none_text;
}

/* That a trace of programs without ROS 2 is of one host is not worth a line. */
static bool is_said(const struct report *report, const struct report_section *section)
{
	return section->print == report_hosts && !report->options->sections &&
	       !model_facts(report->model)->ros_events;
}

/*
 * A file instead of tables, or the first screen. Return: exit status; -1 with @report->err;
 * NOT_ALL: tables are asked for.
 */
#define NOT_ALL (-2)

static int print_other(struct report *report)
{
	const struct report_options *options = report->options;

	if (options->summary)
		return summary_write(report->summary, options->summary, report->err) ? -1
										     : KYMO_EXIT_OK;
	if (options->page)
		return report_page(report) ? -1 : KYMO_EXIT_OK;
	return options->first && report_first(report) ? KYMO_EXIT_OK : NOT_ALL;
}

/* That a section has no rows, where that is worth a line. */
static void print_none(struct report *report, const struct report_section *section)
{
	if (!section->none || (section->of_kernel && report->totals) ||
	    (section->of_findings && report_has_findings(report)))
		return;
	report->none = none_of(report, section);
	if ((report->options->sections > 1 || section->may_be_empty) && !is_said(report, section))
		table_note(report->table, "%s", report->none);
}

static int print_section(struct report *report, const struct report_section *section)
{
	const uint64_t rows = report->rows;

	if (section->print)
		section->print(report);
	if (section->list && report_list(report, section->name))
		return -1;
	if (report->rows == rows)
		print_none(report, section);
	return section->again ? section->again(report) : 0;
}

/* @must_show: set if a section is printed that has something to say of every trace. */
static int print_sections(struct report *report, bool *must_show)
{
	const struct report_section *section;

	for (unsigned i = 0; (section = report_section(i)); i++) {
		if (!is_wanted(report->options, section) || !is_shown(report, section) ||
		    is_bare(report, section))
			continue;
		*must_show |= !section->may_be_empty;
		if ((section->of_ros || section->of_findings) && is_of_others(report))
			continue;
		if (print_section(report, section))
			return -1;
	}
	return other_tables(report);
}

/* Return: exit status, or -1 with @report->err. */
static int print_all(struct report *report)
{
	const char *why;
	char text[2048];
	bool must_show = false;

	report->hosts = report_host_count(report);
	report->hides_startup = report_hides_startup(report);
	report_facts(report);
	if (print_sections(report, &must_show))
		return -1;
	why = must_show ? report_why_empty(report) : NULL;
	report_remarks(report);
	if (why) {
		table_value_text(report->table, "why_empty", "Nothing to show",
				 text_hints(text, sizeof(text), why, report->options->operand));
		return KYMO_EXIT_EMPTY;
	}
	report_worst(report);
	if (!report->options->sections && report->options->traces <= 1)
		report_next(report);
	return KYMO_EXIT_OK;
}

int report_run(struct kymo_ctf_reader *reader, const char *path,
	       const struct report_options *options, struct table *table, bool *lost,
	       struct kymo_err *err)
{
	struct report report = {
		.options = options, .path = path, .reader = reader, .table = table,
		.err = err,
	};
	int status = -1;

	if (!report_gather(&report, needs_of(options), err)) {
		*lost = report_lost_events(&report) || stats_lost_packets(report.stats);
		if (options->summarized && report.summary)
			options->summarized(options->summarized_context, report.summary);
		status = print_other(&report);
		if (status == NOT_ALL)
			status = print_all(&report);
		if (options->looked_into)
			model_code_files(report.model, options->looked_into,
					 options->looked_into_context);
	}
	tables_close(report.tables);
	report_forget(&report);
	return status;
}
