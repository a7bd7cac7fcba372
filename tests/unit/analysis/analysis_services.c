/* SPDX-License-Identifier: Apache-2.0 */
/* The model: service calls, from the request to the response that was taken. */
#include "feed.h"

static const uint8_t fast_a[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0, 1 };
static const uint8_t fast_b[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0, 2 };
/* Cyclone: only the first eight bytes mean something; the rest is 0 here and anything there. */
static const uint8_t cyclone[16] = { 7, 7, 7, 7, 7, 7, 7, 7 };
static const uint8_t cyclone_there[16] = { 7, 7, 7, 7, 7, 7, 7, 7, 0xaa, 0xbb };

static void client(struct feed *f, int64_t ns, uint64_t handle, const uint8_t *gid)
{
	EV(ns, "rmw_client_init", "rmw_client_handle", handle + 0x1000, "#gid", gid, P(16));
	EV(ns + 1, "rcl_client_init", "client_handle", handle, "node_handle", P(0x10),
	   "rmw_client_handle", handle + 0x1000, "\"service_name", "/add");
}

static void service(struct feed *f, int64_t ns, uint64_t handle)
{
	EV(ns, "rcl_service_init", "service_handle", handle, "node_handle", P(0x20),
	   "rmw_service_handle", handle + 0x1000, "\"service_name", "/add");
	EV(ns + 1, "rclcpp_service_callback_added", "service_handle", handle, "callback", handle + 2);
}

static void send_request(struct feed *f, int64_t ns, uint64_t handle, int64_t sequence)
{
	EV(ns, "rmw_send_request", "rmw_client_handle", handle + 0x1000, "request", P(0x5),
	   "sequence_number", P(sequence));
}

static void take_request(struct feed *f, int64_t ns, uint64_t handle, const uint8_t *gid,
			 int64_t sequence)
{
	EV(ns, "rmw_take_request", "rmw_service_handle", handle + 0x1000, "request", P(0x6),
	   "#client_gid", gid, P(16), "sequence_number", P(sequence), "taken", P(1));
}

static void send_response(struct feed *f, int64_t ns, uint64_t handle, const uint8_t *gid,
			  int64_t sequence)
{
	EV(ns, "rmw_send_response", "rmw_service_handle", handle + 0x1000, "response", P(0x7),
	   "#client_gid", gid, P(16), "sequence_number", P(sequence), "timestamp", P(ns));
}

static void take_response(struct feed *f, int64_t ns, uint64_t handle, int64_t sequence)
{
	EV(ns, "rmw_take_response", "rmw_client_handle", handle + 0x1000, "response", P(0x8),
	   "sequence_number", P(sequence), "source_timestamp", P(0), "taken", P(1));
}

/* The thread looks for another response: no callback of the client follows the one before. */
static void no_response(struct feed *f, int64_t ns, uint64_t handle)
{
	EV(ns, "rmw_take_response", "rmw_client_handle", handle + 0x1000, "response", P(0x8),
	   "sequence_number", P(0), "source_timestamp", P(0), "taken", P(0));
}

/* No callback of the client follows. */
static void response_alone(struct feed *f, int64_t ns, uint64_t handle, int64_t sequence)
{
	take_response(f, ns, handle, sequence);
	no_response(f, ns + 1, handle);
}

/* Client in process 1, service in process 2. */
static void both_sides(struct feed *f, const uint8_t *gid)
{
	on(f, 1, 1);
	client(f, 10, 0x100, gid);
	on(f, 2, 2);
	service(f, 12, 0x200);
}

static void serve(struct feed *f, int64_t ns, const uint8_t *gid, int64_t sequence)
{
	on(f, 2, 2);
	take_request(f, ns, 0x200, gid, sequence);
	start(f, ns + 1, 0x202);
	end(f, ns + 8, 0x202);
	send_response(f, ns + 9, 0x200, gid, sequence);
	on(f, 1, 1);
}

/* A client that existed before kymo was attached: its first response says its gid. */
static void gid_known_later(void **state)
{
	struct feed *f = *state;

	on(f, 2, 2);
	service(f, 12, 0x200);
	on(f, 1, 1);
	EV(13, "rcl_client_init", "client_handle", P(0x100), "node_handle", P(0x10),
	   "rmw_client_handle", P(0x1100), "\"service_name", "/add");
	send_request(f, 100, 0x100, 1);
	serve(f, 110, fast_a, 1);
	EV(129, "rmw_client_init", "rmw_client_handle", P(0x1100), "#gid", fast_a, P(16));
	response_alone(f, 130, 0x100, 1);
	send_request(f, 200, 0x100, 2);
	serve(f, 210, fast_a, 2);
	response_alone(f, 230, 0x100, 2);
	assert_int_equal(f->calls, 2);
	assert_int_equal(f->call[0].request_ns, 0);
	assert_int_equal(f->call[0].response_taken_ns, 130);
	assert_non_null(f->call[0].client);
	assert_int_equal(f->call[1].request_ns, 200);
	assert_int_equal(f->call[1].request_taken_ns, 210);
	assert_int_equal(f->call[1].response_taken_ns, 230);
	assert_ptr_equal(f->call[1].client, f->call[0].client);
}

static void begin_request(struct feed *f, int64_t ns, uint64_t handle)
{
	ev(f, ns, "ros2_kymo:request_begin", "rmw_client_handle", handle + 0x1000, NULL);
}

/* The service has the request before the client's send call returns, and may have served it. */
static void request_overtakes(void **state)
{
	struct feed *f = *state;

	both_sides(f, cyclone);
	for (int i = 1; i <= 3; i++) {
		const int64_t ns = 1000 * i;

		on(f, 1, 1);
		start(f, ns + 90, 0x500);
		begin_request(f, ns + 100, 0x100);
		serve(f, ns + 110, cyclone_there, i);
		send_request(f, ns + 120, 0x100, i);
		end(f, ns + 125, 0x500);
		response_alone(f, ns + 130, 0x100, i);
	}
	assert_int_equal(f->calls, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(f->call[i].request_ns, 1000 * (i + 1) + 100);
		assert_int_equal(f->call[i].request_taken_ns, 1000 * (i + 1) + 110);
		assert_non_null(f->call[i].from);
		assert_non_null(f->call[i].client_thread);
	}
	assert_int_not_equal(f->call[0].from_instance, f->call[1].from_instance);
}

/* Two threads send requests of one client: which of them the service took, their numbers say. */
static void requests_of_two_threads(void **state)
{
	struct feed *f = *state;

	both_sides(f, fast_a);
	on(f, 1, 1);
	begin_request(f, 100, 0x100);
	on(f, 1, 7);
	begin_request(f, 101, 0x100);
	serve(f, 110, fast_a, 1);
	on(f, 1, 7);
	send_request(f, 125, 0x100, 2);
	on(f, 1, 1);
	send_request(f, 126, 0x100, 1);
	response_alone(f, 130, 0x100, 1);
	serve(f, 140, fast_a, 2);
	response_alone(f, 160, 0x100, 2);
	assert_int_equal(f->calls, 2);
	assert_int_equal(f->call[0].sequence, 1);
	assert_int_equal(f->call[0].request_ns, 100);
	assert_int_equal(f->call[1].request_ns, 101);
	assert_ptr_not_equal(f->call[0].client_thread, f->call[1].client_thread);
}

/* A send call that fails has no number: the next one is not taken for it. */
static void request_that_failed(void **state)
{
	struct feed *f = *state;

	both_sides(f, fast_a);
	on(f, 1, 1);
	begin_request(f, 100, 0x100);
	begin_request(f, 200, 0x100);
	serve(f, 210, fast_a, 1);
	send_request(f, 220, 0x100, 1);
	response_alone(f, 230, 0x100, 1);
	assert_int_equal(f->calls, 1);
	assert_int_equal(f->call[0].request_ns, 200);
}

static void whole_call(void **state)
{
	struct feed *f = *state;
	const struct model_call *call = &f->call[0];

	both_sides(f, fast_a);
	on(f, 1, 1);
	start(f, 90, 0x500);
	send_request(f, 100, 0x100, 1);
	end(f, 101, 0x500);
	serve(f, 110, fast_a, 1);
	assert_int_equal(f->calls, 0);
	take_response(f, 130, 0x100, 1);
	assert_int_equal(f->calls, 0);
	start(f, 131, 0x100);
	end(f, 139, 0x100);
	assert_int_equal(f->calls, 1);
	assert_int_equal(call->response_callback->kind, MODEL_CALLBACK_CLIENT);
	assert_ptr_equal(call->response_callback->service, call->client);
	assert_int_equal(call->response_instance, 3);
	assert_int_equal(call->response_start_ns, 131);
	assert_int_equal(call->response_end_ns, 139);
	assert_int_equal(f->instance[2].answered, call->id);
	assert_int_equal(f->instance[2].call, 0);
	assert_ptr_equal(call->client, model_client(f->model, 0));
	assert_ptr_equal(call->service, model_service(f->model, 0));
	assert_memory_equal(call->gid.bytes, fast_a, 16);
	assert_int_equal(call->sequence, 1);
	assert_int_equal(call->from_instance, 1);
	assert_int_equal(call->from->address, 0x500);
	assert_int_equal(call->request_ns, 100);
	assert_int_equal(call->request_taken_ns, 110);
	assert_int_equal(call->callback_start_ns, 111);
	assert_int_equal(call->callback_end_ns, 118);
	assert_int_equal(call->instance, 2);
	assert_int_equal(call->response_ns, 119);
	assert_int_equal(call->source_ns, 119);
	assert_int_equal(call->response_taken_ns, 130);
	assert_int_equal(call->client_thread->process->pid, 1);
	assert_int_equal(call->service_thread->process->pid, 2);
	assert_int_equal(f->instance[1].call, call->id);
	model_finish(f->model);
	assert_int_equal(f->calls, 1);
	assert_int_equal(model_facts(f->model)->unfinished_calls, 0);
}

/* Fast DDS: clients of one process differ in the last bytes only; both count from 1. */
static void clients_with_like_gids(void **state)
{
	struct feed *f = *state;

	both_sides(f, fast_a);
	on(f, 1, 1);
	client(f, 14, 0x110, fast_b);
	send_request(f, 100, 0x100, 1);
	send_request(f, 101, 0x110, 1);
	serve(f, 110, fast_b, 1);
	response_alone(f, 130, 0x110, 1);
	assert_int_equal(f->calls, 1);
	assert_int_equal(f->call[0].request_ns, 101);
	serve(f, 140, fast_a, 1);
	take_response(f, 160, 0x100, 1);
	start(f, 161, 0x500); /* a timer's */
	assert_int_equal(f->calls, 2);
	assert_int_equal(f->call[1].request_ns, 100);
	assert_int_equal(f->call[1].request_taken_ns, 140);
}

static void short_gids(void **state)
{
	struct feed *f = *state;

	both_sides(f, cyclone);
	on(f, 1, 1);
	send_request(f, 100, 0x100, 1);
	serve(f, 110, cyclone_there, 1);
	response_alone(f, 130, 0x100, 1);
	assert_int_equal(f->calls, 1);
	assert_int_equal(f->call[0].callback_end_ns, 118);
}

/* Fast DDS tells the request after it was written; the service may have been faster. */
static void served_before_it_was_told(void **state)
{
	struct feed *f = *state;

	both_sides(f, fast_a);
	serve(f, 95, fast_a, 1);
	send_request(f, 110, 0x100, 1);
	response_alone(f, 130, 0x100, 1);
	assert_int_equal(f->calls, 1);
	assert_int_equal(f->call[0].request_ns, 110);
	assert_int_equal(f->call[0].request_taken_ns, 95);
}

/* A response from within the callback may be there before the callback ends. */
static void answered_before_the_callback_ends(void **state)
{
	struct feed *f = *state;

	both_sides(f, fast_a);
	on(f, 1, 1);
	send_request(f, 100, 0x100, 1);
	on(f, 2, 2);
	take_request(f, 110, 0x200, fast_a, 1);
	start(f, 111, 0x202);
	send_response(f, 112, 0x200, fast_a, 1);
	on(f, 1, 1);
	response_alone(f, 113, 0x100, 1);
	assert_int_equal(f->calls, 0);
	on(f, 2, 2);
	end(f, 120, 0x202);
	assert_int_equal(f->calls, 1);
	assert_int_equal(f->call[0].callback_end_ns, 120);
}

/* A service on two threads at once: each callback has its own call. */
static void two_calls_at_once(void **state)
{
	struct feed *f = *state;

	both_sides(f, fast_a);
	on(f, 1, 1);
	send_request(f, 100, 0x100, 1);
	send_request(f, 101, 0x100, 2);
	on(f, 2, 2);
	take_request(f, 110, 0x200, fast_a, 1);
	on(f, 2, 3);
	take_request(f, 111, 0x200, fast_a, 2);
	start(f, 112, 0x202);
	on(f, 2, 2);
	start(f, 113, 0x202);
	on(f, 2, 3);
	end(f, 120, 0x202);
	on(f, 2, 2);
	end(f, 121, 0x202);
	on(f, 1, 1);
	take_response(f, 130, 0x100, 2);
	response_alone(f, 131, 0x100, 1);
	assert_int_equal(f->calls, 2);
	assert_int_equal(f->call[0].sequence, 2);
	assert_int_equal(f->call[0].callback_start_ns, 112);
	assert_int_equal(f->call[1].callback_start_ns, 113);
	assert_int_equal(f->call[1].callback_end_ns, 121);
}

/* Events of the service's thread were lost: which callback served the call is not known. */
static void lost_between(void **state)
{
	struct feed *f = *state;

	both_sides(f, fast_a);
	on(f, 1, 1);
	send_request(f, 100, 0x100, 1);
	on(f, 2, 2);
	take_request(f, 110, 0x200, fast_a, 1);
	lose(f, 111);
	start(f, 112, 0x202);
	end(f, 113, 0x202);
	on(f, 1, 1);
	response_alone(f, 130, 0x100, 1);
	assert_int_equal(f->calls, 1);
	assert_null(f->call[0].callback);
	assert_int_equal(f->instance[0].call, 0);
}

/* The other end was not recorded, or nobody answered. */
static void one_end_only(void **state)
{
	struct feed *f = *state;

	both_sides(f, fast_a);
	on(f, 1, 1);
	send_request(f, 100, 0x100, 1);
	on(f, 2, 2);
	take_request(f, 110, 0x200, fast_b, 1);		/* of a client that is not here */
	model_finish(f->model);
	assert_int_equal(f->calls, 2);
	assert_null(f->call[0].service);
	assert_int_equal(f->call[0].response_taken_ns, 0);
	assert_null(f->call[1].client);
	assert_ptr_equal(f->call[1].service, model_service(f->model, 0));
	assert_int_equal(model_facts(f->model)->unfinished_calls, 2);
}

/* Two responses, and then their callbacks, in tasks: which run handled which response is not known.
 */
static void answers_wait(void **state)
{
	struct feed *f = *state;

	both_sides(f, fast_a);
	on(f, 1, 1);
	send_request(f, 100, 0x100, 1);
	send_request(f, 101, 0x100, 2);
	take_response(f, 130, 0x100, 1);
	take_response(f, 131, 0x100, 2);
	start(f, 132, 0x100);
	end(f, 133, 0x100);
	start(f, 134, 0x100);
	end(f, 135, 0x100);
	assert_int_equal(f->calls, 2);
	for (int i = 0; i < 2; i++) {
		assert_null(f->call[i].response_callback);
		assert_int_equal(f->instance[i].callback->kind, MODEL_CALLBACK_CLIENT);
		assert_int_equal(f->instance[i].answered, 0);
	}
}

/* A damaged trace: an event twice. Each call is closed once. */
static void answered_twice(void **state)
{
	struct feed *f = *state;

	both_sides(f, fast_a);
	on(f, 1, 1);
	send_request(f, 100, 0x100, 1);
	send_request(f, 101, 0x100, 1);
	serve(f, 110, fast_a, 1);
	take_response(f, 130, 0x100, 1);
	take_response(f, 131, 0x100, 1);
	start(f, 132, 0x100);
	end(f, 133, 0x100);
	send_request(f, 140, 0x100, 2);
	model_finish(f->model);
	assert_int_equal(f->calls, 4);
	assert_int_equal(f->call[1].response_taken_ns, 130);
	assert_int_equal(f->call[2].response_taken_ns, 131);
	assert_int_equal(f->call[2].response_end_ns, 0);
	assert_int_equal(f->call[3].sequence, 2);
}

/* An object ends, and a client gets its address: a run at it is the client's. And the other way
 * round. */
static void reused_address(void **state)
{
	struct feed *f = *state;

	both_sides(f, fast_a);
	on(f, 1, 1);
	EV(20, "rcl_timer_init", "timer_handle", P(0x700), "period", P(1000));
	EV(21, "rclcpp_timer_callback_added", "timer_handle", P(0x700), "callback", P(0x300));
	start(f, 30, 0x300);
	end(f, 31, 0x300);
	client(f, 40, 0x300, fast_b);
	start(f, 50, 0x300);
	end(f, 51, 0x300);
	EV(60, "rclcpp_timer_callback_added", "timer_handle", P(0x700), "callback", P(0x300));
	start(f, 70, 0x300);
	end(f, 71, 0x300);
	assert_int_equal(f->instance[0].callback->kind, MODEL_CALLBACK_TIMER);
	assert_int_equal(f->instance[1].callback->kind, MODEL_CALLBACK_CLIENT);
	assert_ptr_equal(f->instance[1].callback->service, model_client(f->model, 1));
	assert_int_equal(f->instance[2].callback->kind, MODEL_CALLBACK_TIMER);
}

/* Streams are counted over all traces. */
static void on_host(struct feed *f, uint32_t host)
{
	f->event.trace = host;
	f->event.stream = 50 + host;
}

/* Two hosts with equal process ids and addresses. */
static void hosts(void **state)
{
	struct feed *f = *state;

	assert_int_equal(model_set_host(f->model, 0, "one", 0), 0);
	assert_int_equal(model_set_host(f->model, 1, "two", 0), 0);
	on(f, 1, 1);
	client(f, 10, 0x100, fast_a);
	on_host(f, 1);
	client(f, 11, 0x100, fast_b);
	service(f, 13, 0x200);
	on_host(f, 0);
	send_request(f, 100, 0x100, 1);
	on_host(f, 1);
	send_request(f, 101, 0x100, 1);
	take_request(f, 110, 0x200, fast_a, 1);
	on_host(f, 0);
	response_alone(f, 120, 0x100, 1);
	assert_int_equal(f->calls, 1);
	assert_int_equal(f->call[0].request_ns, 100);
	assert_string_equal(f->call[0].client->process->hostname, "one");
	assert_string_equal(f->call[0].service->process->hostname, "two");
}

/* However many are never answered: the oldest are given up while it goes on. */
static void never_answered(void **state)
{
	struct feed *f = *state;

	both_sides(f, fast_a);
	on(f, 1, 1);
	for (int64_t i = 0; i < 20000; i++)
		send_request(f, 100 + i, 0x100, i);
	assert_int_equal(f->calls, 20000 - 16384);
	assert_int_equal(f->call[0].sequence, (f->calls - 1) / KEPT * KEPT);
	model_finish(f->model);
	assert_int_equal(f->calls, 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gid_known_later),
		TEST(whole_call),
		TEST(request_overtakes),
		TEST(requests_of_two_threads),
		TEST(request_that_failed),
		TEST(clients_with_like_gids),
		TEST(short_gids),
		TEST(served_before_it_was_told),
		TEST(answered_before_the_callback_ends),
		TEST(two_calls_at_once),
		TEST(lost_between),
		TEST(one_end_only),
		TEST(answers_wait),
		TEST(answered_twice),
		TEST(reused_address),
		TEST(hosts),
		TEST(never_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
