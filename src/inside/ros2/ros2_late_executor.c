/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An executor lists its callback groups: Executor::get_all_callback_groups() returns a std::vector
 * of weak pointers. So also what never runs gets its names. The list is looked at again each time
 * when it is known of one more kind of object where it has its callback (ros2_late_callback.c).
 */
#include "inside/ros2/ros2_late_executor.h"

#include <stddef.h>

#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_late_ask.h"
#include "inside/ros2/ros2_late_callback.h"
#include "inside/ros2/ros2_late_group.h"
#include "inside/tracer/tracer_calm.h"

struct groups {
	struct kymo_pointer *begin, *end, *room;
};

static const char *type_of(const void *executor, const void *caller)
{
	static struct kymo_late_symbol symbol[] = {
		{ "_ZTVN6rclcpp9executors22SingleThreadedExecutorE", NULL, false },
		{ "_ZTVN6rclcpp9executors21MultiThreadedExecutorE", NULL, false },
		{ "_ZTVN6rclcpp9executors28StaticSingleThreadedExecutorE", NULL, false },
	};
	static const char *const type[] = { "single_threaded_executor", "multi_threaded_executor",
					    "static_single_threaded_executor" };
	const uintptr_t table = *(const uintptr_t *)executor;

	for (unsigned i = 0; i < sizeof type / sizeof *type; i++) {
		const uintptr_t its = (uintptr_t)kymo_late_symbol(&symbol[i], caller);

		if (its && table == its + 2 * sizeof(void *))
			return type[i];
	}
	return NULL;
}

/* ---- all groups of an executor ---- */

static bool get_groups(const void *executor, struct groups *groups, const void *caller)
{
	static struct kymo_late_symbol symbol = { "_ZN6rclcpp8Executor23get_all_callback_groupsEv",
						  NULL, false };
	struct groups (*get)(const void *) =
		(struct groups(*)(const void *))kymo_late_symbol(&symbol, caller);

	if (!get)
		return false;
	*groups = get(executor);
	return true;
}

static void free_groups(const struct groups *groups, const void *caller)
{
	static struct kymo_late_symbol symbol = { "_ZdlPv", NULL, false };
	void (*operator_delete)(void *) = (void (*)(void *))kymo_late_symbol(&symbol, caller);

	for (struct kymo_pointer *its = groups->begin; its < groups->end; its++)
		kymo_cxx_drop(its);
	if (operator_delete && groups->begin)
		operator_delete(groups->begin);
}

static void each_group(const struct groups *groups, const void *executor, bool report,
		       const void *caller)
{
	for (const struct kymo_pointer *its = groups->begin; its < groups->end; its++) {
		struct kymo_seen *seen;

		if (!kymo_cxx_lock(its))
			continue;
		seen = kymo_seen_add((uintptr_t)its->object, SEEN_GROUP);
		if (seen && report)
			kymo_late_group_report(seen, executor, caller);
		else if (seen)
			kymo_late_group_node(seen, NULL, caller);
		kymo_cxx_unlock(its);
	}
}

/* A group whose members do not say their node comes after those that do: hence the second round. */
static void look_at_all(const void *executor, const void *caller)
{
	struct groups groups;

	if (!get_groups(executor, &groups, caller))
		return;
	each_group(&groups, executor, false, caller);
	each_group(&groups, executor, false, caller);
	each_group(&groups, executor, true, caller);
	free_groups(&groups, caller);
}

/* ---- */

static void look_at(struct kymo_seen *seen, const struct kymo_executable *its, const void *caller)
{
	const void *executor = (const void *)seen->address;
	struct kymo_seen *group = kymo_seen_add((uintptr_t)its->group.object, SEEN_GROUP);
	const char *type = kymo_seen_take(seen) ? type_of(executor, caller) : NULL;

	if (type) {
		kymo_emit_construct_executor(executor, type);
		kymo_late_won(seen->address, "construct_executor", NULL);
	}
	if (group)
		kymo_late_group_node(group, its->node.object, caller);
	look_at_all(executor, caller);
	if (group)
		kymo_late_group_report(group, executor, caller);
}

const void *kymo_late_executes(uintptr_t executor, const struct kymo_executable *its,
			       const void *caller)
{
	const void *places = (const void *)(uintptr_t)(kymo_late_places() + 1);
	struct kymo_seen *seen = kymo_seen_add(executor, SEEN_EXECUTOR);
	struct kymo_seen *group = kymo_seen_add((uintptr_t)its->group.object, SEEN_GROUP);
	struct kymo_calm calm;

	if (!seen || !group)
		return NULL;
	if (__atomic_exchange_n(&seen->object, places, __ATOMIC_ACQ_REL) != places ||
	    kymo_seen_mark(group, SEEN_LOOKED)) {
		kymo_calm_begin(&calm);
		look_at(seen, its, caller);
		kymo_calm_end(&calm);
	}
	return __atomic_load_n(&group->node, __ATOMIC_ACQUIRE);
}
