/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that sends a spool to a relay, and to the same one again after a connection was lost, until it
 * is told that nothing more comes and all is stored. It never holds up the one who fills the spool.
 *
 * Context of all functions: on one thread, that of the spool's writer.
 */
#ifndef KYMO_RELAY_SENDER_H
#define KYMO_RELAY_SENDER_H

#include "base/err.h"
#include "relay/send/send.h"
#include "relay/wire/tls.h"
#include "relay/wire/token.h"
#include "relay/wire/url.h"

struct sender;

/* What a recorder that was killed left: see sender_note. */
struct sender_left {
	char relay[URL_HOST_MAX + 16];	/* HOST:CONTROL:DATA */
	char host[256], session[256], path[PATH_MAX];
	uint8_t uuid[16];
};

/** sender_left() - what the sender of @spool noted in it. Return: false: nothing. */
bool sender_left(const struct spool *spool, struct sender_left *left);

/** sender_relay() - how a note calls the relay at @url. */
void sender_relay(const struct url *url, char text[URL_HOST_MAX + 16]);

struct sender_options {
	struct url url;
	struct send_options send;	/* its strings outlive the sender */
	struct tls_context *tls;	/* outlives it; NULL: none */
	const struct token *token;	/* the same */
	const struct sender_left *left;	/* the spool was adopted; NULL: it is being filled */
};

struct sender_stats {
	enum send_state state;
	uint64_t sessions;		/* begun at the relay */
	uint64_t waiting;		/* bytes in the spool that are not known to be stored */
	uint64_t lost_packets, lost_events;	/* datagrams: on the way, as the relay says */
	char why[256];			/* it is not connected: the last reason; else "" */
};

/** sender_start() - begin to send @spool. Return: 0; -1 with @err: no thread, no memory. */
int sender_start(struct spool *spool, const struct sender_options *options, struct sender **sender, struct kymo_err *err);

/** sender_wake() - something was added to the spool. */
void sender_wake(struct sender *sender);

/** sender_horizon() - what is in the spool now is all there will ever be of before @ns. */
void sender_horizon(struct sender *sender, uint64_t ns);

void sender_stats(struct sender *sender, struct sender_stats *stats);

/** sender_news() - a sentence about the connection that was not told yet. Return: false: there is none. */
bool sender_news(struct sender *sender, char *text, size_t size);

/**
 * sender_end() - nothing more is added: send the rest and leave the relay
 * @patience_ns: without any progress, from then on; the first call counts
 *
 * Context: does not wait, see sender_has_ended().
 */
void sender_end(struct sender *sender, uint64_t patience_ns);

/** sender_has_ended() - after sender_end(), or of an adopted spool: there is no more to do than sender_finish(). */
bool sender_has_ended(struct sender *sender);

/** What the relay is not known to have when the sender ends. */
struct sender_rest {
	uint64_t packets, events;
	uint64_t lost_packets, lost_events;	/* datagrams: on the way, and not sent again */
	bool is_stored;			/* it has all but what was lost, and was left in order */
};

/**
 * sender_finish() - sender_end() and wait for it; then end the thread and free @sender
 * @patience_ns: as of sender_end()
 * @rest: what is still in the spool
 *
 * Context: waits as long as there is progress, and @patience_ns.
 */
void sender_finish(struct sender *sender, uint64_t patience_ns, struct sender_rest *rest);

#endif
