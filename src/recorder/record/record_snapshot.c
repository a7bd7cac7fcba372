/* SPDX-License-Identifier: Apache-2.0 */
/* Clients that ask the flight recorder for a snapshot, and wait until it is written. */
#include <stdlib.h>

#include "base/json_get.h"
#include "recorder/record/record_requests.h"

/* A client that waits for its snapshot. */
struct record_client {
	struct flight_waiter waiter;	/* first */
	struct recorder *recorder;
	struct control_call *call;
};

static void on_snapshot(struct flight_waiter *waiter, const struct flight_report *report)
{
	struct record_client *client = (struct record_client *)waiter;
	struct json_object *reply;

	if (!client->recorder->control) {
		free(client);		/* we are ending, nobody is connected any more */
		return;
	}
	if (report->failed) {
		control_refuse(client->call, report->failed);
	} else {
		reply = json_object_new_object();
		json_object_object_add(reply, "trace", json_object_new_string(report->path));
		json_object_object_add(reply, "number", json_object_new_int64(report->number));
		json_object_object_add(reply, "events", json_object_new_uint64(report->events));
		json_object_object_add(reply, "dropped", json_object_new_uint64(report->dropped));
		json_object_object_add(reply, "bytes", json_object_new_uint64(report->bytes));
		json_object_object_add(reply, "duration_ns",
				       json_object_new_uint64(report->end_ns - report->begin_ns));
		control_reply(client->call, reply);
	}
	free(client);
}

static void ask_flight(struct recorder *recorder, struct control_call *call,
		       struct json_object *request)
{
	const int64_t last_ns = json_object_get_int64(json_get(request, "last_ns"));
	struct record_client *client = calloc(1, sizeof *client);

	if (!client) {
		control_refuse(call, &(struct kymo_err){ KYMO_EXIT_FAILED, "out of memory" });
		return;
	}
	client->waiter.done = on_snapshot;
	client->recorder = recorder;
	client->call = call;
	flight_request(recorder->flight, FLIGHT_REQUEST, last_ns > 0 ? (uint64_t)last_ns : 0,
		       json_get_text(request, "output"), &client->waiter);
	record_poll_soon(recorder);
}

void record_snapshot(void *context, struct control_call *call, struct json_object *request)
{
	struct recorder *recorder = context;
	struct kymo_err err;

	if (recorder->flight && control_is_foreign(call) &&
	    json_object_object_get_ex(request, "output", NULL)) {
		(void)err_set(&err, KYMO_EXIT_FAILED, "the recorder belongs to another user, and only that user chooses where "
			      "it writes; ask without -o");
		control_refuse(call, &err);
		return;
	}
	if (recorder->flight) {
		ask_flight(recorder, call, request);
		return;
	}
	(void)err_set(&err, KYMO_EXIT_FAILED, "the recorder writes everything into %s; snapshots need a recorder "
		      "that was started with --flight 30s", session_output(recorder->session));
	control_refuse(call, &err);
}
