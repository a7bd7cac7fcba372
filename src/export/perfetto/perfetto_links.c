/* SPDX-License-Identifier: Apache-2.0 */
/* Message links, and what the threads of executors did. */
#include "export/perfetto/perfetto_internal.h"

#include <stdio.h>

#define LABEL_MAX 64
/* differs from the numbers of programs before they are mixed */
#define LINK_FLOWS (UINT64_C(1) << 61)

/*
 * An arrow from the run of a callback to a message that was computed from what the run received.
 * The run and the message may already be written, so both ends of the arrow are instants of their
 * own.
 */
void export_cause(void *context, const struct model_cause *cause)
{
	struct exporter *exporter = context;
	const struct model_message *message = cause->message;
	const struct model_subscription *from = cause->subscription;
	uint64_t flow = export_mix(exporter, LINK_FLOWS + exporter->links);
	struct pft_event event = { .category = exporter->words.link, .flow = &flow, .flows = 1,
				   .role = PFT_FLOW_BEGINS };
	const char *source, *made;

	if (!message->publisher || !export_in_window(exporter, cause->start_ns) ||
	    !export_in_window(exporter, message->publish_ns) ||
	    !export_is_wanted(exporter, from->node, from->topic) ||
	    !export_is_wanted(exporter, message->publisher->node, message->topic))
		return;
	exporter->links++;
	source = from->topic ? from->topic->name : "";
	made = message->topic ? message->topic->name : "";
	event.name = export_named(exporter, "%s used %s for %s", export_node_name(from->node), source, made);
	pft_instant(export_subscription(exporter, from), export_time(exporter, cause->start_ns),
		    &event);
	event.name = export_named(exporter, "%s made %s of %s", export_node_name(from->node), made, source);
	event.role = PFT_FLOW_PASSES;
	pft_instant(export_publisher(exporter, message->publisher),
		    export_time(exporter, message->publish_ns), &event);
}

static struct pft_track *executor_track(struct exporter *exporter,
					const struct model_thread *thread)
{
	struct pft_track **track = TRACK_BY_INDEX(exporter, BY_EXECUTOR, thread->index);
	char name[LABEL_MAX];

	if (!track || *track)
		return track ? *track : NULL;
	snprintf(name, sizeof(name), "executor of %s %d", thread->name, thread->tid);
	*track = pft_track(exporter->pft, export_process(exporter, thread->process), name);
	return *track;
}

/* "execute /planner /scan", or the state alone where it is not known what was executed. */
static uint32_t executor_name(struct exporter *exporter,
			      const struct model_executor_interval *interval)
{
	const uint32_t state = exporter->words.executor_state[interval->state];
	const char *word = model_executor_state_name(interval->state);

	if (interval->timer)
		return export_named(exporter, "%s %s timer %g ms", word, export_node_name(interval->timer->node),
				    (double)interval->timer->period_ns / 1e6);
	if (interval->subscription && interval->subscription->topic)
		return export_named(exporter, "%s %s %s", word, export_node_name(interval->subscription->node),
				    interval->subscription->topic->name);
	return state;
}

void export_executor(void *context, const struct model_executor_interval *interval)
{
	struct exporter *exporter = context;
	struct pft_event event = { .category = exporter->words.executor };
	int64_t begin_ns = export_time(exporter, interval->start_ns);
	const struct model_node *node = NULL;
	struct pft_track *track;

	if (interval->timer)
		node = interval->timer->node;
	else if (interval->subscription)
		node = interval->subscription->node;
	if (!export_in_window(exporter, interval->start_ns) ||
	    !export_is_wanted(exporter, node,
			      interval->subscription ? interval->subscription->topic : NULL))
		return;
	track = executor_track(exporter, interval->thread);
	event.name = executor_name(exporter, interval);
	if (interval->end_ns)
		pft_slice(track, begin_ns, export_time(exporter, interval->end_ns), &event);
	else
		pft_instant(track, begin_ns, &event);
}
