/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No function of rclcpp_action says which rcl_service_t a server has. Its object leads to it:
 *
 *     rclcpp_action::Server<A>: .. │ ─▶ ServerBaseImpl: .. │ ─▶ rcl_action_server_t: │ ─▶ service
 *
 * at places that differ between versions. So each word that may be a pointer is followed, through
 * the kernel, until one leads to a service of a "goal" that an executor has waited for. An
 * EventsExecutor does not wait for it: then the executor runs the server when it takes a request
 * (see_service()), and the node of the server is known by then.
 */
#include "inside/ros2/late/ros2_late_action.h"

#include <string.h>

#include "inside/ros2/late/ros2_late_ask.h"
#include "inside/ros2/late/ros2_late_cxx.h"

#define WORDS 32u      /* of a server that are looked at */
#define IMPL_WORDS 64u /* of a ServerBaseImpl */

static bool is_goal(const struct kymo_seen *service, const void *caller)
{
	static struct kymo_late_symbol symbol = { "rcl_service_get_service_name", NULL, false };
	static const char suffix[] = "/_action/send_goal";
	const char *(*name_of)(const void *) =
		(const char *(*)(const void *))kymo_late_symbol(&symbol, caller);
	const char *name = name_of ? name_of((const void *)service->address) : NULL;
	const size_t length = name ? strlen(name) : 0;

	return length >= sizeof suffix && !strcmp(name + length - (sizeof suffix - 1), suffix);
}

/* Return: the service to which one of the words at @impl leads; NULL: none. */
static struct kymo_seen *service_of(const void *impl, const void *caller)
{
	uintptr_t word[IMPL_WORDS], its;
	const unsigned count = kymo_cxx_read_some(impl, word, IMPL_WORDS);

	for (unsigned i = 0; i < count; i++) {
		struct kymo_seen *seen = NULL;

		if (kymo_cxx_may_point(word[i]) && kymo_cxx_read((const void *)word[i], &its, 1))
			seen = its ? kymo_seen_find(its) : NULL;
		if (seen && kymo_seen_kind(seen) == SEEN_SERVICE && is_goal(seen, caller))
			return seen;
	}
	return NULL;
}

void kymo_late_action_server(const void *waitable, const void *node, const void *caller)
{
	struct kymo_seen *server, *service = NULL;
	uintptr_t word[WORDS];
	unsigned count;

	if (strncmp(kymo_cxx_class(waitable), "N13rclcpp_action6ServerI", 24) != 0)
		return;
	server = kymo_seen_add((uintptr_t)waitable, SEEN_ACTION);
	if (!server || kymo_seen_known(server))
		return;
	__atomic_store_n(&server->node, node, __ATOMIC_RELAXED);
	count = kymo_cxx_read_some(waitable, word, WORDS);
	for (unsigned i = 1; i < count && !service; i++)
		if (kymo_cxx_may_point(word[i]))
			service = service_of((const void *)word[i], caller);
	if (!service || !kymo_seen_take(server))
		return;
	__atomic_store_n(&service->node, node, __ATOMIC_RELAXED);
	kymo_late_ask(service, KYMO_BY_GROUP, caller);
}
