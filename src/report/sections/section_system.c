/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sections about what the operating system and libc say: cputime, memory, profile. Each reads
 * the trace once more, as these events are others than those of ROS 2.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/model_symbol.h"
#include "analysis/system/system_cputime.h"
#include "analysis/system/system_memory.h"
#include "analysis/system/system_profile.h"
#include "base/array.h"
#include "report/report_internal.h"
#include "report/sections/profile_names.h"

/* A pass of its own; @analysis stays with the caller. Return: 0, or -1 with report->err. */
static int read_again(struct report *report, const struct pass_ops *ops, void *analysis)
{
	struct passes passes = { 0 };

	pass_add(&passes, ops, analysis);
	return report_read(report, &passes, report->err);
}

/* A process has the name of its main thread, here as well. */
static bool wants_thread(const struct report *report, const struct os_threads *threads,
			 const struct os_thread *thread)
{
	const struct os_thread *main = thread->pid ? os_thread_main(threads, thread) : NULL;

	return selection_process(report->options->selection, main ? main->name : thread->name,
				 thread->pid);
}

static void tell_missing(struct report *report, const char *text)
{
	report->missing = text;
	table_note(report->table, "%s", text);
}

static void cells_thread(struct table *t, const struct os_thread *thread)
{
	table_i64(t, thread->tid);
	cell_name(t, thread->name);
	CELL_IF(t, thread->pid, table_i64(t, thread->pid));
}

/* ---- cputime ---- */

static const struct table_column cpu_columns[] = {
	{ "tid", "Thread" },	   { "name", "Name" },	     { "pid", NULL },
	{ "cpu_ns", "On CPU" },	   { "percent", "% of one CPU" }, { "slices", "Slices" },
	{ "min_ns", NULL },	   { "mean_ns", "Mean" },    { "p50_ns", NULL },
	{ "p99_ns", "p99" },	   { "max_ns", "Longest" },  { "migrations", "Migrations" },
};

static void cpu_row(struct report *report, const struct report_row *row)
{
	const struct cputime *cputime = row->of;
	const struct cputime_thread *thread = cputime_thread(cputime, row->index);
	const struct histogram *h = &thread->slice;
	int64_t from = cputime->first_ns, to = cputime->last_ns;
	struct table *t = report->table;

	from = from > cputime->begin_ns ? from : cputime->begin_ns;
	to = to < cputime->end_ns ? to : cputime->end_ns;
	table_i64(t, thread->os.tid);
	table_text(t, thread->os.tid ? thread->os.name : "(idle)");
	CELL_IF(t, thread->os.pid, table_i64(t, thread->os.pid));
	table_ns(t, (int64_t)h->sum);
	cell_percent(t, (int64_t)h->sum, to - from);
	cells_latency(t, h, 0);
	table_u64(t, thread->migrations);
}

int report_cputime(struct report *report)
{
	struct cputime cputime;
	struct report_rows rows = { 0 };
	int status;

	cputime_init(&cputime, report->reader, report->options->begin_ns, report->options->end_ns);
	status = read_again(report, &cputime_pass, &cputime);
	table_section(report->table, "cputime", "Time on CPUs, by thread", cpu_columns,
		      COUNT_OF(cpu_columns));
	for (unsigned i = 0; i < cputime.threads.count; i++) {
		const struct cputime_thread *thread = cputime_thread(&cputime, i);

		if (thread->slice.count && wants_thread(report, &cputime.threads, &thread->os))
			REPORT_ROW(&rows, .index = i, .key = (double)thread->slice.sum,
				   .of = &cputime);
	}
	report_rows_print(report, &rows, cpu_row);
	if (!cputime.switches) {
		snprintf(report->none_text, sizeof(report->none_text),
			 "The trace has no sched_switch; %s.", report_kernel_remedy(report));
		tell_missing(report, report->none_text);
	}
	cputime_free(&cputime);
	return status;
}

/* ---- memory ---- */

static const struct table_column memory_columns[] = {
	{ "what", "What" },	       { "tid", "Thread" },	  { "name", "Name" },
	{ "pid", "Process" },	       { "allocations", "Allocations" },
	{ "frees", "Frees" },	       { "allocated_bytes", "Allocated" },
	{ "now_bytes", "In use at the end" }, { "most_bytes", "Peak" },  { "most_at", "at" },
	{ "least_bytes", NULL },       { "most_ns", NULL },	  { "unknown_frees", NULL },
};

static void memory_row(struct report *report, const char *what, const struct memory_thread *thread,
		       const struct memory_use *use)
{
	struct table *t = report->table;
	char at[32];

	table_text(t, what);
	cells_thread(t, &thread->os);
	table_u64(t, use->allocations);
	table_u64(t, use->frees);
	table_bytes(t, use->allocated);
	cell_bytes(t, true, use->now);
	cell_bytes(t, true, use->most);
	CELL_IF(t, use->most_ns,
		table_text(t, report_offset(report, use->most_ns, at, sizeof(at))));
	cell_bytes(t, true, use->least);
	CELL_IF(t, use->most_ns, table_time(t, use->most_ns));
	table_u64(t, use->unknown_frees);
}

static void process_row(struct report *report, const struct report_row *row)
{
	const struct memory_thread *thread = row->of;

	memory_row(report, "process", thread, &thread->user);
}

static void user_row(struct report *report, const struct report_row *row)
{
	const struct memory_thread *thread = row->of;

	memory_row(report, "thread", thread, &thread->user);
}

static void kernel_row(struct report *report, const struct report_row *row)
{
	const struct memory_thread *thread = row->of;

	memory_row(report, "kernel pages", thread, &thread->kernel);
}

static bool was_used(const struct memory_use *use)
{
	return use->allocations || use->frees || use->unknown_frees;
}

/* The rows of the section so far. */
struct memory_shown {
	unsigned shown, all;
};

static void memory_rows(struct report *report, const struct memory *memory, unsigned count,
			const struct memory_thread *(*at)(const struct memory *, unsigned),
			bool kernel,
			void (*print)(struct report *report, const struct report_row *row),
			struct memory_shown *sum)
{
	struct report_rows rows = { 0 };

	for (unsigned i = 0; i < count; i++) {
		const struct memory_thread *thread = at(memory, i);
		const struct memory_use *use = kernel ? &thread->kernel : &thread->user;

		if (was_used(use) && wants_thread(report, &memory->threads, &thread->os))
			REPORT_ROW(&rows, .index = i, .key = (double)use->most, .of = thread);
	}
	sum->shown += report_rows_show(report, &rows, print);
	sum->all += rows.count;
	free(rows.row);
}

int report_memory(struct report *report)
{
	struct memory_shown sum = { 0 };
	struct memory memory;
	int status;

	memory_init(&memory, report->reader, report->options->begin_ns, report->options->end_ns);
	status = read_again(report, &memory_pass, &memory);
	table_section(report->table, "memory", "Memory allocated since the trace began", memory_columns,
		      COUNT_OF(memory_columns));
	memory_rows(report, &memory, memory.processes.count, memory_process, false, process_row,
		    &sum);
	memory_rows(report, &memory, memory.threads.count, memory_thread, false, user_row, &sum);
	memory_rows(report, &memory, memory.threads.count, memory_thread, true, kernel_row, &sum);
	report_more(report, sum.shown, sum.all);
	report->rows += sum.all;
	if (!memory.events)
		tell_missing(report, "The trace has no allocations; record with kymo record --malloc, or with LTTng and "
				     "liblttng-ust-libc-wrapper.so preloaded, or the kernel's "
				     "kmem_mm_page_*.");
	memory_free(&memory);
	return status;
}

/* ---- profile ---- */

static const struct table_column profile_columns[] = {
	{ "tid", "Thread" },	{ "thread", "Name" },	 { "pid", NULL },
	{ "depth", NULL },	{ "function", "Function" }, { "file", "File" },
	{ "address", NULL },	{ "parent", NULL },
	{ "calls", "Calls" },	{ "total_ns", "Total" },   { "own_ns", "Own" },
	{ "cpu_ns", "On CPU" }, { "off_cpu_ns", NULL },	   { "mean_ns", "Mean" },
	{ "max_ns", "Max" },	{ "unfinished", NULL },
};

struct profile_print {
	struct report *report;
	struct profile *profile;
	const struct profile_thread *thread;
	unsigned shown, all;
};

static void call_row(struct profile_print *print, const struct profile_call *call)
{
	bool text = print->report->options->format == TABLE_TEXT;
	unsigned indent = text ? (call->depth - 1) * 2 : 0;
	struct table *t = print->report->table;
	char name[512], label[256], shorter[96];
	const char *file, *function = profile_name(print->report, print->profile, print->thread, call,
						   &file, label, sizeof(label));

	cells_thread(t, &print->thread->os);
	table_u64(t, call->depth - 1);
	if (function && text && !call->is_callback)
		function = symbol_short(function, shorter, sizeof(shorter));
	if (function)
		snprintf(name, sizeof(name), "%*s%s", indent < 80 ? (int)indent : 80, "", function);
	else
		snprintf(name, sizeof(name), "%*s0x%llx", indent < 80 ? (int)indent : 80, "",
			 (unsigned long long)call->address);
	table_text(t, name);
	table_text(t, file);
	table_hex(t, call->address);
	CELL_IF(t, call->depth > 1, table_hex(t, call->parent->address));
	table_u64(t, call->calls);
	table_ns(t, call->total_ns);
	table_ns(t, call->own_ns);
	CELL_IF(t, print->profile->switches, table_ns(t, call->cpu_ns));
	CELL_IF(t, print->profile->switches, table_ns(t, call->total_ns - call->cpu_ns));
	CELL_IF(t, call->calls, table_ns(t, call->total_ns / (int64_t)call->calls));
	table_ns(t, call->most_ns);
	table_u64(t, call->unfinished);
}

static int by_total(const void *a, const void *b)
{
	const struct profile_call *x = *(const struct profile_call *const *)a;
	const struct profile_call *y = *(const struct profile_call *const *)b;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return x->index < y->index ? -1 : 1;
}

/* Callers before what they call, the longest first. */
static void print_calls(struct profile_print *print, const struct profile_call *parent)
{
	const struct profile_call **list, *call;
	unsigned count = 0, i = 0;

	for (call = parent->child; call; call = call->sibling)
		count++;
	list = count ? malloc(count * sizeof(*list)) : NULL;
	for (call = parent->child; call && list; call = call->sibling)
		list[i++] = call;
	if (list)
		qsort(list, count, sizeof(*list), by_total);
	for (i = 0; list && i < count; i++) {
		if (print->all++ < report_limit(print->report)) {
			call_row(print, list[i]);
			print->shown++;
		}
		print_calls(print, list[i]);
	}
	free(list);
}

int report_profile(struct report *report)
{
	struct profile profile;
	struct profile_print print = { .report = report, .profile = &profile };
	unsigned i;
	int status;

	profile_init(&profile, report->reader, report->options->begin_ns, report->options->end_ns);
	status = read_again(report, &profile_pass, &profile);
	table_section(report->table, "profile", "Call trees by thread", profile_columns,
		      COUNT_OF(profile_columns));
	for (i = 0; (print.thread = profile_thread(&profile, i)); i++)
		if (print.thread->has_functions &&
		    wants_thread(report, &profile.threads, &print.thread->os))
			print_calls(&print, print.thread->root);
	report_more(report, print.shown, print.all);
	report->rows += print.all;
	if (!profile.events)
		tell_missing(report,
			     "The trace has no func_entry: build with -finstrument-functions "
			     "and record with kymo record --functions, or preload "
			     "liblttng-ust-cyg-profile-fast.so.");
	if (profile.events && !profile.modules.count)
		table_note(report->table, "Functions have no names: the trace does not say what was "
			   "loaded where. Record lttng_ust_statedump:*, too (lttng enable-event -u).");
	if (profile.modules.changed)
		table_note(report->table, "Files on this machine whose build id differs from the one that ran: %u. "
			   "Their functions have no names.", profile.modules.changed);
	if (profile.modules.missing)
		table_note(report->table, "Files that are not on this machine: %u. Their functions have no "
			   "names.", profile.modules.missing);
	if (profile.exits_without_entry)
		table_note(report->table, "Exits whose entry is not in the trace, ignored: %llu.",
			   (unsigned long long)profile.exits_without_entry);
	profile_free(&profile);
	return status;
}
