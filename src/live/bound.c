/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bound of a session: the earliest bound of its streams. See bound.h. A stream's bound moves
 * with its packets and with beacons; a stream whose bound has not moved for some live timer periods
 * is left out.
 */
#include "live/bound.h"

#include <string.h>

#define PATIENCE_NS ((int64_t)2000000000)	/* at the least */
#define PATIENCE_PERIODS 5			/* of the live timer */

/* Index of @trace in @reader, or -1. */
static int trace_index(const struct kymo_ctf_reader *reader, const struct live_trace *trace)
{
	const char *path = copydir_trace_path(trace);

	for (unsigned i = 0; path && i < kymo_ctf_trace_count(reader); i++)
		if (!strcmp(kymo_ctf_trace(reader, i)->path, path))
			return (int)i;
	return -1;
}

/* Neighbouring streams usually have the same trace. */
struct trace_cache {
	const struct live_trace *trace;
	int index;
};

/* Return: false: not known. */
static bool bound_of(const struct live_stream *stream, const struct kymo_ctf_reader *reader,
		     struct trace_cache *cache, int64_t *ns)
{
	if (!stream->has_bound)
		return false;
	if (cache->trace != stream->trace) {
		cache->trace = stream->trace;
		cache->index = trace_index(reader, stream->trace);
	}
	*ns = INT64_MIN;
	if (cache->index >= 0)
		*ns = kymo_ctf_epoch(reader, (unsigned)cache->index, stream->class, stream->bound);
	return *ns > INT64_MIN;
}

int64_t bound_until(const struct client *client, const struct kymo_ctf_reader *reader,
		    int64_t now_ns, unsigned *silent)
{
	int64_t patience = PATIENCE_PERIODS * client_live_timer_ns(client), until = INT64_MAX,
		most = INT64_MIN, ns;
	struct trace_cache cache = { 0 };

	if (patience < PATIENCE_NS)
		patience = PATIENCE_NS;
	*silent = 0;
	if (client_is_unsure(client) || client_catches_up(client))
		return INT64_MIN;
	for (const struct live_stream *stream = client_streams(client); stream;
	     stream = stream->next) {
		const bool known = bound_of(stream, reader, &cache, &ns);

		if (known && ns > most)
			most = ns;
		if (stream->state == STREAM_ENDED || !stream->here || stream->trace->gone)
			continue;
		if (now_ns - stream->moved_ns > patience)
			++*silent;
		else if (!known)
			return INT64_MIN;
		else if (ns < until)
			until = ns;
	}
	return until == INT64_MAX ? most : until;
}

void bound_forget(const struct client *client, const struct copydir *copydir,
		  const struct kymo_ctf_reader *reader, int64_t until)
{
	uint64_t end;

	for (struct live_stream *stream = client_streams(client); stream; stream = stream->next)
		while (copydir_mark(copydir, stream, &end)) {
			const int trace = trace_index(reader, stream->trace);

			if (trace < 0 ||
			    kymo_ctf_epoch(reader, (unsigned)trace, stream->class, end) >= until)
				break;
			copydir_forget(stream);
		}
}
