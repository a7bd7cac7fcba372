/* SPDX-License-Identifier: Apache-2.0 */
/* The tracks of an exported ROS 2 trace, the names of callbacks, and the arrows. */
#include "base/text.h"
#include "export/perfetto/perfetto_internal.h"

#include <stdio.h>
#include <string.h>

#define LABEL_MAX 512	/* bytes of a track's or callback's name */

void *by_index(struct exporter *exporter, enum by what, uint32_t index, size_t size)
{
	void *item = array_at(&exporter->by[what], index, size);

	exporter->out_of_memory |= !item;
	return item;
}

/* ---- processes and threads ---- */

static struct process_state *process_state(struct exporter *exporter,
					   const struct model_process *process)
{
	struct process_state *state = BY_INDEX(exporter, BY_PROCESS, process->index,
					       struct process_state);

	if (!state)
		return NULL;
	if (!state->track)
		state->track =
			pft_process(exporter->pft, exporter->options->machine + process->host,
				    process->pid, process->name);
	else if (strcmp(state->name, process->name) != 0)
		pft_process_name(state->track, process->name);
	state->name = process->name;
	return state;
}

struct pft_track *export_process(struct exporter *exporter, const struct model_process *process)
{
	struct process_state *state = process_state(exporter, process);

	return state ? state->track : NULL;
}

struct perfetto_thread *export_thread(struct exporter *exporter, const struct model_thread *thread)
{
	struct perfetto_thread *state = BY_INDEX(exporter, BY_THREAD, thread->index,
					      struct perfetto_thread);
	struct process_state *process;

	if (!state || state->track)
		return state;
	process = process_state(exporter, thread->process);
	if (!process)
		return NULL;
	state->track = pft_thread(exporter->pft, process->track, thread->tid, thread->name);
	return state;
}

/* The main thread, whose name is the process's, may have been seen after others. */
void export_process_names(struct exporter *exporter)
{
	for (unsigned i = 0; i < model_count(exporter->model, MODEL_PROCESS); i++) {
		struct process_state *state =
			BY_INDEX(exporter, BY_PROCESS, i, struct process_state);

		if (state && state->track)
			(void)process_state(exporter, model_process(exporter->model, i));
	}
}

struct pft_track *export_top(struct exporter *exporter, const char *name)
{
	return pft_track_like(
		exporter->pft, NULL,
		&(struct pft_look){ .name = name, .machine = exporter->options->machine });
}

/* ---- ROS 2 / node / publisher, subscription, lifecycle ---- */

static struct pft_track *ros_track(struct exporter *exporter)
{
	if (!exporter->ros)
		exporter->ros = export_top(exporter, "ROS 2");
	return exporter->ros;
}

static struct pft_track *node_track(struct exporter *exporter, const struct model_node *node)
{
	struct node_state *state;
	struct pft_look look = { .name = export_node_name(node), .ranked = true };

	if (!node) {
		if (!exporter->no_node)
			exporter->no_node =
				pft_track_like(exporter->pft, ros_track(exporter), &look);
		return exporter->no_node;
	}
	state = BY_INDEX(exporter, BY_NODE, node->index, struct node_state);
	if (!state)
		return NULL;
	if (!state->track)
		state->track = pft_track_like(exporter->pft, ros_track(exporter), &look);
	return state->track;
}

struct pft_track *export_entity(struct exporter *exporter, const struct model_node *node,
				enum entity entity, uint32_t index, const struct pft_look *look)
{
	struct pft_look ranked = *look;

	ranked.rank = (int32_t)((uint32_t)entity << 24 | (index & 0xffffff)) + 1;
	return pft_track_like(exporter->pft, node_track(exporter, node), &ranked);
}

static struct pft_track *topic_end(struct exporter *exporter, const struct model_node *node,
				   enum entity entity, uint32_t index,
				   const struct model_topic *topic)
{
	char name[LABEL_MAX];

	snprintf(name, sizeof(name), "%s %s %s", export_node_name(node),
		 entity == ENTITY_PUBLISHER ? "publisher" : "subscription", topic ? topic->name : "");
	return export_entity(exporter, node, entity, index, &(struct pft_look){ .name = name });
}

struct pft_track *export_publisher(struct exporter *exporter,
				   const struct model_publisher *publisher)
{
	struct publisher_state *state =
		publisher
			? BY_INDEX(exporter, BY_PUBLISHER, publisher->index, struct publisher_state)
			: NULL;

	if (state && !state->track)
		state->track = topic_end(exporter, publisher->node, ENTITY_PUBLISHER,
					 publisher->index, publisher->topic);
	return state ? state->track : NULL;
}

struct pft_track *export_subscription(struct exporter *exporter,
				      const struct model_subscription *subscription)
{
	struct subscription_state *state =
		subscription ? BY_INDEX(exporter, BY_SUBSCRIPTION, subscription->index,
					struct subscription_state)
			     : NULL;

	if (state && !state->track)
		state->track = topic_end(exporter, subscription->node, ENTITY_SUBSCRIPTION,
					 subscription->index, subscription->topic);
	return state ? state->track : NULL;
}

struct node_state *export_lifecycle(struct exporter *exporter, const struct model_node *node)
{
	struct pft_track *track;
	struct node_state *state;
	char name[LABEL_MAX];

	if (!node)
		return NULL;
	state = BY_INDEX(exporter, BY_NODE, node->index, struct node_state);
	if (!state || state->lifecycle)
		return state;
	snprintf(name, sizeof(name), "%s lifecycle", node->full_name);
	track = export_entity(exporter, node, ENTITY_LIFECYCLE, 0,
			      &(struct pft_look){ .name = name });
	state->lifecycle =
		track; /* the node's own track was created first, so @state is still valid */
	return state;
}

/* ---- losses of streams that many threads share ---- */

struct pft_track *export_stream(struct exporter *exporter, uint32_t stream)
{
	struct pft_track **track = TRACK_BY_INDEX(exporter, BY_STREAM, stream);
	const struct kymo_ctf_stream_info *info;
	const char *name = "";

	if (!track || *track)
		return track ? *track : NULL;
	if (!exporter->lost)
		exporter->lost = export_top(exporter, "Lost events");
	if (stream < kymo_ctf_stream_count(exporter->reader)) {
		info = kymo_ctf_stream(exporter->reader, stream);
		name = text_base_name(info->path);
	}
	*track = pft_track(exporter->pft, exporter->lost, *name ? name : "stream");
	return *track;
}

/* ---- arrows ---- */

static bool is_silent(const struct topic_state *topic, uint32_t slot)
{
	return topic->published - topic->slot[slot].heard > SILENT_MAX;
}

static bool has_slot(const struct topic_state *topic, const struct subscription_state *state,
		     uint32_t index)
{
	return state->slot < topic->slots && topic->slot[state->slot].subscription == index;
}

/* A free slot, else that of a silent subscription, else none (FLOWS_MAX). */
static void give_slot(struct topic_state *topic, struct subscription_state *state, uint32_t index)
{
	uint32_t slot = 0;

	if (topic->slots < FLOWS_MAX)
		slot = topic->slots++;
	else
		while (slot < FLOWS_MAX && !is_silent(topic, slot))
			slot++;
	state->slot = slot;
	if (slot == FLOWS_MAX)
		return;
	topic->slot[slot].subscription = index;
	topic->slot[slot].heard = topic->published;
}

/*
 * Gives new subscriptions a slot of their topic. An arrow leads from a message to one slot, so a
 * message with three subscriptions shows three arrows from its publisher, not one chain.
 */
static void slot_subscriptions(struct exporter *exporter)
{
	while (exporter->subscriptions_seen < model_count(exporter->model, MODEL_SUBSCRIPTION)) {
		const struct model_subscription *subscription =
			model_subscription(exporter->model, exporter->subscriptions_seen++);
		struct subscription_state *state = BY_INDEX(exporter, BY_SUBSCRIPTION,
							    subscription->index,
							    struct subscription_state);
		struct topic_state *topic = subscription->topic ?
			BY_INDEX(exporter, BY_TOPIC, subscription->topic->index,
				 struct topic_state) : NULL;

		if (state && topic)
			give_slot(topic, state, subscription->index);
	}
}

/*
 * The number of an arrow: 24 bits of the trace | 34 bits of the message | 6 bits of the slot. Arrows of traces that a viewer
 * merges stay separate, and neighbours share bytes, which deflate well.
 */
static uint64_t flow_id(const struct exporter *exporter, uint64_t message, uint32_t slot)
{
	return exporter->flow_base | (message << 6 & 0xffffffffff) | slot;
}

unsigned export_flows(struct exporter *exporter, const struct model_message *message,
		      uint64_t flow[FLOWS_MAX])
{
	struct topic_state *topic;
	unsigned flows = 0;

	slot_subscriptions(exporter);
	if (!message->id || !message->topic)
		return 0;
	topic = BY_INDEX(exporter, BY_TOPIC, message->topic->index, struct topic_state);
	if (!topic)
		return 0;
	for (uint32_t slot = 0; slot < topic->slots; slot++)
		if (!is_silent(topic, slot))
			flow[flows++] = flow_id(exporter, message->id, slot);
	return flows;
}

void export_published(struct exporter *exporter, const struct model_topic *index)
{
	struct topic_state *topic = index ?
		BY_INDEX(exporter, BY_TOPIC, index->index, struct topic_state) : NULL;

	if (topic)
		topic->published++;
}

uint64_t export_flow(struct exporter *exporter, const struct model_message *message,
		     const struct model_subscription *subscription)
{
	struct subscription_state *state;
	struct topic_state *topic;

	slot_subscriptions(exporter);
	if (!message->id || !subscription || !subscription->topic)
		return 0;
	state = BY_INDEX(exporter, BY_SUBSCRIPTION, subscription->index, struct subscription_state);
	topic = BY_INDEX(exporter, BY_TOPIC, subscription->topic->index, struct topic_state);
	if (!state || !topic)
		return 0;
	if (!has_slot(topic, state, subscription->index))
		give_slot(topic, state, subscription->index);
	if (!has_slot(topic, state, subscription->index))
		return 0;
	topic->slot[state->slot].heard = topic->published;
	return flow_id(exporter, message->id, state->slot);
}

/* ---- callbacks ---- */

static void add_text(struct exporter *exporter, struct callback_state *state, uint32_t name,
		     const char *text)
{
	state->arg[state->args++] =
		(struct pft_arg){ name, PFT_TEXT, { .text = pft_string(exporter->pft, text) } };
}

const struct callback_state *export_callback(struct exporter *exporter,
					     const struct model_callback *callback)
{
	struct callback_state *state = BY_INDEX(exporter, BY_CALLBACK, callback->index,
						struct callback_state);
	const struct model_node *node = model_callback_node(callback);
	const struct words *words = &exporter->words;
	char label[LABEL_MAX];

	if (!state || state->name)
		return state;
	state->name = pft_string(exporter->pft,
				 model_callback_label(callback, label, sizeof(label)));
	state->arg[state->args++] =
		(struct pft_arg){words->callback, PFT_POINTER, {.u = callback->address}};
	if (node)
		add_text(exporter, state, words->node, node->full_name);
	if (callback->subscription && callback->subscription->topic)
		add_text(exporter, state, words->topic, callback->subscription->topic->name);
	else if (callback->service)
		add_text(exporter, state, words->service, callback->service->name);
	else if (callback->timer)
		state->arg[state->args++] = (struct pft_arg){ words->period_ns, PFT_INT,
							      { .i = callback->timer->period_ns } };
	add_text(exporter, state, words->symbol, callback->symbol);
	return state;
}
