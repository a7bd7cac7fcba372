/* SPDX-License-Identifier: Apache-2.0 */
/* Messages, lifecycle states and losses of the model become instants, slices and arrows. */
#include "export/perfetto/perfetto_internal.h"

int64_t export_time(const struct exporter *exporter, int64_t epoch_ns)
{
	int64_t ns = (int64_t)((uint64_t)epoch_ns - (uint64_t)exporter->offset_ns);

	return epoch_ns < exporter->offset_ns || ns < 0 ? 0 : ns;
}

bool export_is_wanted(const struct exporter *exporter, const struct model_node *node,
		      const struct model_topic *topic)
{
	const struct selection *selection = exporter->options->selection;

	return (!node || (selection_node(selection, node->full_name) &&
			  selection_process(selection, node->process->name, node->process->pid))) &&
	       (!topic || selection_topic(selection, topic->name));
}

void export_words(struct exporter *exporter)
{
	struct words *words = &exporter->words;

#define NUMBER(name, text) words->name = pft_string(exporter->pft, text);
	EXPORT_WORDS(NUMBER)
	for (int state = 0; state <= MODEL_EXECUTOR_EXECUTE; state++)
		words->executor_state[state] = pft_string(
			exporter->pft, model_executor_state_name((enum model_executor_state)state));
}

/* ---- messages ---- */

static bool publisher_is_wanted(const struct exporter *exporter,
				const struct model_message *message)
{
	return export_is_wanted(exporter, message->publisher ? message->publisher->node : NULL,
				message->topic);
}

static void put_publish(struct exporter *exporter, const struct model_message *message)
{
	struct pft_arg arg[2];
	uint64_t flow[FLOWS_MAX];
	struct pft_event event = { .category = exporter->words.publish, .flow = flow, .arg = arg,
				   .role = PFT_FLOW_BEGINS };

	if (!export_in_window(exporter, message->publish_ns) ||
	    !publisher_is_wanted(exporter, message))
		return;
	event.name = export_publication(exporter, message->publisher, message->is_intra);
	if (message->address)
		arg[event.args++] = (struct pft_arg){ exporter->words.message, PFT_POINTER,
						      { .u = message->address } };
	if (message->source_ns)
		arg[event.args++] = (struct pft_arg){ exporter->words.source_timestamp, PFT_INT,
						      { .i = message->source_ns } };
	event.flows = export_flows(exporter, message, flow);
	pft_instant(export_publisher(exporter, message->publisher),
		    export_time(exporter, message->publish_ns), &event);
}

void export_pending(struct exporter *exporter, struct perfetto_thread *thread)
{
	if (thread->pending.id)
		put_publish(exporter, &thread->pending);
	thread->pending.id = 0;
}

void export_publishes(struct exporter *exporter)
{
	for (uint32_t i = 0; i < exporter->by[BY_THREAD].count; i++)
		export_pending(exporter, BY_INDEX(exporter, BY_THREAD, i, struct perfetto_thread));
}

/* The arrows of @message also leave the callback that publishes it. */
static void depart(struct exporter *exporter, struct perfetto_thread *thread,
		   const struct model_message *message)
{
	uint64_t flow[FLOWS_MAX];
	unsigned flows = export_flows(exporter, message, flow);

	for (unsigned i = 0; i < flows && thread->departures < DEPARTURES_MAX; i++)
		thread->departure[thread->departures++] =
			(struct departure){ message->publish_ns, flow[i] };
}

/*
 * A publish call may deliver a message both within the process and to others: the model reports two
 * halves, but the file has one instant. The half within the process comes first and waits for the
 * other half, which has the source timestamp.
 */
static void on_published(void *context, const struct model_message *message)
{
	struct exporter *exporter = context;
	struct perfetto_thread *thread = message->publish_thread ?
		export_thread(exporter, message->publish_thread) : NULL;
	/* If events were lost, two calls may look like one. */
	bool second = thread && thread->pending.id && thread->pending.id == message->id &&
		      thread->pending.publisher == message->publisher;
	struct model_message both = *message;

	if (!second) {
		export_published(exporter, message->topic);
		if (export_in_window(exporter, message->publish_ns) &&
		    publisher_is_wanted(exporter, message))
			export_count_published(exporter, message);
	}
	if (!thread) {
		put_publish(exporter, message);
		return;
	}
	if (second) {
		both.publish_ns = thread->pending.publish_ns;
		thread->pending.id = 0;
	} else {
		export_pending(exporter, thread);
		depart(exporter, thread, message);
	}
	if (message->is_intra)
		thread->pending = *message;
	else
		put_publish(exporter, &both);
}

/* ---- messages that arrive, or do not ---- */

static bool subscriber_is_wanted(const struct exporter *exporter,
				 const struct model_message *message)
{
	return export_is_wanted(exporter,
				message->subscription ? message->subscription->node : NULL,
				message->topic);
}

static void on_taken(void *context, const struct model_message *message)
{
	struct exporter *exporter = context;
	/* A copy of the message that no callback receives is not on the path of the message. */
	uint64_t flow = message->callback ?
		export_flow(exporter, message, message->subscription) : 0;
	struct pft_event event = { .category = exporter->words.take,
				   .flow = &flow, .flows = flow != 0, .role = PFT_FLOW_PASSES };

	if (!export_in_window(exporter, message->take_ns) ||
	    !subscriber_is_wanted(exporter, message))
		return;
	event.name = export_reception(exporter, message->subscription);
	pft_instant(export_subscription(exporter, message->subscription),
		    export_time(exporter, message->take_ns), &event);
	export_count_taken(exporter, message);
}

/*
 * A message that a buffer dropped is shown at the subscription. A message that no subscription took
 * is shown at the publisher, and so is a dropped message if the trace does not say whose buffer it
 * was.
 */
static void on_dropped(void *context, const struct model_message *message, enum model_drop why)
{
	struct exporter *exporter = context;
	bool untaken = why == MODEL_DROP_UNTAKEN;
	int64_t ns = untaken ? message->publish_ns : exporter->now_ns;
	struct pft_event event = { .category = exporter->words.dropped };

	if (!export_in_window(exporter, ns) ||
	    !(untaken ? publisher_is_wanted : subscriber_is_wanted)(exporter, message))
		return;
	event.name = export_drop(exporter, message, why);
	pft_instant(untaken || !message->subscription ?
		    export_publisher(exporter, message->publisher) :
		    export_subscription(exporter, message->subscription),
		    export_time(exporter, ns), &event);
	export_count_dropped(exporter, message);
}

/* ---- service calls ---- */

/* The arrow of a call leaves the callback that sent the request. */
static void on_call_step(void *context, const struct model_call_step *step)
{
	const struct model_call *call = step->call;
	struct exporter *exporter = context;
	struct perfetto_thread *thread;

	if (step->what != MODEL_CALL_REQUEST)
		return;
	thread = export_thread(exporter, call->client_thread);
	if (thread && call->from && thread->departures < DEPARTURES_MAX)
		thread->departure[thread->departures++] =
			(struct departure){ call->request_ns,
					    export_call_flow(exporter, call->id) };
}

/* ---- lifecycle, loss ---- */

static uint32_t state_name(struct exporter *exporter, const struct model_transition *transition,
			   const char *state)
{
	return export_named(exporter, "%s %s", export_node_name(transition->node), state);
}

static void on_transition(void *context, const struct model_transition *transition)
{
	struct exporter *exporter = context;
	int64_t ns = export_time(exporter, transition->ns), born_ns;
	struct pft_event event = { .category = exporter->words.lifecycle };
	struct node_state *node;

	if (!export_in_window(exporter, transition->ns) ||
	    !export_is_wanted(exporter, transition->node, NULL))
		return;
	node = export_lifecycle(exporter, transition->node);
	if (!node)
		return;
	/* The first transition shows in which state the node was created, or was when the window
	 * begins. */
	if (!node->in_state) {
		born_ns = transition->node->born_ns > exporter->options->begin_ns ?
			  transition->node->born_ns : exporter->options->begin_ns;
		event.name = state_name(exporter, transition, transition->start);
		pft_begin(node->lifecycle, export_time(exporter, born_ns), &event);
	}
	pft_end(node->lifecycle, ns);
	event.name = state_name(exporter, transition, transition->goal);
	pft_begin(node->lifecycle, ns, &event);
	node->in_state = true;
}

static void on_loss(void *context, const struct model_loss *loss)
{
	struct exporter *exporter = context;
	const struct perfetto_thread *thread;

	if (loss->end_ns < exporter->options->begin_ns ||
	    loss->begin_ns > exporter->options->end_ns)
		return;
	thread = loss->thread ? export_thread(exporter, loss->thread) : NULL;
	exporter->result->lost_events += loss->events;
	exporter->result->lost_packets += loss->packets;
	pft_loss(thread ? thread->track : export_stream(exporter, loss->stream),
		 export_time(exporter, loss->begin_ns), export_time(exporter, loss->end_ns),
		 loss->events, loss->packets);
}

const struct model_listener export_listener = {
	.instance = export_instance,
	.unfinished = export_unfinished,
	.published = on_published,
	.taken = on_taken,
	.dropped = on_dropped,
	.transition = on_transition,
	.loss = on_loss,
	.call_step = on_call_step,
	.call = export_call,
	.cause = export_cause,
	.executor = export_executor,
	.goal = export_goal,
	.goal_step = export_goal_step,
};
