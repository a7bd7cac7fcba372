/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the viewer port share. Not for others. */
#ifndef KYMO_RELAY_VIEWER_INTERNAL_H
#define KYMO_RELAY_VIEWER_INTERNAL_H

#include "relay/viewer/viewer.h"

/* Where a viewer is in a stream. */
struct view {
	struct relay_stream *stream;
	uint64_t next;			/* number of the packet */
	uint64_t sent;			/* of metadata: bytes */
	uint64_t silent;		/* the latest time that was given in an INACTIVE */
	struct store_file *file;	/* of the index that was given last */
};

struct viewer {
	struct relay *relay;
	struct relay_session *session;	/* attached, or NULL */
	uint64_t id;
	bool connected, created;
	struct map views;		/* struct view by stream id */
	uint64_t version;		/* of the session, when its streams were looked through */
	uint64_t bound;			/* the latest time that was given in an INACTIVE, of any stream */
	struct wire_out in;		/* what came and is not answered yet */
	bool waits;			/* there may be a whole request in it */
	struct viewer_read read;
	bool reading;
	struct view *reading_for;
};

/* One request while it is answered. */
struct call {
	struct viewer *viewer;
	struct wire_in *in;
	struct wire_out *reply;
	struct kymo_err *err;
};

/* Handlers return 0; 1: a read was begun; -1: close. */
#define CALL_READS 1

/* ---- viewer_sessions.c ---- */
int viewer_on_list(struct call *call);
int viewer_on_attach(struct call *call);
int viewer_on_new_streams(struct call *call);
int viewer_on_detach(struct call *call);
void viewer_detach(struct viewer *viewer);

/** viewer_has_news() - whether there are streams that it was not told of. */
bool viewer_has_news(struct viewer *viewer);

/**
 * viewer_expects_news() - whether streams have come that it cannot be told of yet
 *
 * Their STREAMS_SENT is missing, or their trace's metadata. A stream for which they do not come is expected no longer
 * than halves of packets are (half_expires_ns).
 */
bool viewer_expects_news(const struct viewer *viewer);

/** viewer_news_begin() - where the streams begin that it may be told of and was not, or, if unknown, how far it is. */
uint64_t viewer_news_begin(const struct viewer *viewer);

/* ---- viewer_data.c ---- */
int viewer_on_next_index(struct call *call);
int viewer_on_packet(struct call *call);
int viewer_on_metadata(struct call *call);

/** viewer_answer_read() - the reply that waited for viewer->read. */
void viewer_answer_read(struct viewer *viewer, struct wire_out *reply);

#endif
