/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes and packets of the client's streams. */
#include <inttypes.h>

#include "live/client_internal.h"

/* Bytes to ask for; behind the content a packet has only zeros. */
static uint64_t wanted_bytes(const struct wire_viewer_index *index)
{
	return (index->content_size + 7) / 8;
}

void client_fetch(struct client *client, struct live_stream *stream, struct wire_out *out)
{
	const uint64_t left = wanted_bytes(&stream->index) - stream->fetched;
	const uint32_t size = left < CLIENT_PIECE ? (uint32_t)left : CLIENT_PIECE;
	const struct wire_get_packet request = { stream->id, stream->index.offset + stream->fetched,
						 size };

	if (client->phase != CLIENT_RUNNING)
		return;
	client_ask(client, out, WIRE_VIEWER_PACKET, WIRE_SIZE_get_packet, stream, size);
	wire_put_get_packet(out, &request);
	stream->state = STREAM_FETCHES;
}

/* No earlier event will come in @stream. */
static void move_bound(struct client *client, struct live_stream *stream, uint64_t bound)
{
	if (stream->has_bound && bound <= stream->bound)
		return;
	stream->has_bound = true;
	stream->bound = bound;
	stream->moved_ns = client->now_ns;
}

static void take_place(struct client *client, struct live_stream *stream)
{
	stream->has_place = true;
	stream->place_begin = stream->index.timestamp_begin;
	stream->place_end = stream->index.timestamp_end;
	move_bound(client, stream, stream->index.timestamp_end);
}

/* Skips the packet. */
static void leave_out(struct client *client, struct live_stream *stream, struct wire_out *out)
{
	stream->missed++;
	take_place(client, stream);
	client_ask_index(client, stream, out);
}

void client_metadata_came(struct client *client, struct live_trace *trace, struct wire_out *out)
{
	for (struct live_stream *stream = client->streams; stream; stream = stream->next)
		if (stream->trace == trace && stream->here &&
		    stream->state == STREAM_NEEDS_METADATA)
			client_fetch(client, stream, out);
}

/* The relay expects that a viewer asks for a trace's packets until there are no more, even without
 * metadata. */
void client_metadata_gone(struct client *client, struct live_trace *trace, struct wire_out *out)
{
	trace->gone = true;
	for (struct live_stream *stream = client->streams; stream; stream = stream->next)
		if (stream->trace == trace && stream->here &&
		    stream->state == STREAM_NEEDS_METADATA)
			leave_out(client, stream, out);
	client_say(client, "%s: the relay has no metadata; its packets cannot be read", trace->path);
}

/* ---- indexes ---- */

static void take_flags(struct client_reply *reply, struct live_stream *stream, uint32_t flags)
{
	struct client *client = reply->client;

	if (flags & WIRE_NEW_METADATA) {
		stream->trace->stale = true;
		client_ask_metadata(client, stream->trace, reply->out);
	}
	if (flags & WIRE_NEW_STREAM && !client->gathers) {
		client->stale_streams = true;
		client_ask_streams(client, reply->out);
	}
}

static bool makes_sense(const struct wire_viewer_index *index)
{
	return index->content_size && index->content_size <= index->packet_size &&
	       !(index->packet_size & 7) && index->packet_size / 8 <= CLIENT_PACKET_MAX &&
	       index->timestamp_begin <= index->timestamp_end &&
	       index->offset <= INT64_MAX - CLIENT_PACKET_MAX;
}

/* Whether it was received on an earlier connection. */
static bool came_before(struct live_stream *stream, const struct wire_viewer_index *index)
{
	if (stream->again)
		stream->again = index->timestamp_end < stream->place_end ||
				(index->timestamp_end == stream->place_end &&
				 index->timestamp_begin <= stream->place_begin);
	return stream->again;
}

static enum reply_result packet_is_there(struct client_reply *reply, struct live_stream *stream,
					 const struct wire_viewer_index *index)
{
	struct client *client = reply->client;

	if (!makes_sense(index))
		return REPLY_FAILS(reply, KYMO_EXIT_INPUT, "the index of a packet of %s is invalid",
				   stream->channel);
	stream->class = index->stream_class;
	stream->moved_ns = client->now_ns;
	if (came_before(stream, index)) {
		client_ask_index(client, stream, reply->out);
		return REPLY_DONE;
	}
	stream->index = *index;
	stream->fetched = 0;
	stream->tries = 0;
	if (stream->skips) {
		take_place(client, stream);
		client_ask_index(client, stream, reply->out);
	} else if (stream->trace->gone) {
		leave_out(client, stream, reply->out);
	} else if (stream->trace->stale) {
		stream->state = STREAM_NEEDS_METADATA;
	} else {
		client_fetch(client, stream, reply->out);
	}
	return REPLY_DONE;
}

enum reply_result client_on_index(struct client_reply *reply)
{
	struct live_stream *stream = reply->request->of;
	struct client *client = reply->client;
	struct wire_viewer_index index;

	if (!wire_get_viewer_index(reply->in, &index))
		return REPLY_INCOMPLETE;
	if (stream->state == STREAM_ENDED)
		return REPLY_DONE;
	take_flags(reply, stream, index.flags);
	stream->state = STREAM_WAITS;
	stream->due_ns = client_poll_at(client);
	if (index.status == WIRE_INDEX_OK)
		return packet_is_there(reply, stream, &index);
	stream->skips = false;
	/* A relay that does not have the metadata yet answers RETRY once or twice, whatever it
	 * has. */
	if (index.status != WIRE_INDEX_RETRY || stream->has_place ||
	    ++stream->tries > CLIENT_RETRIES)
		stream->catches = false;
	switch (index.status) {
	case WIRE_INDEX_RETRY:
		break;
	case WIRE_INDEX_INACTIVE:
		stream->class = index.stream_class;
		move_bound(client, stream, index.timestamp_end);
		break;
	case WIRE_INDEX_HUP:
	case WIRE_INDEX_EOF:
		stream->state = STREAM_ENDED;
		break;
	default:
		client_say(client, "%s/%s: the relay cannot read its next packet; the stream ends here", stream->trace->path,
			   stream->channel);
		stream->state = STREAM_ENDED;
	}
	return REPLY_DONE;
}

/* ---- packets ---- */

/* The packet was overwritten or deleted meanwhile. */
static enum reply_result packet_is_gone(struct client_reply *reply, struct live_stream *stream)
{
	struct client *client = reply->client;

	if (!stream->missed)
		client_say(client, "%s/%s: the relay no longer has all of its packets; the missing ones are left out",
			   stream->trace->path, stream->channel);
	if (client->sink->packet(client->sink->context, stream, false, reply->err) < 0)
		return REPLY_FAILED;
	leave_out(client, stream, reply->out);
	return REPLY_DONE;
}

static enum reply_result packet_not_yet(struct client_reply *reply, struct live_stream *stream,
					const struct wire_packet_reply *head)
{
	struct client *client = reply->client;

	take_flags(reply, stream, head->flags);
	if ((head->status == WIRE_PACKET_ERR && !head->flags) || head->status == WIRE_PACKET_EOF ||
	    ++stream->tries > CLIENT_TRIES)
		return packet_is_gone(reply, stream);
	stream->state = STREAM_NEEDS_METADATA;
	stream->due_ns = client_poll_at(client);
	return REPLY_DONE;
}

enum reply_result client_on_packet(struct client_reply *reply)
{
	struct live_stream *stream = reply->request->of;
	struct client *client = reply->client;
	struct wire_packet_reply head;
	const uint8_t *bytes;

	if (!wire_get_packet_reply(reply->in, &head))
		return REPLY_INCOMPLETE;
	if (head.status != WIRE_PACKET_OK || !head.size)
		return stream->state == STREAM_ENDED ? REPLY_DONE
						     : packet_not_yet(reply, stream, &head);
	if (head.size > reply->request->size)
		return REPLY_FAILS(reply, KYMO_EXIT_INPUT,
				   "it sends %" PRIu32 " bytes of a packet instead of %" PRIu32,
				   head.size, reply->request->size);
	bytes = wire_bytes(reply->in, head.size);
	if (!bytes)
		return REPLY_INCOMPLETE;
	if (stream->state == STREAM_ENDED)
		return REPLY_DONE;
	if (client->sink->bytes(client->sink->context, stream, stream->fetched, bytes, head.size,
				reply->err) < 0)
		return REPLY_FAILED;
	stream->fetched += head.size;
	stream->moved_ns = client->now_ns;
	if (stream->fetched < wanted_bytes(&stream->index)) {
		client_fetch(client, stream, reply->out);
		return REPLY_DONE;
	}
	if (client->sink->packet(client->sink->context, stream, true, reply->err) < 0)
		return REPLY_FAILED;
	stream->packets++;
	take_place(client, stream);
	client_ask_index(client, stream, reply->out);
	return REPLY_DONE;
}
