/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After a lost connection: which of the packets that were not known to be stored does the earlier
 * session have?
 *
 * Each stream of the old session is asked about with WIRE_STORED. The answer is the number of the
 * last packet that the relay has stored; the new session skips packets up to it. A relay that still
 * writes the old session answers WIRE_NOT_YET, and is asked again. Facts are not asked about: every
 * session has all of them. See send.h.
 */
#include "relay/send/send_internal.h"

#include <stdlib.h>
#include <string.h>

#include "ctf/write/writer.h"

void send_keep_old(struct send *send)
{
	free(send->old_path);
	send->old_path = send->producer.path;
	send->producer.path = NULL;
	for (unsigned i = 0; i < send->stream_count; i++) {
		struct send_stream *stream = send->stream[i];

		stream->ask_old = stream->class != CTF_CLASS_INIT && !stream->done;
	}
}

size_t send_stored_size(const struct send_stream *stream, const char *path)
{
	return WIRE_SIZE_stored + strlen(path) + strlen(stream->trace->name) +
	       strlen(stream->name) + 3;
}

void send_put_stored(struct send *send, const struct send_stream *stream, const char *path)
{
	struct wire_stored stored = {
		.session_size = (uint32_t)strlen(path) + 1,
		.path_size = (uint32_t)strlen(stream->trace->name) + 1,
		.channel_size = (uint32_t)strlen(stream->name) + 1,
	};

	memcpy(stored.sessiond_uuid, send->uuid, sizeof(stored.sessiond_uuid));
	wire_put_stored(&send->producer.control, &stored);
	wire_add_bytes(&send->producer.control, path, stored.session_size);
	wire_add_bytes(&send->producer.control, stream->trace->name, stored.path_size);
	wire_add_bytes(&send->producer.control, stream->name, stored.channel_size);
}

unsigned send_ask_old(struct send *send)
{
	unsigned asked = 0;

	send->old_pending = false;
	if (!send->old_path || !(send->flags & WIRE_HAS_STORED))
		return 0;
	for (unsigned i = 0; i < send->stream_count; i++) {
		if (!send->stream[i]->ask_old)
			continue;
		producer_request(&send->producer, WIRE_STORED,
				 send_stored_size(send->stream[i], send->old_path),
				 send->stream[i]);
		send_put_stored(send, send->stream[i], send->old_path);
		asked++;
	}
	return asked;
}

void send_begin_if_asked(struct send *send)
{
	if (send->state == SEND_STORED && send->producer.queue_count == 1 && !send->old_pending)
		send_create(send);
}

int send_on_stored(struct send *send, struct send_stream *stream, struct wire_in *in)
{
	struct wire_stored_reply reply;

	if (!wire_get_stored_reply(in, &reply))
		return 0;
	if (reply.ret == WIRE_NOT_YET)
		send->old_pending = true;
	else
		stream->ask_old = false; /* if the relay can't say, the packets are sent again */
	if (reply.ret == WIRE_OK && reply.packets &&
	    (!stream->has_some || reply.packet_seq > stream->has_seq)) {
		stream->has_some = true;
		stream->has_seq = reply.packet_seq;
	}
	if (reply.ret == WIRE_OK && send->options.datagrams)
		send_ask_lost(send, stream, send->old_path);
	send_begin_if_asked(send);
	return 0;
}

int send_adopt(struct send *send, const uint8_t uuid[16], const char *path, struct kymo_err *err)
{
	const struct spool_stored stored = spool_stored(send->spool);

	if (send_read_facts(send, err) < 0)
		return -1;
	memcpy(send->uuid, uuid, sizeof(send->uuid));
	send->producer.path = *path ? strdup(path) : NULL;
	send_keep_old(send);
	send->sent.at[SPOOL_RUN] = send->stored.at[SPOOL_RUN] = stored.position;
	send->lost_packets = stored.lost_packets;
	send->lost_events = stored.lost_events;
	send->unstored = stored.unstored;
	send->finish = true;
	return 0;
}
