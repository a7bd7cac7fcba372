/* SPDX-License-Identifier: Apache-2.0 */
/* From the spool's records to messages. See send.h. */
#include "relay/send/send_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "ctf/write/writer.h"
#include "relay/wire/datagram.h"

#define CONTROL_MOST	((size_t)256 << 10)	/* composed ahead of what the connections accept */
#define DATA_MOST	((size_t)1 << 20)
/* the same, with datagrams; indexes wait for them */
#define DATAGRAMS_MOST	((size_t)64 << 10)
/* of datagrams with facts: without names later events mean little */
#define FACT_COPIES	3u
#define REPLIES_MOST	4096u
#define METADATA_MAGIC	0x75D11D57u

/* The head of each piece of metadata. */
struct metadata_head {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t checksum, content_size, packet_size;
	uint8_t compression, encryption, checksum_scheme, major, minor;
} __attribute__((packed));

static bool has_room(const struct send *send)
{
	const size_t most = send->options.datagrams ? DATAGRAMS_MOST : DATA_MOST;

	const struct producer *producer = &send->producer;

	return producer->control.used < CONTROL_MOST && producer->data.used < most &&
	       producer->queue_count < REPLIES_MOST && !producer->control.failed &&
	       !producer->data.failed;
}

/* ---- traces and streams ---- */

static struct send_trace *find_or_add_trace(struct send *send, const struct spool_record *record)
{
	const struct spool_trace *body = send->body;
	struct send_trace *trace;

	if (record->id < send->trace_count)
		return send->trace[record->id];
	if (record->id != send->trace_count || record->size != sizeof(*body) ||
	    !ARRAY_ROOM(send->trace, send->trace_count, send->trace_room))
		return NULL;
	trace = calloc(1, sizeof(*trace));
	if (!trace)
		return NULL;
	trace->id = record->id;
	memcpy(trace->uuid, body->uuid, sizeof(trace->uuid));
	(void)snprintf(trace->name, sizeof(trace->name), "%s", body->name);
	send->trace[send->trace_count++] = trace;
	return trace;
}

static struct send_stream *find_or_add_stream(struct send *send, const struct spool_record *record)
{
	const struct spool_stream *body = send->body;
	struct send_stream *stream;

	if (record->id < send->stream_count)
		return send->stream[record->id];
	if (record->id != send->stream_count || record->size != sizeof(*body) ||
	    !send_trace_of(send, body->trace) ||
	    !ARRAY_ROOM(send->stream, send->stream_count, send->stream_room))
		return NULL;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return NULL;
	stream->id = record->id;
	stream->trace = send_trace_of(send, body->trace);
	stream->class = body->class;
	(void)snprintf(stream->name, sizeof(stream->name), "%s", body->name);
	send->stream[send->stream_count++] = stream;
	return stream;
}

static void add_stream(struct send *send, const char *channel, const struct send_trace *trace,
		       struct producer_stream *at)
{
	const struct producer_session session = send_session(send);

	producer_add_stream(&send->producer, &session, channel, trace->name, at);
}

static int on_trace(struct send *send, const struct spool_record *record)
{
	struct send_trace *trace = find_or_add_trace(send, record);

	if (!trace)
		return -1;
	if (!trace->at.asked)
		add_stream(send, "metadata", trace, &trace->at);
	return 1;
}

static int on_stream(struct send *send, const struct spool_record *record)
{
	struct send_stream *stream = find_or_add_stream(send, record);

	if (!stream)
		return -1;
	if (stream->at.asked || stream->done)
		return 1;
	add_stream(send, stream->name, stream->trace, &stream->at);
	send->unannounced++;
	return 1;
}

/* ---- metadata ---- */

static int on_metadata(struct send *send, const struct spool_record *record)
{
	struct send_trace *trace = send_trace_of(send, record->id);
	const uint32_t size = record->size + (uint32_t)sizeof(struct metadata_head);
	struct metadata_head head = {
		.magic = METADATA_MAGIC,
		.content_size = 8 * size,
		.packet_size = 8 * size,
		.major = 1,
		.minor = 8,
	};

	if (!trace)
		return -1;
	if (!trace->at.has_handle)
		return 0;
	memcpy(head.uuid, trace->uuid, sizeof(head.uuid));
	producer_metadata(&send->producer, &trace->at, size);
	wire_add_bytes(&send->producer.control, &head, sizeof(head));
	wire_add_bytes(&send->producer.control, send->body, record->size);
	return 1;
}

/* ---- packets ---- */

/* A packet that is too large for datagrams is lost, and its index says so. */
static void put_datagrams(struct send *send, const struct send_stream *stream, const void *bytes,
			  uint32_t size)
{
	const struct datagram_cut whole = {
		.cookie = send->cookie,
		.stream = stream->at.handle,
		.seq = stream->next_seq,
		.bytes = bytes,
		.size = size,
	};
	const unsigned copies = stream->class == CTF_CLASS_INIT ? FACT_COPIES : 1;

	for (unsigned i = 0; i < copies && size <= DATAGRAM_PACKET_MAX; i++) {
		struct datagram_cut cut = whole;
		int rc;

		while ((rc = datagram_cut(&cut, &send->piece)) > 0) {
			const uint32_t length = (uint32_t)send->piece.used;

			wire_add_bytes(&send->producer.data, &length, sizeof(length));
			wire_add_bytes(&send->producer.data, send->piece.bytes, length);
		}
		send->producer.data.failed |= rc < 0;
	}
}

static void put_data(struct send *send, const struct send_stream *stream, const void *bytes,
		     uint32_t size)
{
	producer_data(&send->producer, &stream->at, stream->next_seq, size);
	wire_add_bytes(&send->producer.data, bytes, size);
}

static void put_packet(struct send *send, struct send_stream *stream,
		       const struct ctf_index_entry *entry, const void *bytes, uint32_t size)
{
	(send->options.datagrams ? put_datagrams : put_data)(send, stream, bytes, size);
	producer_index(&send->producer, &stream->at, stream->next_seq, entry);
	stream->next_seq++;
	stream->discarded = entry->events_discarded;
	stream->instance = entry->stream_instance_id;
	stream->end_ns = entry->timestamp_end;
	send->packets++;
	if (entry->timestamp_end > send->end_ns)
		send->end_ns = entry->timestamp_end;
}

/*
 * The first packets of a stream may be in an earlier session. Readers count losses from one packet
 * to the next, so the stream begins with an empty packet that has the count of lost events up to
 * here.
 */
static bool put_front(struct send *send, struct send_stream *stream,
		      const struct spool_record *record)
{
	struct ctf_index_entry entry = record->entry;
	uint8_t head[CTF_PACKET_HEAD_MAX];
	size_t size;

	entry.timestamp_end = entry.timestamp_begin;
	entry.events_discarded = stream->discarded;
	entry.packet_seq_num--;
	entry.events = 0;
	size = ctf_packet_front((enum ctf_class)stream->class, send->body, record->size, &entry,
				head);
	if (size)
		put_packet(send, stream, &entry, head, (uint32_t)size);
	return size;
}

/* Viewers learn of all streams that the relay knows by now, at once. */
static void announce(struct send *send)
{
	producer_request(&send->producer, WIRE_STREAMS_SENT, 0, NULL);
	for (unsigned i = 0; i < send->stream_count; i++)
		send->stream[i]->announced |= send->stream[i]->at.asked;
	send->unannounced = 0;
}

static int on_packet(struct send *send, const struct spool_record *record)
{
	struct send_stream *stream = send_stream_of(send, record->id);

	if (!stream || record->entry.packet_size != 8 * (uint64_t)record->size)
		return -1;
	if (stream->done)
		return 1;
	if (stream->has_some && record->entry.packet_seq_num <= stream->has_seq) {
		stream->discarded = record->entry.events_discarded;
		send_count_lost(send, stream, record);
		return 1;
	}
	if (!stream->at.has_handle)
		return 0;
	if (!stream->announced)
		announce(send);
	if (!stream->next_seq && record->entry.packet_seq_num && !put_front(send, stream, record))
		return -1;
	put_packet(send, stream, &record->entry, send->body, record->size);
	return 1;
}

static int on_end(struct send *send, const struct spool_record *record)
{
	struct send_stream *stream = send_stream_of(send, record->id);

	if (!stream)
		return -1;
	stream->ended = true;
	stream->ended_at = record->entry.offset;
	return 1;
}

/* ---- records ---- */

/* Return: 1: sent; 0: a reply is needed first; -1: invalid record, or out of memory. */
static int on_record(struct send *send, const struct spool_record *record)
{
	switch (record->kind) {
	case SPOOL_TRACE:
		return on_trace(send, record);
	case SPOOL_METADATA:
		return on_metadata(send, record);
	case SPOOL_STREAM:
		return on_stream(send, record);
	case SPOOL_PACKET:
		return on_packet(send, record);
	case SPOOL_END:
		return on_end(send, record);
	}
	return -1;
}

/* Up to @end. Return: 1: all of it; 0: not all of it now; -1 with @err. */
static int one_log(struct send *send, enum spool_log log, uint64_t end, struct kymo_err *err)
{
	while (send->sent.at[log] < end) {
		struct spool_record record;
		uint64_t next;
		int rc;

		if (!has_room(send))
			return 0;
		next = spool_read(send->spool, log, send->sent.at[log], &record, &send->body,
				  &send->body_room);
		rc = next ? on_record(send, &record) : -1;
		if (rc < 0)
			return err_set(err, KYMO_EXIT_FAILED, "cannot read the spool %s at byte %" PRIu64 " of %s",
				       spool_path(send->spool), send->sent.at[log],
				       log == SPOOL_FACTS ? "facts" : "its packets");
		if (rc == 0)
			return 0;
		send->sent.at[log] = next;
	}
	return 1;
}

int send_logs(struct send *send, struct kymo_err *err)
{
	/* Before the end of the facts: the streams of all packets up to here are facts by then. */
	const uint64_t run_end = spool_end(send->spool, SPOOL_RUN);
	int rc = one_log(send, SPOOL_FACTS, spool_end(send->spool, SPOOL_FACTS), err);

	if (rc > 0)
		rc = one_log(send, SPOOL_RUN, run_end, err);
	return rc < 0 ? -1 : 0;
}

int send_read_facts(struct send *send, struct kymo_err *err)
{
	const uint64_t end = spool_end(send->spool, SPOOL_FACTS);
	struct spool_record record;
	uint64_t at = 0;
	bool well = true;

	while (well && at < end) {
		at = spool_read(send->spool, SPOOL_FACTS, at, &record, &send->body,
				&send->body_room);
		well = at && !(record.kind == SPOOL_TRACE && !find_or_add_trace(send, &record)) &&
		       !(record.kind == SPOOL_STREAM && !find_or_add_stream(send, &record));
	}
	return well ? 0 : err_set(err, KYMO_EXIT_FAILED, "cannot read the spool %s", spool_path(send->spool));
}
