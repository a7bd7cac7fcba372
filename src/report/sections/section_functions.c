/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sections "functions" and "callback-functions": what each function cost by itself and with
 * what it called, in a process or within a callback. From samples of call stacks, or from entries
 * and exits. Each reads the trace once more.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/symbol/symbol.h"
#include "analysis/system/system_functions.h"
#include "base/array.h"
#include "report/report_internal.h"
#include "report/sections/profile_names.h"
#include "report/sections/section_system.h"

static const struct table_column function_columns[] = {
	{ "pid", NULL },
	{ "process", "Process" },
	{ "function", "Function" },
	{ "file", "File" },
	{ "address", NULL },
	{ "calls", "Calls" },
	{ "samples", "Samples" },
	{ "own_ns", "Self" },
	{ "total_ns", "Total" },
	{ "percent", "Self %" },
	{ "off_cpu_ns", "Off CPU" },
};

static const struct table_column callback_columns[] = {
	{ "pid", NULL },
	{ "callback", "Callback" },
	{ "runs", NULL },
	{ "runs_ns", NULL },
	{ "function", "Function" },
	{ "file", "File" },
	{ "address", NULL },
	{ "calls", "Calls" },
	{ "samples", "Samples" },
	{ "own_ns", "Self" },
	{ "total_ns", "Total" },
	{ "percent", "% of runs" },
	{ "per_run_ns", "Per run" },
	{ "off_cpu_ns", "Off CPU" },
};

/* What the rows need. */
struct shown {
	struct report *report;
	struct profile profile;
	struct functions functions;
};

static void cells_function(struct shown *shown, const struct functions_row *row)
{
	struct table *t = shown->report->table;
	char label[256], shorter[96], address[32];
	const char *file, *name = profile_name(shown->report, &shown->profile, row->thread,
					       row->call, &file, label, sizeof(label));

	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)row->call->address);
	if (name && shown->report->options->format == TABLE_TEXT)
		name = symbol_short(name, shorter, sizeof(shorter));
	table_text(t, name ? name : address);
	table_text(t, file);
	table_hex(t, row->call->address);
	CELL_IF(t, !shown->profile.sampled, table_u64(t, row->calls));
	CELL_IF(t, shown->profile.sampled, table_u64(t, row->samples));
	table_ns(t, row->own_ns);
	table_ns(t, row->total_ns);
}

static void cell_off(const struct shown *shown, const struct functions_row *row)
{
	CELL_IF(shown->report->table,
		shown->profile.sampled ? shown->profile.waits : shown->profile.switches,
		table_ns(shown->report->table, row->off_ns));
}

static const char *process_of(const struct shown *shown, const struct functions_row *row)
{
	const struct os_thread *thread = &row->group->thread->os,
			       *main = os_thread_main(&shown->profile.threads, thread);

	return main ? main->name : thread->name;
}

/* For people: does another process of this name have rows, too? */
static bool has_twin(const struct shown *shown, const struct functions_row *row)
{
	const char *name = process_of(shown, row);

	for (unsigned i = 0;
	     shown->report->options->format == TABLE_TEXT && name && i < shown->functions.count;
	     i++) {
		const struct functions_row *other = shown->functions.row[i];
		const char *of = process_of(shown, other);

		if (other->group->thread->os.pid != row->group->thread->os.pid && of &&
		    strcmp(of, name) == 0)
			return true;
	}
	return false;
}

static void cell_process(const struct shown *shown, const struct functions_row *row,
			 const char *text)
{
	char with_pid[320];

	if (text && has_twin(shown, row)) {
		(void)snprintf(with_pid, sizeof(with_pid), "%s (%d)", text,
			       (int)row->group->thread->os.pid);
		text = with_pid;
	}
	cell_name(shown->report->table, text ? text : "");
}

static void function_row(struct report *report, const struct report_row *row)
{
	struct shown *shown = (struct shown *)row->of;
	const struct functions_row *function = shown->functions.row[row->index];
	struct table *t = report->table;

	table_i64(t, function->group->thread->os.pid);
	cell_process(shown, function, process_of(shown, function));
	cells_function(shown, function);
	cell_percent(t, function->own_ns, function->group->own_ns);
	cell_off(shown, function);
}

static void callback_row(struct report *report, const struct report_row *row)
{
	struct shown *shown = (struct shown *)row->of;
	const struct functions_row *function = shown->functions.row[row->index];
	const struct functions_group *group = function->group;
	struct table *t = report->table;
	char label[256];
	const char *file;

	table_i64(t, group->thread->os.pid);
	cell_process(shown, function,
		     profile_name(report, &shown->profile, group->thread, group->callback, &file,
				  label, sizeof(label)));
	table_u64(t, group->runs);
	table_ns(t, group->runs_ns);
	cells_function(shown, function);
	cell_percent(t, function->total_ns, group->runs_ns);
	CELL_IF(t, group->runs, table_ns(t, function->total_ns / (int64_t)group->runs));
	cell_off(shown, function);
}

static void print(struct shown *shown, bool by_callback)
{
	struct report_rows rows = { 0 };

	for (unsigned i = 0; i < shown->functions.count; i++) {
		const struct functions_row *row = shown->functions.row[i];

		if (section_wants_thread(shown->report, &shown->profile.threads,
					 &row->group->thread->os))
			REPORT_ROW(&rows, .index = i,
				   .key = (double)(by_callback ? row->total_ns : row->own_ns),
				   .of = shown);
	}
	report_rows_print(shown->report, &rows, by_callback ? callback_row : function_row);
}

static int functions_section(struct report *report, bool by_callback)
{
	struct shown shown = { .report = report };
	const int status = section_read_profile(report, &shown.profile, true);
	const char *const empty[] = { shown.profile.sampled ? "calls" : "samples", NULL };

	if (by_callback)
		section_begin_without(report, "callback-functions", "Functions within callbacks",
				      callback_columns, COUNT_OF(callback_columns), empty);
	else
		section_begin_without(report, "functions", "Functions, by their own time",
				      function_columns, COUNT_OF(function_columns), empty);
	table_rank(report->table, by_callback ? "callback function total_ns per_run_ns percent "
						"off_cpu_ns own_ns"
					      : "function own_ns total_ns percent off_cpu_ns");
	functions_collect(&shown.functions, &shown.profile, by_callback);
	print(&shown, by_callback);
	if (by_callback && shown.profile.events && !shown.functions.count)
		section_tell_missing(report, "No function was seen within a callback.");
	section_profile_notes(report, &shown.profile);
	functions_free(&shown.functions);
	profile_free(&shown.profile);
	return status;
}

int report_functions(struct report *report)
{
	return functions_section(report, false);
}

int report_callback_functions(struct report *report)
{
	return functions_section(report, true);
}
