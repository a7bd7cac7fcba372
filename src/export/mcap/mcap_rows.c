/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of tables as messages. The table below says for each kind of series which rows it has, how
 * they are named, when they were, and which columns become which members; values are those of the
 * columns.
 */
#include "export/mcap/mcap_channels.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"

#define FIELDS_MAX 8
#define NAMES_MAX 2

struct field {
	const char *key, *column, *text; /* text: for the schema */
};

struct kind {
	enum tables_id table;
	const char *prefix, *schema, *text;
	const char *time[2];  /* columns: the first that is known */
	const char *publish;  /* column; NULL: the same time */
	const char *name[NAMES_MAX], *between;
	struct field field[FIELDS_MAX];
	const char *needs; /* only rows where this column is known, the others are of the next kind;
			      NULL: all */
	bool counts;       /* has a member "count", which goes up by one */
};

static const struct kind kinds[] = {
	{ TABLE_messages, "/kymo/topic", "kymo.Message", "A message that was received",
	  { "callback_start_ns", "take_ns" }, "publish_ns", { "topic_name", "subscriber_node" }, "/to/",
	  { { "latency_ms", "latency_ns", "from the publish call to the start of the callback" },
	    { "transport_ms", "transport_ns", "from the send to the take" },
	    { "dispatch_ms", "dispatch_ns", "from the take to the start of the callback" },
	    { "publish_call_ms", "publish_call_ns", "from the publish call to the send" },
	    { "age_ms", "age_ns", "from the stamp in its header" },
	    { "size_bytes", "size_bytes", "of the serialized message" } }, "take_ns", false },
	{ TABLE_messages, "/kymo/lost", "kymo.Lost", "A message that was not received",
	  { "publish_ns", NULL }, NULL, { "topic_name", "subscriber_node" }, "/to/",
	  { { "outcome", "outcome", "why" } }, NULL, true },
	{ TABLE_callback_instances, "/kymo/callback", "kymo.Run", "A run of a callback",
	  { "start_ns", NULL }, NULL, { "callback", NULL }, "",
	  { { "duration_ms", "duration_ns", "from start to end" },
	    { "latency_ms", "latency_ns", "from the publish call to the start" },
	    { "idle_ms", "idle_ns", "from the end of its previous run to the start" },
	    { "published", "published", "publish calls in it" } }, NULL, false },
	{ TABLE_service_calls, "/kymo/service", "kymo.Call", "A call of a service",
	  { "request_ns", "request_taken_ns" }, NULL, { "service_name", "client_node" }, "/from/",
	  { { "duration_ms", "duration_ns", "from the request to the response at the client" },
	    { "request_latency_ms", "request_latency_ns", "from the request to its take" },
	    { "callback_latency_ms", "callback_latency_ns", "from the take to the callback" },
	    { "callback_duration_ms", "callback_duration_ns", "of the callback that served it" },
	    { "response_latency_ms", "response_latency_ns", "from the response to its take" } },
	  NULL, false },
	{ TABLE_loop_cycles, "/kymo/loop", "kymo.Cycle", "A cycle of a loop",
	  { "begin_ns", NULL }, "due_ns", { "category", "name" }, "/",
	  { { "latency_ms", "latency_ns", "wake-up latency" },
	    { "busy_ms", "busy_ns", "from woken to ended" },
	    { "missed_ms", "missed_ns", "how long it ended after its deadline" },
	    { "overrun_ms", "overrun_ns", "how long it ended after the next cycle was due" },
	    { "skipped", "skipped", "periods left out after it" } }, NULL, false },
	{ TABLE_spans, "/kymo/span", "kymo.Span", "A span of a program",
	  { "begin_ns", NULL }, NULL, { "category", "name" }, "/",
	  { { "duration_ms", "duration_ns", "from begin to end" },
	    { "self_ms", "self_ns", "without the spans inside" } }, NULL, false },
	{ TABLE_counters, "/kymo/counter", "kymo.Counter", "A value of a counter",
	  { "timestamp_ns", NULL }, NULL, { "category", "name" }, "/",
	  { { "value", "value", "its value" } }, NULL, false },
};
#define KINDS COUNT_OF(kinds)

/* The columns of a kind by their numbers. */
struct columns {
	int time[2], publish, name[NAMES_MAX], needs, field[FIELDS_MAX];
	bool is_ms[FIELDS_MAX];
	unsigned schema;
};

static int column_of(const struct kind *kind, const char *name)
{
	return name ? tables_column(kind->table, name) : -1;
}

/* ---- schemas ---- */

static void put_property(struct json_text *text, const char *key, const char *type,
			 const char *description)
{
	json_text_open(text, key, '{');
	json_text_string(text, "type", type);
	json_text_string(text, "description", description);
	json_text_close(text, '}');
}

static unsigned add_schema(struct writer *writer, const struct kind *kind)
{
	struct json_text *text = &writer->text;

	writer_begin(writer);
	json_text_string(text, "type", "object");
	json_text_string(text, "description", kind->text);
	json_text_open(text, "properties", '{');
	for (unsigned i = 0; i < FIELDS_MAX && kind->field[i].key; i++)
		put_property(text, kind->field[i].key,
			     tables_table[kind->table]
						     .column[column_of(kind, kind->field[i].column)]
						     .type == TABLES_TEXT
				     ? "string"
				     : "number",
			     kind->field[i].text);
	if (kind->counts)
		put_property(text, "count", "number", "so far, in this series");
	json_text_close(text, '}');
	json_text_close(text, '}');
	json_text_raw(text, "", 1);
	if (text->failed) {
		writer->failed = true;
		return 0;
	}
	return mcap_schema(writer->file, kind->schema, text->text);
}

static void set_columns(struct writer *writer, const struct kind *kind, struct columns *columns)
{
	columns->time[0] = column_of(kind, kind->time[0]);
	columns->time[1] = column_of(kind, kind->time[1]);
	columns->publish = column_of(kind, kind->publish);
	columns->needs = column_of(kind, kind->needs);
	for (unsigned i = 0; i < NAMES_MAX; i++)
		columns->name[i] = column_of(kind, kind->name[i]);
	for (unsigned i = 0; i < FIELDS_MAX; i++) {
		const char *key = kind->field[i].key;
		const size_t length = key ? strlen(key) : 0;

		columns->field[i] = column_of(kind, kind->field[i].column);
		columns->is_ms[i] = length > 3 && !strcmp(key + length - 3, "_ms");
	}
	columns->schema = add_schema(writer, kind);
}

/* ---- rows ---- */

static bool integer(const struct tables_row *row, int column, int64_t *value)
{
	struct tables_value found;

	if (column < 0)
		return false;
	tables_value(row, (unsigned)column, &found);
	*value = found.integer;
	return found.is == TABLES_VALUE_INTEGER;
}

static void put_name(const struct kind *kind, const struct columns *columns,
		     const struct tables_row *row, char name[SERIES_NAME_MAX])
{
	struct tables_value value;
	int size = 0;

	for (unsigned i = 0; i < NAMES_MAX && columns->name[i] >= 0; i++) {
		tables_value(row, (unsigned)columns->name[i], &value);
		size += snprintf(name + size, SERIES_NAME_MAX - (size_t)size, "%s%.900s", i ? kind->between : "",
				 value.is == TABLES_VALUE_TEXT ? value.text : "unknown");
	}
}

static void put_fields(struct writer *writer, const struct kind *kind,
		       const struct columns *columns, const struct tables_row *row)
{
	struct tables_value value;

	for (unsigned i = 0; i < FIELDS_MAX && kind->field[i].key; i++) {
		tables_value(row, (unsigned)columns->field[i], &value);
		if (value.is == TABLES_VALUE_INTEGER && columns->is_ms[i])
			writer_ms(writer, kind->field[i].key, value.integer);
		else if (value.is == TABLES_VALUE_INTEGER)
			json_text_i64(&writer->text, kind->field[i].key, value.integer);
		else if (value.is == TABLES_VALUE_REAL)
			writer_number(writer, kind->field[i].key, value.real);
		else if (value.is == TABLES_VALUE_TEXT)
			json_text_string(&writer->text, kind->field[i].key, value.text);
	}
}

/* Return: false: the row is not of this kind. */
static bool put_row(struct writer *writer, const struct kind *kind, const struct columns *columns,
		    const struct tables_row *row)
{
	char name[SERIES_NAME_MAX];
	int64_t log_ns, publish_ns, known;
	unsigned channel;

	if (columns->needs >= 0 && !integer(row, columns->needs, &known))
		return false;
	if (!integer(row, columns->time[0], &log_ns) && !integer(row, columns->time[1], &log_ns))
		return true; /* not known when */
	if (!integer(row, columns->publish, &publish_ns))
		publish_ns = log_ns;
	put_name(kind, columns, row, name);
	channel = writer_channel(writer, columns->schema, kind->prefix, name);
	writer_begin(writer);
	put_fields(writer, kind, columns, row);
	if (kind->counts)
		json_text_u64(&writer->text, "count", channel ? mcap_messages_of(writer->file, channel) + 1 : 0);
	writer_end(writer, channel, log_ns, publish_ns);
	return true;
}

int mcap_rows(struct writer *writer, struct tables *tables, struct kymo_err *err)
{
	struct columns columns[KINDS];
	struct tables_request request = { .without_id = true };
	const struct tables_row *row;
	struct tables_scan *scan;
	int more = 0;

	for (unsigned i = 0; i < KINDS; i++) {
		set_columns(writer, &kinds[i], &columns[i]);
		request.tables |= TABLES_BIT(kinds[i].table);
	}
	if (tables_scan(tables, &request, &scan, err))
		return -1;
	while (!writer->failed && (more = tables_next(scan, &row, err)) > 0) {
		bool done = false;

		for (unsigned i = 0; i < KINDS && !done; i++)
			if (kinds[i].table == tables_row_table(row))
				done = put_row(writer, &kinds[i], &columns[i], row);
	}
	tables_scan_end(scan);
	return writer->failed ? err_no_memory(err) : more;
}
