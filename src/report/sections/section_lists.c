/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sections that list: processes, nodes, callback runs, messages and every other table of `kymo
 * query`.
 *
 * Names, types and values of all columns come from analysis/tables/tables.def, so that a section
 * has the columns that SQL has. JSON and CSV have all of them; text has those that `lists` below
 * names, or of a table that it does not name the first ones that are not ids. Objects come from the
 * model that the report has read; rows of what happened are read from the trace again, one at a
 * time.
 */
#include "report/report_internal.h"

#include "analysis/tables/tables.h"
#include "base/array.h"

#define SHOWN_MAX 8u		/* columns in text */
#define COLUMNS_MAX 64u

struct section_list {
	unsigned table;
	const char *title;
	struct { const char *column, *heading; } shown[SHOWN_MAX];
};

static const struct section_list lists[] = {
	{ TABLE_processes,
	  "Processes",
	  { { "pid", "Pid" },
	    { "name", "Name" },
	    { "host", "Host" },
	    { "tracetools", "tracetools" },
	    { "events", "ROS 2 events" },
	    { "init_events", "Init events" } } },
	{ TABLE_nodes,
	  "Nodes",
	  { { "full_name", "Node" }, { "pid", "Process" }, { "tid", "Thread" } } },
	{ TABLE_publishers,
	  "Publishers",
	  { { "topic_name", "Topic" },
	    { "node", "Node" },
	    { "pid", "Process" },
	    { "depth", "Queue depth" },
	    { "reliability", "Reliability" } } },
	{ TABLE_subscriptions,
	  "Subscriptions",
	  { { "topic_name", "Topic" },
	    { "node", "Node" },
	    { "pid", "Process" },
	    { "depth", "Queue depth" },
	    { "reliability", "Reliability" } } },
	{ TABLE_timers,
	  "Timers",
	  { { "period_ns", "Period" },
	    { "node", "Node" },
	    { "pid", "Process" },
	    { "tid", "Thread" } } },
	{ TABLE_services,
	  "Services",
	  { { "service_name", "Service" }, { "node", "Node" }, { "pid", "Process" } } },
	{ TABLE_clients,
	  "Clients",
	  { { "service_name", "Service" }, { "node", "Node" }, { "pid", "Process" } } },
	{ TABLE_callback_instances,
	  "Callback runs",
	  { { "start_ns", "Start" },
	    { "duration_ns", "Duration" },
	    { "node", "Node" },
	    { "kind", "Kind" },
	    { "source", "Topic/period/service" },
	    { "pid", "Process" },
	    { "tid", "Thread" } } },
	{ TABLE_windows,
	  "Callbacks and topics over time",
	  { { "start_ns", "Begin" },
	    { "name", "Callback or topic" },
	    { "count", "Count" },
	    { "rate_hz", "Hz" },
	    { "p50_ns", "p50" },
	    { "p99_ns", "p99" },
	    { "max_ns", "Max" },
	    { "busy_ns", "Busy" } } },
	{ TABLE_messages,
	  "Messages",
	  { { "topic_name", "Topic" },
	    { "publisher_node", "From" },
	    { "subscriber_node", "To" },
	    { "publish_ns", "Published" },
	    { "latency_ns", "Latency" },
	    { "outcome", "Outcome" } } },
};

/*
 * The columns of a list in the order in which they are printed: those that text shows come first.
 */
struct list_order {
	unsigned count;
	uint8_t column[COLUMNS_MAX];
	struct table_column head[COLUMNS_MAX];
};

static const struct section_list *list_of(unsigned table)
{
	for (size_t i = 0; i < COUNT_OF(lists); i++)
		if (lists[i].table == table)
			return &lists[i];
	return NULL;
}

static void add_column(struct list_order *order, unsigned table, unsigned column,
		       const char *heading)
{
	for (unsigned i = 0; i < order->count; i++)
		if (order->column[i] == column)
			return;
	if (order->count == COLUMNS_MAX)
		return;
	order->column[order->count] = (uint8_t)column;
	order->head[order->count++] = (struct table_column){
		tables_table[table].column[column].name, heading,
	};
}

static void find_order(struct list_order *order, unsigned table, const struct section_list *list)
{
	const struct tables_table *t = &tables_table[table];
	unsigned shown = 0;

	order->count = 0;
	for (unsigned i = 0; list && i < SHOWN_MAX && list->shown[i].column; i++)
		add_column(order, table, (unsigned)tables_column(table, list->shown[i].column),
			   list->shown[i].heading);
	for (unsigned i = 0; i < t->columns; i++) {
		const bool is_shown = !list && t->column[i].type != TABLES_ID && shown < SHOWN_MAX;

		add_column(order, table, i, is_shown ? t->column[i].name : NULL);
		shown += is_shown;
	}
}

static void print_value(struct report *report, enum tables_type type,
			const struct tables_value *value)
{
	struct table *t = report->table;
	char offset[32];

	if (value->is == TABLES_VALUE_TEXT)
		table_text(t, value->text);
	else if (value->is == TABLES_VALUE_REAL)
		table_f64(t, value->real);
	else if (value->is == TABLES_VALUE_NULL && type == TABLES_TEXT)
		table_text(t, NULL);
	else if (value->is == TABLES_VALUE_NULL)
		table_none(t);
	else if (type == TABLES_ADDRESS)
		table_hex(t, (uint64_t)value->integer);
	else if (type == TABLES_DURATION)
		table_ns(t, value->integer);
	else if (type == TABLES_TIME && report->options->format == TABLE_TEXT &&
		 !report->options->clock)
		table_text(t, report_offset(report, value->integer, offset, sizeof(offset)));
	else
		/* times, too: they are on the tables_clock() already */
		table_i64(t, value->integer);
}

/* ---- where the rows come from ---- */

static int open_tables(struct report *report)
{
	const struct report_options *o = report->options;

	if (report->tables)
		return 0;
	if (tables_open(&report->tables, o->trace, o->traces, report->err) ||
	    tables_set_window(report->tables, o->window_ns, report->err))
		return -1;
	tables_borrow(report->tables, report->model);
	tables_set_behaviours(report->tables, o->behaviours);
	tables_set_captures(report->tables, o->captures);
	if (o->clock)
		tables_clock(report->tables, o->clock);
	return tables_select(report->tables, o->selection, o->begin_ns, o->end_ns, report->err);
}

int report_list(struct report *report, const char *name)
{
	const unsigned table = (unsigned)tables_find(name);
	const struct tables_request request = { .tables = TABLES_BIT(table) };
	const struct section_list *list = list_of(table);
	const struct tables_row *row;
	struct tables_scan *scan;
	struct tables_value value;
	struct list_order order;
	unsigned all = 0, shown = 0;
	int more;

	if (open_tables(report) || tables_scan(report->tables, &request, &scan, report->err))
		return -1;
	find_order(&order, table, list);
	table_section(report->table, tables_table[table].name,
		      list ? list->title : tables_table[table].name, order.head, order.count);
	while ((more = tables_next(scan, &row, report->err)) > 0) {
		if (all++ >= report_limit(report))
			continue;
		for (unsigned i = 0; i < order.count; i++) {
			tables_value(row, order.column[i], &value);
			print_value(report, tables_table[table].column[order.column[i]].type,
				    &value);
		}
		shown++;
	}
	tables_scan_end(scan);
	report_more(report, shown, all);
	report->rows += all;
	return more;
}
