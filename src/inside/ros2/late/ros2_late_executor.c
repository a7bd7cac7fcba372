/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An executor lists its callback groups: Executor::get_all_callback_groups() returns a std::vector
 * of weak pointers. So also what never runs gets its names. The list is looked at again each time
 * when it is known of one more kind of object where it has its callback (ros2_late_callback.c), or
 * of one more node which groups it has: a group that has timers only does not say its node, and the
 * other groups of the node may be in other executors.
 *
 * An EventsExecutor has its groups in a collector of its own. Its get_all_callback_groups() first
 * takes in what was added meanwhile, and the executor would miss that: so the collector is asked,
 * which only reads. It has no virtual functions, but std::make_shared() has made it:
 *
 *     EventsExecutor: .. object, control ..     control ──▶ │ table │ users │ weak │ object
 *
 * and the class of the control block has the class of the object in its name.
 *
 * A StaticSingleThreadedExecutor up to Iron also has a collector of its own. Its own
 * get_all_callback_groups() only reads that.
 */
#include "inside/ros2/late/ros2_late_executor.h"

#include <stddef.h>
#include <string.h>

#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/late/ros2_late_ask.h"
#include "inside/ros2/late/ros2_late_base.h"
#include "inside/ros2/late/ros2_late_callback.h"
#include "inside/ros2/late/ros2_late_group.h"
#include "inside/tracer/tracer_calm.h"

#define WORDS 256u /* of an executor that are looked at */
#define WORDS_AT_ONCE 64u

struct groups {
	struct kymo_pointer *begin, *end, *room;
};

static const char *type_of(const void *executor, const void *caller)
{
	static struct kymo_late_symbol symbol[] = {
		{ "_ZTVN6rclcpp9executors22SingleThreadedExecutorE", NULL, false },
		{ "_ZTVN6rclcpp9executors21MultiThreadedExecutorE", NULL, false },
		{ "_ZTVN6rclcpp9executors28StaticSingleThreadedExecutorE", NULL, false },
		{ "_ZTVN6rclcpp12experimental9executors14EventsExecutorE", NULL, false },
		{ "_ZTVN6rclcpp9executors17EventsCBGExecutorE", NULL, false },
	};
	static const char *const type[] = { "single_threaded_executor", "multi_threaded_executor",
					    "static_single_threaded_executor", "events_executor",
					    "events_cbg_executor" };
	const uintptr_t table = *(const uintptr_t *)executor;

	for (unsigned i = 0; i < sizeof type / sizeof *type; i++) {
		const uintptr_t its = (uintptr_t)kymo_late_symbol(&symbol[i], caller);

		if (its && table == its + 2 * sizeof(void *))
			return type[i];
	}
	return NULL;
}

/* ---- all groups of an executor ---- */

/* What the function @symbol says of @its, an executor or a collector. */
static bool ask_groups(struct kymo_late_symbol *symbol, const void *its, struct groups *groups,
		       const void *caller)
{
	struct groups (*get)(const void *) =
		(struct groups(*)(const void *))kymo_late_symbol(symbol, caller);

	if (!get || !its)
		return false;
	*groups = get(its);
	return true;
}

static bool get_groups(const void *executor, struct groups *groups, const void *caller)
{
	static struct kymo_late_symbol symbol = { "_ZN6rclcpp8Executor23get_all_callback_groupsEv",
						  NULL, false };

	return ask_groups(&symbol, executor, groups, caller);
}

static bool get_groups_of_static(const void *executor, struct groups *groups, const void *caller)
{
	static struct kymo_late_symbol symbol = {
		"_ZN6rclcpp9executors28StaticSingleThreadedExecutor23get_all_callback_groupsEv",
		NULL, false
	};

	return ask_groups(&symbol, executor, groups, caller);
}

/* Two words that are a std::shared_ptr to a collector. */
static bool is_collector(const uintptr_t *pointer)
{
	static const char wanted[] = "St23_Sp_counted_ptr_inplaceIN6rclcpp9executors25"
				     "ExecutorEntitiesCollectorE";
	char name[sizeof wanted];

	return pointer[0] == pointer[1] + 2 * sizeof(void *) && kymo_cxx_may_point(pointer[1]) &&
	       kymo_cxx_read_class((const void *)pointer[1], name, sizeof name) &&
	       !memcmp(name, wanted, sizeof wanted - 1);
}

/* Return: NULL: not known. */
static const void *collector_of(const void *executor)
{
	const uintptr_t *at = executor;
	uintptr_t word[WORDS_AT_ONCE];

	for (unsigned done = 0; done < WORDS; done += WORDS_AT_ONCE - 1) {
		const unsigned count = kymo_cxx_read_some(at + done, word, WORDS_AT_ONCE);

		for (unsigned i = 0; i + 1 < count; i++)
			if (is_collector(word + i))
				return (const void *)word[i];
		if (count < WORDS_AT_ONCE)
			break;
	}
	return NULL;
}

static bool get_groups_of_collector(const void *collector, struct groups *groups,
				    const void *caller)
{
	static struct kymo_late_symbol symbol = {
		"_ZNK6rclcpp9executors25ExecutorEntitiesCollector23get_all_callback_groupsEv",
		NULL, false
	};

	return ask_groups(&symbol, collector, groups, caller);
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
static void look_at_groups(const struct groups *groups, const void *executor, const void *caller)
{
	each_group(groups, executor, false, caller);
	each_group(groups, executor, false, caller);
	each_group(groups, executor, true, caller);
	free_groups(groups, caller);
}

/* ---- */

static void tell_type(const void *executor, const void *caller)
{
	const char *type = type_of(executor, caller);

	if (!type)
		return;
	kymo_emit_construct_executor(executor, type);
	kymo_late_won((uintptr_t)executor, "construct_executor", NULL);
}

/* Shall the caller look at the executor? Once, and each time when more is known. */
static bool is_time(struct kymo_seen *seen)
{
	const void *places = (const void *)(uintptr_t)(kymo_late_places() + kymo_base_count() + 1);

	return __atomic_load_n(&seen->object, __ATOMIC_ACQUIRE) != places &&
	       __atomic_exchange_n(&seen->object, places, __ATOMIC_ACQ_REL) != places;
}

static void look_at(struct kymo_seen *seen, const struct kymo_executable *its, const void *caller)
{
	const void *executor = (const void *)seen->address;
	struct kymo_seen *group = kymo_seen_add((uintptr_t)its->group.object, SEEN_GROUP);
	struct groups groups;

	if (kymo_seen_take(seen))
		tell_type(executor, caller);
	if (group)
		kymo_late_group_node(group, its->node.object, caller);
	if (get_groups(executor, &groups, caller))
		look_at_groups(&groups, executor, caller);
	if (group)
		kymo_late_group_report(group, executor, caller);
}

const void *kymo_late_executes(uintptr_t executor, const struct kymo_executable *its,
			       const void *caller)
{
	struct kymo_seen *seen = kymo_seen_add(executor, SEEN_EXECUTOR);
	struct kymo_seen *group = kymo_seen_add((uintptr_t)its->group.object, SEEN_GROUP);
	struct kymo_calm calm;

	if (!seen || !group)
		return NULL;
	if (is_time(seen) || kymo_seen_mark(group, SEEN_LOOKED)) {
		kymo_calm_begin(&calm);
		look_at(seen, its, caller);
		kymo_calm_end(&calm);
	}
	return __atomic_load_n(&group->node, __ATOMIC_ACQUIRE);
}

/* The collector is told, too: what comes to it later is told by the hooks of all processes. */
static void tell_collector(const void *executor, const void *collector)
{
	kymo_emit_executor_entity_collector_to_executor(executor, collector);
	kymo_late_won((uintptr_t)executor, "executor_entity_collector_to_executor", KYMO_BY_CLASS);
}

void kymo_late_runs(uintptr_t address, enum kymo_groups_in where, const void *caller)
{
	struct kymo_seen *seen = kymo_seen_add(address, SEEN_EXECUTOR);
	const void *executor = (const void *)address, *collector;
	struct groups groups;
	struct kymo_calm calm;
	bool first;

	if (!seen || !is_time(seen))
		return;
	kymo_calm_begin(&calm);
	first = kymo_seen_take(seen);
	collector = where == GROUPS_IN_COLLECTOR ? collector_of(executor) : NULL;
	if (first)
		tell_type(executor, caller);
	if (first && collector)
		tell_collector(executor, collector);
	if (where == GROUPS_IN_COLLECTOR ? get_groups_of_collector(collector, &groups, caller)
	    : where == GROUPS_IN_STATIC	 ? get_groups_of_static(executor, &groups, caller)
					 : get_groups(executor, &groups, caller))
		look_at_groups(&groups, executor, caller);
	kymo_calm_end(&calm);
}
