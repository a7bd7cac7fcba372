/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a message was lost that a subscription never received.
 *
 *     publish call ─▶ network ─▶ process ─▶ queue of the reader ─▶ take
 *            not_sent     wire      rejected       queue, not_taken
 *
 * The idea: the last point that the message is known to have passed, and the first one that it is
 * known not to have passed. That an event is missing proves something only if the hooks record
 * such events of this process or reader, and if no event was lost since the publication. A reader
 * hands out the messages of a publisher in order: if it handed out a later one, this one was in the
 * queue no longer.
 *
 * The middleware never connects a publisher and a subscription with incompatible QoS; to know this
 * needs no events of the middleware.
 */
#include "analysis/model/model_internal_messages.h"

#include <string.h>

const char *model_lost_name(enum model_lost lost)
{
	static const char *const names[MODEL_LOSTS] = {
		[MODEL_LOST_UNKNOWN] = "unknown",   [MODEL_LOST_NOT_SENT] = "not_sent",
		[MODEL_LOST_WIRE] = "wire",	    [MODEL_LOST_REJECTED] = "rejected",
		[MODEL_LOST_QUEUE] = "queue",	    [MODEL_LOST_NOT_TAKEN] = "not_taken",
	};

	return names[lost];
}

/* ---- QoS ---- */

static void on_qos(struct model *model, const struct now *now)
{
	ARGS(qos, now->event);
	struct model_qos *qos = model_handle(model, now->process, HANDLE_QOS, args->rmw_handle.u);

	if (!args->rmw_handle.present)
		return;
	if (!qos)
		qos = model_fact_new(model, sizeof(*qos));
	if (!qos)
		return;
	*qos = (struct model_qos){ .history = model_word(model, &args->history),
				   .reliability = model_word(model, &args->reliability),
				   .durability = model_word(model, &args->durability),
				   .deadline_ns = args->deadline.i,
				   .lifespan_ns = args->lifespan.i };
	model_handle_set(model, now->process, HANDLE_QOS, args->rmw_handle.u, qos);
}

void model_lost_qos(struct model *model, const struct process *process, uint64_t rmw_handle,
		    struct model_qos *qos)
{
	static const struct model_qos none = { .history = "", .reliability = "", .durability = "" };
	const struct model_qos *told = model_handle(model, process, HANDLE_QOS, rmw_handle);

	*qos = told ? *told : none;
}

static bool is(const char *word, const char *what)
{
	return strcmp(word, what) == 0;
}

const char *model_qos_conflict(const struct model_publisher *publisher,
			       const struct model_subscription *subscription)
{
	const struct model_qos *offered = &publisher->qos, *wanted = &subscription->qos;

	if (!*offered->reliability || !*wanted->reliability)
		return NULL;
	if (is(offered->reliability, "best_effort") && is(wanted->reliability, "reliable"))
		return "reliability";
	if (is(offered->durability, "volatile") && is(wanted->durability, "transient_local"))
		return "durability";
	if (wanted->deadline_ns &&
	    (!offered->deadline_ns || offered->deadline_ns > wanted->deadline_ns))
		return "deadline";
	return NULL;
}

/* ---- where ---- */

enum model_lost model_lost_where(const struct model *model, const struct model_message *message,
				 const struct model_subscription *subscription)
{
	struct path_seen seen;

	if (model_qos_conflict(message->publisher, subscription))
		return MODEL_LOST_REJECTED;
	if (model->lost_end_ns >= message->publish_ns)
		return MODEL_LOST_UNKNOWN;
	seen = model_path_seen(model, message, subscription);
	if (seen.cached)
		return MODEL_LOST_NOT_TAKEN;
	if (!seen.caches || !seen.is_whole ||
	    message->publisher->process == subscription->process)
		return MODEL_LOST_UNKNOWN;
	if (seen.received)
		return MODEL_LOST_REJECTED;
	if (!seen.receives || !seen.sends)
		return MODEL_LOST_UNKNOWN;
	return seen.sent ? MODEL_LOST_WIRE : MODEL_LOST_NOT_SENT;
}

/* A queue that keeps all displaces nothing, and a message with a lifespan may have expired. */
enum model_lost model_lost_in_queue(const struct model_message *message)
{
	if (is(message->subscription->qos.history, "keep_all") ||
	    message->publisher->qos.lifespan_ns || message->subscription->qos.lifespan_ns)
		return MODEL_LOST_UNKNOWN;
	return MODEL_LOST_QUEUE;
}

#define ON(id) [KYMO_POINT_##id] = on_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	ON(qos),
};

const struct model_part model_lost = { .handlers = handlers };
