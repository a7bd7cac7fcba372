/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The section about captured packets: by publisher, how long its messages were on the wire, what
 * was sent again or lost.
 */
#include "report/report_internal.h"
#include "report/report_wire.h"

void report_wire(struct report *report)
{
	const int rows = wire_publishers(report->table, "On the wire, by the captures; longest times", report->capture,
					 report->model, NULL, NULL, report->err);

	report->rows += rows > 0 ? (unsigned)rows : 0;
	if (!rows)
		table_note(report->table, "No packet of the captures carried a message of this trace. Was it captured on "
			   "this host, at the same time, and do its nodes talk over UDP?");
}
