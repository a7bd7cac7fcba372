/* SPDX-License-Identifier: Apache-2.0 */
/* A librcl whose functions that end objects count how often they were called. */
#include <stdatomic.h>

static atomic_long calls;

long rcl_stub_calls(void);
long rcl_stub_calls(void)
{
	return atomic_load(&calls);
}

#define FINI(name, ...)						\
int name(__VA_ARGS__);						\
int name(__VA_ARGS__)						\
{								\
	(void)atomic_fetch_add(&calls, 1);			\
	return object ? 0 : 11;		/* RCL_RET_INVALID_ARGUMENT */	\
}

FINI(rcl_node_fini, void *object)
FINI(rcl_timer_fini, void *object)
FINI(rcl_publisher_fini, void *object, __attribute__((unused)) const void *node)
FINI(rcl_subscription_fini, void *object, __attribute__((unused)) const void *node)
FINI(rcl_service_fini, void *object, __attribute__((unused)) const void *node)
FINI(rcl_client_fini, void *object, __attribute__((unused)) const void *node)
