/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which subscription `kymo why --at trigger` explains after latency(/x) fired: the name is "* /x",
 * the time is that of the publication, and of all who received that message, the last one counts.
 * After chain(/x -> ...) fired, it is the one that took as long as the trigger measured.
 */
#include "chains_feed.h"

#include "report/why/report_why_internal.h"

#define SENDER 1
#define FIRST 2 /* of the subscriptions, in the order in which they were created */
#define SECOND 3
#define OTHER 4

struct choice {
	struct feed feed;
	struct why_options options;
	struct why_answer answer;
};

static int choice_open(void **state, const struct chains_options *chains)
{
	struct choice *choice = calloc(1, sizeof(*choice));
	struct why_callbacks_options callbacks = { .worst = 1, .at_ns = 5000, .begin_ns = INT64_MIN,
						   .end_ns = INT64_MAX };
	struct feed *f = &choice->feed;
	struct kymo_err err;

	open_chains(f, chains);
	choice->options = (struct why_options){ .callback = "* /x", .at_ns = 5000, .worst = 1 };
	choice->answer.options = &choice->options;
	choice->answer.model = f->model;
	choice->answer.chains = f->chains;
	assert_int_equal(
		why_callbacks_create(&choice->answer.callbacks, f->model, &callbacks, &err), 0);
	node(f, SENDER, "sender");
	timer(f);
	publisher(f, 1, "/x");
	publisher(f, 2, "/y");
	node(f, FIRST, "first");
	subscription(f, 1, "/x");
	node(f, SECOND, "second");
	subscription(f, 1, "/x");
	node(f, OTHER, "other");
	subscription(f, 1, "/y");
	*state = choice;
	return 0;
}

static int choice_setup(void **state)
{
	return choice_open(state, NULL);
}

static int chain_setup(void **state)
{
	const struct chains_options chains = { .pattern = "/x -> *",
					       .begin_ns = INT64_MIN,
					       .end_ns = INT64_MAX,
					       .worst = 1,
					       .hops = true,
					       .at_ns = 5000,
					       .follow_ns = INT64_MIN };
	struct choice *choice;

	(void)choice_open(state, &chains);
	choice = *state;
	choice->options.callback = NULL;
	choice->options.pattern = chains.pattern;
	return 0;
}

static int choice_teardown(void **state)
{
	struct choice *choice = *state;

	why_callbacks_pass.destroy(choice->answer.callbacks);
	chains_destroy(choice->feed.chains);
	model_destroy(choice->feed.model);
	free(choice);
	return 0;
}

/* One message, which the two begin to handle this long after it was published. */
static void message(struct feed *f, int64_t ns, unsigned topic, int64_t first_ns, int64_t second_ns)
{
	const int64_t last = first_ns > second_ns ? first_ns : second_ns;
	const int64_t to[] = { first_ns, second_ns };
	uint64_t stamp;

	start(f, SENDER, ns - 10, 0x3000);
	stamp = publish(f, SENDER, ns, topic);
	end(f, SENDER, ns + 20, 0x3000);
	if (topic == 2) {
		deliver(f, OTHER, ns + last, 1, stamp);
		end(f, OTHER, ns + last + 10, 0x4001);
		return;
	}
	for (unsigned turn = 0; turn < 2; turn++) {
		const unsigned who = (first_ns > second_ns) ^ turn;

		deliver(f, FIRST + (int)who, ns + to[who], 1, stamp);
		end(f, FIRST + (int)who, ns + to[who] + 10, 0x4001);
	}
}

static void chosen(struct choice *choice, const char *node_name)
{
	const struct why_target *target = &choice->answer.target;

	model_finish(choice->feed.model);
	chains_finish(choice->feed.chains);
	why_choose(&choice->answer);
	assert_true(target->is_found);
	assert_false(target->is_chain);
	assert_string_equal(
		model_callback_node(model_callback(choice->feed.model, target->index))->full_name,
		node_name);
}

static void the_second_was_last(void **state)
{
	struct choice *choice = *state;

	message(&choice->feed, 5000, 1, 100, 400);
	chosen(choice, "/second");
}

static void the_first_was_last(void **state)
{
	struct choice *choice = *state;

	message(&choice->feed, 5000, 1, 400, 100);
	chosen(choice, "/first");
}

/* Other messages took longer: one was over before, one is of another topic, one came later. */
static void only_that_message(void **state)
{
	struct choice *choice = *state;

	message(&choice->feed, 2000, 1, 2000, 100);
	message(&choice->feed, 4900, 2, 2900, 2900);
	message(&choice->feed, 5000, 1, 100, 400);
	message(&choice->feed, 9000, 1, 3000, 100);
	chosen(choice, "/second");
}

/* A message of before is still on its way, and takes longer: the trigger was not about it. */
static void not_the_one_before(void **state)
{
	struct choice *choice = *state;
	struct feed *f = &choice->feed;
	uint64_t before, that;

	start(f, SENDER, 1990, 0x3000);
	before = publish(f, SENDER, 2000, 1);
	end(f, SENDER, 2020, 0x3000);
	start(f, SENDER, 4990, 0x3000);
	that = publish(f, SENDER, 5000, 1);
	end(f, SENDER, 5020, 0x3000);
	deliver(f, SECOND, 5400, 1, that);
	end(f, SECOND, 5410, 0x4001);
	deliver(f, FIRST, 5500, 1, before);
	end(f, FIRST, 5510, 0x4001);
	chosen(choice, "/second");
}

/* Both receive /x, and only one of them is what fired. */
static void chain_that_fired(struct choice *choice, int64_t fired_ns, const char *node_name)
{
	const struct why_target *target = &choice->answer.target;

	choice->options.fired_ns = fired_ns;
	message(&choice->feed, 5000, 1, 100, 400);
	finish(&choice->feed);
	why_choose(&choice->answer);
	assert_true(target->is_found && target->is_chain);
	assert_string_equal(
		model_callback_node(chains_path(choice->feed.chains, target->index)->callback)
			->full_name,
		node_name);
	assert_int_equal(why_from_fired(&choice->answer), 5);
}

static void the_receiver_that_fired(void **state)
{
	chain_that_fired(*state, 415, "/second");
}

static void the_other_receiver_fired(void **state)
{
	chain_that_fired(*state, 105, "/first");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_second_was_last, choice_setup, choice_teardown),
		cmocka_unit_test_setup_teardown(the_first_was_last, choice_setup, choice_teardown),
		cmocka_unit_test_setup_teardown(only_that_message, choice_setup, choice_teardown),
		cmocka_unit_test_setup_teardown(not_the_one_before, choice_setup, choice_teardown),
		cmocka_unit_test_setup_teardown(the_receiver_that_fired, chain_setup,
						choice_teardown),
		cmocka_unit_test_setup_teardown(the_other_receiver_fired, chain_setup,
						choice_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
