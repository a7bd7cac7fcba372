/* SPDX-License-Identifier: Apache-2.0 */
/* The report as a whole: sections, what is selected, and the passes over the trace. */
#include "report/report.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/report_internal.h"

#define ROWS_AS_TEXT 20

#define NONE_OF_PROGRAMS "None of this kind is here: spans, counters and instants come from " \
	"programs that use kymo.h (docs/programs.md)."

#define NONE_OF_KERNEL "The trace has no events of the kernel's scheduler: kymo record --kernel, or lttng enable-event -k " \
	"sched_switch,sched_waking,sched_wakeup_new,sched_migrate_task,sched_process_exit beside those of ROS 2."

static const struct report_section sections[] = {
	{ .name = "hosts", .usual = true, .may_be_empty = true, .print = report_hosts,
	  .none = "All of the trace is of one host." },
	{ .name = "callbacks", .usual = true, .of_ros = true, .print = report_callbacks },
	{ .name = "topics", .usual = true, .of_ros = true, .print = report_topics },
	{ .name = "waits", .usual = true, .may_be_empty = true, .of_ros = true, .print = report_waits },
	{ .name = "callback-cpu", .usual = true, .may_be_empty = true, .of_kernel = true, .none = NONE_OF_KERNEL,
	  .print = report_callback_cpu },
	{ .name = "node-cpu", .usual = true, .may_be_empty = true, .of_kernel = true, .none = NONE_OF_KERNEL,
	  .print = report_node_cpu },
	{ .name = "process-cpu", .usual = true, .may_be_empty = true, .of_kernel = true, .none = NONE_OF_KERNEL,
	  .print = report_process_cpu },
	{ .name = "preemptions", .usual = true, .may_be_empty = true, .of_kernel = true, .none = NONE_OF_KERNEL,
	  .print = report_preemptions },
	{ .name = "spans", .usual = true, .of_programs = true, .none = NONE_OF_PROGRAMS,
	  .print = report_spans },
	{ .name = "counters", .usual = true, .may_be_empty = true, .of_programs = true,
	  .none = NONE_OF_PROGRAMS, .print = report_counters },
	{ .name = "instants", .usual = true, .may_be_empty = true, .of_programs = true,
	  .none = NONE_OF_PROGRAMS, .print = report_instants },
	{ .name = "loss", .usual = true, .may_be_empty = true, .print = report_loss },
	{ .name = "publications", .intervals = true, .print = report_publications },
	{ .name = "takes", .intervals = true, .print = report_takes },
	{ .name = "intervals", .intervals = true, .print = report_intervals },
	{ .name = "utilisation", .intervals = true, .print = report_utilisation },
	{ .name = "communications", .activity = true, .print = report_communications },
	{ .name = "frequency", .activity = true, .print = report_frequency },
	{ .name = "response-times", .paths = true, .print = report_responses },
	{ .name = "response-segments", .paths = true, .print = report_segments },
	{ .name = "response-rows", .paths = true, .print = report_response_rows },
	{ .name = "validation", .activity = true, .expected = true, .print = report_validation },
	{ .name = "service-calls", .activity = true, .may_be_empty = true, .print = report_calls },
	{ .name = "executors", .activity = true, .print = report_executors,
	  .none = "The trace has no rclcpp_executor_get_next_ready, _wait_for_work or _execute." },
	{ .name = "executor-view", .view = true, .print = report_executor_view,
	  .none = "No callback ran in the trace." },
	{ .name = "blocked-by", .view = true, .may_be_empty = true, .print = report_blocked_by,
	  .none = "No callback that was ready had to wait for another one." },
	{ .name = "lifecycle", .activity = true, .may_be_empty = true, .print = report_lifecycles,
	  .none = "No lifecycle node changed its state in the trace." },
	{ .name = "cputime", .again = report_cputime },
	{ .name = "memory", .again = report_memory },
	{ .name = "cycles", .may_be_empty = true, .again = report_cycles },
	{ .name = "realtime", .realtime = true, .costs = true, .may_be_empty = true, .print = report_realtime },
	{ .name = "node-costs", .costs = true, .may_be_empty = true, .print = report_node_costs },
	{ .name = "process-costs", .costs = true, .may_be_empty = true, .print = report_process_costs },
	{ .name = "profile", .again = report_profile },
	{ .name = "processes", .print = report_processes },
	{ .name = "nodes", .print = report_nodes, .none = "The trace tells of no nodes." },
	{ .name = "publishers", .print = report_publishers, .none = "The trace tells of no publishers." },
	{ .name = "subscriptions", .print = report_subscriptions, .none = "The trace tells of no subscriptions." },
	{ .name = "timers", .print = report_timers, .none = "The trace tells of no timers." },
	{ .name = "services", .print = report_services, .none = "The trace tells of no services." },
	{ .name = "clients", .print = report_clients, .none = "The trace tells of no clients." },
	{ .name = "instances", .rows = &report_instance_rows, .title = "Callback instances",
	  .columns = report_instance_columns },
	{ .name = "messages", .rows = &report_message_rows, .title = "Messages delivered",
	  .columns = report_message_columns },
};
#define SECTIONS (COUNT_OF(sections))

static unsigned column_count(const struct report_section *section)
{
	return section->rows == &report_instance_rows ? report_instance_column_count :
							report_message_column_count;
}

/* ---- which sections ---- */

const char *report_section_names(void)
{
	static char names[1024];
	unsigned i;

	if (!*names)
		for (i = 0; i < SECTIONS; i++)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
				 i ? ", " : "", sections[i].name);
	return names;
}

int report_check(const struct report_options *options, struct kymo_err *err)
{
	unsigned i, j;

	for (i = 0; i < options->sections; i++) {
		for (j = 0; j < SECTIONS; j++)
			if (strcmp(options->section[i], sections[j].name) == 0)
				break;
		if (j < SECTIONS && sections[j].paths && !options->paths)
			return err_set(err, KYMO_EXIT_USAGE, "Section %s is about paths: name one with "
				       "--path '/node -> /topic -> /node', or give CARET's file with "
				       "--architecture.", options->section[i]);
		if (j < SECTIONS && sections[j].expected && !options->expect)
			return err_set(err, KYMO_EXIT_USAGE, "Section %s is about what is expected: name a file that says so "
				       "with --expect.", options->section[i]);
		if (j == SECTIONS)
			return err_set(err, KYMO_EXIT_USAGE, "There is no section \"%s\". Sections are: %s.",
				       options->section[i], report_section_names());
	}
	return 0;
}

static bool is_wanted(const struct report_options *options, const struct report_section *section)
{
	unsigned i;

	if ((section->expected && options->expect) || (section->realtime && (options->realtimes || !options->sections)))
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

/* ---- which rows ---- */

bool report_wants_process(const struct report *report, const struct model_process *process)
{
	return selection_process(report->options->selection, process->name, process->pid);
}

bool report_wants_node(const struct report *report, const struct model_process *process,
		       const struct model_node *node)
{
	return report_wants_process(report, process) &&
	       selection_node(report->options->selection, node ? node->full_name : NULL);
}

bool report_wants_topic(const struct report *report, const struct model_topic *topic)
{
	return selection_topic(report->options->selection, topic ? topic->name : NULL);
}

bool report_wants_callback(const struct report *report, const struct model_callback *callback)
{
	const struct model_subscription *subscription = callback->subscription;

	return report_wants_node(report, callback->process, model_callback_node(callback)) &&
	       report_wants_topic(report, subscription ? subscription->topic : NULL);
}

unsigned report_limit(const struct report *report)
{
	const struct report_options *options = report->options;

	if (options->limit)
		return options->limit < UINT32_MAX ? (unsigned)options->limit : UINT32_MAX;
	return options->format == TABLE_TEXT && !options->unlimited ? ROWS_AS_TEXT : UINT32_MAX;
}

void report_more(struct report *report, unsigned shown, unsigned all)
{
	if (shown < all)
		table_note(report->table, "... and %u more: --limit %u", all - shown, all);
}

/* ---- texts ---- */

char *report_process(const struct report *report, const struct model_process *process,
		     char *buffer, unsigned size)
{
	snprintf(buffer, size, "%s (%d)%s%s", *process->name ? process->name : "?", process->pid,
		 report->hosts > 1 ? " @" : "", report->hosts > 1 ? process->hostname : "");
	return buffer;
}

char *report_offset(const struct report *report, int64_t ns, char *buffer, unsigned size)
{
	const struct simclock *clock = report->options->clock;
	int64_t offset = clock ? simclock_stamp(clock, ns) : ns - model_facts(report->model)->first_ns;

	snprintf(buffer, size, "%.6f s", (double)offset / 1e9);
	return buffer;
}

/* ---- the passes ---- */

/* What only sections need that are shown on demand is not gathered for the others. */
#define WANTS(options, what)								\
	({										\
		bool wants_ = false;							\
											\
		for (unsigned i_ = 0; i_ < SECTIONS; i_++)				\
			wants_ |= sections[i_].what && is_wanted(options, &sections[i_]); \
		wants_;									\
	})

/* May programs of the trace have named what is real-time? */
static bool programs_name(const struct kymo_ctf_reader *reader)
{
	for (unsigned i = 0; i < kymo_ctf_class_count(reader); i++)
		if (strcmp(kymo_ctf_class(reader, i)->name, "kymo:realtime") == 0)
			return true;
	return false;
}

static int gather_costs(struct report *report, struct kymo_err *err)
{
	if (costs_create(&report->costs, report->model, report->reader) || costs_spans(report->costs, report->spans))
		return err_no_memory(err);
	costs_window(report->costs, report->options->begin_ns, report->options->end_ns);
	return 0;
}

static int gather_on_demand(struct report *report, struct kymo_err *err)
{
	const struct report_options *options = report->options;

	if (WANTS(options, intervals) &&
	    intervals_create(&report->intervals, report->model, options->begin_ns, options->end_ns, err))
		return -1;
	if (WANTS(options, activity) &&
	    activity_create(&report->activity, report->model, options->begin_ns, options->end_ns, err))
		return -1;
	if (WANTS(options, view) && view_create(&report->view, report->model, options->begin_ns, options->end_ns))
		return err_no_memory(err);
	if (WANTS(options, of_kernel) && sched_is_there(report->reader) &&
	    sched_totals_create(&report->totals, report->model, report->reader, options->begin_ns, options->end_ns))
		return err_no_memory(err);
	if (WANTS(options, costs) && (options->sections || options->realtimes || programs_name(report->reader)) &&
	    gather_costs(report, err))
		return -1;
	if (WANTS(options, expected) && report_expect_begin(report))
		return err_no_memory(err);
	if (options->paths && (WANTS(options, paths) || WANTS(options, expected)))
		return caret_create(&report->caret, report->model, options->paths, err);
	return 0;
}

static void forget(struct report *report)
{
	report_expect_end(report);
	costs_destroy(report->costs);
	sched_totals_destroy(report->totals);
	view_destroy(report->view);
	caret_destroy(report->caret);
	activity_destroy(report->activity);
	intervals_destroy(report->intervals);
	spans_stats_destroy(report->spans_stats);
	spans_destroy(report->spans);
	stats_destroy(report->stats);
	model_destroy(report->model);
	report->costs = NULL;
	report->totals = NULL;
	report->view = NULL;
	report->caret = NULL;
	report->activity = NULL;
	report->intervals = NULL;
	report->spans_stats = NULL;
	report->spans = NULL;
	report->stats = NULL;
	report->model = NULL;
}

static int pass(struct report *report, const struct report_section *section, struct kymo_err *err)
{
	struct kymo_ctf_event event;
	uint64_t events = 0;
	int more;

	forget(report);
	if (model_create(&report->model, err) ||
	    stats_create(&report->stats, report->model, report->options->begin_ns,
			 report->options->end_ns, err) ||
	    spans_create(&report->spans, report->model, err) ||
	    spans_stats_create(&report->spans_stats, report->spans, report->options->begin_ns,
			       report->options->end_ns, err))
		return -1;
	if (gather_on_demand(report, err))
		return -1;
	if (section) {
		table_section(report->table, section->name, section->title, section->columns,
			      column_count(section));
		if (model_listen(report->model, section->rows, report))
			return -1;
	}
	if (spans_attach(report->spans, report->reader, err))
		return -1;
	while ((more = kymo_ctf_next(report->reader, &event, err)) > 0) {
		if ((report->totals && sched_totals_event(report->totals, &event)) ||
		    (report->costs && costs_event(report->costs, &event)) || spans_event(report->spans, &event) ||
		    model_event(report->model, &event))
			return err_no_memory(err);
		if (!(++events % REPORT_PROGRESS_EVENTS) && report->options->progress)
			report->options->progress(report->options->progress_context, events,
						  event.clock_ns);
	}
	if (report->options->progress)
		report->options->progress(report->options->progress_context, 0, 0);
	if (more < 0)
		return -1;
	if (report->costs)
		costs_finish(report->costs);
	spans_finish(report->spans);
	model_finish(report->model);
	if (report->caret && caret_finish(report->caret, err))
		return -1;
	if (report_expect_failed(report) || stats_failed(report->stats) || spans_stats_failed(report->spans_stats) ||
	    (report->intervals && intervals_failed(report->intervals)) ||
	    (report->activity && activity_failed(report->activity)) || (report->view && view_failed(report->view)))
		return err_no_memory(err);
	return 0;
}

int report_run(struct kymo_ctf_reader *reader, const char *path, const struct report_options *options,
	       struct table *table, bool *lost, struct kymo_err *err)
{
	struct report report = {
		.options = options, .path = path, .reader = reader, .table = table,
		.err = err,
	};
	const char *why = NULL;
	unsigned i, passes = 0;
	uint64_t rows;
	bool must_show = false;
	int status = -1;

	for (i = 0; i < SECTIONS; i++)
		if (is_wanted(options, &sections[i]) && sections[i].rows) {
			if (pass(&report, &sections[i], err))
				goto out;
			passes++;
		}
	if (!passes && pass(&report, NULL, err))
		goto out;
	report.hosts = report_host_count(&report);
	*lost = report_lost_events(&report) || stats_lost_packets(report.stats);
	report_facts(&report);
	for (i = 0; i < SECTIONS; i++) {
		if (!is_wanted(options, &sections[i]) || !is_shown(&report, &sections[i]))
			continue;
		must_show |= !sections[i].may_be_empty;
		rows = report.rows;
		if (sections[i].print)
			sections[i].print(&report);
		if (report.rows == rows && sections[i].none && !(sections[i].of_kernel && report.totals)) {
			report.none = sections[i].none;
			if (options->sections > 1 || sections[i].may_be_empty)
				table_note(table, "%s", sections[i].none);
		}
		if (sections[i].again && sections[i].again(&report))
			goto out;
	}
	why = must_show ? report_why_empty(&report) : NULL;
	report_remarks(&report);
	if (why)
		table_value_text(table, "why_empty", "Nothing to show", why);
	else if (!options->sections && !options->several)
		report_next(&report);
	status = why ? KYMO_EXIT_EMPTY : KYMO_EXIT_OK;
out:
	forget(&report);
	return status;
}
