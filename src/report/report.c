/* SPDX-License-Identifier: Apache-2.0 */
/* The report as a whole: sections, what is selected, and the passes over the trace. */
#include "report/report.h"

#include <stdio.h>
#include <string.h>

#include "analysis/tables/tables.h"
#include "base/array.h"
#include "base/text.h"
#include "report/report_internal.h"
#include "summary/summary_file.h"

#define NONE_OF_PROGRAMS "The trace has no spans, counters or instants of this kind; programs emit them with kymo.h " \
	"(docs/programs.md)."

#define NONE_OF_CONTENT(what)                                                                    \
	"The trace has no " what " of messages; kymo records them with CycloneDDS and Fast DDS " \
	"(docs/ros2.md)."

#define NONE_OF_KERNEL "The trace has no events of the kernel's scheduler; %s."

#define OF_KERNEL .usual = true, .may_be_empty = true, .of_kernel = true, .needs = REPORT_TOTALS, .none = NONE_OF_KERNEL

static const struct report_section sections[] = {
	{ .name = "findings",
	  .text = "what stands out, the most harmful first",
	  .of_findings = true,
	  .may_be_empty = true,
	  .needs = REPORT_SUMMARY,
	  .print = report_findings,
	  .none = "Nothing stands out." },
	{ .name = "hosts",
	  .text = "how well the clocks of several hosts compare",
	  .usual = true,
	  .may_be_empty = true,
	  .print = report_hosts,
	  .none = "The trace is of one host." },
	{ .name = "callbacks",
	  .text = "each callback: how often, how long",
	  .usual = true,
	  .of_ros = true,
	  .print = report_callbacks },
	{ .name = "topics",
	  .text = "each topic: messages, rate, latency, messages never received",
	  .usual = true,
	  .of_ros = true,
	  .print = report_topics },
	{ .name = "waits",
	  .text = "callbacks that could not start because another one kept their executor busy",
	  .usual = true,
	  .may_be_empty = true,
	  .of_ros = true,
	  .print = report_waits },
	{ .name = "callback-cpu",
	  .text = "CPU time, preemption and sleep of each callback",
	  OF_KERNEL,
	  .print = report_callback_cpu },
	{ .name = "node-cpu",
	  .text = "the same of each node",
	  OF_KERNEL,
	  .print = report_node_cpu },
	{ .name = "process-cpu",
	  .text = "the same of each process",
	  OF_KERNEL,
	  .print = report_process_cpu },
	{ .name = "preemptions",
	  .text = "what ran instead of a callback",
	  OF_KERNEL,
	  .print = report_preemptions },
	{ .name = "loops",
	  .text = "periods, wake-up latency and busy time of loops of kymo.h",
	  .usual = true,
	  .may_be_empty = true,
	  .of_programs = true,
	  .none = "The trace has no loops; programs emit them with kymo/loop.h (docs/programs.md).",
	  .print = report_loops },
	{ .name = "spans",
	  .text = "durations of spans of kymo.h",
	  .usual = true,
	  .of_programs = true,
	  .none = NONE_OF_PROGRAMS,
	  .print = report_spans },
	{ .name = "counters",
	  .text = "values of counters of kymo.h",
	  .usual = true,
	  .may_be_empty = true,
	  .of_programs = true,
	  .none = NONE_OF_PROGRAMS,
	  .print = report_counters },
	{ .name = "instants",
	  .text = "how often instants of kymo.h happened",
	  .usual = true,
	  .may_be_empty = true,
	  .of_programs = true,
	  .none = NONE_OF_PROGRAMS,
	  .print = report_instants },
	{ .name = "loss",
	  .text = "events that were lost, and where",
	  .usual = true,
	  .may_be_empty = true,
	  .print = report_loss },
	{ .name = "publications",
	  .text = "how regular each publisher is",
	  .needs = REPORT_INTERVALS,
	  .print = report_publications },
	{ .name = "takes",
	  .text = "how regular each subscription takes",
	  .needs = REPORT_INTERVALS,
	  .print = report_takes },
	{ .name = "intervals",
	  .text = "how regular each callback begins",
	  .needs = REPORT_INTERVALS,
	  .print = report_intervals },
	{ .name = "between-runs",
	  .text = "the time from the end of a run to the start of the next",
	  .needs = REPORT_INTERVALS,
	  .print = report_between_runs },
	{ .name = "bandwidth",
	  .text = "bytes per second of each topic, and sizes of its messages",
	  .needs = REPORT_CONTENT,
	  .print = report_bandwidth,
	  .none = NONE_OF_CONTENT("sizes") },
	{ .name = "ages",
	  .text = "how old messages were, by the stamp in their header",
	  .needs = REPORT_CONTENT,
	  .print = report_ages,
	  .none = NONE_OF_CONTENT("stamps") },
	{ .name = "utilisation",
	  .text = "how much of the time each callback, and each thread, was busy",
	  .needs = REPORT_INTERVALS,
	  .print = report_utilisation },
	{ .name = "communications",
	  .text = "each publisher and subscription, and their latency",
	  .needs = REPORT_ACTIVITY,
	  .print = report_communications },
	{ .name = "frequency",
	  .text = "rates of callbacks, publishers and subscriptions over time",
	  .needs = REPORT_ACTIVITY,
	  .print = report_frequency },
	{ .name = "response-times",
	  .text = "response times of the paths of --path",
	  .paths = true,
	  .needs = REPORT_PATHS,
	  .print = report_responses },
	{ .name = "response-segments",
	  .text = "where the time of these paths went",
	  .paths = true,
	  .needs = REPORT_PATHS,
	  .print = report_segments },
	{ .name = "response-rows",
	  .text = "each response of these paths",
	  .paths = true,
	  .needs = REPORT_PATHS,
	  .print = report_response_rows },
	{ .name = "validation",
	  .text = "what --expect demands, and whether it happened",
	  .expected = true,
	  .needs = REPORT_ACTIVITY | REPORT_EXPECT | REPORT_PATHS,
	  .print = report_validation },
	{ .name = "behaviour",
	  .text = "activities, regions and states of --model",
	  .behaviour = true,
	  .needs = REPORT_BEHAVIOUR,
	  .may_be_empty = true,
	  .print = report_behaviour },
	{ .name = "service-calls",
	  .text = "each service: calls, and how long the parts of a call took",
	  .needs = REPORT_ACTIVITY,
	  .may_be_empty = true,
	  .print = report_calls },
	{ .name = "executors",
	  .text = "each executor: threads, work, idle time",
	  .needs = REPORT_ACTIVITY,
	  .print = report_executors,
	  .none = "The trace has no rclcpp_executor_get_next_ready, _wait_for_work or _execute." },
	{ .name = "executor-view",
	  .text = "each callback as its executor sees it",
	  .needs = REPORT_VIEW,
	  .print = report_executor_view,
	  .none = "No callback ran in the trace." },
	{ .name = "blocked-by",
	  .text = "which callback made others wait, and how long",
	  .needs = REPORT_VIEW,
	  .may_be_empty = true,
	  .print = report_blocked_by,
	  .none = "No callback that was ready had to wait for another one." },
	{ .name = "lifecycle",
	  .text = "states of lifecycle nodes",
	  .needs = REPORT_ACTIVITY,
	  .may_be_empty = true,
	  .print = report_lifecycles,
	  .none = "No lifecycle node changed its state in the trace." },
	{ .name = "cputime",
	  .text = "CPU time of processes and threads, from the kernel's events",
	  .again = report_cputime },
	{ .name = "memory",
	  .text = "what each process allocated and freed",
	  .again = report_memory },
	{ .name = "cycles",
	  .text = "CPU cycles, instructions and cache misses of callbacks",
	  .may_be_empty = true,
	  .again = report_cycles },
	{ .name = "realtime",
	  .text = "what real-time callbacks and spans must not do, and did",
	  .realtime = true,
	  .needs = REPORT_COSTS,
	  .may_be_empty = true,
	  .print = report_realtime },
	{ .name = "node-costs",
	  .text = "allocations, lock waits and page faults of each node",
	  .needs = REPORT_COSTS,
	  .may_be_empty = true,
	  .print = report_node_costs },
	{ .name = "process-costs",
	  .text = "the same of each process",
	  .needs = REPORT_COSTS,
	  .may_be_empty = true,
	  .print = report_process_costs },
	{ .name = "profile",
	  .text = "functions, from -finstrument-functions",
	  .again = report_profile },
	{ .name = "processes", .text = "each process", .list = true },
	{ .name = "nodes",
	  .text = "each node",
	  .list = true,
	  .none = "The trace contains no nodes." },
	{ .name = "publishers",
	  .text = "each publisher",
	  .list = true,
	  .none = "The trace contains no publishers." },
	{ .name = "subscriptions",
	  .text = "each subscription",
	  .list = true,
	  .none = "The trace contains no subscriptions." },
	{ .name = "timers",
	  .text = "each timer",
	  .list = true,
	  .none = "The trace contains no timers." },
	{ .name = "services",
	  .text = "each service",
	  .list = true,
	  .none = "The trace contains no services." },
	{ .name = "clients",
	  .text = "each client of a service",
	  .list = true,
	  .none = "The trace contains no clients." },
	{ .name = "callback_instances",
	  .text = "every run of every callback",
	  .list = true,
	  .none = "The trace contains no run of a callback." },
	{ .name = "windows",
	  .text = "callbacks and topics over time, in windows of --window",
	  .list = true,
	  .none = "No callback ran and no message was published in the trace." },
	{ .name = "messages",
	  .text = "every message",
	  .list = true,
	  .none = "The trace contains no messages." },
};
#define SECTIONS (COUNT_OF(sections))

/* ---- which sections ---- */

static const struct report_section *section_named(const char *name)
{
	for (unsigned i = 0; i < SECTIONS; i++)
		if (strcmp(sections[i].name, name) == 0)
			return &sections[i];
	return NULL;
}

void report_list_sections(struct table *table)
{
	static const struct table_column columns[] = {
		{ "section", "Section" },
		{ "unasked", "Unasked" },
		{ "text", "What it shows" },
	};

	table_section(table, "sections", "Sections of kymo report", columns, COUNT_OF(columns));
	for (unsigned i = 0; i < SECTIONS; i++) {
		table_text(table, sections[i].name);
		table_text(table, sections[i].usual || sections[i].of_findings ? "yes" : "");
		table_text(table, sections[i].text);
	}
	for (unsigned i = 0; i < TABLES; i++) {
		if (section_named(tables_table[i].name))
			continue;
		table_text(table, tables_table[i].name);
		table_text(table, "");
		table_text(table, tables_table[i].text);
	}
}

const char *report_section_name(unsigned number)
{
	return number < SECTIONS ? sections[number].name : NULL;
}

static int unknown_section(const char *name, struct kymo_err *err)
{
	struct text_nearest best = { 0 };

	for (unsigned i = 0; i < SECTIONS; i++)
		text_nearest_try(&best, name, sections[i].name);
	for (unsigned i = 0; i < TABLES; i++)
		text_nearest_try(&best, name, tables_table[i].name);
	return best.name ? err_set(err, KYMO_EXIT_USAGE,
				   "unknown section '%.64s'; did you mean %s?", name, best.name)
			 : err_set(err, KYMO_EXIT_USAGE,
				   "unknown section '%.64s'; --section help lists all", name);
}

int report_check(const struct report_options *options, struct kymo_err *err)
{
	for (unsigned i = 0; i < options->sections; i++) {
		const char *name = options->section[i];
		const struct report_section *section = section_named(name);

		if (!section && tables_find(name) < 0)
			return unknown_section(name, err);
		if (section && section->paths && !options->paths)
			return err_set(err, KYMO_EXIT_USAGE, "section '%s' needs a path: name one with "
				       "--path '/node -> /topic -> /node', or pass CARET's file with --architecture", name);
		if (section && section->behaviour && !options->behaviours)
			return err_set(err, KYMO_EXIT_USAGE,
				       "section '%s' needs a model: pass a file with --model",
				       name);
		if (section && section->expected && !options->expect)
			return err_set(err, KYMO_EXIT_USAGE, "section '%s' needs expectations: pass a file with --expect", name);
	}
	return 0;
}

static bool is_wanted(const struct report_options *options, const struct report_section *section)
{
	unsigned i;

	if ((section->expected && options->expect) || (section->behaviour && options->behaviours) ||
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
	bool ros = model_facts(report->model)->ros_events, programs = spans_facts(report->spans)->events;

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
	unsigned needs = 0;

	if (options->summary)
		return REPORT_SUMMARY;
	if (options->page)
		return REPORT_SUMMARY | REPORT_PAGE | REPORT_TOTALS | REPORT_ACTIVITY |
		       REPORT_INTERVALS | REPORT_COSTS | REPORT_VIEW;
	for (unsigned i = 0; i < SECTIONS; i++)
		needs |= is_wanted(options, &sections[i]) ? sections[i].needs : 0;
	return needs;
}

/* Tables of `kymo query` that are no section of their own, as they were named. */
static int other_tables(struct report *report)
{
	const struct report_options *o = report->options;

	for (unsigned i = 0; i < o->sections; i++)
		if (!section_named(o->section[i]) && report_list(report, o->section[i]))
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

int report_run(struct kymo_ctf_reader *reader, const char *path, const struct report_options *options,
	       struct table *table, bool *lost, struct kymo_err *err)
{
	struct report report = {
		.options = options, .path = path, .reader = reader, .table = table,
		.err = err,
	};
	const char *why = NULL;
	const unsigned needs = needs_of(options);
	unsigned i;
	uint64_t rows;
	bool must_show = false;
	int status = -1;

	if (report_gather(&report, needs, err))
		goto out;
	if (options->summary) {
		*lost = report_lost_events(&report) || stats_lost_packets(report.stats);
		status = summary_write(report.summary, options->summary, err) ? -1 : KYMO_EXIT_OK;
		goto out;
	}
	if (options->page) {
		*lost = report_lost_events(&report) || stats_lost_packets(report.stats);
		status = report_page(&report) ? -1 : KYMO_EXIT_OK;
		goto out;
	}
	if (options->first && report_first(&report)) {
		*lost = report_lost_events(&report) || stats_lost_packets(report.stats);
		status = KYMO_EXIT_OK;
		goto out;
	}
	report.hosts = report_host_count(&report);
	report.hides_startup = report_hides_startup(&report);
	*lost = report_lost_events(&report) || stats_lost_packets(report.stats);
	report_facts(&report);
	for (i = 0; i < SECTIONS; i++) {
		if (!is_wanted(options, &sections[i]) || !is_shown(&report, &sections[i]) ||
		    is_bare(&report, &sections[i]))
			continue;
		must_show |= !sections[i].may_be_empty;
		rows = report.rows;
		if (sections[i].print)
			sections[i].print(&report);
		if (sections[i].list && report_list(&report, sections[i].name))
			goto out;
		if (report.rows == rows && sections[i].none &&
		    !(sections[i].of_kernel && report.totals) &&
		    !(sections[i].of_findings && report_has_findings(&report))) {
			report.none = none_of(&report, &sections[i]);
			if ((options->sections > 1 || sections[i].may_be_empty) &&
			    !is_said(&report, &sections[i]))
				table_note(table, "%s", report.none);
		}
		if (sections[i].again && sections[i].again(&report))
			goto out;
	}
	if (other_tables(&report))
		goto out;
	why = must_show ? report_why_empty(&report) : NULL;
	report_remarks(&report);
	if (!why)
		report_worst(&report);
	if (why)
		table_value_text(table, "why_empty", "Nothing to show", why);
	else if (!options->sections && options->traces <= 1)
		report_next(&report);
	status = why ? KYMO_EXIT_EMPTY : KYMO_EXIT_OK;
out:
	tables_close(report.tables);
	report_forget(&report);
	return status;
}
