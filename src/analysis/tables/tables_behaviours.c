/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a user's own model of behaviour; see analysis/behaviour/behaviour.h. */
#include "analysis/tables/tables_internal.h"

static void on_interval(void *context, const struct behaviour_interval *interval)
{
	struct tables_row *row = tables_row_new(context, TABLE_behaviours);

	if (row)
		row->behaviour.interval = *interval;
}

int tables_behaviours_attach(struct tables_scan *scan, struct kymo_err *err)
{
	const struct behaviours *behaviours = scan->tables->behaviours;

	if (!behaviours || !tables_wants(scan, TABLE_behaviours))
		return 0;
	return behaviour_create(&scan->behaviour, behaviours, scan->model, scan->spans, on_interval,
				scan, err);
}

void tables_set_behaviours(struct tables *tables, const struct behaviours *behaviours)
{
	tables->behaviours = behaviours;
}
