/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of what existed before kymo was attached. rcl reports the name of an object once, when it
 * creates it; later events have only its address. So these hooks wrap functions that have an object
 * as their argument, and when they see one for the first time, they ask rcl for its name.
 *
 * The question is asked within that call: there the object is alive, because the program itself
 * uses it, and its type is known. An address alone is never followed.
 *
 *   rcl_wait_set_add_...()       shows all that an executor waits for
 *   rcl_publish(), rcl_take()... show what is used
 *   execute_any_executable()     shows the executor and its callback groups (ros2_late_executor.c),
 *                                which show their nodes (ros2_late_group.c); executors that have a
 *                                loop of their own show it in execute_ready_executables() (static,
 *                                whose function has other arguments from Jazzy on)
 *                                or execute_event() (EventsExecutor)
 *
 * The node of an object may be known only when its executor runs something, so facts wait a second
 * for it. Which callback belongs to which object follows from the order of calls on a thread:
 *
 *   rcl_take(), rcl_timer_call(), rcl_take_request() or rclcpp_executor_execute  -> callback_start
 *
 * and, for messages within the process, from the waitable that the executor executes, or from the
 * ring buffer that the message was in. An EventsExecutor says the object of a timer that it
 * executes.
 */
#include "inside/ros2/ros2_late.h"

#include <string.h>
#include <time.h>

#include "inside/ros2/ros2_attach.h"
#include "inside/ros2/ros2_libraries.h"
#include "inside/ros2/late/ros2_late_ask.h"
#include "inside/ros2/late/ros2_late_base.h"
#include "inside/ros2/late/ros2_late_callback.h"
#include "inside/ros2/late/ros2_late_executor.h"
#include "inside/ros2/late/ros2_late_group.h"
#include "inside/tracer/tracer_calm.h"

#define PATIENCE_NS 1000000000

static __thread struct {
	const void *node;        /* rcl_node_t that the executor executes; NULL: not known */
	const void *of_callback; /* rcl_node_t whose callback runs; NULL: not known */
	const void *waitable;    /* that the executor executes; NULL: none */
	struct kymo_seen *within; /* whose ring buffer had the last message; NULL: not known */
	struct kymo_seen *owner; /* of the callback that begins next; NULL: not known */
	struct kymo_seen *client; /* that sends a request or takes a response; NULL: not known */
	const void *sends;        /* rmw_client_t that sends a request; NULL: none */
} here;

static bool is_on(void)
{
	return __atomic_load_n(&kymo__attach_held, __ATOMIC_RELAXED) == 1;
}

static bool waited(const struct kymo_seen *seen)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec -
		       __atomic_load_n(&seen->since, __ATOMIC_RELAXED) >
	       PATIENCE_NS;
}

static struct kymo_seen *see(enum kymo_seen_kind kind, uintptr_t address, const void *caller)
{
	struct kymo_seen *seen = is_on() ? kymo_seen_add(address, kind) : NULL;

	if (seen && !kymo_seen_known(seen) && waited(seen))
		kymo_late_ask(seen, NULL, caller);
	return seen;
}

/* The node whose callback runs has it, or nearly always: @how. */
static struct kymo_seen *see_of_node(enum kymo_seen_kind kind, uintptr_t address, const char *how,
				     const void *caller)
{
	struct kymo_seen *seen = is_on() ? kymo_seen_add(address, kind) : NULL;
	const void *node = here.node ? here.node : here.of_callback;

	if (!seen || kymo_seen_known(seen))
		return seen;
	if (node && !seen->node)
		__atomic_store_n(&seen->node, node, __ATOMIC_RELAXED);
	if (seen->node || waited(seen))
		kymo_late_ask(seen, how, caller);
	return seen;
}

/* The executor runs the object that takes the request, a service or the server of an action: its
 * node has the service. */
static struct kymo_seen *see_service(uintptr_t address, const void *caller)
{
	return here.node ? see_of_node(SEEN_SERVICE, address, KYMO_BY_EXECUTOR, caller) :
			   see(SEEN_SERVICE, address, caller);
}

/* The executor says an address: of a timer or a subscription that was seen before. */
static void executes(uintptr_t address)
{
	struct kymo_seen *seen = is_on() ? kymo_seen_find(address) : NULL;

	if (seen &&
	    (kymo_seen_kind(seen) == SEEN_TIMER || kymo_seen_kind(seen) == SEEN_SUBSCRIPTION))
		here.owner = seen;
}

/* What gets messages within the process at this address; NULL: not known. */
static struct kymo_seen *within_at(const void *waitable)
{
	struct kymo_seen *seen = kymo_seen_find((uintptr_t)waitable);

	return seen && kymo_seen_kind(seen) == SEEN_WITHIN ? seen : NULL;
}

static void dequeues(uintptr_t buffer)
{
	here.within = is_on() ? kymo_late_buffer_owner(buffer) : NULL;
}

/* An EventsExecutor executes the object, or the handle, at @key. */
static void event_begins(uintptr_t key)
{
	struct kymo_seen *seen = kymo_seen_find(key), *timer;

	if (!seen)
		return;
	here.node = seen->node;
	if (kymo_seen_kind(seen) == SEEN_WITHIN) {
		here.waitable = (const void *)key;
	} else if (kymo_seen_kind(seen) == SEEN_TIMER_OBJECT) {
		timer = kymo_seen_find((uintptr_t)seen->object);
		if (timer && kymo_seen_kind(timer) == SEEN_TIMER &&
		    timer->object == (const void *)key) {
			here.owner = timer;
			here.node = timer->node;
		}
	}
}

/* Return: the entry of the callback that begins; NULL: not known. */
static struct kymo_seen *callback_at(uintptr_t address, bool within_process, const void *caller)
{
	struct kymo_seen *owner = here.owner, *within = within_at(here.waitable), *seen;
	struct kymo_calm calm;

	if (within_process)
		owner = within ? within : here.within;
	here.owner = here.within = NULL;
	seen = owner ? kymo_seen_add(address, SEEN_CALLBACK) : kymo_seen_find(address);
	if (!owner || !seen || kymo_seen_known(seen) || !kymo_seen_kind(owner))
		return seen;
	if (!within_process) {
		(void)see_of_node(kymo_seen_kind(owner), owner->address, KYMO_BY_EXECUTOR, caller);
		if (!kymo_seen_known(owner))
			return seen; /* its node may be known the next time */
	}
	kymo_calm_begin(&calm);
	kymo_late_begins(owner, address, caller);
	kymo_calm_end(&calm);
	return seen;
}

static void callback_starts(uintptr_t address, bool within_process, const void *caller)
{
	const struct kymo_seen *seen =
		is_on() ? callback_at(address, within_process, caller) : NULL;

	here.of_callback = seen ? seen->node : NULL;
}

void kymo_late_uses(const void *node)
{
	if (is_on())
		here.of_callback = node;
}

void kymo_late_starts(uintptr_t callback, const void *caller)
{
	callback_starts(callback, false, caller);
}

void kymo_late_ends(void)
{
	here.of_callback = NULL;
}

static void loops(uintptr_t executor, enum kymo_groups_in where, const void *caller)
{
	here.owner = here.within = NULL;
	here.of_callback = NULL;
	if (is_on())
		kymo_late_runs(executor, where, caller);
}

/* The program reports the facts of this object itself. */
static void made(enum kymo_seen_kind kind, uintptr_t address)
{
	struct kymo_seen *seen;

	kymo_seen_gone(address);
	seen = kymo_seen_add(address, kind);
	if (!seen)
		return;
	(void)kymo_seen_take(seen);
	(void)kymo_seen_mark(seen, SEEN_GID);
}

void kymo_late_response(const void *rmw, const uint8_t gid[16])
{
	struct kymo_seen *client = here.client;

	here.client = NULL;
	if (!client || !is_on() || kymo_seen_kind(client) != SEEN_CLIENT ||
	    !kymo_seen_known(client) || !kymo_seen_mark(client, SEEN_GID))
		return;
	kymo_late_gid(client, rmw, gid);
}

void kymo_late_sends(const void *rmw)
{
	here.sends = rmw;
}

/*
 * Fast DDS writes a request with WriteParams, which have two identities of a message, a guid and a
 * number each. The guid of the second one is that of the client's reader; it begins as all guids of
 * the process do.
 */
static void writes(uintptr_t writer, const uint8_t *params, const void *caller)
{
	enum { GUID = 16, PREFIX = 12, NUMBER = 8, IS_READER = 4 };
	static void *known;
	const uint8_t *(*guid_of)(uintptr_t);
	const uint8_t *reader = params + GUID + NUMBER;

	if (!here.sends || !here.client || !params)
		return;
	guid_of = (const uint8_t *(*)(uintptr_t))kymo_below(
		&known, "_ZNK8eprosima7fastdds3dds10DataWriter4guidEv", caller, NULL);
	if (guid_of && !memcmp(reader, guid_of(writer), PREFIX) && reader[GUID - 1] & IS_READER)
		kymo_late_response(here.sends, reader);
}

void kymo_late_forget(void)
{
	kymo_seen_forget();
	kymo_base_forget();
	kymo_late_forget_places();
}

/* ---- the hooks ---- */

#define CALLER __builtin_return_address(0)

/* HOOK(identifier, function, what it does before the function: a to f are the arguments) */
#define HOOKS(HOOK)                                                                             \
	HOOK(publish, "rcl_publish",                                                            \
	     (void)see_of_node(SEEN_PUBLISHER, a, KYMO_BY_CALLBACK, CALLER))                    \
	HOOK(publish_serialized, "rcl_publish_serialized_message",                              \
	     (void)see_of_node(SEEN_PUBLISHER, a, KYMO_BY_CALLBACK, CALLER))                    \
	HOOK(publish_loaned, "rcl_publish_loaned_message",                                      \
	     (void)see_of_node(SEEN_PUBLISHER, a, KYMO_BY_CALLBACK, CALLER))                    \
	HOOK(publish_within, "ros_trace_rclcpp_intra_publish",                                  \
	     (void)see_of_node(SEEN_PUBLISHER, a, KYMO_BY_CALLBACK, CALLER))                    \
	HOOK(take, "rcl_take", here.owner = see(SEEN_SUBSCRIPTION, a, CALLER))                  \
	HOOK(take_serialized, "rcl_take_serialized_message",                                    \
	     here.owner = see(SEEN_SUBSCRIPTION, a, CALLER))                                    \
	HOOK(take_loaned, "rcl_take_loaned_message",                                            \
	     here.owner = see(SEEN_SUBSCRIPTION, a, CALLER))                                    \
	HOOK(call, "rcl_timer_call", here.owner = see(SEEN_TIMER, a, CALLER))                   \
	HOOK(call_info, "rcl_timer_call_with_info", here.owner = see(SEEN_TIMER, a, CALLER))    \
	HOOK(take_request, "rcl_take_request", here.owner = see_service(a, CALLER))             \
	HOOK(take_request_info, "rcl_take_request_with_info",                                   \
	     here.owner = see_service(a, CALLER))                                               \
	HOOK(send_response, "rcl_send_response", (void)see(SEEN_SERVICE, a, CALLER))            \
	HOOK(send_request, "rcl_send_request",                                                  \
	     here.client = see_of_node(SEEN_CLIENT, a, KYMO_BY_CALLBACK, CALLER))               \
	HOOK(write_request,                                                                     \
	     "_ZN8eprosima7fastdds3dds10DataWriter5writeEPvRNS_8fastrtps4rtps11WriteParamsE",   \
	     writes(a, (const uint8_t *)c, CALLER))                                             \
	HOOK(take_response, "rcl_take_response",                                                \
	     here.client = see_of_node(SEEN_CLIENT, a, KYMO_BY_EXECUTOR, CALLER))               \
	HOOK(take_response_info, "rcl_take_response_with_info",                                 \
	     here.client = see_of_node(SEEN_CLIENT, a, KYMO_BY_EXECUTOR, CALLER))               \
	HOOK(add_subscription, "rcl_wait_set_add_subscription",                                 \
	     (void)see(SEEN_SUBSCRIPTION, b, CALLER))                                           \
	HOOK(add_timer, "rcl_wait_set_add_timer", (void)see(SEEN_TIMER, b, CALLER))             \
	HOOK(add_service, "rcl_wait_set_add_service", (void)see(SEEN_SERVICE, b, CALLER))       \
	HOOK(add_client, "rcl_wait_set_add_client", (void)see(SEEN_CLIENT, b, CALLER))          \
	HOOK(loop,                                                                              \
	     "_ZN6rclcpp9executors28StaticSingleThreadedExecutor25execute_ready_executables"    \
	     "ERKNS0_26ExecutorEntitiesCollectionERNS_10WaitResultINS_15WaitSetTemplateINS_17"  \
	     "wait_set_policies25SequentialSynchronizationENS7_14DynamicStorageEEEEEb",         \
	     loops(a, GROUPS_IN_EXECUTOR, CALLER))                                              \
	HOOK(loop_of_iron,                                                                      \
	     "_ZN6rclcpp9executors28StaticSingleThreadedExecutor25execute_ready_executablesEb", \
	     loops(a, GROUPS_IN_STATIC, CALLER))                                                \
	/* tracepoints */                                                                       \
	HOOK(executes, "ros_trace_rclcpp_executor_execute", executes(a))                        \
	HOOK(looks, "ros_trace_rclcpp_executor_wait_for_work", here.owner = NULL)               \
	HOOK(starts, "ros_trace_callback_start", callback_starts(a, (uint8_t)b, CALLER))        \
	HOOK(ends, "ros_trace_callback_end", kymo_late_ends())                                  \
	HOOK(dequeue, "ros_trace_rclcpp_ring_buffer_dequeue", dequeues(a))                      \
	HOOK(node_made, "ros_trace_rcl_node_init", made(SEEN_NODE, a))                          \
	HOOK(publisher_made, "ros_trace_rcl_publisher_init", made(SEEN_PUBLISHER, a))           \
	HOOK(subscription_made, "ros_trace_rcl_subscription_init", made(SEEN_SUBSCRIPTION, a))  \
	HOOK(timer_made, "ros_trace_rcl_timer_init", made(SEEN_TIMER, a))                       \
	HOOK(service_made, "ros_trace_rcl_service_init", made(SEEN_SERVICE, a))                 \
	HOOK(client_made, "ros_trace_rcl_client_init", made(SEEN_CLIENT, a))                    \
	HOOK(subscription_called, "ros_trace_rclcpp_subscription_callback_added",               \
	     made(SEEN_CALLBACK, b))                                                            \
	HOOK(timer_called, "ros_trace_rclcpp_timer_callback_added", made(SEEN_CALLBACK, b))     \
	HOOK(service_called, "ros_trace_rclcpp_service_callback_added", made(SEEN_CALLBACK, b)) \
	/* ends */                                                                              \
	HOOK(node_ends, "rcl_node_fini", kymo_seen_gone(a))                                     \
	HOOK(publisher_ends, "rcl_publisher_fini", kymo_seen_gone(a))                           \
	HOOK(subscription_ends, "rcl_subscription_fini", kymo_seen_gone(a))                     \
	HOOK(timer_ends, "rcl_timer_fini", kymo_seen_gone(a))                                   \
	HOOK(service_ends, "rcl_service_fini", kymo_seen_gone(a))                               \
	HOOK(client_ends, "rcl_client_fini", kymo_seen_gone(a))                                 \
	HOOK(group_ends, "_ZN6rclcpp13CallbackGroupD1Ev", kymo_seen_gone(a))                    \
	HOOK(executor_ends, "_ZN6rclcpp8ExecutorD2Ev", kymo_seen_gone(a))

#define DEFINE(id, function, before)                                                          \
	static uintptr_t next_##id;                                                           \
	static uintptr_t late_##id(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,        \
				   uintptr_t e, uintptr_t f)                                  \
	{                                                                                     \
		before;                                                                       \
		return ((kymo_late_function *)__atomic_load_n(&next_##id, __ATOMIC_ACQUIRE))( \
			a, b, c, d, e, f);                                                    \
	}
HOOKS(DEFINE)

/* User code in a callback may spin an executor. */
static uintptr_t next_execute;
static uintptr_t late_execute(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,
			      uintptr_t f)
{
	const struct kymo_executable *its = (const struct kymo_executable *)b;
	const void *node = here.node, *waitable = here.waitable;
	uintptr_t result;

	here.node = is_on() && its ? kymo_late_executes(a, its, CALLER) : NULL;
	here.waitable = its ? its->waitable.object : NULL;
	result = ((kymo_late_function *)__atomic_load_n(&next_execute, __ATOMIC_ACQUIRE))(a, b, c,
											  d, e, f);
	here.node = node;
	here.waitable = waitable;
	return result;
}

static uintptr_t next_event;
static uintptr_t late_event(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,
			    uintptr_t f)
{
	const void *node = here.node, *waitable = here.waitable;
	uintptr_t result;

	here.node = here.waitable = here.of_callback = NULL;
	here.owner = here.within = NULL;
	if (is_on()) {
		kymo_late_runs(a, GROUPS_IN_COLLECTOR, CALLER);
		event_begins(*(const uintptr_t *)b); /* its first word, in all versions */
	}
	result = ((kymo_late_function *)__atomic_load_n(&next_event, __ATOMIC_ACQUIRE))(a, b, c, d,
											e, f);
	here.node = node;
	here.waitable = waitable;
	here.owner = NULL;
	return result;
}

#define ROW(id, function, before) { function, late_##id, &next_##id },
const struct kymo_late_hook kymo_late_hook[] = {
	HOOKS(ROW){ "_ZN6rclcpp8Executor22execute_any_executableERNS_13AnyExecutableE",
		    late_execute, &next_execute },
	{ "_ZN6rclcpp12experimental9executors14EventsExecutor13execute_eventERKNS1_13ExecutorEventE",
	  late_event, &next_event }
};
const unsigned kymo_late_hooks = sizeof kymo_late_hook / sizeof *kymo_late_hook;
