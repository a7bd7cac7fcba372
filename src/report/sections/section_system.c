/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sections about what the operating system and libc say: cputime, memory. Each reads the
 * trace once more, as these events are others than those of ROS 2.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/system/system_cputime.h"
#include "analysis/system/system_memory.h"
#include "base/array.h"
#include "report/report_internal.h"
#include "report/sections/section_system.h"

int section_read_again(struct report *report, const struct pass_ops *ops, void *analysis)
{
	struct passes passes = { 0 };

	pass_add(&passes, ops, analysis);
	return report_read(report, &passes, report->err);
}

bool section_wants_thread(const struct report *report, const struct os_threads *threads,
			  const struct os_thread *thread)
{
	const struct os_thread *main = thread->pid ? os_thread_main(threads, thread) : NULL;

	return selection_process(report->options->selection, main ? main->name : thread->name,
				 thread->pid);
}

void section_tell_missing(struct report *report, const char *text)
{
	report->missing = text;
	table_note(report->table, "%s", text);
}

void section_cells_thread(struct table *t, const struct os_thread *thread)
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
	status = section_read_again(report, &cputime_pass, &cputime);
	table_section(report->table, "cputime", "Time on CPUs, by thread", cpu_columns,
		      COUNT_OF(cpu_columns));
	for (unsigned i = 0; i < cputime.threads.count; i++) {
		const struct cputime_thread *thread = cputime_thread(&cputime, i);

		if (thread->slice.count &&
		    section_wants_thread(report, &cputime.threads, &thread->os))
			REPORT_ROW(&rows, .index = i, .key = (double)thread->slice.sum,
				   .of = &cputime);
	}
	report_rows_print(report, &rows, cpu_row);
	if (!cputime.switches) {
		snprintf(report->none_text, sizeof(report->none_text),
			 "The trace has no sched_switch; %s.", report_kernel_remedy(report));
		section_tell_missing(report, report->none_text);
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
	section_cells_thread(t, &thread->os);
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

		if (was_used(use) && section_wants_thread(report, &memory->threads, &thread->os))
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
	status = section_read_again(report, &memory_pass, &memory);
	table_section(report->table, "memory", "Memory allocated since the trace began", memory_columns,
		      COUNT_OF(memory_columns));
	memory_rows(report, &memory, memory.processes.count, memory_process, false, process_row,
		    &sum);
	memory_rows(report, &memory, memory.threads.count, memory_thread, false, user_row, &sum);
	memory_rows(report, &memory, memory.threads.count, memory_thread, true, kernel_row, &sum);
	report_more(report, sum.shown, sum.all);
	report->rows += sum.all;
	if (!memory.events)
		section_tell_missing(report, "The trace has no allocations; record with kymo record --malloc, or with LTTng and "
				     "liblttng-ust-libc-wrapper.so preloaded, or the kernel's "
				     "kmem_mm_page_*.");
	memory_free(&memory);
	return status;
}
