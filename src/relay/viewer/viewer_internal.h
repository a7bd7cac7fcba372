/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the viewer port share. */
#ifndef KYMO_RELAY_VIEWER_INTERNAL_H
#define KYMO_RELAY_VIEWER_INTERNAL_H

#include "relay/viewer/viewer.h"

/* A viewer's position in a stream. */
struct viewer_stream {
	struct relay_stream *stream;
	uint64_t next; /* number of the packet */
	uint64_t sent; /* bytes of metadata */
	uint64_t told; /* it holds the viewer back here: by its last packet or INACTIVE; at first
			  viewer_reach() */
	struct store_file *file; /* of the index entry that was sent last */
};

struct viewer {
	struct relay *relay;
	struct relay_session *session;	/* attached, or NULL */
	uint64_t id;
	bool connected, created;
	bool held;            /* a WAIT is not answered yet */
	uint64_t seen;        /* session->changes at the latest WAIT */
	unsigned ours, minor; /* version 2.ours is announced; minor: what both sides speak */
	struct map views;     /* struct viewer_stream by stream id */
	uint64_t version;     /* of the session, when its streams were listed last */
	bool knows_news; /* a packet told it of new streams: it asks for them before it shows more
			    than ... */
	uint64_t reach;  /* ... up to here */
	struct wire_out in; /* requests that are not answered yet */
	bool waits;         /* there may be a complete request in it */
	struct viewer_read read;
	bool reading;
	struct viewer_stream *reading_for;
};

/* A request that is being answered. */
struct viewer_call {
	struct viewer *viewer;
	struct wire_in *in;
	struct wire_out *reply;
	struct kymo_err *err;
};

/* Handlers return 0; CALL_READS: a read was begun; -1: close the connection. */
#define CALL_READS 1

/* ---- viewer_sessions.c ---- */
int viewer_on_list(struct viewer_call *call);
int viewer_on_attach(struct viewer_call *call);
int viewer_on_new_streams(struct viewer_call *call);
int viewer_on_detach(struct viewer_call *call);
void viewer_detach(struct viewer *viewer);

/** viewer_has_news() - whether there are streams that the viewer does not know and may know. */
bool viewer_has_news(struct viewer *viewer);

/**
 * viewer_expects_news() - whether there are streams that the viewer may not know yet
 *
 * Their STREAMS_SENT is missing, or their trace's metadata. Such a stream counts for as long as
 * halves of packets wait for each other (half_expires_ns).
 */
bool viewer_expects_news(const struct viewer *viewer);

/** viewer_news_begin() - when the streams begin that the viewer may know and does not; 0: one is
 * not known. */
uint64_t viewer_news_begin(const struct viewer *viewer);

/* ---- viewer_time.c ---- */

/**
 * viewer_silent_until() - up to which time @view is known to be silent, as the viewer may be told
 * Return: 0: not known. The caller tells it, and sets @view->told.
 */
uint64_t viewer_silent_until(struct viewer *viewer, const struct viewer_stream *view);

/** viewer_reach() - how far the viewer may have got with the streams that it knows. */
uint64_t viewer_reach(const struct viewer *viewer);

/** viewer_may_show() - whether the viewer may get the next packet of @view, which exists. */
bool viewer_may_show(const struct viewer *viewer, const struct viewer_stream *view);

/* ---- viewer_data.c ---- */
int viewer_on_next_index(struct viewer_call *call);
int viewer_on_packet(struct viewer_call *call);
int viewer_on_metadata(struct viewer_call *call);

/** viewer_answer_read() - answer the request that waited for viewer->read. */
void viewer_answer_read(struct viewer *viewer, struct wire_out *reply);

#endif
