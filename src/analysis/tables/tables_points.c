/* SPDX-License-Identifier: Apache-2.0 */
/* Tables with one row per init event, as in tracetools_analysis. */
#include "analysis/tables/tables_internal.h"

#include <stddef.h>

/* The number of a field of an event, from 1; 0 is no field. */
#define FIELD(point, name) (1 + offsetof(struct args_##point, name) / sizeof(struct kymo_ctf_value))

/* The row of an init event: its table, and the fields of the event for its members. */
struct init_point {
	enum tables_id table;
	uint8_t handle; /* 0: the event has no row */
	uint8_t other, text;
	enum model_kind kind;
	uint8_t object; /* the address of an object of this kind */
};

#define POINT(point, table_, handle_, ...) \
	[KYMO_POINT_##                     \
		point] = {.table = TABLE_##table_, .handle = FIELD(point, handle_), __VA_ARGS__}
#define OTHER(point, name) .other = FIELD(point, name)
#define TEXT(point, name) .text = FIELD(point, name)
#define OBJECT(point, kind_, name) .kind = MODEL_##kind_, .object = FIELD(point, name)

static const struct init_point points[KYMO_POINTS_TABLE] = {
	POINT(rcl_init, contexts, context_handle, TEXT(rcl_init, version)),
	POINT(rmw_publisher_init, rmw_publishers, rmw_publisher_handle,
	      TEXT(rmw_publisher_init, gid)),
	POINT(rmw_subscription_init, rmw_subscriptions, rmw_subscription_handle,
	      TEXT(rmw_subscription_init, gid)),
	POINT(rclcpp_subscription_init, subscription_objects, subscription_handle,
	      OTHER(rclcpp_subscription_init, subscription),
	      OBJECT(rclcpp_subscription_init, SUBSCRIPTION, subscription_handle)),
	POINT(rclcpp_subscription_callback_added, callback_objects, subscription,
	      OTHER(rclcpp_subscription_callback_added, callback),
	      OBJECT(rclcpp_subscription_callback_added, CALLBACK, callback)),
	POINT(rclcpp_timer_callback_added, callback_objects, timer_handle,
	      OTHER(rclcpp_timer_callback_added, callback),
	      OBJECT(rclcpp_timer_callback_added, CALLBACK, callback)),
	POINT(rclcpp_service_callback_added, callback_objects, service_handle,
	      OTHER(rclcpp_service_callback_added, callback),
	      OBJECT(rclcpp_service_callback_added, CALLBACK, callback)),
	POINT(rclcpp_callback_register, callback_symbols, callback,
	      TEXT(rclcpp_callback_register, symbol),
	      OBJECT(rclcpp_callback_register, CALLBACK, callback)),
	POINT(rclcpp_timer_link_node, timer_node_links, timer_handle,
	      OTHER(rclcpp_timer_link_node, node_handle),
	      OBJECT(rclcpp_timer_link_node, NODE, node_handle)),
	POINT(rcl_lifecycle_state_machine_init, lifecycle_state_machines, state_machine,
	      OTHER(rcl_lifecycle_state_machine_init, node_handle),
	      OBJECT(rcl_lifecycle_state_machine_init, NODE, node_handle)),
};

static const struct kymo_ctf_value *field(const struct kymo_ctf_event *event, uint8_t number)
{
	static const struct kymo_ctf_value none;

	return number ? &event->value[number - 1] : &none;
}

static void add(struct tables_scan *scan, const struct init_point *point,
		const struct kymo_ctf_event *event)
{
	const struct model_thread *thread = model_event_thread_known(scan->model, event);
	struct tables_row *row = thread ? tables_row_new(scan, point->table) : NULL;
	const struct kymo_ctf_value *text = field(event, point->text);

	if (!row)
		return;
	row->point.ns = model_true_time(scan->model, event);
	row->point.thread = thread;
	row->point.handle = field(event, point->handle)->u;
	row->point.other = field(event, point->other)->u;
	if (point->object)
		row->point.object = model_object_of(scan->model, thread->process, point->kind,
						    field(event, point->object)->u);
	if (text->present && text->bytes) {
		row->point.text = text->bytes;
		row->point.text_size = text->size;
	}
}

void tables_point(struct tables_scan *scan, const struct kymo_ctf_event *event)
{
	unsigned point;

	if (model_event_init(scan->model, event, &point) && points[point].handle)
		add(scan, &points[point], event);
}
