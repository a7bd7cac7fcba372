/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A viewer's side of LTTng's live protocol, as a function of bytes: what came goes to client_bytes(), what is to be
 * sent comes out of it. There is no socket, clock or file in it: times are given, packets go to a client_sink.
 *
 *   CONNECT ─ LIST, until the session is there ─ CREATE ─ ATTACH ─┬─ a trace:  METADATA until NO_NEW; again when there are some
 *                                                                 ├─ a stream: NEXT_INDEX ─ metadata, if they are new ─ PACKET
 *                                                                 └─ NEW_STREAMS until HUP ─ DETACH
 *
 * Requests do not wait for replies to those before; a connection's replies come in the order of its requests.
 * The relay is not trusted: every size and count has a limit, and what it says of a session can spoil that session only.
 *
 * Context of all functions: not thread-safe; allocate; do not block.
 */
#ifndef KYMO_LIVE_CLIENT_H
#define KYMO_LIVE_CLIENT_H

#include "base/err.h"
#include "relay/wire/wire.h"

struct client;

enum client_phase {
	CLIENT_LISTING,			/* asks for sessions */
	CLIENT_ATTACHING,
	CLIENT_RUNNING,
	CLIENT_DETACHING,
	CLIENT_ENDED,			/* nothing more comes, and nothing is to be sent */
};

/* Where packets of one process or user come from; has metadata of its own. */
struct live_trace {
	struct live_trace *next;
	char *path;			/* as the relay has it: to be checked before it is used; no two have the same */
	bool has_metadata_stream;
	uint64_t metadata_stream;	/* id */
	struct wire_out metadata;	/* all that came */
	size_t again;			/* how much of it came on this connection */
	bool asked;			/* a METADATA is on its way */
	bool stale;			/* there may be more */
	unsigned tries;			/* to get some from a relay that has none */
	bool gone;			/* it will have none: nobody can read the packets */
	int64_t due_ns;			/* ask again then */
	void *of_sink;
};

enum stream_state {
	STREAM_WAITS,			/* until due_ns, then NEXT_INDEX */
	STREAM_ASKED,			/* NEXT_INDEX is on its way */
	STREAM_NEEDS_METADATA,		/* a packet was promised, metadata come first */
	STREAM_FETCHES,			/* PACKET is on its way */
	STREAM_ENDED,
};

struct live_stream {
	struct live_stream *next;
	struct live_trace *trace;
	uint64_t id;			/* the relay's, on this connection */
	bool here;			/* on this connection the relay told of it */
	char *channel;			/* as the relay has it */
	enum stream_state state;
	int64_t due_ns;
	int64_t moved_ns;		/* when something was learned of it */
	bool has_bound;
	uint64_t bound;			/* of its clock: what is to come is not earlier */
	uint64_t class;			/* of the stream, for its clock */
	struct wire_viewer_index index;	/* of the packet that is fetched */
	uint64_t fetched;		/* bytes of it */
	unsigned tries;			/* to get it */
	bool has_place;			/* a packet came: */
	uint64_t place_begin, place_end;	/* times of the last one */
	bool again;			/* packets up to there come again */
	bool skips;			/* what was there before is not wanted */
	uint64_t packets, missed;	/* stored; promised, but not given */
	void *of_sink;
};

/* Where things go. Functions return 0, or -1 with @err, which ends it all. */
struct client_sink {
	/* A session that the relay has; only when no session is asked for. */
	int (*session)(void *context, const struct wire_listed_session *session, struct kymo_err *err);
	/* More metadata of @trace, behind what came before. */
	int (*metadata)(void *context, struct live_trace *trace, const uint8_t *bytes, size_t size, struct kymo_err *err);
	/* Bytes at @offset of the packet that comes. */
	int (*bytes)(void *context, struct live_stream *stream, uint64_t offset, const uint8_t *bytes, size_t size,
		     struct kymo_err *err);
	/* The packet, stream->index, is complete; or, @complete false, is to be forgotten. */
	int (*packet)(void *context, struct live_stream *stream, bool complete, struct kymo_err *err);
	/* Something that people may want to know; no end. */
	void (*say)(void *context, const char *text);
	void *context;
};

struct client_options {
	const char *host, *session;	/* host NULL: any; session NULL: list all */
	bool from_now;			/* leave out what was there before */
};

/** client_new() - @options, @sink: are used until client_free(). Return: NULL: no memory. */
struct client *client_new(const struct client_options *options, const struct client_sink *sink);
void client_free(struct client *client);

/**
 * client_connected() - there is a connection, the first one or one in place of the last
 * @now_ns: of any clock that does not go back, as all times here
 *
 * Of what comes again, nothing is given to the sink again.
 */
void client_connected(struct client *client, int64_t now_ns, struct wire_out *out);

/** client_bytes() - what the relay sent. Return: 0, or -1: close the connection, @err says why. */
int client_bytes(struct client *client, const uint8_t *bytes, size_t size, int64_t now_ns, struct wire_out *out,
		 struct kymo_err *err);

/** client_tick() - ask what is to be asked by now. Return: when to call it again. */
int64_t client_tick(struct client *client, int64_t now_ns, struct wire_out *out);

/** client_detach() - say goodbye, if there is somebody to say it to; then it is CLIENT_ENDED. */
void client_detach(struct client *client, struct wire_out *out);

enum client_phase client_phase(const struct client *client);

/** client_waits() - it was told by the relay that the session is not there, or not yet. */
bool client_waits(const struct client *client);

/** client_is_unsure() - news were announced that have not come yet: times must not be trusted. */
bool client_is_unsure(const struct client *client);

/** client_streams() - the first; all that ever were, those that ended included. */
struct live_stream *client_streams(const struct client *client);

/** client_live_timer_ns() - how often the session's silent streams say so; 0: not known. */
int64_t client_live_timer_ns(const struct client *client);

#endif
