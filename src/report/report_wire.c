/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of captured packets; see report_wire.h. */
#include "report/report_wire.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "report/report_cells.h"

/* Of the messages of a publisher. */
struct wire {
	uint64_t messages, packets, bytes, again, lost;
	struct histogram to, on, from;
};

static const struct table_column publisher_columns[] = {
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

static bool is_known(int64_t from_ns, int64_t to_ns)
{
	return from_ns && to_ns >= from_ns;
}

static int add(struct histogram *histogram, int64_t from_ns, int64_t to_ns)
{
	return is_known(from_ns, to_ns) ? histogram_add(histogram, (uint64_t)(to_ns - from_ns)) : 0;
}

static int add_message(struct wire *wire, const struct capture_message *message)
{
	wire->messages++;
	wire->packets += message->packets;
	wire->bytes += message->bytes;
	wire->again += message->again;
	wire->lost += message->lost;
	return add(&wire->to, message->send_ns, message->first_ns) |
	       add(&wire->on, message->first_ns, message->arrived_ns) |
	       add(&wire->from, message->arrived_ns, message->received_ns);
}

static void two(struct table *t, const struct histogram *histogram)
{
	CELL_IF(t, histogram->count, table_ns(t, (int64_t)histogram_quantile(histogram, 0.5)));
	CELL_IF(t, histogram->count, table_ns(t, (int64_t)histogram->max));
}

static void publisher_row(struct table *t, const struct capture *capture,
			  const struct model_publisher *publisher, const struct wire *wire)
{
	table_text(t, publisher->topic ? publisher->topic->name : NULL);
	cell_name(t, publisher->node ? publisher->node->full_name : NULL);
	table_u64(t, publisher->index + 1);
	table_u64(t, wire->messages);
	table_u64(t, wire->packets);
	table_u64(t, wire->bytes);
	table_u64(t, wire->again);
	table_u64(t, wire->lost);
	table_u64(t, capture_missing(capture, publisher));
	two(t, &wire->to);
	two(t, &wire->on);
	two(t, &wire->from);
}

static int collect(struct array *wires, const struct capture *capture)
{
	const struct capture_message *message;
	struct wire *wire;
	uint64_t at = 0;

	while ((message = capture_next(capture, &at))) {
		wire = array_at(wires, message->publisher->index, sizeof(*wire));
		if (!wire || add_message(wire, message))
			return -1;
	}
	return 0;
}

int wire_publishers(struct table *table, const char *title, const struct capture *capture,
		    const struct model *model,
		    bool (*wanted)(const void *context, const struct model_publisher *publisher),
		    const void *context, struct kymo_err *err)
{
	struct array wires = { 0 };
	int rows = collect(&wires, capture);
	struct wire *wire = wires.item;

	if (!rows)
		table_section(table, "wire", title, publisher_columns, COUNT_OF(publisher_columns));
	for (uint32_t i = 0; i < wires.count; i++) {
		const struct model_publisher *publisher = model_publisher(model, i);

		if (rows >= 0 && wire[i].messages && (!wanted || wanted(context, publisher))) {
			publisher_row(table, capture, publisher, &wire[i]);
			rows++;
		}
		histogram_free(&wire[i].to);
		histogram_free(&wire[i].on);
		histogram_free(&wire[i].from);
	}
	free(wires.item);
	return rows < 0 ? err_no_memory(err) : rows;
}

/* ---- single messages ---- */

static void between(struct table *t, int64_t from_ns, int64_t to_ns)
{
	CELL_IF(t, is_known(from_ns, to_ns), table_ns(t, to_ns - from_ns));
}

void wire_message_cells(struct table *t, const struct capture_message *message)
{
	const struct model_topic *topic = message->publisher->topic;

	table_u64(t, message->id);
	table_text(t, topic ? topic->name : NULL);
	table_u64(t, message->packets);
	table_u64(t, message->again);
	table_u64(t, message->lost);
	between(t, message->first_ns, message->again_ns);
	between(t, message->send_ns, message->first_ns);
	between(t, message->first_ns, message->arrived_ns);
	between(t, message->arrived_ns, message->received_ns);
	CELL_IF(t, message->first_ns, table_time(t, message->first_ns));
	CELL_IF(t, message->arrived_ns, table_time(t, message->arrived_ns));
}

/* "a packet", "3 packets" */
static const char *packets(unsigned count, char buffer[32])
{
	snprintf(buffer, 32, count == 1 ? "a packet" : "%u packets", count);
	return buffer;
}

char *wire_message_text(const struct capture_message *message, char *buffer, size_t size)
{
	char count[32], time[TEXT_QUANTITY_MAX], after[64] = "";

	if (is_known(message->first_ns, message->again_ns))
		snprintf(after, sizeof(after), " %s after the first one", text_ns(time, message->again_ns - message->first_ns));
	*buffer = '\0';
	if (message->lost && message->again)
		snprintf(buffer, size, "%s of it %s lost, and sent again%s", packets(message->lost, count),
			 message->lost == 1 ? "was" : "were", after);
	else if (message->lost)
		snprintf(buffer, size, "%s of it %s lost", packets(message->lost, count), message->lost == 1 ? "was" : "were");
	else if (message->again)
		snprintf(buffer, size, "%s of it %s sent again%s", packets(message->again, count),
			 message->again == 1 ? "was" : "were", after);
	return buffer;
}
