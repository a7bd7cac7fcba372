/* SPDX-License-Identifier: Apache-2.0 */
/* Chains that go through service calls: /a asks /b for /add, and publishes what it got on /x for
 * /c. */
#include "chains_feed.h"
#include "base/array.h"

static const char gid[16] = "0123456789abcde";

static void asker(struct feed *f)
{
	static const struct chains_options calls = { .begin_ns = INT64_MIN, .end_ns = INT64_MAX,
						     .worst = 10, .follow_ns = INT64_MIN,
						     .calls = true };

	again(f, &calls);
	node(f, 1, "a");
	timer(f);
	publisher(f, 1, "/x");
	EV(10, "rmw_client_init", "rmw_client_handle", P(0x501), "#gid", gid);
	EV(11, "rcl_client_init", "client_handle", P(0x500), "node_handle", P(1), "rmw_client_handle",
	   P(0x501), "\"service_name", "/add");
	node(f, 2, "b");
	EV(12, "rcl_service_init", "service_handle", P(0x600), "node_handle", P(1),
	   "rmw_service_handle", P(0x601), "\"service_name", "/add");
	EV(13, "rclcpp_service_callback_added", "service_handle", P(0x600), "callback", P(0x6000));
	node(f, 3, "c");
	subscription(f, 1, "/x");
}

static void request(struct feed *f, int64_t ns, uint64_t number)
{
	f->pid = 1;
	EV(ns, "rmw_send_request", "rmw_client_handle", P(0x501), "request", P(1), "sequence_number",
	   number);
}

/* Taken at @ns, the callback runs from @ns + 4 to @ns + 50. */
static void serve(struct feed *f, int64_t ns, uint64_t number)
{
	f->pid = 2;
	EV(ns, "rmw_take_request", "rmw_service_handle", P(0x601), "request", P(1), "#client_gid", gid,
	   "sequence_number", number, "taken", P(1));
	start(f, 2, ns + 4, 0x6000);
	end(f, 2, ns + 50, 0x6000);
}

static void respond(struct feed *f, int64_t ns, uint64_t number)
{
	f->pid = 2;
	EV(ns, "rmw_send_response", "rmw_service_handle", P(0x601), "response", P(1), "#client_gid",
	   gid, "sequence_number", number, "timestamp", P(ns));
}

static void answered(struct feed *f, int64_t ns, uint64_t number)
{
	f->pid = 1;
	EV(ns, "rmw_take_response", "rmw_client_handle", P(0x501), "response", P(1), "sequence_number",
	   number, "source_timestamp", P(0), "taken", P(1));
}

/* From a timer through the call to who gets what the client's callback publishes. */
static void call(void **state)
{
	/* Of the timer; transport, wait, take, run until the response; transport, wait, run until
	 * the publish call; publish, transport, wait, take, run. */
	static const int64_t wanted[] = { 10, 90, 0, 4, 52, 44, 0, 20, 2, 78, 0, 3, 7 };
	struct feed *f = *state;
	const struct chains_path *path;
	int64_t sum = 0;
	uint64_t stamp;

	asker(f);
	start(f, 1, 1000, 0x3000);
	request(f, 1010, 1);
	end(f, 1, 1020, 0x3000);
	serve(f, 1100, 1);
	respond(f, 1156, 1);
	answered(f, 1200, 1);
	stamp = publish(f, 1, 1220, 1);
	deliver(f, 3, 1300, 1, stamp);
	end(f, 3, 1310, 0x4001);
	finish(f);
	path = chain(f, "/a /add /b /add /a /x /c");
	assert_non_null(path);
	assert_int_equal(path->hops, 3);
	assert_int_equal(path->stats->parts, COUNT_OF(wanted));
	for (unsigned i = 0; i < path->stats->parts; i++) {
		assert_int_equal(path->stats->worst[0].part_ns[i], wanted[i]);
		sum += wanted[i];
	}
	assert_int_equal(path->stats->total.sum, sum);
	assert_int_equal(sum, 310);
	assert_int_equal(shown(f), 1);
	path = chain(f, "/a /add /b /add /a");
	assert_int_equal(path->ended, 1);
	assert_int_equal(path->parent->call, CHAINS_RESPONSE);
	assert_int_equal(path->parent->parent->parent->call, CHAINS_REQUEST);
	assert_int_equal(path->callback->kind, MODEL_CALLBACK_CLIENT);
}

/* The service took the request before the client's send call returned, and even ran. */
static void request_overtakes(void **state)
{
	struct feed *f = *state;
	const struct chains_path *path;

	asker(f);
	for (int64_t i = 1; i <= 2; i++) {
		start(f, 1, 1000 * i, 0x3000);
		f->pid = 1;
		ev(f, 1000 * i + 10, "ros2_kymo:request_begin", "rmw_client_handle", P(0x501), NULL);
		serve(f, 1000 * i + 100, (uint64_t)i);
		respond(f, 1000 * i + 156, (uint64_t)i);
		request(f, 1000 * i + 160, (uint64_t)i);
		end(f, 1, 1000 * i + 170, 0x3000);
		answered(f, 1000 * i + 200, (uint64_t)i);
	}
	finish(f);
	path = chain(f, "/a /add /b /add /a");
	assert_non_null(path);
	assert_int_equal(path->ended, 2);
	assert_int_equal(path->stats->worst[0].part_ns[0], 10); /* the timer, until it sends */
	assert_int_equal(path->stats->worst[0].part_ns[1], 90); /* on its way */
}

/* What a thread does behind its executor's next round, or in a callback, is not the response's. */
static void call_is_over(void **state)
{
	struct feed *f = *state;

	asker(f);
	request(f, 1010, 1);		/* outside of callbacks, from main() */
	serve(f, 1100, 1);
	respond(f, 1156, 1);
	answered(f, 1200, 1);
	EV(1205, "rclcpp_executor_get_next_ready");
	EV(1210, "rclcpp_executor_wait_for_work", "timeout", P(0));
	publish(f, 1, 1220, 1);
	request(f, 1300, 2);
	serve(f, 1400, 2);
	respond(f, 1456, 2);
	answered(f, 1500, 2);
	start(f, 1, 1510, 0x3000);
	publish(f, 1, 1520, 1);
	end(f, 1, 1530, 0x3000);
	publish(f, 1, 1540, 1);
	finish(f);
	assert_int_equal(chain(f, "/add /b /add /a")->ended, 2);
	assert_null(chain(f, "/add /b /add /a /x"));
	assert_non_null(chain(f, "/a /x"));		/* the timer's */
	assert_non_null(chain(f, "/x"));		/* nobody's */
}

/* A request that nobody takes, one without a response, and a callback that responds itself. */
static void calls_that_stop(void **state)
{
	struct feed *f = *state;
	const struct chains_path *path;

	asker(f);
	request(f, 1000, 1);
	request(f, 1010, 2);
	serve(f, 1100, 2);
	request(f, 1200, 3);
	f->pid = 2;
	EV(1300, "rmw_take_request", "rmw_service_handle", P(0x601), "request", P(1), "#client_gid", gid,
	   "sequence_number", P(3), "taken", P(1));
	start(f, 2, 1304, 0x6000);
	respond(f, 1320, 3);
	end(f, 2, 1350, 0x6000);
	answered(f, 1400, 3);
	finish(f);
	path = chain(f, "/add");
	assert_int_equal(path->count, 3);
	path = chain(f, "/add /b");
	assert_int_equal(path->ended, 2);
	assert_int_equal(path->silent, 1);
	assert_int_equal(path->parents, 2);
	path = chain(f, "/add /b /add /a");
	assert_int_equal(path->ended, 1);
	assert_int_equal(path->stats->total.sum, 200);
	/* transport, wait, take, run until the response; transport, wait, run */
	assert_int_equal(path->stats->worst[0].part_ns[3], 16);
	assert_int_equal(path->stats->worst[0].part_ns[4], 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(call, setup, teardown),
		cmocka_unit_test_setup_teardown(request_overtakes, setup, teardown),
		cmocka_unit_test_setup_teardown(call_is_over, setup, teardown),
		cmocka_unit_test_setup_teardown(calls_that_stop, setup, teardown),
	};

	return cmocka_run_group_tests_name("analysis_chains_calls", tests, NULL, NULL);
}
