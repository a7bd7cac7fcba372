/* SPDX-License-Identifier: Apache-2.0 */
/* The control port: one request after the other, each with its reply but for SEND_METADATA. */
#include "relay/ingest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_MAX	((uint64_t)16 << 20)	/* of a request; the largest are metadata packets */
#define NAME_MAX_2_11	4096u

struct ingest {
	struct relay *relay;
	struct relay_session *session;
	unsigned ours, minor;		/* minor: what both speak */
	bool greeted;
	struct wire_out in;		/* what came and is no whole request yet */
};

/* One request while it is answered. */
struct call {
	struct ingest *ingest;
	struct wire_in *in;
	struct wire_out *reply;
	struct err *err;
};

static int answer(struct call *call, uint32_t ret)
{
	wire_add(call->reply, ret, 4);
	return 0;
}

/* The reply of a request after which the connection ends. */
static int refuse(struct call *call, uint32_t ret, const char *why)
{
	wire_add(call->reply, ret, 4);
	return err_set(call->err, EXIT_INPUT, "%s", why);
}

static int malformed(struct call *call)
{
	return err_set(call->err, EXIT_INPUT, "a request is shorter than it has to be");
}

/* The stream of this session that a request names. NULL: there is none. */
static struct relay_stream *stream_of(const struct call *call, uint64_t id)
{
	struct relay_stream *stream = relay_find_stream(call->ingest->relay, id);

	return stream && stream->session == call->ingest->session ? stream : NULL;
}

/* ---- sessions ---- */

static int on_version(struct call *call)
{
	struct wire_version theirs, ours = { WIRE_MAJOR, call->ingest->ours };

	if (!wire_get_version(call->in, &theirs))
		return malformed(call);
	wire_put_version(call->reply, &ours);
	if (theirs.major != WIRE_MAJOR || theirs.minor < WIRE_MINOR_LEAST)
		return err_set(call->err, EXIT_INPUT, "it speaks version %" PRIu32 ".%" PRIu32 " of the relay protocol, "
			       "and %u.%u is the least that can be", theirs.major, theirs.minor, WIRE_MAJOR,
			       WIRE_MINOR_LEAST);
	call->ingest->minor = theirs.minor < ours.minor ? theirs.minor : ours.minor;
	call->ingest->greeted = true;
	return 0;
}

static int on_configuration(struct call *call)
{
	const uint64_t query = wire_take(call->in, 8);
	const struct wire_configuration reply = {
		query ? WIRE_ERR_PROTOCOL : WIRE_OK, query ? 0 : WIRE_CLEAR_ALLOWED,
	};

	wire_put_configuration(call->reply, &reply);
	return call->in->short_of ? malformed(call) : 0;
}

static bool get_create_2_11(struct call *call, struct relay_create *create)
{
	struct wire_create_session_2_11 request;

	if (!wire_get_create_session_2_11(call->in, &request) || request.name_size > NAME_MAX_2_11 ||
	    request.host_size > NAME_MAX_2_11 || request.base_size > NAME_MAX_2_11)
		return false;
	create->name = wire_name(call->in, request.name_size);
	create->host = wire_name(call->in, request.host_size);
	create->base = request.base_size ? wire_name(call->in, request.base_size) : "";
	create->live_timer = request.live_timer;
	create->snapshot = request.snapshot;
	create->name_has_time = request.name_has_time;
	create->created_s = request.created_s;
	return !call->in->short_of;
}

static int on_create_session(struct call *call)
{
	struct ingest *ingest = call->ingest;
	struct relay_create create = { .base = "", .minor = ingest->minor };
	struct wire_create_session_2_4 old;
	struct wire_session_reply reply = { .ret = WIRE_ERR_FATAL };
	bool read;

	if (ingest->minor >= 11) {
		read = get_create_2_11(call, &create);
	} else {
		read = wire_get_create_session_2_4(call->in, &old);
		create.name = old.name;
		create.host = old.host;
		create.live_timer = old.live_timer;
		create.snapshot = old.snapshot;
	}
	if (!read)
		return malformed(call);
	if (!ingest->session)
		ingest->session = relay_create_session(ingest->relay, &create);
	else
		return err_set(call->err, EXIT_INPUT, "it has a session, and asks for another one");
	if (ingest->session) {
		relay_join_session(ingest->session);
		reply = (struct wire_session_reply){ ingest->session->id, WIRE_OK };
	}
	wire_put_session_reply(call->reply, &reply);
	if (ingest->minor >= 11) {
		const char *path = ingest->session ? ingest->session->path : NULL;

		wire_add(call->reply, path ? strlen(path) + 1 : 0, 4);
		if (path)
			wire_add_bytes(call->reply, path, strlen(path) + 1);
	}
	return 0;
}

/* ---- chunks ---- */

static int on_create_chunk(struct call *call)
{
	struct wire_create_chunk request;
	const char *name = "";
	uint32_t ret;

	if (!wire_get_create_chunk(call->in, &request) ||
	    (request.name_size && !(name = wire_name(call->in, request.name_size))))
		return malformed(call);
	ret = relay_create_chunk(call->ingest->session, request.chunk, name);
	return ret == WIRE_OK ? answer(call, ret) : refuse(call, ret, "a chunk begins where none can");
}

static int on_close_chunk(struct call *call)
{
	struct wire_path_reply reply = { 0 };
	struct wire_close_chunk request;
	const char *path = call->ingest->session->path ? call->ingest->session->path : "";

	if (!wire_get_close_chunk(call->in, &request))
		return malformed(call);
	reply.ret = relay_close_chunk(call->ingest->session, &request);
	reply.path_size = (uint32_t)strlen(path) + 1;
	wire_put_path_reply(call->reply, &reply);
	wire_add_bytes(call->reply, path, reply.path_size);
	return reply.ret == WIRE_OK ? 0 : err_set(call->err, EXIT_INPUT, "it closes a chunk that is not open");
}

static int on_chunk_exists(struct call *call)
{
	const uint64_t id = wire_take(call->in, 8);
	const struct wire_exists_reply reply = { WIRE_OK, relay_chunk_exists(call->ingest->session, id) };

	if (call->in->short_of)
		return malformed(call);
	wire_put_exists_reply(call->reply, &reply);
	return 0;
}

static int on_rotate(struct call *call)
{
	struct relay_session *session = call->ingest->session;
	const size_t size = wire_left(call->in);
	struct wire_rotate request;
	struct wire_stream_seq position;
	struct relay_stream *stream;
	uint64_t chunk;
	size_t padding;

	if (!wire_get_rotate(call->in, &request) || request.count > size / WIRE_SIZE_stream_seq)
		return malformed(call);
	/* The sender's compiler may have put 0, 3 or 7 bytes in front of the chunk. */
	padding = size - (size_t)request.count * WIRE_SIZE_stream_seq - WIRE_SIZE_rotate - 8;
	if (padding != 0 && padding != 3 && padding != 7)
		return refuse(call, WIRE_ERR_INVALID, "its size fits no count of streams");
	(void)wire_bytes(call->in, padding);
	chunk = wire_take(call->in, 8);
	if (request.has_chunk && !(session->chunk && session->chunk->id == chunk))
		return refuse(call, WIRE_ERR_INVALID, "streams are to go into a chunk that is not open");
	for (uint32_t i = 0; i < request.count; i++) {
		(void)wire_get_stream_seq(call->in, &position);
		stream = stream_of(call, position.stream);
		if (!stream)
			return refuse(call, WIRE_ERR_INVALID, "a stream is to be rotated that does not exist");
		relay_rotate(stream, position.seq, request.has_chunk ? session->chunk : NULL);
	}
	return answer(call, WIRE_OK);
}

/* ---- streams ---- */

static bool get_add_2_11(struct call *call, struct relay_add *add)
{
	struct wire_add_stream_2_11 request;

	if (!wire_get_add_stream_2_11(call->in, &request))
		return false;
	add->channel = wire_name(call->in, request.channel_size);
	add->path = wire_name(call->in, request.path_size);
	add->file_size = request.file_size;
	add->file_count = request.file_count;
	return !call->in->short_of;
}

static int on_add_stream(struct call *call)
{
	struct wire_stream_reply reply = { .ret = WIRE_ERR_UNKNOWN };
	struct wire_add_stream_2_2 old;
	struct relay_stream *stream;
	struct relay_add add;
	bool read;

	if (call->ingest->minor >= 11) {
		read = get_add_2_11(call, &add);
	} else {
		read = wire_get_add_stream_2_2(call->in, &old);
		add = (struct relay_add){ old.channel, old.path, old.file_size, old.file_count };
	}
	if (!read)
		return malformed(call);
	stream = relay_add_stream(call->ingest->session, &add);
	if (stream)
		reply = (struct wire_stream_reply){ stream->id, WIRE_OK };
	wire_put_stream_reply(call->reply, &reply);
	return 0;
}

static int on_streams_sent(struct call *call)
{
	relay_announce(call->ingest->session);
	return answer(call, WIRE_OK);
}

static int on_close_stream(struct call *call)
{
	struct wire_stream_seq request;
	struct relay_stream *stream;

	if (!wire_get_stream_seq(call->in, &request))
		return malformed(call);
	stream = stream_of(call, request.stream);
	if (!stream)
		return refuse(call, WIRE_ERR_UNKNOWN, "a stream is to be closed that does not exist");
	relay_close_stream(stream, request.seq);
	return answer(call, WIRE_OK);
}

static int on_metadata(struct call *call)
{
	struct wire_metadata request;
	struct relay_stream *stream;
	size_t size;

	if (!wire_get_metadata(call->in, &request) || request.padding > MESSAGE_MAX)
		return malformed(call);
	size = wire_left(call->in);
	stream = stream_of(call, request.stream);
	if (!stream || relay_metadata(stream, wire_bytes(call->in, size), size, request.padding) < 0)
		return err_set(call->err, EXIT_INPUT, "metadata came for what is no open metadata stream");
	return 0;			/* the only request without a reply */
}

static int on_reset_metadata(struct call *call)
{
	struct wire_reset_metadata request;
	struct relay_stream *stream;

	if (!wire_get_reset_metadata(call->in, &request))
		return malformed(call);
	stream = stream_of(call, request.stream);
	if (!stream || !stream->is_metadata)
		return refuse(call, WIRE_ERR_UNKNOWN, "metadata are to be reset that do not exist");
	relay_reset_metadata(stream);
	return answer(call, WIRE_OK);
}

static int on_index(struct call *call)
{
	struct wire_index_2_4 index;
	struct wire_index_2_8 more;
	const bool has_more = call->ingest->minor >= 8;
	struct relay_stream *stream;

	if (!wire_get_index_2_4(call->in, &index) || (has_more && !wire_get_index_2_8(call->in, &more)))
		return malformed(call);
	stream = stream_of(call, index.stream);
	if (!stream || stream->is_metadata)
		return refuse(call, WIRE_ERR_UNKNOWN, "an index came for a stream that does not exist");
	if (relay_index(stream, &index, has_more ? &more : NULL) < 0)
		return refuse(call, WIRE_ERR_UNKNOWN, "there is no memory for an index");
	return answer(call, WIRE_OK);
}

/* ---- is all there? ---- */

static int on_data_pending(struct call *call)
{
	struct wire_stream_seq request;
	struct relay_stream *stream;

	if (!wire_get_stream_seq(call->in, &request))
		return malformed(call);
	stream = stream_of(call, request.stream);
	if (!stream)
		return refuse(call, UINT32_MAX, "a stream is asked for that does not exist");
	return answer(call, relay_pending(stream, request.seq));
}

static int on_quiescent(struct call *call)
{
	return answer(call, WIRE_OK);
}

static int on_end_pending(struct call *call)
{
	bool pending = false;

	for (const struct relay_stream *stream = call->ingest->session->streams; stream; stream = stream->next)
		pending |= relay_pending(stream, stream->index_seq);
	return answer(call, pending);
}

/* ---- requests ---- */

#define ANY_TIME 1u			/* without a session, too */

static const struct {
	uint32_t cmd;
	const char *name;
	int (*handle)(struct call *call);
	unsigned least;			/* minor version */
	unsigned flags;
} commands[] = {
	{ WIRE_VERSION, "VERSION", on_version, 0, ANY_TIME },
	{ WIRE_GET_CONFIGURATION, "GET_CONFIGURATION", on_configuration, 12, ANY_TIME },
	{ WIRE_CREATE_SESSION, "CREATE_SESSION", on_create_session, 0, ANY_TIME },
	{ WIRE_ADD_STREAM, "ADD_STREAM", on_add_stream, 0, 0 },
	{ WIRE_STREAMS_SENT, "STREAMS_SENT", on_streams_sent, 0, 0 },
	{ WIRE_SEND_METADATA, "SEND_METADATA", on_metadata, 0, 0 },
	{ WIRE_SEND_INDEX, "SEND_INDEX", on_index, 0, 0 },
	{ WIRE_CLOSE_STREAM, "CLOSE_STREAM", on_close_stream, 0, 0 },
	{ WIRE_DATA_PENDING, "DATA_PENDING", on_data_pending, 0, 0 },
	{ WIRE_QUIESCENT_CONTROL, "QUIESCENT_CONTROL", on_quiescent, 0, 0 },
	{ WIRE_BEGIN_DATA_PENDING, "BEGIN_DATA_PENDING", on_quiescent, 0, 0 },
	{ WIRE_END_DATA_PENDING, "END_DATA_PENDING", on_end_pending, 0, 0 },
	{ WIRE_RESET_METADATA, "RESET_METADATA", on_reset_metadata, 8, 0 },
	{ WIRE_ROTATE_STREAMS, "ROTATE_STREAMS", on_rotate, 11, 0 },
	{ WIRE_CREATE_CHUNK, "CREATE_TRACE_CHUNK", on_create_chunk, 11, 0 },
	{ WIRE_CLOSE_CHUNK, "CLOSE_TRACE_CHUNK", on_close_chunk, 11, 0 },
	{ WIRE_CHUNK_EXISTS, "TRACE_CHUNK_EXISTS", on_chunk_exists, 11, 0 },
};

static int dispatch(struct call *call, uint32_t cmd)
{
	const struct ingest *ingest = call->ingest;

	for (unsigned i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (commands[i].cmd != cmd)
			continue;
		if (!ingest->greeted && cmd != WIRE_VERSION)
			return err_set(call->err, EXIT_INPUT, "%s came before VERSION", commands[i].name);
		if (commands[i].least > ingest->minor && cmd != WIRE_VERSION)
			break;
		if (!ingest->session && !(commands[i].flags & ANY_TIME))
			return refuse(call, WIRE_ERR_UNKNOWN, "it has no session yet");
		if (commands[i].handle(call) == 0)
			return 0;
		return err_wrap(call->err, "%s", commands[i].name);
	}
	wire_add(call->reply, WIRE_ERR_UNKNOWN, 4);
	return err_set(call->err, EXIT_INPUT, "request %" PRIu32 " is unknown in version 2.%u of the relay protocol", cmd,
		       ingest->minor);
}

/* The first request of what came. Return: its size, 0: it is not all there, -1: close. */
static int64_t one(struct ingest *ingest, const uint8_t *bytes, size_t size, struct wire_out *reply, struct err *err)
{
	struct wire_in in = { .at = bytes, .end = bytes + size };
	struct call call = { ingest, &in, reply, err };
	struct wire_request request;

	if (!wire_get_request(&in, &request))
		return 0;
	if (request.data_size > MESSAGE_MAX)
		return err_set(err, EXIT_INPUT, "a request has %" PRIu64 " bytes; %" PRIu64 " is the most",
			       request.data_size, MESSAGE_MAX);
	if (wire_left(&in) < request.data_size)
		return 0;
	in.end = in.at + request.data_size;
	if (dispatch(&call, request.cmd) < 0)
		return -1;
	return (int64_t)(WIRE_SIZE_request + request.data_size);
}

int ingest_bytes(struct ingest *ingest, const uint8_t *bytes, size_t size, struct wire_out *reply, struct err *err)
{
	size_t used = 0;
	int64_t took;

	if (!size)
		return 0;
	wire_add_bytes(&ingest->in, bytes, size);
	if (ingest->in.failed)
		return err_set(err, EXIT_FAILED, "there is no memory for a request");
	while ((took = one(ingest, ingest->in.bytes + used, ingest->in.used - used, reply, err)) > 0)
		used += (size_t)took;
	if (used && used < ingest->in.used)
		memmove(ingest->in.bytes, ingest->in.bytes + used, ingest->in.used - used);
	ingest->in.used -= used;
	if (reply->failed)
		return err_set(err, EXIT_FAILED, "there is no memory for a reply");
	return took < 0 ? -1 : 0;
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
	wire_out_free(&ingest->in);
	free(ingest);
}
