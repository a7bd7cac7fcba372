/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an earlier session has of the packets that were not known to be stored. See send.h.
 *
 *   the stream in the spool   ──────────┬─────────────┬─────────▶
 *                            send.stored│ skip        │ to be sent in the session that begins now
 *
 * Facts are not asked for: every session has them all.
 */
#include "relay/send_internal.h"

#include <stdlib.h>
#include <string.h>

#include "ctf/writer.h"

void send_keep_old(struct send *send)
{
	free(send->old_path);
	send->old_path = send->path;
	send->path = NULL;
	for (unsigned i = 0; i < send->stream_count; i++) {
		struct send_stream *stream = send->stream[i];

		stream->ask_old = stream->class != CTF_CLASS_INIT && !stream->done && stream->has_handle &&
				  stream->next_seq > stream->base_seq;
		stream->old_front = stream->front;
		stream->old_seq = stream->base_seq;
	}
}

static void ask(struct send *send, struct send_stream *stream)
{
	struct wire_stored stored = {
		.session_size = (uint32_t)strlen(send->old_path) + 1,
		.path_size = (uint32_t)strlen(stream->trace->name) + 1,
		.channel_size = (uint32_t)strlen(stream->name) + 1,
	};

	memcpy(stored.sessiond_uuid, send->uuid, sizeof(stored.sessiond_uuid));
	send_request(send, WIRE_STORED, WIRE_SIZE_stored + stored.session_size + stored.path_size + stored.channel_size,
		     stream, NULL);
	wire_put_stored(&send->control, &stored);
	wire_add_bytes(&send->control, send->old_path, stored.session_size);
	wire_add_bytes(&send->control, stream->trace->name, stored.path_size);
	wire_add_bytes(&send->control, stream->name, stored.channel_size);
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
		ask(send, send->stream[i]);
		asked++;
	}
	return asked;
}

static void learn(struct send_stream *stream, uint64_t packets)
{
	uint64_t more = packets > stream->old_seq ? packets - stream->old_seq : 0;

	if (more && !stream->old_seq && stream->old_front)
		more--;
	stream->skip += more;
	stream->ask_old = false;
}

int send_on_stored(struct send *send, struct send_stream *stream, struct wire_in *in)
{
	struct wire_stored_reply reply;

	if (!wire_get_stored_reply(in, &reply))
		return 0;
	if (reply.ret == WIRE_NOT_YET)
		send->old_pending = true;
	else		/* what it cannot tell it gets again */
		learn(stream, reply.ret == WIRE_OK ? reply.packets : 0);
	if (send->reply_count == 1 && !send->old_pending)	/* it was the last */
		send_create(send);
	return 0;
}
