/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indirect links: one callback stores data, and another one publishes it later. The model reports
 * which publication follows from which subscription. The publication continues the chains of one
 * run of that subscription's callback: the latest run that had ended when the publish call began. A
 * run that is still in progress on another thread may not have stored its data yet, so the run
 * before it counts.
 *
 *   on_odom  |--stores--|                    |--stores--|
 *   timer                     |-publish-|         |-publish-|
 *                        |<------->| cached                  the first run still is the latest ended
 *                        |<------------------------->| cached
 */

#include "analysis/chains/chains_internal.h"

static struct latest *latest_of(struct chains *chains, const struct model_callback *callback)
{
	struct latest **latest = chains_element(chains, &chains->latest, sizeof(*latest),
						callback->index);

	return latest ? *latest : NULL;
}

static struct latest *latest_new(struct chains *chains, const struct model_callback *callback)
{
	const struct model_node *node = model_callback_node(callback);
	struct latest **slot = chains_element(chains, &chains->latest, sizeof(*slot),
					      callback->index);
	struct latest **list, *latest;

	latest = slot ? chains_alloc(chains, sizeof(*latest)) : NULL;
	if (!latest)
		return NULL;
	latest->callback = callback;
	*slot = latest;
	list = node ? chains_element(chains, &chains->node_latest, sizeof(*list), node->index)
		    : NULL;
	if (list) {
		latest->next = *list;
		*list = latest;
	}
	return latest;
}

static bool is_linked(struct chains *chains, const struct model_publisher *publisher)
{
	const struct model_link *link;
	uint8_t *linked;
	unsigned i;

	for (; chains->links_known < model_count(chains->model, MODEL_LINK);
	     chains->links_known++) {
		link = model_link(chains->model, chains->links_known);
		for (i = 0; i < link->publishers; i++) {
			linked = chains_element(chains, &chains->linked, 1,
						link->publisher[i]->index);
			if (linked)
				*linked = 1;
		}
	}
	linked = chains_element(chains, &chains->linked, 1, publisher->index);
	return linked && *linked;
}

/* Takes over the tokens of @run, which is over, if a later publication may follow from it. */
void chains_link_ended(struct chains *chains, struct chains_run *run, uint64_t id, int64_t end_ns)
{
	const struct model_callback *callback = run->callback;
	struct latest *latest;

	if (!callback->subscription ||
	    (!chains->options.latest && !model_count(chains->model, MODEL_LINK)))
		return;
	latest = latest_of(chains, callback);
	if (!latest)
		latest = latest_new(chains, callback);
	if (!latest)
		return;
	chains_tokens_release(chains, latest->before.tokens);
	latest->before = latest->now;
	latest->now = (struct ended){ id, end_ns, run->tokens };
	run->tokens = NULL;
}

/* The latest run that had ended when the publish call began; NULL: that run is not followed. */
static const struct ended *ended_by(const struct latest *latest, int64_t ns)
{
	const struct ended *ended = latest->now.end_ns <= ns ? &latest->now : &latest->before;

	return ended->tokens && ended->end_ns <= ns ? ended : NULL;
}

static bool is_inside(const struct chains_run *run, const struct model_callback *callback)
{
	for (; run; run = run->outer)
		if (run->callback == callback)
			return true;
	return false;
}

static enum chains_link link_of(enum model_link_kind kind)
{
	switch (kind) {
	case MODEL_LINK_PERIODIC_ASYNC:
		return CHAINS_PERIODIC_ASYNC;
	case MODEL_LINK_PARTIAL_SYNC:
		return CHAINS_PARTIAL_SYNC;
	case MODEL_LINK_USE_LATEST:
		break;
	}
	return CHAINS_LATEST;
}

/*
 * Called right after the publication was reported. If the publication is inside a run of that
 * callback, the link is direct, and this function ignores it.
 */
void chains_on_cause(void *context, const struct model_cause *cause)
{
	struct chains *chains = context;
	const struct model_message *message = cause->message;
	struct chains_publication *publication = map_get(&chains->publications, message->id, 0);
	const struct latest *latest = cause->callback ? latest_of(chains, cause->callback) : NULL;
	const struct ended *ended = latest ? ended_by(latest, message->publish_ns) : NULL;

	if (!publication || !ended || !message->publish_thread ||
	    is_inside(chains_run_of(chains, message->publish_thread), cause->callback))
		return;
	/*
	 * An input counts for the next publication only: ignore a run that already had its
	 * publication.
	 */
	if (cause->link->kind == MODEL_LINK_PARTIAL_SYNC &&
	    (cause->instance != ended->id || !cause->first))
		return;
	chains_follow(chains, publication, message, ended->tokens, link_of(cause->link->kind));
}

/*
 * For a publication inside a timer without a link, assume that it contains the data that its node
 * received last.
 */
void chains_link_latest(struct chains *chains, struct chains_publication *publication,
			const struct model_message *message, const struct chains_run *inside)
{
	const struct model_node *node = message->publisher->node;
	struct latest **list, *latest;
	const struct ended *ended;

	if (!chains->options.latest || !node || !inside ||
	    inside->callback->kind != MODEL_CALLBACK_TIMER ||
	    is_linked(chains, message->publisher))
		return;
	list = chains_element(chains, &chains->node_latest, sizeof(*list), node->index);
	for (latest = list ? *list : NULL; latest; latest = latest->next) {
		ended = ended_by(latest, message->publish_ns);
		if (!ended || (!chains->options.all_topics &&
			       chains_is_infrastructure(latest->callback->subscription->topic)))
			continue;
		chains->facts.latest_used = true;
		chains_follow(chains, publication, message, ended->tokens, CHAINS_LATEST);
	}
}

/* The trace is over: release the tokens of all remembered runs. */
void chains_link_finish(struct chains *chains)
{
	struct latest **latest = chains->latest.item;
	uint32_t i;

	chains->facts.links = model_count(chains->model, MODEL_LINK);
	for (i = 0; i < chains->latest.count; i++)
		if (latest[i]) {
			chains_tokens_release(chains, latest[i]->now.tokens);
			chains_tokens_release(chains, latest[i]->before.tokens);
			latest[i]->now.tokens = latest[i]->before.tokens = NULL;
		}
}
