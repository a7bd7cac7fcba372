/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The producer's half of LTTng's relay protocol, which lttng-consumerd speaks to lttng-relayd:
 * requests become bytes for the control and the data connection, and bytes that come back are
 * matched with the requests they answer. A recorder that sends its spool (relay/send) and a relay
 * that sends its sessions on (relay/forward) both use it.
 *
 *   VERSION ─▶ CREATE_SESSION ─▶ CREATE_CHUNK ─▶ ADD_STREAM … ─▶ SEND_METADATA, packets with SEND_INDEX … ─▶ CLOSE_STREAM
 *
 * The relay answers requests in their order, without a number that says which one it answers. So
 * each request that has a reply is put into a queue, and a reply belongs to the first request in
 * the queue.
 *
 * This file knows no socket: see producer_link.h for the two connections.
 *
 * Context of all functions: on one thread; allocate.
 */
#ifndef KYMO_RELAY_PRODUCER_H
#define KYMO_RELAY_PRODUCER_H

#include "base/err.h"
#include "ctf/format/index.h"
#include "relay/wire/wire.h"

#define PRODUCER_CHUNK_ID	0u	/* the only chunk of a session */
#define PRODUCER_NO_SEQ		UINT64_MAX

/* A stream at the relay. Zeroed: the relay does not know it. The caller's memory; it stays where it
 * is until the reply. */
struct producer_stream {
	bool asked, has_handle;		/* ADD_STREAM was sent; was answered */
	uint64_t handle;
};

struct producer_session {
	const char *name, *host;
	uint32_t live_timer_us;
	uint8_t uuid[16];		/* of its recorder; not nil: lttng-relayd refuses that */
	uint64_t number;		/* of the session, at that recorder */
	uint64_t created_s;		/* since the Epoch */
	uint32_t format;		/* enum wire_format; relays before 2.15 are not told */
};

struct producer_ops {
	/*
	 * The first request in the queue, @command about @about, was answered. Replies to VERSION,
	 * CREATE_SESSION, ADD_STREAM, CREATE_CHUNK, CLOSE_CHUNK, SEND_INDEX and other requests that
	 * the relay only accepts or refuses are already read and found good. The others
	 * (GET_CONFIGURATION, DATA_PENDING, kymo's own) are to be read from @in; if @in gets
	 * short_of, the call is repeated with more bytes.
	 * Return: 0; -1 with @err: leave this relay.
	 */
	int (*answered)(void *context, uint32_t command, void *about, struct wire_in *in,
			struct kymo_err *err);
	void *context;
	unsigned minor_least; /* of the protocol; the relay must speak 2.minor_least or newer */
};

struct producer_request {
	uint32_t command;
	void *about;
};

struct producer {
	struct producer_ops ops;
	struct wire_out control, data; /* to be sent, and then emptied, by the caller */
	struct wire_out input;         /* of a reply that is not complete */
	struct producer_request
		*queue; /* requests without a reply: [queue_count] from queue_first on */
	unsigned queue_first, queue_count, queue_room;
	unsigned unanswered_streams; /* ADD_STREAM in the queue */
	unsigned minor;              /* version that both sides speak */
	bool counts;                 /* of its user: the relay has WIRE_HAS_COUNTS */
	char *path; /* of the session at the relay; NULL: the relay did not name one */
};

/** producer_has_chunks() - whether the relay speaks 2.11 or newer: chunks, names of any length. */
static inline bool producer_has_chunks(const struct producer *producer)
{
	return producer->minor >= 11;
}

/** producer_reset() - the connections are gone: nothing is to be sent, no reply will come. ops and
 * path stay. */
void producer_reset(struct producer *producer);
void producer_free(struct producer *producer);

/** producer_request() - the head of a request, whose @size bytes the caller adds to control. */
void producer_request(struct producer *producer, uint32_t command, size_t size, void *about);

/** producer_greet() - VERSION: the first request on a connection. */
void producer_greet(struct producer *producer);

void producer_create_session(struct producer *producer, const struct producer_session *session);
void producer_create_chunk(struct producer *producer, uint64_t created_s);

/** producer_add_stream() - @channel of the trace at @path. The reply fills in @stream. */
void producer_add_stream(struct producer *producer, const struct producer_session *session,
			 const char *channel, const char *path, struct producer_stream *stream);

/** producer_metadata() - the head of SEND_METADATA, which has no reply; the caller adds @size bytes
 * to control. */
void producer_metadata(struct producer *producer, const struct producer_stream *stream,
		       size_t size);

/** producer_data() - the head of packet @seq on the data connection; the caller adds @size bytes to
 * data. */
void producer_data(struct producer *producer, const struct producer_stream *stream, uint64_t seq,
		   uint32_t size);

/** producer_index() - SEND_INDEX of packet @seq. With packet_size 0 it is a beacon: no event before
 * timestamp_end will come. */
void producer_index(struct producer *producer, const struct producer_stream *stream, uint64_t seq,
		    const struct ctf_index_entry *entry);

/** producer_stream_seq() - a request that consists of @stream and @seq: CLOSE_STREAM,
 * DATA_PENDING. */
void producer_stream_seq(struct producer *producer, uint32_t command,
			 const struct producer_stream *stream, uint64_t seq, void *about);

/**
 * producer_input() - bytes arrived on the control connection
 * Return: 0; -1 with @err: the relay refuses a request, or its reply is invalid: leave this relay.
 */
int producer_input(struct producer *producer, const uint8_t *bytes, size_t size,
		   struct kymo_err *err);

#endif
