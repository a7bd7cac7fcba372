/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content of messages, which kymo records: the type of each publisher and subscription, and the
 * size and the header's time of each message.
 *     publish_content -> rmw_publish, on one thread; the address of the publisher connects them,
 *                                     or, up to Iron, that of the message
 *     rmw_take -> take_content, on one thread
 */
#include "analysis/model/model_internal_messages.h"

/* Of an address of the middleware; the init event of the object comes next. */
struct type {
	const char *name;
	uint64_t size;
};

static void on_message_type(struct model *model, const struct now *now)
{
	ARGS(message_type, now->event);
	struct type *type = model_handle(model, now->process, HANDLE_TYPE, args->rmw_handle.u);

	if (!args->rmw_handle.present)
		return;
	if (!type)
		type = model_fact_new(model, sizeof(*type));
	if (!type)
		return;
	type->name = model_word(model, &args->message_type);
	type->size = args->size.u;
	model_handle_set(model, now->process, HANDLE_TYPE, args->rmw_handle.u, type);
}

void model_content_type(struct model *model, const struct process *process, uint64_t rmw_handle,
			struct topic *topic, const char **name, uint64_t *size)
{
	const struct type *type = model_handle(model, process, HANDLE_TYPE, rmw_handle);

	*name = type ? type->name : "";
	*size = type ? type->size : 0;
	if (!*topic->pub.type)
		topic->pub.type = *name;
}

static void on_publish_content(struct model *model, const struct now *now)
{
	ARGS(publish_content, now->event);
	struct thread *thread = now->thread;

	(void)model;
	thread->content.handle = args->rmw_publisher_handle.u;
	thread->content.message = args->message.u;
	thread->content.size = args->size.u;
	thread->content.stamp_ns = args->header_stamp.i;
}

void model_content_sent(struct thread *thread, struct sent *sent, uint64_t message)
{
	if (thread->content.message && thread->content.message == message &&
	    thread->content.handle == sent->publisher->pub.rmw_handle) {
		sent->size = thread->content.size;
		if (thread->content.stamp_ns)
			sent->stamp_ns = thread->content.stamp_ns;
	}
	thread->content.message = 0;
}

static void on_take_content(struct model *model, const struct now *now)
{
	ARGS(take_content, now->event);
	struct model_message *taken = &now->thread->taken;

	(void)model;
	if (!now->thread->has_taken || taken->is_intra || !taken->subscription ||
	    taken->subscription->rmw_handle != args->rmw_subscription_handle.u)
		return;
	taken->size = args->size.u;
	if (args->header_stamp.i)
		taken->stamp_ns = args->header_stamp.i;
}

#define DAY_NS 86400000000000ll

bool model_message_age(const struct model_message *message, int64_t *age_ns)
{
	const int64_t at_ns = message->callback_ns ? message->callback_ns : message->take_ns;

	if (message->stamp_ns <= 0 || !at_ns)
		return false;
	*age_ns = at_ns - message->stamp_ns;
	return *age_ns > -DAY_NS && *age_ns < DAY_NS;
}

#define ON(id) [KYMO_POINT_##id] = on_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	ON(message_type),
	ON(publish_content),
	ON(take_content),
};

const struct model_part model_content = { .handlers = handlers };
