/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goals of actions.
 *
 *     client   request_sent(id, seq) ................. response_taken(seq), feedback_taken(id)
 *     server       request_taken(id, gid, seq) -> response_sent(gid, seq)
 *                  goal_state(id), feedback_sent(id)
 *
 * The idea: the id is the same everywhere. Only responses lack it; they are found by the request of
 * the same client, or server, with the same number. A goal ends when its client has the result, or
 * the refusal; if the client was not recorded, when the server sent it. Feedback, the answer of a
 * cancel, and after `kymo attach` the name may come later: a goal is reported two seconds after
 * its end. Its id is remembered for a while, so that still later events do not begin it anew.
 *
 * Of servers of one name in several processes, all work on a goal; here it is that one's which took
 * it first.
 */
#include <string.h>

#include "analysis/model/model_internal.h"
#include "base/array.h"

/* ---- the calls ---- */

static unsigned call_of(const struct kymo_ctf_value *name)
{
	static const char *const names[] = { "goal", "cancel", "result" };
	unsigned i = 0;

	while (i < COUNT_OF(names) &&
	       (!name->present || !name->bytes || strcmp(name->bytes, names[i]) != 0))
		i++;
	return i;
}

static struct goal_key key_of(const struct now *now, enum handle side, uint64_t handle,
			      const struct kymo_ctf_value *gid, unsigned call, int64_t number)
{
	const uint64_t who = gid && gid->present && gid->size >= 8
				     ? model_goal_word((const uint8_t *)gid->bytes)
				     : 0;
	const uint64_t scope = model_scope_of(now->process, side);

	return (struct goal_key){ (uint64_t)number << 2 | call,
				  (handle ^ who * 0x9e3779b97f4a7c15ull) * 0xd6e8feb86659fd93ull +
					  scope };
}

static void set_end(struct end *end, const struct now *now, uint64_t handle)
{
	end->process = now->process;
	end->handle = handle;
}

/* Another process is its server. */
static bool is_of_other(const struct goal *goal, const struct now *now)
{
	return goal->server.process && goal->server.process != now->process;
}

/* A cancel call that was refused is followed by another one. */
static bool is_next_cancel(const struct model_goal_way *way, unsigned call)
{
	return call == MODEL_GOAL_CANCEL && way->is_answered && way->answer != 0;
}

static void remember_call(struct model *model, struct goal *goal, struct goal_key *place,
			  struct goal_key key)
{
	map_del_if(&model->goal_calls, place->key, place->scope, goal);
	*place = key;
	if (map_put(&model->goal_calls, key.key, key.scope, goal))
		model->out_of_memory = true;
}

static struct goal *goal_of_call(struct model *model, const struct now *now, unsigned call,
				 const struct kymo_ctf_value *id)
{
	return call < MODEL_GOAL_CALLS ? model_goal_at(model, now, id, true) : NULL;
}

void model_goal_ran(struct thread *thread, const struct callback *callback, int64_t start_ns,
		    int64_t end_ns)
{
	thread->recent[thread->next_recent++ % RECENT_RUNS] =
		(struct recent_run){ callback, start_ns, end_ns };
}

/* What @thread ran longest since @sent_ns. */
static struct model_goal_held held_since(const struct thread *thread, int64_t sent_ns)
{
	struct model_goal_held held = { 0 };

	for (unsigned i = 0; sent_ns && i < RECENT_RUNS; i++) {
		const struct recent_run *run = &thread->recent[i];
		const int64_t from_ns = run->start_ns > sent_ns ? run->start_ns : sent_ns;

		if (run->callback && run->end_ns - from_ns > held.ns)
			held = (struct model_goal_held){ &run->callback->pub,
							 run->end_ns - from_ns };
	}
	return held;
}

static void on_action_request_sent(struct model *model, const struct now *now)
{
	ARGS(action_request_sent, now->event);
	const unsigned call = call_of(&args->call);
	struct goal *goal = goal_of_call(model, now, call, &args->goal_id);
	const struct frame *frame = model_frame_of(now->thread);
	struct model_goal_way *way;

	if (!goal)
		return;
	way = &goal->pub.way[call];
	if (is_next_cancel(way, call))
		*way = (struct model_goal_way){ 0 };
	if (way->request_ns)
		return;
	way->request_ns = now->ns;
	set_end(&goal->client, now, args->client_handle.u);
	remember_call(model, goal, &goal->client.call[call],
		      key_of(now, HANDLE_CLIENT, args->client_handle.u, NULL, call,
			     args->sequence_number.i));
	if (!goal->pub.client_thread)
		goal->pub.client_thread = &now->thread->pub;
	if (call == MODEL_GOAL_SEND && frame) {
		goal->pub.from = &frame->callback->pub;
		goal->pub.from_instance = frame->run.id;
	}
}

static void on_action_request_taken(struct model *model, const struct now *now)
{
	ARGS(action_request_taken, now->event);
	const unsigned call = call_of(&args->call);
	struct goal *goal = goal_of_call(model, now, call, &args->goal_id);
	struct model_goal_way *way;

	if (!goal || is_of_other(goal, now))
		return;
	way = &goal->pub.way[call];
	if (is_next_cancel(way, call) && way->request_taken_ns)
		*way = (struct model_goal_way){ 0 };
	if (way->request_taken_ns)
		return;
	way->request_taken_ns = now->ns;
	way->server_thread = &now->thread->pub;
	way->request_held = held_since(now->thread, way->request_ns);
	set_end(&goal->server, now, args->service_handle.u);
	remember_call(model, goal, &goal->server.call[call],
		      key_of(now, HANDLE_SERVICE, args->service_handle.u, &args->client_gid, call,
			     args->sequence_number.i));
	if (!goal->pub.server_thread)
		goal->pub.server_thread = &now->thread->pub;
}

static void settle(struct model *model, struct goal *goal, int64_t ns)
{
	const struct model_goal_way *way = goal->pub.way;
	const bool refused = way[MODEL_GOAL_SEND].is_answered && !way[MODEL_GOAL_SEND].answer;
	const struct model_goal_way *last = &way[refused ? MODEL_GOAL_SEND : MODEL_GOAL_RESULT];

	if (goal->client.process ? last->response_taken_ns : last->response_ns)
		model_goal_end(model, goal, ns);
}

static void answer(struct model *model, const struct now *now, struct goal_key key,
		   const struct kymo_ctf_value *value, bool is_taken)
{
	struct goal *goal = map_get(&model->goal_calls, key.key, key.scope);
	const unsigned call = key.key & 3;
	struct model_goal_way *way;

	if (!goal || call >= MODEL_GOAL_CALLS)
		return;
	way = &goal->pub.way[call];
	*(is_taken ? &way->response_taken_ns : &way->response_ns) = now->ns;
	way->is_answered = true;
	way->answer = value->i;
	if (is_taken) {
		way->client_thread = &now->thread->pub;
		way->response_held = held_since(now->thread, way->response_ns);
	}
	if (is_taken && call == MODEL_GOAL_RESULT) {
		now->thread->result_goal = goal;
		now->thread->result_id = goal->pub.id;
	}
	settle(model, goal, now->ns);
}

static void on_action_response_sent(struct model *model, const struct now *now)
{
	ARGS(action_response_sent, now->event);

	answer(model, now,
	       key_of(now, HANDLE_SERVICE, args->service_handle.u, &args->client_gid,
		      call_of(&args->call), args->sequence_number.i),
	       &args->answer, false);
}

static void on_action_response_taken(struct model *model, const struct now *now)
{
	ARGS(action_response_taken, now->event);
	const unsigned call = call_of(&args->call);
	struct service *client =
		model_handle(model, now->process, HANDLE_CLIENT, args->client_handle.u);

	if (client && call == MODEL_GOAL_RESULT && !client->first_result_ns)
		client->first_result_ns = now->ns;
	answer(model, now,
	       key_of(now, HANDLE_CLIENT, args->client_handle.u, NULL, call,
		      args->sequence_number.i),
	       &args->answer, true);
}

/* ---- state and feedback ---- */

static void on_action_goal_state(struct model *model, const struct now *now)
{
	ARGS(action_goal_state, now->event);
	struct goal *goal = model_goal_at(model, now, &args->goal_id, true);
	const uint64_t state = args->state.u;

	if (!goal || !state || state >= MODEL_GOAL_STATES || is_of_other(goal, now))
		return;
	goal->pub.state = (enum model_goal_state)state;
	if (!goal->pub.state_ns[state])
		goal->pub.state_ns[state] = now->ns;
	if (!goal->pub.server_thread)
		goal->pub.server_thread = &now->thread->pub;
}

static void count(struct model *model, const struct now *now, const struct goal *goal,
		  struct model_goal_feedback *feedback)
{
	struct model_goal_step step = { .id = goal->pub.id,
					.thread = &now->thread->pub,
					.ns = now->ns,
					.is_received = feedback == &goal->pub.received };
	const int64_t ns = now->ns;

	if (feedback->count && ns - feedback->last_ns > feedback->gap_ns)
		feedback->gap_ns = ns - feedback->last_ns;
	if (!feedback->count++)
		feedback->first_ns = ns;
	feedback->last_ns = ns;
	memcpy(step.goal_id, goal->pub.goal_id, sizeof(step.goal_id));
	EMIT(model, goal_step, &step);
}

static void on_action_feedback_sent(struct model *model, const struct now *now)
{
	ARGS(action_feedback_sent, now->event);
	struct goal *goal = model_goal_at(model, now, &args->goal_id, true);

	if (!goal || is_of_other(goal, now))
		return;
	set_end(&goal->server, now, args->service_handle.u);
	if (!goal->pub.server_thread)
		goal->pub.server_thread = &now->thread->pub;
	count(model, now, goal, &goal->pub.sent);
}

/* All clients of an action get it; it counts for the one that sent the goal. */
static void on_action_feedback_taken(struct model *model, const struct now *now)
{
	ARGS(action_feedback_taken, now->event);
	struct goal *goal = model_goal_at(model, now, &args->goal_id, false);

	if (goal && goal->client.process == now->process &&
	    goal->client.handle == args->client_handle.u)
		count(model, now, goal, &goal->pub.received);
}

static void report_goals(struct model *model)
{
	while (model->goal_count)
		model_goal_report_oldest(model);
}

#define ON(id) [KYMO_POINT_action_##id] = on_action_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	ON(request_sent), ON(request_taken), ON(response_sent), ON(response_taken),
	ON(goal_state),   ON(feedback_sent), ON(feedback_taken),
};

const struct model_part model_actions = { .handlers = handlers, .finish = report_goals };
