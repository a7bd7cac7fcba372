/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Init events of callbacks: their owners and their names. model_objects.c explains repeated init
 * events.
 */
#include "analysis/model/model_internal.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/symbol/symbol.h"

static struct callback *callback_new(struct model *model, const struct now *now, uint64_t address)
{
	struct callback *callback = model_object_new(model, MODEL_CALLBACK, sizeof(*callback));

	if (!callback) {
		model_handle_drop(model, now->process, HANDLE_CALLBACK, address);
		return NULL;
	}
	callback->pub.process = &now->process->pub;
	callback->pub.address = address;
	callback->pub.raw_symbol = "";
	callback->pub.symbol = "";
	callback->pub.born_ns = now->true_ns;
	model_handle_set(model, now->process, HANDLE_CALLBACK, address, callback);
	return callback;
}

struct callback *model_callback_unknown(struct model *model, const struct now *now,
					uint64_t address)
{
	const struct service *client = model_handle(model, now->process, HANDLE_CLIENT, address);
	struct callback *callback = callback_new(model, now, address);

	/* kymo gives the callback of a client the address of the rcl_client_t. */
	if (callback && client) {
		callback->pub.kind = MODEL_CALLBACK_CLIENT;
		callback->pub.owner = address;
		callback->pub.service = &client->pub;
	}
	return callback;
}

/* The owner of the others was reported. A client may have had this address before. */
static bool is_without_owner(const struct callback *callback)
{
	return callback->pub.kind == MODEL_CALLBACK_UNKNOWN ||
	       callback->pub.kind == MODEL_CALLBACK_CLIENT;
}

/* The callback of a callback_added event; NULL when the event repeats known facts. */
static struct callback *callback_added(struct model *model, const struct now *now, uint64_t address)
{
	struct callback *callback = model_handle(model, now->process, HANDLE_CALLBACK, address);

	if (callback && callback->pub.born_ns == now->true_ns)
		return NULL;
	/*
	 * CARET records old facts kind by kind, so the symbol may come first; compare true times.
	 */
	if (callback && is_without_owner(callback) && callback->registered &&
	    callback->pub.registered_ns >= now->true_ns) {
		callback->pub.born_ns = now->true_ns;
		callback->pub.service = NULL;
	} else {
		callback = callback_new(model, now, address);
	}
	if (callback)
		callback->pub.added_ns = now->true_ns;
	return callback;
}

struct subscription_object *model_object_of_callback(struct model *model, const struct now *now,
						     uint64_t address)
{
	struct subscription_object *object = model_object_new(model, MODEL_SUBSCRIPTION_OBJECT,
							      sizeof(*object));

	if (!object) {
		model_handle_drop(model, now->process, HANDLE_SUBSCRIPTION_OBJECT, address);
		return NULL;
	}
	object->pub.process = &now->process->pub;
	object->pub.address = address;
	model_handle_set(model, now->process, HANDLE_SUBSCRIPTION_OBJECT, address, object);
	return object;
}

void model_object_link(struct subscription_object *object)
{
	struct model_callback *callback = object->callback ? &object->callback->pub : NULL;

	object->pub.callback = callback;
	object->pub.subscription = object->subscription ? &object->subscription->pub : NULL;
	object->pub.born_ns = object->linked_ns;
	if (!callback)
		return;
	callback->kind = MODEL_CALLBACK_SUBSCRIPTION;
	callback->is_intra = object->pub.is_intra;
	callback->subscription = object->subscription ? &object->subscription->pub : NULL;
	if (object->pub.is_intra && object->subscription)
		object->subscription->has_intra = true;
}

/*
 * For a plain object, the link comes first and the callback second. For an intra-process object,
 * the constructor adds the callback before the link.
 */
static void on_rclcpp_subscription_init(struct model *model, const struct now *now)
{
	ARGS(rclcpp_subscription_init, now->event);
	struct subscription_object *object = model_handle(model, now->process,
							  HANDLE_SUBSCRIPTION_OBJECT,
							  args->subscription.u);
	struct subscription *subscription = model_handle(model, now->process, HANDLE_SUBSCRIPTION,
							 args->subscription_handle.u);

	if (!args->subscription.present || (object && object->linked_ns == now->true_ns))
		return;
	if (!object || object->linked_ns)
		object = model_object_of_callback(model, now, args->subscription.u);
	if (!object)
		return;
	object->linked_ns = now->true_ns;
	object->subscription = subscription;
	model_object_link(object);
}

static void on_rclcpp_subscription_callback_added(struct model *model, const struct now *now)
{
	ARGS(rclcpp_subscription_callback_added, now->event);
	struct subscription_object *object = model_handle(model, now->process,
							  HANDLE_SUBSCRIPTION_OBJECT,
							  args->subscription.u);
	struct callback *callback;

	if (!args->subscription.present || !args->callback.present)
		return;
	callback = callback_added(model, now, args->callback.u);
	if (!callback)
		return;
	if (!object || object->callback)
		object = model_object_of_callback(model, now, args->subscription.u);
	if (!object)
		return;
	object->callback = callback;
	callback->pub.owner = args->subscription.u;
	model_object_link(object);
}

static void on_rclcpp_callback_register(struct model *model, const struct now *now)
{
	ARGS(rclcpp_callback_register, now->event);
	struct callback *callback = model_handle(model, now->process, HANDLE_CALLBACK,
						 args->callback.u);
	char *pretty;

	if (!args->callback.present ||
	    (callback && callback->registered && callback->pub.registered_ns == now->true_ns))
		return;
	if (!callback || callback->registered)
		callback = model_callback_unknown(model, now, args->callback.u);
	if (!callback)
		return;
	callback->registered = true;
	callback->pub.registered_ns = now->true_ns;
	if (!args->symbol.present)
		return;
	callback->pub.raw_symbol = model_text(model, &args->symbol);
	callback->pub.code = model_code_of(now->process, callback->pub.raw_symbol);
	pretty = symbol_pretty(callback->pub.raw_symbol, strlen(callback->pub.raw_symbol));
	if (!pretty) {
		model->out_of_memory = true;
		return;
	}
	callback->pub.symbol = pool_text(&model->pool, pretty, strlen(pretty));
	if (!callback->pub.symbol)
		callback->pub.symbol = "";
	if (!*callback->pub.symbol)
		callback->pub.raw_symbol = "";
	free(pretty);
}

static void on_rclcpp_timer_callback_added(struct model *model, const struct now *now)
{
	ARGS(rclcpp_timer_callback_added, now->event);
	struct timer *timer = model_handle(model, now->process, HANDLE_TIMER, args->timer_handle.u);
	struct callback *callback;

	if (!args->callback.present)
		return;
	callback = callback_added(model, now, args->callback.u);
	if (!callback)
		return;
	callback->pub.kind = MODEL_CALLBACK_TIMER;
	callback->pub.owner = args->timer_handle.u;
	callback->pub.timer = timer ? &timer->pub : NULL;
	if (timer)
		timer->callback = callback;
}

static void on_rclcpp_service_callback_added(struct model *model, const struct now *now)
{
	ARGS(rclcpp_service_callback_added, now->event);
	struct service *service = model_handle(model, now->process, HANDLE_SERVICE,
					       args->service_handle.u);
	struct callback *callback;

	if (!args->callback.present)
		return;
	callback = callback_added(model, now, args->callback.u);
	if (!callback)
		return;
	if (!service)
		service = model_service_waiting(now->process);
	callback->pub.kind = MODEL_CALLBACK_SERVICE;
	callback->pub.owner = args->service_handle.u;
	callback->pub.service = service ? &service->pub : NULL;
	if (service)
		service->has_callback = true;
}

#define ON(id) [KYMO_POINT_##id] = on_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	ON(rclcpp_subscription_init),
	ON(rclcpp_subscription_callback_added),
	ON(rclcpp_callback_register),
	ON(rclcpp_timer_callback_added),
	ON(rclcpp_service_callback_added),
};

const struct model_part model_callbacks = { .handlers = handlers };
