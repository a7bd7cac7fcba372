/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sections about what the kernel's scheduler did: callback-cpu, node-cpu, process-cpu,
 * preemptions.
 */
#include "report/report_internal.h"
#include "base/array.h"

#include <stdlib.h>

/* What a usage has, in each of these sections. */
#define USAGE_COLUMNS										\
	{ "cpu_ns", "On CPU" }, { "preempted_ns", "Preempted" }, { "waiting_ns", "Waiting for a CPU" },	\
	{ "blocked_ns", "Blocked" }, { "unknown_ns", NULL }, { "preemptions", "Preemptions" },	\
	{ "migrations", "Migrations" }

static void cells_usage(struct table *t, const struct sched_usage *usage)
{
	table_ns(t, usage->ns[SCHED_ON_CPU]);
	table_ns(t, usage->ns[SCHED_PREEMPTED]);
	table_ns(t, usage->ns[SCHED_WAITING]);
	table_ns(t, usage->ns[SCHED_BLOCKED]);
	table_ns(t, usage->ns[SCHED_UNKNOWN]);
	table_u64(t, usage->preemptions);
	table_u64(t, usage->migrations);
}

static void cells_process(struct report *report, const struct model_process *process)
{
	char text[128];

	table_text(report->table, report_process(report, process, text, sizeof(text)));
	table_i64(report->table, process->pid);
}

/* ---- callbacks ---- */

static const struct table_column callback_columns[] = {
	{ "node", "Node" }, { "kind", "Kind" }, { "source", "Topic/period/service" }, { "count", "Count" }, { "known", NULL },
	{ "total_ns", "Total" }, USAGE_COLUMNS, { "process", NULL }, { "pid", NULL }, { "callback", NULL },
};

static void callback_row(struct report *report, const struct report_row *row)
{
	const struct model_callback *callback = row->of;
	const struct sched_callback *of = sched_totals_callback(report->totals, callback->index);
	struct table *t = report->table;
	char text[64];

	cell_node(t, model_callback_node(callback));
	table_text(t, model_callback_kind_name(callback));
	table_text(t, model_callback_what(callback, text, sizeof(text)));
	table_u64(t, of->runs);
	table_u64(t, of->known);
	table_ns(t, of->duration_ns);
	cells_usage(t, &of->usage);
	cells_process(report, callback->process);
	table_hex(t, callback->address);
}

/* A run whose thread the kernel knows by another number is counted, and no more. */
static void tell_unknown(struct report *report)
{
	uint64_t runs = 0, known = 0;

	for (unsigned i = 0; report->totals && i < model_count(report->model, MODEL_CALLBACK);
	     i++) {
		runs += sched_totals_callback(report->totals, i)->runs;
		known += sched_totals_callback(report->totals, i)->known;
	}
	if (runs > known)
		table_note(report->table, "Not known for %llu of %llu runs: the kernel had no thread with that number on a CPU "
			   "at that time (process numbers of a container's own, lost events, or no switch yet).",
			   (unsigned long long)(runs - known), (unsigned long long)runs);
}

void report_callback_cpu(struct report *report)
{
	unsigned all = report->totals ? model_count(report->model, MODEL_CALLBACK) : 0;
	struct report_rows rows = { 0 };

	table_section(report->table, "callback-cpu", "Where the time of callbacks went", callback_columns,
		      COUNT_OF(callback_columns));
	for (unsigned i = 0; i < all; i++) {
		const struct sched_callback *of = sched_totals_callback(report->totals, i);
		const struct model_callback *callback = model_callback(report->model, i);

		if (of->known && report_shows_callback(report, callback))
			REPORT_ROW(&rows, .index = i, .of = callback,
				   .key = (double)(of->duration_ns - of->usage.ns[SCHED_ON_CPU]));
	}
	report_rows_print(report, &rows, callback_row);
	tell_unknown(report);
}

/* ---- nodes ---- */

static const struct table_column node_columns[] = {
	{ "node", "Node" }, { "count", "Runs" }, { "known", NULL }, USAGE_COLUMNS, { "process", "Process" }, { "pid", NULL },
};

static void node_row(struct report *report, const struct report_row *row)
{
	const struct sched_callback *of = row->of;
	const struct model_node *node = model_node(report->model, row->index);

	table_text(report->table, node->full_name);
	table_u64(report->table, of->runs);
	table_u64(report->table, of->known);
	cells_usage(report->table, &of->own);
	cells_process(report, node->process);
}

/* By node; a run inside another one counts for its own node only. */
static struct sched_callback *sum_nodes(const struct report *report, unsigned nodes)
{
	struct sched_callback *sum = calloc(nodes ? nodes : 1, sizeof(*sum));

	for (unsigned i = 0; sum && i < model_count(report->model, MODEL_CALLBACK); i++) {
		const struct sched_callback *of = sched_totals_callback(report->totals, i);
		const struct model_node *node =
			model_callback_node(model_callback(report->model, i));

		if (!node)
			continue;
		sum[node->index].runs += of->runs;
		sum[node->index].known += of->known;
		sched_usage_add(&sum[node->index].own, &of->own);
	}
	return sum;
}

void report_node_cpu(struct report *report)
{
	unsigned all = report->totals ? model_count(report->model, MODEL_NODE) : 0;
	struct sched_callback *sum = report->totals ? sum_nodes(report, all) : NULL;
	struct report_rows rows = { 0 };

	table_section(report->table, "node-cpu", "Where the time of nodes in callbacks went", node_columns,
		      COUNT_OF(node_columns));
	for (unsigned i = 0; sum && i < all; i++) {
		const struct model_node *node = model_node(report->model, i);

		if (sum[i].known && report_wants_node(report, node->process, node))
			REPORT_ROW(&rows, .index = i, .of = &sum[i],
				   .key = (double)sum[i].own.ns[SCHED_ON_CPU],
				   .name = node->full_name);
	}
	report_rows_print(report, &rows, node_row);
	free(sum);
}

/* ---- processes ---- */

static const struct table_column process_columns[] = {
	{ "process", "Process" }, { "pid", NULL }, { "threads", "Threads" }, { "callback_cpu_ns", "On CPU in callbacks" },
	USAGE_COLUMNS,
};

struct process_sum {
	unsigned threads;
	struct sched_usage usage;
	int64_t in_callbacks_ns;
};

static void process_row(struct report *report, const struct report_row *row)
{
	const struct process_sum *sum = row->of;

	cells_process(report, model_process(report->model, row->index));
	table_u64(report->table, sum->threads);
	table_ns(report->table, sum->in_callbacks_ns);
	cells_usage(report->table, &sum->usage);
}

static struct process_sum *sum_processes(const struct report *report, unsigned processes)
{
	struct process_sum *sum = calloc(processes ? processes : 1, sizeof(*sum));
	struct sched_usage usage;

	for (unsigned i = 0; sum && i < model_count(report->model, MODEL_THREAD); i++) {
		const struct model_thread *thread = model_thread(report->model, i);

		if (!sched_runs_thread(sched_totals_runs(report->totals), thread, &usage))
			continue;
		sum[thread->process->index].threads++;
		sched_usage_add(&sum[thread->process->index].usage, &usage);
	}
	for (unsigned i = 0; sum && i < model_count(report->model, MODEL_CALLBACK); i++)
		sum[model_callback(report->model, i)->process->index].in_callbacks_ns +=
			sched_totals_callback(report->totals, i)->own.ns[SCHED_ON_CPU];
	return sum;
}

void report_process_cpu(struct report *report)
{
	unsigned all = report->totals ? model_count(report->model, MODEL_PROCESS) : 0;
	struct process_sum *sum = report->totals ? sum_processes(report, all) : NULL;
	struct report_rows rows = { 0 };

	table_section(report->table, "process-cpu", "Where the time of processes went (threads that have events)",
		      process_columns, COUNT_OF(process_columns));
	for (unsigned i = 0; sum && i < all; i++)
		if (sum[i].threads && report_wants_process(report, model_process(report->model, i)))
			REPORT_ROW(&rows, .index = i, .of = &sum[i],
				   .key = (double)sum[i].usage.ns[SCHED_ON_CPU]);
	report_rows_print(report, &rows, process_row);
	free(sum);
}

/* ---- who ran instead ---- */

static const struct table_column preemption_columns[] = {
	{ "victim", "Callback" }, { "by_name", "Who had the CPU" }, { "by_tid", "Thread" }, { "ns", "Time" },
	{ "count", "Times" }, { "pid", NULL }, { "callback", NULL },
};

static void preemption_row(struct report *report, const struct report_row *row)
{
	const struct sched_instead *instead = row->of;
	struct table *t = report->table;
	char label[512];

	table_text(t, model_callback_label(instead->callback, label, sizeof(label)));
	table_text(t, instead->tid < 0 ? "(not known)" : instead->tid ? instead->name : "(idle)");
	CELL_IF(t, instead->tid >= 0, table_i64(t, instead->tid));
	table_ns(t, instead->ns);
	table_u64(t, instead->count);
	table_i64(t, instead->callback->process->pid);
	table_hex(t, instead->callback->address);
}

void report_preemptions(struct report *report)
{
	const struct sched_instead *instead;
	struct report_rows rows = { 0 };

	table_section(report->table, "preemptions", "Preemptions: threads that had the CPU while a callback was ready to run", preemption_columns,
		      COUNT_OF(preemption_columns));
	for (unsigned i = 0; report->totals && (instead = sched_totals_instead(report->totals, i));
	     i++)
		if (report_wants_callback(report, instead->callback) &&
		    report_shows_row(report, instead->callback, NULL))
			REPORT_ROW(&rows, .index = i, .of = instead, .key = (double)instead->ns);
	report_rows_print(report, &rows, preemption_row);
}
