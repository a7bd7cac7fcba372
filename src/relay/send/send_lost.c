/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets that were sent as datagrams and lost. See send.h. The relay reports the numbers of the
 * lost packets. How many events they had is in the spool, which keeps the packets until they are
 * counted.
 *
 *   DATA_PENDING ─▶ WIRE_SOME_LOST ─▶ WIRE_LOST: which? ─▶ count the round's packets in the spool ─▶ release them
 */
#include "relay/send/send_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define LOST_MAX	((uint32_t)1 << 20)	/* numbers of a stream that are not counted yet */

int send_no_datagrams(struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_FAILED, "the relay does not accept datagrams (udp://); start it with kymo relay --datagram PORT, "
		       "or use net:// for TCP (lttng-relayd accepts TCP only)");
}

int send_on_datagrams(struct send *send, struct wire_in *in, struct kymo_err *err)
{
	struct wire_datagrams_reply reply;

	if (!wire_get_datagrams_reply(in, &reply))
		return 0;
	if (reply.ret != WIRE_OK || !reply.cookie || !reply.port || reply.port > UINT16_MAX)
		return send_no_datagrams(err);
	send->datagram_port = (uint16_t)reply.port;
	send->cookie = reply.cookie;
	return 0;
}

void send_ask_lost(struct send *send, struct send_stream *stream, const char *path)
{
	producer_request(&send->producer, WIRE_LOST,
			 WIRE_SIZE_lost + send_stored_size(stream, path), stream);
	wire_put_lost(&send->producer.control, &(struct wire_lost){ stream->lost_known });
	send_put_stored(send, stream, path);
}

static bool add(struct send_stream *stream, uint64_t number)
{
	uint32_t at = stream->lost_count;

	if (number < stream->lost_least)
		return true;		/* the empty packet at the front of a later session */
	if (stream->lost_count == LOST_MAX ||
	    !ARRAY_ROOM(stream->lost, stream->lost_count, stream->lost_room))
		return false;
	while (at && stream->lost[at - 1] > number)
		at--;
	memmove(stream->lost + at + 1, stream->lost + at,
		(stream->lost_count - at) * sizeof(*stream->lost));
	stream->lost[at] = number;
	stream->lost_count++;
	return true;
}

int send_on_lost(struct send *send, struct send_stream *stream, struct wire_in *in,
		 struct kymo_err *err)
{
	struct wire_lost_reply reply;

	if (!wire_get_lost_reply(in, &reply))
		return 0;
	if (reply.count > WIRE_LOST_MAX)
		return err_set(err, KYMO_EXIT_FAILED, "the relay reports %" PRIu32 " lost packets at once", reply.count);
	if (wire_left(in) < 8 * (size_t)reply.count) {
		in->short_of = true;
		return 0;
	}
	if (reply.ret != WIRE_OK)
		return err_set(err, KYMO_EXIT_FAILED, "the relay cannot report what was lost of the stream %s (status %" PRIu32 ")",
			       stream->name, reply.ret);
	for (uint32_t i = 0; i < reply.count; i++)
		if (!add(stream, wire_take(in, 8)))
			return err_no_memory(err);
	stream->lost_known += reply.count;
	if (reply.count == WIRE_LOST_MAX) {
		send_ask_lost(send, stream,
			      send->state == SEND_STORED ? send->old_path : send->producer.path);
		return 0;
	}
	if (send->state == SEND_STORED)
		send_begin_if_asked(send);
	else
		send_asked(send);
	return 0;
}

void send_on_lost_count(struct send *send, struct wire_in *in)
{
	struct spool_unstored *here = &send->unstored_here, *all = &send->unstored;
	struct wire_lost_count reply;

	if (!wire_get_lost_count(in, &reply))
		return;
	if (reply.ret == WIRE_OK && reply.packets >= here->packets &&
	    reply.events >= here->events && reply.facts >= here->facts) {
		all->packets += reply.packets - here->packets;
		all->events += reply.events - here->events;
		all->facts += reply.facts - here->facts;
		*here = (struct spool_unstored){ reply.packets, reply.events, reply.facts };
	}
	send_asked(send);
}

void send_count_lost(struct send *send, struct send_stream *stream,
		     const struct spool_record *record)
{
	uint32_t before = 0;

	if (!stream->lost_count)
		return;
	while (before < stream->lost_count && stream->lost[before] < record->entry.packet_seq_num)
		before++;
	if (before < stream->lost_count && stream->lost[before] == record->entry.packet_seq_num) {
		before++;
		send->lost_packets++;
		send->lost_events += record->events;
	}
	stream->lost_count -= before;
	memmove(stream->lost, stream->lost + before, stream->lost_count * sizeof(*stream->lost));
}

void send_count_round(struct send *send)
{
	uint64_t at = send->stored.at[SPOOL_RUN];
	struct spool_record record;
	uint32_t lost = 0;

	for (unsigned i = 0; i < send->stream_count; i++)
		lost += send->stream[i]->lost_count;
	while (lost && at < send->round.at[SPOOL_RUN]) {
		struct send_stream *stream;

		at = spool_read(send->spool, SPOOL_RUN, at, &record, &send->body, &send->body_room);
		if (!at)
			return;		/* the disk fails now: it was readable when it was sent */
		stream = record.kind == SPOOL_PACKET ? send_stream_of(send, record.id) : NULL;
		/* Packets of an earlier session were counted when they were skipped. */
		if (stream && record.entry.packet_seq_num >= stream->lost_least)
			send_count_lost(send, stream, &record);
	}
}

void send_forget_lost(struct send *send)
{
	for (unsigned i = 0; i < send->stream_count; i++) {
		struct send_stream *stream = send->stream[i];

		stream->lost_known = 0;
		stream->lost_least = stream->has_some ? stream->has_seq + 1 : 0;
		while (stream->lost_count &&
		       stream->lost[stream->lost_count - 1] >= stream->lost_least)
			stream->lost_count--;
	}
}
