/* SPDX-License-Identifier: Apache-2.0 */
/* The goals of each action in numbers; see stats_actions.h. */
#include "analysis/stats/stats_actions.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"

struct actions {
	int64_t begin_ns, end_ns;
	struct array action; /* of struct actions_action */
	struct array ends;   /* of struct actions_end */
	struct map known;    /* (service or process, action) of @ends */
	unsigned action_count, end_count;
	bool failed;
};

const char *actions_outcome_name(enum actions_outcome outcome)
{
	static const char *const names[ACTIONS_OUTCOMES] = {
		"succeeded", "aborted", "canceled", "rejected", "unfinished",
	};

	return names[outcome];
}

static enum actions_outcome outcome_of(const struct model_goal *goal)
{
	const char *status = model_goal_status(goal);
	unsigned i = 0;

	while (i < ACTIONS_UNFINISHED && (!status || strcmp(actions_outcome_name(i), status) != 0))
		i++;
	return i;
}

/* Return: its index. Programs have few actions. */
static unsigned find_action(const struct actions *actions, const char *name)
{
	unsigned i = 0;

	while (i < actions->action_count) {
		const char *its = actions_action(actions, i)->name;

		if (its == name || (its && name && strcmp(its, name) == 0))
			break;
		i++;
	}
	return i;
}

static void add_end(struct actions *actions, unsigned action, const struct model_service *service,
		    const struct model_thread *thread)
{
	const struct model_process *process = service  ? service->process
					      : thread ? thread->process
						       : NULL;
	const void *what = service ? (const void *)service : process;
	struct actions_end *end;

	if (!process || map_get(&actions->known, (uintptr_t)what, action))
		return;
	end = array_at(&actions->ends, actions->end_count, sizeof(*end));
	if (!end || map_put(&actions->known, (uintptr_t)what, action, actions)) {
		actions->failed = true;
		return;
	}
	actions->end_count++;
	*end = (struct actions_end){ action, process, service ? service->node : NULL };
}

/* Adds a duration whose begin and end are both known. */
static void add(struct actions *actions, struct histogram *histogram, int64_t from_ns,
		int64_t to_ns)
{
	if (!from_ns || !to_ns)
		return;
	if (histogram_add(histogram, to_ns > from_ns ? (uint64_t)(to_ns - from_ns) : 0))
		actions->failed = true;
}

static void on_goal(void *context, const struct model_goal *goal)
{
	struct actions *actions = context;
	const int64_t first_ns = model_goal_first_ns(goal);
	const struct model_goal_way *send = &goal->way[MODEL_GOAL_SEND];
	const struct model_goal_feedback *feedback =
		goal->server_thread ? &goal->sent : &goal->received;
	struct actions_action *its;
	unsigned index;

	if (first_ns < actions->begin_ns || first_ns > actions->end_ns)
		return;
	index = find_action(actions, goal->action);
	its = array_at(&actions->action, index, sizeof(*its));
	if (!its) {
		actions->failed = true;
		return;
	}
	if (index == actions->action_count)
		actions->action_count++;
	its->name = goal->action;
	its->goals++;
	its->outcome[outcome_of(goal)]++;
	add(actions, &its->accept, send->request_ns, send->response_taken_ns);
	add(actions, &its->execution, goal->state_ns[MODEL_GOAL_EXECUTING],
	    model_goal_end_ns(goal));
	add(actions, &its->total, send->request_ns, goal->way[MODEL_GOAL_RESULT].response_taken_ns);
	its->feedback += feedback->count;
	if (feedback->gap_ns > its->feedback_gap_ns)
		its->feedback_gap_ns = feedback->gap_ns;
	add_end(actions, index, goal->client, goal->client_thread);
	add_end(actions, index, goal->server, goal->server_thread);
}

static const struct model_listener listener = { .goal = on_goal };

PASS_CREATE(actions, model)

void actions_destroy(struct actions *actions)
{
	struct actions_action *its;

	if (!actions)
		return;
	its = actions->action.item;
	for (unsigned i = 0; i < actions->action_count; i++) {
		histogram_free(&its[i].accept);
		histogram_free(&its[i].execution);
		histogram_free(&its[i].total);
	}
	array_free(&actions->action);
	array_free(&actions->ends);
	map_free(&actions->known);
	free(actions);
}

unsigned actions_count(const struct actions *actions)
{
	return actions->action_count;
}

const struct actions_action *actions_action(const struct actions *actions, unsigned index)
{
	return &((const struct actions_action *)actions->action.item)[index];
}

unsigned actions_end_count(const struct actions *actions)
{
	return actions->end_count;
}

const struct actions_end *actions_end(const struct actions *actions, unsigned index)
{
	return &((const struct actions_end *)actions->ends.item)[index];
}

PASS_LISTENER(actions);
