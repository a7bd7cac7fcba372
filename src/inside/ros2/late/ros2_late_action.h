/* SPDX-License-Identifier: Apache-2.0 */
/* Servers of actions that existed before kymo was attached. */
#ifndef KYMO_HOOKS_LATE_ACTION_H
#define KYMO_HOOKS_LATE_ACTION_H

/**
 * kymo_late_action_server() - if @waitable is a server of an action, its service "goal" belongs to
 * @node
 * @waitable: rclcpp's object, which exists
 *
 * Context: some hundred system calls, until the service is known; as kymo_late_ask().
 */
void kymo_late_action_server(const void *waitable, const void *node, const void *caller);

#endif
