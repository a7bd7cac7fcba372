/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of captured packets; see analysis/capture/capture.h. */
#include "analysis/tables/tables_internal.h"

bool tables_packets_next(struct tables_scan *scan)
{
	const struct captures *captures = scan->tables->captures;
	const struct capture_packet *packet;
	struct tables_row *row;

	if (!scan->capture || scan->next_packet >= captures_count(captures))
		return false;
	packet = captures_packet(captures, scan->next_packet++);
	row = tables_row_new(scan, TABLE_packets);
	if (!row)
		return false;
	row->packet.captures = captures;
	row->packet.packet = packet;
	row->packet.message = capture_message(scan->capture, packet);
	row->packet.publisher = capture_publisher(scan->capture, packet);
	row->packet.ns = capture_time(scan->capture, packet);
	return true;
}

int tables_packets_attach(struct tables_scan *scan, struct kymo_err *err)
{
	const struct tables *tables = scan->tables;

	if (!tables->captures || !tables_wants(scan, TABLE_packets))
		return 0;
	return capture_create(&scan->capture, tables->captures, scan->model, tables->align, err);
}

void tables_set_captures(struct tables *tables, const struct captures *captures)
{
	tables->captures = captures;
}
