/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When an object of rcl is no more: no tracepoint says so, but the functions that end it are exported, and
 * rclcpp and rclpy call them through the dynamic linker. Each is told to the init log, which forgets what
 * it has about the object, and then done by librcl.
 *
 * The log is told first: when librcl has freed the object, another may be at its place.
 */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "tracer/initlog.h"

#define RCL_RET_ERROR 1

static int find_librcl(struct dl_phdr_info *info, size_t size, void *path)
{
	const char *base = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)size;
	base = base ? base + 1 : info->dlpi_name;
	if (!base || strncmp(base, "librcl.so", strlen("librcl.so")))
		return 0;
	(void)snprintf(path, PATH_MAX, "%s", info->dlpi_name);
	return 1;
}

/* librcl's own. Python loads it into a scope of its own, where RTLD_NEXT does not look. */
static void *below(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name), *library;
	char path[PATH_MAX];

	if (function || !dl_iterate_phdr(find_librcl, path))
		return function;
	library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);	/* and it stays, with what we found in it */
	return library ? dlsym(library, name) : NULL;
}

#define FINI(function, entity, params, first, args)					\
KYMO_EXPORT int function params;							\
KYMO_EXPORT int function params								\
{											\
	static __typeof__(&function) real;						\
	__typeof__(&function) call = __atomic_load_n(&real, __ATOMIC_ACQUIRE);		\
											\
	if (!call) {									\
		call = (__typeof__(&function))below(#function);				\
		__atomic_store_n(&real, call, __ATOMIC_RELEASE);			\
	}										\
	if (!call)									\
		return RCL_RET_ERROR;	/* who called us was linked with it */		\
	kymo__log_gone(entity, (uint64_t)(uintptr_t)(first));				\
	return call args;								\
}

FINI(rcl_node_fini, KYMO_ENTITY_NODE, (void *node), node, (node))
FINI(rcl_publisher_fini, KYMO_ENTITY_PUBLISHER, (void *publisher, void *node), publisher, (publisher, node))
FINI(rcl_subscription_fini, KYMO_ENTITY_SUBSCRIPTION, (void *subscription, void *node), subscription,
     (subscription, node))
FINI(rcl_service_fini, KYMO_ENTITY_SERVICE, (void *service, void *node), service, (service, node))
FINI(rcl_client_fini, KYMO_ENTITY_CLIENT, (void *client, void *node), client, (client, node))
FINI(rcl_timer_fini, KYMO_ENTITY_TIMER, (void *timer), timer, (timer))
