/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages within a process: each subscription has a ring buffer.
 *     rclcpp_intra_publish -> enqueue(buffer, index)     on the publisher's thread
 *     dequeue(buffer, index) -> callback_start(intra)    on the subscriber's thread
 *
 * The idea: the model keeps a copy of the buffers' contents. An enqueue belongs to the latest
 * rclcpp_intra_publish of its thread, and stores the message under (buffer, index). The dequeue of
 * the same index finds the message, and the next callback of that thread receives it.
 */
#include "analysis/model/model_internal_messages.h"

static void place_unlink(struct model *model, struct buffer *buffer, struct place *place)
{
	map_del(&model->places, place->index, buffer->number);
	if (place->previous)
		place->previous->next = place->next;
	else
		buffer->places = place->next;
	if (place->next)
		place->next->previous = place->previous;
	buffer->place_count--;
	place->next = model->free_places;
	model->free_places = place;
}

static struct place *place_new(struct model *model, struct buffer *buffer, uint64_t index)
{
	struct place *place = model->free_places;

	if (buffer->place_count >= PLACES_MAX)
		return NULL;
	if (place)
		model->free_places = place->next;
	else
		place = model_alloc(model, sizeof(*place));
	if (!place)
		return NULL;
	place->index = index;
	place->previous = NULL;
	place->next = buffer->places;
	if (place->next)
		place->next->previous = place;
	buffer->places = place;
	buffer->place_count++;
	if (map_put(&model->places, index, buffer->number, place))
		model->out_of_memory = true;
	return place;
}

static void buffer_clear(struct model *model, struct buffer *buffer, bool tell)
{
	struct place *place;

	while ((place = buffer->places)) {
		if (tell)
			EMIT(model, dropped, &place->message, MODEL_DROP_CLEARED);
		place_unlink(model, buffer, place);
	}
}

/* ---- ring buffers and their subscriptions ---- */

static struct buffer *buffer_at(struct model *model, struct process *process, uint64_t address)
{
	struct buffer *buffer = model_handle(model, process, HANDLE_BUFFER, address);

	if (!buffer) {
		buffer = model_fact_new(model, sizeof(*buffer));
		if (buffer) {
			buffer->number = ++model->buffers;
			model_handle_set(model, process, HANDLE_BUFFER, address, buffer);
			process->has_buffers = true;
		}
	}
	return buffer;
}

static void on_rclcpp_construct_ring_buffer(struct model *model, const struct now *now)
{
	ARGS(rclcpp_construct_ring_buffer, now->event);
	struct buffer *buffer;

	if (!args->buffer.present)
		return;
	buffer = buffer_at(model, now->process, args->buffer.u);
	if (!buffer || buffer->born_ns == now->true_ns)
		return;
	/* A new buffer at an old address is empty and belongs to another subscription. */
	buffer_clear(model, buffer, false);
	buffer->born_ns = now->true_ns;
	buffer->object = NULL;
}

static void on_rclcpp_buffer_to_ipb(struct model *model, const struct now *now)
{
	ARGS(rclcpp_buffer_to_ipb, now->event);
	struct buffer *buffer;

	if (!args->buffer.present || !args->ipb.present)
		return;
	buffer = buffer_at(model, now->process, args->buffer.u);
	if (buffer)
		model_handle_set(model, now->process, HANDLE_IPB, args->ipb.u, buffer);
}

static void on_rclcpp_ipb_to_subscription(struct model *model, const struct now *now)
{
	ARGS(rclcpp_ipb_to_subscription, now->event);
	struct buffer *buffer = model_handle(model, now->process, HANDLE_IPB, args->ipb.u);
	struct subscription_object *object = model_handle(model, now->process,
							  HANDLE_SUBSCRIPTION_OBJECT,
							  args->subscription.u);

	if (!buffer || !args->subscription.present ||
	    (object && object->buffered_ns == now->true_ns))
		return;
	/*
	 * This event comes before the link of an intra-process object. So if the object is already
	 * linked, it is an old object at the same address.
	 */
	if (!object || (object->linked_ns && object->linked_ns < now->true_ns))
		object = model_object_of_callback(model, now, args->subscription.u);
	if (!object)
		return;
	buffer->object = object;
	object->buffered_ns = now->true_ns;
	object->pub.is_intra = true;
	model_object_link(object);
}

/* ---- messages ---- */

static void on_rclcpp_intra_publish(struct model *model, const struct now *now)
{
	ARGS(rclcpp_intra_publish, now->event);
	struct thread *thread = now->thread;
	struct publisher *publisher = model_handle(model, now->process, HANDLE_PUBLISHER,
						   args->publisher_handle.u);
	struct frame *frame = model_frame_of(thread);
	struct model_message message = {
		.id = ++model->last_id,
		.publisher = publisher ? &publisher->pub : NULL,
		.topic = publisher ? publisher->pub.topic : NULL,
		.publish_thread = &thread->pub,
		.publish_ns = now->ns,
		.size = publisher ? publisher->pub.type_size : 0,
		.is_intra = true,
		.address = args->message.u,
		.from = frame ? &frame->callback->pub : NULL,
		.from_instance = frame ? frame->run.id : 0,
	};

	model->facts.intra_publishes++;
	if (frame)
		frame->run.published++;
	thread->intra.id = message.id;
	thread->intra.ns = now->ns;
	thread->intra.publisher = publisher;
	thread->intra.alone = true;
	thread->intra.from = frame ? frame->callback : NULL;
	thread->intra.from_instance = message.from_instance;
	if (!now->process->has_buffers)
		model_copy_published(model, now->process, &message);
	if (model->wants & WANT_PUBLISH_STEPS)
		model_publish_step(model, now, &(struct model_publish_step){
			.layer = MODEL_LAYER_INTRA, .address = args->message.u,
			.handle = args->publisher_handle.u,
			.publisher = message.publisher });
	EMIT(model, published, &message);
	if (model->wants & WANT_CAUSES)
		model_causes(model, &message);
}

static const struct subscription *buffer_subscription(const struct buffer *buffer)
{
	return buffer->object ? buffer->object->subscription : NULL;
}

/* A message that enters or leaves @buffer, but whose publication is unknown. */
static struct model_message message_unknown(const struct buffer *buffer)
{
	const struct subscription *subscription = buffer_subscription(buffer);

	return (struct model_message){
		.topic = subscription ? subscription->pub.topic : NULL,
		.subscription = subscription ? &subscription->pub : NULL,
		.size = subscription ? subscription->pub.type_size : 0,
		.is_intra = true,
	};
}

static void on_rclcpp_ring_buffer_enqueue(struct model *model, const struct now *now)
{
	ARGS(rclcpp_ring_buffer_enqueue, now->event);
	const struct thread *thread = now->thread;
	struct buffer *buffer;
	struct place *place;
	struct model_message lost;

	if (!args->buffer.present || !args->index.present)
		return;
	buffer = buffer_at(model, now->process, args->buffer.u);
	if (!buffer)
		return;
	place = map_get(&model->places, args->index.u, buffer->number);
	if (args->overwritten.u) {
		lost = place ? place->message : message_unknown(buffer);
		EMIT(model, dropped, &lost, MODEL_DROP_OVERWRITTEN);
	}
	if (!place)
		place = place_new(model, buffer, args->index.u);
	if (!place)
		return;
	place->message = message_unknown(buffer);
	place->message.send_ns = now->ns;
	if (!thread->intra.id)
		return;
	place->message.id = thread->intra.id;
	place->message.publish_ns = thread->intra.ns;
	place->message.publish_thread = &thread->pub;
	place->message.from = thread->intra.from ? &thread->intra.from->pub : NULL;
	place->message.from_instance = thread->intra.from_instance;
	if (!thread->intra.publisher)
		return;
	place->message.publisher = &thread->intra.publisher->pub;
	place->message.topic = thread->intra.publisher->pub.topic;
	place->message.size = thread->intra.publisher->pub.type_size;
}

static void on_rclcpp_ring_buffer_dequeue(struct model *model, const struct now *now)
{
	ARGS(rclcpp_ring_buffer_dequeue, now->event);
	struct model_message message;
	struct buffer *buffer;
	struct place *place;

	if (!args->buffer.present || !args->index.present)
		return;
	buffer = buffer_at(model, now->process, args->buffer.u);
	if (!buffer)
		return;
	place = map_get(&model->places, args->index.u, buffer->number);
	message = place ? place->message : message_unknown(buffer);
	message.take_ns = now->ns;
	if (place)
		place_unlink(model, buffer, place);
	if (model->wants & WANT_TAKE_STEPS)
		model_take_step(model, now, &(struct model_take_step){
			.layer = MODEL_LAYER_INTRA, .handle = args->buffer.u,
			.subscription = message.subscription, .taken = true });
	model_taken_set(model, now->thread, &message);
}

static void on_rclcpp_ring_buffer_clear(struct model *model, const struct now *now)
{
	ARGS(rclcpp_ring_buffer_clear, now->event);
	struct buffer *buffer = model_handle(model, now->process, HANDLE_BUFFER, args->buffer.u);

	if (buffer)
		buffer_clear(model, buffer, true);
}

static void doubt_intra(struct model *model, struct thread *thread)
{
	(void)model;
	thread->intra.id = 0;
	thread->intra.alone = false;
}

#define ON(id) [KYMO_POINT_##id] = on_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	ON(rclcpp_construct_ring_buffer),
	ON(rclcpp_buffer_to_ipb),
	ON(rclcpp_ipb_to_subscription),
	ON(rclcpp_intra_publish),
	ON(rclcpp_ring_buffer_enqueue),
	ON(rclcpp_ring_buffer_dequeue),
	ON(rclcpp_ring_buffer_clear),
};

const struct model_part model_intra = { .handlers = handlers, .doubt = doubt_intra };
