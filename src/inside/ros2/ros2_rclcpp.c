/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executors and callback groups of rclcpp: the groups of each executor, and the members of each
 * group. No tracepoint reports them. So libkymo-ros2 wraps the functions of abi/symbols.def, which
 * librclcpp exports and calls through the dynamic linker. The functions are C++, the hooks are C:
 * in the Itanium C++ ABI, all these functions have words in registers as arguments. A smart pointer
 * is:
 *
 *   std::shared_ptr by value      a pointer to  ┌────────┬─────────┐      ┌────────┬───────┬──────┐
 *   std::shared_ptr returned      in memory of  │ object │ control ┼─────▶│ vtable │ users │ weak │
 *                                 the caller    └────────┴─────────┘      └────────┴───────┴──────┘
 *                                                                           8 bytes  int     int
 *
 * A collector holds the callback groups of an executor. No function names both, but one calls the
 * other on the same thread. So a hook of the outer function remembers the executor, and a hook of
 * the inner function knows the collector:
 *
 *   Executor()  ──▶ ExecutorEntitiesCollector()                                     Jazzy and later
 *   StaticSingleThreadedExecutor::add_node()  ──▶ StaticExecutorEntitiesCollector::add_callback_group()
 *                                                                                   up to Iron
 *
 * An EventsExecutor makes a collector of its own, after its base class is complete: from Jazzy on,
 * that of the base class stays empty.
 *
 * An EventsCBGExecutor has no collector. When its nodes or their groups have changed, it asks each
 * of its groups for its members:
 *
 *   EventsCBGExecutor::sync_callback_groups()  ──▶ CallbackGroup::collect_all_ptrs()
 */
#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_libraries.h"

struct shared {
	void *object;
	uint8_t *control;
};

/* The callee returns a shared_ptr in memory whose address the caller passes. C returns a struct of
 * this size in the same way. */
struct returned {
	struct shared shared;
	void *fill[2];
};

static __thread struct {
	uintptr_t begun;		/* an executor under construction; no collector yet */
	uintptr_t events;		/* an EventsExecutor under construction */
	uintptr_t executor, collector;	/* the last known pair */
	uintptr_t syncs;		/* an EventsCBGExecutor that looks at its groups */
	uintptr_t adds;			/* a static executor that adds groups to its collector */
} here;

static const char single_threaded[] = "single_threaded_executor";
static const char multi_threaded[] = "multi_threaded_executor";
static const char static_single_threaded[] = "static_single_threaded_executor";
static const char events[] = "events_executor";
static const char events_cbg[] = "events_cbg_executor";

static const void *pointer(uintptr_t word)
{
	return (const void *)word;
}

static const void *pointee(uintptr_t smart_pointer)
{
	return smart_pointer ? ((const struct shared *)smart_pointer)->object : NULL;
}

/* ---- executors ---- */

void kymo_executor_begins(struct kymo_call *call)
{
	here.begun = call->self == here.events ? 0 : call->self;
}

void kymo_executor_made(struct kymo_call *call)
{
	here.begun = call->self == here.events ? call->self : 0;
}

void kymo_collector_begins(struct kymo_call *call)
{
	/* No executor is under construction, or its collector is known already. */
	if (!here.begun)
		return;
	kymo_emit_executor_entity_collector_to_executor(pointer(here.begun), pointer(call->self));
	here.executor = here.begun;
	here.collector = call->self;
	here.begun = 0;
}

void kymo_single_threaded_made(struct kymo_call *call)
{
	kymo_emit_construct_executor(pointer(call->self), single_threaded);
}

void kymo_multi_threaded_made(struct kymo_call *call)
{
	kymo_emit_construct_executor(pointer(call->self), multi_threaded);
}

void kymo_events_begins(struct kymo_call *call)
{
	here.events = call->self;
}

void kymo_events_made(struct kymo_call *call)
{
	here.events = here.begun = 0;
	kymo_emit_construct_executor(pointer(call->self), events);
}

void kymo_cbg_made(struct kymo_call *call)
{
	kymo_emit_construct_executor(pointer(call->self), events_cbg);
}

void kymo_static_made(struct kymo_call *call)
{
	/* Otherwise kymo_group_to_static() emits the event, with the first group. */
	if (here.executor == call->self)
		kymo_emit_construct_static_executor(pointer(call->self), pointer(here.collector),
						    static_single_threaded);
}

void kymo_executor_ends(struct kymo_call *call)
{
	if (here.executor == call->self)
		here.executor = 0;
	if (here.events == call->self)
		here.events = 0;	/* its constructor threw */
	if (here.syncs == call->self)
		here.syncs = 0;
	kymo__log_gone(KYMO_ENTITY_EXECUTOR, call->self);
}

/* ---- callback groups ---- */

/* The rclcpp::CallbackGroupType of a group, as a word. */
static const char *type_of(const void *group, const struct kymo_call *call)
{
	static void *known;
	const int *(*type)(const void *) = (const int *(*)(const void *))
		kymo_below(&known, "_ZNK6rclcpp13CallbackGroup4typeEv", call->caller, NULL);
	const int *value = type && group ? type(group) : NULL;

	return !value || (unsigned)*value > 1 ? "unknown" : *value ? "reentrant" : "mutually_exclusive";
}

void kymo_group_to_executor(struct kymo_call *call)
{
	const void *group = pointee(call->first);

	kymo_emit_add_callback_group(pointer(call->self), group, type_of(group, call));
}

void kymo_group_to_collector(struct kymo_call *call)
{
	const void *group = pointee(call->first);

	kymo_emit_callback_group_to_executor_entity_collector(pointer(call->self), group,
							      type_of(group, call));
}

void kymo_cbg_syncs(struct kymo_call *call)
{
	here.syncs = call->self;
}

void kymo_cbg_synced(struct kymo_call *call)
{
	(void)call;
	here.syncs = 0;
}

void kymo_group_collected(struct kymo_call *call)
{
	const void *group = pointer(call->self);

	if (here.syncs)
		kymo_emit_add_callback_group(pointer(here.syncs), group, type_of(group, call));
}

void kymo_static_adds(struct kymo_call *call)
{
	here.adds = call->self;
}

void kymo_static_added(struct kymo_call *call)
{
	(void)call;
	here.adds = 0;
}

void kymo_group_to_static(struct kymo_call *call)
{
	const void *group = pointee(call->first);

	if (here.adds && (here.executor != here.adds || here.collector != call->self)) {
		kymo_emit_construct_static_executor(pointer(here.adds), pointer(call->self),
						    static_single_threaded);
		here.executor = here.adds;
		here.collector = call->self;
	}
	kymo_emit_add_callback_group_static_executor(pointer(call->self), group,
						     type_of(group, call));
}

void kymo_group_ends(struct kymo_call *call)
{
	kymo__log_gone(KYMO_ENTITY_GROUP, call->self);
}

/* ---- members of a callback group ---- */

/*
 * The rcl handle of an object: the result of @getter. The result is a shared_ptr and holds a
 * reference. The object also holds a reference, so this one is never the last: decrementing the
 * counter releases it, without libstdc++.
 */
const void *kymo_handle_of(void **known, const char *getter, uintptr_t smart_pointer,
			   const void *caller)
{
	struct returned (*get)(const void *) =
		(struct returned(*)(const void *))kymo_below(known, getter, caller, NULL);
	const void *object = pointee(smart_pointer);
	struct shared handle;

	if (!get || !object)
		return NULL;
	handle = get(object).shared;
	if (handle.control)
		(void)__atomic_fetch_sub((int *)(handle.control + sizeof(void *)), 1,
					 __ATOMIC_ACQ_REL);
	return handle.object;
}

#define MEMBER(what, getter)                                                                    \
	void kymo_##what##_to_group(struct kymo_call *call)                                     \
	{                                                                                       \
		static void *known;                                                             \
		const void *handle = kymo_handle_of(&known, getter, call->first, call->caller); \
                                                                                                \
		if (handle)                                                                     \
			kymo_emit_callback_group_add_##what(pointer(call->self), handle);       \
	}
MEMBER(timer, "_ZN6rclcpp9TimerBase16get_timer_handleEv")
MEMBER(subscription, "_ZN6rclcpp16SubscriptionBase23get_subscription_handleEv")
MEMBER(service, "_ZN6rclcpp11ServiceBase18get_service_handleEv")
MEMBER(client, "_ZN6rclcpp10ClientBase17get_client_handleEv")
