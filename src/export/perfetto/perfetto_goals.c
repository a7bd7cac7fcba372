/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Below a node: goals of its action clients and servers. A goal is a slice at the client until the
 * result, a slice at the server until the server sent the result, the parts of each inside, an
 * instant for each feedback, and one arrow: client, server, result.
 */
#include <stdlib.h>

#include "base/array.h"
#include "export/perfetto/perfetto_lanes.h"

/* differs from the numbers of programs, calls and links before they are mixed */
#define GOAL_FLOWS (UINT64_C(3) << 61)
#define UUID_MAX 40
#define ARGS_MAX 5

/* One end of a goal. Times that are not known are 0. */
struct goal_end {
	struct perfetto_owner owner;
	int64_t begin_ns, end_ns;
	bool is_open;     /* without an end: it is under way, as far as is known */
	const char *verb; /* "sends a goal to" */
};

/* Of a goal whose slices are not written yet. */
#define FEEDBACK_MAX 100000u
struct goal_feedback {
	struct feedback_moment {
		int64_t ns;
		bool is_received;
	} * moment;
	unsigned count, size;
};

static bool is_rejected(const struct model_goal *goal)
{
	return goal->way[MODEL_GOAL_SEND].is_answered && !goal->way[MODEL_GOAL_SEND].answer;
}

static int64_t first_of(int64_t one_ns, int64_t other_ns)
{
	return one_ns ? one_ns : other_ns;
}

static unsigned set_args(struct exporter *exporter, const struct model_goal *goal,
			 const struct model_goal_feedback *feedback, struct pft_arg arg[ARGS_MAX])
{
	const struct words *words = &exporter->words;
	char uuid[UUID_MAX];
	unsigned args = 0;

	arg[args++] = (struct pft_arg){
		words->goal_id,
		PFT_TEXT,
		{ .text = pft_string(exporter->pft,
				     model_goal_uuid(goal->goal_id, uuid, sizeof(uuid))) }
	};
	arg[args++] =
		(struct pft_arg){ words->status,
				  PFT_TEXT,
				  { .text = pft_string(exporter->pft, model_goal_status(goal)) } };
	arg[args++] = (struct pft_arg){ words->feedback, PFT_UINT, { .u = feedback->count } };
	if (feedback->gap_ns)
		arg[args++] = (struct pft_arg){ words->feedback_gap_ns,
						PFT_INT,
						{ .i = feedback->gap_ns } };
	return args;
}

/* Return: the track, with an open slice; NULL: none, as an instant is all that is known. */
static struct pft_track *begin_goal(struct exporter *exporter, const struct model_goal *goal,
				    const struct goal_end *end, bool is_first, const uint64_t *flow,
				    const struct model_goal_feedback *feedback)
{
	struct pft_arg arg[ARGS_MAX];
	const struct pft_event event = {
		.name = export_named(exporter, "%s %s %s", export_node_name(end->owner.node),
				     end->verb, end->owner.name),
		.category = exporter->words.action,
		.arg = arg,
		.args = set_args(exporter, goal, feedback, arg),
		.flow = flow,
		.flows = 1,
		.role = is_first ? PFT_FLOW_BEGINS : PFT_FLOW_PASSES,
	};
	/* What is under way when the trace ends is an open slice. */
	const int64_t open_ns = end->is_open && exporter->finishing ? INT64_MAX : INT64_MIN;

	if (!end->begin_ns || !export_in_window(exporter, end->begin_ns) ||
	    !export_is_wanted(exporter, end->owner.node, NULL))
		return NULL;
	return export_lane_begin(exporter, &end->owner, end->begin_ns,
				 end->end_ns ? end->end_ns : open_ns, &event);
}

static struct pft_event part_event(struct exporter *exporter, const struct goal_end *end,
				   const char *what)
{
	return (struct pft_event){
		.name = export_named(exporter, "%s: %s", end->owner.name, what),
		.category = exporter->words.action,
	};
}

/* A slice inside that of the goal; parts do not overlap. @to_ns: 0: it is open as the goal is. */
static void put_part(struct exporter *exporter, struct pft_track *track, const struct goal_end *end,
		     const char *what, int64_t from_ns, int64_t to_ns)
{
	const struct pft_event event = part_event(exporter, end, what);

	if (!track || !from_ns || (to_ns ? to_ns < from_ns : end->end_ns != 0))
		return;
	pft_begin(track, export_time(exporter, from_ns), &event);
	if (to_ns)
		pft_end(track, export_time(exporter, to_ns));
}

static void put_moment(struct exporter *exporter, struct pft_track *track,
		       const struct goal_end *end, const char *what, int64_t ns)
{
	const struct pft_event event = part_event(exporter, end, what);

	if (ns && ns >= end->begin_ns && (!end->end_ns || ns <= end->end_ns))
		pft_instant(track, export_time(exporter, ns), &event);
}

static void put_feedback(struct exporter *exporter, struct pft_track *track,
			 const struct goal_end *end, const struct goal_feedback *feedback,
			 bool is_received)
{
	for (unsigned i = 0; feedback && i < feedback->count; i++)
		if (feedback->moment[i].is_received == is_received)
			put_moment(exporter, track, end, "feedback", feedback->moment[i].ns);
}

static void end_goal(struct exporter *exporter, struct pft_track *track, const struct goal_end *end)
{
	if (end->end_ns)
		pft_end(track, export_time(exporter, end->end_ns));
}

static void put_client(struct exporter *exporter, const struct model_goal *goal, uint64_t flow,
		       const struct goal_feedback *feedback)
{
	const struct model_goal_way *send = &goal->way[MODEL_GOAL_SEND],
				    *result = &goal->way[MODEL_GOAL_RESULT];
	const bool waits = !is_rejected(goal) && (result->request_ns || !send->response_taken_ns);
	const struct goal_end end = {
		{ ENTITY_ACTION_CLIENT, BY_ACTION_CLIENT, goal->client->index, goal->client->node,
		  "action client", goal->action, 0 },
		send->request_ns,
		waits ? result->response_taken_ns : send->response_taken_ns,
		waits,
		"sends a goal to",
	};
	struct pft_track *track = begin_goal(exporter, goal, &end, true, &flow, &goal->received);
	struct pft_event event = { .category = exporter->words.action,
				   .flow = &flow,
				   .flows = 1,
				   .role = PFT_FLOW_PASSES };

	if (!track)
		return;
	put_part(exporter, track, &end, "waiting for acceptance", end.begin_ns,
		 send->response_taken_ns);
	put_moment(exporter, track, &end, "cancel", goal->way[MODEL_GOAL_CANCEL].request_ns);
	put_feedback(exporter, track, &end, feedback, true);
	if (waits)
		put_part(exporter, track, &end, "waiting for the result", send->response_taken_ns,
			 result->response_taken_ns);
	if (result->response_taken_ns) {
		event.name = export_named(exporter, "%s gets the result of %s",
					  export_node_name(goal->client->node), goal->action);
		pft_instant(track, export_time(exporter, result->response_taken_ns), &event);
	}
	end_goal(exporter, track, &end);
}

static void put_server(struct exporter *exporter, const struct model_goal *goal, uint64_t flow,
		       const struct goal_feedback *feedback)
{
	const struct model_goal_way *send = &goal->way[MODEL_GOAL_SEND],
				    *result = &goal->way[MODEL_GOAL_RESULT];
	const int64_t executing_ns = goal->state_ns[MODEL_GOAL_EXECUTING],
		      ended_ns = model_goal_end_ns(goal),
		      sent_ns = result->response_ns >= ended_ns ? result->response_ns : 0;
	const struct goal_end end = {
		{ ENTITY_ACTION_SERVER, BY_ACTION_SERVER, goal->server->index, goal->server->node,
		  "action server", goal->action, 0 },
		first_of(send->request_taken_ns,
			 first_of(goal->state_ns[MODEL_GOAL_ACCEPTED], executing_ns)),
		is_rejected(goal) ? send->response_ns : first_of(sent_ns, ended_ns),
		!is_rejected(goal) && !result->is_answered,
		"works on a goal of",
	};
	struct pft_track *track =
		begin_goal(exporter, goal, &end, !send->request_ns, &flow, &goal->sent);

	if (!track)
		return;
	if (send->request_taken_ns && send->response_ns)
		put_part(exporter, track, &end, "accepting", send->request_taken_ns,
			 executing_ns && executing_ns < send->response_ns ? executing_ns
									  : send->response_ns);
	put_part(exporter, track, &end, "executing", executing_ns, ended_ns);
	put_moment(exporter, track, &end, "canceling", goal->state_ns[MODEL_GOAL_CANCELING]);
	put_feedback(exporter, track, &end, feedback, false);
	if (ended_ns && sent_ns)
		put_part(exporter, track, &end, "waiting to send the result", ended_ns, sent_ns);
	end_goal(exporter, track, &end);
}

static void feedback_free(struct goal_feedback *feedback)
{
	if (feedback)
		free(feedback->moment);
	free(feedback);
}

void export_goal_step(void *context, const struct model_goal_step *step)
{
	struct exporter *exporter = context;
	struct goal_feedback *its = map_at(&exporter->feedback, step->id, 0, sizeof(*its));

	if (!its || !ARRAY_ROOM(its->moment, its->count, its->size))
		exporter->out_of_memory = true;
	else if (its->count < FEEDBACK_MAX)
		its->moment[its->count++] = (struct feedback_moment){ step->ns, step->is_received };
}

void export_goals_free(struct exporter *exporter)
{
	const struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&exporter->feedback, &at)))
		feedback_free(slot->value);
	map_free(&exporter->feedback);
}

void export_goal(void *context, const struct model_goal *goal)
{
	struct exporter *exporter = context;
	struct goal_feedback *feedback = map_del(&exporter->feedback, goal->id, 0);
	const uint64_t flow = export_mix(exporter, GOAL_FLOWS + goal->id);

	if (goal->client && goal->action)
		put_client(exporter, goal, flow, feedback);
	if (goal->server && goal->action)
		put_server(exporter, goal, flow, feedback);
	feedback_free(feedback);
}
