/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How one program asks a running recorder for something: a Unix stream socket, 0600, in the runtime
 * directory. The client sends one JSON object in a line, gets one in a line, and that is all:
 *
 *     {"request":"snapshot", ...}      {"ok":true, ...}
 *                                      {"ok":false, "status":6, "error":"a sentence"}
 *
 * What can be asked for is a table of the recorder's. Clients are not trusted: lines are bounded,
 * who sends nothing or reads nothing is dropped after some seconds, and the recorder never waits.
 */
#ifndef KYMO_RECORDER_CONTROL_H
#define KYMO_RECORDER_CONTROL_H

#include <stdbool.h>

#include <json-c/json.h>
#include <uv.h>

#include "base/err.h"
#include "recorder/runtime/rundir.h"

#define CONTROL_NAME		"control"	/* of the socket */
#define CONTROL_LINE_MAX	65536		/* bytes of a request or a reply */
#define CONTROL_CLIENTS_MAX	16

/* ---- the recorder's side; all on the loop's thread ---- */

struct control;
struct control_call;	/* a request that has no reply yet */

/* A row of the table; the last one is zeroed. */
struct control_request {
	const char *name;
	/* Calls control_reply() or control_refuse() once, now or later. @request: valid during the call. */
	void (*handle)(void *context, struct control_call *call, struct json_object *request);
};

/**
 * control_open() - listen
 * @runtime_dir: whose recorder we are: what a dead one left there under that name is replaced
 * @requests: stays; @context is for its functions
 *
 * Return: 0; -1 with @err. Context: allocates; handles of @loop.
 */
int control_open(struct control **control, uv_loop_t *loop, const char *runtime_dir,
		 const struct control_request *requests, void *context, struct kymo_err *err);

/**
 * control_is_foreign() - whether another user asks, for whose programs we record as root
 *
 * Nothing may be done for him that he could not do himself, such as writing where he says.
 */
bool control_is_foreign(const struct control_call *call);

/** control_reply() - answer with @reply, which is taken over, and "ok". NULL: nothing besides. */
void control_reply(struct control_call *call, struct json_object *reply);

/** control_refuse() - answer with an error. */
void control_refuse(struct control_call *call, const struct kymo_err *err);

/**
 * control_close() - listen no more, drop all clients and remove the socket. NULL is fine.
 *
 * Calls without a reply are void. Memory is freed by the loop, which must run once more.
 */
void control_close(struct control *control);

/* ---- the client's side ---- */

/**
 * control_ask() - ask the recorder of @dir
 * @request: the object; "request" says what
 * @timeout_ms: for all of it
 * @reply: its answer, to be released with json_object_put()
 *
 * Return: 0; 1: nobody listens; -1 with @err: he refused, or does not answer. Context: blocks.
 */
int control_ask(const struct rundir *dir, struct json_object *request, int timeout_ms,
		struct json_object **reply, struct kymo_err *err);

#endif
