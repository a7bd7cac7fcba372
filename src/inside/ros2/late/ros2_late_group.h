/* SPDX-License-Identifier: Apache-2.0 */
/* Callback groups of rclcpp, and which node owns the objects of a group, in a process to which kymo
 * was attached. */
#ifndef KYMO_HOOKS_LATE_GROUP_H
#define KYMO_HOOKS_LATE_GROUP_H

#include "inside/ros2/late/ros2_late_seen.h"

/**
 * kymo_late_group_node() - find the node of a group, report its facts, and keep it in the entry
 * @seen: entry of the group, which is alive
 * @base: its NodeBase; NULL: not known
 *
 * Context: acquires the group's mutex, as long as the node is not known.
 */
void kymo_late_group_node(struct kymo_seen *seen, const void *base, const void *caller);

/** kymo_late_group_report() - report the facts of the group @seen, which is alive, and of its
 * members. @executor: that runs it. Context: as above; as malloc(). */
void kymo_late_group_report(struct kymo_seen *seen, const void *executor, const void *caller);

#endif
