/* SPDX-License-Identifier: Apache-2.0 */
/* The sections that list what there is: processes, nodes and what belongs to them. */
#include "report/report_internal.h"
#include "base/array.h"

static void cell_node(struct table *t, const struct model_node *node)
{
	if (node)
		table_text(t, node->full_name);
	else
		table_none(t);
}

/* Every list counts its rows and tells what --limit held back. */
#define LIST(report, key, title, columns, kind, condition, row)				\
	do {										\
		unsigned all_ = 0, shown_ = 0, i_;					\
											\
		table_section((report)->table, key, title, columns, COUNT_OF(columns));	\
		for (i_ = 0; i_ < model_count((report)->model, kind); i_++) {		\
			if (!(condition((report), i_)))					\
				continue;						\
			if (all_++ >= report_limit(report))				\
				continue;						\
			row((report), i_);						\
			shown_++;							\
		}									\
		report_more((report), shown_, all_);					\
		(report)->rows += all_;							\
	} while (0)

static const struct table_column process_columns[] = {
	{ "pid", "Pid" }, { "name", "Name" }, { "host", "Host" },
	{ "tracetools", "tracetools" }, { "events", "ROS 2 events" }, { "init_events", "of them init" },
};

static bool process_wanted(const struct report *report, unsigned index)
{
	return report_wants_process(report, model_process(report->model, index));
}

static void process_row(const struct report *report, unsigned index)
{
	const struct model_process *p = model_process(report->model, index);
	struct table *t = report->table;

	table_i64(t, p->pid);
	table_text(t, p->name);
	table_text(t, p->hostname);
	table_text(t, p->tracetools);
	table_u64(t, p->events);
	table_u64(t, p->init_events);
}

void report_processes(struct report *report)
{
	LIST(report, "processes", "Processes", process_columns, MODEL_PROCESS, process_wanted, process_row);
}

static const struct table_column node_columns[] = {
	{ "node", "Node" }, { "pid", "Process" }, { "tid", "Thread" }, { "name", NULL },
	{ "namespace", NULL }, { "handle", NULL }, { "created_ns", NULL },
};

static bool node_wanted(const struct report *report, unsigned index)
{
	const struct model_node *node = model_node(report->model, index);

	return report_wants_node(report, node->process, node);
}

static void node_row(const struct report *report, unsigned index)
{
	const struct model_node *n = model_node(report->model, index);
	struct table *t = report->table;

	table_text(t, n->full_name);
	table_i64(t, n->process->pid);
	table_i64(t, n->tid);
	table_text(t, n->name);
	table_text(t, n->namespace);
	table_hex(t, n->handle);
	table_time(t, n->born_ns);
}

void report_nodes(struct report *report)
{
	LIST(report, "nodes", "Nodes", node_columns, MODEL_NODE, node_wanted, node_row);
}

static const struct table_column endpoint_columns[] = {
	{ "topic", "Topic" }, { "node", "Node" }, { "pid", "Process" }, { "depth", "Queue depth" },
	{ "handle", NULL }, { "rmw_handle", NULL }, { "created_ns", NULL },
};

static bool publisher_wanted(const struct report *report, unsigned index)
{
	const struct model_publisher *p = model_publisher(report->model, index);

	return report_wants_node(report, p->process, p->node) && report_wants_topic(report, p->topic);
}

static void publisher_row(const struct report *report, unsigned index)
{
	const struct model_publisher *p = model_publisher(report->model, index);
	struct table *t = report->table;

	table_text(t, p->topic->name);
	cell_node(t, p->node);
	table_i64(t, p->process->pid);
	table_u64(t, p->depth);
	table_hex(t, p->handle);
	table_hex(t, p->rmw_handle);
	table_time(t, p->born_ns);
}

void report_publishers(struct report *report)
{
	LIST(report, "publishers", "Publishers", endpoint_columns, MODEL_PUBLISHER,
	     publisher_wanted, publisher_row);
}

static bool subscription_wanted(const struct report *report, unsigned index)
{
	const struct model_subscription *s = model_subscription(report->model, index);

	return report_wants_node(report, s->process, s->node) && report_wants_topic(report, s->topic);
}

static void subscription_row(const struct report *report, unsigned index)
{
	const struct model_subscription *s = model_subscription(report->model, index);
	struct table *t = report->table;

	table_text(t, s->topic->name);
	cell_node(t, s->node);
	table_i64(t, s->process->pid);
	table_u64(t, s->depth);
	table_hex(t, s->handle);
	table_hex(t, s->rmw_handle);
	table_time(t, s->born_ns);
}

void report_subscriptions(struct report *report)
{
	LIST(report, "subscriptions", "Subscriptions", endpoint_columns, MODEL_SUBSCRIPTION,
	     subscription_wanted, subscription_row);
}

static const struct table_column timer_columns[] = {
	{ "period_ns", "Period" }, { "node", "Node" }, { "pid", "Process" }, { "tid", "Thread" },
	{ "handle", NULL }, { "created_ns", NULL },
};

static bool timer_wanted(const struct report *report, unsigned index)
{
	const struct model_timer *timer = model_timer(report->model, index);

	return report_wants_node(report, timer->process, timer->node);
}

static void timer_row(const struct report *report, unsigned index)
{
	const struct model_timer *timer = model_timer(report->model, index);
	struct table *t = report->table;

	table_ns(t, timer->period_ns);
	cell_node(t, timer->node);
	table_i64(t, timer->process->pid);
	table_i64(t, timer->tid);
	table_hex(t, timer->handle);
	table_time(t, timer->born_ns);
}

void report_timers(struct report *report)
{
	LIST(report, "timers", "Timers", timer_columns, MODEL_TIMER, timer_wanted, timer_row);
}

static const struct table_column service_columns[] = {
	{ "service", "Service" }, { "node", "Node" }, { "pid", "Process" },
	{ "handle", NULL }, { "rmw_handle", NULL }, { "created_ns", NULL },
};

static void service_cells(struct table *t, const struct model_service *s)
{
	table_text(t, s->name);
	cell_node(t, s->node);
	table_i64(t, s->process->pid);
	table_hex(t, s->handle);
	table_hex(t, s->rmw_handle);
	table_time(t, s->born_ns);
}

static bool service_wanted(const struct report *report, unsigned index)
{
	const struct model_service *service = model_service(report->model, index);

	return report_wants_node(report, service->process, service->node);
}

static void service_row(const struct report *report, unsigned index)
{
	service_cells(report->table, model_service(report->model, index));
}

void report_services(struct report *report)
{
	LIST(report, "services", "Services", service_columns, MODEL_SERVICE, service_wanted, service_row);
}

static bool client_wanted(const struct report *report, unsigned index)
{
	const struct model_service *client = model_client(report->model, index);

	return report_wants_node(report, client->process, client->node);
}

static void client_row(const struct report *report, unsigned index)
{
	service_cells(report->table, model_client(report->model, index));
}

void report_clients(struct report *report)
{
	LIST(report, "clients", "Clients", service_columns, MODEL_CLIENT, client_wanted, client_row);
}
