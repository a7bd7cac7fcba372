/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goals of actions for the page: what the time of each was spent with (model_goal_cut()), and the
 * longest of each action. The parts add up to the time from when the client sent the goal until it
 * took the result, which is the total in the report; so only goals with both are listed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/page/page_internal.h"

struct page_goal {
	struct model_goal_cut cut;
	uint64_t id;
	uint8_t goal_id[16];
	const char *status;
	const struct model_service *client, *server; /* NULL: not in the trace */
	uint64_t sent, received;
	int64_t handled_ns; /* after the result; -1: not in the trace */
	bool is_startup;
};

struct page_action {
	const char *name;
	uint64_t whole;
	int64_t error_ns; /* of the clocks of two hosts, the largest */
	struct histogram part[MODEL_GOAL_PARTS];
	struct page_goal *worst; /* longest first */
	unsigned worsts, worst_size;
};

struct page_goals {
	int64_t begin_ns, end_ns; /* only goals that begin inside */
	struct page_action *action;
	unsigned actions, size;
	bool failed;
};

static int64_t total_of(const struct page_goal *goal)
{
	return goal->cut.end_ns - goal->cut.begin_ns;
}

/* The model keeps each name once. */
static struct page_action *action_of(struct page_goals *goals, const char *name)
{
	for (unsigned i = 0; i < goals->actions; i++)
		if (goals->action[i].name == name)
			return &goals->action[i];
	if (!ARRAY_ROOM(goals->action, goals->actions, goals->size)) {
		goals->failed = true;
		return NULL;
	}
	goals->action[goals->actions] = (struct page_action){ .name = name };
	return &goals->action[goals->actions++];
}

static void keep(struct page_goals *goals, struct page_action *action, const struct page_goal *goal)
{
	unsigned at = action->worsts;

	if (at == PAGE_GOALS_WORST) {
		if (total_of(&action->worst[--at]) >= total_of(goal))
			return;
	} else if (!ARRAY_ROOM(action->worst, action->worsts, action->worst_size)) {
		goals->failed = true;
		return;
	} else {
		action->worsts++;
	}
	for (; at && total_of(&action->worst[at - 1]) < total_of(goal); at--)
		action->worst[at] = action->worst[at - 1];
	action->worst[at] = *goal;
}

static void add(struct page_goals *goals, struct page_action *action, const struct page_goal *goal)
{
	for (unsigned i = 0; i < goal->cut.pieces; i++) {
		const struct model_goal_piece *piece = &goal->cut.piece[i];

		goals->failed |= histogram_add(&action->part[piece->part],
					       (uint64_t)(piece->to_ns - piece->from_ns)) != 0;
		if (piece->error_ns != KYMO_CTF_ERROR_UNKNOWN && piece->error_ns > action->error_ns)
			action->error_ns = piece->error_ns;
	}
	action->whole++;
	keep(goals, action, goal);
}

static void on_goal(void *context, const struct model_goal *goal)
{
	struct page_goals *goals = context;
	const int64_t first_ns = model_goal_first_ns(goal);
	struct page_goal its = { .id = goal->id,
				 .status = model_goal_status(goal),
				 .client = goal->client,
				 .server = goal->server,
				 .sent = goal->sent.count,
				 .received = goal->received.count,
				 .handled_ns = -1,
				 .is_startup = goal->is_startup };
	struct page_action *action;

	model_goal_cut(&its.cut, goal);
	if (!goal->action || !its.cut.is_whole || first_ns < goals->begin_ns ||
	    first_ns > goals->end_ns)
		return;
	memcpy(its.goal_id, goal->goal_id, sizeof(its.goal_id));
	if (goal->handled_ns)
		its.handled_ns = goal->handled_ns - its.cut.end_ns;
	action = action_of(goals, goal->action);
	if (action)
		add(goals, action, &its);
}

static const struct model_listener listener = { .goal = on_goal };

static void page_goals_destroy(struct page_goals *goals)
{
	if (!goals)
		return;
	for (unsigned i = 0; i < goals->actions; i++) {
		for (unsigned part = 0; part < MODEL_GOAL_PARTS; part++)
			histogram_free(&goals->action[i].part[part]);
		free(goals->action[i].worst);
	}
	free(goals->action);
	free(goals);
}

int page_goals_create(struct page_goals **out, struct model *model, int64_t begin_ns,
		      int64_t end_ns, struct kymo_err *err)
{
	struct page_goals *goals = calloc(1, sizeof(*goals));

	if (!goals)
		return err_no_memory(err);
	*goals = (struct page_goals){ .begin_ns = begin_ns, .end_ns = end_ns };
	if (model_listen(model, &listener, goals, err)) {
		page_goals_destroy(goals);
		return -1;
	}
	*out = goals;
	return 0;
}

PASS_LISTENER(page_goals);

/* ---- what the page gets ---- */

/* The words of src/page/parts.js. */
static const char *const part_word[MODEL_GOAL_PARTS] = {
	"goal_way", "accepting",  "beginning", "executing", "canceling",
	"keeping",  "result_way", "asking",    "awaiting",
};

/* [begin, total, id, uuid, status, client's node, server's node, feedback sent, received, handled,
 * start-up, each part ...] */
static void put_goal(struct page *page, const struct page_goal *goal)
{
	int64_t part_ns[MODEL_GOAL_PARTS] = { 0 };
	struct json_text *json = &page->json;
	char uuid[40];

	for (unsigned i = 0; i < goal->cut.pieces; i++)
		part_ns[goal->cut.piece[i].part] +=
			goal->cut.piece[i].to_ns - goal->cut.piece[i].from_ns;
	json_text_open(json, NULL, '[');
	page_put_time(page, NULL, goal->cut.begin_ns);
	json_text_i64(json, NULL, total_of(goal));
	json_text_u64(json, NULL, goal->id);
	json_text_string(json, NULL, model_goal_uuid(goal->goal_id, uuid, sizeof(uuid)));
	json_text_string(json, NULL, goal->status ? goal->status : "");
	json_text_string(json, NULL, page_node_name(goal->client));
	json_text_string(json, NULL, page_node_name(goal->server));
	json_text_u64(json, NULL, goal->sent);
	json_text_u64(json, NULL, goal->received);
	json_text_i64(json, NULL, goal->handled_ns);
	json_text_i64(json, NULL, goal->is_startup);
	for (unsigned i = 0; i < MODEL_GOAL_PARTS; i++)
		json_text_i64(json, NULL, part_ns[i]);
	json_text_close(json, ']');
}

void page_put_goals(struct page *page)
{
	const struct page_goals *goals = page->report->goals;
	struct json_text *json = &page->json;

	page->failed |= goals->failed;
	json_text_open(json, "goals", '[');
	for (unsigned i = 0; i < goals->actions; i++) {
		const struct page_action *action = &goals->action[i];
		const unsigned share = PAGE_GOALS / goals->actions + 1;
		const int number = page_number(page, SUMMARY_ACTION, action->name);

		if (number < 0)
			continue;
		json_text_open(json, NULL, '{');
		json_text_i64(json, "entity", number);
		json_text_u64(json, "whole", action->whole);
		json_text_some_i64(json, "error", action->error_ns);
		page_put_segments(page, action->part, part_word, MODEL_GOAL_PARTS);
		json_text_open(json, "worst", '[');
		for (unsigned k = 0; k < action->worsts && k < share; k++)
			put_goal(page, &action->worst[k]);
		json_text_close(json, ']');
		json_text_close(json, '}');
	}
	json_text_close(json, ']');
}
