/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nodes and processes cost that real-time programs avoid: the sections node-costs and
 * process-costs.
 */
#include "analysis/costs/costs.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/report_internal.h"
#include "base/array.h"

bool report_costs_missing(struct report *report, const struct costs *costs)
{
	bool libc = costs_seen(costs, COSTS_ALLOCATION), faults = costs_seen(costs, COSTS_FAULT);
	bool calls = costs_seen(costs, COSTS_CALL);

	if (!libc)
		table_note(report->table, "Not recorded: allocations and mutexes. Start the program with kymo record --malloc.");
	if (!faults)
		table_note(report->table, "Not recorded: page faults. Record with kymo record --kernel.");
	if (!calls)
		table_note(report->table, "Not recorded: system calls. Record with kymo record --syscalls.");
	return !libc && !faults && !calls;
}

/* ---- what a use has, in both sections ---- */

#define USE_COLUMNS										\
	{ "allocations", "Allocations" }, { "allocated_bytes", "Allocated" }, { "frees", "Frees" },	\
	{ "growth_bytes", "Growth" }, { "lock_waits", "Lock waits" }, { "lock_ns", "Lock wait time" },	\
	{ "page_faults", "Page faults" }, { "major_faults", "From disk" },			\
	{ "system_calls", "System calls" }, { "system_call_ns", "Time in calls" }

static void cells_use(struct table *t, const struct costs *costs, const struct costs_use *use)
{
	bool libc = costs_seen(costs, COSTS_ALLOCATION), faults = costs_seen(costs, COSTS_FAULT);
	bool calls = costs_seen(costs, COSTS_CALL);

	CELL_IF(t, libc, table_u64(t, use->count[COSTS_ALLOCATION]));
	cell_bytes(t, libc, (int64_t)use->bytes);
	CELL_IF(t, libc, table_u64(t, use->count[COSTS_FREE]));
	cell_bytes(t, libc, use->growth);
	CELL_IF(t, libc, table_u64(t, use->count[COSTS_LOCK]));
	CELL_IF(t, libc, table_ns(t, use->lock_ns));
	CELL_IF(t, faults, table_u64(t, use->count[COSTS_FAULT]));
	CELL_IF(t, faults, table_u64(t, use->count[COSTS_MAJOR]));
	CELL_IF(t, calls, table_u64(t, use->count[COSTS_CALL]));
	CELL_IF(t, calls, table_ns(t, use->call_ns));
}

static bool is_any(const struct costs_use *use)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < COSTS_KINDS; i++)
		any |= use->count[i];
	return any;
}

static double sort_key(const struct costs_use *use)
{
	return (double)use->count[COSTS_ALLOCATION] + (double)use->count[COSTS_FAULT] +
	       (double)use->count[COSTS_LOCK] + (double)use->count[COSTS_CALL];
}

/* ---- nodes ---- */

static const struct table_column node_columns[] = {
	{ "node", "Node" }, USE_COLUMNS, { "process", "Process" }, { "pid", NULL },
};

/* By node; what happens in a callback inside of another one counts for its own node only. */
static struct costs_use *sum_nodes(const struct model *model, const struct costs *costs)
{
	unsigned nodes = model_count(model, MODEL_NODE);
	struct costs_use *sum = calloc(nodes ? nodes : 1, sizeof(*sum));

	for (unsigned i = 0; sum && i < model_count(model, MODEL_CALLBACK); i++) {
		const struct model_node *node = model_callback_node(model_callback(model, i));
		const struct costs_use *own = costs_own(costs, i);

		if (node && own)
			costs_add(&sum[node->index], own);
	}
	return sum;
}

static void node_row(struct report *report, const struct report_row *row)
{
	const struct model_node *node = model_node(report->model, row->index);
	char text[128];

	table_text(report->table, node->full_name);
	cells_use(report->table, report->costs, row->of);
	table_text(report->table, report_process(report, node->process, text, sizeof(text)));
	table_i64(report->table, node->process->pid);
}

void report_node_costs(struct report *report)
{
	struct costs_use *sum = sum_nodes(report->model, report->costs);
	struct report_rows rows = { 0 };

	table_section(report->table, "node-costs", "Costs of nodes in callbacks: allocations, lock waits, page faults, system calls", node_columns,
		      COUNT_OF(node_columns));
	for (unsigned i = 0; sum && i < model_count(report->model, MODEL_NODE); i++) {
		const struct model_node *node = model_node(report->model, i);

		if (is_any(&sum[i]) && report_wants_node(report, node->process, node))
			REPORT_ROW(&rows, .index = i, .of = &sum[i], .key = sort_key(&sum[i]),
				   .name = node->full_name);
	}
	report_rows_print(report, &rows, node_row);
	(void)report_costs_missing(report, report->costs);
	free(sum);
}

/* ---- processes ---- */

static const struct table_column process_columns[] = {
	{ "process", "Process" }, { "pid", NULL }, USE_COLUMNS, { "peak_bytes", "Peak" },
};

static void process_row(struct report *report, const struct report_row *row)
{
	const struct costs_process *process = row->of;
	const struct costs *costs = report->costs;
	char text[320];

	snprintf(text, sizeof(text), "%s (%d)%s%s", *process->name ? process->name : "?", process->pid,
		 report->hosts > 1 ? " @" : "", report->hosts > 1 ? process->hostname : "");
	table_text(report->table, text);
	table_i64(report->table, process->pid);
	cells_use(report->table, costs, &process->use);
	cell_bytes(report->table, costs_seen(costs, COSTS_ALLOCATION), process->use.peak);
}

void report_process_costs(struct report *report)
{
	const struct costs_process *process;
	struct report_rows rows = { 0 };

	table_section(report->table, "process-costs", "Costs of processes, in callbacks or not: allocations, lock waits, page faults, system calls",
		      process_columns, COUNT_OF(process_columns));
	for (unsigned i = 0; (process = costs_process(report->costs, i)); i++)
		if (is_any(&process->use) &&
		    selection_process(report->options->selection, process->name, process->pid))
			REPORT_ROW(&rows, .index = i, .of = process, .key = sort_key(&process->use),
				   .name = process->name);
	report_rows_print(report, &rows, process_row);
	(void)report_costs_missing(report, report->costs);
}
