/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of rclpy that existed before kymo was attached, whose nodes the hook for rclpy knows
 * (ros2/kymo_site/rclpy_attach.py). */
#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_slots.h"
#include "inside/ros2/late/ros2_late_ask.h"

KYMO_EXPORT void kymo__python_exists(char kind, const void *handle, const void *node);

static enum kymo_seen_kind seen_kind(char kind)
{
	switch (kind) {
	case 'n':
		return SEEN_NODE;
	case 'p':
		return SEEN_PUBLISHER;
	case 's':
		return SEEN_SUBSCRIPTION;
	case 't':
		return SEEN_TIMER;
	case 'v':
		return SEEN_SERVICE;
	default:
		return SEEN_CLIENT;
	}
}

/* rclpy says which node has the object, and keeps it alive during the call. */
void kymo__python_exists(char kind, const void *handle, const void *node)
{
	/*
	 * In librcl: rclpy's own library, and so all that it was linked with, has a scope of its
	 * own.
	 */
	const void *caller = kymo_slots_original("rcl_wait_set_add_timer");
	struct kymo_seen *seen = kymo_seen_add((uintptr_t)handle, seen_kind(kind));

	if (!seen || !caller)
		return;
	if (kind != 'n')
		__atomic_store_n(&seen->node, node, __ATOMIC_RELAXED);
	kymo_late_ask(seen, NULL, caller);
}
