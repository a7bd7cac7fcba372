/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens at run time: messages on their way, callbacks that begin and end.
 *
 * A publish call is a chain of events on one thread, tied together by the message's address:
 *     rclcpp_publish -> rcl_publish -> rmw_publish(rmw handle, source timestamp)
 * It meets its takes by (source timestamp, topic), across processes and hosts:
 *     rmw_take(rmw handle, source timestamp) -> callback_start on the same thread
 * Within a process a message may go through a ring buffer per subscription instead:
 *     rclcpp_intra_publish -> enqueue(buffer, index)     on the publisher's thread
 *     dequeue(buffer, index) -> callback_start(intra)    on the subscriber's thread
 */
#include "analysis/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- messages that can still be taken ---- */

static struct model_message message_of(const struct sent *sent)
{
	return (struct model_message){
		.id = sent->id,
		.publisher = &sent->publisher->pub,
		.topic = sent->publisher->pub.topic,
		.publish_thread = &sent->thread->pub,
		.publish_ns = sent->publish_ns,
		.send_ns = sent->send_ns,
		.source_ns = sent->source_ns,
	};
}

/* At the end of the trace a message this young may just not have been taken yet. */
#define IN_FLIGHT_NS 100000000ll

/*
 * Was there a subscription that should have taken @sent? It must have been made before, its
 * process must have lived on, and it must not have got the message through a ring buffer.
 */
static bool was_expected(const struct sent *sent, bool at_end)
{
	const struct subscription *s;
	const struct process *process;
	int64_t grace = at_end && sent->publish_ns >= sent->publisher->last_taken_ns ?
			IN_FLIGHT_NS : 0;

	for (s = sent->publisher->topic->subscriptions; s; s = s->next) {
		process = (const struct process *)s->pub.process;
		if (s->pub.born_ns > sent->publish_ns ||
		    process->last_ns - grace < sent->publish_ns)
			continue;
		if (sent->also_intra && s->has_intra && process == sent->thread->process)
			continue;
		return true;
	}
	return false;
}

static void sent_forget(struct model *model, struct sent *sent, bool at_end)
{
	struct model_message message;
	uint64_t scope;

	if (!sent->id)
		return;
	scope = sent->publisher->topic->pub.index;
	/* Another publisher of the topic may have used the same nanosecond. */
	if (map_get(&model->sent, sent->source_ns, scope) == sent)
		map_del(&model->sent, sent->source_ns, scope);
	if (!sent->taken && was_expected(sent, at_end)) {
		message = message_of(sent);
		EMIT(model, dropped, &message, MODEL_DROP_UNTAKEN);
	}
	sent->id = 0;
}

static unsigned window_size(const struct publisher *publisher)
{
	uint64_t depth = publisher->pub.depth, most = SENT_MIN, size = SENT_MIN;

	if (publisher->topic->depth_max > depth)
		depth = publisher->topic->depth_max;
	if (depth > most / 2)
		most = depth < SENT_MAX / 2 ? depth * 2 : SENT_MAX;
	while (size < most)
		size *= 2;
	return size;
}

static struct sent *sent_new(struct model *model, struct publisher *publisher)
{
	struct sent *sent;

	if (!publisher->sent) {
		publisher->sent_size = window_size(publisher);
		publisher->sent = model_alloc(model, publisher->sent_size * sizeof(*sent));
		if (!publisher->sent)
			return NULL;
	}
	sent = &publisher->sent[publisher->sent_next++ & (publisher->sent_size - 1)];
	sent_forget(model, sent, false);
	*sent = (struct sent){ .publisher = publisher };
	return sent;
}

/* ---- publishing ---- */

static void publish_step(struct thread *thread, uint64_t message, int64_t ns)
{
	if (thread->publish.message == message)
		return;
	thread->publish.message = message;
	thread->publish.ns = ns;
	thread->publish.publisher = NULL;
}

static void on_rclcpp_publish(struct model *model, const struct now *now)
{
	ARGS(rclcpp_publish, now->event);

	(void)model;
	/* A call that broke off must not lend its begin to the next one. */
	now->thread->publish.message = 0;
	publish_step(now->thread, args->message.u, now->ns);
}

static void on_rcl_publish(struct model *model, const struct now *now)
{
	ARGS(rcl_publish, now->event);

	publish_step(now->thread, args->message.u, now->ns);
	now->thread->publish.publisher = model_handle(model, now->process, HANDLE_PUBLISHER,
						      args->publisher_handle.u);
}

static void on_rmw_publish(struct model *model, const struct now *now)
{
	ARGS(rmw_publish, now->event);
	struct thread *thread = now->thread;
	struct publisher *publisher = NULL;
	struct model_message message;
	struct sent *sent;
	bool chained = thread->publish.message && thread->publish.message == args->message.u;

	/* The rmw handle is the reliable one: rcl handles of /rosout are stack addresses. */
	if (args->rmw_publisher_handle.present)
		publisher = model_handle(model, now->process, HANDLE_RMW_PUBLISHER,
					 args->rmw_publisher_handle.u);
	if (!publisher && chained)
		publisher = thread->publish.publisher;
	if (!publisher) {
		model->facts.internal_publishes++;
		thread->publish.message = 0;
		return;
	}
	sent = sent_new(model, publisher);
	if (!sent)
		return;
	sent->also_intra = thread->intra.alone && thread->intra.publisher == publisher;
	sent->id = sent->also_intra ? thread->intra.id : ++model->last_id;
	sent->thread = thread;
	sent->publish_ns = chained ? thread->publish.ns : now->ns;
	sent->send_ns = now->ns;
	sent->source_ns = args->timestamp.i;
	thread->intra.alone = false;
	thread->publish.message = 0;
	message = message_of(sent);
	message.address = args->message.u;
	EMIT(model, published, &message);
	if (!args->timestamp.present || !args->timestamp.i) {
		model->facts.publishes_without_timestamp++;
		sent->id = 0;
		return;
	}
	if (map_put(&model->sent, sent->source_ns, publisher->topic->pub.index, sent))
		model->out_of_memory = true;
}

/* ---- taking ---- */

/* The message that was taken last on the thread went to no callback that we know of. */
static void taken_flush(struct model *model, struct thread *thread)
{
	if (!thread->has_taken)
		return;
	thread->has_taken = false;
	EMIT(model, taken, &thread->taken);
}

static void taken_set(struct model *model, struct thread *thread,
		      const struct model_message *message)
{
	taken_flush(model, thread);
	thread->taken = *message;
	thread->taken.take_thread = &thread->pub;
	thread->has_taken = true;
}

static void on_rmw_take(struct model *model, const struct now *now)
{
	ARGS(rmw_take, now->event);
	struct subscription *subscription;
	struct model_message message;
	struct sent *sent;

	if (!args->taken.u)
		return;
	/* Without rcl_subscription_init it belongs to the middleware itself. */
	subscription = model_handle(model, now->process, HANDLE_RMW_SUBSCRIPTION,
				    args->rmw_subscription_handle.u);
	if (!subscription)
		return;
	if (!args->source_timestamp.i)
		model->facts.takes_without_timestamp++;
	sent = map_get(&model->sent, args->source_timestamp.u, subscription->topic->pub.index);
	if (sent) {
		sent->taken = true;
		sent->publisher->last_taken_ns = sent->publish_ns;
		message = message_of(sent);
	} else {
		message = (struct model_message){ .topic = &subscription->topic->pub,
						  .source_ns = args->source_timestamp.i };
	}
	message.address = args->message.u;
	message.subscription = &subscription->pub;
	message.take_ns = now->ns;
	taken_set(model, now->thread, &message);
}

/* ---- intra-process ---- */

static void on_rclcpp_intra_publish(struct model *model, const struct now *now)
{
	ARGS(rclcpp_intra_publish, now->event);
	struct thread *thread = now->thread;
	struct publisher *publisher = model_handle(model, now->process, HANDLE_PUBLISHER,
						   args->publisher_handle.u);
	struct model_message message = {
		.id = ++model->last_id,
		.publisher = publisher ? &publisher->pub : NULL,
		.topic = publisher ? publisher->pub.topic : NULL,
		.publish_thread = &thread->pub,
		.publish_ns = now->ns,
		.is_intra = true,
		.address = args->message.u,
	};

	thread->intra.id = message.id;
	thread->intra.ns = now->ns;
	thread->intra.publisher = publisher;
	thread->intra.alone = true;
	EMIT(model, published, &message);
}

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

static const struct subscription *buffer_subscription(const struct buffer *buffer)
{
	return buffer->object ? buffer->object->subscription : NULL;
}

/* A message that enters or leaves @buffer and whose publication is not known. */
static struct model_message message_unknown(const struct buffer *buffer)
{
	const struct subscription *subscription = buffer_subscription(buffer);

	return (struct model_message){
		.topic = subscription ? subscription->pub.topic : NULL,
		.subscription = subscription ? &subscription->pub : NULL,
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
	buffer = model_buffer(model, now->process, args->buffer.u);
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
	if (!thread->intra.publisher)
		return;
	place->message.publisher = &thread->intra.publisher->pub;
	place->message.topic = thread->intra.publisher->pub.topic;
}

static void on_rclcpp_ring_buffer_dequeue(struct model *model, const struct now *now)
{
	ARGS(rclcpp_ring_buffer_dequeue, now->event);
	struct model_message message;
	struct buffer *buffer;
	struct place *place;

	if (!args->buffer.present || !args->index.present)
		return;
	buffer = model_buffer(model, now->process, args->buffer.u);
	if (!buffer)
		return;
	place = map_get(&model->places, args->index.u, buffer->number);
	message = place ? place->message : message_unknown(buffer);
	message.take_ns = now->ns;
	if (place)
		place_unlink(model, buffer, place);
	taken_set(model, now->thread, &message);
}

void model_buffer_clear(struct model *model, struct buffer *buffer, bool tell)
{
	struct place *place;

	while ((place = buffer->places)) {
		if (tell)
			EMIT(model, dropped, &place->message, MODEL_DROP_CLEARED);
		place_unlink(model, buffer, place);
	}
}

static void on_rclcpp_ring_buffer_clear(struct model *model, const struct now *now)
{
	ARGS(rclcpp_ring_buffer_clear, now->event);
	struct buffer *buffer = model_handle(model, now->process, HANDLE_BUFFER, args->buffer.u);

	if (buffer)
		model_buffer_clear(model, buffer, true);
}

/* ---- callbacks ---- */

static struct model_instance instance_of(const struct thread *thread, const struct frame *frame,
					 unsigned depth)
{
	return (struct model_instance){
		.callback = &frame->callback->pub,
		.thread = &thread->pub,
		.start_ns = frame->start_ns,
		.duration_ns = -1,
		.is_intra = frame->is_intra,
		.depth = depth,
		.message = frame->has_message ? &frame->message : NULL,
	};
}

/* The end of frame @at is not in the trace. */
static void frame_abandon(struct model *model, struct thread *thread, unsigned at)
{
	struct model_instance instance = instance_of(thread, &thread->frame[at], at);

	model->facts.unfinished++;
	EMIT(model, unfinished, &instance);
	thread->frame_count--;
	memmove(&thread->frame[at], &thread->frame[at + 1],
		(thread->frame_count - at) * sizeof(*thread->frame));
}

/*
 * A callback may begin inside another one, because user code may spin an executor. So a start
 * does not end what is open, with one exception: the same callback again on the same thread.
 * An executor does not run a callback inside itself, so its end got lost: the callback threw,
 * its response was deferred, or the event was dropped.
 */
static struct frame *frame_push(struct model *model, struct thread *thread,
				const struct callback *callback)
{
	struct frame *larger;
	unsigned i, size;

	for (i = 0; i < thread->frame_count; i++)
		if (thread->frame[i].callback == callback)
			frame_abandon(model, thread, i--);
	if (thread->frame_count == FRAMES_MAX)
		frame_abandon(model, thread, 0);
	if (thread->frame_count == thread->frame_size) {
		size = thread->frame_size ? thread->frame_size * 2 : 2;
		larger = realloc(thread->frame, size * sizeof(*larger));
		if (!larger) {
			model->out_of_memory = true;
			return NULL;
		}
		thread->frame = larger;
		thread->frame_size = size;
	}
	return &thread->frame[thread->frame_count++];
}

static bool fits(const struct model_callback *callback, const struct model_message *taken,
		 bool is_intra)
{
	if (taken->is_intra != is_intra)
		return false;
	if (callback->kind == MODEL_CALLBACK_UNKNOWN)
		return true;
	return callback->kind == MODEL_CALLBACK_SUBSCRIPTION &&
	       (!callback->subscription || !taken->subscription ||
		callback->subscription == taken->subscription);
}

static void on_callback_start(struct model *model, const struct now *now)
{
	ARGS(callback_start, now->event);
	struct thread *thread = now->thread;
	struct callback *callback = model_handle(model, now->process, HANDLE_CALLBACK,
						 args->callback.u);
	struct frame *frame;

	if (!args->callback.present)
		return;
	if (!callback)
		callback = model_callback_unknown(model, now, args->callback.u);
	frame = callback ? frame_push(model, thread, callback) : NULL;
	if (!frame)
		return;
	frame->callback = callback;
	frame->start_ns = now->ns;
	frame->is_intra = args->is_intra_process.u != 0;
	frame->doubtful = false;
	frame->has_message = thread->has_taken && fits(&callback->pub, &thread->taken,
						       frame->is_intra);
	if (frame->has_message) {
		thread->taken.callback = &callback->pub;
		thread->taken.callback_ns = now->ns;
		frame->message = thread->taken;
	}
	taken_flush(model, thread);
	thread->intra.id = 0;
	thread->intra.alone = false;
}

static void on_callback_end(struct model *model, const struct now *now)
{
	ARGS(callback_end, now->event);
	struct thread *thread = now->thread;
	struct model_instance instance;
	unsigned at = thread->frame_count;

	thread->intra.id = 0;
	thread->intra.alone = false;
	/* By address: what the address meant when the callback began is in the frame. */
	while (at && thread->frame[at - 1].callback->pub.address != args->callback.u)
		at--;
	if (!at--) {
		model->facts.ends_without_start++;
		return;
	}
	/* What began inside it is over too, seen or not. */
	while (thread->frame_count > at + 1)
		frame_abandon(model, thread, thread->frame_count - 1);
	if (thread->frame[at].doubtful) {
		frame_abandon(model, thread, at);
		return;
	}
	instance = instance_of(thread, &thread->frame[at], at);
	instance.duration_ns = now->ns - instance.start_ns;
	/* Pop after the listeners have seen the message in the frame. */
	EMIT(model, instance, &instance);
	thread->frame_count = at;
}

static void on_rcl_lifecycle_transition(struct model *model, const struct now *now)
{
	ARGS(rcl_lifecycle_transition, now->event);
	const struct node *node = model_handle(model, now->process, HANDLE_STATE_MACHINE,
					       args->state_machine.u);
	struct model_transition transition = {
		.node = node ? &node->pub : NULL,
		.thread = &now->thread->pub,
		.ns = now->ns,
		.start = args->start_label.present ? args->start_label.bytes : "",
		.goal = args->goal_label.present ? args->goal_label.bytes : "",
	};

	EMIT(model, transition, &transition);
}

/* ---- loss, end ---- */

/* After a gap in its stream a thread may be anywhere: nothing open can be trusted. */
static void thread_doubt(struct model *model, struct thread *thread)
{
	unsigned i;

	for (i = 0; i < thread->frame_count; i++)
		thread->frame[i].doubtful = true;
	taken_flush(model, thread);
	thread->publish.message = 0;
	thread->intra.id = 0;
	thread->intra.alone = false;
}

void model_flow_loss(struct model *model, const struct ctf_event *event)
{
	struct stream *stream = model_stream_at(model, event->stream);
	const struct list *threads = &model->list[MODEL_THREAD];
	int64_t offset = 0;
	uint32_t host = UINT32_MAX;
	struct model_loss loss = {
		.trace = event->trace,
		.stream = event->stream,
		.events = event->lost,
		.packets = event->lost_packets,
		.end_ns = event->ns,
	};
	unsigned i;

	if (event->trace < model->trace_count && model->trace[event->trace].known) {
		offset = model->trace[event->trace].clock_offset_ns;
		host = model->trace[event->trace].host;
	}
	if (event->loss_end_ns)
		loss.end_ns = (int64_t)(event->loss_end_ns + (uint64_t)offset);
	if (loss.end_ns < 0 || loss.end_ns > TIME_MAX)
		loss.end_ns = event->ns;
	loss.begin_ns = (int64_t)(event->loss_begin_ns + (uint64_t)offset);
	if (loss.begin_ns < 0 || loss.begin_ns > loss.end_ns)
		loss.begin_ns = loss.end_ns;
	if (event->vtid) {
		struct thread *thread = model_thread_of(model, event);

		loss.thread = thread ? &thread->pub : NULL;
	} else if (stream && stream->last && !stream->many_threads) {
		loss.thread = &stream->last->pub;
	}
	for (i = 0; i < threads->count; i++) {
		struct thread *thread = threads->item[i];

		if (thread->stream == event->stream ||
		    (thread->many_streams && thread->process->pub.host == host))
			thread_doubt(model, thread);
	}
	EMIT(model, loss, &loss);
}

void model_flow_finish(struct model *model)
{
	const struct list *list = &model->list[MODEL_THREAD];
	unsigned i, j;

	for (i = 0; i < list->count; i++) {
		struct thread *thread = list->item[i];

		taken_flush(model, thread);
		while (thread->frame_count)
			frame_abandon(model, thread, thread->frame_count - 1);
	}
	list = &model->list[MODEL_PUBLISHER];
	for (i = 0; i < list->count; i++) {
		struct publisher *publisher = list->item[i];

		for (j = 0; j < publisher->sent_size; j++)
			sent_forget(model, &publisher->sent[j], true);
	}
}

#define ON(id) [KYMO_POINT_##id] = on_##id
const handler model_flow_handlers[KYMO_POINTS_TABLE] = {
	ON(rclcpp_publish),
	ON(rcl_publish),
	ON(rmw_publish),
	ON(rmw_take),
	ON(rclcpp_intra_publish),
	ON(rclcpp_ring_buffer_enqueue),
	ON(rclcpp_ring_buffer_dequeue),
	ON(rclcpp_ring_buffer_clear),
	ON(callback_start),
	ON(callback_end),
	ON(rcl_lifecycle_transition),
};
