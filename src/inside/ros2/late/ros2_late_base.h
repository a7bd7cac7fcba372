/* SPDX-License-Identifier: Apache-2.0 */
/* rclcpp's NodeBases, and which node they lead to, in a process to which kymo was attached. */
#ifndef KYMO_HOOKS_LATE_BASE_H
#define KYMO_HOOKS_LATE_BASE_H

#include <stdint.h>

/** kymo_base_node() - the rcl_node_t of the NodeBase at @base; NULL: it is not a NodeBase. Context:
 * a system call. */
const void *kymo_base_node(uintptr_t base, const void *caller);

/** kymo_base_remember() - the NodeBase at @base is that of @node. Context: lock-free. */
void kymo_base_remember(uintptr_t base, const void *node);

/** kymo_base_count() - a number that grows when more NodeBases are known. Context: wait-free. */
unsigned kymo_base_count(void);

/** kymo_base_forget() - forget them, and where they list their groups. Context: as
 * kymo_seen_forget(). */
void kymo_base_forget(void);

/** kymo_base_learn_list() - learn from @group, a group of @node, where a NodeBase lists its groups.
 * Context: system calls, until that is known. */
void kymo_base_learn_list(const void *group, const void *node);

/** kymo_base_node_of_group() - the node whose NodeBase lists @group; NULL: not known. Context:
 * system calls. */
const void *kymo_base_node_of_group(const void *group, const void *caller);

/** kymo_base_node_of_subscription() - the node of rclcpp's object @subscription, which exists; its
 * NodeBase is remembered. Return: NULL: not known. Context: system calls. */
const void *kymo_base_node_of_subscription(const void *subscription, const void *caller);

#endif
