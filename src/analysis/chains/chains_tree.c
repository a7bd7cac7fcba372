/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of one message: its causes and everything that followed from it; see chains.h.
 *
 * The idea: when the publication that was asked for comes, its causes are still known, and they
 * are added from the first one on. From then on each run, publication and loss whose cause is in
 * the tree is added as it comes. So the pass that follows all chains is enough.
 */
#include <stdlib.h>

#include "analysis/chains/chains_internal.h"

static struct chains_tree_step *step_new(struct chains *chains, int32_t parent)
{
	struct chains_tree_step *step;

	if (!chains->tree)
		chains->tree = calloc(CHAINS_TREE_MAX, sizeof(*chains->tree));
	if (!chains->tree)
		chains->failed = true;
	if (!chains->tree || chains->tree_count == CHAINS_TREE_MAX)
		return NULL;
	step = &chains->tree[chains->tree_count++];
	step->parent = parent;
	step->depth = parent < 0 ? 0 : chains->tree[parent].depth + 1;
	return step;
}

static void step_fill(struct chains_tree_step *step, const struct chains_token *token)
{
	const struct chains_path *path = &token->path->pub;

	step->callback = path->callback;
	step->publisher = path->publisher;
	step->thread = token->thread;
	step->link = path->link;
	step->call = path->call;
	step->id = token->id;
	step->begin_ns = path->callback ? token->start_ns : token->publish_ns;
	step->end_ns = token->end_ns;
	step->publish_ns = token->publish_ns;
	step->send_ns = token->send_ns;
	step->take_ns = token->take_ns;
	step->wait_ns = token->wait_ns;
}

/*
 * Adds the causes of @token, from the first step on. @follows: also keep other steps that follow
 * from them.
 */
static int32_t add_causes(struct chains *chains, struct chains_token *token, bool follows)
{
	struct chains_tree_step *step;
	int32_t parent;

	if (!token)
		return -1;
	parent = add_causes(chains, token->parent, follows);
	step = step_new(chains, parent);
	if (!step)
		return parent;
	step_fill(step, token);
	token->tree = (int32_t)(step - chains->tree);
	token->tree_follows = follows;
	return token->tree;
}

static bool is_asked(const struct chains *chains, const struct chains_token *token)
{
	const struct chains_options *o = &chains->options;
	const struct chains_token *first = token;

	if (o->follow_id)
		return token->id == o->follow_id;
	if (o->follow_ns == INT64_MIN || chains->tree_count)
		return false;
	while (first->parent)
		first = first->parent;
	return (first->start_ns ? first->start_ns : first->publish_ns) >= o->follow_ns;
}

static void add(struct chains *chains, struct chains_token *token, int32_t parent, bool asked)
{
	struct chains_tree_step *step = step_new(chains, parent);

	if (!step)
		return;
	step_fill(step, token);
	step->is_asked = asked;
	token->tree = (int32_t)(step - chains->tree);
	token->tree_follows = true;
}

void chains_tree_publication(struct chains *chains, struct chains_token *token)
{
	const struct chains_token *parent = token->parent;

	if (parent && parent->tree_follows)
		add(chains, token, parent->tree, is_asked(chains, token));
	else if (is_asked(chains, token) && chains->tree_count)
		chains->facts.tree_causes++;
	else if (is_asked(chains, token))
		add(chains, token, add_causes(chains, token->parent, !chains->options.follow_id),
		    true);
}

void chains_tree_run(struct chains *chains, struct chains_token *token)
{
	if (token->parent && token->parent->tree_follows)
		add(chains, token, token->parent->tree, false);
}

void chains_tree_ended(struct chains *chains, const struct chains_token *token)
{
	struct chains_tree_step *step;

	if (token->tree < 0)
		return;
	step = &chains->tree[token->tree];
	step->end_ns = token->end_ns;
	(void)chains_awaits_until(token, token->end_ns, &step->awaited_ns);
}

void chains_tree_dropped(struct chains *chains, const struct chains_token *token,
			 const struct model_message *message, enum model_drop why)
{
	struct chains_tree_step *step;

	step = token->tree_follows ? step_new(chains, token->tree) : NULL;
	if (!step)
		return;
	step->is_dropped = true;
	step->why = why;
	step->subscription = message->subscription;
	step->id = message->id;
	step->begin_ns = step->publish_ns = message->publish_ns;
	step->end_ns = -1;
}

unsigned chains_tree_count(const struct chains *chains)
{
	return chains->tree_count;
}

const struct chains_tree_step *chains_tree(const struct chains *chains, unsigned index)
{
	return index < chains->tree_count ? &chains->tree[index] : NULL;
}
