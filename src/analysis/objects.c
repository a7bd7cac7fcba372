/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Init events become objects.
 *
 * An init event makes a new object, and the address means that one from then on. Only an event
 * that happened at the very time at which the present object was made is a repetition (recorders
 * may take init events over more than once) and changes nothing.
 */
#include "analysis/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/symbol.h"

static void on_rcl_init(struct model *model, const struct now *now)
{
	ARGS(rcl_init, now->event);
	const char *version = model_text(model, &args->version);

	if (*version)
		now->process->pub.tracetools = version;
}

/* "/ns" and "name" are "/ns/name"; the root namespace is "/". */
static const char *full_name(struct model *model, const char *namespace, const char *name)
{
	size_t length = strlen(namespace);
	bool slash = !length || namespace[length - 1] != '/';
	size_t size = length + strlen(name) + 3;
	char *text = model_alloc(model, size);

	if (text)
		snprintf(text, size, "%s%s%s%s", *namespace == '/' ? "" : "/", namespace,
			slash && length ? "/" : "", name);
	return text ? text : name;
}

static void on_rcl_node_init(struct model *model, const struct now *now)
{
	ARGS(rcl_node_init, now->event);
	struct node *node = model_handle(model, now->process, HANDLE_NODE, args->node_handle.u);

	if (!args->node_handle.present || (node && node->pub.born_ns == now->true_ns))
		return;
	node = model_object_new(model, MODEL_NODE, sizeof(*node));
	if (!node)
		return;
	node->pub.process = &now->process->pub;
	node->pub.handle = args->node_handle.u;
	node->pub.name = model_text(model, &args->node_name);
	node->pub.namespace = model_text(model, &args->namespace);
	node->pub.full_name = full_name(model, node->pub.namespace, node->pub.name);
	node->pub.tid = now->event->vtid;
	node->pub.born_ns = now->true_ns;
	model_handle_set(model, now->process, HANDLE_NODE, node->pub.handle, node);
}

static void on_rcl_publisher_init(struct model *model, const struct now *now)
{
	ARGS(rcl_publisher_init, now->event);
	struct publisher *publisher = model_handle(model, now->process, HANDLE_PUBLISHER,
						   args->publisher_handle.u);
	struct topic *topic;

	if (!args->publisher_handle.present ||
	    (publisher && publisher->pub.born_ns == now->true_ns))
		return;
	topic = model_topic_named(model, &args->topic_name);
	publisher = model_object_new(model, MODEL_PUBLISHER, sizeof(*publisher));
	if (!publisher || !topic)
		return;
	publisher->pub.process = &now->process->pub;
	publisher->pub.handle = args->publisher_handle.u;
	publisher->pub.rmw_handle = args->rmw_publisher_handle.u;
	publisher->pub.node = model_handle(model, now->process, HANDLE_NODE, args->node_handle.u);
	publisher->pub.topic = &topic->pub;
	publisher->pub.depth = args->queue_depth.u;
	publisher->pub.born_ns = now->true_ns;
	publisher->topic = topic;
	topic->pub.publishers++;
	model_handle_set(model, now->process, HANDLE_PUBLISHER, publisher->pub.handle, publisher);
	model_handle_set(model, now->process, HANDLE_RMW_PUBLISHER, publisher->pub.rmw_handle,
			 publisher);
}

static void on_rcl_subscription_init(struct model *model, const struct now *now)
{
	ARGS(rcl_subscription_init, now->event);
	struct subscription *subscription = model_handle(model, now->process, HANDLE_SUBSCRIPTION,
							 args->subscription_handle.u);
	struct topic *topic;

	if (!args->subscription_handle.present ||
	    (subscription && subscription->pub.born_ns == now->true_ns))
		return;
	topic = model_topic_named(model, &args->topic_name);
	subscription = model_object_new(model, MODEL_SUBSCRIPTION, sizeof(*subscription));
	if (!subscription || !topic)
		return;
	subscription->pub.process = &now->process->pub;
	subscription->pub.handle = args->subscription_handle.u;
	subscription->pub.rmw_handle = args->rmw_subscription_handle.u;
	subscription->pub.node = model_handle(model, now->process, HANDLE_NODE, args->node_handle.u);
	subscription->pub.topic = &topic->pub;
	subscription->pub.depth = args->queue_depth.u;
	subscription->pub.born_ns = now->true_ns;
	subscription->topic = topic;
	subscription->next = topic->subscriptions;
	topic->subscriptions = subscription;
	topic->pub.subscriptions++;
	if (args->queue_depth.u > topic->depth_max)
		topic->depth_max = args->queue_depth.u;
	model_handle_set(model, now->process, HANDLE_SUBSCRIPTION, subscription->pub.handle,
			 subscription);
	model_handle_set(model, now->process, HANDLE_RMW_SUBSCRIPTION,
			 subscription->pub.rmw_handle, subscription);
}

/* ---- callbacks ---- */

static struct callback *callback_new(struct model *model, const struct now *now, uint64_t address)
{
	struct callback *callback = model_object_new(model, MODEL_CALLBACK, sizeof(*callback));

	if (!callback)
		return NULL;
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
	return callback_new(model, now, address);
}

/* The callback that a callback_added is about; NULL when the event repeats what is known. */
static struct callback *callback_added(struct model *model, const struct now *now, uint64_t address)
{
	struct callback *callback = model_handle(model, now->process, HANDLE_CALLBACK, address);

	if (callback && callback->pub.born_ns == now->true_ns)
		return NULL;
	/* CARET tells old facts kind by kind, so the symbol may come first; true times tell. */
	if (callback && callback->pub.kind == MODEL_CALLBACK_UNKNOWN && callback->registered &&
	    callback->registered_ns >= now->true_ns) {
		callback->pub.born_ns = now->true_ns;
		return callback;
	}
	return callback_new(model, now, address);
}

struct subscription_object *model_object_of_callback(struct model *model, const struct now *now,
						     uint64_t address)
{
	struct subscription_object *object = model_alloc(model, sizeof(*object));

	if (object) {
		object->address = address;
		model_handle_set(model, now->process, HANDLE_SUBSCRIPTION_OBJECT, address, object);
	}
	return object;
}

void model_object_link(struct subscription_object *object)
{
	struct model_callback *callback = object->callback ? &object->callback->pub : NULL;

	if (!callback)
		return;
	callback->kind = MODEL_CALLBACK_SUBSCRIPTION;
	callback->is_intra = object->is_intra;
	callback->subscription = object->subscription ? &object->subscription->pub : NULL;
	if (object->is_intra && object->subscription)
		object->subscription->has_intra = true;
}

/*
 * The plain object is linked first and gets its callback then. The intra-process object gets its
 * callback in its constructor, before it is linked.
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
	model_object_link(object);
	callback->pub.kind = MODEL_CALLBACK_SUBSCRIPTION;
}

static void on_rclcpp_callback_register(struct model *model, const struct now *now)
{
	ARGS(rclcpp_callback_register, now->event);
	struct callback *callback = model_handle(model, now->process, HANDLE_CALLBACK,
						 args->callback.u);
	char *pretty;

	if (!args->callback.present ||
	    (callback && callback->registered && callback->registered_ns == now->true_ns))
		return;
	if (!callback || callback->registered)
		callback = callback_new(model, now, args->callback.u);
	if (!callback)
		return;
	callback->registered = true;
	callback->registered_ns = now->true_ns;
	if (!args->symbol.present)
		return;
	callback->pub.raw_symbol = model_text(model, &args->symbol);
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

/* ---- timers ---- */

static void on_rcl_timer_init(struct model *model, const struct now *now)
{
	ARGS(rcl_timer_init, now->event);
	struct timer *timer = model_handle(model, now->process, HANDLE_TIMER, args->timer_handle.u);

	if (!args->timer_handle.present || (timer && timer->pub.born_ns == now->true_ns))
		return;
	timer = model_object_new(model, MODEL_TIMER, sizeof(*timer));
	if (!timer)
		return;
	timer->pub.process = &now->process->pub;
	timer->pub.handle = args->timer_handle.u;
	timer->pub.period_ns = args->period.i;
	timer->pub.tid = now->event->vtid;
	timer->pub.born_ns = now->true_ns;
	model_handle_set(model, now->process, HANDLE_TIMER, timer->pub.handle, timer);
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
	callback->pub.timer = timer ? &timer->pub : NULL;
	if (timer)
		timer->callback = callback;
}

static void on_rclcpp_timer_link_node(struct model *model, const struct now *now)
{
	ARGS(rclcpp_timer_link_node, now->event);
	struct timer *timer = model_handle(model, now->process, HANDLE_TIMER, args->timer_handle.u);

	if (timer)
		timer->pub.node = model_handle(model, now->process, HANDLE_NODE,
					       args->node_handle.u);
}

/* ---- services, clients, lifecycle ---- */

static struct service *service_new(struct model *model, const struct now *now,
				   enum model_kind kind, enum handle handle_kind,
				   const struct args_rcl_service_init *args)
{
	struct service *service = model_handle(model, now->process, handle_kind,
					       args->service_handle.u);

	if (!args->service_handle.present || (service && service->pub.born_ns == now->true_ns))
		return NULL;
	service = model_object_new(model, kind, sizeof(*service));
	if (!service)
		return NULL;
	service->pub.process = &now->process->pub;
	service->pub.handle = args->service_handle.u;
	service->pub.rmw_handle = args->rmw_service_handle.u;
	service->pub.node = model_handle(model, now->process, HANDLE_NODE, args->node_handle.u);
	service->pub.name = model_text(model, &args->service_name);
	service->pub.born_ns = now->true_ns;
	model_handle_set(model, now->process, handle_kind, service->pub.handle, service);
	return service;
}

static void on_rcl_service_init(struct model *model, const struct now *now)
{
	ARGS(rcl_service_init, now->event);

	service_new(model, now, MODEL_SERVICE, HANDLE_SERVICE, args);
}

static void on_rcl_client_init(struct model *model, const struct now *now)
{
	/* The fields of a client stand in the same order under other names. */
	ARGS(rcl_service_init, now->event);

	_Static_assert(sizeof(struct args_rcl_client_init) == sizeof(struct args_rcl_service_init),
		       "clients and services have the same shape");
	service_new(model, now, MODEL_CLIENT, HANDLE_CLIENT, args);
}

/*
 * rclcpp_lifecycle hands copies of rcl's services to rclcpp, so callback_added names handles that
 * no rcl_service_init told. Both sides go through the services in the same order.
 */
static struct service *service_waiting(struct process *process)
{
	struct service *first = process->waiting_count ? process->waiting[0] : NULL;

	if (first)
		memmove(process->waiting, process->waiting + 1,
			--process->waiting_count * sizeof(*process->waiting));
	return first;
}

static void services_await(const struct model *model, struct process *process,
			   const struct node *node)
{
	const struct list *list = &model->list[MODEL_SERVICE];
	unsigned i;

	process->waiting_count = 0;
	for (i = list->count; i && process->waiting_count < LIFECYCLE_SERVICES; i--) {
		struct service *service = list->item[i - 1];

		if (service->pub.node != &node->pub || service->has_callback)
			break;
		process->waiting_count++;
	}
	if (process->waiting_count)
		memcpy(process->waiting, list->item + i,
		       process->waiting_count * sizeof(*process->waiting));
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
		service = service_waiting(now->process);
	callback->pub.kind = MODEL_CALLBACK_SERVICE;
	callback->pub.service = service ? &service->pub : NULL;
	if (service)
		service->has_callback = true;
}

static void on_rcl_lifecycle_state_machine_init(struct model *model, const struct now *now)
{
	ARGS(rcl_lifecycle_state_machine_init, now->event);
	struct node *node = model_handle(model, now->process, HANDLE_NODE, args->node_handle.u);

	if (!node || !args->state_machine.present)
		return;
	model_handle_set(model, now->process, HANDLE_STATE_MACHINE, args->state_machine.u, node);
	services_await(model, now->process, node);
}

#define ON(id) [KYMO_POINT_##id] = on_##id
const handler model_object_handlers[KYMO_POINTS_TABLE] = {
	ON(rcl_init),
	ON(rcl_node_init),
	ON(rcl_publisher_init),
	ON(rcl_subscription_init),
	ON(rclcpp_subscription_init),
	ON(rclcpp_subscription_callback_added),
	ON(rclcpp_callback_register),
	ON(rcl_timer_init),
	ON(rclcpp_timer_callback_added),
	ON(rclcpp_timer_link_node),
	ON(rcl_service_init),
	ON(rcl_client_init),
	ON(rclcpp_service_callback_added),
	ON(rcl_lifecycle_state_machine_init),
};
