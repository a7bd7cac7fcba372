/* SPDX-License-Identifier: Apache-2.0 */
/* The control port: one request after the other, each with its reply except SEND_METADATA. */
#include "relay/ingest/ingest_internal.h"
#include "base/array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SMALL		((size_t)64 << 10)	/* a request of up to this size always has room */

int ingest_answer(struct ingest_call *call, uint32_t ret)
{
	wire_add(call->reply, ret, 4);
	return 0;
}

int ingest_refuse(struct ingest_call *call, uint32_t ret, const char *why)
{
	wire_add(call->reply, ret, 4);
	return err_set(call->err, KYMO_EXIT_INPUT, "%s", why);
}

int ingest_malformed(struct ingest_call *call)
{
	return err_set(call->err, KYMO_EXIT_INPUT, "a request is too short");
}

struct relay_stream *ingest_stream(const struct ingest_call *call, uint64_t id)
{
	struct relay_stream *stream = relay_find_stream(call->ingest->relay, id);

	return stream && stream->session == call->ingest->session ? stream : NULL;
}

/* ---- what the disk is asked ---- */

void *ingest_begin_look(struct ingest_call *call, size_t size,
			void (*work)(struct ingest_look *look))
{
	struct ingest_look *look = calloc(1, size);

	if (look)
		look->work = work;
	call->ingest->look = look;
	return look;
}

void ingest_end_look(struct ingest *ingest)
{
	free(ingest->look);
	ingest->look = NULL;
}

bool ingest_looks(const struct ingest *ingest)
{
	return ingest->look && !ingest->look->done;
}

void ingest_look(struct ingest *ingest)
{
	ingest->look->work(ingest->look);
	ingest->look->done = true;
}

/* ---- requests ---- */

#define ANY_TIME 1u			/* allowed without a session */

static const struct {
	uint32_t cmd;
	const char *name;
	int (*handle)(struct ingest_call *call);
	unsigned least;			/* minor version that has it */
	unsigned flags;
} commands[] = {
	{ WIRE_VERSION, "VERSION", ingest_on_version, 0, ANY_TIME },
	{ WIRE_GET_CONFIGURATION, "GET_CONFIGURATION", ingest_on_configuration, 12, ANY_TIME },
	{ WIRE_CREATE_SESSION, "CREATE_SESSION", ingest_on_create_session, 0, ANY_TIME },
	{ WIRE_ADD_STREAM, "ADD_STREAM", ingest_on_add_stream, 0, 0 },
	{ WIRE_STREAMS_SENT, "STREAMS_SENT", ingest_on_streams_sent, 0, 0 },
	{ WIRE_SEND_METADATA, "SEND_METADATA", ingest_on_metadata, 0, 0 },
	{ WIRE_SEND_INDEX, "SEND_INDEX", ingest_on_index, 0, 0 },
	{ WIRE_CLOSE_STREAM, "CLOSE_STREAM", ingest_on_close_stream, 0, 0 },
	{ WIRE_DATA_PENDING, "DATA_PENDING", ingest_on_data_pending, 0, 0 },
	{ WIRE_QUIESCENT_CONTROL, "QUIESCENT_CONTROL", ingest_on_quiescent, 0, 0 },
	{ WIRE_BEGIN_DATA_PENDING, "BEGIN_DATA_PENDING", ingest_on_quiescent, 0, 0 },
	{ WIRE_END_DATA_PENDING, "END_DATA_PENDING", ingest_on_end_pending, 0, 0 },
	{ WIRE_RESET_METADATA, "RESET_METADATA", ingest_on_reset_metadata, 8, 0 },
	{ WIRE_ROTATE_STREAMS, "ROTATE_STREAMS", ingest_on_rotate, 11, 0 },
	{ WIRE_CREATE_CHUNK, "CREATE_TRACE_CHUNK", ingest_on_create_chunk, 11, 0 },
	{ WIRE_CLOSE_CHUNK, "CLOSE_TRACE_CHUNK", ingest_on_close_chunk, 11, 0 },
	{ WIRE_DATAGRAMS, "DATAGRAMS", ingest_on_datagrams, 0, 0 },
	{ WIRE_SYNC, "SYNC", ingest_on_sync, 0, 0 },
	{ WIRE_CHUNK_EXISTS, "TRACE_CHUNK_EXISTS", ingest_on_chunk_exists, 11, 0 },
	{ WIRE_STORED, "STORED", ingest_on_stored, 12, ANY_TIME },
	{ WIRE_LOST, "LOST", ingest_on_lost, 12, ANY_TIME },
	{ WIRE_LOST_COUNT, "LOST_COUNT", ingest_on_lost_count, 12, 0 },
};

static int dispatch(struct ingest_call *call, uint32_t cmd)
{
	const struct ingest *ingest = call->ingest;
	int rc;

	if (ingest->session && ingest->session->cut_off)
		return err_set(call->err, KYMO_EXIT_INPUT, "its session continues on another connection");
	for (unsigned i = 0; i < COUNT_OF(commands); i++) {
		if (commands[i].cmd != cmd)
			continue;
		if (!ingest->greeted && cmd != WIRE_VERSION)
			return err_set(call->err, KYMO_EXIT_INPUT, "%s before VERSION", commands[i].name);
		if (commands[i].least > ingest->minor && cmd != WIRE_VERSION)
			break;
		if (!ingest->session && !(commands[i].flags & ANY_TIME))
			return ingest_refuse(call, WIRE_ERR_UNKNOWN, "no session was created");
		rc = commands[i].handle(call);
		if (rc >= 0)
			return rc;
		return err_wrap(call->err, "%s", commands[i].name);
	}
	wire_add(call->reply, WIRE_ERR_UNKNOWN, 4);
	return err_set(call->err, KYMO_EXIT_INPUT, "unknown request %" PRIu32 " in version 2.%u of the relay protocol", cmd,
		       ingest->minor);
}

/* Answers the first request. Return: its size; 0: it is incomplete, or waits; -1: close the
 * connection. */
static int64_t answer_first(struct ingest *ingest, const uint8_t *bytes, size_t size,
			    struct wire_out *reply, struct kymo_err *err)
{
	struct wire_in in = { .at = bytes, .end = bytes + size };
	struct ingest_call call = { ingest, &in, reply, err };
	struct wire_request request;
	int rc;

	if (ingest_looks(ingest))
		return 0;
	if (!wire_get_request(&in, &request))
		return 0;
	if (request.data_size > ingest->relay->limits.request)
		return err_set(err, KYMO_EXIT_INPUT, "a request has %" PRIu64 " bytes; the limit is %" PRIu64,
			       request.data_size, ingest->relay->limits.request);
	if (wire_left(&in) < request.data_size)
		return 0;
	in.end = in.at + request.data_size;
	rc = dispatch(&call, request.cmd);
	if (rc)
		return rc == INGEST_WAITS ? 0 : -1;
	return (int64_t)(WIRE_SIZE_request + request.data_size);
}

/* Counts the memory of its incomplete request. Return: whether that is within the limit for all
 * connections. */
static bool hold(struct ingest *ingest)
{
	struct relay *relay = ingest->relay;

	if (!ingest->in.used && ingest->in.room > SMALL)
		wire_out_free(&ingest->in);
	relay->held -= ingest->held;
	ingest->held = ingest->in.room > 2 * SMALL ? ingest->in.room : 0;
	relay->held += ingest->held;
	return !ingest->held || relay->held <= relay->limits.requests;
}

int ingest_bytes(struct ingest *ingest, const uint8_t *bytes, size_t size, struct wire_out *reply,
		 struct kymo_err *err)
{
	size_t used = 0;
	int64_t took;

	if (!size && !ingest->look)
		return 0;
	wire_add_bytes(&ingest->in, bytes, size);
	if (ingest->in.failed)
		return err_no_memory(err);
	while ((took = answer_first(ingest, ingest->in.bytes + used, ingest->in.used - used, reply,
				    err)) > 0)
		used += (size_t)took;
	if (used && used < ingest->in.used)
		memmove(ingest->in.bytes, ingest->in.bytes + used, ingest->in.used - used);
	ingest->in.used -= used;
	if (took < 0)
		return -1;
	if (reply->failed)
		return err_no_memory(err);
	if (!hold(ingest))
		return err_set(err, KYMO_EXIT_INPUT, "incomplete requests of all connections already use %" PRIu64 " MiB",
			       ingest->relay->limits.requests >> 20);
	return 0;
}

struct ingest *ingest_new(struct relay *relay, unsigned minor)
{
	struct ingest *ingest = calloc(1, sizeof(*ingest));

	if (ingest) {
		ingest->relay = relay;
		ingest->ours = ingest->minor = minor;
	}
	return ingest;
}

void ingest_free(struct ingest *ingest)
{
	if (!ingest)
		return;
	if (ingest->session)
		relay_leave_session(ingest->session);
	ingest->relay->held -= ingest->held;
	wire_out_free(&ingest->in);
	ingest_end_look(ingest);
	free(ingest);
}
