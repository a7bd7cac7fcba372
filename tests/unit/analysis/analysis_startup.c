/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is start-up: the first messages of a subscription and the first runs of a timer, as long as
 * both are young; and that it is not chosen as the worst arrival of a chain. /a's timer -> /x ->
 * /b.
 */
#include "chains_feed.h"

#include "analysis/model/model_startup.h"

#define MS INT64_C(1000000)

struct seen {
	struct feed feed; /* first: the functions of chains_feed.h take it */
	bool is_startup[64];
	unsigned runs;
};

static struct seen *seen_of(struct feed *f)
{
	return (struct seen *)f;
}

static void on_instance(void *context, const struct model_instance *instance)
{
	struct seen *seen = context;

	assert_true(seen->runs < 64);
	seen->is_startup[seen->runs++] = model_is_startup(instance);
}

static const struct model_listener listener = { .instance = on_instance };

static int begin(void **state)
{
	const struct chains_options options = { .begin_ns = INT64_MIN,
						.end_ns = INT64_MAX,
						.worst = 3,
						.steady_first = true,
						.follow_ns = INT64_MIN };
	struct seen *seen = calloc(1, sizeof(*seen));

	open_chains(&seen->feed, &options);
	assert_int_equal(model_listen(seen->feed.model, &listener, seen, NULL), 0);
	*state = seen;
	return 0;
}

/* The events of the two nodes come at the times 1 to 8. */
static void two_nodes(struct feed *f)
{
	node(f, 1, "a");
	timer(f);
	publisher(f, 1, "/x");
	node(f, 2, "b");
	subscription(f, 1, "/x");
}

/* Published at @ns, on its way for @way_ns. Return: is the receiving run start-up? */
static bool message(struct feed *f, int64_t ns, int64_t way_ns)
{
	const uint64_t stamp = publish(f, 1, ns, 1);

	deliver(f, 2, ns + way_ns, 1, stamp);
	end(f, 2, ns + way_ns + 10, 0x4001);
	return seen_of(f)->is_startup[seen_of(f)->runs - 1];
}

static void first_messages(void **state)
{
	struct feed *f = *state;
	const struct chains_path *path;

	two_nodes(f);
	/* The first one is received at 226 ms: what is published until 100 ms later is start-up. */
	assert_true(message(f, 200 * MS, 26 * MS));
	assert_true(message(f, 326 * MS, 2 * MS));
	assert_false(message(f, 326 * MS + 1, 3 * MS));
	assert_false(message(f, 400 * MS, 9 * MS));
	finish(f);
	path = chain(f, "/x /b");
	assert_non_null(path);
	/* All count, and the longest of the others is the worst. */
	assert_int_equal(path->stats->total.count, 4);
	assert_int_equal(path->stats->startup.count, 2);
	assert_int_equal(path->stats->total.max, 26 * MS + 10);
	assert_int_equal(path->stats->worst_count, 3);
	assert_int_equal(path->stats->worst[0].total_ns, 9 * MS + 10);
	assert_int_equal(path->stats->worst[1].total_ns, 3 * MS + 10);
	assert_true(path->stats->worst[2].is_startup);
	assert_int_equal(path->stats->worst[2].total_ns, 26 * MS + 10);
}

/* A second after both were created, nothing is start-up: not of a publisher that was silent. */
static void late_messages(void **state)
{
	struct feed *f = *state;

	two_nodes(f);
	assert_false(message(f, 1000 * MS + 10, 26 * MS));
	assert_false(message(f, 1050 * MS, 26 * MS));
	/* A new subscription: the younger one counts. */
	f->pid = 2;
	EV(1100 * MS, "rcl_subscription_init", "subscription_handle", P(0x2001), "node_handle", P(1),
	   "rmw_subscription_handle", P(0x2101), "\"topic_name", "/x", "queue_depth", P(10));
	EV(1100 * MS, "rclcpp_subscription_init", "subscription_handle", P(0x2001), "subscription",
	   P(0x2201));
	EV(1100 * MS, "rclcpp_subscription_callback_added", "subscription", P(0x2201), "callback",
	   P(0x4001));
	assert_true(message(f, 2000 * MS, 26 * MS));
	assert_true(message(f, 2100 * MS, 1 * MS));
	assert_false(message(f, 2100 * MS + 1, 26 * MS));
}

static void timers(void **state)
{
	struct feed *f = *state;

	two_nodes(f);
	/* The first runs 3 s after its creation; the period is 1,000 ns. */
	for (int64_t at = 0; at < 5; at++) {
		start(f, 1, 3000 * MS + at * 30 * MS, 0x3000);
		end(f, 1, 3000 * MS + at * 30 * MS + 10, 0x3000);
		/* Due a period after the one before: the last one at 90.001 ms, which ran at
		 * 120. */
		assert_true(seen_of(f)->is_startup[at]);
	}
	start(f, 1, 3150 * MS, 0x3000);
	end(f, 1, 3150 * MS + 10, 0x3000);
	assert_false(seen_of(f)->is_startup[5]);
}

/* Of what was created before the trace, the first messages are like others. */
static void before_the_trace(void **state)
{
	struct feed *f = *state;

	f->pid = 3;
	EV(9, "rclcpp_executor_get_next_ready");
	two_nodes(f);
	assert_false(message(f, 200 * MS, 26 * MS));
	start(f, 1, 300 * MS, 0x3000);
	end(f, 1, 300 * MS + 10, 0x3000);
	assert_false(seen_of(f)->is_startup[1]);
}

static void nothing_is(void **state)
{
	struct feed *f = *state;

	model_without_startup(f->model);
	two_nodes(f);
	assert_false(message(f, 200 * MS, 26 * MS));
	finish(f);
	assert_false(chain(f, "/x /b")->stats->worst[0].is_startup);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(first_messages, begin, teardown),
		cmocka_unit_test_setup_teardown(late_messages, begin, teardown),
		cmocka_unit_test_setup_teardown(timers, begin, teardown),
		cmocka_unit_test_setup_teardown(before_the_trace, begin, teardown),
		cmocka_unit_test_setup_teardown(nothing_is, begin, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
