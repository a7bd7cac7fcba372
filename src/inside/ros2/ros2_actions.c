/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actions. rcl makes an action from three services and two topics, whose tracepoints do not say
 * which of them belong together, nor to which goal a message belongs. The functions of rcl_action,
 * which rclcpp_action and rclpy call, have the message as an argument:
 *
 *     the goal's id     the first member of the requests, of feedback, and of GoalInfo: 16 bytes
 *     the answer        the first byte of the responses: accepted, return code, state
 *
 * The first member of the object behind an rcl_action_client_t is the rcl_client_t of "goal", that
 * behind an rcl_action_server_t its rcl_service_t. rcl has reported their names and nodes
 * (rcl_client_init, rcl_service_init), so an action needs no fact of its own, also after
 * `kymo attach`.
 *
 * Context: as kymo__reserve(); the first change of a goal's state acquires the loader's locks.
 */
#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_libraries.h"

/* rcl_action_client_t and rcl_action_server_t */
struct action_object {
	const void *impl;
};

/* rmw_request_id_t */
struct request_id {
	uint8_t client_gid[16];
	int64_t sequence_number;
};

/* The beginning of rcl_action_goal_info_t, and room for the rest in any version. */
struct goal_info {
	uint8_t goal_id[16];
	uint8_t rest[112];
};

/* The rcl_client_t or rcl_service_t of "goal". */
static const void *handle_of(const struct kymo_call *call)
{
	const struct action_object *object = (const struct action_object *)call->self;

	return object ? object->impl : NULL;
}

static bool succeeded(const struct kymo_call *call)
{
	return (int32_t)call->result == 0;
}

/* ---- the three calls ---- */

static void request_sent(const struct kymo_call *call, const char *name)
{
	const uint8_t *goal_id = (const uint8_t *)call->first;
	const int64_t *number = (const int64_t *)call->second;

	if (succeeded(call) && goal_id && number)
		KYMO_RECORD(action_request_sent, handle_of(call), name, goal_id, *number);
}

static void request_taken(const struct kymo_call *call, const char *name)
{
	const struct request_id *request = (const struct request_id *)call->first;
	const uint8_t *goal_id = (const uint8_t *)call->second;

	if (succeeded(call) && request && goal_id)
		KYMO_RECORD(action_request_taken, handle_of(call), name, goal_id,
			    request->client_gid, request->sequence_number);
}

/* Recorded before the write: after the write, the client may already have received the response. */
static void response_sent(const struct kymo_call *call, const char *name)
{
	const struct request_id *request = (const struct request_id *)call->first;
	const int8_t *answer = (const int8_t *)call->second;

	if (request && answer)
		KYMO_RECORD(action_response_sent, handle_of(call), name, request->client_gid,
			    request->sequence_number, *answer);
}

static void response_taken(const struct kymo_call *call, const char *name)
{
	const struct request_id *request = (const struct request_id *)call->first;
	const int8_t *answer = (const int8_t *)call->second;

	if (succeeded(call) && request && answer)
		KYMO_RECORD(action_response_taken, handle_of(call), name, request->sequence_number,
			    *answer);
}

#define CALL(name)                                            \
	void kymo_##name##_request_sent(struct kymo_call *call)   \
	{                                                     \
		request_sent(call, #name);                    \
	}                                                     \
	void kymo_##name##_request_taken(struct kymo_call *call)  \
	{                                                     \
		request_taken(call, #name);                   \
	}                                                     \
	void kymo_##name##_response_sent(struct kymo_call *call)  \
	{                                                     \
		response_sent(call, #name);                   \
	}                                                     \
	void kymo_##name##_response_taken(struct kymo_call *call) \
	{                                                     \
		response_taken(call, #name);                  \
	}
CALL(goal)
CALL(cancel)
CALL(result)

/* ---- the state of a goal ---- */

#define ACCEPTED 1 /* action_msgs/msg/GoalStatus */

void kymo_goal_accepted(struct kymo_call *call)
{
	const struct goal_info *info = (const struct goal_info *)call->first;

	if (call->result && info)
		KYMO_RECORD(action_goal_state, (const void *)call->result, info->goal_id, ACCEPTED);
}

void kymo_goal_state_changed(struct kymo_call *call)
{
	static void *info_known, *status_known;
	int32_t (*get_info)(uintptr_t, struct goal_info *);
	int32_t (*get_status)(uintptr_t, int8_t *);
	struct goal_info info;
	int8_t state = 0;

	if (!succeeded(call) || !kymo_enable_byte(KYMO_POINT_action_goal_state))
		return;
	get_info = (int32_t(*)(uintptr_t, struct goal_info *))kymo_below(
		&info_known, "rcl_action_goal_handle_get_info", call->caller, NULL);
	get_status = (int32_t(*)(uintptr_t, int8_t *))kymo_below(
		&status_known, "rcl_action_goal_handle_get_status", call->caller, NULL);
	if (get_info && get_status && !get_info(call->self, &info) &&
	    !get_status(call->self, &state))
		KYMO_RECORD(action_goal_state, (const void *)call->self, info.goal_id, state);
}

/* ---- feedback ---- */

void kymo_feedback_sent(struct kymo_call *call)
{
	const uint8_t *goal_id = (const uint8_t *)call->first;

	if (goal_id)
		KYMO_RECORD(action_feedback_sent, handle_of(call), goal_id);
}

void kymo_feedback_taken(struct kymo_call *call)
{
	const uint8_t *goal_id = (const uint8_t *)call->first;

	if (succeeded(call) && goal_id)
		KYMO_RECORD(action_feedback_taken, handle_of(call), goal_id);
}
