/* SPDX-License-Identifier: Apache-2.0 */
/* What the time of a service call was spent with: its parts add up, and the longest calls are
 * kept. */
#include "feed.h"

#include "base/array.h"
#include "report/page/page_calls.h"
#include "report/report_internal.h"

static const uint8_t gid[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0, 1 };

static struct page_calls *both_sides(struct feed *f)
{
	struct page_calls *calls = NULL;
	struct kymo_err err;

	assert_int_equal(page_calls_create(&calls, f->model, INT64_MIN, INT64_MAX, &err), 0);
	on(f, 1, 1);
	EV(10, "rmw_client_init", "rmw_client_handle", P(0x1100), "#gid", gid, P(16));
	EV(11, "rcl_client_init", "client_handle", P(0x100), "node_handle", P(0x10),
	   "rmw_client_handle", P(0x1100), "\"service_name", "/add");
	on(f, 2, 2);
	EV(12, "rcl_service_init", "service_handle", P(0x200), "node_handle", P(0x20),
	   "rmw_service_handle", P(0x1200), "\"service_name", "/add");
	EV(13, "rclcpp_service_callback_added", "service_handle", P(0x200), "callback", P(0x202));
	return calls;
}

static void run(struct feed *f, int pid, int64_t from_ns, int64_t to_ns, uint64_t callback)
{
	on(f, pid, pid);
	start(f, from_ns, callback);
	end(f, to_ns, callback);
}

static void request(struct feed *f, int64_t ns, int64_t sequence)
{
	on(f, 1, 1);
	EV(ns, "rmw_send_request", "rmw_client_handle", P(0x1100), "request", P(0x5),
	   "sequence_number", P(sequence));
}

static void take_request(struct feed *f, int64_t ns, int64_t sequence)
{
	on(f, 2, 2);
	EV(ns, "rmw_take_request", "rmw_service_handle", P(0x1200), "request", P(0x6),
	   "#client_gid", gid, P(16), "sequence_number", P(sequence), "taken", P(1));
}

static void respond(struct feed *f, int64_t ns, int64_t sequence)
{
	on(f, 2, 2);
	EV(ns, "rmw_send_response", "rmw_service_handle", P(0x1200), "response", P(0x7),
	   "#client_gid", gid, P(16), "sequence_number", P(sequence), "timestamp", P(ns));
}

static void take_response(struct feed *f, int64_t ns, int64_t sequence)
{
	on(f, 1, 1);
	EV(ns, "rmw_take_response", "rmw_client_handle", P(0x1100), "response", P(0x8),
	   "sequence_number", P(sequence), "source_timestamp", P(0), "taken", P(1));
}

/* The service's thread runs another callback when the request comes, the client's when the response
 * does. */
static void parts(void **state)
{
	static const int64_t wanted[PAGE_CALL_PARTS] = {
		[PAGE_CALL_WAY] = 60 - 45, [PAGE_CALL_WAIT] = 45, [PAGE_CALL_TAKE] = 5,
		[PAGE_CALL_RUN] = 30,      [PAGE_CALL_ANSWER] = 2, [PAGE_CALL_BACK] = 20 - 8,
		[PAGE_CALL_BACK_WAIT] = 8,
	};
	struct feed *f = *state;
	struct page_calls *calls = both_sides(f);
	const struct page_service *service;

	on(f, 2, 2);
	start(f, 90, 0x600);
	request(f, 100, 1);
	on(f, 2, 2);
	end(f, 145, 0x600);
	take_request(f, 160, 1);
	run(f, 2, 165, 195, 0x202);
	respond(f, 197, 1);
	run(f, 1, 200, 208, 0x700);
	take_response(f, 217, 1);
	run(f, 1, 218, 228, 0x100);
	model_finish(f->model);

	service = page_service(calls, 0);
	assert_non_null(service);
	assert_null(page_service(calls, 1));
	assert_string_equal(service->name, "/add");
	assert_int_equal(service->calls, 1);
	assert_int_equal(service->worsts, 1);
	assert_int_equal(service->worst[0].total_ns, 117);
	assert_memory_equal(service->worst[0].part_ns, wanted, sizeof(wanted));
	assert_int_equal(service->worst[0].handled_ns, 10);
	assert_int_equal(service->worst[0].handled_after_ns, 1);
	page_calls_pass.destroy(calls);
}

/* Nothing of the service was recorded: nobody knows where the time went. */
static void away(void **state)
{
	struct feed *f = *state;
	struct page_calls *calls = both_sides(f);
	const struct page_call *call;

	request(f, 100, 1);
	take_response(f, 150, 1);
	request(f, 200, 2);
	model_finish(f->model);
	call = page_service(calls, 0)->worst;
	assert_int_equal(page_service(calls, 0)->calls, 2);
	assert_int_equal(page_service(calls, 0)->answered, 1);
	assert_int_equal(call->total_ns, 50);
	assert_int_equal(call->part_ns[PAGE_CALL_AWAY], 50);
	assert_int_equal(call->handled_ns, -1);
	page_calls_pass.destroy(calls);
}

/* The trace ends before the response comes: how long the service worked is known. */
static void unanswered(void **state)
{
	struct feed *f = *state;
	struct page_calls *calls = both_sides(f);
	const struct page_service *service;

	request(f, 100, 1);
	take_request(f, 160, 1);
	run(f, 2, 165, 195, 0x202);
	model_finish(f->model);
	service = page_service(calls, 0);
	assert_int_equal(service->answered, 0);
	assert_int_equal(service->served.count, 1);
	assert_int_equal(service->served.max, 30);
	page_calls_pass.destroy(calls);
}

static int downwards(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x < y) - (x > y);
}

static void longest(void **state)
{
	struct feed *f = *state;
	struct page_calls *calls = both_sides(f);
	const struct page_service *service;
	int64_t lengths[300], least;

	for (int64_t i = 1; i <= 300; i++) {
		const int64_t ns = 100000 * i, length = 1 + i * 7919 % 1009;

		lengths[i - 1] = length;

		request(f, ns, i);
		take_request(f, ns, i);
		respond(f, ns, i);
		take_response(f, ns + length, i);
	}
	model_finish(f->model);
	qsort(lengths, COUNT_OF(lengths), sizeof(*lengths), downwards);
	least = lengths[PAGE_CALLS_WORST - 1];
	service = page_service(calls, 0);
	assert_int_equal(service->answered, 300);
	assert_int_equal(service->worsts, PAGE_CALLS_WORST);
	assert_int_equal(service->worst[0].total_ns, (int64_t)service->total.max);
	for (unsigned i = 1; i < service->worsts; i++)
		assert_true(service->worst[i].total_ns <= service->worst[i - 1].total_ns);
	assert_int_equal(service->worst[99].total_ns, least);
	page_calls_pass.destroy(calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(parts),
		TEST(away),
		TEST(unanswered),
		TEST(longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
