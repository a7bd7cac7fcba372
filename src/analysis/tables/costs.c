/* SPDX-License-Identifier: Apache-2.0 */
/* Rows out of what runs of callbacks cost; see analysis/costs/costs.h. */
#include "analysis/tables/internal.h"

static void on_run(void *context, const struct model_instance *instance, const struct costs_use *use)
{
	struct tables_scan *scan = context;
	struct tables_row *row = tables_row_new(scan, TABLE_callback_costs, NULL);

	if (!row)
		return;
	row->id = instance->id;
	row->cost.instance = *instance;
	row->cost.instance.message = NULL;	/* only lent */
	row->cost.use = *use;
	row->cost.libc_is_told = scan->tables->libc_is_told;
	row->cost.faults_are_told = scan->tables->faults_are_told;
}

/* Once: the first run may be before the first allocation. */
static int look(struct tables *tables, struct err *err)
{
	struct ctf_reader *reader;
	int status;

	if (tables->costs_are_known)
		return 0;
	if (tables_reader(tables, &reader, err))
		return -1;
	ctf_threads(reader, 0);
	status = costs_look(reader, &tables->libc_is_told, &tables->faults_are_told, err);
	ctf_close(reader);
	tables->costs_are_known = !status;
	return status;
}

int tables_costs_attach(struct tables_scan *scan, struct err *err)
{
	if (!tables_wants(scan, TABLE_callback_costs))
		return 0;
	if (look(scan->tables, err))
		return -1;
	if (costs_create(&scan->costs, scan->model, scan->reader))
		return tables_no_memory(err);
	costs_listen(scan->costs, on_run, scan);
	return 0;
}
