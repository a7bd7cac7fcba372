/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nodes and processes cost that real-time programs avoid: the sections node-costs and process-costs.
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

static void cell_count(struct table *t, bool is_there, uint64_t count)
{
	if (is_there)
		table_u64(t, count);
	else
		table_none(t);
}

/* Below zero: it frees what others allocated. */
static void cell_bytes(struct table *t, bool is_there, int64_t bytes)
{
	if (is_there && bytes >= 0)
		table_bytes(t, (uint64_t)bytes);
	else if (is_there)
		table_i64(t, bytes);
	else
		table_none(t);
}

static void cells_use(struct table *t, const struct costs *costs, const struct costs_use *use)
{
	bool libc = costs_seen(costs, COSTS_ALLOCATION), faults = costs_seen(costs, COSTS_FAULT);
	bool calls = costs_seen(costs, COSTS_CALL);

	cell_count(t, libc, use->count[COSTS_ALLOCATION]);
	cell_bytes(t, libc, (int64_t)use->bytes);
	cell_count(t, libc, use->count[COSTS_FREE]);
	cell_bytes(t, libc, use->growth);
	cell_count(t, libc, use->count[COSTS_LOCK]);
	if (libc)
		table_ns(t, use->lock_ns);
	else
		table_none(t);
	cell_count(t, faults, use->count[COSTS_FAULT]);
	cell_count(t, faults, use->count[COSTS_MAJOR]);
	cell_count(t, calls, use->count[COSTS_CALL]);
	if (calls)
		table_ns(t, use->call_ns);
	else
		table_none(t);
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
	return (double)use->count[COSTS_ALLOCATION] + (double)use->count[COSTS_FAULT] + (double)use->count[COSTS_LOCK] +
	       (double)use->count[COSTS_CALL];
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

void report_node_costs(struct report *report)
{
	const struct model *model = report->model;
	const struct costs *costs = report->costs;
	unsigned all = model_count(model, MODEL_NODE), count = 0, i;
	struct costs_use *sum = sum_nodes(model, costs);
	struct report_row *rows = report_rows_new(all);
	char text[128];

	table_section(report->table, "node-costs", "Costs of nodes in callbacks: allocations, lock waits, page faults, system calls", node_columns,
		      COUNT_OF(node_columns));
	for (i = 0; rows && sum && i < all; i++) {
		const struct model_node *node = model_node(model, i);

		if (is_any(&sum[i]) && report_wants_node(report, node->process, node))
			rows[count++] = (struct report_row){ i, sort_key(&sum[i]), node->full_name };
	}
	if (count)
		qsort(rows, count, sizeof(*rows), report_by_key);
	for (i = 0; i < count && i < report_limit(report); i++) {
		const struct model_node *node = model_node(model, rows[i].index);

		table_text(report->table, node->full_name);
		cells_use(report->table, costs, &sum[rows[i].index]);
		table_text(report->table, report_process(report, node->process, text, sizeof(text)));
		table_i64(report->table, node->process->pid);
	}
	report_more(report, i, count);
	report->rows += count;
	(void)report_costs_missing(report, costs);
	free(rows);
	free(sum);
}

/* ---- processes ---- */

static const struct table_column process_columns[] = {
	{ "process", "Process" }, { "pid", NULL }, USE_COLUMNS, { "peak_bytes", "Peak" },
};

static void process_row(struct report *report, const struct costs *costs, const struct costs_process *process)
{
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
	const struct costs *costs = report->costs;
	unsigned all = 0, count = 0, i;
	struct report_row *rows;

	while (costs_process(costs, all))
		all++;
	rows = report_rows_new(all);
	table_section(report->table, "process-costs", "Costs of processes, in callbacks or not: allocations, lock waits, page faults, system calls",
		      process_columns, COUNT_OF(process_columns));
	for (i = 0; rows && i < all; i++) {
		const struct costs_process *process = costs_process(costs, i);

		if (is_any(&process->use) && selection_process(report->options->selection, process->name, process->pid))
			rows[count++] = (struct report_row){ i, sort_key(&process->use), process->name };
	}
	if (count)
		qsort(rows, count, sizeof(*rows), report_by_key);
	for (i = 0; i < count && i < report_limit(report); i++)
		process_row(report, costs, costs_process(costs, rows[i].index));
	report_more(report, i, count);
	report->rows += count;
	(void)report_costs_missing(report, costs);
	free(rows);
}
