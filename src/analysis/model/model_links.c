/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indirect causes: message_link_* annotations, and rules of the user. When a linked publisher
 * publishes, the causes are the latest runs of the callbacks of all linked subscriptions.
 */
#include "analysis/model/model_internal_messages.h"

#include <errno.h>
#include <string.h>

/* Handles in one annotation; more is damage. */
#define ENDS_MAX 1024u

static struct message_link *link_new(struct model *model, const struct process *process,
			     enum model_link_kind kind, unsigned subscriptions, unsigned publishers)
{
	struct message_link *link = model_object_new(model, MODEL_LINK, sizeof(*link));
	void *publisher;

	if (!link)
		return NULL;
	link->pub.process = &process->pub;
	link->pub.kind = kind;
	link->subscription = model_alloc(model, (subscriptions + 1) * sizeof(*link->subscription));
	publisher = model_alloc(model, (publishers + 1) * sizeof(void *));
	link->used =
		model_alloc(model, ((size_t)subscriptions * publishers + 1) * sizeof(*link->used));
	if (!link->subscription || !publisher || !link->used) {
		link->subscription = NULL;
		return NULL;
	}
	/* Structs of objects begin with their public part, so the list is valid for both types. */
	link->pub.subscription = (const struct model_subscription *const *)link->subscription;
	link->pub.publisher = publisher;
	return link;
}

static void add_subscription(struct message_link *link, struct subscription *subscription)
{
	subscription->linked = true;
	link->subscription[link->pub.subscriptions++] = subscription;
}

static void add_publisher(struct model *model, struct message_link *link,
			  struct publisher *publisher)
{
	struct link_end *end = model_alloc(model, sizeof(*end));

	if (!end)
		return;
	*end = (struct link_end){ publisher->links, link, link->pub.publishers };
	publisher->links = end;
	((const struct model_publisher **)link->pub.publisher)[link->pub.publishers++] =
		&publisher->pub;
}

/* ---- annotations ---- */

static uint64_t handle_in(const struct kymo_ctf_value *list, unsigned at)
{
	uint64_t handle;

	memcpy(&handle, list->bytes + (size_t)at * sizeof(handle), sizeof(handle));
	return handle;
}

static bool is_known(const struct model *model, const struct now *now, enum model_link_kind kind)
{
	const struct list *list = &model->list[MODEL_LINK];

	for (unsigned i = 0; i < list->count; i++) {
		const struct message_link *link = list->item[i];

		if (link->pub.process == &now->process->pub && link->pub.kind == kind &&
		    link->pub.born_ns == now->true_ns)
			return true;
	}
	return false;
}

static void annotate(struct model *model, const struct now *now, enum model_link_kind kind,
		     const struct kymo_ctf_value *subs, const struct kymo_ctf_value *pubs)
{
	struct message_link *link;

	if (!subs->present || !pubs->present || subs->size > ENDS_MAX || pubs->size > ENDS_MAX ||
	    is_known(model, now, kind))
		return;
	link = link_new(model, now->process, kind, subs->size, pubs->size);
	if (!link)
		return;
	link->pub.born_ns = now->true_ns;
	for (unsigned i = 0; i < subs->size; i++) {
		struct subscription *subscription = model_handle(model, now->process,
								 HANDLE_SUBSCRIPTION,
								 handle_in(subs, i));

		if (subscription)
			add_subscription(link, subscription);
	}
	for (unsigned i = 0; i < pubs->size; i++) {
		struct publisher *publisher = model_handle(model, now->process, HANDLE_PUBLISHER,
							   handle_in(pubs, i));

		if (publisher)
			add_publisher(model, link, publisher);
	}
}

static void on_message_link_periodic_async(struct model *model, const struct now *now)
{
	ARGS(message_link_periodic_async, now->event);

	annotate(model, now, MODEL_LINK_PERIODIC_ASYNC, &args->subs, &args->pubs);
}

static void on_message_link_partial_sync(struct model *model, const struct now *now)
{
	ARGS(message_link_partial_sync, now->event);

	annotate(model, now, MODEL_LINK_PARTIAL_SYNC, &args->subs, &args->pubs);
}

/* ---- rules ---- */

int model_rule(struct model *model, const struct model_rule *rule)
{
	struct rule *copy = model_alloc(model, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	copy->pub.node = model_keep(model, rule->node, strlen(rule->node));
	copy->pub.subscription_topic = model_keep(model, rule->subscription_topic,
						  strlen(rule->subscription_topic));
	copy->pub.publisher_topic = model_keep(model, rule->publisher_topic,
					       strlen(rule->publisher_topic));
	copy->next = model->rules;
	model->rules = copy;
	return model->out_of_memory ? -ENOMEM : 0;
}

static bool is_end(const struct model_node *node, const struct model_topic *topic,
		   const struct rule *rule, const char *name)
{
	return node && strcmp(node->full_name, rule->pub.node) == 0 &&
	       strcmp(topic->name, name) == 0;
}

static void rule_link(struct model *model, struct publisher *publisher,
		      struct subscription *subscription)
{
	struct message_link *link = link_new(model, (const struct process *)publisher->pub.process,
				     MODEL_LINK_USE_LATEST, 1, 1);

	if (!link)
		return;
	link->pub.born_ns = publisher->pub.born_ns > subscription->pub.born_ns ?
				    publisher->pub.born_ns : subscription->pub.born_ns;
	add_subscription(link, subscription);
	add_publisher(model, link, publisher);
}

void model_rules_publisher(struct model *model, struct publisher *publisher)
{
	const struct list *list = &model->list[MODEL_SUBSCRIPTION];

	for (const struct rule *rule = model->rules; rule; rule = rule->next) {
		if (!is_end(publisher->pub.node, publisher->pub.topic, rule,
			    rule->pub.publisher_topic))
			continue;
		for (unsigned i = 0; i < list->count; i++) {
			struct subscription *subscription = list->item[i];

			if (subscription->pub.node == publisher->pub.node &&
			    is_end(subscription->pub.node, subscription->pub.topic, rule,
				   rule->pub.subscription_topic))
				rule_link(model, publisher, subscription);
		}
	}
}

void model_rules_subscription(struct model *model, struct subscription *subscription)
{
	const struct list *list = &model->list[MODEL_PUBLISHER];

	for (const struct rule *rule = model->rules; rule; rule = rule->next) {
		if (!is_end(subscription->pub.node, subscription->pub.topic, rule,
			    rule->pub.subscription_topic))
			continue;
		for (unsigned i = 0; i < list->count; i++) {
			struct publisher *publisher = list->item[i];

			if (publisher->pub.node == subscription->pub.node &&
			    is_end(publisher->pub.node, publisher->pub.topic, rule,
				   rule->pub.publisher_topic))
				rule_link(model, publisher, subscription);
		}
	}
}

/* ---- runs that are causes ---- */

void model_link_started(const struct frame *frame)
{
	struct subscription *subscription =
		(struct subscription *)frame->callback->pub.subscription;

	if (!subscription || !subscription->linked)
		return;
	subscription->latest.callback = frame->callback;
	subscription->latest.id = frame->run.id;
	subscription->latest.message_id = frame->has_message ? frame->message.id : 0;
	subscription->latest.start_ns = frame->run.start_ns;
	subscription->latest.end_ns = 0;
}

void model_link_ended(const struct frame *frame, int64_t ns)
{
	struct subscription *subscription =
		(struct subscription *)frame->callback->pub.subscription;

	if (subscription && subscription->linked && subscription->latest.id == frame->run.id)
		subscription->latest.end_ns = ns;
}

static void cause_tell(struct model *model, const struct model_message *message,
		       const struct link_end *end, unsigned at)
{
	struct message_link *link = end->link;
	const struct subscription *subscription = link->subscription[at];
	uint64_t *used = &link->used[(size_t)end->at * link->pub.subscriptions + at];
	struct model_cause cause = {
		.link = &link->pub,
		.message = message,
		.subscription = &subscription->pub,
		.instance = subscription->latest.id,
		.start_ns = subscription->latest.start_ns,
		.end_ns = subscription->latest.end_ns,
		.message_id = subscription->latest.message_id,
		.first = *used != subscription->latest.id,
	};

	if (!cause.instance)
		return;
	*used = cause.instance;
	if (link->pub.kind == MODEL_LINK_PARTIAL_SYNC &&
	    (!cause.first || message->from_instance == cause.instance))
		return;
	cause.callback = &subscription->latest.callback->pub;
	EMIT(model, cause, &cause);
}

void model_causes(struct model *model, const struct model_message *message)
{
	const struct publisher *publisher = (const struct publisher *)message->publisher;

	if (!publisher)
		return;
	for (const struct link_end *end = publisher->links; end; end = end->next)
		for (unsigned i = 0; i < end->link->pub.subscriptions; i++)
			cause_tell(model, message, end, i);
}

#define ON(id) [KYMO_POINT_##id] = on_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	ON(message_link_periodic_async),
	ON(message_link_partial_sync),
};

const struct model_part model_links = { .handlers = handlers };
