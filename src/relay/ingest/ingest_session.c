/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the control port about versions, sessions and their chunks. */
#include "relay/ingest/ingest_internal.h"

#include <inttypes.h>
#include <string.h>

#define NAME_MAX_2_11	4096u

int ingest_on_version(struct ingest_call *call)
{
	struct wire_version theirs, ours = { WIRE_MAJOR, call->ingest->ours };

	if (!wire_get_version(call->in, &theirs))
		return ingest_malformed(call);
	wire_put_version(call->reply, &ours);
	if (theirs.major != WIRE_MAJOR || theirs.minor < WIRE_MINOR_LEAST)
		return err_set(call->err, KYMO_EXIT_INPUT, "it speaks version %" PRIu32 ".%" PRIu32 " of the relay protocol; "
			       "version %u.%u or newer is required", theirs.major, theirs.minor, WIRE_MAJOR,
			       WIRE_MINOR_LEAST);
	call->ingest->minor = theirs.minor < ours.minor ? theirs.minor : ours.minor;
	call->ingest->greeted = true;
	return 0;
}

int ingest_on_configuration(struct ingest_call *call)
{
	const uint64_t query = wire_take(call->in, 8);
	const bool ours = query == WIRE_QUERY_KYMO, known = !query || ours;
	const struct wire_configuration reply = {
		known ? WIRE_OK : WIRE_ERR_PROTOCOL,
		(known ? WIRE_CLEAR_ALLOWED : 0) |
			(ours ? WIRE_HAS_SYNC | WIRE_HAS_STORED | WIRE_HAS_COUNTS |
					 WIRE_HAS_LOST_COUNT
			      : 0) |
			(ours && call->ingest->relay->datagram_port ? WIRE_HAS_DATAGRAMS : 0),
	};

	call->ingest->is_ours |= ours;
	wire_put_configuration(call->reply, &reply);
	return call->in->short_of ? ingest_malformed(call) : 0;
}

static bool get_create_2_11(struct ingest_call *call, struct relay_create *create)
{
	struct wire_create_session_2_11 request;

	if (!wire_get_create_session_2_11(call->in, &request) ||
	    request.name_size > NAME_MAX_2_11 || request.host_size > NAME_MAX_2_11 ||
	    request.base_size > NAME_MAX_2_11)
		return false;
	if (call->ingest->minor >= WIRE_MINOR_FORMAT)
		create->format = (uint32_t)wire_take(call->in, 4);
	create->name = wire_name(call->in, request.name_size);
	create->host = wire_name(call->in, request.host_size);
	create->base = request.base_size ? wire_name(call->in, request.base_size) : "";
	create->live_timer = request.live_timer;
	create->snapshot = request.snapshot;
	create->name_has_time = request.name_has_time;
	create->created_s = request.created_s;
	memcpy(create->uuid, request.sessiond_uuid, sizeof(create->uuid));
	create->is_ours = call->ingest->is_ours;
	return !call->in->short_of;
}

struct place_look {
	struct ingest_look look;
	struct relay_place place;
};

static void look_for_place(struct ingest_look *look)
{
	relay_place_search(&((struct place_look *)look)->place);
}

/* Return: 0: *@path is the new session's; INGEST_WAITS; -1. */
static int find_place(struct ingest_call *call, const struct relay_create *create,
		      const char **path)
{
	struct ingest *ingest = call->ingest;
	struct place_look *look = (struct place_look *)ingest->look;

	if (!look) {
		look = ingest_begin_look(call, sizeof(*look), look_for_place);
		if (!look)
			return err_no_memory(call->err);
		relay_place_begin(&look->place, ingest->relay, create);
		return INGEST_WAITS;
	}
	*path = look->place.path;
	if (relay_place_is_free(&look->place, ingest->relay))
		return 0;
	look->look.done = false;
	return INGEST_WAITS;
}

int ingest_on_create_session(struct ingest_call *call)
{
	struct ingest *ingest = call->ingest;
	struct relay_create create = { .base = "", .minor = ingest->minor };
	struct wire_create_session_2_4 old;
	struct wire_session_reply reply = { .ret = WIRE_ERR_FATAL };
	const char *path = "";
	bool read;
	int rc;

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
		return ingest_malformed(call);
	if (ingest->session)
		return err_set(call->err, KYMO_EXIT_INPUT, "it has a session and creates another one");
	rc = ingest->minor >= 11 ? find_place(call, &create, &path) : 0;
	if (rc)
		return rc;
	ingest->session = relay_create_session(ingest->relay, &create, path);
	ingest_end_look(ingest);
	if (ingest->session) {
		relay_join_session(ingest->session);
		reply = (struct wire_session_reply){ ingest->session->id, WIRE_OK };
	}
	wire_put_session_reply(call->reply, &reply);
	if (ingest->minor >= 11) {
		path = ingest->session ? ingest->session->path : NULL;
		wire_add(call->reply, path ? strlen(path) + 1 : 0, 4);
		if (path)
			wire_add_bytes(call->reply, path, strlen(path) + 1);
	}
	return 0;
}

int ingest_on_datagrams(struct ingest_call *call)
{
	struct relay_session *session = call->ingest->session;
	struct wire_datagrams_reply reply = { .ret = WIRE_ERR_UNKNOWN };

	if (call->ingest->relay->datagram_port && relay_begin_datagrams(session) == 0)
		reply = (struct wire_datagrams_reply){ WIRE_OK, call->ingest->relay->datagram_port,
						       session->cookie };
	wire_put_datagrams_reply(call->reply, &reply);
	return 0;
}

/* ---- chunks ---- */

int ingest_on_create_chunk(struct ingest_call *call)
{
	struct wire_create_chunk request;
	const char *name = "";
	uint32_t ret;

	if (!wire_get_create_chunk(call->in, &request) ||
	    (request.name_size && !(name = wire_name(call->in, request.name_size))))
		return ingest_malformed(call);
	ret = relay_create_chunk(call->ingest->session, request.chunk, request.created_s, name);
	return ret == WIRE_OK ? ingest_answer(call, ret) : ingest_refuse(call, ret, "a chunk cannot be created now");
}

int ingest_on_close_chunk(struct ingest_call *call)
{
	struct wire_path_reply reply = { 0 };
	struct wire_close_chunk request;
	char path[STORE_PATH_MAX];

	if (!wire_get_close_chunk(call->in, &request))
		return ingest_malformed(call);
	reply.ret = relay_close_chunk(call->ingest->session, &request, path);
	reply.path_size = (uint32_t)strlen(path) + 1;
	wire_put_path_reply(call->reply, &reply);
	wire_add_bytes(call->reply, path, reply.path_size);
	return reply.ret == WIRE_OK ? 0 : err_set(call->err, KYMO_EXIT_INPUT, "it closes a chunk that is not open");
}

int ingest_on_chunk_exists(struct ingest_call *call)
{
	const uint64_t id = wire_take(call->in, 8);
	const struct wire_exists_reply reply = { WIRE_OK,
						 relay_chunk_exists(call->ingest->session, id) };

	if (call->in->short_of)
		return ingest_malformed(call);
	wire_put_exists_reply(call->reply, &reply);
	return 0;
}

int ingest_on_rotate(struct ingest_call *call)
{
	struct relay_session *session = call->ingest->session;
	const size_t size = wire_left(call->in);
	struct wire_rotate request;
	struct wire_stream_seq position;
	struct relay_stream *stream;
	uint64_t chunk;
	size_t padding;

	if (!wire_get_rotate(call->in, &request) || request.count > size / WIRE_SIZE_stream_seq)
		return ingest_malformed(call);
	/* The sender's compiler may have put 0, 3 or 7 bytes of padding before the chunk. */
	padding = size - (size_t)request.count * WIRE_SIZE_stream_seq - WIRE_SIZE_rotate - 8;
	if (padding != 0 && padding != 3 && padding != 7)
		return ingest_refuse(call, WIRE_ERR_INVALID, "the size of a rotation does not match its streams");
	(void)wire_bytes(call->in, padding);
	chunk = wire_take(call->in, 8);
	if (request.has_chunk && !(session->chunk && session->chunk->id == chunk))
		return ingest_refuse(call, WIRE_ERR_INVALID, "streams are rotated into a chunk that is not open");
	for (uint32_t i = 0; i < request.count; i++) {
		(void)wire_get_stream_seq(call->in, &position);
		stream = ingest_stream(call, position.stream);
		if (!stream)
			return ingest_refuse(call, WIRE_ERR_INVALID, "a stream that does not exist is rotated");
		relay_rotate(stream, position.seq, request.has_chunk ? session->chunk : NULL);
	}
	return ingest_answer(call, WIRE_OK);
}
