/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The getters of rcl only read the object: no lock, no memory, no system call. If they fail they
 * set the error of the thread, and complain if it already has one. Some threads have one all their
 * life, as one that has looked for a type support in vain: so it is put aside for the question.
 *
 * Beside each fact there is an event asked_afterwards or inferred_afterwards, so that a trace says
 * which of its facts the program did not report.
 */
#include "inside/ros2/late/ros2_late_ask.h"

#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_libraries.h"
#include "inside/ros2/ros2_types.h"

void *kymo_late_symbol(struct kymo_late_symbol *symbol, const void *caller)
{
	if (!__atomic_load_n(&symbol->looked, __ATOMIC_ACQUIRE)) {
		(void)kymo_below(&symbol->known, symbol->name, caller, NULL);
		__atomic_store_n(&symbol->looked, true, __ATOMIC_RELEASE);
	}
	return __atomic_load_n(&symbol->known, __ATOMIC_ACQUIRE);
}

typedef const void *getter(const void *object);

/* The result of the getter @name; NULL: no such function, or it failed. */
#define GET(name, object, caller)                                            \
	({                                                                   \
		static struct kymo_late_symbol symbol_ = { #name, NULL, 0 }; \
		getter *get_ = (getter *)kymo_late_symbol(&symbol_, caller); \
                                                                             \
		get_ ? get_(object) : NULL;                                  \
	})

/* rcutils_error_state_t, from Crystal on. */
struct error {
	char text[768];
	char file[229];
	uint64_t line;
};

/* Take the error of the thread, if it has one, away. Return: false: it cannot be put back. */
static bool take_error(struct error *error, const void *caller)
{
	static struct kymo_late_symbol is_set = { "rcutils_error_is_set", NULL, false },
				       get = { "rcutils_get_error_state", NULL, false },
				       set = { "rcutils_set_error_state", NULL, false },
				       reset = { "rcutils_reset_error", NULL, false };
	bool (*const asks)(void) = (bool (*)(void))kymo_late_symbol(&is_set, caller);
	const struct error *(*const state)(void) =
		(const struct error *(*)(void))kymo_late_symbol(&get, caller);
	void (*const resets)(void) = (void (*)(void))kymo_late_symbol(&reset, caller);
	const struct error *its;

	error->text[0] = 0;
	if (!asks || !asks())
		return true;
	its = state && resets && kymo_late_symbol(&set, caller) ? state() : NULL;
	if (!its)
		return false;
	*error = *its;
	resets();
	return true;
}

/* The thread has the error that it had; a question that failed leaves none. */
static void put_error_back(const struct error *error, bool failed, const void *caller)
{
	static struct kymo_late_symbol set = { "rcutils_set_error_state", NULL, false },
				       reset = { "rcutils_reset_error", NULL, false };
	void (*const sets)(const char *, const char *, size_t) =
		(void (*)(const char *, const char *, size_t))kymo_late_symbol(&set, caller);
	void (*const resets)(void) = (void (*)(void))kymo_late_symbol(&reset, caller);

	if (failed && resets)
		resets();
	if (error->text[0] && sets)
		sets(error->text, error->file, error->line);
}

void kymo_late_won(uintptr_t address, const char *fact, const char *how)
{
	if (how)
		kymo_emit_inferred_afterwards((const void *)address, fact, how);
	else
		kymo_emit_asked_afterwards((const void *)address, fact);
}

static void won(const struct kymo_seen *seen, const char *fact, const char *how)
{
	kymo_late_won(seen->address, fact, how);
}

const char *kymo_late_topic(const void *handle, const void *caller)
{
	return GET(rcl_subscription_get_topic_name, handle, caller);
}

/* The options of publishers and subscriptions begin with rmw_qos_profile_t, whose second word is
 * the depth. */
static uint64_t depth_of(const void *options)
{
	return options ? ((const uint64_t *)options)[1] : 0;
}

static bool ask_node(const struct kymo_seen *seen, const void *caller)
{
	const void *node = (const void *)seen->address;
	const char *name = GET(rcl_node_get_name, node, caller);
	const char *namespace = name ? GET(rcl_node_get_namespace, node, caller) : NULL;

	if (!namespace)
		return false;
	kymo_emit_rcl_node_init(node, GET(rcl_node_get_rmw_handle, node, caller), name, namespace);
	won(seen, "rcl_node_init", NULL);
	return true;
}

/* rmw_gid_t; the gid has 24 bytes at most. */
struct rmw_gid {
	const char *implementation;
	uint8_t data[24];
};

static void ask_gid(const void *rmw, const void *caller)
{
	static struct kymo_late_symbol symbol = { "rmw_get_gid_for_publisher", NULL, false };
	int (*get)(const void *, struct rmw_gid *) =
		(int (*)(const void *, struct rmw_gid *))kymo_late_symbol(&symbol, caller);
	struct rmw_gid gid = { 0 };

	if (!get || !rmw || get(rmw, &gid))
		return;
	if (kymo_tracetools.version >= KYMO_V(8, 4))
		kymo_emit_rmw_publisher_init_gid16(rmw, gid.data);
	else
		kymo_emit_rmw_publisher_init(rmw, gid.data);
}

static bool ask_publisher(const struct kymo_seen *seen, const char *how, const void *caller)
{
	const void *publisher = (const void *)seen->address;
	const char *topic = GET(rcl_publisher_get_topic_name, publisher, caller);
	const void *rmw = topic ? GET(rcl_publisher_get_rmw_handle, publisher, caller) : NULL;
	const void *options = rmw ? GET(rcl_publisher_get_options, publisher, caller) : NULL;

	if (!rmw)
		return false;
	ask_gid(rmw, caller);
	kymo_qos_tell(rmw, options);
	kymo_emit_rcl_publisher_init(publisher, seen->node, rmw, topic, depth_of(options));
	won(seen, "rcl_publisher_init", seen->node ? how : NULL);
	return true;
}

static bool ask_subscription(const struct kymo_seen *seen, const char *how, const void *caller)
{
	const void *subscription = (const void *)seen->address;
	const char *topic = kymo_late_topic(subscription, caller);
	const void *rmw = topic ? GET(rcl_subscription_get_rmw_handle, subscription, caller) : NULL;
	const void *options = rmw ? GET(rcl_subscription_get_options, subscription, caller) : NULL;

	if (!rmw)
		return false;
	kymo_qos_tell(rmw, options);
	kymo_emit_rcl_subscription_init(subscription, seen->node, rmw, topic, depth_of(options));
	won(seen, "rcl_subscription_init", seen->node ? how : NULL);
	return true;
}

static bool ask_timer(const struct kymo_seen *seen, const char *how, const void *caller)
{
	static struct kymo_late_symbol symbol = { "rcl_timer_get_period", NULL, false };
	int (*get)(const void *, int64_t *) =
		(int (*)(const void *, int64_t *))kymo_late_symbol(&symbol, caller);
	const void *timer = (const void *)seen->address;
	int64_t period = 0;

	if (!get || get(timer, &period))
		return false;
	kymo_emit_rcl_timer_init(timer, period);
	won(seen, "rcl_timer_init", NULL);
	if (seen->node) {
		kymo_emit_rclcpp_timer_link_node(timer, seen->node);
		won(seen, "rclcpp_timer_link_node", how);
	}
	return true;
}

static bool ask_service(const struct kymo_seen *seen, const char *how, const void *caller)
{
	const void *service = (const void *)seen->address;
	const char *name = GET(rcl_service_get_service_name, service, caller);

	if (!name)
		return false;
	kymo_emit_rcl_service_init(service, seen->node,
				   GET(rcl_service_get_rmw_handle, service, caller), name);
	won(seen, "rcl_service_init", seen->node ? how : NULL);
	return true;
}

static bool ask_client(const struct kymo_seen *seen, const char *how, const void *caller)
{
	const void *client = (const void *)seen->address;
	const char *name = GET(rcl_client_get_service_name, client, caller);

	if (!name)
		return false;
	kymo_emit_rcl_client_init(client, seen->node,
				  GET(rcl_client_get_rmw_handle, client, caller), name);
	won(seen, "rcl_client_init", seen->node ? how : NULL);
	return true;
}

void kymo_late_gid(const struct kymo_seen *client, const void *rmw, const uint8_t gid[16])
{
	kymo_emit_rmw_client_init(rmw, gid);
	won(client, "rmw_client_init", NULL);
}

void kymo_late_ask(struct kymo_seen *seen, const char *how, const void *caller)
{
	struct error error;
	bool said;

	if (kymo_seen_known(seen) || !take_error(&error, caller))
		return;
	if (!kymo_seen_take(seen)) {
		put_error_back(&error, false, caller);
		return;
	}
	kymo_tracetools_known();
	switch (kymo_seen_kind(seen)) {
	case SEEN_NODE:
		said = ask_node(seen, caller);
		break;
	case SEEN_PUBLISHER:
		said = ask_publisher(seen, how, caller);
		break;
	case SEEN_SUBSCRIPTION:
		said = ask_subscription(seen, how, caller);
		break;
	case SEEN_TIMER:
		said = ask_timer(seen, how, caller);
		break;
	case SEEN_SERVICE:
		said = ask_service(seen, how, caller);
		break;
	case SEEN_CLIENT:
		said = ask_client(seen, how, caller);
		break;
	default:
		said = true;
		break;
	}
	put_error_back(&error, !said, caller);
}
