/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink of a recording session that goes to a relay:
 *
 *   session's thread                              sender's thread
 *   rings ─▶ CTF packets ─▶ spool (files) ─────▶ messages ─▶ sockets
 *
 * A relay that is slow, stopped or gone fills only the spool. When the spool is full the sink
 * refuses packets, like a sink whose disk is full: rings fill up, and programs drop events and
 * count them.
 */
#ifndef KYMO_RELAY_SEND_SINK_H
#define KYMO_RELAY_SEND_SINK_H

#include "recorder/drain/sink.h"
#include "relay/send/sender.h"

#define SEND_LIVE_TIMER_NS	4000000ull
#define SEND_SPOOL_SIZE		((uint64_t)256 << 20)
#define SEND_PATIENCE_NS	10000000000ull	/* for what is left, at the end */

struct send_sink_options {
	const char *url;		/* as the user wrote it */
	struct url at;			/* the same, parsed */
	const char *session;		/* its name at the relay; NULL or "": the path in the URL, else a name with the date */
	uint64_t live_timer_ns;		/* 0: SEND_LIVE_TIMER_NS */
	uint64_t spool_size;		/* 0: SEND_SPOOL_SIZE */
	uint64_t patience_ns;		/* 0: SEND_PATIENCE_NS */
	struct tls_context *tls;	/* outlives the sink, as token; may be NULL */
	const struct token *token;
	const char *version;		/* of kymo */
	struct sender_rest *rest;	/* filled when the sink is closed; may be NULL */
	void (*say)(void *context, const char *text);
	void *context;
	void (*release)(
		void *owned); /* called last, when the sink is closed, with @owned; may be NULL */
	void *owned;
};

/**
 * send_sink_create() - begin to send
 *
 * The relay need not be reachable yet. The sink then belongs to a session, as sink.h says.
 * Context: allocates, blocks as the spool's disk does; not for the network.
 * Return: 0 and *@sink; -1 with @err, and release() was not called.
 */
int send_sink_create(const struct send_sink_options *options, struct sink **sink,
		     struct kymo_err *err);

#endif
