/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that send sessions on share. Not for others. */
#ifndef KYMO_RELAY_FORWARD_INTERNAL_H
#define KYMO_RELAY_FORWARD_INTERNAL_H

#include "relay/forward/forward.h"
#include "relay/producer/producer.h"
#include "relay/producer/producer_link.h"

#define FORWARD_BACKOFF_FIRST	5u	/* looks */

enum forward_state { FORWARD_OFFLINE, FORWARD_CONNECTING, FORWARD_GREETING, FORWARD_READY, FORWARD_ENDING, FORWARD_DONE };

struct forward_stream {
	struct relay_stream *stream;
	struct producer_stream at;	/* the other relay */
	uint64_t next;			/* number of the packet, here */
	uint64_t sent;			/* packets, or bytes of metadata */
	uint64_t told;			/* a beacon's time */
	bool closed;
};

/* What is read from a file before it can be sent. */
struct forward_read {
	uv_work_t work;
	struct forward_session *to;
	unsigned generation;		/* of the connection that it is for */
	unsigned stream;		/* its number in forward_session */
	struct store_file *file;
	bool is_packet, has_entry;
	uint64_t number;		/* of the entry */
	struct ctf_index_entry entry;
	uint64_t offset;
	size_t size;
	uint8_t *bytes;
	bool good;
};

struct forward_session {
	struct forward_session *next;
	struct forward *forward;
	struct relay_session *session;	/* NULL: it was forgotten, and goes when nothing is being read */
	enum forward_state state;
	struct producer_link link;
	struct producer producer;
	unsigned generation;		/* of the connection */
	unsigned looks_to_wait, backoff;	/* before it is tried again */
	bool told;			/* that there is no connection */
	struct forward_read *reading;
	struct forward_stream **stream;
	unsigned count, announced, room;	/* streams that were asked for; that viewers there know of */
	unsigned turn;
};

struct forward {
	struct forward_options options;
	uv_loop_t *loop;
	struct relay *relay;
	struct forward_session *sessions;
	bool ended;			/* it goes with the last of them */
};

/* ---- forward_send.c ---- */

/** forward_answered() - of struct producer_ops, with a struct forward_session. */
int forward_answered(void *context, uint32_t command, void *about, struct wire_in *in, struct kymo_err *err);

/** forward_work() - send what there is, as far as the connections accept it. */
void forward_work(struct forward_session *to);

/** forward_free_streams() - forget what the other relay has. */
void forward_free_streams(struct forward_session *to);

/* ---- forward.c ---- */

/** forward_lose() - the connections end, for what @err says; they are tried again. */
void forward_lose(struct forward_session *to, const struct kymo_err *err);

/** forward_release() - nothing is being read any more: it goes, if it was forgotten. */
void forward_release(struct forward_session *to);

#endif
