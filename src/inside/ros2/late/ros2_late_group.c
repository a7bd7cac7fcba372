/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rcl does not know which node a timer or a subscription belongs to; rclcpp does. All objects of a
 * callback group belong to one node, so it is enough to find the node of one of them:
 *
 *   services, clients   say it: get_rcl_node_handle()
 *   subscriptions       lead to rclcpp's NodeBase (ros2_late_base.c)
 *   timers alone        a NodeBase that is known from another group has a list of its groups
 *
 * rclcpp lists the objects of a group: CallbackGroup::collect_all_ptrs() calls a std::function for
 * each, with a shared_ptr, which keeps the object alive meanwhile. In libstdc++, a std::function is
 * two words for the function object, a manager and the function to call.
 */
#include "inside/ros2/late/ros2_late_group.h"

#include <stddef.h>
#include <string.h>

#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/late/ros2_late_action.h"
#include "inside/ros2/late/ros2_late_ask.h"
#include "inside/ros2/late/ros2_late_base.h"
#include "inside/ros2/late/ros2_late_callback.h"
#include "inside/ros2/late/ros2_late_cxx.h"
#include "inside/ros2/ros2_libraries.h"

#define WITHIN_MAX 16u /* of a group, that get messages within the process */

struct group_look {
	const void *node, *caller, *group;
	bool report; /* second round: the node is known */
	bool named;  /* first round: only what gets messages within the process */
	/* That get messages within the process; and their subscription. */
	struct kymo_pointer within[WITHIN_MAX];
	const void *subscription[WITHIN_MAX];
	unsigned count, candidates[WITHIN_MAX];
};

struct function {
	struct group_look *look;
	uintptr_t fill;
	uintptr_t (*manager)(void);
	void (*call)(struct group_look *const *look, const struct kymo_pointer *object);
};

typedef const void *node_getter(const void *object);

/* ---- the members of a group ---- */

static uintptr_t manage(void)
{
	return 0; /* never called: nobody copies or asks these functions */
}

static const void *asked(struct kymo_late_symbol *symbol, const void *object, const void *caller)
{
	node_getter *get = (node_getter *)kymo_late_symbol(symbol, caller);

	return get ? get(object) : NULL;
}

static void tell_group(const struct group_look *look, const struct kymo_seen *seen)
{
	const void *handle = (const void *)seen->address;
	const char *fact;

	switch (kymo_seen_kind(seen)) {
	case SEEN_TIMER:
		kymo_emit_callback_group_add_timer(look->group, handle);
		fact = "callback_group_add_timer";
		break;
	case SEEN_SUBSCRIPTION:
		kymo_emit_callback_group_add_subscription(look->group, handle);
		fact = "callback_group_add_subscription";
		break;
	case SEEN_SERVICE:
		kymo_emit_callback_group_add_service(look->group, handle);
		fact = "callback_group_add_service";
		break;
	default:
		kymo_emit_callback_group_add_client(look->group, handle);
		fact = "callback_group_add_client";
		break;
	}
	kymo_late_won(seen->address, fact, NULL);
}

/* The subscriptions of a group that have the topic of what gets messages within the process. */
static void match_within(struct group_look *look, const void *handle)
{
	static struct kymo_late_symbol symbol = {
		"_ZNK6rclcpp12experimental28SubscriptionIntraProcessBase14get_topic_nameEv", NULL,
		false
	};
	const char *(*topic_of)(const void *) =
		(const char *(*)(const void *))kymo_late_symbol(&symbol, look->caller);
	const char *topic = look->count ? kymo_late_topic(handle, look->caller) : NULL;

	for (unsigned i = 0; topic && topic_of && i < look->count; i++)
		if (!strcmp(topic, topic_of(look->within[i].object))) {
			look->subscription[i] = handle;
			look->candidates[i]++;
		}
}

/* An EventsExecutor says which object it executes, not which handle. */
static void remember_timer(const void *handle, const void *object)
{
	struct kymo_seen *seen = kymo_seen_add((uintptr_t)object, SEEN_TIMER_OBJECT);

	if (seen)
		__atomic_store_n(&seen->object, handle, __ATOMIC_RELEASE);
}

static void report(struct group_look *look, enum kymo_seen_kind kind, const void *handle,
		   const void *object)
{
	struct kymo_seen *seen = kymo_seen_add((uintptr_t)handle, kind);

	if (!seen)
		return;
	__atomic_store_n(&seen->object, object, __ATOMIC_RELAXED);
	if (kind == SEEN_TIMER)
		remember_timer(handle, object);
	if (look->node) {
		__atomic_store_n(&seen->node, look->node, __ATOMIC_RELAXED);
		kymo_late_ask(seen, KYMO_BY_GROUP, look->caller);
	}
	if (!kymo_seen_known(seen))
		return; /* later: the facts of an object come first */
	if (kymo_seen_mark(seen, SEEN_IN_GROUP))
		tell_group(look, seen);
	kymo_late_silent(seen, look->caller);
	if (kind == SEEN_SUBSCRIPTION)
		match_within(look, handle);
}

#define MEMBER(what, KIND, getter_name, node_expression)                                           \
	static void member_##what(struct group_look *const *function, const struct kymo_pointer *object) \
	{                                                                                          \
		static void *known_getter;                                                         \
		struct group_look *look = *function;                                                     \
                                                                                                   \
		if (look->report)                                                                  \
			report(look, KIND,                                                         \
			       kymo_handle_of(&known_getter, getter_name, (uintptr_t)object,       \
					      look->caller),                                       \
			       object->object);                                                    \
		else if (!look->node && !look->named && object->object)                            \
			look->node = node_expression;                                              \
	}

static struct kymo_late_symbol service_node = { "_ZN6rclcpp11ServiceBase19get_rcl_node_handleEv",
						NULL, false },
			       client_node = { "_ZN6rclcpp10ClientBase19get_rcl_node_handleEv",
					       NULL, false };

/* A subscription is asked even if the node is known: it leads to the NodeBase, too. */
static void member_subscription(struct group_look *const *function,
				const struct kymo_pointer *object)
{
	static void *known_getter;
	struct group_look *look = *function;

	if (look->report) {
		report(look, SEEN_SUBSCRIPTION,
		       kymo_handle_of(&known_getter,
				      "_ZN6rclcpp16SubscriptionBase23get_subscription_handleEv",
				      (uintptr_t)object, look->caller),
		       object->object);
	} else if (object->object && !look->named) {
		const void *node = kymo_base_node_of_subscription(object->object, look->caller);

		look->node = node ? node : look->node;
	}
}

MEMBER(service, SEEN_SERVICE, "_ZN6rclcpp11ServiceBase18get_service_handleEv",
       asked(&service_node, object->object, look->caller))
MEMBER(client, SEEN_CLIENT, "_ZN6rclcpp10ClientBase17get_client_handleEv",
       asked(&client_node, object->object, look->caller))
MEMBER(timer, SEEN_TIMER, "_ZN6rclcpp9TimerBase16get_timer_handleEv", NULL)

/* What gets messages within the process is used until the group's subscriptions are known. */
static void member_waitable(struct group_look *const *function, const struct kymo_pointer *object)
{
	struct group_look *look = *function;

	if (look->report && look->node && object->object)
		kymo_late_action_server(object->object, look->node, look->caller);
	if (!look->report && look->count < WITHIN_MAX && object->object &&
	    kymo_late_is_within(object->object) && kymo_cxx_lock(object))
		look->within[look->count++] = *object;
}

static void end_within(struct group_look *look)
{
	for (unsigned i = 0; i < look->count; i++) {
		struct kymo_seen *seen =
			look->candidates[i] == 1
				? kymo_seen_add((uintptr_t)look->within[i].object, SEEN_WITHIN)
				: NULL;

		if (seen) {
			if (__atomic_exchange_n(&seen->object, look->subscription[i],
						__ATOMIC_ACQ_REL) != look->subscription[i])
				kymo_late_buffers_again();
			kymo_late_silent(seen, look->caller);
		}
		kymo_cxx_unlock(&look->within[i]);
	}
	look->count = 0;
}

#define COLLECT                                                           \
	"_ZNK6rclcpp13CallbackGroup16collect_all_ptrs"                    \
	"ESt8functionIFvRKSt10shared_ptrINS_16SubscriptionBaseEEEE"       \
	"S1_IFvRKS2_INS_11ServiceBaseEEEES1_IFvRKS2_INS_10ClientBaseEEEE" \
	"S1_IFvRKS2_INS_9TimerBaseEEEES1_IFvRKS2_INS_8WaitableEEEE"

/* A std::function by value is passed by reference; the caller destroys it. */
static void each_member(const void *group, struct group_look *look)
{
	static struct kymo_late_symbol symbol = { COLLECT, NULL, false };
	void (*collect)(const void *, struct function *, struct function *, struct function *,
			struct function *, struct function *) =
		(void (*)(const void *, struct function *, struct function *, struct function *,
			  struct function *, struct function *))kymo_late_symbol(&symbol,
										 look->caller);
	struct function subscription = { look, 0, manage, member_subscription },
			service = { look, 0, manage, member_service },
			client = { look, 0, manage, member_client },
			timer = { look, 0, manage, member_timer },
			waitable = { look, 0, manage, member_waitable };

	if (collect)
		collect(group, &subscription, &service, &client, &timer, &waitable);
}

/* ---- groups ---- */

void kymo_late_group_node(struct kymo_seen *seen, const void *base, const void *caller)
{
	const void *group = (const void *)seen->address;
	struct group_look look = { .caller = caller, .group = group };
	struct kymo_seen *node;

	if (__atomic_load_n(&seen->node, __ATOMIC_ACQUIRE))
		return;
	look.node = kymo_base_node((uintptr_t)base, caller);
	if (look.node)
		kymo_base_remember((uintptr_t)base, look.node);
	else
		each_member(group, &look);
	for (unsigned i = 0; i < look.count; i++)
		kymo_cxx_unlock(&look.within[i]);
	if (look.node)
		kymo_base_learn_list(group, look.node);
	else
		look.node = kymo_base_node_of_group(group, caller);
	node = look.node ? kymo_seen_add((uintptr_t)look.node, SEEN_NODE) : NULL;
	if (node)
		kymo_late_ask(node, NULL, caller);
	__atomic_store_n(&seen->node, look.node, __ATOMIC_RELEASE);
}

static const char *type_of(const void *group, const void *caller)
{
	static struct kymo_late_symbol symbol = { "_ZNK6rclcpp13CallbackGroup4typeEv", NULL,
						  false };
	const int *(*type)(const void *) =
		(const int *(*)(const void *))kymo_late_symbol(&symbol, caller);
	const int *value = type ? type(group) : NULL;

	return !value || (unsigned)*value > 1 ? NULL : *value ? "reentrant" : "mutually_exclusive";
}

void kymo_late_group_report(struct kymo_seen *seen, const void *executor, const void *caller)
{
	const void *group = (const void *)seen->address;
	struct group_look look = {
		.caller = caller, .group = group, .node = seen->node, .named = true
	};
	const char *type = type_of(group, caller);

	if (type && kymo_seen_take(seen)) {
		kymo_emit_add_callback_group(executor, group, type);
		kymo_late_won(seen->address, "add_callback_group", NULL);
	}
	each_member(group, &look); /* what gets messages within the process */
	look.report = true;
	each_member(group, &look);
	end_within(&look);
}
