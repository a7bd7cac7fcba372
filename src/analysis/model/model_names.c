/* SPDX-License-Identifier: Apache-2.0 */
/* Readable names of callbacks. */
#include "analysis/model/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/symbol/symbol.h"
#include "base/text.h"

const struct model_node *model_callback_node(const struct model_callback *callback)
{
	if (callback->subscription)
		return callback->subscription->node;
	if (callback->timer)
		return callback->timer->node;
	if (callback->service)
		return callback->service->node;
	return NULL;
}

const struct model_callback_group *model_callback_group_of(const struct model_callback *callback)
{
	if (callback->subscription)
		return callback->subscription->group;
	if (callback->timer)
		return callback->timer->group;
	if (callback->service)
		return callback->service->group;
	return NULL;
}

bool model_callback_excludes(const struct model_callback *callback, const struct model_callback *by,
			     bool *assumed)
{
	const struct model_callback_group *group = model_callback_group_of(callback),
					  *its = model_callback_group_of(by);
	const struct model_node *node = model_callback_node(callback);
	bool is_reentrant = group && strcmp(group->type, "reentrant") == 0;

	*assumed = !group || !its;
	if (is_reentrant)
		return false;		/* a reentrant group is never held */
	return *assumed ? node && model_callback_node(by) == node : group == its;
}

const char *model_layer_name(enum model_layer layer)
{
	static const char *const names[] = {
		[MODEL_LAYER_RCLCPP] = "rclcpp", [MODEL_LAYER_RCL] = "rcl", [MODEL_LAYER_RMW] = "rmw",
		[MODEL_LAYER_INTRA] = "intra",	 [MODEL_LAYER_DDS] = "dds",
	};

	return names[layer];
}

const char *model_executor_state_name(enum model_executor_state state)
{
	static const char *const names[] = {
		[MODEL_EXECUTOR_GET_NEXT_READY] = "get_next_ready",
		[MODEL_EXECUTOR_WAIT_FOR_WORK] = "wait_for_work",
		[MODEL_EXECUTOR_EXECUTE] = "execute",
	};

	return names[state];
}

const char *model_link_kind_name(enum model_link_kind kind)
{
	static const char *const names[] = {
		[MODEL_LINK_PERIODIC_ASYNC] = "periodic_async",
		[MODEL_LINK_PARTIAL_SYNC] = "partial_sync",
		[MODEL_LINK_USE_LATEST] = "use_latest_message",
	};

	return names[kind];
}

const char *model_callback_kind_name(const struct model_callback *callback)
{
	static const char *const names[] = {
		[MODEL_CALLBACK_UNKNOWN] = "unknown",
		[MODEL_CALLBACK_SUBSCRIPTION] = "subscription",
		[MODEL_CALLBACK_TIMER] = "timer",
		[MODEL_CALLBACK_SERVICE] = "service",
		[MODEL_CALLBACK_CLIENT] = "client",
	};

	return names[callback->kind];
}

const char *model_callback_source(const struct model_callback *callback, char *buffer,
				  unsigned size)
{
	char period[TEXT_QUANTITY_MAX];

	if (callback->subscription)
		return callback->subscription->topic->name;
	if (callback->service)
		return callback->service->name;
	if (!callback->timer)
		return "";
	snprintf(buffer, size, "%s", text_period(period, callback->timer->period_ns));
	return buffer;
}

const char *model_callback_what(const struct model_callback *callback, char *buffer, unsigned size)
{
	const char *source = model_callback_source(callback, buffer, size);

	if (*source)
		return source;
	if (*callback->symbol)
		return symbol_short(callback->symbol, buffer, size);
	snprintf(buffer, size, "0x%" PRIx64, callback->address);
	return buffer;
}

char *model_callback_label(const struct model_callback *callback, char *buffer, unsigned size)
{
	const struct model_node *node = model_callback_node(callback);
	char what[96];

	snprintf(buffer, size, "%s%s%s%s", node ? node->full_name : "", node ? " " : "",
		 callback->timer ? "timer " : "",
		 model_callback_what(callback, what, sizeof(what)));
	return buffer;
}
