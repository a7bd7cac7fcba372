/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of rcl as the robot needs: objects that know their names, and the functions that tell
 * them, with rcl's names. They are in a library of their own, as in ROS 2, so that a program calls
 * them through the dynamic linker.
 *
 * Some functions of rclcpp are here, too, under the names that a C++ compiler gives them: by them
 * kymo attach knows for which node an executor runs something, and kymo when a client's callback
 * runs.
 */
#ifndef MINI_RCL_H
#define MINI_RCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mini_rmw.h"

#define RCL_RET_OK 0
#define RCL_RET_CLIENT_TAKE_FAILED 501
#define RCL_RET_SERVICE_TAKE_FAILED 601

/* Stands for rcl_node_t, rcl_publisher_t, rcl_subscription_t, rcl_timer_t, rcl_service_t and
 * rcl_client_t. */
struct rcl_object {
	const char *name, *namespace; /* of a node; or of a topic or service */
	struct rmw_object *rmw;
	uint64_t qos[2]; /* as rmw_qos_profile_t begins: history, depth */
	int64_t period_ns;
};

const char *rcl_node_get_name(const struct rcl_object *node);
const char *rcl_node_get_namespace(const struct rcl_object *node);
const char *rcl_publisher_get_topic_name(const struct rcl_object *publisher);
const char *rcl_subscription_get_topic_name(const struct rcl_object *subscription);
const char *rcl_service_get_service_name(const struct rcl_object *service);
const char *rcl_client_get_service_name(const struct rcl_object *client);
const struct rmw_object *rcl_node_get_rmw_handle(const struct rcl_object *node);
const struct rmw_object *rcl_publisher_get_rmw_handle(const struct rcl_object *publisher);
const struct rmw_object *rcl_subscription_get_rmw_handle(const struct rcl_object *subscription);
const struct rmw_object *rcl_service_get_rmw_handle(const struct rcl_object *service);
const struct rmw_object *rcl_client_get_rmw_handle(const struct rcl_object *client);
const void *rcl_publisher_get_options(const struct rcl_object *publisher);
const void *rcl_subscription_get_options(const struct rcl_object *subscription);
int rcl_timer_get_period(const struct rcl_object *timer, int64_t *period_ns);

/* rmw_gid_t */
struct rmw_gid {
	const char *implementation;
	uint8_t data[RMW_GID_BYTES];
};
int rmw_get_gid_for_publisher(const struct rmw_object *publisher, struct rmw_gid *gid);

/* What a program calls while it runs. Of messages and timers, the robot does the work itself. */
int rcl_publish(const struct rcl_object *publisher, const void *message, void *allocation);
int rcl_take(const struct rcl_object *subscription, void *message, void *info, void *allocation);
int rcl_timer_call(struct rcl_object *timer);
int rcl_send_request(const struct rcl_object *client, void *request, int64_t *number);
int rcl_take_request_with_info(const struct rcl_object *service, struct rmw_service_info *info,
			       void *request);
int rcl_send_response(const struct rcl_object *service, const struct rmw_request_id *id,
		      void *response);
int rcl_take_response_with_info(const struct rcl_object *client, struct rmw_service_info *info,
				void *response);
int rcl_wait_set_add_subscription(void *set, const struct rcl_object *subscription, size_t *index);
int rcl_wait_set_add_timer(void *set, const struct rcl_object *timer, size_t *index);
int rcl_wait_set_add_service(void *set, const struct rcl_object *service, size_t *index);
int rcl_wait_set_add_client(void *set, const struct rcl_object *client, size_t *index);

/* rclcpp::node_interfaces::NodeBase */
struct rclcpp_node_base {
	const void *table;
	struct rcl_object *node;
};

/** rclcpp_node_base_init() - Context: wait-free. */
void rclcpp_node_base_init(struct rclcpp_node_base *base, struct rcl_object *node);

/* rclcpp::AnyExecutable: pairs of words are smart pointers. The robot keeps in `run` and `data`
 * what it executes. */
struct rclcpp_executable {
	const void *table;
	const void *subscription[2], *timer[2], *service[2], *client[2], *waitable[2];
	const void *group[2];
	const struct rclcpp_node_base *node[2];
	void *data;
	void (*run)(void *data);
};

/** rclcpp_execute() - rclcpp::Executor::execute_any_executable(). Context: as @executable->run. */
void rclcpp_execute(void *executor, struct rclcpp_executable *executable) __asm__(
	"_ZN6rclcpp8Executor22execute_any_executableERNS_13AnyExecutableE");

/* rclcpp::ClientBase; the robot keeps in `run` and `data` what it executes. */
struct rclcpp_client {
	const struct rcl_object *rcl;
	void *data;
	void (*run)(void *data);
};

/* std::shared_ptr */
struct rclcpp_shared {
	const void *object, *control;
};

/** rclcpp_execute_client() - rclcpp::Executor::execute_client(). Context: as @client->run. */
void rclcpp_execute_client(const struct rclcpp_shared *client) __asm__(
	"_ZN6rclcpp8Executor14execute_clientESt10shared_ptrINS_10ClientBaseEE");

#endif
