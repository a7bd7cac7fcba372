/* SPDX-License-Identifier: Apache-2.0 */
/* The section about captured packets: by publisher, how long its messages were on the wire, what was sent again or lost. */
#include "report/report_internal.h"

#include <stdlib.h>

#include "base/array.h"

/* Of the messages of a publisher. */
struct wire {
	uint64_t messages, packets, bytes, again, lost;
	struct histogram to, on, from;
};

static const struct table_column columns[] = {
	{ "topic", "Topic" },
	{ "node", NULL },
	{ "publisher_id", NULL },
	{ "messages", "Messages" },
	{ "packets", "Packets" },
	{ "bytes", NULL },
	{ "again", "Again" },
	{ "lost", "Lost" },
	{ "missing", "Missing" },
	{ "to_wire_p50_ns", NULL },
	{ "to_wire_max_ns", "To wire" },
	{ "on_wire_p50_ns", NULL },
	{ "on_wire_max_ns", "On wire" },
	{ "from_wire_p50_ns", NULL },
	{ "from_wire_max_ns", "Off wire" },
};

static void add(struct report *report, struct histogram *histogram, int64_t from_ns, int64_t to_ns)
{
	if (from_ns && to_ns >= from_ns && histogram_add(histogram, (uint64_t)(to_ns - from_ns)))
		(void)err_no_memory(report->err);
}

static void add_message(struct report *report, struct wire *wire, const struct capture_message *message)
{
	wire->messages++;
	wire->packets += message->packets;
	wire->bytes += message->bytes;
	wire->again += message->again;
	wire->lost += message->lost;
	add(report, &wire->to, message->send_ns, message->first_ns);
	add(report, &wire->on, message->first_ns, message->arrived_ns);
	add(report, &wire->from, message->arrived_ns, message->received_ns);
}

static void two(struct table *t, const struct histogram *histogram)
{
	CELL_IF(t, histogram->count, table_ns(t, (int64_t)histogram_quantile(histogram, 0.5)));
	CELL_IF(t, histogram->count, table_ns(t, (int64_t)histogram->max));
}

static void print_row(struct report *report, const struct model_publisher *publisher, const struct wire *wire)
{
	struct table *t = report->table;

	table_text(t, publisher->topic ? publisher->topic->name : NULL);
	cell_name(t, publisher->node ? publisher->node->full_name : NULL);
	table_u64(t, publisher->index + 1);
	table_u64(t, wire->messages);
	table_u64(t, wire->packets);
	table_u64(t, wire->bytes);
	table_u64(t, wire->again);
	table_u64(t, wire->lost);
	table_u64(t, capture_missing(report->capture, publisher));
	two(t, &wire->to);
	two(t, &wire->on);
	two(t, &wire->from);
	report->rows++;
}

static void print_rows(struct report *report, struct array *wires)
{
	struct wire *wire = wires->item;

	for (uint32_t i = 0; i < wires->count; i++)
		if (wire[i].messages)
			print_row(report, model_publisher(report->model, i), &wire[i]);
}

void report_wire(struct report *report)
{
	const struct capture_message *message;
	struct array wires = { 0 };
	struct wire *wire;
	uint64_t at = 0;

	table_section(report->table, "wire", "On the wire, by the captures; longest times", columns, COUNT_OF(columns));
	while ((message = capture_next(report->capture, &at))) {
		wire = array_at(&wires, message->publisher->index, sizeof(*wire));
		if (wire)
			add_message(report, wire, message);
		else
			(void)err_no_memory(report->err);
	}
	print_rows(report, &wires);
	if (!report->rows)
		table_note(report->table, "No packet of the captures carried a message of this trace. Was it captured on "
			   "this host, at the same time, and do its nodes talk over UDP?");
	wire = wires.item;
	for (uint32_t i = 0; i < wires.count; i++) {
		histogram_free(&wire[i].to);
		histogram_free(&wire[i].on);
		histogram_free(&wire[i].from);
	}
	free(wires.item);
}
