/* SPDX-License-Identifier: Apache-2.0 */
/* Tables with one row per init event, as in tracetools_analysis. */
#include "analysis/tables/tables_internal.h"

static struct point_row *add(struct tables_scan *scan, enum tables_id table,
			     const struct kymo_ctf_event *event)
{
	const struct model_thread *thread = model_event_thread_known(scan->model, event);
	struct tables_row *row = thread ? tables_row_new(scan, table, NULL) : NULL;

	if (!row)
		return NULL;
	row->point.ns = model_true_time(scan->model, event);
	row->point.thread = thread;
	return &row->point;
}

static void set_text(struct point_row *row, const struct kymo_ctf_value *value)
{
	if (!value->present || !value->bytes)
		return;
	row->text = value->bytes;
	row->text_size = value->size;
}

/* ---- init events ---- */

static void on_rcl_init(struct tables_scan *scan, const struct kymo_ctf_event *event)
{
	ARGS(rcl_init, event);
	struct point_row *row = add(scan, TABLE_contexts, event);

	if (!row)
		return;
	row->handle = args->context_handle.u;
	set_text(row, &args->version);
}

static void add_gid(struct tables_scan *scan, enum tables_id table, const struct kymo_ctf_event *event)
{
	/* A subscription has the same fields in the same order. */
	ARGS(rmw_publisher_init, event);
	struct point_row *row = add(scan, table, event);

	if (!row)
		return;
	row->handle = args->rmw_publisher_handle.u;
	set_text(row, &args->gid);
}

static void on_rmw_publisher_init(struct tables_scan *scan, const struct kymo_ctf_event *event)
{
	add_gid(scan, TABLE_rmw_publishers, event);
}

static void on_rmw_subscription_init(struct tables_scan *scan, const struct kymo_ctf_event *event)
{
	add_gid(scan, TABLE_rmw_subscriptions, event);
}

static void on_rclcpp_subscription_init(struct tables_scan *scan, const struct kymo_ctf_event *event)
{
	ARGS(rclcpp_subscription_init, event);
	struct point_row *row = add(scan, TABLE_subscription_objects, event);

	if (!row)
		return;
	row->handle = args->subscription_handle.u;
	row->other = args->subscription.u;
	row->object = model_object_of(scan->model, row->thread->process, MODEL_SUBSCRIPTION, row->handle);
}

/* The three callback_added events have the same fields. */
static void on_callback_added(struct tables_scan *scan, const struct kymo_ctf_event *event)
{
	ARGS(rclcpp_timer_callback_added, event);
	struct point_row *row = add(scan, TABLE_callback_objects, event);

	if (!row)
		return;
	row->handle = args->timer_handle.u;
	row->other = args->callback.u;
	row->object = model_object_of(scan->model, row->thread->process, MODEL_CALLBACK, row->other);
}

static void on_rclcpp_callback_register(struct tables_scan *scan, const struct kymo_ctf_event *event)
{
	ARGS(rclcpp_callback_register, event);
	struct point_row *row = add(scan, TABLE_callback_symbols, event);

	if (!row)
		return;
	row->handle = args->callback.u;
	row->object = model_object_of(scan->model, row->thread->process, MODEL_CALLBACK, row->handle);
	set_text(row, &args->symbol);
}

static void on_rclcpp_timer_link_node(struct tables_scan *scan, const struct kymo_ctf_event *event)
{
	ARGS(rclcpp_timer_link_node, event);
	struct point_row *row = add(scan, TABLE_timer_node_links, event);

	if (!row)
		return;
	row->handle = args->timer_handle.u;
	row->other = args->node_handle.u;
	row->object = model_object_of(scan->model, row->thread->process, MODEL_NODE, row->other);
}

static void on_rcl_lifecycle_state_machine_init(struct tables_scan *scan,
						const struct kymo_ctf_event *event)
{
	ARGS(rcl_lifecycle_state_machine_init, event);
	struct point_row *row = add(scan, TABLE_lifecycle_state_machines, event);

	if (!row)
		return;
	row->handle = args->state_machine.u;
	row->other = args->node_handle.u;
	row->object = model_object_of(scan->model, row->thread->process, MODEL_NODE, row->other);
}

/* ---- handlers by event ---- */

typedef void (*point_handler)(struct tables_scan *scan, const struct kymo_ctf_event *event);

#define ON(point, row) [KYMO_POINT_##point] = row
static const point_handler points[KYMO_POINTS_TABLE] = {
	ON(rcl_init, on_rcl_init),
	ON(rmw_publisher_init, on_rmw_publisher_init),
	ON(rmw_subscription_init, on_rmw_subscription_init),
	ON(rclcpp_subscription_init, on_rclcpp_subscription_init),
	ON(rclcpp_subscription_callback_added, on_callback_added),
	ON(rclcpp_timer_callback_added, on_callback_added),
	ON(rclcpp_service_callback_added, on_callback_added),
	ON(rclcpp_callback_register, on_rclcpp_callback_register),
	ON(rclcpp_timer_link_node, on_rclcpp_timer_link_node),
	ON(rcl_lifecycle_state_machine_init, on_rcl_lifecycle_state_machine_init),
};

void tables_point(struct tables_scan *scan, const struct kymo_ctf_event *event)
{
	unsigned point;

	if (model_event_init(scan->model, event, &point) && points[point])
		points[point](scan, event);
}
