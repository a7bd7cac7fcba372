/* SPDX-License-Identifier: Apache-2.0 */
/* What is said to the relay that a session is sent on to, in the order of lttng-consumerd. See forward.h. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "relay/forward/forward_internal.h"

#define PIECE_MAX	((uint64_t)1 << 20)	/* of metadata */
#define PACKET_MAX	((uint64_t)16 << 20)
#define BUSY		((size_t)8 << 20)	/* bytes that are not sent: then nothing more is read */
#define ANSWERS_MAX	1024u			/* that are to come */

static void request(struct forward_session *to, uint8_t command, size_t size)
{
	wire_put_request(&to->control, &(struct wire_request){ .data_size = size, .cmd = command });
	if (command != WIRE_SEND_METADATA)
		wire_add(&to->expected, command, 1);
}

static size_t answers(const struct forward_session *to)
{
	return to->expected.used - to->answered;
}

void forward_begin(struct forward_session *to)
{
	to->state = FORWARD_GREETING;
	to->count = to->handles = to->announced = to->turn = 0;
	to->answered = 0;
	request(to, WIRE_VERSION, WIRE_SIZE_version);
	wire_put_version(&to->control, &(struct wire_version){ WIRE_MAJOR, WIRE_MINOR });
}

static void create(struct forward_session *to)
{
	const struct relay_session *session = to->session;
	struct wire_create_session_2_11 create = {
		.name_size = (uint32_t)strlen(session->name) + 1, .host_size = (uint32_t)strlen(session->host) + 1, .base_size = 1,
		.live_timer = session->live_timer ? session->live_timer : 1000000, .created_s = (uint64_t)time(NULL),
	};
	const struct wire_create_chunk chunk = { .created_s = create.created_s };

	memcpy(create.sessiond_uuid, session->uuid, sizeof(create.sessiond_uuid));
	if (!create.sessiond_uuid[0])	/* lttng-relayd refuses one that is nil */
		create.sessiond_uuid[0] = 1;
	request(to, WIRE_CREATE_SESSION, WIRE_SIZE_create_session_2_11 + create.name_size + create.host_size + create.base_size);
	wire_put_create_session_2_11(&to->control, &create);
	wire_add_bytes(&to->control, session->name, create.name_size);
	wire_add_bytes(&to->control, session->host, create.host_size);
	wire_add_bytes(&to->control, "", create.base_size);
	request(to, WIRE_CREATE_CHUNK, WIRE_SIZE_create_chunk);
	wire_put_create_chunk(&to->control, &chunk);
}

/* ---- replies ---- */

static int refused(struct kymo_err *err, const char *what)
{
	return err_set(err, KYMO_EXIT_FAILED, "the relay refuses %s", what);
}

/* Takes one. Return: 1, 0: it is not all there, -1. */
static int one_reply(struct forward_session *to, uint8_t command, struct wire_in *in, struct kymo_err *err)
{
	struct wire_version version;
	struct wire_session_reply session;
	struct wire_stream_reply stream;
	uint32_t size, ret;

	switch (command) {
	case WIRE_VERSION:
		if (!wire_get_version(in, &version))
			return 0;
		if (version.major != WIRE_MAJOR || version.minor < 11)
			return refused(err, "version 2.11, which is the least for sending on");
		create(to);
		return 1;
	case WIRE_CREATE_SESSION:
		if (!wire_get_session_reply(in, &session))
			return 0;
		size = (uint32_t)wire_take(in, 4);
		(void)wire_bytes(in, size);
		return session.ret != WIRE_OK && !in->short_of ? refused(err, "the session") : !in->short_of;
	case WIRE_ADD_STREAM:
		if (!wire_get_stream_reply(in, &stream))
			return 0;
		if (stream.ret != WIRE_OK)
			return refused(err, "a stream");
		to->stream[to->handles++].handle = stream.stream;
		return 1;
	default:
		ret = (uint32_t)wire_take(in, 4);
		if (in->short_of)
			return 0;
		if (command == WIRE_CREATE_CHUNK && ret == WIRE_OK) {
			to->state = FORWARD_READY;
			to->told = false;
			to->backoff = 5;
		}
		return ret == WIRE_OK ? 1 : refused(err, "a request");
	}
}

int forward_reply(struct forward_session *to, const uint8_t *bytes, size_t size, struct kymo_err *err)
{
	size_t used = 0;
	int rc = 1;

	wire_add_bytes(&to->in, bytes, size);
	if (to->in.failed)
		return err_no_memory(err);
	while (rc > 0 && answers(to) && used < to->in.used) {
		struct wire_in in = { .at = to->in.bytes + used, .end = to->in.bytes + to->in.used };

		rc = one_reply(to, to->expected.bytes[to->answered], &in, err);
		if (rc > 0) {
			to->answered++;
			used = (size_t)(in.at - to->in.bytes);
		}
	}
	if (used)
		memmove(to->in.bytes, to->in.bytes + used, to->in.used - used);
	to->in.used -= used;
	if (!answers(to))
		to->expected.used = to->answered = 0;
	return rc < 0 ? -1 : 0;
}

/* ---- what is read ---- */

static void do_read(uv_work_t *work)
{
	struct forward_read *read = work->data;

	if (read->is_packet && !read->has_entry && store_read_entry(read->file, read->number, &read->entry) < 0)
		return;
	if (read->is_packet) {
		read->offset = read->entry.offset;
		read->size = read->entry.packet_size / 8 <= PACKET_MAX ? (size_t)(read->entry.packet_size / 8) : 0;
	}
	read->bytes = read->size ? malloc(read->size) : NULL;
	read->good = read->bytes && store_read(read->file, read->offset, read->bytes, read->size) == (ssize_t)read->size;
}

static void put_index(struct forward_session *to, const struct forward_stream *each, const struct ctf_index_entry *entry,
		      uint64_t seq)
{
	request(to, WIRE_SEND_INDEX, WIRE_SIZE_index_2_4 + WIRE_SIZE_index_2_8);
	wire_put_index_2_4(&to->control, &(struct wire_index_2_4){
		.stream = each->handle, .seq = seq, .packet_size = entry->packet_size, .content_size = entry->content_size,
		.timestamp_begin = entry->timestamp_begin, .timestamp_end = entry->timestamp_end,
		.events_discarded = entry->events_discarded, .stream_class = entry->stream_id });
	wire_put_index_2_8(&to->control, &(struct wire_index_2_8){ entry->stream_instance_id, entry->packet_seq_num });
}

static void put_read(struct forward_session *to, const struct forward_read *read)
{
	struct forward_stream *each = &to->stream[read->stream];
	struct wire_out head = { 0 };

	if (!read->is_packet) {
		if (!read->good)
			return;
		request(to, WIRE_SEND_METADATA, WIRE_SIZE_metadata + read->size);
		wire_put_metadata(&to->control, &(struct wire_metadata){ each->handle, 0 });
		wire_add_bytes(&to->control, read->bytes, read->size);
		each->sent += read->size;
		return;
	}
	each->next++;
	if (!read->good)
		return;			/* its file is no more */
	wire_put_data(&head, &(struct wire_data){ 0, each->handle, each->sent, (uint32_t)read->size, 0 });
	if (!head.failed && link_write(to->link[FORWARD_DATA], head.bytes, head.used) == 0 &&
	    link_write(to->link[FORWARD_DATA], read->bytes, read->size) == 0)
		put_index(to, each, &read->entry, each->sent++);
	else
		forward_lose(to, &(struct kymo_err){ KYMO_EXIT_FAILED, "there is no memory for a packet" });
	wire_out_free(&head);
}

static void on_read(uv_work_t *work, int status)
{
	struct forward_read *read = work->data;
	struct forward_session *to = read->to;

	(void)status;
	to->reading = NULL;
	if (to->session && read->generation == to->generation)
		put_read(to, read);
	store_unref(read->file);
	free(read->bytes);
	free(read);
	if (to->session)
		forward_work(to);
	else
		forward_release(to);
}

static void begin_read(struct forward_session *to, const struct forward_read *wanted)
{
	struct forward_read *read = malloc(sizeof(*read));

	if (!read)
		return;			/* another time */
	*read = *wanted;
	read->to = to;
	read->generation = to->generation;
	read->work.data = read;
	if (uv_queue_work(to->forward->loop, &read->work, do_read, on_read) < 0) {
		free(read);
		return;
	}
	store_ref(read->file);
	to->reading = read;
}

/* ---- streams ---- */

static void add_streams(struct forward_session *to)
{
	unsigned known = 0;

	for (struct relay_stream *stream = to->session->streams; stream; stream = stream->next, known++) {
		struct forward_stream *larger;
		struct wire_add_stream_2_11 add;

		if (known < to->count)
			continue;
		if (!stream->announced || answers(to) > ANSWERS_MAX)
			return;
		larger = realloc(to->stream, (known + 1) * sizeof(*larger));
		if (!larger)
			return;
		to->stream = larger;
		to->stream[to->count++] = (struct forward_stream){ .stream = stream };
		add = (struct wire_add_stream_2_11){ .channel_size = (uint32_t)strlen(stream->channel) + 1,
						     .path_size = (uint32_t)strlen(stream->trace->path) + 1 };
		request(to, WIRE_ADD_STREAM, WIRE_SIZE_add_stream_2_11 + add.channel_size + add.path_size);
		wire_put_add_stream_2_11(&to->control, &add);
		wire_add_bytes(&to->control, stream->channel, add.channel_size);
		wire_add_bytes(&to->control, stream->trace->path, add.path_size);
	}
}

/* Metadata before the packets that need them. */
static bool has_metadata(const struct forward_session *to, const struct relay_stream *metadata)
{
	for (unsigned i = 0; i < to->count; i++)
		if (to->stream[i].stream == metadata)
			return to->stream[i].sent && to->stream[i].sent >= metadata->stored;
	return false;
}

static void send_metadata(struct forward_session *to, unsigned number)
{
	const struct forward_stream *each = &to->stream[number];
	const struct relay_stream *stream = each->stream;
	const uint64_t left = stream->stored > each->sent ? stream->stored - each->sent : 0;

	if (left && stream->file)
		begin_read(to, &(struct forward_read){ .stream = number, .file = stream->file, .offset = each->sent,
						       .size = (size_t)(left < PIECE_MAX ? left : PIECE_MAX) });
}

static void send_packet(struct forward_session *to, unsigned number)
{
	struct forward_stream *each = &to->stream[number];
	const struct relay_stream *stream = each->stream;
	const struct relay_part *part = relay_packet(stream, each->next);
	struct forward_read read = { .stream = number, .is_packet = true };

	read.file = part->file;
	read.number = part->entry + each->next - part->first;
	read.has_entry = stream->published - each->next <= RELAY_RECENT;
	if (read.has_entry)
		read.entry = stream->recent[each->next % RELAY_RECENT];
	begin_read(to, &read);
}

static void send_silence(struct forward_session *to, struct forward_stream *each)
{
	const struct relay_stream *stream = each->stream;
	const struct ctf_index_entry beacon = { .timestamp_end = stream->safe, .stream_id = stream->class };

	if (stream->has_safe && stream->safe >= stream->until && stream->safe > each->told && !stream->finished) {
		put_index(to, each, &beacon, each->sent - 1);
		each->told = stream->safe;
	}
}

static void close_if_finished(struct forward_session *to, struct forward_stream *each)
{
	const struct relay_stream *stream = each->stream;

	if (!stream->finished || stream->writing)
		return;
	request(to, WIRE_CLOSE_STREAM, WIRE_SIZE_stream_seq);
	wire_put_stream_seq(&to->control, &(struct wire_stream_seq){ each->handle, stream->is_metadata ? UINT64_MAX : each->sent - 1 });
	each->closed = true;
}

static void step(struct forward_session *to, unsigned number)
{
	struct forward_stream *each = &to->stream[number];
	const struct relay_stream *stream = each->stream;

	if (each->closed)
		return;
	if (stream->is_metadata) {
		send_metadata(to, number);
	} else {
		if (each->next < relay_first(stream))
			each->next = relay_first(stream);
		while (each->next < stream->published && !relay_packet(stream, each->next))
			each->next++;
		if (each->next == stream->published)
			send_silence(to, each);
		else if (stream->trace->metadata && has_metadata(to, stream->trace->metadata))
			send_packet(to, number);
	}
	if (!to->reading && (stream->is_metadata || each->next == stream->published))
		close_if_finished(to, each);
}

/* When its session has ended here, and all of it is there. */
static void end_if_done(struct forward_session *to)
{
	for (unsigned i = 0; i < to->count; i++)
		if (!to->stream[i].closed)
			return;
	if (!to->session->ended || to->count < to->session->stream_count || answers(to) || link_unsent(to->link[FORWARD_DATA]) ||
	    link_unsent(to->link[FORWARD_CONTROL]) || to->control.used)
		return;
	to->state = FORWARD_ENDING;
	forward_lose(to, NULL);
}

static bool is_busy(const struct forward_session *to)
{
	return to->reading || answers(to) > ANSWERS_MAX || link_unsent(to->link[FORWARD_DATA]) > BUSY ||
	       link_unsent(to->link[FORWARD_CONTROL]) > BUSY;
}

void forward_work(struct forward_session *to)
{
	if (to->state != FORWARD_GREETING && to->state != FORWARD_READY)
		return;
	if (to->state == FORWARD_READY && !is_busy(to)) {
		add_streams(to);
		if (to->handles == to->count && to->announced < to->count) {
			request(to, WIRE_STREAMS_SENT, 0);
			to->announced = to->count;
		}
		for (unsigned i = 0; to->handles == to->count && i < to->count && !is_busy(to); i++)
			step(to, to->turn++ % to->count);
	}
	if (to->control.failed || (to->control.used && link_write(to->link[FORWARD_CONTROL], to->control.bytes, to->control.used) < 0)) {
		forward_lose(to, &(struct kymo_err){ KYMO_EXIT_FAILED, "there is no memory for a request" });
		return;
	}
	to->control.used = 0;
	if (to->state == FORWARD_READY && !to->reading)
		end_if_done(to);
}
