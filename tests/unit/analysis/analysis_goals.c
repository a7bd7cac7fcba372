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
		TEST(held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
