/* SPDX-License-Identifier: Apache-2.0 */
/* Which callbacks serve ROS 2 itself: those of parameters, and of topics of the infrastructure. */
#include <string.h>

#include "summary/summary_collect_internal.h"

static bool ends_with(const char *text, const char *tail)
{
	const size_t length = strlen(text), cut = strlen(tail);

	return length >= cut && strcmp(text + length - cut, tail) == 0;
}

/* The services of parameters, which every node has. */
static bool is_parameter_service(const char *name)
{
	static const char *const tails[] = { "/describe_parameters", "/get_parameter_types",
					     "/get_parameters",      "/list_parameters",
					     "/set_parameters",      "/set_parameters_atomically",
					     "/get_type_description" };

	for (unsigned i = 0; i < sizeof(tails) / sizeof(*tails); i++)
		if (ends_with(name, tails[i]))
			return true;
	return false;
}

bool collect_is_startup(const struct model_callback *callback)
{
	if (callback->subscription)
		return chains_is_infrastructure(callback->subscription->topic);
	return callback->service && is_parameter_service(callback->service->name);
}
