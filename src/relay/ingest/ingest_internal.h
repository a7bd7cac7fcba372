/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the control port share.
 *
 * Context of all functions: in ingest_bytes().
 */
#ifndef KYMO_RELAY_INGEST_INTERNAL_H
#define KYMO_RELAY_INGEST_INTERNAL_H

#include "relay/ingest/ingest.h"

/* What a request asks the disk; begins a structure of the request. */
struct ingest_look {
	void (*work)(struct ingest_look *look); /* any thread; blocks */
	bool done;
};

struct ingest {
	struct relay *relay;
	struct relay_session *session;
	unsigned ours, minor;		/* minor: what both sides speak */
	bool greeted;
	bool is_ours;			/* a kymo recorder */
	struct wire_out in;		/* an incomplete request */
	size_t held;			/* counted in relay->held */
	struct ingest_look *look;       /* of the first request in @in; NULL: none */
};

/* A request that is being answered. */
struct ingest_call {
	struct ingest *ingest;
	struct wire_in *in;
	struct wire_out *reply;
	struct kymo_err *err;
};

/* ---- ingest.c ---- */

/** ingest_answer() - reply @ret. Return: 0. */
int ingest_answer(struct ingest_call *call, uint32_t ret);

/** ingest_refuse() - reply @ret, then close the connection, because of @why. Return: -1. */
int ingest_refuse(struct ingest_call *call, uint32_t ret, const char *why);

/** ingest_malformed() - the request is too short: close the connection without a reply. Return:
 * -1. */
int ingest_malformed(struct ingest_call *call);

/** ingest_begin_look() - of @size bytes, zeroed. Return: NULL: out of memory. */
void *ingest_begin_look(struct ingest_call *call, size_t size,
			void (*work)(struct ingest_look *look));

/** ingest_end_look() - the request is answered. */
void ingest_end_look(struct ingest *ingest);

/** ingest_stream() - the stream @id of this connection's session. Return: NULL: there is none. */
struct relay_stream *ingest_stream(const struct ingest_call *call, uint64_t id);

/* Handlers return 0; -1: close the connection; INGEST_WAITS: they have set @look, have replied
 * nothing, and are called again when it is done. */
#define INGEST_WAITS 1

/* ---- ingest_session.c ---- */
int ingest_on_version(struct ingest_call *call);
int ingest_on_configuration(struct ingest_call *call);
int ingest_on_create_session(struct ingest_call *call);
int ingest_on_datagrams(struct ingest_call *call);
int ingest_on_create_chunk(struct ingest_call *call);
int ingest_on_close_chunk(struct ingest_call *call);
int ingest_on_chunk_exists(struct ingest_call *call);
int ingest_on_rotate(struct ingest_call *call);

/* ---- ingest_stream.c ---- */
int ingest_on_add_stream(struct ingest_call *call);
int ingest_on_streams_sent(struct ingest_call *call);
int ingest_on_close_stream(struct ingest_call *call);
int ingest_on_metadata(struct ingest_call *call);
int ingest_on_reset_metadata(struct ingest_call *call);
int ingest_on_index(struct ingest_call *call);
int ingest_on_sync(struct ingest_call *call);
int ingest_on_data_pending(struct ingest_call *call);
int ingest_on_quiescent(struct ingest_call *call);
int ingest_on_end_pending(struct ingest_call *call);

/* ---- resume.c ---- */
int ingest_on_stored(struct ingest_call *call);
int ingest_on_lost(struct ingest_call *call);
int ingest_on_lost_count(struct ingest_call *call);

#endif
