/* SPDX-License-Identifier: Apache-2.0 */
/* Which node owns the objects of a callback group of rclcpp, in a process to which kymo was
 * attached. */
#ifndef KYMO_HOOKS_LATE_GROUP_H
#define KYMO_HOOKS_LATE_GROUP_H

#include <stdint.h>

/**
 * kymo_late_group() - the node of what an executor is about to execute
 * @executable: rclcpp::AnyExecutable, which keeps its callback group alive
 *
 * On first sight of the group, reports the facts of its node and of all its objects. Return:
 * rcl_node_t; NULL: not known. Context: within Executor::execute_any_executable(), before it runs;
 * acquires the group's mutex, once per group.
 */
const void *kymo_late_group(uintptr_t executable, const void *caller);

#endif
