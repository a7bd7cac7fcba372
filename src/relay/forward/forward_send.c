/* SPDX-License-Identifier: Apache-2.0 */
/* Messages for the relay that a session is sent on to, in lttng-consumerd's order. See
 * forward.h. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "relay/forward/forward_internal.h"
#include "relay/model/relay_packets.h"

#define PIECE_MAX	((uint64_t)1 << 20)	/* bytes of metadata at once */
#define PACKET_MAX	((uint64_t)16 << 20)
#define BUSY		((size_t)8 << 20)	/* bytes that wait to be sent: read nothing more */
#define ANSWERS_MAX	1024u			/* replies that have not arrived */

static void create(struct forward_session *to)
{
	const struct relay_session *session = to->session;
	struct producer_session as = {
		.name = session->name, .host = session->host, .created_s = (uint64_t)time(NULL),
		.live_timer_us = session->live_timer ? session->live_timer : 1000000,
		.format = session->format,
	};

	memcpy(as.uuid, session->uuid, sizeof(as.uuid));
	if (!as.uuid[0])		/* lttng-relayd refuses a nil UUID */
		as.uuid[0] = 1;
	producer_create_session(&to->producer, &as);
	producer_create_chunk(&to->producer, as.created_s);
}

int forward_answered(void *context, uint32_t command, void *about, struct wire_in *in,
		     struct kymo_err *err)
{
	struct forward_session *to = context;

	(void)about;
	(void)in;
	(void)err;
	if (command == WIRE_VERSION)
		create(to);
	if (command == WIRE_CREATE_CHUNK) {
		to->state = FORWARD_READY;
		to->told = false;
		to->backoff = FORWARD_BACKOFF_FIRST;
	}
	return 0;
}

/* ---- reading files ---- */

static void do_read(uv_work_t *work)
{
	struct forward_read *read = work->data;

	if (read->is_packet && !read->has_entry &&
	    store_read_entry(read->file, read->number, &read->entry) < 0)
		return;
	if (read->is_packet) {
		read->offset = read->entry.offset;
		read->size = read->entry.packet_size / 8 <= PACKET_MAX
				     ? (size_t)(read->entry.packet_size / 8)
				     : 0;
	}
	read->bytes = read->size ? malloc(read->size) : NULL;
	read->good = read->bytes && store_read(read->file, read->offset, read->bytes, read->size) ==
					    (ssize_t)read->size;
}

static void put_read(struct forward_session *to, const struct forward_read *read)
{
	struct forward_stream *each = to->stream[read->stream];

	if (!read->is_packet) {
		if (!read->good)
			return;
		producer_metadata(&to->producer, &each->at, read->size);
		wire_add_bytes(&to->producer.control, read->bytes, read->size);
		each->sent += read->size;
		return;
	}
	each->next++;
	if (!read->good)
		return;			/* its file was deleted */
	producer_data(&to->producer, &each->at, each->sent, (uint32_t)read->size);
	wire_add_bytes(&to->producer.data, read->bytes, read->size);
	producer_index(&to->producer, &each->at, each->sent++, &read->entry);
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
		return;			/* the next forward_poll() tries again */
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

static struct forward_stream *new_stream(struct forward_session *to, struct relay_stream *stream)
{
	struct forward_stream *each =
		ARRAY_ROOM(to->stream, to->count, to->room) ? calloc(1, sizeof(*each)) : NULL;

	if (each) {
		each->stream = stream;
		to->stream[to->count++] = each;
	}
	return each;
}

static void add_streams(struct forward_session *to)
{
	unsigned known = 0;

	for (struct relay_stream *stream = to->session->streams; stream; stream = stream->next) {
		struct forward_stream *each;

		if (known++ < to->count)
			continue;
		if (!stream->announced || to->producer.queue_count > ANSWERS_MAX)
			return;
		each = new_stream(to, stream);
		if (!each)
			return;		/* the next forward_poll() tries again */
		producer_add_stream(&to->producer, NULL, stream->channel, stream->trace->path,
				    &each->at);
	}
}

void forward_free_streams(struct forward_session *to)
{
	for (unsigned i = 0; i < to->count; i++)
		free(to->stream[i]);
	free(to->stream);
	to->stream = NULL;
	to->count = to->room = to->announced = to->turn = 0;
}

/* Metadata is sent before the packets that need it. */
static bool has_metadata(const struct forward_session *to, const struct relay_stream *metadata)
{
	for (unsigned i = 0; i < to->count; i++)
		if (to->stream[i]->stream == metadata)
			return to->stream[i]->sent && to->stream[i]->sent >= metadata->stored;
	return false;
}

static void send_metadata(struct forward_session *to, unsigned number)
{
	const struct forward_stream *each = to->stream[number];
	const struct relay_stream *stream = each->stream;
	const uint64_t left = stream->stored > each->sent ? stream->stored - each->sent : 0;

	if (left && stream->file)
		begin_read(to, &(struct forward_read){
				       .stream = number,
				       .file = stream->file,
				       .offset = each->sent,
				       .size = (size_t)(left < PIECE_MAX ? left : PIECE_MAX) });
}

static void send_packet(struct forward_session *to, unsigned number)
{
	struct forward_stream *each = to->stream[number];
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
	const struct ctf_index_entry beacon = { .timestamp_end = stream->safe,
						.stream_id = stream->class };

	if (stream->has_safe && stream->safe >= stream->until && stream->safe > each->told &&
	    !stream->finished) {
		producer_index(&to->producer, &each->at, each->sent - 1, &beacon);
		each->told = stream->safe;
	}
}

static void close_if_finished(struct forward_session *to, struct forward_stream *each)
{
	const struct relay_stream *stream = each->stream;

	if (!stream->finished || stream->writing)
		return;
	producer_stream_seq(&to->producer, WIRE_CLOSE_STREAM, &each->at,
			    stream->is_metadata ? PRODUCER_NO_SEQ : each->sent - 1, NULL);
	each->closed = true;
}

static void step(struct forward_session *to, unsigned number)
{
	struct forward_stream *each = to->stream[number];
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

/* Bytes that the other machine does not have yet. */
static size_t unsent(const struct forward_session *to)
{
	return to->producer.control.used + to->producer.data.used + producer_link_unsent(&to->link);
}

/* When the session has ended here and the other relay has all of it. */
static void end_if_done(struct forward_session *to)
{
	for (unsigned i = 0; i < to->count; i++)
		if (!to->stream[i]->closed)
			return;
	if (!to->session->ended || to->count < to->session->stream_count ||
	    to->producer.queue_count || unsent(to))
		return;
	to->state = FORWARD_ENDING;
	forward_lose(to, NULL);
}

static bool is_busy(const struct forward_session *to)
{
	return to->reading || to->producer.queue_count > ANSWERS_MAX || unsent(to) > BUSY;
}

static void work_ready(struct forward_session *to)
{
	add_streams(to);
	if (to->producer.unanswered_streams)
		return;
	if (to->announced < to->count) {
		producer_request(&to->producer, WIRE_STREAMS_SENT, 0, NULL);
		to->announced = to->count;
	}
	for (unsigned i = 0; i < to->count && !is_busy(to); i++)
		step(to, to->turn++ % to->count);
}

void forward_work(struct forward_session *to)
{
	struct producer *producer = &to->producer;

	if (to->state != FORWARD_GREETING && to->state != FORWARD_READY)
		return;
	if (to->state == FORWARD_READY && !is_busy(to))
		work_ready(to);
	if (producer->control.failed || producer->data.failed) {
		struct kymo_err err;

		(void)err_no_memory(&err);
		forward_lose(to, &err);
		return;
	}
	(void)producer_link_flush(&to->link, PRODUCER_DATA);
	(void)producer_link_flush(&to->link, PRODUCER_CONTROL);
	if (to->state == FORWARD_READY && !to->reading)
		end_if_done(to);
}
