/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of all paths in the trace; see chains.h.
 *
 * The idea: a step of a path is known by the step before it and by its callback, or its publisher
 * and kind of link. A map from these two to the step finds the next step of a message with one
 * look-up, however many paths there are. A path is created when a message follows it for the first
 * time.
 */
#include <string.h>

#include "analysis/chains/chains_internal.h"
#include "base/array.h"

/* The part of the map's key that distinguishes a step from its siblings. */
static uint64_t key_of(const struct model_callback *callback,
		       const struct model_publisher *publisher, enum chains_link link)
{
	return callback ? (uint64_t)callback->index << 3 | 7 :
			  (uint64_t)publisher->index << 3 | link;
}

static bool is_in_path(const struct path *path, const struct model_callback *callback)
{
	for (; path; path = path->parent)
		if (path->pub.callback == callback)
			return true;
	return false;
}

static bool path_keep(struct chains *chains, struct path *path)
{
	if (!ARRAY_ROOM(chains->path, chains->path_count, chains->path_size)) {
		chains->failed = true;
		return false;
	}
	path->pub.index = chains->path_count;
	chains->path[chains->path_count++] = path;
	return true;
}

static void path_append(struct path *parent, struct path *path)
{
	if (parent->last_child)
		parent->last_child->pub.sibling = &path->pub;
	else
		parent->pub.child = &path->pub;
	parent->last_child = path;
	path->ordinal = parent->children < ORDINALS_MAX ? parent->children : ORDINALS_MAX;
	parent->children++;
}

/* A complete path, a path with a loop, or a path at its maximum length is not extended. */
static bool may_grow(struct chains *chains, const struct path *parent)
{
	if (parent && (parent->pub.is_complete || parent->pub.is_loop))
		return false;
	if (parent && parent->pub.depth + 1 == CHAINS_STEPS_MAX) {
		chains->facts.steps_exceeded++;
		return false;
	}
	return true;
}

static struct path *path_new(struct chains *chains, struct path *parent,
			     const struct model_callback *callback,
			     const struct model_publisher *publisher, enum chains_link link)
{
	unsigned matched = parent ? parent->matched : 0;
	struct path *path;

	if (chains->elements && chains_pattern_matches(chains, matched, callback, publisher))
		matched++;
	else if (chains->elements && !parent)
		return NULL;
	if (chains->path_count == CHAINS_PATHS_MAX) {
		chains->facts.paths_exceeded++;
		return NULL;
	}
	path = chains_alloc(chains, sizeof(*path));
	if (!path || !path_keep(chains, path))
		return NULL;
	path->parent = parent;
	path->pub.parent = parent ? &parent->pub : NULL;
	path->pub.callback = callback;
	path->pub.publisher = publisher;
	path->pub.link = link;
	path->pub.call = chains_call_of(publisher);
	path->pub.is_loop = callback && is_in_path(parent, callback);
	path->matched = matched;
	path->pub.is_complete = chains->elements && matched == chains->elements;
	if (parent) {
		path->pub.depth = parent->pub.depth + 1;
		path->pub.hops = parent->pub.hops + (callback != NULL);
		path_append(parent, path);
	}
	return path;
}

/* The step after @parent's path, or a first step; NULL: the step is not followed. */
struct path *chains_path_step(struct chains *chains, struct chains_token *parent,
			      const struct model_callback *callback,
			      const struct model_publisher *publisher, enum chains_link link)
{
	struct path *before = parent ? parent->path : NULL, *path;
	uint64_t key = key_of(callback, publisher, link);
	uint64_t scope = before ? before->pub.index + 1ull : 0;

	if (!may_grow(chains, before))
		return NULL;
	path = map_get(&chains->paths, key, scope);
	if (path)
		return path;
	path = path_new(chains, before, callback, publisher, link);
	if (path && map_put(&chains->paths, key, scope, path))
		chains->failed = true;
	return path;
}

void chains_path_drop(struct chains *chains, struct path *path,
		      const struct model_subscription *subscription, enum model_drop why)
{
	struct chains_drop *drop;

	for (drop = (struct chains_drop *)path->pub.drops; drop; drop = drop->next)
		if (drop->subscription == subscription)
			break;
	if (!drop) {
		drop = chains_alloc(chains, sizeof(*drop));
		if (!drop)
			return;
		drop->subscription = subscription;
		drop->next = (struct chains_drop *)path->pub.drops;
		path->pub.drops = drop;
	}
	drop->overwritten += why == MODEL_DROP_OVERWRITTEN;
	drop->cleared += why == MODEL_DROP_CLEARED;
}

/* ---- queries ---- */

unsigned chains_path_count(const struct chains *chains)
{
	return chains->path_count;
}

const struct chains_path *chains_path(const struct chains *chains, unsigned index)
{
	return index < chains->path_count ? &chains->path[index]->pub : NULL;
}

bool chains_is_chain(const struct chains *chains, const struct chains_path *path)
{
	if (chains->elements)
		return path->is_complete;
	if (!path->hops)
		return false;
	return !path->child || (path->callback && path->silent > path->silent_unfinished);
}

uint64_t chains_untaken(const struct chains_path *path)
{
	const struct chains_path *topic = path->parent;
	uint64_t missing = topic->count > path->parents ? topic->count - path->parents : 0;
	uint64_t known = path->at_end + path->lost;

	for (const struct chains_drop *drop = topic->drops; drop; drop = drop->next)
		if (drop->subscription == path->callback->subscription)
			known += drop->overwritten + drop->cleared;
	return missing > known ? missing - known : 0;
}

unsigned chains_steps(const struct chains_path *path,
		      const struct chains_path *step[CHAINS_STEPS_MAX])
{
	unsigned count = path->depth + 1;

	for (; path; path = path->parent)
		step[path->depth] = path;
	return count;
}

const char *chains_segment_name(enum chains_segment segment)
{
	static const char *const names[] = {
		[CHAINS_RUN] = "run",         [CHAINS_CACHED] = "cached",
		[CHAINS_PUBLISH] = "publish", [CHAINS_TRANSPORT] = "transport",
		[CHAINS_WAIT] = "wait",       [CHAINS_TAKE] = "take",
		[CHAINS_AWAITED] = "awaited", [CHAINS_RESUMED] = "resumed",
	};

	return names[segment];
}

const char *chains_link_name(enum chains_link link)
{
	static const char *const names[] = {
		[CHAINS_DIRECT] = "direct",
		[CHAINS_PERIODIC_ASYNC] = "periodic_async",
		[CHAINS_PARTIAL_SYNC] = "partial_sync",
		[CHAINS_LATEST] = "latest",
	};

	return names[link];
}
