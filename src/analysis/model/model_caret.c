/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Additional events of CARET's hooks, and of its rclcpp on Humble.
 *
 * Up to Iron rmw_publish has no source timestamp; CARET records it in an event after the write:
 *     rclcpp_publish -> rcl_publish -> dds_write(message) -> dds_bind_addr_to_stamp(message, stamp)
 * In light mode the trace has no dds_write, and on Humble no rcl_publish.
 *
 * Within a process, Humble has no ring buffer events. Messages are identified by their address:
 *     rclcpp_intra_publish(message) -> message_construct(message, copy)* -> dispatch_intra(copy)
 */
#include "analysis/model/model_internal_messages.h"

#include <string.h>

/* ---- through the middleware ---- */

/* The expected source timestamp did not come: report the message without it. */
void model_unstamped_flush(struct model *model, struct thread *thread)
{
	struct sent *sent = thread->unstamped;

	thread->unstamped = NULL;
	model_sent_finish(model, sent, 0, thread->unstamped_message);
}

static void on_dds_write(struct model *model, const struct now *now)
{
	model_rmw_publish(model, now);
}

static void on_dds_bind_addr_to_stamp(struct model *model, const struct now *now)
{
	ARGS(dds_bind_addr_to_stamp, now->event);
	struct thread *thread = now->thread;
	uint64_t address = args->addr.u;
	struct sent *sent = NULL;

	if (model->wants & WANT_PUBLISH_STEPS)
		model_publish_step(model, now, &(struct model_publish_step){
			.layer = MODEL_LAYER_DDS, .address = address,
			.source_ns = args->source_stamp.i });
	if (thread->unstamped && (!address || address == thread->unstamped_message)) {
		sent = thread->unstamped;
		address = thread->unstamped_message;
		thread->unstamped = NULL;
		model->stamps_follow = true;
	} else if (thread->publish.message && thread->publish.publisher &&
		   (!address || address == thread->publish.message)) {
		address = thread->publish.message;
		sent = model_sent_begin(model, now, thread->publish.publisher, true);
	}
	if (sent)
		model_sent_finish(model, sent, args->source_stamp.i, address);
}

/*
 * A source timestamp is of the middleware's clock, events are of the trace's clock: tolerated
 * difference.
 */
#define CLOCKS_NS 1000000ll

/*
 * CARET records the source timestamp after the write, and a fast subscription receives the message
 * before that event. In this case the received message with @source_ns is the message that is being
 * written on its topic at that time, if it is the only one.
 */
struct sent *model_sent_unstamped(struct model *model, const struct now *now,
				  const struct topic *topic, int64_t source_ns)
{
	const struct list *list = &model->list[MODEL_THREAD];
	struct thread *writer = NULL;
	struct sent *sent;

	if (!model->stamps_follow || !source_ns)
		return NULL;
	for (unsigned i = 0; i < list->count; i++) {
		struct thread *thread = list->item[i];

		sent = thread->unstamped;
		if (!sent || sent->publisher->topic != topic ||
		    thread->process->pub.host != now->process->pub.host ||
		    source_ns < sent->send_ns - CLOCKS_NS || source_ns > now->ns + CLOCKS_NS)
			continue;
		if (writer)
			return NULL;
		writer = thread;
	}
	if (!writer)
		return NULL;
	sent = writer->unstamped;
	writer->unstamped = NULL;
	model_sent_finish(model, sent, source_ns, writer->unstamped_message);
	return sent;
}

static struct subscription *subscription_of(const struct callback *callback)
{
	return callback ? (struct subscription *)callback->pub.subscription : NULL;
}

static void on_dispatch_subscription_callback(struct model *model, const struct now *now)
{
	ARGS(dispatch_subscription_callback, now->event);
	struct subscription *subscription = subscription_of(model_handle(
		model, now->process, HANDLE_CALLBACK, args->callback.u));
	const struct model_message *taken = &now->thread->taken;

	if (!subscription)
		return;
	/* Already handled by the rmw_take before this event. */
	if (now->thread->has_taken && taken->subscription == &subscription->pub &&
	    taken->source_ns == args->source_stamp.i) {
		now->thread->taken.stamp_ns = args->message_timestamp.i;
		return;
	}
	model_take(model, now, subscription, args->source_stamp.i, args->message.u);
	now->thread->taken.stamp_ns = args->message_timestamp.i;
}

/* ---- within a process ---- */

static uint64_t scope_of(const struct process *process)
{
	return (uint64_t)process->pub.index << 8 | HANDLE_COPY;
}

static void copy_add(struct model *model, const struct process *process, uint64_t address,
		     const struct model_message *message)
{
	struct copy *copy;

	if (!address)
		return;
	if (!model->copy) {
		model->copy = model_alloc(model, COPIES_MAX * sizeof(*copy));
		if (!model->copy)
			return;
	}
	copy = &model->copy[model->next_copy++ % COPIES_MAX];
	if (copy->address &&
	    map_get(&model->handles, copy->address, scope_of(copy->process)) == copy)
		map_del(&model->handles, copy->address, scope_of(copy->process));
	*copy = (struct copy){ address, process, *message };
	model_handle_set(model, process, HANDLE_COPY, address, copy);
}

/* Needed only without ring buffer events; in that case rclcpp_publish names the publisher. */
void model_copy_published(struct model *model, const struct process *process,
			  const struct model_message *message)
{
	copy_add(model, process, message->address, message);
}

static void on_message_construct(struct model *model, const struct now *now)
{
	ARGS(message_construct, now->event);
	const struct copy *original = model_handle(model, now->process, HANDLE_COPY,
						   args->original_message.u);
	struct model_message message;

	if (!original)
		return;
	message = original->message;
	copy_add(model, now->process, args->constructed_message.u, &message);
}

static void on_dispatch_intra_process_subscription_callback(struct model *model,
							    const struct now *now)
{
	ARGS(dispatch_intra_process_subscription_callback, now->event);
	const struct subscription *subscription = subscription_of(model_handle(
		model, now->process, HANDLE_CALLBACK, args->callback.u));
	const struct copy *copy = model_handle(model, now->process, HANDLE_COPY, args->message.u);
	struct model_message message = { .is_intra = true };

	if (copy && (!subscription || !copy->message.topic ||
		     copy->message.topic == subscription->pub.topic))
		message = copy->message;
	if (subscription) {
		message.topic = subscription->pub.topic;
		message.subscription = &subscription->pub;
	}
	message.address = args->message.u;
	message.take_ns = now->ns;
	model_taken_set(model, now->thread, &message);
}

/* ---- processes, clocks ---- */

static void on_caret_init(struct model *model, const struct now *now)
{
	ARGS(caret_init, now->event);
	const char *distribution = model_word(model, &args->distribution);

	if (*distribution)
		now->process->pub.distribution = distribution;
}

static void on_rmw_implementation(struct model *model, const struct now *now)
{
	ARGS(rmw_implementation, now->event);

	now->process->pub.rmw = model_word(model, &args->rmw_impl);
}

static void on_sim_time(struct model *model, const struct now *now)
{
	ARGS(sim_time, now->event);
	struct model_sim_time sim_time = {
		.process = &now->process->pub, .ns = now->ns, .sim_ns = args->stamp.i,
	};

	if (args->stamp.present && args->stamp.i >= 0)
		EMIT(model, sim_time, &sim_time);
}

#define ON(id) [KYMO_POINT_##id] = on_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	ON(dds_write),
	ON(dds_bind_addr_to_stamp),
	ON(dispatch_subscription_callback),
	ON(dispatch_intra_process_subscription_callback),
	ON(message_construct),
	ON(caret_init),
	ON(rmw_implementation),
	ON(sim_time),
};

const struct model_part model_caret = { .handlers = handlers };
