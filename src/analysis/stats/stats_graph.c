/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of callbacks and topics; see stats_graph.h. */
#include "analysis/stats/stats_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct graph {
	const struct model *model;
	struct stats *stats;
	struct intervals *intervals;
	struct graph_delivery *delivery;	/* by callback */
	unsigned deliveries;
	uint64_t *lost;				/* by subscription */
	unsigned losts;
	int64_t begin_ns, end_ns;
	bool failed;
};

static bool inside(const struct graph *graph, int64_t ns)
{
	return ns >= graph->begin_ns && ns <= graph->end_ns;
}

static void on_taken(void *context, const struct model_message *message)
{
	struct graph *graph = context;
	struct graph_delivery *delivery;
	int64_t latency_ns = message->callback_ns - message->publish_ns, error_ns;

	if (!message->callback ||
	    !inside(graph, message->publish_ns ? message->publish_ns : message->take_ns))
		return;
	delivery = ARRAY_AT(graph->delivery, graph->deliveries, message->callback->index);
	graph->failed |= !delivery;
	if (!delivery)
		return;
	delivery->count++;
	if (!message->publish_ns || !message->publish_thread)
		return;
	error_ns = model_clock_error(message->publish_thread->process,
				     message->take_thread->process, message->take_ns);
	if (error_ns == KYMO_CTF_ERROR_UNKNOWN) {
		delivery->between_hosts++;
		return;
	}
	if (error_ns > delivery->latency_error_ns)
		delivery->latency_error_ns = error_ns;
	if (histogram_add(&delivery->latency, latency_ns > 0 ? (uint64_t)latency_ns : 0))
		graph->failed = true;
}

static void on_dropped(void *context, const struct model_message *message, enum model_drop why)
{
	struct graph *graph = context;
	const struct model_subscription *subscription = message->subscription;
	uint64_t *lost;

	if (why == MODEL_DROP_UNTAKEN || !subscription ||
	    (message->publish_ns && !inside(graph, message->publish_ns)))
		return;
	lost = ARRAY_AT(graph->lost, graph->losts, subscription->index);
	if (lost)
		++*lost;
	else
		graph->failed = true;
}

static const struct model_listener listener = { .taken = on_taken, .dropped = on_dropped };

int graph_create(struct graph **result, struct model *model, int64_t begin_ns, int64_t end_ns,
		 struct kymo_err *err)
{
	struct graph *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return err_no_memory(err);
	if (model_listen(model, &listener, graph, err)) {
		free(graph);
		return -1;
	}
	graph->model = model;
	graph->begin_ns = begin_ns;
	graph->end_ns = end_ns;
	if (stats_create(&graph->stats, model, begin_ns, end_ns, err) ||
	    intervals_create(&graph->intervals, model, begin_ns, end_ns, err)) {
		graph_destroy(graph);
		return -1;
	}
	*result = graph;
	return 0;
}

void graph_destroy(struct graph *graph)
{
	if (!graph)
		return;
	for (unsigned i = 0; i < graph->deliveries; i++)
		histogram_free(&graph->delivery[i].latency);
	free(graph->delivery);
	free(graph->lost);
	stats_destroy(graph->stats);
	intervals_destroy(graph->intervals);
	free(graph);
}

const struct stats *graph_stats(const struct graph *graph)
{
	return graph->stats;
}

const struct intervals *graph_intervals(const struct graph *graph)
{
	return graph->intervals;
}

const struct graph_delivery *graph_delivery(const struct graph *graph, unsigned callback)
{
	static const struct graph_delivery none;

	return callback < graph->deliveries ? &graph->delivery[callback] : &none;
}

/* Did a callback of a subscription run? Humble traces no more than that within a process. */
static bool has_run(const struct graph *graph, const struct model_topic *topic)
{
	for (unsigned i = 0; i < model_count(graph->model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(graph->model, i);

		if (callback->subscription && callback->subscription->topic == topic &&
		    stats_callback(graph->stats, i)->duration.count)
			return true;
	}
	return false;
}

unsigned graph_topic_flags(const struct graph *graph, const struct model_topic *topic)
{
	const struct stats_topic *s = stats_topic(graph->stats, topic->index);
	unsigned flags = 0;

	if (!topic->publishers)
		flags |= GRAPH_NO_PUBLISHER;
	if (!topic->subscriptions)
		flags |= GRAPH_NO_SUBSCRIBER;
	if (topic->publishers && topic->subscriptions && !s->published && !s->taken &&
	    !has_run(graph, topic))
		flags |= GRAPH_SILENT;
	if (s->untaken)
		flags |= GRAPH_UNTAKEN;
	if (s->overwritten || s->cleared)
		flags |= GRAPH_OVERWRITTEN;
	return flags;
}

unsigned graph_callback_flags(const struct graph *graph, const struct model_callback *callback)
{
	const struct stats_callback *s = stats_callback(graph->stats, callback->index);
	const struct model_subscription *subscription = callback->subscription;
	unsigned flags = 0;

	if (!s->duration.count && !s->unfinished)
		flags |= GRAPH_NEVER_RAN;
	if (s->unfinished)
		flags |= GRAPH_UNFINISHED;
	if (callback->is_intra && subscription && subscription->index < graph->losts &&
	    graph->lost[subscription->index])
		flags |= GRAPH_OVERWRITTEN;
	return flags;
}

const char *graph_flag_text(enum graph_flag flag)
{
	switch (flag) {
	case GRAPH_NO_PUBLISHER:
		return "no publisher";
	case GRAPH_NO_SUBSCRIBER:
		return "no subscriber";
	case GRAPH_SILENT:
		return "no message";
	case GRAPH_UNTAKEN:
		return "untaken";
	case GRAPH_OVERWRITTEN:
		return "overwritten";
	case GRAPH_NEVER_RAN:
		return "never ran";
	case GRAPH_UNFINISHED:
		return "unfinished";
	}
	return "";
}

bool graph_failed(const struct graph *graph)
{
	return graph->failed || stats_failed(graph->stats) || intervals_failed(graph->intervals);
}

PASS_FAILED(graph)
PASS_LISTENER_FAILED(graph);
