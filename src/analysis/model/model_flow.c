/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages through the middleware, from the publish call to the take.
 *
 * A publish call is a series of events on one thread. The address of the message connects them:
 *     rclcpp_publish -> rcl_publish -> rmw_publish(rmw handle, source timestamp)
 * Takes of the message are found by (source timestamp, topic), in all processes and on all hosts:
 *     rmw_take(rmw handle, source timestamp) -> callback_start on the same thread
 *
 * What was published and may still be taken is in model_sent.c, messages within a process in
 * model_intra.c, callbacks in model_runs.c.
 */
#include "analysis/model/model_internal_messages.h"

/* ---- publishing ---- */

static void publish_chain(struct thread *thread, uint64_t message, int64_t ns)
{
	if (thread->publish.message == message)
		return;
	thread->publish.message = message;
	thread->publish.ns = ns;
	thread->publish.rcl_ns = 0;
	thread->publish.stamp_ns = 0;
	thread->publish.publisher = NULL;
}

/* The call of @layer has the publisher in thread->publish. */
static void publish_layer(struct model *model, const struct now *now, enum model_layer layer,
			  uint64_t message, uint64_t handle)
{
	struct thread *thread = now->thread;

	if (thread->unstamped)
		model_unstamped_flush(model, thread);
	if (model->wants & WANT_PUBLISH_STEPS) {
		const struct publisher *publisher = thread->publish.publisher;

		model_publish_step(model, now,
				   &(struct model_publish_step){
					   .layer = layer,
					   .address = message,
					   .handle = handle,
					   .publisher = publisher ? &publisher->pub : NULL });
	}
}

static void on_rclcpp_publish(struct model *model, const struct now *now)
{
	ARGS(rclcpp_publish_handle, now->event);
	struct thread *thread = now->thread;

	/* Forget an interrupted publish call: its start must not count for this one. */
	thread->publish.message = 0;
	publish_chain(thread, args->message.u, now->ns);
	thread->publish.stamp_ns = args->message_timestamp.i;
	if (args->publisher_handle.present)
		thread->publish.publisher = model_handle(model, now->process, HANDLE_PUBLISHER,
							 args->publisher_handle.u);
	publish_layer(model, now, MODEL_LAYER_RCLCPP, args->message.u, args->publisher_handle.u);
}

static void on_rcl_publish(struct model *model, const struct now *now)
{
	ARGS(rcl_publish, now->event);
	struct thread *thread = now->thread;

	publish_chain(thread, args->message.u, now->ns);
	thread->publish.rcl_ns = now->ns;
	thread->publish.publisher = model_handle(model, now->process, HANDLE_PUBLISHER,
						 args->publisher_handle.u);
	publish_layer(model, now, MODEL_LAYER_RCL, args->message.u, args->publisher_handle.u);
}

/* A message of @publisher is being written; the caller then calls model_sent_finish(). */
struct sent *model_sent_begin(struct model *model, const struct now *now,
			      struct publisher *publisher, bool chained)
{
	struct thread *thread = now->thread;
	struct frame *frame = model_frame_of(thread);
	struct sent *sent = model_sent_new(model, publisher);

	if (!sent)
		return NULL;
	sent->also_intra = thread->intra.alone && thread->intra.publisher == publisher;
	sent->id = sent->also_intra ? thread->intra.id : ++model->last_id;
	sent->thread = thread;
	/* A publish call that uses both paths begins with the intra-process path. */
	sent->publish_ns = sent->also_intra ? thread->intra.ns :
			   chained	    ? thread->publish.ns : now->ns;
	sent->rcl_ns = chained ? thread->publish.rcl_ns : 0;
	sent->stamp_ns = chained ? thread->publish.stamp_ns : 0;
	sent->send_ns = now->ns;
	sent->size = publisher->pub.type_size;
	if (frame) {
		sent->from = frame->callback;
		sent->from_instance = frame->run.id;
		frame->run.published += !sent->also_intra;
	}
	thread->intra.alone = false;
	thread->publish.message = 0;
	return sent;
}

/* @source_ns: 0: not in the trace. */
void model_sent_finish(struct model *model, struct sent *sent, int64_t source_ns, uint64_t address)
{
	struct model_message message;

	sent->source_ns = source_ns;
	model_sent_message(sent, &message);
	message.address = address;
	EMIT(model, published, &message);
	if (model->wants & WANT_CAUSES && !sent->also_intra)
		model_causes(model, &message);
	if (!source_ns) {
		model->facts.publishes_without_timestamp++;
		sent->id = 0;
		return;
	}
	if (map_put(&model->sent, (uint64_t)source_ns, sent->publisher->topic->pub.index, sent))
		model->out_of_memory = true;
}

void model_rmw_publish(struct model *model, const struct now *now)
{
	ARGS(rmw_publish, now->event);
	struct thread *thread = now->thread;
	struct publisher *publisher = NULL;
	struct sent *sent;
	bool chained = thread->publish.message && thread->publish.message == args->message.u;
	bool again;

	/* The rmw handle is reliable; rcl handles of /rosout are addresses on the stack. */
	if (args->rmw_publisher_handle.present)
		publisher = model_handle(model, now->process, HANDLE_RMW_PUBLISHER,
					 args->rmw_publisher_handle.u);
	if (!publisher && chained)
		publisher = thread->publish.publisher;
	/* CARET's dds_write after the rmw_publish of the same message is the same write. */
	again = thread->unstamped && thread->unstamped_message == args->message.u &&
		model->bound[now->event->bound].point == KYMO_POINT_dds_write;
	if (thread->unstamped && !again)
		model_unstamped_flush(model, thread);
	if (model->wants & WANT_PUBLISH_STEPS)
		model_publish_step(model, now, &(struct model_publish_step){
			.layer = MODEL_LAYER_RMW, .address = args->message.u,
			.handle = args->rmw_publisher_handle.u,
			.publisher = publisher ? &publisher->pub : NULL,
			.source_ns = args->timestamp.i });
	if (again)
		return;
	if (!publisher) {
		/* The middleware's own publishers have no rcl_publish. */
		if (chained && (model_is_full(model, MODEL_PUBLISHER) ||
				model_is_full(model, MODEL_TOPIC)))
			model->facts.left.published++;
		else
			model->facts.internal_publishes++;
		thread->publish.message = 0;
		return;
	}
	if (model->without_messages) {
		thread->publish.message = 0;
		return;
	}
	sent = model_sent_begin(model, now, publisher, chained);
	if (!sent)
		return;
	model_content_sent(thread, sent, args->message.u);
	/*
	 * On Humble and Iron, CARET and kymo record the source timestamp after the write; other
	 * tracers do not record it.
	 */
	if (!args->timestamp.present) {
		thread->unstamped = sent;
		thread->unstamped_message = args->message.u;
		return;
	}
	model_sent_finish(model, sent, args->timestamp.i, args->message.u);
}

/* ---- takes ---- */

/*
 * The thread received a message, but no known callback began with it: report the message without a
 * callback.
 */
void model_taken_flush(struct model *model, struct thread *thread)
{
	if (!thread->has_taken)
		return;
	thread->has_taken = false;
	EMIT(model, taken, &thread->taken);
}

/* A message of @subscription is being received. Return: where it goes; the caller fills it in. */
static struct model_message *taken_begin(struct model *model, struct thread *thread,
					 struct model_subscription *subscription, int64_t take_ns)
{
	if (subscription && !subscription->first_take_ns)
		subscription->first_take_ns = take_ns;
	model_taken_flush(model, thread);
	thread->has_taken = true;
	return &thread->taken;
}

void model_taken_set(struct model *model, struct thread *thread,
		     const struct model_message *message)
{
	*taken_begin(model, thread, (struct model_subscription *)message->subscription,
		     message->take_ns) = *message;
	thread->taken.take_thread = &thread->pub;
}

/* A message of @subscription was received; its callback will begin on the same thread. */
void model_take(struct model *model, const struct now *now, struct subscription *subscription,
		int64_t source_ns, uint64_t address)
{
	struct model_message *message;
	struct sent *sent;

	if (!source_ns)
		model->facts.takes_without_timestamp++;
	sent = map_get(&model->sent, (uint64_t)source_ns, subscription->topic->pub.index);
	if (!sent)
		sent = model_sent_unstamped(model, now, subscription->topic, source_ns);
	message = taken_begin(model, now->thread, &subscription->pub, now->ns);
	if (sent) {
		model_sent_taken(model, sent, subscription);
		model_sent_message(sent, message);
	} else {
		*message = (struct model_message){ .topic = &subscription->topic->pub,
						   .source_ns = source_ns,
						   .size = subscription->pub.type_size };
	}
	message->address = address;
	message->subscription = &subscription->pub;
	message->take_thread = &now->thread->pub;
	message->take_ns = now->ns;
	message->dds.is_through = true;
	message->dds.is_local =
		message->publisher && message->publisher->process == subscription->pub.process;
	model_path_taken(model, message);
}

static void on_rmw_take(struct model *model, const struct now *now)
{
	ARGS(rmw_take, now->event);
	/* A subscription without rcl_subscription_init belongs to the middleware itself. */
	struct subscription *subscription = model_handle(
		model, now->process, HANDLE_RMW_SUBSCRIPTION, args->rmw_subscription_handle.u);

	if (model->wants & WANT_TAKE_STEPS)
		model_take_step(model, now, &(struct model_take_step){
			.layer = MODEL_LAYER_RMW, .address = args->message.u,
			.handle = args->rmw_subscription_handle.u,
			.subscription = subscription ? &subscription->pub : NULL,
			.source_ns = args->source_timestamp.i, .taken = args->taken.u != 0 });
	if (args->taken.u && subscription)
		model_take(model, now, subscription, args->source_timestamp.i, args->message.u);
}

/* ---- losses and the end of the trace ---- */

static void flush_messages(struct model *model, struct thread *thread)
{
	model_taken_flush(model, thread);
	if (thread->unstamped)
		model_unstamped_flush(model, thread);
}

static void doubt_messages(struct model *model, struct thread *thread)
{
	flush_messages(model, thread);
	thread->publish.message = 0;
	thread->content.message = 0;
}

#define ON(id) [KYMO_POINT_##id] = on_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	[KYMO_POINT_rclcpp_publish_handle] = on_rclcpp_publish,	/* this event has all fields */
	ON(rcl_publish),
	[KYMO_POINT_rmw_publish] = model_rmw_publish,
	ON(rmw_take),
};

const struct model_part model_flow = { .handlers = handlers,
				       .doubt = doubt_messages,
				       .thread_end = flush_messages,
				       .finish = model_sent_forget_all };
