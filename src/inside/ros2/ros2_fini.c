/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the destruction of rcl objects. No tracepoint reports it, but the functions that destroy
 * objects are exported, and rclcpp and rclpy call them through the dynamic linker. Each hook first
 * writes to the init log that the object is gone, so that the log forgets the object's facts. Then
 * the hook calls the function of librcl.
 *
 * The order matters: when librcl has freed the object, another object may have its address.
 */
#include "inside/ros2/ros2_libraries.h"
#include "inside/tracer/tracer_initlog.h"

#define RCL_RET_ERROR 1

#define FINI(function, entity, params, first, args)					\
KYMO_EXPORT int function params;							\
KYMO_EXPORT int function params								\
{											\
	static void *known;								\
	__typeof__(&function) call = (__typeof__(&function))				\
		kymo_below(&known, #function, __builtin_return_address(0), (void *)function);	\
											\
	if (!call)									\
		return RCL_RET_ERROR;	/* impossible: the caller was linked with it */	\
	kymo__log_gone(entity, (uint64_t)(uintptr_t)(first));				\
	return call args;								\
}

FINI(rcl_node_fini, KYMO_ENTITY_NODE, (void *node), node, (node))
FINI(rcl_publisher_fini, KYMO_ENTITY_PUBLISHER, (void *publisher, void *node), publisher,
     (publisher, node))
FINI(rcl_subscription_fini, KYMO_ENTITY_SUBSCRIPTION, (void *subscription, void *node),
     subscription, (subscription, node))
FINI(rcl_service_fini, KYMO_ENTITY_SERVICE, (void *service, void *node), service, (service, node))
FINI(rcl_client_fini, KYMO_ENTITY_CLIENT, (void *client, void *node), client, (client, node))
FINI(rcl_timer_fini, KYMO_ENTITY_TIMER, (void *timer), timer, (timer))
