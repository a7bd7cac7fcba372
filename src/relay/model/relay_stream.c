/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: what arrives for them, and into which file it is written. See relay_model.h; metadata
 * are in relay_metadata.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "relay/model/relay_packets.h"

#define CHANNEL_MAX 255			/* room in a viewer's message, with the NUL */

/* ---- files ---- */

/* Path of the stream's file @number. Without rotation of files there is only number 0. */
static int file_path(const struct relay_stream *stream, uint64_t number, char path[STORE_PATH_MAX])
{
	const char *chunk = stream->chunk->path;
	char more[24] = "";
	int length;

	if (stream->file_size && !stream->is_metadata)
		(void)snprintf(more, sizeof(more), "_%llu", (unsigned long long)number);
	length = snprintf(path, STORE_PATH_MAX, "%s%s%s/%s%s", chunk, *chunk ? "/" : "", stream->trace->path,
			  stream->channel, more);
	return length < 0 || length >= STORE_PATH_MAX ? -1 : 0;
}

static int open_file(struct relay_stream *stream)
{
	struct relay *relay = stream->session->relay;
	char path[STORE_PATH_MAX];

	if (stream->file &&
	    !stream->halves.count) /* else it stays open until the session is freed */
		(void)store_release(stream->file);
	store_unref(stream->file);
	stream->file = NULL;
	stream->end = 0;
	if (!stream->chunk)
		return 0;
	if (file_path(stream, stream->file_number, path) < 0)
		return -1;
	relay_drop_parts(stream, path);		/* a file of the same name is replaced */
	relay_room_for_files(relay, 2);
	stream->file = stream->is_metadata ? store_create(&relay->store, path, STORE_METADATA, 0)
					   : store_create(&relay->store, path, STORE_PACKETS,
							  stream->session->entry_size);
	if (!stream->file)
		return -1;
	stream->file->serial = stream->opened++;
	return 0;
}

/* ---- life ---- */

static struct relay_trace *trace_of(struct relay_session *session, const char *path)
{
	struct relay_trace *trace = session->traces;

	while (trace && strcmp(trace->path, path) != 0)
		trace = trace->next;
	if (trace)
		return trace;
	trace = calloc(1, sizeof(*trace) + strlen(path) + 1);
	if (!trace)
		return NULL;
	memcpy(trace->path, path, strlen(path) + 1);
	trace->id = session->relay->next_trace++;
	trace->session = session;
	trace->next = session->traces;
	session->traces = trace;
	return trace;
}

/* Removes the slash at the beginning, and one of the two that producers before 2.11 write. */
static bool clean_path(const char *path, char clean[STORE_PATH_MAX])
{
	size_t used = 0;

	if (strlen(path) >= STORE_PATH_MAX)
		return false;
	for (; *path; path++)
		if (*path != '/' || (used && clean[used - 1] != '/'))
			clean[used++] = *path;
	while (used && clean[used - 1] == '/')
		used--;
	clean[used] = 0;
	return store_path_is_safe(clean);
}

void relay_free_stream(struct relay_stream *stream)
{
	const struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&stream->halves, &at))) {
		store_unref(((struct relay_half *)slot->value)->file);
		free(slot->value);
	}
	map_free(&stream->halves);
	for (unsigned i = 0; i < stream->part_count; i++)
		store_unref(stream->part[i].file);
	free(stream->part);
	free(stream->step);
	relay_free_datagrams(stream);
	store_unref(stream->file);
	relay_chunk_unref(stream->chunk);
	relay_chunk_unref(stream->next_chunk);
	free(stream->channel);
	free(stream);
}

static bool may_be_added(const struct relay_session *session, const struct relay_add *add,
			 const char *path)
{
	if (session->stream_count >= session->relay->limits.streams ||
	    (session->needs_chunk && !session->chunk))
		return false;
	if (!*add->channel || strlen(add->channel) >= CHANNEL_MAX || strchr(add->channel, '/') ||
	    !store_path_is_safe(add->channel))
		return false;
	for (const struct relay_stream *other = session->streams; other; other = other->next)
		if (!other->closed && strcmp(other->channel, add->channel) == 0 &&
		    strcmp(other->trace->path, path) == 0)
			return false;
	return true;
}

struct relay_stream *relay_add_stream(struct relay_session *session, const struct relay_add *add)
{
	struct relay *relay = session->relay;
	struct relay_stream *stream;
	char path[STORE_PATH_MAX];

	if (!clean_path(add->path, path) || !may_be_added(session, add, path))
		return NULL;
	if (!session->needs_chunk && !session->chunk) {
	/* The streams' paths begin at the root. */
		session->chunk = calloc(1, sizeof(*session->chunk) + 1);
		if (!session->chunk)
			return NULL;
		session->chunk->refs = 1;
	}
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return NULL;
	stream->session = session;
	stream->born_ns = session->newest_ns = relay->now_ns();
	stream->trace = trace_of(session, path);
	stream->channel = strdup(add->channel);
	stream->is_metadata = strcmp(add->channel, "metadata") == 0;
	stream->file_size = add->file_size;
	stream->file_count = add->file_count;
	stream->data_seq = stream->index_seq = RELAY_NO_SEQ;
	stream->chunk = session->chunk;
	stream->chunk->refs++;
	stream->id = relay->next_stream;
	if (!stream->trace || !stream->channel || open_file(stream) < 0 ||
	    map_put(&relay->streams, stream->id, 0, stream) < 0) {
		relay_free_stream(stream);
		return NULL;
	}
	relay->next_stream++;
	if (stream->is_metadata)
		stream->trace->metadata = stream;
	*session->last_stream = stream;
	session->last_stream = &stream->next;
	session->stream_count++;
	relay_sync_add(stream);
	return stream;
}

struct relay_stream *relay_find_stream(const struct relay *relay, uint64_t id)
{
	return map_get(&relay->streams, id, 0);
}

/* Sequence numbers wrap around at 64 bits: the difference counts. */
static bool reached(uint64_t seq, uint64_t wanted)
{
	return (int64_t)(seq - wanted) >= 0;
}

void relay_close_if_complete(struct relay_stream *stream)
{
	if (stream->closing && reached(stream->data_seq, stream->last_seq))
		relay_sync_close(stream);
}

void relay_close_stream(struct relay_stream *stream, uint64_t last_seq)
{
	stream->closing = true;
	stream->last_seq = last_seq;
	if (stream->is_metadata) {
		relay_sync_close(stream);
		if (!stream->writing)
			relay_show_metadata(stream);
	}
	relay_close_if_complete(stream);
}

bool relay_pending(const struct relay_stream *stream, uint64_t seq)
{
	if (stream->writing || stream->coming.active)
		return true;
	if (stream->is_metadata || stream->closed)
		return false;
	return !reached(stream->data_seq, seq) ||
	       (!stream->session->snapshot && !reached(stream->index_seq, seq));
}

/* ---- rotation ---- */

static void rotate_now(struct relay_stream *stream)
{
	relay_chunk_unref(stream->chunk);
	stream->chunk = stream->next_chunk;
	stream->next_chunk = NULL;
	stream->rotating = false;
	stream->file_number = 0;
	if (stream->is_metadata && !stream->chunk)
		return;			/* a viewer that attaches later reads the old files */
	if (stream->is_metadata)
		relay_metadata_again(stream);
	(void)open_file(stream);	/* without a file, packets are refused */
	if (stream->is_metadata)
		relay_sync_rotate(stream->trace, stream->chunk);
}

static void rotate_if_due(struct relay_stream *stream, uint64_t next_seq)
{
	if (stream->rotating && (stream->is_metadata || reached(next_seq, stream->rotate_at)))
		rotate_now(stream);
}

void relay_rotate(struct relay_stream *stream, uint64_t seq, struct relay_chunk *chunk)
{
	relay_chunk_unref(stream->next_chunk);
	stream->next_chunk = chunk;
	if (chunk)
		chunk->refs++;
	stream->rotating = true;
	stream->rotate_at = seq;
	rotate_if_due(stream, stream->data_seq + 1);
}

/* ---- packets ---- */

int relay_data_begin(struct relay_stream *stream, const struct wire_data *header)
{
	if (stream->is_metadata || stream->closed || stream->coming.active)
		return -1;
	rotate_if_due(stream, header->seq);
	if (stream->file && stream->file_size && stream->end &&
	    stream->end + header->size > stream->file_size) {
		stream->file_number++;
		if (stream->file_count)
			stream->file_number %= stream->file_count;
		if (open_file(stream) < 0)
			return -1;
	}
	if (!stream->file)
		return -1;
	stream->coming.active = true;
	stream->coming.seq = header->seq;
	stream->coming.got = 0;
	memset(stream->coming.head, 0, sizeof(stream->coming.head));
	stream->coming.at = stream->file->begin = stream->end;
	stream->coming.size = header->size;
	stream->coming.padding = header->padding;
	return 0;
}

void relay_job_done(void *context, bool stored)
{
	struct relay_stream *stream = context;

	(void)stored; /* the file remembers a failure, and its index entry fails, too */
	stream->writing--;
}

int relay_data_bytes(struct relay_stream *stream, const uint8_t *bytes, size_t size)
{
	const bool last = stream->coming.got + size == stream->coming.size;
	const uint64_t got = stream->coming.got, head = sizeof(stream->coming.head);

	if (got < head)
		memcpy(stream->coming.head + got, bytes, head - got < size ? head - got : size);
	if (store_write(stream->file, stream->coming.at + stream->coming.got, bytes, size,
			last ? stream->coming.padding : 0, relay_job_done, stream) < 0)
		return -1;
	stream->writing++;
	stream->coming.got += size;
	return 0;
}

int relay_data_end(struct relay_stream *stream)
{
	const uint64_t size = (uint64_t)stream->coming.size + stream->coming.padding;

	stream->coming.active = false;
	stream->end = stream->coming.at + size;
	if (stream->data_seq == RELAY_NO_SEQ || reached(stream->coming.seq, stream->data_seq))
		stream->data_seq = stream->coming.seq;
	if (relay_join_data(stream, stream->coming.seq, stream->coming.at, stream->coming.size,
			    stream->coming.padding) < 0)
		return -1;
	rotate_if_due(stream, stream->data_seq + 1);
	relay_close_if_complete(stream);
	return 0;
}

void relay_data_abort(struct relay_stream *stream)
{
	if (!stream->coming.active)
		return;
	stream->coming.active = false;
	if (stream->file)
		(void)store_cut(stream->file, stream->end);
}
