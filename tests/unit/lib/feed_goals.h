/* SPDX-License-Identifier: Apache-2.0 */
/* Goals of an action, for a model that is fed: a client in process 1, a server in process 2. */
#ifndef KYMO_TESTS_FEED_GOALS_H
#define KYMO_TESTS_FEED_GOALS_H

#include "feed.h"

#define MAYBE __attribute__((unused))

MAYBE static const uint8_t gid[16] = { 7, 7, 7 }, other_gid[16] = { 7, 7, 8 };
MAYBE static const uint8_t id_a[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
MAYBE static const uint8_t id_b[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17 };
MAYBE static const uint8_t no_id[16] = { 0 };

#define LATER 2000000000 /* after its end, a goal is reported */

enum { CLIENT = 0x100, OTHER_CLIENT = 0x110, SERVER = 0x200, GOAL = 0x300 };

MAYBE static void client(struct feed *f, int64_t ns, uint64_t handle, const char *name)
{
	EV(ns, "rcl_client_init", "client_handle", handle, "node_handle", P(0x10),
	   "rmw_client_handle", handle + 0x1000, "\"service_name", name);
}

/* Client in process 1, server in process 2. */
MAYBE static void both_sides(struct feed *f)
{
	on(f, 1, 1);
	EV(1, "rcl_node_init", "node_handle", P(0x10), "rmw_handle", P(0x11), "\"node_name",
	   "wisher", "\"namespace", "/");
	client(f, 2, CLIENT, "/count/_action/send_goal");
	on(f, 2, 2);
	EV(3, "rcl_service_init", "service_handle", P(SERVER), "node_handle", P(0x20),
	   "rmw_service_handle", P(0x1200), "\"service_name", "/count/_action/send_goal");
}

MAYBE static void request(struct feed *f, int64_t ns, const char *call, const uint8_t *id,
			  int64_t number)
{
	on(f, 1, 1);
	EV(ns, "action_request_sent", "client_handle", P(CLIENT), "\"call", call, "#goal_id", id,
	   P(16), "sequence_number", P(number));
}

MAYBE static void take_request(struct feed *f, int64_t ns, const char *call, const uint8_t *id,
			       const uint8_t *from, int64_t number)
{
	on(f, 2, 2);
	EV(ns, "action_request_taken", "service_handle", P(SERVER), "\"call", call, "#goal_id", id,
	   P(16), "#client_gid", from, P(16), "sequence_number", P(number));
}

MAYBE static void respond(struct feed *f, int64_t ns, const char *call, int64_t number,
			  int64_t answer)
{
	on(f, 2, 2);
	EV(ns, "action_response_sent", "service_handle", P(SERVER), "\"call", call, "#client_gid",
	   gid, P(16), "sequence_number", P(number), "answer", P(answer));
}

MAYBE static void take_response(struct feed *f, int64_t ns, const char *call, int64_t number,
				int64_t answer)
{
	on(f, 1, 1);
	EV(ns, "action_response_taken", "client_handle", P(CLIENT), "\"call", call,
	   "sequence_number", P(number), "answer", P(answer));
}

MAYBE static void state_of(struct feed *f, int64_t ns, const uint8_t *id, int64_t state)
{
	on(f, 2, 2);
	EV(ns, "action_goal_state", "goal_handle", P(GOAL), "#goal_id", id, P(16), "state",
	   P(state));
}

MAYBE static void feedback(struct feed *f, int64_t ns, const uint8_t *id)
{
	on(f, 2, 2);
	EV(ns, "action_feedback_sent", "service_handle", P(SERVER), "#goal_id", id, P(16));
}

MAYBE static void take_feedback(struct feed *f, int64_t ns, uint64_t handle, const uint8_t *id)
{
	on(f, 1, 1);
	EV(ns, "action_feedback_taken", "client_handle", handle, "#goal_id", id, P(16));
}

/* Sent, accepted, executing: from @ns to @ns + 6. */
MAYBE static void begin(struct feed *f, int64_t ns, const uint8_t *id, int64_t number)
{
	request(f, ns, "goal", id, number);
	take_request(f, ns + 2, "goal", id, gid, number);
	state_of(f, ns + 3, id, 1);
	respond(f, ns + 4, "goal", number, 1);
	state_of(f, ns + 5, id, 2);
	take_response(f, ns + 6, "goal", number, 1);
}

/* A call with its response, from @ns to @ns + 3. */
MAYBE static void whole_call(struct feed *f, int64_t ns, const char *call, const uint8_t *id,
			     int64_t number, int64_t answer)
{
	request(f, ns, call, id, number);
	take_request(f, ns + 1, call, id, gid, number);
	respond(f, ns + 2, call, number, answer);
	take_response(f, ns + 3, call, number, answer);
}

/* The result, from @ns to @ns + 4. */
MAYBE static void finish(struct feed *f, int64_t ns, const uint8_t *id, int64_t number,
			 int64_t state)
{
	request(f, ns, "result", id, number);
	take_request(f, ns + 1, "result", id, gid, number);
	state_of(f, ns + 2, id, state);
	respond(f, ns + 3, "result", number, state);
	take_response(f, ns + 4, "result", number, state);
}

#endif
