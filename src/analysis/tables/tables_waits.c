/* SPDX-License-Identifier: Apache-2.0 */
/* Rows about the waits of callback runs; see analysis/executors/executor_waits.h. */
#include "analysis/tables/tables_internal.h"

static void on_wait(void *context, const struct waits_wait *wait)
{
	struct tables_row *row = tables_row_new(context, TABLE_callback_waits);

	if (row) {
		row->id = wait->instance->id;
		row->wait.instance = *wait->instance;
		row->wait.instance.message = NULL;	/* valid during the call only */
		row->wait.from_ns = wait->from_ns;
		row->wait.to_ns = wait->to_ns;
		row->wait.thread_ns = wait->thread_ns;
		row->wait.group_ns = wait->group_ns;
		row->wait.is_judged = wait->is_judged;
	}
	for (unsigned i = 0; i < wait->pieces; i++) {
		row = tables_row_new(context, TABLE_blocked_by);
		if (!row)
			return;
		row->blocked.instance = *wait->instance;
		row->blocked.instance.message = NULL;
		row->blocked.from_ns = wait->from_ns;
		row->blocked.piece = wait->piece[i];
	}
}

int tables_waits_attach(struct tables_scan *scan, struct kymo_err *err)
{
	if (!tables_wants(scan, TABLE_callback_waits) && !tables_wants(scan, TABLE_blocked_by))
		return 0;
	return waits_create(&scan->waits, scan->model, on_wait, scan, err);
}
