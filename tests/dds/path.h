/* SPDX-License-Identifier: Apache-2.0 */
/* The events of a publisher and of a subscription, as rcl and rmw record them around a
 * middleware. */
#ifndef TESTS_DDS_PATH_H
#define TESTS_DDS_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif
void ros_trace_rcl_init(const void *context);
void ros_trace_rcl_node_init(const void *node, const void *rmw, const char *name,
			     const char *name_space);
void ros_trace_rmw_publisher_init(const void *rmw, const uint8_t *gid);
void ros_trace_rcl_publisher_init(const void *publisher, const void *node, const void *rmw,
				  const char *topic, size_t depth);
void ros_trace_rmw_subscription_init(const void *rmw, const uint8_t *gid);
void ros_trace_rcl_subscription_init(const void *subscription, const void *node, const void *rmw,
				     const char *topic, size_t depth);
void ros_trace_rclcpp_subscription_init(const void *subscription, const void *receiver);
void ros_trace_rclcpp_subscription_callback_added(const void *receiver, const void *callback);
void ros_trace_rclcpp_callback_register(const void *callback, const char *symbol);
void ros_trace_rcl_publish(const void *publisher, const void *message);
#ifdef HUMBLE
void ros_trace_rmw_publish(const void *message);
#else
void ros_trace_rmw_publish(const void *rmw, const void *message, int64_t source_ns);
#endif
void ros_trace_rmw_take(const void *rmw, const void *message, int64_t source_ns, bool taken);
void ros_trace_callback_start(const void *callback, bool is_intra);
void ros_trace_callback_end(const void *callback);
#ifdef __cplusplus
}
#endif

/* Addresses stand for objects. A subscription has number 0, 1 or 2. */
static char node_of[2], publisher_of[2], subscription_of[3][4];

static inline void node_begins(const char *name)
{
	ros_trace_rcl_init(node_of);
	ros_trace_rcl_node_init(node_of, node_of + 1, name, "/");
}

static inline void publisher_made(const uint8_t *gid)
{
	ros_trace_rmw_publisher_init(publisher_of, gid);
	ros_trace_rcl_publisher_init(publisher_of + 1, node_of, publisher_of, "/scan", 10);
}

static inline void subscription_made(unsigned number, const uint8_t *gid, size_t depth)
{
	const char *its = subscription_of[number];

	ros_trace_rmw_subscription_init(its, gid);
	ros_trace_rcl_subscription_init(its + 1, node_of, its, "/scan", depth);
	ros_trace_rclcpp_subscription_init(its + 1, its + 2);
	ros_trace_rclcpp_subscription_callback_added(its + 2, its + 3);
	ros_trace_rclcpp_callback_register(its + 3, "on_scan");
}

static inline void message_written(const void *message, int64_t source_ns)
{
	ros_trace_rcl_publish(publisher_of + 1, message);
#ifdef HUMBLE
	(void)source_ns;
	ros_trace_rmw_publish(message);
#else
	ros_trace_rmw_publish(publisher_of, message, source_ns);
#endif
}

static inline void message_taken(unsigned number, const void *message, int64_t source_ns)
{
	ros_trace_rmw_take(subscription_of[number], message, source_ns, true);
	ros_trace_callback_start(subscription_of[number] + 3, false);
	ros_trace_callback_end(subscription_of[number] + 3);
}

static inline void pause_ms(long ms)
{
	const struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

/* The receiving half of the program, as a process of its own that is started with @how. */
static inline int with_listener(char **argv, const char *how, int (*talk)(void))
{
	const pid_t listener = fork();
	int status, result;

	if (!listener) {
		execl("/proc/self/exe", argv[0], how, argv[2], argv[3], (char *)NULL);
		_exit(127);
	}
	result = listener < 0 ? 1 : talk();
	if (listener > 0 && (waitpid(listener, &status, 0) < 0 || status))
		result = 1;
	return result;
}

#endif
