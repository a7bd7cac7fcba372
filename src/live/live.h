/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches a session of a relay: connects, keeps what comes in a trace directory, and has somebody look at it whenever
 * there is more. One thread and one loop, however many streams; a disk's thread writes.
 *
 *   relay ── link ── client ── copydir ── files ── look(): a reader that follows it
 */
#ifndef KYMO_LIVE_LIVE_H
#define KYMO_LIVE_LIVE_H

#include "ctf/read/reader.h"
#include "live/client.h"
#include "relay/link/link.h"
#include "relay/wire/url.h"

struct live;

struct live_options {
	const struct url *url;		/* of a viewer */
	struct tls_context *tls;	/* NULL: none */
	const struct token *token;	/* NULL: none */
	const char *output;		/* directory; NULL: one that is removed at the end */
	bool from_now;			/* leave out what was there before */
	bool reconnect;			/* when the relay goes away */

	/* A session of the relay; only without url->session. */
	int (*session)(void *context, const struct wire_listed_session *session, struct kymo_err *err);
	/*
	 * There may be something new. @final: for the last time, and nothing is held back any more.
	 * Return: 0; 1: enough; -1 with @err filled.
	 */
	int (*look)(void *context, struct live *live, bool final, struct kymo_err *err);
	/* The same, but called every @period_ns. May be NULL. */
	int (*tick)(void *context, struct live *live, struct kymo_err *err);
	int64_t period_ns;
	/* Something for people. */
	void (*say)(void *context, const char *text);
	void *context;
};

/**
 * live_run() - until the session has ended, somebody had enough, or a signal came (SIGINT, SIGTERM)
 *
 * Return: 0, or -1 with @err filled: the relay has gone, speaks nonsense, or nothing can be written. What came until
 * then was shown.
 * Context: blocks.
 */
int live_run(const struct live_options *options, struct kymo_err *err);

/* What look() and tick() may ask. */

/** live_path() - the trace directory. */
const char *live_path(const struct live *live);

/** live_has_news() - whether there is more in the files than at the look before. */
bool live_has_news(const struct live *live);

/** live_until() - for kymo_ctf_until(): up to when @reader, of that directory, may give events. */
int64_t live_until(struct live *live, const struct kymo_ctf_reader *reader);

/** live_forget() - @reader gave all events up to @until and will not be rewound: of a directory of ours, that can go. */
void live_forget(const struct live *live, const struct kymo_ctf_reader *reader, int64_t until);

/* What came so far. */
struct live_counts {
	uint64_t streams, packets, bytes, missed;	/* missed: packets that the relay did not give */
};
void live_count(const struct live *live, struct live_counts *counts);

#endif
