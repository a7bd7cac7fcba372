/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by live.c (the loop) and live_received.c (what it received). */
#ifndef KYMO_LIVE_INTERNAL_H
#define KYMO_LIVE_INTERNAL_H

#include <uv.h>

#include "live/client.h"
#include "live/copydir.h"
#include "live/live.h"
#include "relay/link/link.h"

struct live {
	const struct live_options *options;
	struct client_options client_options;
	struct client_sink sink;
	uv_loop_t loop;
	uv_timer_t timer, tick, goodbye;
	uv_async_t told;		/* a signal arrived */
	struct link *link;		/* NULL: not connected */
	struct client *client;
	struct copydir *copydir;		/* NULL: sessions are listed */
	bool news, final, over;
	bool away;			/* the user knows that the relay is gone */
	unsigned silent;		/* streams, in the last message about them */
	uint64_t bytes;
	int rc;
	struct kymo_err err;
};

/* Sets live->sink. */
void live_sink(struct live *live);

/* @context: a struct live. */
void live_say(void *context, const char *text);

#endif
