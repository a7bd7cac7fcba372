/* SPDX-License-Identifier: Apache-2.0 */
/* Events for feed.h of objects whose rmw handle, namespace, callback or time stamp the test
 * chooses. */
#ifndef KYMO_TESTS_FEED_AS_H
#define KYMO_TESTS_FEED_AS_H

#include "feed.h"

static inline void node_as(struct feed *f, int64_t ns, uint64_t handle, const char *name,
			   const char *space)
{
	EV(ns, "rcl_node_init", "node_handle", handle, "rmw_handle", P(1), "\"node_name", name,
	   "\"namespace", space);
}

static inline void publisher_as(struct feed *f, int64_t ns, uint64_t handle, uint64_t rmw,
				uint64_t on_node, const char *topic)
{
	EV(ns, "rcl_publisher_init", "publisher_handle", handle, "node_handle", on_node,
	   "rmw_publisher_handle", rmw, "\"topic_name", topic, "queue_depth", P(10));
}

static inline void subscription_as(struct feed *f, int64_t ns, uint64_t handle, uint64_t rmw,
				   uint64_t on_node, const char *topic, uint64_t callback)
{
	EV(ns, "rcl_subscription_init", "subscription_handle", handle, "node_handle", on_node,
	   "rmw_subscription_handle", rmw, "\"topic_name", topic, "queue_depth", P(10));
	EV(ns + 1, "rclcpp_subscription_init", "subscription_handle", handle, "subscription",
	   handle + 1);
	EV(ns + 2, "rclcpp_subscription_callback_added", "subscription", handle + 1, "callback",
	   callback);
}

static inline void publish_as(struct feed *f, int64_t ns, uint64_t handle, uint64_t rmw,
			      uint64_t stamp)
{
	EV(ns, "rclcpp_publish", "message", P(0x77));
	EV(ns + 1, "rcl_publish", "publisher_handle", handle, "message", P(0x77));
	EV(ns + 2, "rmw_publish", "rmw_publisher_handle", rmw, "message", P(0x77), "timestamp",
	   stamp);
}

static inline void take_as(struct feed *f, int64_t ns, uint64_t rmw, uint64_t stamp)
{
	EV(ns, "rmw_take", "rmw_subscription_handle", rmw, "message", P(0x88), "source_timestamp",
	   stamp, "taken", P(1));
}

#endif
