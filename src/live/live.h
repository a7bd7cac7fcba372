/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches a session of a relay: connects, writes what it receives into a trace directory, and calls
 * update() whenever there is more. One thread and one loop, for any number of streams; a disk's
 * thread writes.
 *
 *   relay ── link ── client ── copydir ── files ── update(): a reader that follows them
 */
#ifndef KYMO_LIVE_LIVE_H
#define KYMO_LIVE_LIVE_H

#include <signal.h>

#include "ctf/read/reader.h"
#include "live/client.h"
#include "relay/link/link.h"
#include "relay/wire/url.h"

struct live;

struct live_options {
	const struct url *url;		/* a viewer's */
	struct tls_context *tls;	/* NULL: none */
	const struct token *token;	/* NULL: none */
	const char *output;		/* directory; NULL: a temporary one */
	bool from_now;			/* leave out older packets */
	bool reconnect;			/* when the connection is lost */

	/* A session of the relay; called only without url->session. */
	int (*session)(void *context, const struct wire_listed_session *session,
		       struct kymo_err *err);
	/*
	 * There may be new events. @final: the last call; no events are held back any more.
	 * Return: 0; 1: stop watching; -1 with @err.
	 */
	int (*update)(void *context, struct live *live, bool final, struct kymo_err *err);
	/* The same, called every @period_ns. May be NULL. */
	int (*tick)(void *context, struct live *live, struct kymo_err *err);
	int64_t period_ns;
	/* A message for the user. */
	void (*say)(void *context, const char *text);
	void *context;
};

/**
 * live_run() - watch until the session ends, a callback returns 1, or SIGINT or SIGTERM arrives
 *
 * Return: 0; -1 with @err: the relay is gone or sends invalid replies, or writing fails. What was
 * received until then was shown.
 * Context: blocks.
 */
int live_run(const struct live_options *options, struct kymo_err *err);

/**
 * live_was_cut() - whether live_run() ended in the middle of its output, which nobody read for a
 * second after the user had ended it
 */
bool live_was_cut(void);

/* For update() and tick(), on the thread of live_run(). None allocates. */

/** live_stopped() - set: stop showing, soon. With it update() ends a long turn early. */
const volatile sig_atomic_t *live_stopped(void);

/** live_path() - the trace directory. */
const char *live_path(const struct live *live);

/** live_has_news() - whether the files have more than at the last update(). */
bool live_has_news(const struct live *live);

/** live_until() - for kymo_ctf_until(): up to when @reader of live_path() may give events. */
int64_t live_until(struct live *live, const struct kymo_ctf_reader *reader);

/** live_forget() - @reader gave all events up to @until and will not be rewound: a temporary
 * directory shrinks. */
void live_forget(const struct live *live, const struct kymo_ctf_reader *reader, int64_t until);

/* What was received so far. */
struct live_counts {
	uint64_t streams, packets, bytes, missed; /* missed: packets that the relay did not send */
};
void live_count(const struct live *live, struct live_counts *counts);

#endif
