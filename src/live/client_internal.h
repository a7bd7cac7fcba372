/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the client share. Not for others. */
#ifndef KYMO_LIVE_CLIENT_INTERNAL_H
#define KYMO_LIVE_CLIENT_INTERNAL_H

#include "live/client.h"

#define CLIENT_SESSIONS_MAX	65536u
#define CLIENT_STREAMS_MAX	16384u
#define CLIENT_METADATA_MAX	((size_t)64 << 20)	/* of one trace */
#define CLIENT_PACKET_MAX	((uint64_t)1 << 30)
#define CLIENT_PIECE		((uint32_t)256 << 10)	/* of a packet in one request: what babeltrace2 asks for */

#define CLIENT_LOOK_NS		((int64_t)200000000)	/* for a session that is not there */
#define CLIENT_POLL_NS		((int64_t)4000000)	/* for something new in a stream */
#define CLIENT_POLL_EACH_NS	((int64_t)100000)	/* at least this much for each stream */
#define CLIENT_POLL_MOST_NS	((int64_t)100000000)
#define CLIENT_TRIES		100u			/* for what the relay should have, but does not give */

/* A request whose reply has not come. */
struct request {
	uint32_t cmd;
	uint32_t size;			/* of PACKET: bytes that were asked for */
	void *of;			/* the live_stream or live_trace */
};

struct client {
	const struct client_options *options;
	const struct client_sink *sink;
	enum client_phase phase;
	struct live_trace *traces, **last_trace;
	struct live_stream *streams, **last_stream;
	unsigned stream_count;
	uint64_t session;		/* the relay's id */
	int64_t live_timer_ns;
	bool found;			/* in the list that is being read */
	bool waits, told;		/* the session is not there; that was said */
	bool asked_streams, stale_streams, hung_up;
	int64_t due_ns;			/* LIST or NEW_STREAMS */
	int64_t now_ns;
	/* requests without a reply, a ring */
	struct request *request;
	size_t request_first, request_count, request_room;
	bool no_memory;
	/* what came and is no whole reply yet */
	struct wire_out in;
	bool in_list;			/* the head of a list was read; so many entries are left */
	uint32_t list_left, list_status;
};

/* One reply that is being read. */
enum taken { TAKEN, TAKE_MORE, TAKE_FAILED };
struct reply {
	struct client *client;
	const struct request *request;
	struct wire_in *in;
	struct wire_out *out;		/* requests that follow from it */
	struct kymo_err *err;
};

/* ---- client.c ---- */
/* Send a request of @payload bytes, which the caller adds to @out next. */
void client_ask(struct client *client, struct wire_out *out, uint32_t cmd, uint64_t payload, void *of, uint32_t size);
void client_ask_streams(struct client *client, struct wire_out *out);
void client_ask_metadata(struct client *client, struct live_trace *trace, struct wire_out *out);
void client_ask_index(struct client *client, struct live_stream *stream, struct wire_out *out);
/* When to ask again for what is not there. */
int64_t client_poll_at(const struct client *client);
__attribute__((format(printf, 2, 3)))
void client_say(struct client *client, const char *format, ...);

/* ---- client_reply.c: sessions, streams, metadata ---- */
enum taken client_on_connect(struct reply *reply);
enum taken client_on_list(struct reply *reply);
enum taken client_on_create(struct reply *reply);
enum taken client_on_attach(struct reply *reply);
enum taken client_on_new_streams(struct reply *reply);
enum taken client_on_metadata(struct reply *reply);
enum taken client_on_detach(struct reply *reply);

/* ---- client_packets.c ---- */
enum taken client_on_index(struct reply *reply);
enum taken client_on_packet(struct reply *reply);
/* Ask for the rest of the packet. */
void client_fetch(struct client *client, struct live_stream *stream, struct wire_out *out);
/* Metadata of @trace are complete: fetch the packets that waited for them. */
void client_metadata_came(struct client *client, struct live_trace *trace, struct wire_out *out);
/* @trace has no metadata, and will have none. */
void client_metadata_gone(struct client *client, struct live_trace *trace, struct wire_out *out);

#endif
