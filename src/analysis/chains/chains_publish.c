/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publications: the run that published a message, the paths that continue with the message, and the
 * end of the time in which it can be received.
 *
 * Each publisher has a window of its latest publications. When the window is full, its oldest
 * publication is retired: deliveries that it did not have until then are counted as missing.
 */
#include <string.h>

#include "analysis/chains/chains_internal.h"

/* A message younger than this may have been on its way when the trace ended. */
#define IN_FLIGHT_NS 100000000ll

struct chains_window *chains_window(struct chains *chains, const struct model_publisher *publisher)
{
	struct chains_window **slot =
		chains_element(chains, &chains->windows, sizeof(*slot), publisher->index);
	struct chains_window *window;

	/* Publications point to the window, so its address must not change. */
	if (slot && !*slot)
		*slot = chains_alloc(chains, sizeof(**slot));
	window = slot ? *slot : NULL;
	if (window && !window->most) {
		window->most = WINDOW_MIN;
		if (publisher->depth > WINDOW_MIN / 2)
			window->most = publisher->depth < WINDOW_MAX / 2 ?
					       (unsigned)publisher->depth * 2 : WINDOW_MAX;
	}
	return window;
}

static bool fell_into_gap(const struct chains *chains, int64_t from_ns)
{
	uint64_t at, stop = chains->gaps > GAPS_MAX ? chains->gaps - GAPS_MAX : 0;

	for (at = chains->gaps; at > stop; at--)
		if (chains->gap[(at - 1) % GAPS_MAX].end_ns >= from_ns)
			return true;
	return false;
}

static void keep_untaken(struct chains *chains, struct path *path, uint64_t id)
{
	const struct chains_options *o = &chains->options;
	uint32_t index = path->pub.index;

	if (!o->collect || index >= o->collect_bits || !(o->collect[index / 8] >> index % 8 & 1))
		return;
	if (!path->untaken)
		path->pub.untaken = path->untaken =
			chains_alloc(chains, CHAINS_UNTAKEN_MAX * sizeof(*path->untaken));
	if (path->untaken && path->pub.untaken_count < CHAINS_UNTAKEN_MAX)
		path->untaken[path->pub.untaken_count++] = id;
}

/*
 * The publication can no longer be received: count the reason at each step that it did not reach.
 */
void chains_retire(struct chains *chains, struct chains_publication *publication, bool at_end)
{
	struct chains_window *window = publication->window;
	bool young = at_end && publication->publish_ns >
				       model_facts(chains->model)->last_ns - IN_FLIGHT_NS;
	bool gap = !young && fell_into_gap(chains, publication->publish_ns);
	bool is_missed = publication->delivered < publication->publisher->topic->subscriptions;
	const struct chains_token *token;
	struct path *child;

	for (token = publication->tokens; token && is_missed; token = token->next)
		for (child = (struct path *)token->path->pub.child; child;
		     child = (struct path *)child->pub.sibling) {
			if (token->children >> child->ordinal & 1)
				continue;
			if (young || gap)
				*(young ? &child->pub.at_end : &child->pub.lost) += 1;
			if (!young && chains->options.hops && !publication->scope)
				keep_untaken(chains, child, publication->id);
		}
	*(publication->newer ? &publication->newer->older : &window->newest) = publication->older;
	*(publication->older ? &publication->older->newer : &window->oldest) = publication->newer;
	window->count--;
	map_del(&chains->publications, publication->id, publication->scope);
	chains_tokens_release(chains, publication->tokens);
	publication->newer = chains->free_publications;
	chains->free_publications = publication;
}

static const struct model_topic nowhere = { .name = "" };
const struct model_publisher chains_nobody = { .topic = &nowhere };

struct chains_publication *chains_publication(struct chains *chains, struct chains_window *window,
				       const struct model_publisher *publisher, uint64_t id,
				       unsigned scope, int64_t publish_ns)
{
	struct chains_publication *publication;

	while (window->count >= window->most)
		chains_retire(chains, window->oldest, false);
	publication = chains->free_publications;
	if (publication)
		chains->free_publications = publication->newer;
	else
		publication = chains_alloc(chains, sizeof(*publication));
	if (!publication)
		return NULL;
	*publication = (struct chains_publication){
		.id = id,
		.scope = scope,
		.window = window,
		.publisher = publisher,
		.publish_ns = publish_ns,
		.older = window->newest,
	};
	*(window->newest ? &window->newest->newer : &window->oldest) = publication;
	window->newest = publication;
	window->count++;
	if (map_put(&chains->publications, id, scope, publication))
		chains->failed = true;
	return publication;
}

bool chains_is_inside(const struct chains *chains, int64_t begin_ns)
{
	return begin_ns >= chains->options.begin_ns && begin_ns <= chains->options.end_ns;
}

static bool has_token(const struct chains_publication *publication, const struct path *path,
		      const struct chains_token *parent)
{
	const struct chains_token *token;

	for (token = publication->tokens; token; token = token->next)
		if (token->path == path && token->parent == parent)
			return true;
	return false;
}

static void follow_one(struct chains *chains, struct chains_publication *publication,
		       const struct model_message *message, struct chains_token *parent,
		       enum chains_link link)
{
	struct path *path = NULL;
	struct chains_token *token;

	if (parent || chains_is_inside(chains, message->publish_ns))
		path = chains_path_step(chains, parent, NULL, message->publisher, link);
	if (!path || has_token(publication, path, parent))
		return;
	if (publication->token_count == TOKENS_MAX) {
		chains->facts.fan_in_exceeded++;
		return;
	}
	token = chains_token(chains, path, parent);
	if (!token)
		return;
	token->id = message->id;
	token->publish_ns = message->publish_ns;
	token->thread = message->publish_thread;
	token->next = publication->tokens;
	publication->tokens = token;
	publication->token_count++;
	chains_stats_arrived(chains, token);
	chains_tree_publication(chains, token);
}

/* The message continues the path of each of @parents; with NULL it begins a path. */
void chains_follow(struct chains *chains, struct chains_publication *publication,
		   const struct model_message *message, struct chains_token *parents,
		   enum chains_link link)
{
	do {
		follow_one(chains, publication, message, parents, link);
		parents = parents ? parents->next : NULL;
	} while (parents);
}

bool chains_is_infrastructure(const struct model_topic *topic)
{
	return strcmp(topic->name, "/rosout") == 0 || strcmp(topic->name, "/parameter_events") == 0;
}

bool chains_is_followed(const struct chains *chains, const struct model_topic *topic)
{
	return chains->options.all_topics || chains->elements || !chains_is_infrastructure(topic);
}

void chains_on_published(void *context, const struct model_message *message)
{
	struct chains *chains = context;
	struct chains_publication *publication;
	struct thread_state *thread;
	struct chains_window *window;

	if (!message->publisher || !message->id || !message->publish_thread ||
	    !chains_is_followed(chains, message->topic))
		return;
	window = chains_window(chains, message->publisher);
	thread = chains_thread(chains, message->publish_thread);
	/* A publish call that uses both paths is reported twice with the same id. */
	if (!window || !thread || window->last_id == message->id)
		return;
	window->last_id = message->id;
	publication = chains_publication(chains, window, message->publisher, message->id, 0,
					 message->publish_ns);
	if (!publication)
		return;
	if (thread->run && thread->run->tokens)
		chains_follow(chains, publication, message, thread->run->tokens, CHAINS_DIRECT);
	else if (!thread->run && thread->answered.tokens)
		chains_follow(chains, publication, message, thread->answered.tokens, CHAINS_DIRECT);
	chains_link_latest(chains, publication, message, thread->run);
	/* A chain of a pattern may begin anywhere, other chains only outside of callbacks. */
	if (!publication->tokens && (!thread->run || chains->elements))
		chains_follow(chains, publication, message, NULL, CHAINS_DIRECT);
}

void chains_on_dropped(void *context, const struct model_message *message, enum model_drop why)
{
	struct chains *chains = context;
	struct chains_publication *publication = map_get(&chains->publications, message->id, 0);
	struct chains_token *token;

	for (token = publication ? publication->tokens : NULL; token; token = token->next) {
		if (why != MODEL_DROP_UNTAKEN && message->subscription)
			chains_path_drop(chains, token->path, message->subscription, why);
		chains_tree_dropped(chains, token, message, why);
	}
}
