/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A viewer's side of LTTng's live protocol, as a function of bytes: the relay's bytes go to
 * client_bytes(), and requests come out of it. It uses no socket, clock or file: times are passed
 * in, packets go to a client_sink.
 *
 *   CONNECT ─ LIST until the session exists ─ CREATE ─ ATTACH
 *     ├─ a trace:  METADATA until NO_NEW; again when there is more
 *     ├─ a stream: NEXT_INDEX ─ METADATA if it is new ─ PACKET
 *     └─ NEW_STREAMS until HUP ─ DETACH
 *
 * From now on (client_options): the names that events refer to are in streams of facts, which are
 * read from their beginning; of the other streams only what comes is. kymo relay does so when asked
 * (WIRE_SEEK_NOW). lttng-relayd refuses:
 *
 *   ATTACH NOW ─ refused ─ DETACH
 *     ─ ATTACH BEGINNING ─ streams of facts to their ends ─ DETACH
 *     ─ ATTACH LAST
 *
 * Requests do not wait for earlier replies; the replies on a connection come in the order of the
 * requests. The relay is not trusted: every size and count has a limit, and what it says about a
 * session can spoil only that session.
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
	CLIENT_ENDED,			/* no more bytes come, and none are to be sent */
};

/* A trace of the session: one process or user, with metadata of its own. */
struct live_trace {
	struct live_trace *next;
	char *path;			/* the relay's, unchecked; unique */
	bool has_metadata_stream;
	uint64_t metadata_stream;	/* id */
	struct wire_out metadata;	/* all that was received */
	size_t again;			/* how much of it was received on this connection */
	bool asked;			/* METADATA was sent, and not answered */
	bool stale;			/* there may be more */
	unsigned tries;			/* how often the relay answered without metadata */
	bool gone;			/* it will have none: its packets can't be read */
	int64_t due_ns;			/* when to ask again */
	void *of_sink;
};

enum stream_state {
	STREAM_WAITS,			/* until due_ns, then NEXT_INDEX */
	STREAM_ASKED,			/* NEXT_INDEX was sent, and not answered */
	STREAM_NEEDS_METADATA,		/* a packet exists; metadata must come first */
	STREAM_FETCHES,			/* PACKET was sent, and not answered */
	STREAM_ENDED,
};

struct live_stream {
	struct live_stream *next;
	struct live_trace *trace;
	uint64_t id;			/* the relay's, on this connection */
	bool here;			/* the relay listed it on this connection */
	char *channel;			/* the relay's, unchecked */
	enum stream_state state;
	int64_t due_ns;
	int64_t moved_ns;		/* when something of it was last received */
	bool has_bound;
	uint64_t bound;			/* its clock: no earlier event will come */
	uint64_t class;			/* of the stream, for its clock */
	struct wire_viewer_index index;	/* of the packet that is being received */
	uint64_t fetched;		/* bytes of it */
	unsigned tries;			/* to receive it */
	bool has_place;			/* a packet was received: */
	uint64_t place_begin, place_end;	/* times of the last packet */
	bool again;			/* packets up to there are received a second time */
	bool skips;			/* leave out older packets */
	bool catches; /* facts that exist already are received, before anything is shown */
	uint64_t packets, missed;	/* received; promised, but not available */
	void *of_sink;
};

/* Receives metadata and packets. The functions return 0; -1 with @err ends everything. */
struct client_sink {
	/* A session of the relay; called only if no session is chosen. */
	int (*session)(void *context, const struct wire_listed_session *session,
		       struct kymo_err *err);
	/* More metadata of @trace. */
	int (*metadata)(void *context, struct live_trace *trace, const uint8_t *bytes, size_t size,
			struct kymo_err *err);
	/* Bytes at @offset of the present packet. */
	int (*bytes)(void *context, struct live_stream *stream, uint64_t offset,
		     const uint8_t *bytes, size_t size, struct kymo_err *err);
	/* The packet stream->index is complete. @complete false: forget it. */
	int (*packet)(void *context, struct live_stream *stream, bool complete,
		      struct kymo_err *err);
	/* A message for the user; not an error. */
	void (*say)(void *context, const char *text);
	void *context;
};

struct client_options {
	const char *host, *session;	/* host NULL: any; session NULL: list all sessions */
	bool from_now;			/* leave out older packets */
};

/** client_new() - uses @options and @sink until client_free(). Return: NULL: out of memory. */
struct client *client_new(const struct client_options *options, const struct client_sink *sink);
void client_free(struct client *client);

/**
 * client_connected() - a connection was opened, the first one or a new one
 * @now_ns: of any monotonic clock, as all times here
 *
 * What was received before is not given to the sink again.
 */
void client_connected(struct client *client, int64_t now_ns, struct wire_out *out);

/** client_bytes() - bytes from the relay. Return: 0; -1 with @err: close the connection. */
int client_bytes(struct client *client, const uint8_t *bytes, size_t size, int64_t now_ns,
		 struct wire_out *out, struct kymo_err *err);

/** client_tick() - send requests that are due. Return: when to call it again. */
int64_t client_tick(struct client *client, int64_t now_ns, struct wire_out *out);

/** client_detach() - send DETACH if it is attached; then it is CLIENT_ENDED. */
void client_detach(struct client *client, struct wire_out *out);

enum client_phase client_phase(const struct client *client);

/** client_waits() - the relay does not have the session yet. */
bool client_waits(const struct client *client);

/** client_is_unsure() - new streams were announced and not listed yet: bounds must not be
 * trusted. */
bool client_is_unsure(const struct client *client);

/** client_catches_up() - facts that exist already are still being received: nothing may be
 * shown. */
bool client_catches_up(const struct client *client);

/** client_streams() - the first of all streams, including ended ones. */
struct live_stream *client_streams(const struct client *client);

/** client_live_timer_ns() - how often silent streams send a beacon; 0: not known. */
int64_t client_live_timer_ns(const struct client *client);

#endif
