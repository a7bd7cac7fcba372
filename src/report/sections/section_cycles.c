/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The section cycles: what callbacks, and the threads that run them, had of a counter of perf. A
 * pass of its own, as the events are others.
 */
#include "analysis/cycles/cycles.h"

#include <stdlib.h>
#include <string.h>

#include "report/report_internal.h"
#include "base/array.h"

static const struct table_column columns[] = {
	{ "what", "What" }, { "name", "Callback or thread" }, { "node", NULL }, { "process", "Process" }, { "pid", NULL },
	{ "tid", NULL }, { "runs", "Runs" }, { "count", "Count" }, { "per_run", "Per run" }, { "cpu_ns", "On CPU" },
	{ "per_ns", "Per ns" },
};

static void row(struct report *report, const char *what, const char *name,
		const struct model_node *node, const struct model_process *process,
		const struct model_thread *thread, const struct cycles_sum *sum)
{
	struct table *t = report->table;
	char text[128];

	table_text(t, what);
	table_text(t, name);
	table_text(t, node ? node->full_name : NULL);
	table_text(t, report_process(report, process, text, sizeof(text)));
	table_i64(t, process->pid);
	CELL_IF(t, thread, table_i64(t, thread->tid));
	table_u64(t, sum->runs);
	table_u64(t, (uint64_t)(sum->count + 0.5));
	CELL_IF(t, sum->runs, table_u64(t, (uint64_t)(sum->count / (double)sum->runs + 0.5)));
	table_ns(t, sum->ns);
	table_f64(t, sum->count / (double)sum->ns);
}

static void callback_row(struct report *report, const struct report_row *found)
{
	const struct model_callback *callback = model_callback(report->model, found->index);
	char label[512];

	row(report, "callback", model_callback_label(callback, label, sizeof(label)),
	    model_callback_node(callback), callback->process, NULL, found->of);
}

/* Return: how many of @rows are shown. */
static unsigned show_callbacks(struct report *report, const struct model *model,
			       const struct cycles *cycles, struct report_rows *rows)
{
	for (unsigned i = 0; i < model_count(model, MODEL_CALLBACK); i++) {
		const struct cycles_sum *sum = cycles_callback(cycles, i);

		if (sum && report_wants_callback(report, model_callback(model, i)))
			REPORT_ROW(rows, .index = i, .of = sum, .key = sum->count);
	}
	report->rows += rows->count;
	return report_rows_show(report, rows, callback_row);
}

/* Return: how many are not in the trace, as their numbers are others'. */
static unsigned show_threads(struct report *report, const struct cycles *cycles)
{
	const struct cycles_thread *thread;
	unsigned unknown = 0;

	for (unsigned i = 0; (thread = cycles_thread(cycles, i)); i++) {
		if (!thread->sum.ns || !report_wants_process(report, thread->thread->process))
			continue;
		unknown += !cycles_thread_is_known(thread);
		row(report, "thread", thread->thread->name, NULL, thread->thread->process, thread->thread, &thread->sum);
		report->rows++;
	}
	return unknown;
}

static void show(struct report *report, const struct model *model, const struct cycles *cycles,
		 const char *name)
{
	struct report_rows callbacks = { 0 };
	unsigned unknown, shown;

	table_value_text(report->table, "counter", "Counter", name);
	table_section(report->table, "cycles", "How much callbacks and their threads counted", columns, COUNT_OF(columns));
	shown = show_callbacks(report, model, cycles, &callbacks);
	unknown = show_threads(report, cycles);
	/* A remark ends the table, so it comes behind the threads. */
	report_more(report, shown, callbacks.count);
	free(callbacks.row);
	table_note(report->table, "The counter is read each time a thread leaves a CPU; a callback gets its share by time.");
	if (unknown)
		table_note(report->table, "The counts of %u threads are probably another thread's: most of their runs are outside the recorded time on a CPU. "
			   "The kernel's thread numbers are the host's, those of the program a container's.", unknown);
	if (strcmp(name, "cpu-clock") == 0)
		table_note(report->table, "The counter is nanoseconds of CPU time: no hardware counter of CPU cycles was available.");
}

int report_cycles(struct report *report)
{
	static const char none[] = "The trace has no counts of CPU cycles; record with kymo record --cycles.";
	const char *name = cycles_name(report->reader);
	struct passes passes = { 0 };
	struct model *model;
	struct cycles *cycles;
	int status = -1;

	if (!name) {
		report->missing = none;
		table_note(report->table, "%s", none);
		return 0;
	}
	if (model_create(&model, report->err))
		return -1;
	pass_add(&passes, &model_pass, model);
	if (!cycles_create(&cycles, model, report->reader, report->err)) {
		pass_add(&passes, &cycles_pass, cycles);
		status = report_read(report, &passes, report->err);
	}
	if (!status)
		show(report, model, cycles, name);
	passes_free(&passes);
	return status;
}
