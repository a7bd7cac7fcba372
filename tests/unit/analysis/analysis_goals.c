/* SPDX-License-Identifier: Apache-2.0 */
/* A goal's parts, its feedback, what its client does with the result, and what is start-up. */
#include "feed_goals.h"

static void check_piece(const struct model_goal_cut *cut, unsigned at, enum model_goal_part part,
			int64_t from_ns, int64_t to_ns)
{
	assert_true(at < cut->pieces);
	assert_string_equal(model_goal_part_name(cut->piece[at].part), model_goal_part_name(part));
	assert_int_equal(cut->piece[at].from_ns, from_ns);
	assert_int_equal(cut->piece[at].to_ns, to_ns);
	assert_int_equal(cut->piece[at].error_ns, 0);
}

/* Both sides; the goal is canceled. */
static void both(void **state)
{
	struct feed *f = *state;
	struct model_goal_cut cut;

	both_sides(f);
	begin(f, 100, id_a, 1);
	state_of(f, 150, id_a, 3);
	finish(f, 200, id_a, 1, 5);
	model_finish(f->model);
	model_goal_cut(&cut, &f->goal[0]);
	assert_true(cut.is_whole);
	assert_int_equal(cut.begin_ns, 100);
	assert_int_equal(cut.end_ns, 204);
	assert_int_equal(cut.pieces, 7);
	check_piece(&cut, 0, MODEL_GOAL_REQUEST, 100, 102);
	check_piece(&cut, 1, MODEL_GOAL_ACCEPTING, 102, 103);
	check_piece(&cut, 2, MODEL_GOAL_QUEUED, 103, 105);
	check_piece(&cut, 3, MODEL_GOAL_RUNNING, 105, 150);
	check_piece(&cut, 4, MODEL_GOAL_STOPPING, 150, 202);
	check_piece(&cut, 5, MODEL_GOAL_KEPT, 202, 203);
	check_piece(&cut, 6, MODEL_GOAL_ANSWER, 203, 204);
	assert_int_equal(cut.piece[0].thread->process->pid, 2);
	assert_ptr_equal(cut.piece[0].of, f->goal[0].server);
	assert_int_equal(cut.piece[6].thread->process->pid, 1);
	assert_ptr_equal(cut.piece[6].of, f->goal[0].client);
}

/* It is canceled before it executes. */
static void canceled_early(void **state)
{
	struct feed *f = *state;
	struct model_goal_cut cut;

	both_sides(f);
	request(f, 100, "goal", id_a, 1);
	take_request(f, 102, "goal", id_a, gid, 1);
	state_of(f, 103, id_a, 1);
	respond(f, 104, "goal", 1, 1);
	take_response(f, 106, "goal", 1, 1);
	state_of(f, 150, id_a, 3);
	finish(f, 200, id_a, 1, 5);
	model_finish(f->model);
	model_goal_cut(&cut, &f->goal[0]);
	assert_int_equal(cut.pieces, 6);
	check_piece(&cut, 2, MODEL_GOAL_QUEUED, 103, 150);
	check_piece(&cut, 3, MODEL_GOAL_STOPPING, 150, 202);
}

/* The event of its end was lost: the result says how it ended, and nobody knows who kept it. */
static void lost_end(void **state)
{
	struct feed *f = *state;
	struct model_goal_cut cut;

	both_sides(f);
	begin(f, 100, id_a, 1);
	request(f, 110, "result", id_a, 1);
	take_request(f, 111, "result", id_a, gid, 1);
	respond(f, 203, "result", 1, 6);
	take_response(f, 204, "result", 1, 6);
	model_finish(f->model);
	model_goal_cut(&cut, &f->goal[0]);
	assert_string_equal(model_goal_status(&f->goal[0]), "aborted");
	assert_int_equal(cut.pieces, 5);
	check_piece(&cut, 3, MODEL_GOAL_RUNNING, 105, 203);
	check_piece(&cut, 4, MODEL_GOAL_ANSWER, 203, 204);
}

static void other_state(struct feed *f, int64_t ns, int64_t state)
{
	on(f, 3, 3);
	EV(ns, "action_goal_state", "goal_handle", P(GOAL), "#goal_id", id_a, P(16), "state",
	   P(state));
}

static void other_takes(struct feed *f, int64_t ns, const char *call)
{
	on(f, 3, 3);
	EV(ns, "action_request_taken", "service_handle", P(SERVER), "\"call", call, "#goal_id",
	   id_a, P(16), "#client_gid", gid, P(16), "sequence_number", P(1));
}

/* A second server of that name works on the goal, too: it counts for the one that took it first. */
static void two_servers(void **state)
{
	struct feed *f = *state;
	struct model_goal_cut cut;

	both_sides(f);
	begin(f, 100, id_a, 1);
	other_takes(f, 107, "goal");
	other_state(f, 108, 1);
	other_state(f, 109, 2);
	EV(110, "action_feedback_sent", "service_handle", P(SERVER), "#goal_id", id_a, P(16));
	feedback(f, 111, id_a);
	other_state(f, 150, 6);
	other_takes(f, 160, "result");
	finish(f, 200, id_a, 1, 4);
	model_finish(f->model);
	model_goal_cut(&cut, &f->goal[0]);
	assert_string_equal(model_goal_status(&f->goal[0]), "succeeded");
	assert_int_equal(model_goal_end_ns(&f->goal[0]), 202);
	assert_int_equal(f->goal[0].server->process->pid, 2);
	assert_int_equal(f->goal[0].sent.count, 1);
	assert_int_equal(cut.pieces, 6);
	check_piece(&cut, 3, MODEL_GOAL_RUNNING, 105, 202);
	assert_int_equal(f->goal[0].way[MODEL_GOAL_RESULT].request_taken_ns, 201);
}

/* A time that is earlier than the one before it counts as that one. */
static void backwards(void **state)
{
	struct feed *f = *state;
	struct model_goal_cut cut;

	both_sides(f);
	take_request(f, 99, "goal", id_a, gid, 1);
	request(f, 100, "goal", id_a, 1);
	respond(f, 101, "goal", 1, 0);
	take_response(f, 110, "goal", 1, 0);
	model_finish(f->model);
	model_goal_cut(&cut, &f->goal[0]);
	assert_true(model_goal_is_rejected(&f->goal[0]));
	assert_false(cut.is_whole);
	assert_int_equal(cut.pieces, 3);
	check_piece(&cut, 0, MODEL_GOAL_REQUEST, 100, 100);
	check_piece(&cut, 1, MODEL_GOAL_ACCEPTING, 100, 101);
	check_piece(&cut, 2, MODEL_GOAL_ANSWER, 101, 110);
}

static void client_alone(void **state)
{
	struct feed *f = *state;
	struct model_goal_cut cut;

	both_sides(f);
	request(f, 100, "goal", id_a, 1);
	take_response(f, 106, "goal", 1, 1);
	request(f, 150, "result", id_a, 1);
	take_response(f, 200, "result", 1, 6);
	model_finish(f->model);
	model_goal_cut(&cut, &f->goal[0]);
	assert_true(cut.is_whole);
	assert_int_equal(cut.pieces, 2);
	check_piece(&cut, 0, MODEL_GOAL_ASKING, 100, 106);
	check_piece(&cut, 1, MODEL_GOAL_WAITING, 106, 200);
}

/* From the middle of the goal on: it begins where it is first known. */
static void server_alone(void **state)
{
	struct feed *f = *state;
	struct model_goal_cut cut;

	both_sides(f);
	state_of(f, 110, id_a, 2);
	state_of(f, 120, id_a, 4);
	take_request(f, 125, "result", id_a, gid, 1);
	respond(f, 130, "result", 1, 4);
	model_finish(f->model);
	model_goal_cut(&cut, &f->goal[0]);
	assert_false(cut.is_whole);
	assert_int_equal(cut.begin_ns, 110);
	assert_int_equal(cut.pieces, 2);
	check_piece(&cut, 0, MODEL_GOAL_RUNNING, 110, 120);
	check_piece(&cut, 1, MODEL_GOAL_KEPT, 120, 130);
}

static void each_feedback(void **state)
{
	struct feed *f = *state;

	both_sides(f);
	client(f, 4, OTHER_CLIENT, "/count/_action/send_goal");
	begin(f, 100, id_a, 1);
	feedback(f, 110, id_a);
	take_feedback(f, 111, CLIENT, id_a);
	take_feedback(f, 112, OTHER_CLIENT, id_a); /* of another client */
	feedback(f, 120, id_a);
	model_finish(f->model);
	assert_int_equal(f->goal_steps, 3);
	assert_int_equal(f->goal_step[0].ns, 110);
	assert_false(f->goal_step[0].is_received);
	assert_int_equal(f->goal_step[0].thread->process->pid, 2);
	assert_int_equal(f->goal_step[1].ns, 111);
	assert_true(f->goal_step[1].is_received);
	assert_int_equal(f->goal_step[2].ns, 120);
}

/* Until the executor of the thread that took the result goes on; not another thread's. */
static void handled(void **state)
{
	struct feed *f = *state;

	both_sides(f);
	begin(f, 100, id_a, 1);
	finish(f, 200, id_a, 1, 4);
	on(f, 2, 2);
	EV(210, "rclcpp_executor_get_next_ready");
	on(f, 1, 1);
	EV(220, "rclcpp_executor_wait_for_work", "timeout", P(5));
	EV(230, "rclcpp_executor_get_next_ready");
	begin(f, 300, id_b, 2);
	finish(f, 400, id_b, 2, 4);
	model_finish(f->model);
	assert_int_equal(f->goals, 2);
	assert_int_equal(f->goal[0].handled_ns, 220);
	assert_int_equal(f->goal[1].handled_ns, 0);
}

/* What the server's thread ran longest while the request was on its way. */
static void held(void **state)
{
	struct feed *f = *state;
	struct model_goal_cut cut;

	both_sides(f);
	on(f, 2, 2);
	EV(90, "callback_start", "callback", P(0x500), "is_intra_process", P(0));
	request(f, 100, "goal", id_a, 1);
	on(f, 2, 2);
	EV(110, "callback_end", "callback", P(0x500));
	EV(120, "callback_start", "callback", P(0x600), "is_intra_process", P(0));
	EV(130, "callback_start", "callback", P(0x700), "is_intra_process", P(0));
	EV(170, "callback_end", "callback", P(0x700));
	EV(180, "callback_end", "callback", P(0x600));
	EV(182, "callback_start", "callback", P(0x500), "is_intra_process", P(0));
	EV(185, "callback_end", "callback", P(0x500));
	on(f, 2, 3); /* another thread */
	EV(100, "callback_start", "callback", P(0x800), "is_intra_process", P(0));
	EV(185, "callback_end", "callback", P(0x800));
	take_request(f, 190, "goal", id_a, gid, 1);
	respond(f, 191, "goal", 1, 0);
	take_response(f, 192, "goal", 1, 0);
	model_finish(f->model);
	model_goal_cut(&cut, &f->goal[0]);
	check_piece(&cut, 0, MODEL_GOAL_REQUEST, 100, 190);
	assert_int_equal(cut.piece[0].held.by->address, 0x600);
	assert_int_equal(cut.piece[0].held.ns, 60);
	assert_null(cut.piece[1].held.by);
	assert_null(cut.piece[2].held.by);
}

#define MS 1000000

/* Sent before the client's first result, or shortly after it. */
static void startup(void **state)
{
	struct feed *f = *state;
	uint8_t id_c[16] = { 9 };

	both_sides(f);
	begin(f, 10 * MS, id_a, 1);
	finish(f, 50 * MS, id_a, 1, 4);
	begin(f, 140 * MS, id_b, 2);
	finish(f, 141 * MS, id_b, 2, 4);
	begin(f, 160 * MS, id_c, 3);
	finish(f, 161 * MS, id_c, 3, 4);
	model_finish(f->model);
	assert_int_equal(f->goals, 3);
	assert_true(f->goal[0].is_startup);
	assert_true(f->goal[1].is_startup);
	assert_false(f->goal[2].is_startup);
}

/* The first goal of a client that waited long before it sent one. */
static void late_first(void **state)
{
	struct feed *f = *state;

	both_sides(f);
	begin(f, 1100 * (int64_t)MS, id_a, 1);
	finish(f, 1200 * (int64_t)MS, id_a, 1, 4);
	model_finish(f->model);
	assert_int_equal(f->goals, 1);
	assert_false(f->goal[0].is_startup);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(both),          TEST(backwards), TEST(client_alone), TEST(server_alone),
		TEST(each_feedback), TEST(handled),   TEST(startup),      TEST(late_first),
		TEST(held),          TEST(canceled_early), TEST(two_servers),
		TEST(lost_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
