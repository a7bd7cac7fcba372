/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actions in a summary: how the goals of each ended, how long they took, and the worst of them with
 * its parts. A goal counts in the window in which the model reports it, two seconds after its end.
 */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "summary/summary_collect_internal.h"

struct collect_goal {
	struct model_goal_cut cut;
	bool is_startup;
};

struct collect_action {
	const char *name; /* of the model */
	uint64_t ended, unfinished, aborted, canceled, rejected;
	struct histogram total, execution, accept, silence, startup;
	struct histogram part[MODEL_GOAL_PARTS]; /* of all goals in `total` */
	int64_t steady_ns;                       /* the longest that is not start-up; 0: none */
	int64_t first_ns, last_ns;
	struct collect_goal worst[SUMMARY_WORST_MAX]; /* start-up last, then longest first */
	unsigned worsts;
};

/* ---- during the pass ---- */

static struct collect_action *action_at(struct summary_collect *collect, const char *name)
{
	struct collect_action *action;
	unsigned i = 0;

	/* The model keeps each name once. */
	for (; i < collect->actions; i++)
		if (collect->action[i].name == name)
			return &collect->action[i];
	action = ARRAY_AT(collect->action, collect->actions, i);
	collect->failed |= !action;
	if (action)
		action->name = name;
	return action;
}

static int64_t total_of(const struct collect_goal *goal)
{
	return goal->cut.end_ns - goal->cut.begin_ns;
}

static bool is_worse(const struct collect_goal *a, const struct collect_goal *b)
{
	if (a->is_startup != b->is_startup)
		return b->is_startup;
	return total_of(a) > total_of(b);
}

static void keep_worst(struct collect_action *action, const struct collect_goal *goal)
{
	unsigned at = action->worsts;

	if (at == SUMMARY_WORST_MAX && !is_worse(goal, &action->worst[--at]))
		return;
	action->worsts = at + 1 > action->worsts ? at + 1 : action->worsts;
	for (; at && is_worse(goal, &action->worst[at - 1]); at--)
		action->worst[at] = action->worst[at - 1];
	action->worst[at] = *goal;
}

static void count(struct summary_collect *collect, struct histogram *histogram, int64_t from_ns,
		  int64_t to_ns)
{
	if (from_ns && to_ns)
		collect->failed |=
			histogram_add(histogram, to_ns > from_ns ? (uint64_t)(to_ns - from_ns) : 0);
}

static void count_whole(struct summary_collect *collect, struct collect_action *action,
			const struct collect_goal *goal)
{
	const int64_t ns = total_of(goal);

	count(collect, &action->total, goal->cut.begin_ns, goal->cut.end_ns);
	if (goal->is_startup)
		count(collect, &action->startup, goal->cut.begin_ns, goal->cut.end_ns);
	else if (ns > action->steady_ns)
		action->steady_ns = ns;
	for (unsigned i = 0; i < goal->cut.pieces; i++)
		count(collect, &action->part[goal->cut.piece[i].part], goal->cut.piece[i].from_ns,
		      goal->cut.piece[i].to_ns);
	keep_worst(action, goal);
}

/*
 * The longest time without feedback, of the server if it is in the trace: from the begin of the
 * execution, or since the last feedback. The client knows when the goal was accepted, and when it
 * had the result. A goal without feedback was silent all the time.
 */
static void count_silence(struct summary_collect *collect, struct collect_action *action,
			  const struct model_goal *goal)
{
	const struct model_goal_feedback *feedback = &goal->sent;
	int64_t begin_ns = goal->state_ns[MODEL_GOAL_EXECUTING], end_ns = model_goal_end_ns(goal);
	int64_t longest_ns;

	if (!begin_ns && !end_ns && goal->way[MODEL_GOAL_SEND].answer == 1) {
		feedback = &goal->received;
		begin_ns = goal->way[MODEL_GOAL_SEND].response_taken_ns;
		end_ns = goal->way[MODEL_GOAL_RESULT].response_taken_ns;
	}
	if (!begin_ns || !end_ns)
		return;
	longest_ns = end_ns - begin_ns;
	if (feedback->count) {
		longest_ns = feedback->gap_ns;
		if (feedback->first_ns - begin_ns > longest_ns)
			longest_ns = feedback->first_ns - begin_ns;
		if (end_ns - feedback->last_ns > longest_ns)
			longest_ns = end_ns - feedback->last_ns;
	}
	count(collect, &action->silence, begin_ns, begin_ns + longest_ns);
}

static void count_end(struct collect_action *action, const struct model_goal *goal)
{
	const char *status = model_goal_status(goal);

	if (!status)
		status = "";
	if (strcmp(status, "rejected") == 0) {
		action->rejected++;
		return;
	}
	action->aborted += strcmp(status, "aborted") == 0;
	action->canceled += strcmp(status, "canceled") == 0;
	if (strcmp(status, "aborted") == 0 || strcmp(status, "canceled") == 0 ||
	    strcmp(status, "succeeded") == 0)
		action->ended++;
	else
		action->unfinished++;
}

void collect_on_goal(void *context, const struct model_goal *goal)
{
	struct summary_collect *collect = context;
	struct collect_goal its = { .is_startup = goal->is_startup };
	const int64_t first_ns = model_goal_first_ns(goal);
	struct collect_action *action;

	if (!goal->action || first_ns < collect->from.begin_ns || first_ns > collect->from.end_ns)
		return;
	action = action_at(collect, goal->action);
	if (!action)
		return;
	if (!action->first_ns || first_ns < action->first_ns)
		action->first_ns = first_ns;
	if (first_ns > action->last_ns)
		action->last_ns = first_ns;
	count_end(action, goal);
	count(collect, &action->accept, goal->way[MODEL_GOAL_SEND].request_ns,
	      goal->way[MODEL_GOAL_SEND].response_taken_ns);
	count(collect, &action->execution, goal->state_ns[MODEL_GOAL_EXECUTING],
	      model_goal_end_ns(goal));
	count_silence(collect, action, goal);
	model_goal_cut(&its.cut, goal);
	if (its.cut.is_whole)
		count_whole(collect, action, &its);
}

void collect_forget_actions(struct summary_collect *collect)
{
	for (uint32_t i = 0; i < collect->actions; i++) {
		struct collect_action *action = &collect->action[i];

		histogram_free(&action->total);
		histogram_free(&action->execution);
		histogram_free(&action->accept);
		histogram_free(&action->silence);
		histogram_free(&action->startup);
		for (unsigned part = 0; part < MODEL_GOAL_PARTS; part++)
			histogram_free(&action->part[part]);
		*action = (struct collect_action){ .name = action->name };
	}
}

/* ---- afterwards ---- */

static const char *node_of(struct summary *summary, const struct model_goal_piece *piece)
{
	return summary_text(summary, piece->of && piece->of->node ? piece->of->node->full_name
								  : "(not known)");
}

static enum summary_what what_of(enum model_goal_part part)
{
	static const enum summary_what whats[MODEL_GOAL_PARTS] = {
		[MODEL_GOAL_REQUEST] = SUMMARY_ON_ITS_WAY,
		[MODEL_GOAL_ACCEPTING] = SUMMARY_ACCEPTING,
		[MODEL_GOAL_QUEUED] = SUMMARY_BEGINNING,
		[MODEL_GOAL_RUNNING] = SUMMARY_EXECUTING,
		[MODEL_GOAL_STOPPING] = SUMMARY_CANCELING,
		[MODEL_GOAL_KEPT] = SUMMARY_KEEPING,
		[MODEL_GOAL_ANSWER] = SUMMARY_ON_ITS_WAY,
		[MODEL_GOAL_ASKING] = SUMMARY_AWAITING,
		[MODEL_GOAL_WAITING] = SUMMARY_AWAITING,
	};

	return whats[part];
}

/* What the thread ran meanwhile is a part of its own; @way is the rest. */
static void add_held(struct summary *summary, struct collect_parts *parts,
		     const struct model_goal_piece *piece, struct summary_part *way)
{
	struct summary_part held = *way;

	if (!piece->held.by)
		return;
	held.what = SUMMARY_WAITED_FOR;
	held.by = collect_callback_name(summary, piece->held.by);
	held.ns = piece->held.ns;
	held.usual_ns = 0;
	way->ns -= held.ns;
	collect_parts_add(parts, &held);
}

static void put_worst(struct summary *summary, struct summary_entity *entity,
		      const struct collect_action *action, const struct collect_goal *goal)
{
	struct summary_instance instance = { .begin_ns = goal->cut.begin_ns,
					     .value_ns = total_of(goal),
					     .is_startup = goal->is_startup,
					     .topic = "" };
	struct collect_parts parts = { .count = 0 };

	for (unsigned i = 0; i < goal->cut.pieces; i++) {
		const struct model_goal_piece *piece = &goal->cut.piece[i];
		const enum summary_what what = what_of(piece->part);
		const char *node = node_of(summary, piece);
		struct summary_part part = { .what = what,
					     .who = node,
					     .by = "",
					     .ns = piece->to_ns - piece->from_ns,
					     .at_ns = piece->from_ns - goal->cut.begin_ns };

		/* Between hosts it is known only as far as their clocks are. */
		if (piece->error_ns)
			continue;
		part.usual_ns = (int64_t)histogram_quantile(&action->part[piece->part], 0.5);
		if (what == SUMMARY_ON_ITS_WAY) {
			add_held(summary, &parts, piece, &part);
			part.who = entity->name;
			part.by = node;
		}
		collect_parts_add(&parts, &part);
	}
	collect_parts_put(&parts, &instance);
	summary_add_worst(summary, entity, &instance);
}

static void take_action(struct summary *summary, const struct collect_action *action)
{
	struct summary_entity *entity = summary_entity(summary, SUMMARY_ACTION, action->name, "");
	char ask[600];

	if (!entity)
		return;
	if (snprintf(ask, sizeof(ask), "action %s", action->name) < (int)sizeof(ask))
		entity->ask = summary_text(summary, ask);
	summary_startup_set(summary, entity, SUMMARY_LATENCY, &action->startup,
			    (uint64_t)action->steady_ns);
	entity->count[SUMMARY_RUNS] += action->ended;
	entity->count[SUMMARY_UNFINISHED] += action->unfinished;
	entity->count[SUMMARY_ABORTED] += action->aborted;
	entity->count[SUMMARY_CANCELED] += action->canceled;
	entity->count[SUMMARY_REJECTED] += action->rejected;
	collect_merge(summary, entity, SUMMARY_LATENCY, &action->total);
	collect_merge(summary, entity, SUMMARY_DURATION, &action->execution);
	collect_merge(summary, entity, SUMMARY_WAIT, &action->accept);
	collect_merge(summary, entity, SUMMARY_PERIOD, &action->silence);
	if (!entity->first_ns || action->first_ns < entity->first_ns)
		entity->first_ns = action->first_ns;
	if (action->last_ns > entity->last_ns)
		entity->last_ns = action->last_ns;
	for (unsigned i = 0; i < action->worsts; i++)
		put_worst(summary, entity, action, &action->worst[i]);
}

void collect_take_actions(struct summary_collect *collect, struct summary *summary)
{
	for (uint32_t i = 0; i < collect->actions; i++)
		if (collect->action[i].first_ns)
			take_action(summary, &collect->action[i]);
}
