/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of callbacks become slices on their threads, with the arrows that arrive and leave there. */
#include "export/perfetto/perfetto_internal.h"

#include <string.h>

/* Takes the arrows that began on this thread since @start_ns into @flow. Return: how many. */
static unsigned take_departures(struct perfetto_thread *thread,
				const struct model_instance *instance,
				uint64_t flow[DEPARTURES_MAX])
{
	unsigned flows = 0, kept = 0;

	for (unsigned i = 0; i < thread->departures; i++) {
		if (thread->departure[i].ns >= instance->start_ns)
			flow[flows++] = thread->departure[i].flow;
		else if (instance->depth)
			thread->departure[kept++] = thread->departure[i];
	}
	thread->departures = kept;
	return flows;
}

struct call_event {
	struct pft_event event;
	struct pft_arg arg[9 + MODEL_DDS_PARTS];
	uint64_t departure[DEPARTURES_MAX + 2];
	uint64_t arrival;
};

/* How long the message was where inside the middleware, if anything is known of it. */
static void describe_way(struct exporter *exporter, const struct model_message *message,
			 const struct model_thread *thread, struct call_event *call)
{
	const uint32_t words[] = {
		[MODEL_DDS_WRITE] = exporter->words.dds_write_ns,
		[MODEL_DDS_NETWORK] = exporter->words.network_ns,
		[MODEL_DDS_READ] = exporter->words.dds_read_ns,
		[MODEL_DDS_CACHE] = exporter->words.cache_ns,
		[MODEL_DDS_UNSPLIT] = exporter->words.unsplit_ns,
	};
	struct pft_event *event = &call->event;
	struct model_dds_cut cut;

	if (!message->dds.cached_ns || !message->send_ns ||
	    !export_comparable(message->publish_thread, thread))
		return;
	model_dds_cut(&cut, &message->dds, message->send_ns, message->take_ns);
	for (unsigned i = 0; i < cut.pieces; i++)
		call->arg[event->args++] = (struct pft_arg){ words[cut.piece[i].part], PFT_INT,
							     { .i = cut.piece[i].to_ns - cut.piece[i].from_ns } };
}

/* Fills @call with everything known about @instance. Return: its thread; NULL: out of memory. */
static struct perfetto_thread *describe(struct exporter *exporter,
				     const struct model_instance *instance, struct call_event *call)
{
	const struct model_callback *callback = instance->callback;
	const struct callback_state *state = export_callback(exporter, callback);
	struct perfetto_thread *thread = export_thread(exporter, instance->thread);
	const struct model_message *message = instance->message;
	struct pft_event *event = &call->event;

	if (!state || !thread)
		return NULL;
	*event = (struct pft_event){ .name = state->name, .arg = call->arg, .args = state->args,
				     .category = exporter->words.callback,
				     .correlation = (uint64_t)callback->index + 1 };
	memcpy(call->arg, state->arg, sizeof(state->arg));
	if (callback->kind == MODEL_CALLBACK_SUBSCRIPTION || instance->is_intra)
		call->arg[event->args++] = (struct pft_arg){
			exporter->words.is_intra_process, PFT_BOOL, { .u = instance->is_intra } };
	event->flow = call->departure;
	event->role = PFT_FLOW_OF_PARTS;
	event->flows = take_departures(thread, instance, call->departure);
	if (instance->call)
		call->departure[event->flows++] = export_call_flow(exporter, instance->call);
	if (export_awaits(exporter, instance, &call->departure[event->flows]))
		event->flows++;
	if (export_resumed(exporter, instance, &call->arrival)) {
		event->end_flow = &call->arrival;
		event->end_flows = 1;
	}
	if (!message)
		return thread;
	if (message->address)
		call->arg[event->args++] = (struct pft_arg){ exporter->words.message, PFT_POINTER,
							     { .u = message->address } };
	if (message->publish_ns && export_comparable(message->publish_thread, instance->thread))
		call->arg[event->args++] =
			(struct pft_arg){ exporter->words.latency_ns, PFT_INT,
					  { .i = (int64_t)((uint64_t)instance->start_ns -
						   (uint64_t)message->publish_ns) } };
	describe_way(exporter, message, instance->thread, call);
	call->arrival = export_flow(exporter, message, callback->subscription ?
				    callback->subscription : message->subscription);
	event->end_flow = &call->arrival;
	event->end_flows = call->arrival != 0;
	return thread;
}

static bool instance_is_wanted(const struct exporter *exporter,
			       const struct model_instance *instance)
{
	const struct model_callback *callback = instance->callback;

	return export_in_window(exporter, instance->start_ns) &&
	       export_is_wanted(exporter, model_callback_node(callback),
				callback->subscription ? callback->subscription->topic : NULL);
}

/* If a callback is not shown, arrows that left it begin at their messages. */
static void skip_instance(struct exporter *exporter, const struct model_instance *instance)
{
	struct perfetto_thread *thread = export_thread(exporter, instance->thread);
	uint64_t flow[DEPARTURES_MAX];

	if (!thread)
		return;
	(void)take_departures(thread, instance, flow);
	export_pending(exporter, thread);
}

/* The first part of export_instance() and export_unfinished(). Return: as describe(); NULL also if
 * it is not shown. */
static struct perfetto_thread *begin_instance(struct exporter *exporter,
					   const struct model_instance *instance,
					   struct call_event *call, uint64_t *count)
{
	if (!instance_is_wanted(exporter, instance)) {
		skip_instance(exporter, instance);
		return NULL;
	}
	++*count;
	return describe(exporter, instance, call);
}

void export_instance(void *context, const struct model_instance *instance)
{
	struct exporter *exporter = context;
	int64_t end_ns = (int64_t)((uint64_t)instance->start_ns + (uint64_t)instance->duration_ns);
	struct call_event call;
	struct perfetto_thread *thread =
		begin_instance(exporter, instance, &call, &exporter->result->callbacks);

	if (!thread)
		return;
	pft_slice(thread->track, export_time(exporter, instance->start_ns),
		  export_time(exporter, end_ns), &call.event);
	export_run(exporter, instance, &call.event);
	if (end_ns > thread->last_end_ns)
		thread->last_end_ns = end_ns;
	export_pending(exporter, thread);
}

/*
 * A callback that was running when the trace ended stays open; readers show such a slice up to the
 * end. Otherwise its end was lost, or it threw an exception: its length is unknown, and an open
 * slice would contain everything later on the thread. So only its beginning is shown, as an
 * instant.
 */
void export_unfinished(void *context, const struct model_instance *instance)
{
	struct exporter *exporter = context;
	int64_t ns = export_time(exporter, instance->start_ns);
	struct call_event call;
	struct perfetto_thread *thread =
		begin_instance(exporter, instance, &call, &exporter->result->unfinished);

	if (!thread)
		return;
	call.event.category = exporter->words.unfinished;
	if (exporter->finishing && instance->start_ns >= thread->last_end_ns)
		pft_begin(thread->track, ns, &call.event);
	else
		pft_instant(thread->track, ns, &call.event);
}
