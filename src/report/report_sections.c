/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of the report's sections: what each is called, what it needs, and which function prints
 * it.
 */
#include <string.h>

#include "analysis/tables/tables.h"
#include "base/array.h"
#include "base/text.h"
#include "report/report.h"
#include "report/report_internal.h"

#define NONE_OF_PROGRAMS "The trace has no spans, counters or instants of this kind; programs emit them with kymo.h " \
	"(docs/programs.md)."

#define NONE_OF_CONTENT(what)                                                                    \
	"The trace has no " what " of messages; kymo records them where programs call rmw, as " \
	"rclcpp and rclpy do, with CycloneDDS and Fast DDS (docs/ros2.md)."

#define NONE_OF_KERNEL "The trace has no events of the kernel's scheduler; %s."

#define OF_KERNEL                                                                    \
	.usual = true, .may_be_empty = true, .of_kernel = true, .needs = REPORT_TOTALS, \
	.none = NONE_OF_KERNEL

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
	  .needs = REPORT_WAITS,
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
	{ .name = "losses",
	  .text = "where messages were lost: not sent, on the wire, rejected, in a queue, not taken",
	  .may_be_empty = true,
	  .needs = REPORT_LOSSES,
	  .print = report_losses,
	  .none = "No subscription in the trace lost a message." },
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
	{ .name = "wire",
	  .text = "packets of --capture by publisher: times on the wire, sent again, lost",
	  .capture = true,
	  .needs = REPORT_CAPTURE,
	  .may_be_empty = true,
	  .print = report_wire },
	{ .name = "service-calls",
	  .text = "each service: calls, and how long the parts of a call took",
	  .needs = REPORT_ACTIVITY,
	  .may_be_empty = true,
	  .print = report_calls },
	{ .name = "actions",
	  .text = "each action: its goals, how they ended, how long they took",
	  .needs = REPORT_ACTIONS,
	  .may_be_empty = true,
	  .print = report_actions },
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
	  .text = "call trees of functions, from --functions or --stacks",
	  .again = report_profile },
	{ .name = "functions",
	  .text = "functions by their own time and with what they called, from --stacks",
	  .again = report_functions },
	{ .name = "callback-functions",
	  .text = "what functions cost within each callback, on the CPU and off it",
	  .again = report_callback_functions },
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

const struct report_section *report_section(unsigned number)
{
	return number < COUNT_OF(sections) ? &sections[number] : NULL;
}

const struct report_section *report_section_named(const char *name)
{
	for (unsigned i = 0; i < COUNT_OF(sections); i++)
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
	for (unsigned i = 0; i < COUNT_OF(sections); i++) {
		table_text(table, sections[i].name);
		table_text(table, sections[i].usual || sections[i].of_findings ? "yes" : "");
		table_text(table, sections[i].text);
	}
	for (unsigned i = 0; i < TABLES; i++) {
		if (report_section_named(tables_table[i].name))
			continue;
		table_text(table, tables_table[i].name);
		table_text(table, "");
		table_text(table, tables_table[i].text);
	}
}

const char *report_section_name(unsigned number)
{
	return number < COUNT_OF(sections) ? sections[number].name : NULL;
}

static int unknown_section(const char *name, struct kymo_err *err)
{
	struct text_nearest best = { 0 };

	for (unsigned i = 0; i < COUNT_OF(sections); i++)
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
		const struct report_section *section = report_section_named(name);

		if (!section && tables_find(name) < 0)
			return unknown_section(name, err);
		if (section && section->paths && !options->paths)
			return err_set(err, KYMO_EXIT_USAGE, "section '%s' needs a path: name one with "
				       "--path '/node -> /topic -> /node', or pass CARET's file with --architecture", name);
		if (section && section->behaviour && !options->behaviours)
			return err_set(err, KYMO_EXIT_USAGE,
				       "section '%s' needs a model: pass a file with --model",
				       name);
		if (section && section->capture && !options->captures)
			return err_set(err, KYMO_EXIT_USAGE,
				       "section '%s' needs a capture: pass a file of tcpdump with --capture", name);
		if (section && section->expected && !options->expect)
			return err_set(err, KYMO_EXIT_USAGE, "section '%s' needs expectations: pass a file with --expect", name);
	}
	return 0;
}
