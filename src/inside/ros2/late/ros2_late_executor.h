/* SPDX-License-Identifier: Apache-2.0 */
/* Executors of rclcpp, in a process to which kymo was attached. */
#ifndef KYMO_HOOKS_LATE_EXECUTOR_H
#define KYMO_HOOKS_LATE_EXECUTOR_H

#include "inside/ros2/late/ros2_late_cxx.h"

/* rclcpp::AnyExecutable, from Foxy on. */
struct kymo_executable {
	const void *table;
	struct kymo_pointer subscription, timer, service, client, waitable, group, node, data;
};

/**
 * kymo_late_executes() - an executor is about to execute something
 * @executor: rclcpp::Executor
 * @its: what; keeps its callback group alive
 *
 * On first sight of the executor, reports its facts, and those of all its groups, of their nodes
 * and of all their members. Return: the rcl_node_t to which @its belongs; NULL: not known. Context:
 * within Executor::execute_any_executable(), before it runs; acquires the mutexes of the executor
 * and of its groups, a few times in the life of the executor.
 */
const void *kymo_late_executes(uintptr_t executor, const struct kymo_executable *its,
			       const void *caller);

/* Where an executor has its callback groups. */
enum kymo_groups_in {
	GROUPS_IN_EXECUTOR,  /* in its base class */
	GROUPS_IN_COLLECTOR, /* an EventsExecutor: in a collector of its own */
	GROUPS_IN_STATIC,    /* a StaticSingleThreadedExecutor up to Iron */
};

/**
 * kymo_late_runs() - an executor that does not call execute_any_executable() is about to look for
 * work, or to execute something
 * @executor: StaticSingleThreadedExecutor or EventsExecutor
 *
 * Reports the same facts. Context: on a thread of the executor; acquires the mutex of its
 * collector, and those of its groups, a few times in the life of the executor.
 */
void kymo_late_runs(uintptr_t executor, enum kymo_groups_in where, const void *caller);

#endif
