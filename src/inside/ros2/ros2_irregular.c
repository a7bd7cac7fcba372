/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks of functions whose shape depends on the tracetools version, of rcl_init, which also
 * reports the middleware, of rclcpp_callback_register, whose symbol of a std::bind lacks the
 * function, and of rmw_take, which also says that the middleware reports a take itself.
 *
 * ros_trace_rmw_publish has the same name in all versions, but other arguments: (message) up to
 * 7.x, (rmw_publisher_handle, message, timestamp) from 8.0. If the caller passes one argument, the
 * registers of the other two contain garbage, and the hook does not read them.
 */
#include <stdlib.h>

#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_libraries.h"
#include "inside/ros2/ros2_forward.h"
#include "inside/ros2/ros2_symbols.h"

/*
 * The process has loaded the middleware by now. Its name comes from the library that librcl, the
 * caller, is linked with.
 */
static inline __attribute__((always_inline)) void emit_rcl_init(const void *context)
{
	static void *known;
	const char *(*identifier)(void) = (const char *(*)(void))
		kymo_below(&known, "rmw_get_implementation_identifier", __builtin_return_address(0), NULL);

	kymo_emit_rcl_init(context);
	if (identifier)
		kymo_emit_rmw_implementation(identifier());
}

static inline __attribute__((always_inline)) void
emit_rclcpp_callback_register(const void *callback, const char *symbol)
{
	char *bound = kymo_bound_symbol(callback, symbol, __builtin_return_address(0));

	kymo_emit_rclcpp_callback_register(callback, bound ? bound : symbol);
	free(bound);
}

static inline void emit_rmw_publish(const void *first, const void *message, int64_t timestamp)
{
	kymo_tracetools_known();
	if (kymo_tracetools.publish_has_handle) {
		kymo_emit_rmw_publish(first, message, timestamp);
	} else {
		kymo_emit_rmw_publish_message(first);
		kymo_message_written = first;
	}
}

static inline bool left_out_rmw_publish(const void *first, const void *message, int64_t timestamp)
{
	kymo_tracetools_known();
	return kymo_tracetools.publish_has_handle
		       ? kymo_left_out_rmw_publish(first, message, timestamp)
		       : kymo_left_out_rmw_publish_message(first);
}

static inline void emit_rmw_publisher_init(const void *handle, const uint8_t *gid)
{
	kymo_tracetools_known();
	if (kymo_tracetools.version >= KYMO_V(8, 4))
		kymo_emit_rmw_publisher_init_gid16(handle, gid);
	else
		kymo_emit_rmw_publisher_init(handle, gid);
}

static inline void emit_rmw_subscription_init(const void *handle, const uint8_t *gid)
{
	kymo_tracetools_known();
	if (kymo_tracetools.version >= KYMO_V(8, 4))
		kymo_emit_rmw_subscription_init_gid16(handle, gid);
	else
		kymo_emit_rmw_subscription_init(handle, gid);
}

KYMO_HOOK(rcl_init, KYMO_WANTED_INIT(rcl_init), kymo_never_counted, kymo_never_left_out,
	  emit_rcl_init, (const void *context), (context))
KYMO_HOOK(rclcpp_callback_register, KYMO_WANTED_INIT(rclcpp_callback_register), kymo_never_counted,
	  kymo_never_left_out, emit_rclcpp_callback_register,
	  (const void *callback, const char *symbol), (callback, symbol))
/*
 * The recorder switches both shapes of rmw_publish together, so the hook tests the byte of one
 * shape.
 */
KYMO_HOOK(rmw_publish, KYMO_WANTED_RUN(rmw_publish), kymo_never_counted, left_out_rmw_publish,
	  emit_rmw_publish, (const void *first, const void *message, int64_t timestamp),
	  (first, message, timestamp))
/* Whether the event is wanted or not. */
KYMO_HOOK(rmw_take, (kymo_take_told = true, KYMO_WANTED_RUN(rmw_take)), KYMO_COUNT_RUN(rmw_take),
	  KYMO_LEFT_OUT_RUN(rmw_take), kymo_emit_rmw_take,
	  (const void *subscription, const void *message, int64_t source_ns, bool taken),
	  (subscription, message, source_ns, taken))
KYMO_HOOK(rmw_publisher_init, KYMO_WANTED_INIT(rmw_publisher_init), kymo_never_counted,
	  kymo_never_left_out, emit_rmw_publisher_init, (const void *handle, const uint8_t *gid),
	  (handle, gid))
KYMO_HOOK(rmw_subscription_init, KYMO_WANTED_INIT(rmw_subscription_init), kymo_never_counted,
	  kymo_never_left_out, emit_rmw_subscription_init, (const void *handle, const uint8_t *gid),
	  (handle, gid))
