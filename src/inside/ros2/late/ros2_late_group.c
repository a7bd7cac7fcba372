/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rcl does not know which node a timer or a subscription belongs to; rclcpp does. All objects of a
 * callback group belong to one node, so it is enough to find the node of one of them:
 *
 *   services, clients   say it: get_rcl_node_handle()
 *   subscriptions       hold a pointer to rclcpp's NodeBase, at a place that differs between
 *                       versions. A word of the object is that pointer if it leads to an object
 *                       with NodeBase's table of virtual functions whose rcl_node_t the
 *                       subscription holds, too. The words are read through the kernel, so that a
 *                       word that is no pointer does no harm
 *   timers alone        a NodeBase that is known from another group has a list of its groups: a
 *                       std::vector of pairs of words, whose first is the address of a group. Where
 *                       the list is, groups show whose node is known otherwise: at the first place
 *                       that lists such a group. Behind its end, a NodeBase may be followed by
 *                       another one, with a list of other groups
 *
 * rclcpp lists the objects of a group: CallbackGroup::collect_all_ptrs() calls a std::function for
 * each, with a shared_ptr, which keeps the object alive meanwhile. In libstdc++, a std::function is
 * two words for the function object, a manager and the function to call.
 */
#include "inside/ros2/late/ros2_late_group.h"

#include <stddef.h>
#include <string.h>

#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/late/ros2_late_ask.h"
#include "inside/ros2/late/ros2_late_callback.h"
#include "inside/ros2/late/ros2_late_cxx.h"
#include "inside/ros2/ros2_libraries.h"

#define WORDS 32u      /* of a subscription that are looked at */
#define BASE_WORDS 64u /* of a NodeBase */
#define BASES_MAX 256u
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

/* ---- the node of a subscription, and NodeBases ---- */

typedef const void *node_getter(const void *object);

static bool is_base(uintptr_t base, const void *caller)
{
	static struct kymo_late_symbol table = { "_ZTVN6rclcpp15node_interfaces8NodeBaseE", NULL,
						 false };
	const uintptr_t wanted = (uintptr_t)kymo_late_symbol(&table, caller);
	uintptr_t its;

	return wanted && kymo_cxx_may_point(base) && kymo_cxx_read((const void *)base, &its, 1) &&
	       its == wanted + 2 * sizeof(void *);
}

/* NodeBase @base's rcl_node_t; NULL: @base is not a NodeBase. */
static const void *node_of_base(uintptr_t base, const void *caller)
{
	static struct kymo_late_symbol handle = {
		"_ZN6rclcpp15node_interfaces8NodeBase19get_rcl_node_handleEv", NULL, false
	};
	node_getter *get = (node_getter *)kymo_late_symbol(&handle, caller);

	return get && is_base(base, caller) ? get((const void *)base) : NULL;
}

/* NodeBases that were seen, and their rcl_node_t. A NodeBase may have ended since. */
static struct {
	uintptr_t base;
	const void *node;
} known[BASES_MAX];
static unsigned bases;
static unsigned list_at; /* words from a NodeBase's begin to its list of groups; 0: not known */

static void remember(uintptr_t base, const void *node)
{
	const unsigned count = __atomic_load_n(&bases, __ATOMIC_ACQUIRE);
	unsigned at;

	for (unsigned i = 0; i < count && i < BASES_MAX; i++)
		if (__atomic_load_n(&known[i].base, __ATOMIC_RELAXED) == base &&
		    __atomic_load_n(&known[i].node, __ATOMIC_RELAXED) == node)
			return;
	if (count >= BASES_MAX)
		return;
	at = __atomic_fetch_add(&bases, 1, __ATOMIC_ACQ_REL);
	if (at >= BASES_MAX)
		return;
	__atomic_store_n(&known[at].node, node, __ATOMIC_RELAXED);
	__atomic_store_n(&known[at].base, base, __ATOMIC_RELEASE);
}

unsigned kymo_late_nodes(void)
{
	return __atomic_load_n(&bases, __ATOMIC_ACQUIRE);
}

void kymo_late_forget_nodes(void)
{
	memset(known, 0, sizeof known);
	bases = list_at = 0;
}

static bool vector_has(const uintptr_t *vector, const void *group)
{
	const uintptr_t begin = vector[0], end = vector[1], pair = 2 * sizeof(void *);
	uintptr_t first;

	if (!begin || begin >= end || end > vector[2] || (end - begin) % pair ||
	    end - begin > pair * 1024)
		return false;
	for (uintptr_t at = begin; at < end; at += pair)
		if (!kymo_cxx_read((const void *)at, &first, 1))
			return false;
		else if (first == (uintptr_t)group)
			return true;
	return false;
}

static bool has_word(const uintptr_t *word, unsigned count, const void *wanted)
{
	for (unsigned i = 0; i < count; i++)
		if (word[i] == (uintptr_t)wanted)
			return true;
	return false;
}

static const void *node_of_known(unsigned at, uintptr_t *base)
{
	*base = __atomic_load_n(&known[at].base, __ATOMIC_ACQUIRE);
	return __atomic_load_n(&known[at].node, __ATOMIC_RELAXED);
}

/* @group is a group of @node. */
static void learn_list(const void *group, const void *node)
{
	const unsigned count = __atomic_load_n(&bases, __ATOMIC_ACQUIRE);
	uintptr_t word[BASE_WORDS], base;

	if (__atomic_load_n(&list_at, __ATOMIC_RELAXED))
		return;
	for (unsigned i = 0; i < count && i < BASES_MAX; i++) {
		const unsigned words = node_of_known(i, &base) == node ?
					       kymo_cxx_read_some((const void *)base, word,
								  BASE_WORDS) :
					       0;

		for (unsigned k = 1; k + 2 < words; k++)
			if (vector_has(word + k, group)) {
				__atomic_store_n(&list_at, k, __ATOMIC_RELEASE);
				return;
			}
	}
}

/* Nothing is called here, because the NodeBase may end at any time. */
static const void *node_that_lists(const void *group, const void *caller)
{
	const unsigned count = __atomic_load_n(&bases, __ATOMIC_ACQUIRE);
	const unsigned list = __atomic_load_n(&list_at, __ATOMIC_ACQUIRE);
	uintptr_t word[BASE_WORDS], base;

	for (unsigned i = 0; list && i < count && i < BASES_MAX; i++) {
		const void *node = node_of_known(i, &base);
		const struct kymo_seen *seen = kymo_seen_find((uintptr_t)node);
		unsigned words;

		if (!seen || kymo_seen_kind(seen) != SEEN_NODE || !is_base(base, caller))
			continue;
		words = kymo_cxx_read_some((const void *)base, word, BASE_WORDS);
		if (list + 2 < words && has_word(word, words, node) &&
		    vector_has(word + list, group))
			return node;
	}
	return NULL;
}

static const void *node_of_subscription(const void *subscription, const void *caller)
{
	uintptr_t word[WORDS];
	const unsigned count = kymo_cxx_read_some(subscription, word, WORDS);

	for (unsigned i = 0; i < count; i++) {
		const void *node = node_of_base(word[i], caller);

		if (node && has_word(word, count, node)) {
			remember(word[i], node);
			return node;
		}
	}
	return NULL;
}

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
		const void *node = node_of_subscription(object->object, look->caller);

		look->node = node ? node : look->node;
	}
}

MEMBER(service, SEEN_SERVICE, "_ZN6rclcpp11ServiceBase18get_service_handleEv",
       asked(&service_node, object->object, look->caller))
MEMBER(client, SEEN_CLIENT, "_ZN6rclcpp10ClientBase17get_client_handleEv",
       asked(&client_node, object->object, look->caller))
MEMBER(timer, SEEN_TIMER, "_ZN6rclcpp9TimerBase16get_timer_handleEv", NULL)

/* Used until the group's subscriptions are known. */
static void member_waitable(struct group_look *const *function, const struct kymo_pointer *object)
{
	struct group_look *look = *function;

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
	look.node = node_of_base((uintptr_t)base, caller);
	if (look.node)
		remember((uintptr_t)base, look.node);
	else
		each_member(group, &look);
	for (unsigned i = 0; i < look.count; i++)
		kymo_cxx_unlock(&look.within[i]);
	if (look.node)
		learn_list(group, look.node);
	else
		look.node = node_that_lists(group, caller);
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
