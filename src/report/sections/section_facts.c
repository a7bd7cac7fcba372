/* SPDX-License-Identifier: Apache-2.0 */
/* Around the sections: facts about the trace, why there is nothing to show, remarks, what next. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "accounts/accounts.h"
#include "base/text.h"
#include "report/first/first.h"
#include "report/report_internal.h"

static void date_text(int64_t ns, char *buffer, unsigned size)
{
	time_t seconds = ns / 1000000000;
	struct tm tm;
	size_t length;

	if (!localtime_r(&seconds, &tm)) {
		snprintf(buffer, size, "%" PRId64 " ns", ns);
		return;
	}
	length = strftime(buffer, size, "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(buffer + length, size - length, ".%03d", (int)(ns / 1000000 % 1000));
}

unsigned report_host_count(const struct report *report)
{
	uint32_t most = 0;
	unsigned i;

	for (i = 0; i < model_count(report->model, MODEL_PROCESS); i++)
		if (model_process(report->model, i)->host > most)
			most = model_process(report->model, i)->host;
	return most + 1;
}

/*
 * What the recorder counted may be more than what packets can tell: events of a thread that got
 * no ring have no packet. A window shows only what packets place inside it.
 */
uint64_t report_lost_events(const struct report *report)
{
	const struct report_options *options = report->options;
	uint64_t events = stats_lost_events(report->stats);
	bool whole = options->begin_ns == INT64_MIN && options->end_ns == INT64_MAX;

	return whole && options->told_lost > events ? options->told_lost : events;
}

/* How the recording ended, if what is shown goes on until its end: of several, the worst. */
static enum accounts_end report_end(const struct report *report)
{
	const struct report_options *options = report->options;

	if (options->end_ns != INT64_MAX)
		return ACCOUNTS_END_UNKNOWN;
	return options->told_unended   ? ACCOUNTS_NOT_ENDED
	       : options->told_growing ? ACCOUNTS_GROWING
				       : ACCOUNTS_END_UNKNOWN;
}

/* Processes are known also for what they say of themselves. */
static unsigned ros_processes(const struct report *report)
{
	unsigned processes = 0;

	for (unsigned i = 0; i < model_count(report->model, MODEL_PROCESS); i++)
		processes += model_process(report->model, i)->events > 0;
	return processes;
}

/* What is missing. A damaged trace may miss more than what was counted. */
static void loss_rows(const struct report *report, unsigned unnamed, uint64_t events,
		      uint64_t packets)
{
	const unsigned damage = kymo_ctf_warning_count(report->reader);
	const bool end = report_end(report) > ACCOUNTS_ENDED;
	struct table *t = report->table;
	char text[128];

	if (report->options->format == TABLE_TEXT) {
		snprintf(text, sizeof(text),
			 packets   ? "%" PRIu64 " events and %" PRIu64 " packets"
			 : events  ? "%" PRIu64 " events"
			 : damage  ? "not known: the trace is damaged"
			 : end     ? "nothing that the files show"
			 : unnamed ? "nothing that was counted"
				   : "nothing",
			 events, packets);
		table_value_text(t, "lost", "Lost", text);
	} else {
		table_value_u64(t, "lost_events", "Lost events", events);
		table_value_u64(t, "lost_packets", "Lost packets", packets);
		if (report->summary)
			table_value_u64(t, "hidden_startup", "Hidden start-up",
					summary_hidden(report->summary));
	}
	if (damage)
		table_value_u64(t, "damaged", "Damaged places", damage);
}

/* ---- what the trace does not have ---- */

/* Callbacks of which the trace has runs, and not what they are. */
static unsigned unnamed_callbacks(const struct report *report)
{
	unsigned unnamed = 0;

	for (unsigned i = 0; i < model_count(report->model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(report->model, i);

		unnamed += !callback->subscription && !callback->timer && !callback->service &&
			   !callback->added_ns && !callback->registered_ns;
	}
	return unnamed;
}

/*
 * What is missing, in one line, before anything that could be read as whole. Names are missing
 * where the events of the programs' start are: lost, in older files that were overwritten, or from
 * before a recorder without kymo's init log.
 */
static void print_incomplete(struct report *report, unsigned unnamed, uint64_t lost_events,
			     uint64_t lost_packets)
{
	const unsigned all = model_count(report->model, MODEL_CALLBACK);
	const unsigned damage = kymo_ctf_warning_count(report->reader);
	const enum accounts_end end = report_end(report);
	char text[512] = "", whole[2048];
	size_t used = 0;

	if (unnamed)
		used = (size_t)snprintf(
			text, sizeof(text),
			"%u of %u callbacks %s no name: the trace does not have the "
			"start of their programs",
			unnamed, all, unnamed == 1 ? "has" : "have");
	if (lost_events || lost_packets)
		(void)snprintf(text + used, sizeof(text) - used,
			       "%s%" PRIu64 " %s%s lost, so counts may be too low",
			       used ? "; " : "", lost_events ? lost_events : lost_packets,
			       lost_events ? "event" : "packet",
			       (lost_events ? lost_events : lost_packets) == 1 ? " was" : "s were");
	used = strlen(text);
	if (damage)
		(void)snprintf(text + used, sizeof(text) - used,
			       "%sthe trace is damaged: `kymo info` lists the places",
			       used ? "; " : "");
	used = strlen(text);
	if (end > ACCOUNTS_ENDED)
		(void)snprintf(text + used, sizeof(text) - used, "%sthe recorder %s",
			       used ? "; " : "", accounts_end_text(end));
	if (*text || report->options->format != TABLE_TEXT)
		table_value_text(report->table, "incomplete", "Incomplete", *text ? text_hints(whole, sizeof(whole), text,
					      report->options->operand)
				      : NULL);
}

void report_facts(struct report *report)
{
	const struct model_facts *facts = model_facts(report->model);
	uint64_t events = report_lost_events(report);
	uint64_t packets = stats_lost_packets(report->stats);
	const unsigned unnamed = unnamed_callbacks(report);
	struct table *t = report->table;
	char text[128];

	print_incomplete(report, unnamed, events, packets);
	table_value_text(t, "trace", "Trace", report->path);
	if (facts->events) {
		if (report->options->clock)
			report_offset(report, facts->first_ns, text, sizeof(text));
		else
			date_text(facts->first_ns, text, sizeof(text));
		table_value_text(t, "begin", "Begin", text);
		table_value_ns(t, "duration_ns", "Duration", facts->last_ns - facts->first_ns);
	}
	if (report->options->clock)
		table_value_text(t, "clock", "Simulation's clock",
				 simclock_text(report->options->clock, text, sizeof(text)));
	if (report->options->told_snapshot) {
		table_value_text(t, "snapshot", "Snapshot", report->options->told_snapshot);
		table_value_ns(t, "snapshot_at_ns", "Asked for after", report->options->told_snapshot_ns);
	}
	if (report->options->told_rules)
		table_value_text(t, "rules", "Recorded only", report->options->told_rules);
	table_value_u64(t, "events", "Events", facts->events);
	/* A program without ROS 2 has none, and needs no row that says so. */
	if (report->options->format != TABLE_TEXT || facts->ros_events ||
	    !spans_facts(report->spans)->events) {
		table_value_u64(t, "processes", "ROS 2 processes", ros_processes(report));
		table_value_u64(t, "nodes", "Nodes", model_count(report->model, MODEL_NODE));
	}
	loss_rows(report, unnamed, events, packets);
}

/* NULL when there is something to show. */
const char *report_why_empty(const struct report *report)
{
	const struct model_facts *facts = model_facts(report->model);
	const struct report_options *options = report->options;

	if (report->rows)
		return NULL;
	if (report->missing)
		return report->missing;
	if (options->told_rules && facts->ros_events == facts->init_events)
		return "The recorder kept only what the rules above select, and nothing of that happened "
		       "meanwhile. `kymo record` without rules, or `kymo filter clear` while it runs, "
		       "records everything.";
	if (!facts->events)
		return "The trace has no events: nothing ran while it was recorded, or the program "
		       "was started without `kymo run` or `kymo record -- CMD`. `kymo doctor` checks "
		       "whether a program can be traced.";
	if (!facts->ros_events && !spans_facts(report->spans)->events)
		return "The trace has events, but none about ROS 2 callbacks or messages, and none "
		       "of kymo.h. `kymo events` shows what it contains.";
	if (!facts->ros_events && options->begin_ns == INT64_MIN && options->end_ns == INT64_MAX)
		return "The trace has events of kymo.h, but none for this section. "
		       "`kymo events` shows what it contains.";
	if (facts->ros_events && facts->ros_events == facts->init_events)
		return "The trace has only initialization events: nodes were created, but no callback "
		       "ran and no message was sent while it was recorded. `kymo report --section nodes` shows "
		       "them.";
	if (selection_any(options->selection))
		return "Nothing in the trace matches --node, --topic and --process. `kymo report "
		       "--section nodes --section topics --section processes` lists the names "
		       "in the trace.";
	if (options->begin_ns != INT64_MIN || options->end_ns != INT64_MAX)
		return "Nothing happened between --begin and --end.";
	if (options->sections && report->none)
		return report->none;
	return "No callback of the trace both began and ended, and no message was published by a "
	       "known publisher: it may have been recorded for too short a time.";
}

const char *report_kernel_remedy(const struct report *report)
{
	for (unsigned i = 0; i < kymo_ctf_trace_count(report->reader); i++)
		if (strcmp(kymo_ctf_trace(report->reader, i)->tracer, "kymo") == 0)
			return "record with kymo record --kernel";
	return "record with kymo record --kernel, or with lttng enable-event -k "
	       "sched_switch,sched_waking,sched_wakeup_new,sched_migrate_task,sched_process_exit "
	       "together "
	       "with those of ROS 2";
}

/* A process that has subscriptions or timers, and not one callback: rclpy has no tracepoints for
 * them. */
static bool has_no_callbacks(const struct report *report, const struct model_process *process)
{
	bool has_owner = false;

	for (unsigned i = 0; i < model_count(report->model, MODEL_CALLBACK); i++)
		if (model_callback(report->model, i)->process == process)
			return false;
	for (unsigned i = 0; !has_owner && i < model_count(report->model, MODEL_SUBSCRIPTION); i++)
		has_owner = model_subscription(report->model, i)->process == process;
	for (unsigned i = 0; !has_owner && i < model_count(report->model, MODEL_TIMER); i++)
		has_owner = model_timer(report->model, i)->process == process;
	return has_owner;
}

/* On the first screen, in lines that fit. */
__attribute__((format(printf, 2, 3))) static void remark(struct report *report, const char *format,
							 ...)
{
	char plain[1024], text[2048];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(plain, sizeof(plain), format, args);
	va_end(args);
	text_hints(text, sizeof(text), plain, report->options->operand);
	if (!report->options->first) {
		table_note(report->table, "%s", text);
		return;
	}
	report->remark_lines += 1 + first_note_lines(report->table, text);
	if (report->counts_remarks)
		return;
	table_note(report->table, "%s", "");
	first_note(report->table, text);
}

static void remark_python(struct report *report)
{
	char first[128] = "", others[48] = "";
	unsigned count = 0;

	for (unsigned i = 0; i < model_count(report->model, MODEL_PROCESS); i++) {
		const struct model_process *process = model_process(report->model, i);

		if (!has_no_callbacks(report, process))
			continue;
		if (!count++)
			report_process(report, process, first, sizeof(first));
	}
	if (!count)
		return;
	if (count > 1)
		snprintf(others, sizeof(others), " and %u more processes", count - 1);
	remark(report,
	       "No callbacks of %s%s are in the trace. If it is a Python program: rclpy has no "
	       "tracepoints for callbacks. Start it with `kymo run` or `kymo record`, which "
	       "load a hook for them, or with `python3 -m kymo.rclpy_hook NODE.py`.",
	       first, others);
}

unsigned report_remark_lines(struct report *report)
{
	report->remark_lines = 0;
	report->counts_remarks = true;
	report_remarks(report);
	report->counts_remarks = false;
	return report->remark_lines;
}

void report_remarks(struct report *report)
{
	const struct model_facts *facts = model_facts(report->model);

	if (facts->ros_events && !model_count(report->model, MODEL_NODE))
		remark(report, "The trace contains no node: recording began after the programs "
			       "started, or their "
			       "first events were lost. So callbacks and topics have no names. "
			       "Start programs with "
			       "`kymo run`, and `kymo record` has the names whenever it begins.");
	remark_python(report);
	if (facts->publishes_without_timestamp)
		remark(report,
		       "%" PRIu64 " messages were published by ROS 2 Iron or older, whose "
		       "rmw_publish has no time stamp: they cannot be matched with what other "
		       "processes received, so they have no latency.",
		       facts->publishes_without_timestamp);
	if (facts->intra_unknown && !facts->intra_publishes)
		remark(report,
		       "%" PRIu64 " callbacks received their message within their process, which "
		       "ROS 2 Humble does "
		       "not trace: such messages are not listed under a topic and have no latency.",
		       facts->intra_unknown);
	if (facts->odd_event)
		remark(report,
		       "The trace declares %s with other fields than ROS 2 does, so this event was "
		       "ignored. "
		       "`kymo events` shows its fields.",
		       facts->odd_event);
	if (facts->unfinished && report->options->first)
		remark(report,
		       "%" PRIu64 " run%s of callbacks %s no end in the trace, and %s not "
		       "counted.",
		       facts->unfinished, facts->unfinished == 1 ? "" : "s",
		       facts->unfinished == 1 ? "has" : "have",
		       facts->unfinished == 1 ? "is" : "are");
	else if (facts->unfinished)
		remark(report,
		       "Runs of callbacks without an end in the trace (an exception, a "
		       "deferred response, lost events, the end of the recording): %" PRIu64
		       ". Their durations are not known and not counted.",
		       facts->unfinished);
	if (spans_facts(report->spans)->unfinished)
		remark(report,
		       "Spans without an end in the trace: %" PRIu64 ". Their durations are not "
		       "counted.",
		       spans_facts(report->spans)->unfinished);
	if (spans_facts(report->spans)->ends_without_begin)
		remark(report,
		       "Ends of spans whose begin is not in the trace, ignored: %" PRIu64 ".",
		       spans_facts(report->spans)->ends_without_begin);
	if (!report->options->first &&
	    (report_lost_events(report) || stats_lost_packets(report->stats)))
		remark(report, "Events were lost: counts may be too low, and messages that were "
			       "never received "
			       "or whose publish was not traced may be too many.");
}

void report_worst(const struct report *report)
{
	const struct report_options *o = report->options;

	if (!o->told_worst || !*o->told_worst)
		return;
	table_note(report->table, "%s", "");
	table_value_text(report->table, "worst", "Worst", o->told_worst);
	table_value_text(report->table, "why", "Why", o->told_why);
}

void report_next(struct report *report)
{
	char path[1024];

	text_shell(path, sizeof(path), report->path);
	table_note(report->table, "%s", "");
	table_note(report->table, "Next:");
	if (model_facts(report->model)->ros_events) {
		table_note(report->table, "  kymo why %s", path);
		table_note(report->table,
			   "      where the time of the worst one went, part by part");
		table_note(report->table, "  kymo report %s --section callback_instances", path);
		table_note(report->table, "      every run of every callback");
	}
	table_note(report->table, "  kymo export %s --format perfetto -o trace.pftrace", path);
	table_note(report->table, "      the same on a time line: open the file at ui.perfetto.dev");
}
