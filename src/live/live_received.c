/* SPDX-License-Identifier: Apache-2.0 */
/* What a viewer received: the client's sink puts it into a directory, and update() and tick() ask
 * for it. */
#include <stdio.h>

#include "base/now.h"
#include "live/bound.h"
#include "live/live_internal.h"

void live_say(void *context, const char *text)
{
	const struct live *live = context;

	live->options->say(live->options->context, text);
}

/* ---- for update() and tick() ---- */

const char *live_path(const struct live *live)
{
	return copydir_path(live->copydir);
}

bool live_has_news(const struct live *live)
{
	return live->news;
}

int64_t live_until(struct live *live, const struct kymo_ctf_reader *reader)
{
	unsigned silent;
	int64_t until;
	char text[160];

	if (live->final)
		return INT64_MAX;
	until = bound_until(live->client, reader, now_ns(), &silent);
	if (silent > live->silent) {
		(void)snprintf(text, sizeof(text), "%u streams are silent; the others are shown without waiting for "
			       "them, so their events may appear late", silent);
		live_say(live, text);
	}
	live->silent = silent;
	return until;
}

void live_forget(const struct live *live, const struct kymo_ctf_reader *reader, int64_t until)
{
	bound_forget(live->client, live->copydir, reader, until);
}

void live_count(const struct live *live, struct live_counts *counts)
{
	*counts = (struct live_counts){ .bytes = live->bytes };
	for (const struct live_stream *stream = client_streams(live->client); stream;
	     stream = stream->next) {
		counts->streams++;
		counts->packets += stream->packets;
		counts->missed += stream->missed;
	}
}

/* ---- the client's sink ---- */

static int on_session(void *context, const struct wire_listed_session *session,
		      struct kymo_err *err)
{
	const struct live *live = context;

	return live->options->session(live->options->context, session, err);
}

static int on_metadata(void *context, struct live_trace *trace, const uint8_t *bytes, size_t size,
		       struct kymo_err *err)
{
	struct live *live = context;

	return copydir_metadata(live->copydir, trace, bytes, size, err);
}

static int on_bytes(void *context, struct live_stream *stream, uint64_t offset,
		    const uint8_t *bytes, size_t size, struct kymo_err *err)
{
	struct live *live = context;

	live->bytes += size;
	return copydir_bytes(live->copydir, stream, offset, bytes, size, err);
}

static int on_packet(void *context, struct live_stream *stream, bool complete, struct kymo_err *err)
{
	struct live *live = context;

	return copydir_packet(live->copydir, stream, complete, err);
}

void live_sink(struct live *live)
{
	live->sink = (struct client_sink){ on_session, on_metadata, on_bytes,
					   on_packet,  live_say,    live };
}
