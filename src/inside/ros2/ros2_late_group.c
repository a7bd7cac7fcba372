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
 *
 * rclcpp lists the objects of a group: CallbackGroup::collect_all_ptrs() calls a std::function for
 * each, with a shared_ptr, which keeps the object alive meanwhile. In libstdc++, a std::function is
 * two words for the function object, a manager and the function to call.
 */
#include "inside/ros2/ros2_late_group.h"

#include <stddef.h>
#include <sys/uio.h>
#include <unistd.h>

#include "inside/ros2/ros2_late_ask.h"
#include "inside/ros2/ros2_libraries.h"

/* rclcpp::AnyExecutable, from Foxy on. */
struct shared {
	const void *object, *control;
};
struct executable {
	const void *table;
	struct shared subscription, timer, service, client, waitable, group, node, data;
};

#define WORDS 32u /* of a subscription that are looked at */

struct look {
	const void *node, *caller;
	bool report; /* second round: the node is known */
};

struct function {
	struct look *look;
	uintptr_t fill;
	uintptr_t (*manager)(void);
	void (*call)(struct look *const *look, const struct shared *object);
};

static bool read_words(const void *from, uintptr_t *words, unsigned count)
{
	const struct iovec here = { words, count * sizeof *words };
	const struct iovec there = { (void *)(uintptr_t)from, count * sizeof *words };

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) ==
	       (ssize_t)(count * sizeof *words);
}

typedef const void *node_getter(const void *object);

/* NodeBase @base's rcl_node_t; NULL: @base is not a NodeBase. */
static const void *node_of_base(uintptr_t base, const void *caller)
{
	static struct kymo_late_symbol
		table = { "_ZTVN6rclcpp15node_interfaces8NodeBaseE", NULL, false },
		handle = { "_ZN6rclcpp15node_interfaces8NodeBase19get_rcl_node_handleEv", NULL,
			   false };
	const uintptr_t wanted = (uintptr_t)kymo_late_symbol(&table, caller);
	node_getter *get = (node_getter *)kymo_late_symbol(&handle, caller);
	uintptr_t its;

	if (!wanted || !get || !base || base % sizeof(void *) ||
	    !read_words((const void *)base, &its, 1) || its != wanted + 2 * sizeof(void *))
		return NULL;
	return get((const void *)base);
}

static const void *node_of_subscription(const void *subscription, const void *caller)
{
	uintptr_t word[WORDS];
	unsigned count = WORDS;

	while (count && !read_words(subscription, word, count))
		count /= 2; /* the object ends with its page */
	for (unsigned i = 0; i < count; i++) {
		const void *node = node_of_base(word[i], caller);

		for (unsigned k = 0; node && k < count; k++)
			if (word[k] == (uintptr_t)node)
				return node;
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

static void report(struct look *look, enum kymo_seen_kind kind, const void *handle,
		   const void *object)
{
	struct kymo_seen *seen = kymo_seen_add((uintptr_t)handle, kind);

	if (!seen)
		return;
	__atomic_store_n(&seen->object, object, __ATOMIC_RELAXED);
	__atomic_store_n(&seen->node, look->node, __ATOMIC_RELAXED);
	kymo_late_ask(seen, KYMO_BY_GROUP, look->caller);
}

#define MEMBER(what, KIND, getter_name, node_expression)                                     \
	static void member_##what(struct look *const *function, const struct shared *object) \
	{                                                                                    \
		static void *known;                                                          \
		struct look *look = *function;                                               \
                                                                                             \
		if (look->report)                                                            \
			report(look, KIND,                                                   \
			       kymo_handle_of(&known, getter_name, (uintptr_t)object,        \
					      look->caller),                                 \
			       object->object);                                              \
		else if (!look->node && object->object)                                      \
			look->node = node_expression;                                        \
	}

static struct kymo_late_symbol service_node = { "_ZN6rclcpp11ServiceBase19get_rcl_node_handleEv",
						NULL, false },
			       client_node = { "_ZN6rclcpp10ClientBase19get_rcl_node_handleEv",
					       NULL, false };

MEMBER(subscription, SEEN_SUBSCRIPTION, "_ZN6rclcpp16SubscriptionBase23get_subscription_handleEv",
       node_of_subscription(object->object, look->caller))
MEMBER(service, SEEN_SERVICE, "_ZN6rclcpp11ServiceBase18get_service_handleEv",
       asked(&service_node, object->object, look->caller))
MEMBER(client, SEEN_CLIENT, "_ZN6rclcpp10ClientBase17get_client_handleEv",
       asked(&client_node, object->object, look->caller))
MEMBER(timer, SEEN_TIMER, "_ZN6rclcpp9TimerBase16get_timer_handleEv", NULL)

static void member_waitable(struct look *const *function, const struct shared *object)
{
	(void)function;
	(void)object;
}

#define COLLECT                                                           \
	"_ZNK6rclcpp13CallbackGroup16collect_all_ptrs"                    \
	"ESt8functionIFvRKSt10shared_ptrINS_16SubscriptionBaseEEEE"       \
	"S1_IFvRKS2_INS_11ServiceBaseEEEES1_IFvRKS2_INS_10ClientBaseEEEE" \
	"S1_IFvRKS2_INS_9TimerBaseEEEES1_IFvRKS2_INS_8WaitableEEEE"

/* A std::function by value is passed by reference; the caller destroys it. */
static void each_member(const void *group, struct look *look)
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

const void *kymo_late_group(uintptr_t executable, const void *caller)
{
	const struct executable *its = (const struct executable *)executable;
	const void *group = its->group.object;
	struct look look = { .caller = caller };
	struct kymo_seen *seen = kymo_seen_add((uintptr_t)group, SEEN_GROUP), *node;

	if (!seen)
		return NULL;
	if (kymo_seen_known(seen))
		return __atomic_load_n(&seen->node, __ATOMIC_ACQUIRE);
	look.node = node_of_base((uintptr_t)its->node.object, caller);
	if (!look.node)
		each_member(group, &look);
	if (look.node) {
		node = kymo_seen_add((uintptr_t)look.node, SEEN_NODE);
		if (node)
			kymo_late_ask(node, NULL, caller);
		look.report = true;
		each_member(group, &look);
	}
	__atomic_store_n(&seen->node, look.node, __ATOMIC_RELEASE);
	(void)kymo_seen_take(seen);
	return look.node;
}
