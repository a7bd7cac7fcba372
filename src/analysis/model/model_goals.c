/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The goals that are open, those that ended and will be reported, and the ids of those that were.
 * model_actions.c has the events, and the idea.
 */
#include <string.h>

#include "analysis/model/model_internal.h"

#define SUFFIX "/_action/send_goal"
#define LATER_NS 2000000000 /* after its end a goal is reported: something of it may come later */

static const struct service *object_of(const struct model *model, const struct end *end,
				       enum handle kind)
{
	return end->process ? model_handle(model, end->process, kind, end->handle) : NULL;
}

/* Return: NULL: not an action's. */
static const char *action_of(struct model *model, const struct model_service *service)
{
	const size_t length = service ? strlen(service->name) : 0, suffix = strlen(SUFFIX);
	struct kymo_ctf_value name = { .present = 1 };
	char text[512];

	if (length <= suffix || length - suffix >= sizeof(text) ||
	    strcmp(service->name + length - suffix, SUFFIX) != 0)
		return NULL;
	memcpy(text, service->name, length - suffix);
	text[length - suffix] = '\0';
	name.bytes = text;
	return model_word(model, &name);
}

static void forget_calls(struct model *model, struct goal *goal, struct end *end)
{
	for (unsigned i = 0; i < MODEL_GOAL_CALLS; i++)
		map_del_if(&model->goal_calls, end->call[i].key, end->call[i].scope, goal);
}

/* Takes @goal out of the list of open goals. */
static void unlink_open(struct model *model, struct goal *goal)
{
	if (goal->previous)
		goal->previous->next = goal->next;
	else
		model->oldest_goal = goal->next;
	if (goal->next)
		goal->next->previous = goal->previous;
	else
		model->newest_goal = goal->previous;
	goal->next = NULL;
}

/* Keeps the id of a reported goal, instead of an older one. */
static void keep_over(struct model *model, struct goal *goal)
{
	struct goal **place = &model->over_goal[model->next_over++ % GOALS_OVER];
	struct goal *old = *place;

	*place = goal;
	if (!old)
		return;
	map_del_if(&model->goals, model_goal_word(old->pub.goal_id),
		   model_goal_word(old->pub.goal_id + 8), old);
	old->next = model->free_goals;
	model->free_goals = old;
}

/* Reports a goal that is in no list any more. */
static void report_goal(struct model *model, struct goal *goal)
{
	const struct service *client = object_of(model, &goal->client, HANDLE_CLIENT),
			     *server = object_of(model, &goal->server, HANDLE_SERVICE);
	struct model_goal *its = &goal->pub;

	its->client = client ? &client->pub : NULL;
	its->server = server ? &server->pub : NULL;
	its->is_startup = client && model_goal_is_startup(model, its, client->first_result_ns);
	its->action = action_of(model, its->server ? its->server : its->client);
	forget_calls(model, goal, &goal->client);
	forget_calls(model, goal, &goal->server);
	goal->over = true;
	model->goal_count--;
	keep_over(model, goal);
	EMIT(model, goal, its);
}

void model_goal_report_oldest(struct model *model)
{
	struct goal *goal = model->first_ended ? model->first_ended : model->oldest_goal;

	if (!model->first_ended)
		unlink_open(model, goal);
	else if (!(model->first_ended = goal->next))
		model->last_ended = NULL;
	report_goal(model, goal);
}

/* Reports the goals that ended long ago. */
static void advance(struct model *model, const struct now *now)
{
	while (model->first_ended && now->ns - model->first_ended->end_ns > LATER_NS)
		model_goal_report_oldest(model);
}

void model_goal_end(struct model *model, struct goal *goal, int64_t ns)
{
	if (goal->end_ns)
		return;
	goal->end_ns = ns;
	unlink_open(model, goal);
	if (model->last_ended)
		model->last_ended->next = goal;
	else
		model->first_ended = goal;
	model->last_ended = goal;
}

static struct goal *goal_new(struct model *model, const uint8_t *id)
{
	struct goal *goal;

	if (model->goal_count == GOALS_MAX)
		model_goal_report_oldest(model);
	goal = model->free_goals;
	if (goal)
		model->free_goals = goal->next;
	else
		goal = model_alloc(model, sizeof(*goal));
	if (!goal)
		return NULL;
	memset(goal, 0, sizeof(*goal));
	goal->pub.id = ++model->last_goal;
	memcpy(goal->pub.goal_id, id, sizeof(goal->pub.goal_id));
	goal->previous = model->newest_goal;
	if (goal->previous)
		goal->previous->next = goal;
	else
		model->oldest_goal = goal;
	model->newest_goal = goal;
	model->goal_count++;
	if (map_put(&model->goals, model_goal_word(id), model_goal_word(id + 8), goal))
		model->out_of_memory = true;
	return goal;
}

struct goal *model_goal_at(struct model *model, const struct now *now,
			   const struct kymo_ctf_value *value, bool make)
{
	const uint8_t *id = (const uint8_t *)value->bytes;
	struct goal *goal;

	advance(model, now);
	/* A cancel request with an id of zeros is about all goals. */
	if (!value->present || value->size != sizeof(goal->pub.goal_id) ||
	    (!model_goal_word(id) && !model_goal_word(id + 8)))
		return NULL;
	goal = map_get(&model->goals, model_goal_word(id), model_goal_word(id + 8));
	if (!goal && make)
		goal = goal_new(model, id);
	return goal && !goal->over ? goal : NULL;
}
