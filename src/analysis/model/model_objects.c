/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creates objects from init events.
 *
 * An init event creates a new object, and from then on its address refers to that object. If the
 * event has exactly the creation time of the present object, it is a repetition (recorders may copy
 * init events more than once) and changes nothing.
 */
#include "analysis/model/model_internal_messages.h"

#include <stdio.h>
#include <string.h>

static void on_rcl_init(struct model *model, const struct now *now)
{
	ARGS(rcl_init, now->event);
	const char *version = model_word(model, &args->version);
	struct context *context = model_handle(model, now->process, HANDLE_CONTEXT,
					       args->context_handle.u);

	if (*version)
		now->process->pub.tracetools = version;
	if (!args->context_handle.present || (context && context->pub.born_ns == now->true_ns))
		return;
	context = model_object_new(model, MODEL_CONTEXT, sizeof(*context));
	if (!context) {
		model_handle_drop(model, now->process, HANDLE_CONTEXT, args->context_handle.u);
		return;
	}
	context->pub.process = &now->process->pub;
	context->pub.handle = args->context_handle.u;
	context->pub.version = version;
	context->pub.born_ns = now->true_ns;
	model_handle_set(model, now->process, HANDLE_CONTEXT, context->pub.handle, context);
}

/* "/ns" and "name" become "/ns/name"; the root namespace is "/". */
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

/*
 * Sets the node of clients and services that came before it: CARET records old facts kind by kind,
 * clients before nodes.
 */
static void adopt(struct model *model, struct node *node, enum model_kind kind)
{
	const struct list *list = &model->list[kind];

	for (unsigned i = 0; i < list->count; i++) {
		struct service *service = list->item[i];

		if (service->pub.node || service->pub.process != node->pub.process ||
		    service->node_handle != node->pub.handle ||
		    service->pub.born_ns < node->pub.born_ns)
			continue;
		service->pub.node = &node->pub;
		model->orphans--;
	}
}

static void on_rcl_node_init(struct model *model, const struct now *now)
{
	ARGS(rcl_node_init, now->event);
	struct node *node = model_handle(model, now->process, HANDLE_NODE, args->node_handle.u);

	if (!args->node_handle.present || (node && node->pub.born_ns == now->true_ns))
		return;
	node = model_object_new(model, MODEL_NODE, sizeof(*node));
	if (!node) {
		model_handle_drop(model, now->process, HANDLE_NODE, args->node_handle.u);
		return;
	}
	node->pub.process = &now->process->pub;
	node->pub.handle = args->node_handle.u;
	node->pub.rmw_handle = args->rmw_handle.u;
	node->pub.name = model_text(model, &args->node_name);
	node->pub.namespace = model_text(model, &args->namespace);
	node->pub.full_name = full_name(model, node->pub.namespace, node->pub.name);
	node->pub.tid = now->event->vtid;
	node->pub.born_ns = now->true_ns;
	model_handle_set(model, now->process, HANDLE_NODE, node->pub.handle, node);
	if (!model->orphans)
		return;
	adopt(model, node, MODEL_SERVICE);
	adopt(model, node, MODEL_CLIENT);
}

/* ---- publishers and subscriptions ---- */

/* The middleware records the gid of a handle; the init event of the object comes next. */
static struct gid *gid_told(struct model *model, const struct now *now, enum handle kind,
			    const struct kymo_ctf_value *handle, const struct kymo_ctf_value *bytes)
{
	struct gid *gid = model_handle(model, now->process, kind, handle->u);

	if (!handle->present || !bytes->present || !bytes->size ||
	    (gid && gid->ns == now->true_ns))
		return NULL;
	if (!gid)
		gid = model_fact_new(model, sizeof(*gid));
	if (!gid)
		return NULL;
	gid->ns = now->true_ns;
	gid->gid.size = bytes->size < MODEL_GID_MAX ? (uint8_t)bytes->size : MODEL_GID_MAX;
	memcpy(gid->gid.bytes, bytes->bytes, gid->gid.size);
	model_handle_set(model, now->process, kind, handle->u, gid);
	return gid;
}

static struct model_gid gid_of(const struct model *model, const struct process *process,
			       enum handle kind, uint64_t handle)
{
	const struct gid *gid = model_handle(model, process, kind, handle);

	return gid ? gid->gid : (struct model_gid){ 0 };
}

static void on_rmw_publisher_init(struct model *model, const struct now *now)
{
	ARGS(rmw_publisher_init, now->event);

	gid_told(model, now, HANDLE_GID_PUBLISHER, &args->rmw_publisher_handle, &args->gid);
}

static void on_rmw_subscription_init(struct model *model, const struct now *now)
{
	ARGS(rmw_subscription_init, now->event);

	gid_told(model, now, HANDLE_GID_SUBSCRIPTION, &args->rmw_subscription_handle, &args->gid);
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
	publisher = topic ? model_object_new(model, MODEL_PUBLISHER, sizeof(*publisher)) : NULL;
	if (!publisher) {
		model_handle_drop(model, now->process, HANDLE_PUBLISHER, args->publisher_handle.u);
		model_handle_drop(model, now->process, HANDLE_RMW_PUBLISHER,
				  args->rmw_publisher_handle.u);
		return;
	}
	publisher->pub.process = &now->process->pub;
	publisher->pub.handle = args->publisher_handle.u;
	publisher->pub.rmw_handle = args->rmw_publisher_handle.u;
	publisher->pub.node = model_handle(model, now->process, HANDLE_NODE, args->node_handle.u);
	publisher->pub.topic = &topic->pub;
	publisher->pub.depth = args->queue_depth.u;
	publisher->pub.gid = gid_of(model, now->process, HANDLE_GID_PUBLISHER,
				    publisher->pub.rmw_handle);
	model_content_type(model, now->process, publisher->pub.rmw_handle, topic,
			   &publisher->pub.type, &publisher->pub.type_size);
	model_lost_qos(model, now->process, publisher->pub.rmw_handle, &publisher->pub.qos);
	publisher->pub.born_ns = now->true_ns;
	publisher->topic = topic;
	topic->pub.publishers++;
	model_handle_set(model, now->process, HANDLE_PUBLISHER, publisher->pub.handle, publisher);
	model_handle_set(model, now->process, HANDLE_RMW_PUBLISHER, publisher->pub.rmw_handle,
			 publisher);
	if (model->rules)
		model_rules_publisher(model, publisher);
}

static void on_rcl_subscription_init(struct model *model, const struct now *now)
{
	ARGS(rcl_subscription_init, now->event);
	struct subscription *subscription = model_handle(model, now->process, HANDLE_SUBSCRIPTION,
							 args->subscription_handle.u);
	struct topic *topic;
	struct node *node;

	if (!args->subscription_handle.present ||
	    (subscription && subscription->pub.born_ns == now->true_ns))
		return;
	if (subscription)
		subscription->gone_ns = now->true_ns;
	topic = model_topic_named(model, &args->topic_name);
	subscription = topic ? model_object_new(model, MODEL_SUBSCRIPTION, sizeof(*subscription))
			     : NULL;
	if (!subscription) {
		model_handle_drop(model, now->process, HANDLE_SUBSCRIPTION,
				  args->subscription_handle.u);
		model_handle_drop(model, now->process, HANDLE_RMW_SUBSCRIPTION,
				  args->rmw_subscription_handle.u);
		return;
	}
	node = model_handle(model, now->process, HANDLE_NODE, args->node_handle.u);
	if (node)
		node->pub.has_clock |= strcmp(topic->pub.name, "/clock") == 0;
	subscription->pub.process = &now->process->pub;
	subscription->pub.handle = args->subscription_handle.u;
	subscription->pub.rmw_handle = args->rmw_subscription_handle.u;
	subscription->pub.node = node ? &node->pub : NULL;
	subscription->pub.topic = &topic->pub;
	subscription->pub.depth = args->queue_depth.u;
	subscription->pub.gid = gid_of(model, now->process, HANDLE_GID_SUBSCRIPTION,
				       subscription->pub.rmw_handle);
	subscription->pub.group = model_member_of(model, now->process, HANDLE_MEMBER_SUBSCRIPTION,
						  subscription->pub.handle, now->true_ns);
	model_content_type(model, now->process, subscription->pub.rmw_handle, topic,
			   &subscription->pub.type, &subscription->pub.type_size);
	model_lost_qos(model, now->process, subscription->pub.rmw_handle, &subscription->pub.qos);
	subscription->pub.born_ns = now->true_ns;
	subscription->pub.is_born_here = model_is_born_here(model, now->true_ns);
	subscription->topic = topic;
	subscription->next = topic->subscriptions;
	subscription->ordinal = topic->pub.subscriptions++;
	topic->subscriptions = subscription;
	if (args->queue_depth.u > topic->depth_max)
		topic->depth_max = args->queue_depth.u;
	model_handle_set(model, now->process, HANDLE_SUBSCRIPTION, subscription->pub.handle,
			 subscription);
	if (model_handle(model, now->process, HANDLE_TIMER, subscription->pub.handle))
		model->timers_and_subscriptions = true;
	model_handle_set(model, now->process, HANDLE_RMW_SUBSCRIPTION,
			 subscription->pub.rmw_handle, subscription);
	if (model->rules)
		model_rules_subscription(model, subscription);
}

/* ---- timers ---- */

static void on_rcl_timer_init(struct model *model, const struct now *now)
{
	ARGS(rcl_timer_init, now->event);
	struct timer *timer = model_handle(model, now->process, HANDLE_TIMER, args->timer_handle.u);

	if (!args->timer_handle.present || (timer && timer->pub.born_ns == now->true_ns))
		return;
	timer = model_object_new(model, MODEL_TIMER, sizeof(*timer));
	if (!timer) {
		model_handle_drop(model, now->process, HANDLE_TIMER, args->timer_handle.u);
		return;
	}
	timer->pub.process = &now->process->pub;
	timer->pub.handle = args->timer_handle.u;
	timer->pub.period_ns = args->period.i;
	timer->pub.tid = now->event->vtid;
	timer->pub.group = model_member_of(model, now->process, HANDLE_MEMBER_TIMER,
					   timer->pub.handle, now->true_ns);
	timer->pub.born_ns = now->true_ns;
	timer->pub.is_born_here = model_is_born_here(model, now->true_ns);
	model_handle_set(model, now->process, HANDLE_TIMER, timer->pub.handle, timer);
	if (model_handle(model, now->process, HANDLE_SUBSCRIPTION, timer->pub.handle))
		model->timers_and_subscriptions = true;
}

static void on_rclcpp_timer_link_node(struct model *model, const struct now *now)
{
	ARGS(rclcpp_timer_link_node, now->event);
	struct timer *timer = model_handle(model, now->process, HANDLE_TIMER, args->timer_handle.u);

	if (!timer || (timer->pub.linked_ns == now->true_ns && timer->pub.node))
		return;
	timer->pub.node = model_handle(model, now->process, HANDLE_NODE, args->node_handle.u);
	timer->pub.linked_ns = now->true_ns;
	model_member_node(model, now, HANDLE_MEMBER_TIMER, timer->pub.handle, timer->pub.node,
			  &timer->pub.group);
}

/* ---- services, clients ---- */

/* The differences between services and clients. */
struct side {
	enum model_kind kind;
	enum handle handle, rmw_handle, member;
};

static struct service *service_new(struct model *model, const struct now *now,
				   const struct side *side,
				   const struct args_rcl_service_init *args)
{
	struct service *service = model_handle(model, now->process, side->handle,
					       args->service_handle.u);

	if (!args->service_handle.present || (service && service->pub.born_ns == now->true_ns))
		return NULL;
	service = model_object_new(model, side->kind, sizeof(*service));
	if (!service) {
		model_handle_drop(model, now->process, side->handle, args->service_handle.u);
		model_handle_drop(model, now->process, side->rmw_handle,
				  args->rmw_service_handle.u);
		return NULL;
	}
	service->pub.process = &now->process->pub;
	service->pub.handle = args->service_handle.u;
	service->pub.rmw_handle = args->rmw_service_handle.u;
	service->pub.node = model_handle(model, now->process, HANDLE_NODE, args->node_handle.u);
	service->node_handle = args->node_handle.u;
	model->orphans += !service->pub.node;
	service->pub.name = model_text(model, &args->service_name);
	service->pub.group = model_member_of(model, now->process, side->member,
					     service->pub.handle, now->true_ns);
	service->pub.born_ns = now->true_ns;
	model_handle_set(model, now->process, side->handle, service->pub.handle, service);
	model_handle_set(model, now->process, side->rmw_handle, service->pub.rmw_handle, service);
	return service;
}

static void on_rcl_service_init(struct model *model, const struct now *now)
{
	static const struct side side = { MODEL_SERVICE, HANDLE_SERVICE, HANDLE_RMW_SERVICE,
					  HANDLE_MEMBER_SERVICE };
	ARGS(rcl_service_init, now->event);

	service_new(model, now, &side, args);
}

static void on_rcl_client_init(struct model *model, const struct now *now)
{
	static const struct side side = { MODEL_CLIENT, HANDLE_CLIENT, HANDLE_RMW_CLIENT,
					  HANDLE_MEMBER_CLIENT };
	/* A client has the same fields in the same order, under other names. */
	ARGS(rcl_service_init, now->event);
	struct service *client;
	const struct gid *gid;

	_Static_assert(sizeof(struct args_rcl_client_init) == sizeof(struct args_rcl_service_init),
		       "clients and services have the same shape");
	client = service_new(model, now, &side, args);
	/* Another object's callback had this address: a run at it is now this client's. */
	if (client)
		model_handle_drop(model, now->process, HANDLE_CALLBACK, client->pub.handle);
	gid = model_handle(model, now->process, HANDLE_GID_CLIENT, args->rmw_service_handle.u);
	if (client && gid)
		model_client_gid(model, gid, client);
}

static void on_rmw_client_init(struct model *model, const struct now *now)
{
	ARGS(rmw_client_init, now->event);
	const struct gid *gid = gid_told(model, now, HANDLE_GID_CLIENT, &args->rmw_client_handle,
					 &args->gid);
	struct service *client = model_handle(model, now->process, HANDLE_RMW_CLIENT,
					      args->rmw_client_handle.u);

	/* After `kymo attach`, a client's gid is known later than the client. */
	if (gid && client && !client->pub.gid.size)
		model_client_gid(model, gid, client);
}

#define ON(id) [KYMO_POINT_##id] = on_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	ON(rcl_init),
	ON(rcl_node_init),
	ON(rmw_publisher_init),
	ON(rcl_publisher_init),
	ON(rmw_subscription_init),
	ON(rcl_subscription_init),
	ON(rcl_timer_init),
	ON(rclcpp_timer_link_node),
	ON(rcl_service_init),
	ON(rcl_client_init),
	ON(rmw_client_init),
};

const struct model_part model_objects = { .handlers = handlers };
