/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the control port about streams: metadata, indexes, and whether packets are
 * pending. */
#include "relay/ingest/ingest_internal.h"

#define PADDING_MAX ((uint32_t)16 << 20)	/* behind a metadata packet */

static bool get_add_2_11(struct ingest_call *call, struct relay_add *add)
{
	struct wire_add_stream_2_11 request;

	if (!wire_get_add_stream_2_11(call->in, &request))
		return false;
	add->channel = wire_name(call->in, request.channel_size);
	add->path = wire_name(call->in, request.path_size);
	add->file_size = request.file_size;
	add->file_count = request.file_count;
	return !call->in->short_of;
}

int ingest_on_add_stream(struct ingest_call *call)
{
	struct wire_stream_reply reply = { .ret = WIRE_ERR_UNKNOWN };
	struct wire_add_stream_2_2 old;
	struct relay_stream *stream;
	struct relay_add add;
	bool read;

	if (call->ingest->minor >= 11) {
		read = get_add_2_11(call, &add);
	} else {
		read = wire_get_add_stream_2_2(call->in, &old);
		add = (struct relay_add){ old.channel, old.path, old.file_size, old.file_count };
	}
	if (!read)
		return ingest_malformed(call);
	stream = relay_add_stream(call->ingest->session, &add);
	if (stream)
		reply = (struct wire_stream_reply){ stream->id, WIRE_OK };
	wire_put_stream_reply(call->reply, &reply);
	return 0;
}

int ingest_on_streams_sent(struct ingest_call *call)
{
	relay_announce(call->ingest->session);
	return ingest_answer(call, WIRE_OK);
}

/* Reads a request about a stream and a packet. Return: 0, and *@stream; -1: it is answered. */
static int get_stream_seq(struct ingest_call *call, struct relay_stream **stream, uint64_t *seq,
			  uint32_t ret, const char *why)
{
	struct wire_stream_seq request;

	if (!wire_get_stream_seq(call->in, &request))
		return ingest_malformed(call);
	*stream = ingest_stream(call, request.stream);
	*seq = request.seq;
	return *stream ? 0 : ingest_refuse(call, ret, why);
}

int ingest_on_close_stream(struct ingest_call *call)
{
	struct relay_stream *stream;
	uint64_t seq;

	if (get_stream_seq(call, &stream, &seq, WIRE_ERR_UNKNOWN,
			   "a stream that does not exist is closed") < 0)
		return -1;
	relay_close_stream(stream, seq);
	return ingest_answer(call, WIRE_OK);
}

int ingest_on_metadata(struct ingest_call *call)
{
	struct wire_metadata request;
	struct relay_stream *stream;
	size_t size;

	if (!wire_get_metadata(call->in, &request) || request.padding > PADDING_MAX)
		return ingest_malformed(call);
	size = wire_left(call->in);
	stream = ingest_stream(call, request.stream);
	if (!stream ||
	    relay_metadata(stream, wire_bytes(call->in, size), size, request.padding) < 0)
		return err_set(call->err, KYMO_EXIT_INPUT, "metadata for a stream that is closed or not a metadata stream");
	return 0;			/* the only request without a reply */
}

int ingest_on_reset_metadata(struct ingest_call *call)
{
	struct wire_reset_metadata request;
	struct relay_stream *stream;

	if (!wire_get_reset_metadata(call->in, &request))
		return ingest_malformed(call);
	stream = ingest_stream(call, request.stream);
	if (!stream || !stream->is_metadata)
		return ingest_refuse(call, WIRE_ERR_UNKNOWN, "metadata of a stream that does not exist is reset");
	relay_reset_metadata(stream);
	return ingest_answer(call, WIRE_OK);
}

int ingest_on_index(struct ingest_call *call)
{
	struct wire_index_counts counts = { 0 };
	struct wire_index_2_4 index;
	struct wire_index_2_8 more;
	const bool has_more = call->ingest->minor >= 8;
	struct relay_stream *stream;

	if (!wire_get_index_2_4(call->in, &index) ||
	    (has_more && !wire_get_index_2_8(call->in, &more)))
		return ingest_malformed(call);
	if (has_more && call->ingest->is_ours && wire_left(call->in) >= WIRE_SIZE_index_counts)
		(void)wire_get_index_counts(call->in, &counts);
	stream = ingest_stream(call, index.stream);
	if (!stream || stream->is_metadata)
		return ingest_refuse(call, WIRE_ERR_UNKNOWN, "an index for a stream that does not exist");
	if (relay_index(stream, &index, has_more ? &more : NULL, &counts) < 0)
		return ingest_refuse(call, WIRE_ERR_UNKNOWN, "out of memory");
	return ingest_answer(call, WIRE_OK);
}

/* One message instead of a beacon for each stream. It arrives after their indexes, so sequence
 * numbers are not checked. */
int ingest_on_sync(struct ingest_call *call)
{
	struct wire_stream_seq each;
	struct relay_stream *stream;
	struct wire_sync request;

	if (!wire_get_sync(call->in, &request) ||
	    request.count > wire_left(call->in) / WIRE_SIZE_stream_seq)
		return ingest_malformed(call);
	relay_horizon(call->ingest->session, request.time);
	for (uint32_t i = 0; i < request.count; i++) {
		(void)wire_get_stream_seq(call->in, &each);
		stream = ingest_stream(call, each.stream);
		if (!stream || stream->is_metadata)
			return ingest_refuse(call, WIRE_ERR_UNKNOWN, "a SYNC for a stream that does not exist");
		if (relay_beacon(stream, request.time) < 0)
			return ingest_refuse(call, WIRE_ERR_UNKNOWN, "out of memory");
	}
	return ingest_answer(call, WIRE_OK);
}

/* ---- pending packets ---- */

int ingest_on_data_pending(struct ingest_call *call)
{
	struct relay_stream *stream;
	uint64_t seq;

	if (get_stream_seq(call, &stream, &seq, UINT32_MAX,
			   "DATA_PENDING for a stream that does not exist") < 0)
		return -1;
	if (!relay_pending(stream, seq))
		return ingest_answer(call,
				     stream->session->cookie && stream->lost ? WIRE_SOME_LOST : 0);
	return ingest_answer(call, true);
}

int ingest_on_lost_count(struct ingest_call *call)
{
	const struct relay_session *session = call->ingest->session;
	const struct wire_lost_count reply = {
		.ret = WIRE_OK,
		.packets = session->unstored_packets,
		.events = session->unstored_events,
		.facts = session->unstored_facts,
	};

	wire_put_lost_count(call->reply, &reply);
	return 0;
}

int ingest_on_quiescent(struct ingest_call *call)
{
	return ingest_answer(call, WIRE_OK);
}

int ingest_on_end_pending(struct ingest_call *call)
{
	bool pending = false;

	for (const struct relay_stream *stream = call->ingest->session->streams; stream;
	     stream = stream->next)
		pending |= relay_pending(stream, stream->index_seq);
	return ingest_answer(call, pending);
}
