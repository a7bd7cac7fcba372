/* SPDX-License-Identifier: Apache-2.0 */
/* Stop, pause and resume. See record_requests.h. */
#include "recorder/record/record_requests.h"

#include <string.h>

#include <uv.h>

#include "base/json_get.h"
#include "recorder/runtime/ros_domains.h"

static void reply_state(struct session *session, struct control_call *call, bool changed)
{
	struct json_object *reply = json_object_new_object();
	struct session_stats stats;

	session_stats(session, &stats);
	json_object_object_add(reply, "pid", json_object_new_int(uv_os_getpid()));
	json_object_object_add(reply, "trace", json_object_new_string(session_output(session)));
	json_object_object_add(reply, "state", json_object_new_string(states_name(session_state(session))));
	json_object_object_add(reply, "changed", json_object_new_boolean(changed));
	json_object_object_add(reply, "processes", json_object_new_int64(stats.alive));
	json_object_object_add(reply, "recorded", json_object_new_uint64(stats.recorded));
	json_object_object_add(reply, "dropped", json_object_new_uint64(stats.dropped));
	control_reply(call, reply);
}

/* Return: false: the domains of the request are not valid, and it was refused. */
static bool read_domains(struct control_call *call, struct json_object *request,
			 struct ros_domains *set)
{
	struct kymo_err err;

	if (ros_domains_read(set, json_get(request, "ros_domains"), &err) == 0)
		return true;
	control_refuse(call, &err);
	return false;
}

/* A request that names a trace is for the recorder of that trace alone, not for the one that came
 * after it. Return: true: it is another one's, and was refused. */
static bool is_of_another(struct session *session, struct control_call *call,
			  struct json_object *request)
{
	const char *trace = json_get_text(request, "trace");
	struct kymo_err err;

	if (!trace || !strcmp(trace, session_output(session)))
		return false;
	(void)err_set(&err, KYMO_EXIT_FAILED, "the recorder writes another trace");
	control_refuse(call, &err);
	return true;
}

bool record_stop(struct session *session, struct control_call *call, struct json_object *request)
{
	struct json_object *reply;
	struct ros_domains set;

	if (!read_domains(call, request, &set))
		return false;
	if (ros_domains_limited(&set)) {
		const enum states_answer answer = session_end_domains(session, &set);

		if (answer != STATES_REFUSE) {		/* other domains are still recorded */
			reply_state(session, call, answer == STATES_GO);
			return false;
		}
	}
	reply = json_object_new_object();
	json_object_object_add(reply, "stopped", json_object_new_boolean(true));
	json_object_object_add(reply, "pid", json_object_new_int(uv_os_getpid()));
	json_object_object_add(reply, "trace", json_object_new_string(session_output(session)));
	control_reply(call, reply);
	return true;
}

void record_pause(void *recorder, struct control_call *call, struct json_object *request)
{
	struct session *session = ((struct recorder *)recorder)->session;

	if (!is_of_another(session, call, request))
		reply_state(session, call, session_switch(session, STATES_PAUSE) == STATES_GO);
}

void record_resume(void *recorder, struct control_call *call, struct json_object *request)
{
	struct session *session = ((struct recorder *)recorder)->session;
	struct ros_domains set;

	if (!is_of_another(session, call, request) && read_domains(call, request, &set))
		reply_state(session, call,
			    session_begin_domains(
				    session, ros_domains_limited(&set) ? &set : NULL) == STATES_GO);
}
