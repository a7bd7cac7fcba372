/* SPDX-License-Identifier: Apache-2.0 */
/* libmini_rcl.so: the functions of mini_rcl.h. */
#include "mini_rcl.h"

#include <string.h>

#include "tracetools/tracetools.h"

/* ---- what objects tell ---- */

#define NAME(what, getter)                                                   \
	const char *rcl_##what##_get_##getter(const struct rcl_object *what) \
	{                                                                    \
		return what->name;                                           \
	}
NAME(node, name)
NAME(publisher, topic_name)
NAME(subscription, topic_name)
NAME(service, service_name)
NAME(client, service_name)

const char *rcl_node_get_namespace(const struct rcl_object *node)
{
	return node->namespace;
}

#define RMW(what)                                                                           \
	const struct rmw_object *rcl_##what##_get_rmw_handle(const struct rcl_object *what) \
	{                                                                                   \
		return what->rmw;                                                           \
	}
RMW(node)
RMW(publisher)
RMW(subscription)
RMW(service)
RMW(client)

#define OPTIONS(what)                                                       \
	const void *rcl_##what##_get_options(const struct rcl_object *what) \
	{                                                                   \
		return what->qos;                                           \
	}
OPTIONS(publisher)
OPTIONS(subscription)

int rcl_timer_get_period(const struct rcl_object *timer, int64_t *period_ns)
{
	*period_ns = timer->period_ns;
	return RCL_RET_OK;
}

int rmw_get_gid_for_publisher(const struct rmw_object *publisher, struct rmw_gid *gid)
{
	gid->implementation = "mini_rcl";
	memcpy(gid->data, publisher->gid, sizeof(gid->data));
	return RCL_RET_OK;
}

/* ---- what a program calls ---- */

int rcl_publish(const struct rcl_object *publisher, const void *message, void *allocation)
{
	(void)allocation;
	ros_trace_rcl_publish(publisher, message);
	return RCL_RET_OK;
}

int rcl_take(const struct rcl_object *subscription, void *message, void *info, void *allocation)
{
	(void)subscription;
	(void)info;
	(void)allocation;
	ros_trace_rcl_take(message);
	return RCL_RET_OK;
}

int rcl_timer_call(struct rcl_object *timer)
{
	(void)timer;
	return RCL_RET_OK;
}

int rcl_send_request(const struct rcl_object *client, void *request, int64_t *number)
{
	return rmw_send_request(client->rmw, request, number);
}

int rcl_take_request_with_info(const struct rcl_object *service, struct rmw_service_info *info,
			       void *request)
{
	bool taken = false;
	const int result = rmw_take_request(service->rmw, info, request, &taken);

	return result || taken ? result : RCL_RET_SERVICE_TAKE_FAILED;
}

int rcl_send_response(const struct rcl_object *service, const struct rmw_request_id *id,
		      void *response)
{
	return rmw_send_response(service->rmw, id, response);
}

int rcl_take_response_with_info(const struct rcl_object *client, struct rmw_service_info *info,
				void *response)
{
	bool taken = false;
	const int result = rmw_take_response(client->rmw, info, response, &taken);

	return result || taken ? result : RCL_RET_CLIENT_TAKE_FAILED;
}

#define ADD(what)                                                                            \
	int rcl_wait_set_add_##what(void *set, const struct rcl_object *what, size_t *index) \
	{                                                                                    \
		(void)set;                                                                   \
		(void)what;                                                                  \
		(void)index;                                                                 \
		return RCL_RET_OK;                                                           \
	}
ADD(subscription)
ADD(timer)
ADD(service)
ADD(client)

/* ---- rclcpp ---- */

struct rcl_object *node_base_handle(const struct rclcpp_node_base *base) __asm__(
	"_ZN6rclcpp15node_interfaces8NodeBase19get_rcl_node_handleEv");
extern const void *const node_base_table[3] __asm__("_ZTVN6rclcpp15node_interfaces8NodeBaseE");

struct rcl_object *node_base_handle(const struct rclcpp_node_base *base)
{
	return base->node;
}

/* Two words before the functions: where the object begins, and its type. */
const void *const node_base_table[3] = { NULL, NULL, (const void *)node_base_handle };

void rclcpp_node_base_init(struct rclcpp_node_base *base, struct rcl_object *node)
{
	*base = (struct rclcpp_node_base){ &node_base_table[2], node };
}

void rclcpp_execute(void *executor, struct rclcpp_executable *executable)
{
	(void)executor;
	executable->run(executable->data);
}

/* A shared_ptr that C++ returns in memory: so C returns a struct of this size. */
struct returned {
	struct rclcpp_shared shared;
	const void *fill[2];
};

/* ClientBase::get_client_handle() */
struct returned client_handle(const struct rclcpp_client *client) __asm__(
	"_ZN6rclcpp10ClientBase17get_client_handleEv");

struct returned client_handle(const struct rclcpp_client *client)
{
	return (struct returned){ .shared = { client->rcl, NULL } };
}

void rclcpp_execute_client(const struct rclcpp_shared *client)
{
	const struct rclcpp_client *base = client->object;

	base->run(base->data);
}
