/* SPDX-License-Identifier: Apache-2.0 */
/* A connection's beginning, its requests and their replies. See send.h. */
#include "relay/send/send_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define PATH_REPLY_MAX	65536u
#define ASK_OLD_NS	10000000u	/* while the old session is not written to the end */

/* ---- life ---- */

void send_init(struct send *send, struct spool *spool, const struct send_options *options)
{
	*send = (struct send){ .options = *options, .spool = spool };
	if (getrandom(send->uuid, sizeof(send->uuid), 0) != sizeof(send->uuid))
		memset(send->uuid, 0x5a, sizeof(send->uuid));
	send->uuid[6] = (send->uuid[6] & 0x0f) | 0x40;	/* random, and so not nil */
}

void send_free(struct send *send)
{
	for (unsigned i = 0; i < send->trace_count; i++)
		free(send->trace[i]);
	for (unsigned i = 0; i < send->stream_count; i++) {
		free(send->stream[i]->lost);
		free(send->stream[i]);
	}
	free(send->trace);
	free(send->stream);
	free(send->reply);
	free(send->input);
	free(send->body);
	free(send->path);
	free(send->old_path);
	wire_out_free(&send->control);
	wire_out_free(&send->data);
	wire_out_free(&send->piece);
	*send = (struct send){ 0 };
}

struct send_stream *send_stream_of(const struct send *send, uint32_t id)
{
	return id < send->stream_count ? send->stream[id] : NULL;
}

struct send_trace *send_trace_of(const struct send *send, uint32_t id)
{
	return id < send->trace_count ? send->trace[id] : NULL;
}

/* ---- requests ---- */

static bool expect(struct send *send, const struct send_reply *reply)
{
	struct send_reply *grown;
	unsigned room;

	if (send->reply_count == send->reply_room) {
		room = send->reply_room ? 2 * send->reply_room : 64;
		grown = malloc(room * sizeof(*grown));
		if (!grown)
			return false;
		for (unsigned i = 0; i < send->reply_count; i++)
			grown[i] = send->reply[(send->reply_first + i) % send->reply_room];
		free(send->reply);
		send->reply = grown;
		send->reply_room = room;
		send->reply_first = 0;
	}
	send->reply[(send->reply_first + send->reply_count++) % send->reply_room] = *reply;
	return true;
}

void send_request(struct send *send, uint32_t command, size_t size, struct send_stream *stream,
		  struct send_trace *trace)
{
	wire_put_request(&send->control, &(struct wire_request){ .data_size = size, .cmd = command });
	if (command != WIRE_SEND_METADATA && !expect(send, &(struct send_reply){ command, stream, trace }))
		send->control.failed = true;
}

void send_create(struct send *send)
{
	const char *name = send->options.session, *host = send->options.host;
	struct wire_create_session_2_11 create = {
		.name_size = (uint32_t)strlen(name) + 1,
		.host_size = (uint32_t)strlen(host) + 1,
		.base_size = 1,
		.live_timer = (uint32_t)(send->options.live_timer_ns / 1000),
		.sessiond_session = 1,
		.created_s = send->created_s,
	};
	struct wire_create_session_2_4 old = { .live_timer = create.live_timer };

	send->state = SEND_CREATE;
	send_forget_lost(send);
	if (!send_has_chunks(send)) {
		(void)snprintf(old.name, sizeof(old.name), "%s", name);
		(void)snprintf(old.host, sizeof(old.host), "%s", host);
		send_request(send, WIRE_CREATE_SESSION, WIRE_SIZE_create_session_2_4, NULL, NULL);
		wire_put_create_session_2_4(&send->control, &old);
		return;
	}
	memcpy(create.sessiond_uuid, send->uuid, sizeof(send->uuid));
	send_request(send, WIRE_CREATE_SESSION, WIRE_SIZE_create_session_2_11 + create.name_size + create.host_size +
		     create.base_size, NULL, NULL);
	wire_put_create_session_2_11(&send->control, &create);
	wire_add_bytes(&send->control, name, create.name_size);
	wire_add_bytes(&send->control, host, create.host_size);
	wire_add_bytes(&send->control, "", create.base_size);
}

static void create_chunk(struct send *send)
{
	const struct wire_create_chunk chunk = { .chunk = SEND_CHUNK_ID, .created_s = send->created_s };

	send_request(send, WIRE_CREATE_CHUNK, WIRE_SIZE_create_chunk, NULL, NULL);
	wire_put_create_chunk(&send->control, &chunk);
	send->state = SEND_CHUNK;
}

/* ---- begin and loss of a connection ---- */

void send_begin(struct send *send, uint64_t now_s, uint64_t now_ns)
{
	send->created_s = now_s;
	send->begun_ns = now_ns;
	send->sessions++;
	send->state = SEND_VERSION;
	send_request(send, WIRE_VERSION, WIRE_SIZE_version, NULL, NULL);
	wire_put_version(&send->control, &(struct wire_version){ WIRE_MAJOR, WIRE_MINOR });
}

void send_lost(struct send *send)
{
	if (send->state >= SEND_READY)
		send_keep_old(send);
	send->state = SEND_OFFLINE;
	send->control.used = send->data.used = 0;
	send->control.failed = send->data.failed = false;
	send->input_size = 0;
	send->reply_count = send->waiting = send->unannounced = 0;
	send->asking = false;
	send->asking_streams = 0;
	send->cookie = 0;
	send->told_ns = send->end_ns = 0;
	send->sent.at[SPOOL_FACTS] = send->stored.at[SPOOL_FACTS] = 0;
	send->sent.at[SPOOL_RUN] = send->stored.at[SPOOL_RUN];
	for (unsigned i = 0; i < send->trace_count; i++)
		send->trace[i]->asked = send->trace[i]->has_handle = false;
	for (unsigned i = 0; i < send->stream_count; i++) {
		struct send_stream *stream = send->stream[i];

		stream->asked = stream->has_handle = stream->announced = stream->closed = stream->pending = false;
		stream->next_seq = stream->stored_seq = 0;
		stream->discarded = stream->stored_discarded;
		stream->end_ns = 0;
	}
}

void send_horizon(struct send *send, uint64_t ns, const struct send_place *place)
{
	send->horizon_ns = ns;
	send->horizon = *place;
}

void send_finish(struct send *send)
{
	send->finish = true;
}

bool send_is_all_stored(struct send *send)
{
	return send->stored.at[SPOOL_RUN] >= spool_end(send->spool, SPOOL_RUN) &&
	       send->stored.at[SPOOL_FACTS] >= spool_end(send->spool, SPOOL_FACTS);
}

/* ---- replies ---- */

static int refused(const struct send *send, const char *what, uint32_t ret, struct kymo_err *err)
{
	(void)send;
	return err_set(err, KYMO_EXIT_FAILED, "the relay refuses %s (%" PRIu32 ")", what, ret);
}

static int on_version(struct send *send, struct wire_in *in, struct kymo_err *err)
{
	struct wire_version theirs;

	if (!wire_get_version(in, &theirs))
		return 0;
	if (theirs.major != WIRE_MAJOR || theirs.minor < WIRE_MINOR_LEAST)
		return err_set(err, KYMO_EXIT_FAILED, "the relay speaks version %" PRIu32 ".%" PRIu32 " of the relay "
			       "protocol, and %u.%u is the least that can be", theirs.major, theirs.minor, WIRE_MAJOR,
			       WIRE_MINOR_LEAST);
	send->minor = theirs.minor < WIRE_MINOR ? theirs.minor : WIRE_MINOR;
	send->flags = 0;
	if (send->minor < 12) {
		if (send->options.datagrams)
			return send_no_datagrams(err);
		send_create(send);
		return 0;
	}
	/* lttng-relayd answers that there is no such query, and the connection goes on. */
	send_request(send, WIRE_GET_CONFIGURATION, 8, NULL, NULL);
	wire_add(&send->control, WIRE_QUERY_KYMO, 8);
	send->state = SEND_CONFIGURE;
	return 0;
}

static int on_configuration(struct send *send, struct wire_in *in, struct kymo_err *err)
{
	struct wire_configuration reply;

	if (!wire_get_configuration(in, &reply))
		return 0;
	if (reply.ret == WIRE_OK)
		send->flags = reply.flags;
	if (send->options.datagrams && !(send->flags & WIRE_HAS_DATAGRAMS))
		return send_no_datagrams(err);
	send->state = SEND_STORED;
	if (!send_ask_old(send))
		send_create(send);
	return 0;
}

static int on_session(struct send *send, struct wire_in *in, struct kymo_err *err)
{
	struct wire_session_reply reply;
	const char *path;
	uint32_t size = 0;

	if (!wire_get_session_reply(in, &reply))
		return 0;
	if (send_has_chunks(send))
		size = (uint32_t)wire_take(in, 4);
	if (size > PATH_REPLY_MAX)
		return err_set(err, KYMO_EXIT_FAILED, "the relay answers with a path of %" PRIu32 " bytes", size);
	path = size ? (const char *)wire_bytes(in, size) : NULL;
	if (in->short_of)
		return 0;
	if (reply.ret != WIRE_OK)
		return refused(send, "the session: its name or the host's", reply.ret, err);
	send->session = reply.session;
	free(send->path);
	send->path = path && !path[size - 1] ? strdup(path) : NULL;
	send->path_is_new = true;
	if (send->options.datagrams)
		send_request(send, WIRE_DATAGRAMS, 0, NULL, NULL);
	if (send_has_chunks(send))
		create_chunk(send);
	else
		send->state = SEND_READY;
	return 0;
}

static int on_stream(struct send *send, const struct send_reply *to, struct wire_in *in, struct kymo_err *err)
{
	struct wire_stream_reply reply;

	if (!wire_get_stream_reply(in, &reply))
		return 0;
	if (reply.ret != WIRE_OK)
		return refused(send, to->stream ? to->stream->name : "metadata", reply.ret, err);
	send->waiting--;
	if (to->stream) {
		to->stream->handle = reply.stream;
		to->stream->has_handle = true;
	} else {
		to->trace->handle = reply.stream;
		to->trace->has_handle = true;
	}
	return 0;
}

static int on_closed_chunk(struct wire_in *in, struct kymo_err *err)
{
	struct wire_path_reply reply;

	if (!wire_get_path_reply(in, &reply))
		return 0;
	if (reply.path_size > PATH_REPLY_MAX)
		return err_set(err, KYMO_EXIT_FAILED, "the relay answers with a path of %" PRIu32 " bytes", reply.path_size);
	(void)wire_bytes(in, reply.path_size);
	return 0;		/* whatever it says, all is stored */
}

/* Return: 0: it was one, or in->short_of; -1 with @err. */
static int on_reply(struct send *send, const struct send_reply *to, struct wire_in *in, struct kymo_err *err)
{
	uint32_t ret;

	switch (to->command) {
	case WIRE_VERSION:
		return on_version(send, in, err);
	case WIRE_GET_CONFIGURATION:
		return on_configuration(send, in, err);
	case WIRE_STORED:
		return send_on_stored(send, to->stream, in);
	case WIRE_LOST:
		return send_on_lost(send, to->stream, in, err);
	case WIRE_DATAGRAMS:
		return send_on_datagrams(send, in, err);
	case WIRE_CREATE_SESSION:
		return on_session(send, in, err);
	case WIRE_ADD_STREAM:
		return on_stream(send, to, in, err);
	case WIRE_CLOSE_CHUNK:
		return on_closed_chunk(in, err);
	}
	ret = (uint32_t)wire_take(in, 4);
	if (in->short_of)
		return 0;
	if (to->command == WIRE_DATA_PENDING)
		return send_answered(send, to->stream, ret, err);
	if (ret != WIRE_OK)
		return err_set(err, KYMO_EXIT_FAILED, "the relay refuses request %" PRIu32 " (%" PRIu32 ")", to->command, ret);
	if (to->command == WIRE_CREATE_CHUNK)
		send->state = SEND_READY;
	return 0;
}

static int keep(struct send *send, const uint8_t *bytes, size_t size, struct kymo_err *err)
{
	uint8_t *grown;

	if (send->input_size + size > send->input_room) {
		grown = realloc(send->input, 2 * (send->input_size + size));
		if (!grown)
			return err_no_memory(err);
		send->input = grown;
		send->input_room = 2 * (send->input_size + size);
	}
	memcpy(send->input + send->input_size, bytes, size);
	send->input_size += size;
	return 0;
}

int send_input(struct send *send, const uint8_t *bytes, size_t size, struct kymo_err *err)
{
	struct wire_in in;

	if (!size)
		return 0;
	if (keep(send, bytes, size, err) < 0)
		return -1;
	in = (struct wire_in){ .at = send->input, .end = send->input + send->input_size };
	while (wire_left(&in)) {
		const uint8_t *before = in.at;
		struct send_reply to;

		if (!send->reply_count)
			return err_set(err, KYMO_EXIT_FAILED, "the relay answers what was not asked");
		to = send->reply[send->reply_first];
		if (on_reply(send, &to, &in, err) < 0)
			return -1;
		if (in.short_of) {
			in.at = before;
			break;
		}
		send->reply_first = (send->reply_first + 1) % send->reply_room;
		send->reply_count--;
	}
	send->input_size = wire_left(&in);
	memmove(send->input, in.at, send->input_size);
	return 0;
}

int send_work(struct send *send, uint64_t now_ns, struct kymo_err *err)
{
	if (send->state == SEND_STORED && send->old_pending && !send->reply_count && now_ns >= send->old_at) {
		send->old_at = now_ns + ASK_OLD_NS;
		(void)send_ask_old(send);
	}
	if (send->state < SEND_READY || send->state == SEND_DONE)
		return 0;
	if (send->state == SEND_READY && send_logs(send, err) < 0)
		return -1;
	if (send->state == SEND_READY)
		send_beacons(send, now_ns);
	send_ask(send, now_ns);
	send_leave(send, now_ns);
	if (send->control.failed || send->data.failed)
		return err_no_memory(err);
	return 0;
}
