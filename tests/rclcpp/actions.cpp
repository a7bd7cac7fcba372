/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An action, as rcl_action makes it, with the functions that the hooks of ros2_actions.c are about.
 *
 * -DLIBRARY: the library. Each request that was sent is the next one that is taken; the same holds
 * for responses and feedback.
 *
 * Else: the program `actions COUNT [SLOW [HELD]]` sends COUNT goals. Goal N is rejected, aborted,
 * canceled or succeeds, by N % 4, after N % 3 feedbacks. Each function is also called once where it
 * fails. With SLOW, goals need 1 ms, number SLOW needs 60 ms and has 15 feedbacks, the server runs a
 * timer's callback for 90 ms before it takes number HELD, and an executor goes on after each goal.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

struct end { /* rcl_action_client_t, rcl_action_server_t */
	void *impl;
};
struct request_id {
	int8_t writer_guid[16];
	int64_t sequence_number;
};
struct goal_info {
	uint8_t id[16];
	int32_t sec;
	uint32_t nanosec;
};
struct request { /* of all kinds, and feedback */
	uint8_t id[16];
	int32_t more;
};
struct response {
	int8_t answer;
	int32_t more;
};
struct goal_handle {
	goal_info info;
	int8_t state;
};

#define CALLS(CALL) CALL(goal) CALL(cancel) CALL(result)
extern "C" {
#define DECLARE(call)                                                                            \
	int rcl_action_send_##call##_request(const end *client, const void *request, int64_t *); \
	int rcl_action_take_##call##_request(const end *server, request_id *, void *request);    \
	int rcl_action_send_##call##_response(const end *server, request_id *, void *response);  \
	int rcl_action_take_##call##_response(const end *client, request_id *, void *response);
CALLS(DECLARE)
goal_handle *rcl_action_accept_new_goal(end *server, const goal_info *info);
int rcl_action_update_goal_state(goal_handle *goal, int event);
int rcl_action_goal_handle_get_info(const goal_handle *goal, goal_info *info);
int rcl_action_goal_handle_get_status(const goal_handle *goal, int8_t *state);
int rcl_action_publish_feedback(const end *server, void *feedback);
int rcl_action_take_feedback(const end *client, void *feedback);

void ros_trace_rcl_init(const void *context);
void ros_trace_rcl_node_init(const void *node, const void *rmw, const char *name,
			     const char *space);
void ros_trace_rcl_client_init(const void *client, const void *node, const void *rmw,
			       const char *name);
void ros_trace_rcl_service_init(const void *service, const void *node, const void *rmw,
				const char *name);
void ros_trace_rcl_timer_init(const void *timer, int64_t period);
void ros_trace_rclcpp_timer_callback_added(const void *timer, const void *callback);
void ros_trace_rclcpp_timer_link_node(const void *timer, const void *node);
void ros_trace_callback_start(const void *callback, bool is_intra_process);
void ros_trace_callback_end(const void *callback);
void ros_trace_rclcpp_executor_get_next_ready(void);
void ros_trace_rclcpp_executor_wait_for_work(int64_t timeout);
}

#ifdef LIBRARY
/* At most one of each is on its way. */
template<class What> struct way {
	bool full;
	int64_t number;
	What what;

	int send(int64_t its, const void *from)
	{
		full = true;
		number = its;
		std::memcpy(&what, from, sizeof what);
		return 0;
	}
	int take(request_id *header, void *to)
	{
		if (!full)
			return 1;
		full = false;
		if (header) {
			std::memset(header->writer_guid, 5, sizeof header->writer_guid);
			header->sequence_number = number;
		}
		std::memcpy(to, &what, sizeof what);
		return 0;
	}
};
static way<request> feedback_;

#define DEFINE(call)                                                                             \
	static way<request> call##_requests;                                                     \
	static way<response> call##_responses;                                                   \
	static int64_t call##_last;                                                              \
	int rcl_action_send_##call##_request(const end *, const void *request, int64_t *number)  \
	{                                                                                        \
		return request ? call##_requests.send(*number = ++call##_last, request) : 1;     \
	}                                                                                        \
	int rcl_action_take_##call##_request(const end *, request_id *header, void *request)     \
	{                                                                                        \
		return call##_requests.take(header, request);                                    \
	}                                                                                        \
	int rcl_action_send_##call##_response(const end *, request_id *header, void *response)   \
	{                                                                                        \
		return call##_responses.send(header->sequence_number, response);                 \
	}                                                                                        \
	int rcl_action_take_##call##_response(const end *, request_id *header, void *response)   \
	{                                                                                        \
		return call##_responses.take(header, response);                                  \
	}
CALLS(DEFINE)

goal_handle *rcl_action_accept_new_goal(end *, const goal_info *info)
{
	return info ? new goal_handle{ *info, 1 } : nullptr;
}
int rcl_action_update_goal_state(goal_handle *goal, int event)
{
	static const int8_t after[] = { 2, 3, 4, 6, 5 };

	if (event < 0)
		return 1;
	goal->state = after[event];
	return 0;
}
int rcl_action_goal_handle_get_info(const goal_handle *goal, goal_info *info)
{
	*info = goal->info;
	return 0;
}
int rcl_action_goal_handle_get_status(const goal_handle *goal, int8_t *state)
{
	*state = goal->state;
	return 0;
}
int rcl_action_publish_feedback(const end *, void *feedback)
{
	return feedback_.send(0, feedback);
}
int rcl_action_take_feedback(const end *, void *feedback)
{
	return feedback_.take(nullptr, feedback);
}
#else
enum { EXECUTE, CANCEL, SUCCEED, ABORT, CANCELED };

static char node, rmw_client, rmw_server, client_impl, server_impl;
static end client = { &client_impl }, server = { &server_impl };
static char timer, timer_callback;
static bool is_held;

static void spend(long ms)
{
	const timespec time = { 0, ms * 1000000 };

	nanosleep(&time, nullptr);
}

static void hold()
{
	if (!is_held)
		return;
	is_held = false;
	ros_trace_callback_start(&timer_callback, false);
	spend(90);
	ros_trace_callback_end(&timer_callback);
}

#define CALLER(call)                                                              \
	static void call(request its, int8_t answer)                              \
	{                                                                         \
		response response = { answer, 0 };                                \
		request_id header = {};                                           \
		int64_t number = 0;                                               \
                                                                                  \
		rcl_action_send_##call##_request(&client, nullptr, &number);      \
		rcl_action_send_##call##_request(&client, &its, &number);         \
		rcl_action_take_##call##_response(&client, &header, &response);   \
		hold();                                                           \
		rcl_action_take_##call##_request(&server, &header, &its);         \
		rcl_action_take_##call##_request(&server, &header, &its);         \
		rcl_action_send_##call##_response(&server, &header, &response);   \
		rcl_action_take_##call##_response(&client, &header, &response);   \
	}
CALLS(CALLER)

static void one(int number, int slow)
{
	const int feedbacks = number == slow ? 15 : number % 3;
	static const int ends[] = { -1, ABORT, CANCELED, SUCCEED };
	request its = {};
	goal_info info = {};

	its.id[0] = 0xa0;
	its.id[15] = static_cast<uint8_t>(number);
	std::memcpy(info.id, its.id, sizeof info.id);
	goal(its, number % 4 != 0);
	if (number % 4 == 0)
		return;
	rcl_action_accept_new_goal(&server, nullptr);
	goal_handle *handle = rcl_action_accept_new_goal(&server, &info);
	rcl_action_update_goal_state(handle, EXECUTE);
	rcl_action_take_feedback(&client, &its);
	if (slow >= 0)
		spend(number == slow ? 60 : 1);
	for (int i = 0; i < feedbacks; i++) {
		rcl_action_publish_feedback(&server, &its);
		rcl_action_take_feedback(&client, &its);
	}
	if (number % 4 == 2) {
		rcl_action_update_goal_state(handle, CANCEL);
		cancel(its, 0);
	}
	rcl_action_update_goal_state(handle, -1);
	rcl_action_update_goal_state(handle, ends[number % 4]);
	result(its, number % 4 == 1 ? 6 : number % 4 == 2 ? 5 : 4);
	delete handle;
}

int main(int argc, char **argv)
{
	const int count = argc > 1 ? std::atoi(argv[1]) : 10, slow = argc > 2 ? std::atoi(argv[2]) : -1,
		  held = argc > 3 ? std::atoi(argv[3]) : -1;

	ros_trace_rcl_init(&node + 1);
	ros_trace_rcl_node_init(&node, &node + 1, "actor", "/");
	ros_trace_rcl_client_init(&client_impl, &node, &rmw_client, "/count/_action/send_goal");
	ros_trace_rcl_service_init(&server_impl, &node, &rmw_server, "/count/_action/send_goal");
	ros_trace_rcl_timer_init(&timer, 100000000);
	ros_trace_rclcpp_timer_callback_added(&timer, &timer_callback);
	ros_trace_rclcpp_timer_link_node(&timer, &node);
	for (int i = 0; i < count; i++) {
		is_held = i == held;
		one(i, slow);
		if (slow < 0)
			continue;
		ros_trace_rclcpp_executor_get_next_ready();
		ros_trace_rclcpp_executor_wait_for_work(-1);
	}
	return 0;
}
#endif
