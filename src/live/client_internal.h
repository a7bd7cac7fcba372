/* SPDX-License-Identifier: Apache-2.0 */
/* What the files client*.c share. */
#ifndef KYMO_LIVE_CLIENT_INTERNAL_H
#define KYMO_LIVE_CLIENT_INTERNAL_H

#include "live/client.h"

#define CLIENT_SESSIONS_MAX	65536u
#define CLIENT_STREAMS_MAX	16384u
#define CLIENT_METADATA_MAX	((size_t)64 << 20)	/* of one trace */
#define CLIENT_PACKET_MAX	((uint64_t)1 << 30)
/* bytes of a packet in one request, as babeltrace2 asks for */
#define CLIENT_PIECE		((uint32_t)256 << 10)

/* between questions for a session that does not exist */
#define CLIENT_LOOK_NS		((int64_t)200000000)
/* between questions for the next packet of a stream */
#define CLIENT_POLL_NS		((int64_t)4000000)
#define CLIENT_POLL_EACH_NS	((int64_t)100000)	/* but at least this for each stream */
#define CLIENT_POLL_MOST_NS	((int64_t)100000000)
/* where the relay tells of news: for what only time changes */
#define CLIENT_TOLD_POLL_NS	((int64_t)50000000)
#define CLIENT_RETRIES 5u                               /* for facts that the relay may have */
/* for what the relay should have, and does not send */
#define CLIENT_TRIES		100u

/* A request without a reply. */
struct client_request {
	uint32_t cmd;
	uint32_t size;			/* PACKET: bytes asked for */
	void *of;			/* a live_stream or live_trace */
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
	uint32_t seek;                  /* of the latest ATTACH */
	uint32_t next_seek;             /* of the one after DETACH; 0: none */
	bool gathers;                   /* attached only to read facts */
	bool found;			/* in the list that is being received */
	bool waits, told;		/* the session does not exist; the user knows */
	bool asked_streams, stale_streams, hung_up;
	bool relay_tells;		/* it knows WAIT */
	int64_t looked_ns;		/* when all streams were asked because of news */
	int64_t due_ns;			/* LIST or NEW_STREAMS */
	int64_t now_ns;
	/* [request_count] without a reply, from request_first on */
	struct client_request *request;
	size_t request_first, request_count, request_room;
	bool no_memory;
	/* an incomplete reply */
	struct wire_out in;
	unsigned minor;			/* of the version that both sides speak */
	bool in_list;			/* within a list: the number of entries that follow */
	uint32_t list_left, list_status;
};

/* Result of reading one reply. */
enum reply_result { REPLY_DONE, REPLY_INCOMPLETE, REPLY_FAILED };
/* The result of a reply that ends everything, with an error as for err_set(). */
#define REPLY_FAILS(reply, ...) (err_set((reply)->err, __VA_ARGS__), REPLY_FAILED)

struct client_reply {
	struct client *client;
	const struct client_request *request;
	struct wire_in *in;
	struct wire_out *out;		/* for further requests */
	struct kymo_err *err;
};

/* ---- client.c ---- */
/* Sends a request of @payload bytes, which the caller adds to @out. */
void client_ask(struct client *client, struct wire_out *out, uint32_t cmd, uint64_t payload,
		void *of, uint32_t size);
void client_ask_streams(struct client *client, struct wire_out *out);
void client_ask_metadata(struct client *client, struct live_trace *trace, struct wire_out *out);
void client_ask_index(struct client *client, struct live_stream *stream, struct wire_out *out);
/* Streams and metadata will be listed again, by the same relay: what was received is not new. */
void client_forget_places(struct client *client);
enum reply_result client_on_wait(struct client_reply *reply);
/* When to ask again for what does not exist yet. */
int64_t client_poll_at(const struct client *client);
__attribute__((format(printf, 2, 3)))
void client_say(struct client *client, const char *format, ...);

/* ---- client_reply.c: sessions, streams ---- */
/* Sends DETACH, and then ATTACH with another seek. */
void client_attach_again(struct client *client, uint32_t seek, struct wire_out *out);
enum reply_result client_on_connect(struct client_reply *reply);
enum reply_result client_on_list(struct client_reply *reply);
enum reply_result client_on_create(struct client_reply *reply);
enum reply_result client_on_attach(struct client_reply *reply);
enum reply_result client_on_new_streams(struct client_reply *reply);
enum reply_result client_on_detach(struct client_reply *reply);

/* ---- client_metadata.c ---- */
enum reply_result client_on_metadata(struct client_reply *reply);

/* ---- client_packets.c ---- */
enum reply_result client_on_index(struct client_reply *reply);
enum reply_result client_on_packet(struct client_reply *reply);
/* Asks for the rest of the packet. */
void client_fetch(struct client *client, struct live_stream *stream, struct wire_out *out);
/* The metadata of @trace is complete: asks for the packets that waited for it. */
void client_metadata_came(struct client *client, struct live_trace *trace, struct wire_out *out);
/* @trace will never have metadata. */
void client_metadata_gone(struct client *client, struct live_trace *trace, struct wire_out *out);

#endif
