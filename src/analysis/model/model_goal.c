/* SPDX-License-Identifier: Apache-2.0 */
/* What a goal says; see model_goal.h. */
#include "analysis/model/model_goal.h"

#include <stddef.h>
#include <stdio.h>

#include "analysis/model/model.h"

int64_t model_goal_end_ns(const struct model_goal *goal)
{
	for (unsigned state = MODEL_GOAL_SUCCEEDED; state < MODEL_GOAL_STATES; state++)
		if (goal->state_ns[state])
			return goal->state_ns[state];
	return 0;
}

static void earlier(int64_t *first_ns, int64_t ns)
{
	if (ns && (!*first_ns || ns < *first_ns))
		*first_ns = ns;
}

int64_t model_goal_first_ns(const struct model_goal *goal)
{
	int64_t ns = 0;

	for (unsigned i = 0; i < MODEL_GOAL_CALLS; i++) {
		earlier(&ns, goal->way[i].request_ns);
		earlier(&ns, goal->way[i].request_taken_ns);
	}
	for (unsigned i = 0; i < MODEL_GOAL_STATES; i++)
		earlier(&ns, goal->state_ns[i]);
	earlier(&ns, goal->sent.first_ns);
	return ns;
}

const char *model_goal_status(const struct model_goal *goal)
{
	static const char *const names[MODEL_GOAL_STATES] = {
		NULL, "accepted", "executing", "canceling", "succeeded", "canceled", "aborted",
	};
	const struct model_goal_way *result = &goal->way[MODEL_GOAL_RESULT],
				    *send = &goal->way[MODEL_GOAL_SEND];

	if (goal->state >= MODEL_GOAL_SUCCEEDED)
		return names[goal->state];
	if (result->is_answered && result->answer > 0 && result->answer < MODEL_GOAL_STATES)
		return names[result->answer];
	if (goal->state)
		return names[goal->state];
	if (send->is_answered)
		return send->answer ? "accepted" : "rejected";
	return send->request_ns || send->request_taken_ns ? "sent" : NULL;
}

const char *model_goal_uuid(const uint8_t goal_id[16], char *buffer, unsigned size)
{
	unsigned used = 0;

	for (unsigned i = 0; i < 16; i++)
		used += (unsigned)snprintf(buffer + used, size - used,
					   i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
					   goal_id[i]);
	return buffer;
}

/* ---- parts ---- */

const char *model_goal_part_name(enum model_goal_part part)
{
	static const char *const names[MODEL_GOAL_PARTS] = {
		"request", "accepting", "queued", "executing", "canceling",
		"kept",    "answer",    "asking", "waiting",
	};

	return names[part];
}

bool model_goal_is_rejected(const struct model_goal *goal)
{
	return goal->way[MODEL_GOAL_SEND].is_answered && !goal->way[MODEL_GOAL_SEND].answer;
}

static bool is_between(enum model_goal_part part)
{
	return part == MODEL_GOAL_REQUEST || part == MODEL_GOAL_ANSWER;
}

static int64_t error_of(const struct model_goal *goal, enum model_goal_part part, int64_t ns)
{
	if (!is_between(part) || !goal->client_thread || !goal->server_thread)
		return 0;
	return model_clock_error(goal->client_thread->process, goal->server_thread->process, ns);
}

/* @part ends at @ns. The first time that is known is where all begins. */
static void mark(struct model_goal_cut *cut, const struct model_goal *goal,
		 enum model_goal_part part, int64_t ns, const struct model_thread *thread)
{
	struct model_goal_piece *last = cut->pieces ? &cut->piece[cut->pieces - 1] : NULL;
	const bool of_client = part >= MODEL_GOAL_ANSWER;

	if (!ns)
		return;
	if (!cut->begin_ns) {
		cut->begin_ns = cut->end_ns = ns;
		return;
	}
	ns = ns > cut->end_ns ? ns : cut->end_ns;
	if (last && last->part == part)
		last->to_ns = ns;
	else
		cut->piece[cut->pieces++] = (struct model_goal_piece){
			part,        cut->end_ns,
			ns,          of_client ? goal->client : goal->server,
			thread,      error_of(goal, part, ns),
			{ NULL, 0 },
		};
	cut->end_ns = ns;
}

static void mark_way(struct model_goal_cut *cut, const struct model_goal *goal,
		     enum model_goal_part part, int64_t ns, const struct model_thread *thread,
		     const struct model_goal_held *held)
{
	struct model_goal_piece *piece;

	mark(cut, goal, part, ns, thread);
	piece = cut->pieces ? &cut->piece[cut->pieces - 1] : NULL;
	if (!piece || piece->part != part || piece->error_ns)
		return;
	piece->held = *held;
	if (piece->held.ns > piece->to_ns - piece->from_ns)
		piece->held.ns = piece->to_ns - piece->from_ns;
}

static void cut_server(struct model_goal_cut *cut, const struct model_goal *goal)
{
	const struct model_goal_way *send = &goal->way[MODEL_GOAL_SEND],
				    *result = &goal->way[MODEL_GOAL_RESULT];
	const int64_t *state_ns = goal->state_ns, canceling_ns = state_ns[MODEL_GOAL_CANCELING],
		      end_ns = model_goal_end_ns(goal);
	const struct model_thread *thread = goal->server_thread;
	int64_t accepted_ns = send->response_ns;

	earlier(&accepted_ns, state_ns[MODEL_GOAL_ACCEPTED]);
	mark_way(cut, goal, MODEL_GOAL_REQUEST, send->request_taken_ns, send->server_thread,
		 &send->request_held);
	mark(cut, goal, MODEL_GOAL_ACCEPTING, accepted_ns, thread);
	if (model_goal_is_rejected(goal)) {
		mark_way(cut, goal, MODEL_GOAL_ANSWER, send->response_taken_ns, send->client_thread,
			 &send->response_held);
		return;
	}
	mark(cut, goal, MODEL_GOAL_QUEUED, state_ns[MODEL_GOAL_EXECUTING], thread);
	if (state_ns[MODEL_GOAL_EXECUTING])
		mark(cut, goal, MODEL_GOAL_RUNNING, canceling_ns, NULL);
	else
		mark(cut, goal, MODEL_GOAL_QUEUED, canceling_ns, thread);
	mark(cut, goal, canceling_ns ? MODEL_GOAL_STOPPING : MODEL_GOAL_RUNNING,
	     end_ns ? end_ns : result->response_ns, NULL);
	if (end_ns) /* else its event was lost */
		mark(cut, goal, MODEL_GOAL_KEPT, result->response_ns, thread);
	mark_way(cut, goal, MODEL_GOAL_ANSWER, result->response_taken_ns, result->client_thread,
		 &result->response_held);
}

void model_goal_cut(struct model_goal_cut *cut, const struct model_goal *goal)
{
	const struct model_goal_way *send = &goal->way[MODEL_GOAL_SEND],
				    *result = &goal->way[MODEL_GOAL_RESULT];

	*cut = (struct model_goal_cut){ .begin_ns = send->request_ns,
					.end_ns = send->request_ns,
					.is_whole = send->request_ns && result->response_taken_ns };
	if (goal->server_thread) {
		cut_server(cut, goal);
		return;
	}
	mark(cut, goal, MODEL_GOAL_ASKING, send->response_taken_ns, send->client_thread);
	mark(cut, goal, MODEL_GOAL_WAITING, result->response_taken_ns, result->client_thread);
}
