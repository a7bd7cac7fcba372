/* SPDX-License-Identifier: Apache-2.0 */
/* The model: goals of actions, by their id, at client and server. */
#include "analysis/stats/stats_actions.h"
#include "feed_goals.h"

static void whole_goal(void **state)
{
	struct feed *f = *state;
	const struct model_goal *goal = &f->goal[0];

	both_sides(f);
	begin(f, 100, id_a, 1);
	feedback(f, 110, id_a);
	take_feedback(f, 111, CLIENT, id_a);
	feedback(f, 130, id_a);
	feedback(f, 140, id_a);
	finish(f, 200, id_a, 1, 4);
	take_feedback(f, 210, CLIENT, id_a);
	assert_int_equal(f->goals, 0);
	feedback(f, LATER + 300, id_b); /* of another goal */
	assert_int_equal(f->goals, 1);
	assert_memory_equal(goal->goal_id, id_a, 16);
	assert_string_equal(goal->action, "/count");
	assert_string_equal(goal->client->node->full_name, "/wisher");
	assert_ptr_equal(goal->server, model_service(f->model, 0));
	assert_int_equal(goal->client_thread->process->pid, 1);
	assert_int_equal(goal->server_thread->process->pid, 2);
	assert_int_equal(goal->way[MODEL_GOAL_SEND].request_ns, 100);
	assert_int_equal(goal->way[MODEL_GOAL_SEND].request_taken_ns, 102);
	assert_int_equal(goal->way[MODEL_GOAL_SEND].response_ns, 104);
	assert_int_equal(goal->way[MODEL_GOAL_SEND].response_taken_ns, 106);
	assert_int_equal(goal->state_ns[MODEL_GOAL_ACCEPTED], 103);
	assert_int_equal(goal->state_ns[MODEL_GOAL_EXECUTING], 105);
	assert_int_equal(model_goal_end_ns(goal), 202);
	assert_int_equal(model_goal_first_ns(goal), 100);
	assert_int_equal(goal->way[MODEL_GOAL_RESULT].response_taken_ns, 204);
	assert_int_equal(goal->sent.count, 3);
	assert_int_equal(goal->sent.gap_ns, 20);
	assert_int_equal(goal->received.count, 2);
	assert_int_equal(goal->received.gap_ns, 99);
	assert_string_equal(model_goal_status(goal), "succeeded");
	/* what comes late begins nothing */
	feedback(f, LATER + 310, id_a);
	state_of(f, LATER + 311, id_a, 4);
	model_finish(f->model);
	assert_int_equal(f->goals, 2);
	assert_memory_equal(f->goal[1].goal_id, id_b, 16);
}

/* The ids differ in the last byte, the numbers count for each call; both run at once. */
static void two_at_once(void **state)
{
	struct feed *f = *state;

	both_sides(f);
	begin(f, 100, id_a, 1);
	begin(f, 110, id_b, 2);
	finish(f, 200, id_b, 1, 6);
	finish(f, 300, id_a, 2, 4);
	model_finish(f->model);
	assert_int_equal(f->goals, 2);
	assert_memory_equal(f->goal[0].goal_id, id_b, 16);
	assert_string_equal(model_goal_status(&f->goal[0]), "aborted");
	assert_string_equal(model_goal_status(&f->goal[1]), "succeeded");
	assert_int_equal(f->goal[1].way[MODEL_GOAL_SEND].response_taken_ns, 106);
}

static void rejected(void **state)
{
	struct feed *f = *state;

	both_sides(f);
	whole_call(f, 100, "goal", id_a, 1, 0);
	feedback(f, LATER + 103, id_b);
	assert_int_equal(f->goals, 0);
	feedback(f, LATER + 104, id_b);
	assert_int_equal(f->goals, 1);
	assert_string_equal(model_goal_status(&f->goal[0]), "rejected");
	assert_int_equal(model_goal_end_ns(&f->goal[0]), 0);
}

/* The first cancel is refused, the second accepted; its answer comes after the result. */
static void canceled(void **state)
{
	struct feed *f = *state;
	const struct model_goal_way *cancel = &f->goal[0].way[MODEL_GOAL_CANCEL];

	both_sides(f);
	begin(f, 100, id_a, 1);
	whole_call(f, 110, "cancel", id_a, 1, 1);
	request(f, 120, "cancel", id_a, 2);
	take_request(f, 121, "cancel", id_a, gid, 2);
	state_of(f, 122, id_a, 3);
	respond(f, 123, "cancel", 2, 0);
	finish(f, 130, id_a, 1, 5);
	take_response(f, 140, "cancel", 2, 0);
	model_finish(f->model);
	assert_int_equal(f->goals, 1);
	assert_int_equal(cancel->request_ns, 120);
	assert_int_equal(cancel->request_taken_ns, 121);
	assert_int_equal(cancel->response_taken_ns, 140);
	assert_int_equal(cancel->answer, 0);
	assert_int_equal(f->goal[0].state_ns[MODEL_GOAL_CANCELING], 122);
	assert_string_equal(model_goal_status(&f->goal[0]), "canceled");
}

/* A cancel of all goals is about none of them; another client's feedback and numbers, too. */
static void not_about_it(void **state)
{
	struct feed *f = *state;

	both_sides(f);
	client(f, 4, OTHER_CLIENT, "/count/_action/send_goal");
	begin(f, 100, id_a, 1);
	request(f, 110, "cancel", no_id, 1);
	take_request(f, 111, "cancel", no_id, gid, 1);
	take_feedback(f, 112, OTHER_CLIENT, id_a);
	take_request(f, 113, "goal", id_b, other_gid, 1);
	respond(f, 114, "goal", 1, 1); /* of id_a, again */
	model_finish(f->model);
	assert_int_equal(f->goals, 2);
	assert_int_equal(f->goal[0].way[MODEL_GOAL_CANCEL].request_ns, 0);
	assert_int_equal(f->goal[0].received.count, 0);
	assert_string_equal(model_goal_status(&f->goal[0]), "executing");
	assert_false(f->goal[1].way[MODEL_GOAL_SEND].is_answered);
	assert_string_equal(model_goal_status(&f->goal[1]), "sent");
}

/* Only the server was recorded, and from the middle of the goal on. */
static void server_only(void **state)
{
	struct feed *f = *state;

	on(f, 2, 2);
	EV(3, "rcl_service_init", "service_handle", P(SERVER), "node_handle", P(0x20),
	   "rmw_service_handle", P(0x1200), "\"service_name", "/other");
	feedback(f, 100, id_a);
	take_request(f, 110, "result", id_a, gid, 1);
	state_of(f, 120, id_a, 4);
	respond(f, 121, "result", 1, 4);
	feedback(f, LATER + 122, id_b);
	assert_int_equal(f->goals, 1);
	assert_null(f->goal[0].action);
	assert_null(f->goal[0].client);
	assert_int_equal(model_goal_first_ns(&f->goal[0]), 100);
	assert_string_equal(model_goal_status(&f->goal[0]), "succeeded");
}

static void odd(void **state)
{
	struct feed *f = *state;

	both_sides(f);
	whole_call(f, 100, "nonsense", id_a, 1, 1);
	state_of(f, 104, id_a, 77);
	request(f, 105, "goal", id_b, 1);
	request(f, 106, "goal", id_b, 2); /* the same id again */
	model_finish(f->model);
	assert_int_equal(f->goals, 2);
	assert_null(model_goal_status(&f->goal[0]));
	assert_int_equal(f->goal[1].way[MODEL_GOAL_SEND].request_ns, 105);
}

static const uint8_t *numbered(uint8_t id[16], uint16_t number)
{
	memset(id, 0, 16);
	id[0] = 9;
	memcpy(id + 4, &number, sizeof(number));
	return id;
}

/* Goals that nobody ends: the model keeps a number of them, and the ids of fewer. */
static void without_end(void **state)
{
	struct feed *f = *state;
	uint8_t id[16];

	both_sides(f);
	for (uint16_t i = 0; i < 6000; i++)
		request(f, 100 + i, "goal", numbered(id, i), i);
	assert_int_equal(f->goals, 6000 - 4096);
	/* Reported a while ago: what comes late begins nothing. */
	finish(f, 7000, numbered(id, 1500), 1, 4);
	take_response(f, 7010, "goal", 1500, 0);
	assert_int_equal(f->goals, 6000 - 4096);
	/* Reported long ago: its id is forgotten. */
	state_of(f, 7100, numbered(id, 10), 4);
	assert_int_equal(f->goals, 6000 - 4096 + 1);
	model_finish(f->model);
	assert_int_equal(f->goals, 6001);
	assert_memory_equal(f->goal[6000 % KEPT].goal_id, id, 16);
	assert_string_equal(model_goal_status(&f->goal[6000 % KEPT]), "succeeded");
	for (unsigned i = 1; i < KEPT; i++)
		assert_string_equal(model_goal_status(&f->goal[(6000 - i) % KEPT]), "sent");
}

static struct actions *listen_from(struct feed *f, int64_t begin_ns)
{
	struct actions *actions;
	struct kymo_err err;

	assert_int_equal(actions_create(&actions, f->model, begin_ns, INT64_MAX, &err), 0);
	return actions;
}

/* One goal of each kind in numbers; those of an action without a name are another row. */
static void in_numbers(void **state)
{
	struct feed *f = *state;
	struct actions *actions = listen_from(f, 100), *later = listen_from(f, 101);
	const struct actions_action *its;
	uint8_t id[4][16] = { { 1 }, { 2 }, { 3 }, { 4 } };

	both_sides(f);
	begin(f, 100, id_a, 1);
	feedback(f, 110, id_a);
	take_feedback(f, 111, CLIENT, id_a);
	feedback(f, 130, id_a);
	finish(f, 200, id_a, 1, 4);
	for (unsigned i = 0; i < 3; i++) {
		begin(f, 300 + 100 * i, id[i], 2 + i);
		if (i < 2)
			finish(f, 320 + 100 * i, id[i], 2 + i, 5 + i);
	}
	request(f, 600, "goal", id[3], 9);
	take_request(f, 601, "goal", id[3], gid, 9);
	respond(f, 602, "goal", 9, 0);
	take_response(f, 610, "goal", 9, 0);
	on(f, 3, 3);
	EV(700, "action_feedback_sent", "service_handle", P(0x999), "#goal_id", id_b, P(16));
	model_finish(f->model);

	assert_int_equal(actions_count(actions), 2);
	its = actions_action(actions, 0);
	assert_string_equal(its->name, "/count");
	assert_int_equal(its->goals, 5);
	for (unsigned i = 0; i < ACTIONS_OUTCOMES; i++)
		assert_int_equal(its->outcome[i], 1);
	assert_int_equal(its->accept.count, 5);
	assert_int_equal(its->accept.max, 10);
	assert_int_equal(its->accept.min, 6);
	assert_int_equal(its->execution.count, 3);
	assert_int_equal(its->execution.max, 202 - 105);
	assert_int_equal(its->total.count, 3);
	assert_int_equal(its->total.max, 104);
	assert_int_equal(its->feedback, 2);
	assert_int_equal(its->feedback_gap_ns, 20);
	assert_null(actions_action(actions, 1)->name);
	assert_int_equal(actions_action(actions, 1)->outcome[ACTIONS_UNFINISHED], 1);
	assert_int_equal(actions_end_count(actions), 3);
	assert_string_equal(actions_end(actions, 0)->node->full_name, "/wisher");
	assert_int_equal(actions_end(actions, 1)->process->pid, 2);
	assert_int_equal(actions_end(actions, 2)->action, 1);
	assert_int_equal(actions_action(later, 0)->goals, 4);
	actions_destroy(actions);
	actions_destroy(later);
}

/* Without the server's events, feedback is what the client took. */
static void client_only(void **state)
{
	struct feed *f = *state;
	struct actions *actions = listen_from(f, 0);
	const struct actions_action *its;

	both_sides(f);
	request(f, 100, "goal", id_a, 1);
	take_response(f, 106, "goal", 1, 1);
	take_feedback(f, 110, CLIENT, id_a);
	take_feedback(f, 140, CLIENT, id_a);
	request(f, 150, "result", id_a, 1);
	take_response(f, 200, "result", 1, 6);
	model_finish(f->model);
	its = actions_action(actions, 0);
	assert_int_equal(actions_count(actions), 1);
	assert_string_equal(its->name, "/count");
	assert_int_equal(its->outcome[ACTIONS_ABORTED], 1);
	assert_int_equal(its->execution.count, 0);
	assert_int_equal(its->total.max, 100);
	assert_int_equal(its->feedback, 2);
	assert_int_equal(its->feedback_gap_ns, 30);
	assert_int_equal(actions_end_count(actions), 1);
	actions_destroy(actions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(whole_goal), TEST(two_at_once),  TEST(rejected),
		TEST(canceled),   TEST(not_about_it), TEST(server_only),
		TEST(odd),        TEST(without_end),  TEST(in_numbers),
		TEST(client_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
