/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control socket, through which a program asks a running recorder for something: a Unix stream
 * socket, mode 0600, in the runtime directory. The client sends one line with a JSON object and
 * receives one line with a JSON object:
 *
 *     {"request":"snapshot", ...}      {"ok":true, ...}
 *                                      {"ok":false, "status":6, "error":"a sentence"}
 *
 * The recorder has a table of requests. Clients are not trusted: lines are bounded, a client that
 * sends nothing or reads nothing is dropped after some seconds, and the recorder never waits.
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
	/* Calls control_reply() or control_refuse() once, now or later. @request: valid during the
	 * call. */
	void (*handle)(void *context, struct control_call *call, struct json_object *request);
};

/**
 * control_open() - listen
 * @runtime_dir: of the recorder; the socket that a dead recorder left there is replaced
 * @requests: must live on; @context is for its functions
 *
 * Return: 0; -1 with @err. Context: allocates; handles of @loop.
 */
int control_open(struct control **control, uv_loop_t *loop, const char *runtime_dir,
		 const struct control_request *requests, void *context, struct kymo_err *err);

/**
 * control_is_foreign() - whether the client is another user, whose programs root records
 *
 * Do nothing for that user that the user could not do, such as writing to a path from the request.
 */
bool control_is_foreign(const struct control_call *call);

/** control_reply() - answer with "ok" and @reply, which is taken over. NULL: "ok" alone. */
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
 * Return: 0; 1: no recorder listens; -1 with @err: it refused, or does not answer. Context: blocks.
 */
int control_ask(const struct rundir *dir, struct json_object *request, int timeout_ms,
		struct json_object **reply, struct kymo_err *err);

#endif
