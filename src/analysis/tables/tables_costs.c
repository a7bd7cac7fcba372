/* SPDX-License-Identifier: Apache-2.0 */
/* Rows about the costs of callback runs; see analysis/costs/costs.h. */
#include "analysis/tables/tables_internal.h"

static void on_run(void *context, const struct model_instance *instance,
		   const struct costs_use *use)
{
	struct tables_scan *scan = context;
	struct tables_row *row = tables_row_new(scan, TABLE_callback_costs);

	if (!row)
		return;
	row->id = instance->id;
	row->cost.instance = *instance;
	row->cost.instance.message = NULL;	/* valid during the call only */
	row->cost.use = *use;
	row->cost.libc_is_told = scan->tables->libc_is_told;
	row->cost.faults_are_told = scan->tables->faults_are_told;
	row->cost.calls_are_told = scan->tables->calls_are_told;
}

static void on_made(void *context, const struct costs_made *made)
{
	struct tables_scan *scan = context;
	struct tables_row *row = tables_row_new(scan, TABLE_system_calls);

	if (!row)
		return;
	row->made.call = *made->call;
	row->made.host = kymo_ctf_trace(scan->reader, made->call->host)->hostname;
	row->made.pid = made->pid;
	row->made.waits_for_mutex = made->waits_for_mutex;
	row->made.run = made->run;
	row->made.callback = made->run ? model_callback(scan->model, made->callback) : NULL;
}

bool tables_leaks_next(struct tables_scan *scan)
{
	const struct costs_leak *leak;
	struct tables_row *row;
	uint64_t count;

	if (!scan->costs || !tables_wants(scan, TABLE_leaks))
		return false;
	leak = costs_leaks(scan->costs, &count);
	scan->out_of_memory |= !leak;
	if (!leak || scan->next_leak >= count)
		return false;
	leak += scan->next_leak++;
	row = tables_row_new(scan, TABLE_leaks);
	if (!row)
		return false;
	row->leak.leak = *leak;
	row->leak.host = kymo_ctf_trace(scan->reader, leak->trace)->hostname;
	row->leak.callback = leak->run ? model_callback(scan->model, leak->callback) : NULL;
	return true;
}

/* Done once, because the first run may come before the first allocation. */
static int look(struct tables *tables, struct kymo_err *err)
{
	struct kymo_ctf_reader *reader;
	int status;

	if (tables->costs_are_known)
		return 0;
	if (tables_reader(tables, &reader, err))
		return -1;
	kymo_ctf_threads(reader, 0);
	status = costs_look(reader, &tables->libc_is_told, &tables->faults_are_told,
			    &tables->calls_are_told, err);
	kymo_ctf_close(reader);
	tables->costs_are_known = !status;
	return status;
}

int tables_costs_attach(struct tables_scan *scan, struct kymo_err *err)
{
	const bool runs = tables_wants(scan, TABLE_callback_costs);
	const bool calls = tables_wants(scan, TABLE_system_calls) && calls_are_there(scan->reader);

	const bool leaks = tables_wants(scan, TABLE_leaks);

	if (!runs && !calls && !leaks)
		return 0;
	if (runs && look(scan->tables, err))
		return -1;
	if (costs_create(&scan->costs, scan->model, scan->reader, err))
		return -1;
	if (runs)
		costs_listen(scan->costs, on_run, scan);
	if (calls)
		costs_listen_calls(scan->costs, on_made, scan);
	if (leaks)
		costs_listen_leaks(scan->costs);
	return 0;
}
