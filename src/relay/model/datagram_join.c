/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams become packets again, and packets are written in their order, because a stream's file
 * is in the order of time. For each stream a window of packets is kept:
 *
 *   next                        by sequence number; next: the packet that is written next
 *    ├─ 7: half ─ 8: nothing ─ 9: whole ─ 10: whole
 *
 * A packet that holds up a later one for DATAGRAM_WAIT polls, or when the window is full, is lost:
 * datagrams of it that arrive afterwards are dropped, as are duplicates.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "relay/wire/datagram.h"
#include "relay/model/relay_packets.h"

struct datagram_packet {
	uint64_t seq;
	uint64_t born;			/* datagram_polls when its first datagram arrived */
	struct wire_datagram first;	/* header of the first datagram; all others agree with it */
	uint32_t missing;		/* pieces that have not arrived */
	size_t memory;			/* bytes of this struct and its arrays */
	uint8_t *have;			/* a bit for each piece */
	uint8_t bytes[];
};

struct relay_window {
	uint64_t next;
	struct datagram_packet
		*packet[DATAGRAM_WINDOW]; /* in the order of their sequence numbers */
	unsigned count;
};

/* ---- out of the window ---- */

static void forget(struct relay_stream *stream, unsigned at)
{
	struct relay_window *window = stream->window;
	struct datagram_packet *packet = window->packet[at];

	stream->session->datagram_bytes -= packet->memory;
	stream->session->relay->datagram_bytes -= packet->memory;
	memmove(window->packet + at, window->packet + at + 1,
		(--window->count - at) * sizeof(*window->packet));
	free(packet);
}

/* Writes the first packet of the window. If the stream does not accept it, it is lost. */
static void deliver(struct relay_stream *stream)
{
	const struct datagram_packet *packet = stream->window->packet[0];
	const struct wire_data header = { 0, stream->id, packet->seq, packet->first.size,
					  packet->first.padding };

	if (relay_data_begin(stream, &header) == 0) {
		if (relay_data_bytes(stream, packet->bytes, packet->first.size) < 0 ||
		    relay_data_end(stream) < 0)
			relay_data_abort(stream);
	}
	stream->window->next = packet->seq + 1;
	forget(stream, 0);
}

static void deliver_all(struct relay_stream *stream)
{
	struct relay_window *window = stream->window;

	while (window->count && window->packet[0]->seq == window->next &&
	       !window->packet[0]->missing)
		deliver(stream);
}

/* Gives up what is missing before the first whole packet. */
static void skip(struct relay_stream *stream)
{
	struct relay_window *window = stream->window;

	window->next = window->packet[0]->seq + (window->packet[0]->missing ? 1 : 0);
	if (window->packet[0]->missing)
		forget(stream, 0);
	relay_lose_before(stream, window->next);
	deliver_all(stream);
}

static struct relay_window *window_of(struct relay_stream *stream)
{
	if (!stream->window)
		stream->window = calloc(1, sizeof(*stream->window));
	return stream->window;
}

static void expire(struct relay_stream *stream, uint64_t poll)
{
	struct relay_window *window = stream->window;
	uint64_t end;

	while (window && window->count && poll - window->packet[0]->born >= DATAGRAM_WAIT)
		skip(stream);
	if (poll < DATAGRAM_ALONE || !relay_is_late(stream, poll - DATAGRAM_ALONE, &end))
		return;
	window = window_of(stream);
	if (!window)
		return;			/* the next poll tries again */
	while (window->count && (int64_t)(window->packet[0]->seq - end) < 0)
		skip(stream);
	if ((int64_t)(end - window->next) > 0)
		window->next = end;
	relay_lose_before(stream, end);
	deliver_all(stream);
}

void relay_expire_datagrams(struct relay *relay)
{
	/* Polls are counted instead of time: after a pause of this program the datagrams that wait
	 * are read first. */
	const uint64_t poll = relay->datagram_polls++;

	for (struct relay_session *session = relay->sessions; session; session = session->next)
		for (struct relay_stream *stream = session->streams; stream && session->cookie;
		     stream = stream->next)
			expire(stream, poll);
}

void relay_end_datagrams(struct relay_stream *stream)
{
	while (stream->window && stream->window->count)
		skip(stream);
}

void relay_free_datagrams(struct relay_stream *stream)
{
	while (stream->window && stream->window->count)
		forget(stream, 0);
	free(stream->window);
	stream->window = NULL;
}

bool relay_is_skipped(const struct relay_stream *stream, uint64_t seq)
{
	return stream->window && (int64_t)(seq - stream->window->next) < 0;
}

/* ---- into the window ---- */

static struct datagram_packet *packet_new(struct relay_stream *stream,
					  const struct wire_datagram *header)
{
	const uint32_t pieces = header->size ? (header->size - 1) / header->piece + 1 : 1;
	const size_t memory = sizeof(struct datagram_packet) + header->size + pieces / 8 + 1;
	struct datagram_packet *packet = calloc(1, memory);

	if (!packet)
		return NULL;
	packet->seq = header->seq;
	packet->born = stream->session->relay->datagram_polls;
	packet->first = *header;
	packet->missing = pieces;
	packet->memory = memory;
	packet->have = packet->bytes + header->size;
	stream->session->datagram_bytes += memory;
	stream->session->relay->datagram_bytes += memory;
	return packet;
}

static bool is_full(const struct relay_stream *stream)
{
	return stream->window->count == DATAGRAM_WINDOW ||
	       stream->session->datagram_bytes > DATAGRAM_SESSION_MAX;
}

/* The packet of a datagram. NULL: a duplicate, or too late, or no room. */
static struct datagram_packet *packet_of(struct relay_stream *stream,
					 const struct wire_datagram *header)
{
	struct relay_window *window = stream->window;
	unsigned at;

	while (window->count && is_full(stream))
		skip(stream);
	if ((int64_t)(header->seq - window->next) < 0 ||
	    stream->session->relay->datagram_bytes > DATAGRAM_BYTES_MAX)
		return NULL;
	for (at = window->count; at; at--) {
		const int64_t ahead = (int64_t)(header->seq - window->packet[at - 1]->seq);

		if (!ahead)
			return window->packet[at - 1];
		if (ahead > 0)
			break;
	}
	memmove(window->packet + at + 1, window->packet + at,
		(window->count - at) * sizeof(*window->packet));
	window->packet[at] = packet_new(stream, header);
	if (window->packet[at]) {
		window->count++;
		return window->packet[at];
	}
	memmove(window->packet + at, window->packet + at + 1,
		(window->count - at) * sizeof(*window->packet));
	return NULL;
}

static bool makes_sense(const struct wire_datagram *header, size_t size)
{
	if (header->magic != DATAGRAM_MAGIC || header->size > DATAGRAM_PACKET_MAX ||
	    !header->piece || header->zero || header->padding > DATAGRAM_PACKET_MAX ||
	    header->offset > header->size || header->offset % header->piece)
		return false;
	if (header->offset == header->size && header->size)
		return false;
	return size == (header->size - header->offset < header->piece
				? header->size - header->offset
				: header->piece);
}

static struct relay_stream *stream_of(const struct relay *relay, const struct wire_datagram *header)
{
	struct relay_stream *stream = relay_find_stream(relay, header->stream);

	if (!stream || !stream->session->cookie || stream->session->cookie != header->cookie ||
	    stream->session->ended || stream->is_metadata || stream->closed)
		return NULL;
	return window_of(stream) ? stream : NULL;
}

int relay_datagram(struct relay *relay, const uint8_t *bytes, size_t size)
{
	struct wire_in in = { .at = bytes, .end = bytes + size };
	struct wire_datagram header;
	struct relay_stream *stream;
	struct datagram_packet *packet;
	uint32_t number;

	if (!wire_get_datagram(&in, &header) || !makes_sense(&header, wire_left(&in)))
		return -1;
	stream = stream_of(relay, &header);
	packet = stream ? packet_of(stream, &header) : NULL;
	if (!packet || packet->first.size != header.size || packet->first.piece != header.piece ||
	    packet->first.padding != header.padding)
		return -1;
	number = header.offset / header.piece;
	if (packet->have[number / 8] & 1u << number % 8)
		return -1;
	packet->have[number / 8] |= (uint8_t)(1u << number % 8);
	memcpy(packet->bytes + header.offset, in.at, wire_left(&in));
	packet->missing--;
	deliver_all(stream);
	return 0;
}

int relay_begin_datagrams(struct relay_session *session)
{
	while (!session->cookie)
		if (getrandom(&session->cookie, sizeof(session->cookie), 0) !=
		    sizeof(session->cookie))
			return -1;
	return 0;
}
