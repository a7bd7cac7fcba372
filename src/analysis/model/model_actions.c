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
 * cancel, and after `kymo attach` the name may come later: a goal is reported LATER_NS after its
 * end. Its id is remembered for a while, so that still later events do not begin it anew.
 *
 * Of servers of one name in several processes, all work on a goal; here it is that one's which took
 * it first.
 */
#include <string.h>

#include "analysis/model/model_internal.h"
#include "base/array.h"

#define SUFFIX "/_action/send_goal"
#define LATER_NS 2000000000

/* ---- open goals ---- */

static uint64_t word(const uint8_t *bytes)
{
	uint64_t number;

	memcpy(&number, bytes, sizeof(number));
	return number;
}

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
	map_del_if(&model->goals, word(old->pub.goal_id), word(old->pub.goal_id + 8), old);
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

/* Of those that ended; without one, of the open ones. */
static void report_oldest(struct model *model)
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
		report_oldest(model);
}

static void end_goal(struct model *model, struct goal *goal, int64_t ns)
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
		report_oldest(model);
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
	if (map_put(&model->goals, word(id), word(id + 8), goal))
		model->out_of_memory = true;
	return goal;
}

/* Return: NULL: none, or it is over. @make: begin one that is not known yet. */
static struct goal *goal_at(struct model *model, const struct now *now,
			    const struct kymo_ctf_value *value, bool make)
{
	const uint8_t *id = (const uint8_t *)value->bytes;
	struct goal *goal;

	advance(model, now);
	/* A cancel request with an id of zeros is about all goals. */
	if (!value->present || value->size != sizeof(goal->pub.goal_id) ||
	    (!word(id) && !word(id + 8)))
		return NULL;
	goal = map_get(&model->goals, word(id), word(id + 8));
	if (!goal && make)
		goal = goal_new(model, id);
	return goal && !goal->over ? goal : NULL;
}

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
	const uint64_t who =
		gid && gid->present && gid->size >= 8 ? word((const uint8_t *)gid->bytes) : 0;
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
	return call < MODEL_GOAL_CALLS ? goal_at(model, now, id, true) : NULL;
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
		end_goal(model, goal, ns);
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
	struct goal *goal = goal_at(model, now, &args->goal_id, true);
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
	struct goal *goal = goal_at(model, now, &args->goal_id, true);

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
	struct goal *goal = goal_at(model, now, &args->goal_id, false);

	if (goal && goal->client.process == now->process &&
	    goal->client.handle == args->client_handle.u)
		count(model, now, goal, &goal->pub.received);
}

static void report_goals(struct model *model)
{
	while (model->goal_count)
		report_oldest(model);
}

#define ON(id) [KYMO_POINT_action_##id] = on_action_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	ON(request_sent), ON(request_taken), ON(response_sent), ON(response_taken),
	ON(goal_state),   ON(feedback_sent), ON(feedback_taken),
};

const struct model_part model_actions = { .handlers = handlers, .finish = report_goals };
