/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files that send sessions on share.
 *
 * Context of all functions: as forward.h.
 */
#ifndef KYMO_RELAY_FORWARD_INTERNAL_H
#define KYMO_RELAY_FORWARD_INTERNAL_H

#include "relay/forward/forward.h"
#include "relay/producer/producer.h"
#include "relay/producer/producer_link.h"

#define FORWARD_BACKOFF_FIRST	5u	/* calls of forward_poll() */

enum forward_state {
	FORWARD_OFFLINE,
	FORWARD_CONNECTING,
	FORWARD_GREETING,
	FORWARD_READY,
	FORWARD_ENDING,
	FORWARD_DONE
};

struct forward_stream {
	struct relay_stream *stream;
	struct producer_stream at;	/* at the other relay */
	uint64_t next;			/* number of the next packet, in this relay */
	uint64_t sent;			/* to the other relay: packets, or bytes of metadata */
	uint64_t told;			/* time of the last beacon */
	bool closed;
};

/* A read from a file; what is read is sent. */
struct forward_read {
	uv_work_t work;
	struct forward_session *to;
	unsigned generation;		/* of the connection that it is for */
	unsigned stream;		/* index in forward_session.stream */
	struct store_file *file;
	bool is_packet, has_entry;
	uint64_t number;		/* number of the index entry */
	struct ctf_index_entry entry;
	uint64_t offset;
	size_t size;
	uint8_t *bytes;
	bool good;
};

struct forward_session {
	struct forward_session *next;
	struct forward *forward;
	struct relay_session *session;	/* NULL: forgotten; freed when the present read is done */
	enum forward_state state;
	struct producer_link link;
	struct producer producer;
	unsigned generation;             /* counts connections */
	unsigned polls_to_wait, backoff; /* calls of forward_poll() before the next attempt */
	bool told;                       /* the user knows that there is no connection */
	struct forward_read *reading;
	struct forward_stream **stream;
	unsigned count, announced,
		room; /* streams that were asked for; that viewers there know of */
	unsigned turn;
};

struct forward {
	struct forward_options options;
	uv_loop_t *loop;
	struct relay *relay;
	struct forward_session *sessions;
	bool ended;			/* freed with the last session */
};

/* ---- forward_send.c ---- */

/** forward_answered() - of struct producer_ops, with a struct forward_session. */
int forward_answered(void *context, uint32_t command, void *about, struct wire_in *in,
		     struct kymo_err *err);

/** forward_work() - send what the connections accept. */
void forward_work(struct forward_session *to);

/** forward_free_streams() - forget what the other relay knows. */
void forward_free_streams(struct forward_session *to);

/* ---- forward.c ---- */

/** forward_lose() - end the connections, because of @err; they are opened again later. */
void forward_lose(struct forward_session *to, const struct kymo_err *err);

/** forward_release() - free it if it is forgotten and nothing is being read. */
void forward_release(struct forward_session *to);

#endif
