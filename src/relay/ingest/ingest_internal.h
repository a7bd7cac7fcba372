/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the control port share. Not for others. */
#ifndef KYMO_RELAY_INGEST_INTERNAL_H
#define KYMO_RELAY_INGEST_INTERNAL_H

#include "relay/ingest/ingest.h"

struct ingest {
	struct relay *relay;
	struct relay_session *session;
	unsigned ours, minor;		/* minor: what both speak */
	bool greeted;
	bool is_ours;			/* a recorder of kymo's */
	struct wire_out in;		/* what came and is no whole request yet */
	size_t held;			/* of relay->held */
};

/* One request while it is answered. */
struct call {
	struct ingest *ingest;
	struct wire_in *in;
	struct wire_out *reply;
	struct kymo_err *err;
};

/* ---- ingest.c ---- */

/** ingest_answer() - the reply is @ret. Return: 0. */
int ingest_answer(struct call *call, uint32_t ret);

/** ingest_refuse() - the reply is @ret, and the connection ends, for @why. Return: -1. */
int ingest_refuse(struct call *call, uint32_t ret, const char *why);

/** ingest_malformed() - the request is too short: the connection ends without a reply. Return: -1. */
int ingest_malformed(struct call *call);

/** ingest_stream() - the stream of this session that a request names. Return: NULL: there is none. */
struct relay_stream *ingest_stream(const struct call *call, uint64_t id);

/* Handlers return 0, or -1: the connection ends. */

/* ---- ingest_session.c ---- */
int ingest_on_version(struct call *call);
int ingest_on_configuration(struct call *call);
int ingest_on_create_session(struct call *call);
int ingest_on_datagrams(struct call *call);
int ingest_on_create_chunk(struct call *call);
int ingest_on_close_chunk(struct call *call);
int ingest_on_chunk_exists(struct call *call);
int ingest_on_rotate(struct call *call);

/* ---- ingest_stream.c ---- */
int ingest_on_add_stream(struct call *call);
int ingest_on_streams_sent(struct call *call);
int ingest_on_close_stream(struct call *call);
int ingest_on_metadata(struct call *call);
int ingest_on_reset_metadata(struct call *call);
int ingest_on_index(struct call *call);
int ingest_on_sync(struct call *call);
int ingest_on_data_pending(struct call *call);
int ingest_on_quiescent(struct call *call);
int ingest_on_end_pending(struct call *call);

/* ---- resume.c ---- */
int ingest_on_stored(struct call *call);
int ingest_on_lost(struct call *call);

#endif
