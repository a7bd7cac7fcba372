/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that sends a spool to a relay. After a lost connection it connects again. It goes on
 * until the spool is complete and all is stored. The thread that fills the spool never waits for
 * it.
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

/* What another recorder's spool says about its session: see sender_note(). */
struct sender_left {
	char relay[URL_HOST_MAX + 16];	/* HOST:CONTROL:DATA */
	char host[256], session[256], path[PATH_MAX];
	uint8_t uuid[16];
};

/** sender_left() - read the note in @spool. Return: false: there is none. */
bool sender_left(const struct spool *spool, struct sender_left *left);

/** sender_relay() - the relay at @url in the form of a note. */
void sender_relay(const struct url *url, char text[URL_HOST_MAX + 16]);

struct sender_options {
	struct url url;
	struct send_options send;  /* its strings outlive the sender */
	struct tls_context *tls;   /* outlives it; NULL: none */
	const struct token *token; /* the same */
	const struct sender_left
		*left; /* for a spool that was adopted; NULL: the spool is being filled */
};

struct sender_stats {
	enum send_state state;
	uint64_t sessions;                  /* begun at the relay */
	uint64_t waiting;                   /* bytes in the spool that are not known to be stored */
	uint64_t lost_packets, lost_events; /* datagrams: lost on the way, as the relay reports */
	struct spool_unstored unstored;     /* what the relay received and could not store */
	char why[256];                      /* why it is not connected; "": it is connected */
};

/** sender_start() - begin to send @spool. Return: 0; -1 with @err: no thread, or out of memory. */
int sender_start(struct spool *spool, const struct sender_options *options, struct sender **sender,
		 struct kymo_err *err);

/** sender_wake() - something was added to the spool. */
void sender_wake(struct sender *sender);

/** sender_horizon() - no event before @ns will be added to the spool. */
void sender_horizon(struct sender *sender, uint64_t ns);

void sender_stats(struct sender *sender, struct sender_stats *stats);

/** sender_news() - a new message for the user about the connection. Return: false: none. */
bool sender_news(struct sender *sender, char *text, size_t size);

/**
 * sender_end() - the spool is complete: send the rest and leave the relay
 * @patience_ns: give up after so long without progress; only the first call counts
 *
 * Context: does not wait, see sender_has_ended().
 */
void sender_end(struct sender *sender, uint64_t patience_ns);

/** sender_has_ended() - after sender_end(), or with an adopted spool: sender_finish() will not
 * wait. */
bool sender_has_ended(struct sender *sender);

/* What the relay is not known to have stored when the sender ends. */
struct sender_rest {
	uint64_t packets, events;
	uint64_t lost_packets, lost_events; /* datagrams: lost on the way, and not sent again */
	struct spool_unstored unstored;     /* what the relay received and could not store */
	bool is_stored; /* the relay stored all that was not lost, and the session was closed in
			   order */
};

/**
 * sender_finish() - sender_end(), wait for it, then end the thread and free @sender
 * @patience_ns: as for sender_end()
 * @rest: what is left in the spool
 *
 * Context: waits as long as there is progress, and @patience_ns longer.
 */
void sender_finish(struct sender *sender, uint64_t patience_ns, struct sender_rest *rest);

#endif
