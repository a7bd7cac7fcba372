/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a viewer may get. Babeltrace2 shows what is earliest in all streams that it knows, and
 * ends when a stream that it did not know begins before the time that it has shown. It learns of
 * new streams only together with a packet. So nothing that it gets may be later than the beginning
 * of a stream that it does not know:
 *
 *   stream A  ──[packet]──[packet]─╎[packet]     the last packet waits for the next horizon
 *   stream B  ───────silent───────▶╎
 *   new                            ╎ ┌─── begins here, or later
 *                               horizon
 *
 * A recorder of kymo says up to which time nothing more comes, in no stream (the horizon). Of other
 * producers that is not known: a stream begins before the relay learns of it, so from that moment
 * on, time stands still.
 */
#include "relay/viewer/viewer_internal.h"

static bool is_read(const struct viewer_stream *view)
{
	const struct relay_stream *stream = view->stream;

	return stream->closed && !stream->writing && !stream->halves.count &&
	       view->next >= stream->published;
}

uint64_t viewer_reach(const struct viewer *viewer)
{
	const struct map_slot *slot;
	uint64_t least = UINT64_MAX;
	size_t at = 0;

	while ((slot = map_next(&viewer->views, &at))) {
		const struct viewer_stream *view = slot->value;

		if (!view->stream->is_metadata && !is_read(view) && view->told < least)
			least = view->told;
	}
	return least == UINT64_MAX ? 0 : least;
}

/* The end of the next packet, or of a later one. */
static uint64_t end_of_next(const struct viewer_stream *view)
{
	const struct relay_stream *stream = view->stream;
	const bool is_recent = stream->published - view->next <= RELAY_RECENT;

	return stream
		->recent[(is_recent ? view->next : stream->published - RELAY_RECENT) % RELAY_RECENT]
		.timestamp_end;
}

bool viewer_may_show(const struct viewer *viewer, const struct viewer_stream *view)
{
	const struct relay_session *session = viewer->session;

	if (viewer_expects_news(viewer))
		return false;
	return !session->has_horizon || session->ended || end_of_next(view) <= session->horizon;
}

uint64_t viewer_silent_until(struct viewer *viewer, const struct viewer_stream *view)
{
	const struct relay_stream *stream = view->stream;
	uint64_t until = stream->safe, begin;

	/* It is not silent while it has a packet that cannot be shown yet; that does not last
	 * long. */
	if (!stream->has_safe || stream->safe < stream->until || view->next < stream->published)
		return 0;
	if (viewer_expects_news(viewer))
		return view->told;
	begin = viewer_has_news(viewer) ? viewer_news_begin(viewer) : UINT64_MAX;
	if (until > begin)
		until = begin;
	return until < view->told ? view->told : until;
}
