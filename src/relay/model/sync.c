/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can safely be read. Indexes and beacons of a stream arrive in the order of time on the
 * control connection, but their packets become readable in any order. The stream is safe up to the
 * first packet that is not readable:
 *
 *   steps    index 5    index 6    beacon    index 7
 *            readable   arriving             readable
 *            ─── safe ──▶                              the end of packet 5
 *
 * A session is safe up to the earliest time of its streams: that is a synchronisation point. It is
 * written as soon as every stream has moved since the last point, and every tenth of a second if
 * some streams have not moved. It goes into index/sync of each trace, after the packets before it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "relay/model/relay_packets.h"

static void make_point(struct relay_session *session);

/* ---- of a stream ---- */

static struct relay_step *step_at(const struct relay_stream *stream, unsigned number)
{
	return &stream->step[stream->first_step + number];
}

static struct relay_step *add_step(struct relay_stream *stream)
{
	if (!QUEUE_ROOM(stream->step, stream->first_step, stream->step_count, stream->step_room))
		return NULL;
	return step_at(stream, stream->step_count++);
}

static void finish_if_done(struct relay_stream *stream)
{
	struct relay_session *session = stream->session;

	if (stream->finished || !stream->closed || stream->step_count)
		return;
	stream->finished = true;
	relay_changed(session);
	stream->trace->unfinished--;
	session->sync.unmoved -= !stream->is_metadata && !stream->moved;
	session->sync.due = true;
	if (stream->file)
		(void)store_release(stream->file);
}

static void advance(struct relay_stream *stream)
{
	struct relay_sync *sync = &stream->session->sync;
	const uint64_t before = stream->safe;
	const bool had = stream->has_safe;

	while (stream->step_count && step_at(stream, 0)->done) {
		const struct relay_step *step = step_at(stream, 0);

		if (step->time > stream->safe)
			stream->safe = step->time;
		stream->has_safe = true;
		stream->first_step++;
		stream->step_count--;
	}
	finish_if_done(stream);
	if (had == stream->has_safe && before == stream->safe)
		return;
	relay_changed(stream->session);
	sync->due = true;
	if (!stream->moved)
		sync->unmoved -= !stream->finished;
	stream->moved = true;
	if (!sync->unmoved && !sync->writing)
		make_point(stream->session);
}

int relay_step(struct relay_stream *stream, uint64_t seq, uint64_t time)
{
	struct relay_step *step = add_step(stream);

	if (!step)
		return -1;
	*step = (struct relay_step){ .seq = seq, .time = time };
	return 0;
}

void relay_step_done(struct relay_stream *stream, uint64_t seq)
{
	for (unsigned i = 0; i < stream->step_count; i++)
		if (step_at(stream, i)->seq == seq && !step_at(stream, i)->done) {
			step_at(stream, i)->done = true;
			break;
		}
	advance(stream);
}

int relay_beacon(struct relay_stream *stream, uint64_t time)
{
	struct relay_step *last =
		stream->step_count ? step_at(stream, stream->step_count - 1) : NULL;

	if (!last || !last->done)
		last = add_step(stream);
	else if (last->time > time)
		return 0;
	if (!last)
		return -1;
	*last = (struct relay_step){ .seq = RELAY_NO_SEQ, .time = time, .done = true };
	advance(stream);
	return 0;
}

/* ---- of a session ---- */

void relay_horizon(struct relay_session *session, uint64_t time)
{
	session->has_horizon = true;
	if (time <= session->horizon)
		return;
	session->horizon = time;
	session->sync.due = true;
}

/*
 * Up to which time all streams of the session are safe; 0: not known for one of them. A stream that
 * is not known yet may begin at the horizon.
 */
static uint64_t safe_until(struct relay_session *session, uint64_t *streams)
{
	uint64_t time = UINT64_MAX;

	*streams = 0;
	session->sync.unmoved = 0;
	for (struct relay_stream *stream = session->streams; stream; stream = stream->next) {
		stream->moved = false;
		if (stream->is_metadata)
			continue;
		++*streams;
		session->sync.unmoved += !stream->finished;
		if (!stream->finished && stream->safe < time)
			time = stream->safe;
	}
	if (session->has_horizon && !session->ended && session->horizon < time)
		time = session->horizon;
	return *streams ? time : 0;
}

static void point_written(void *context, bool stored)
{
	struct relay_session *session = context;

	(void)stored;
	session->sync.writing--;
	if (session->sync.due && !session->sync.unmoved && !session->sync.writing)
		make_point(session);
}

/* After the last point, a reader need not ask any more. */
static void write_point(struct relay_trace *trace, struct ctf_sync point)
{
	if (!trace->unfinished)
		point.time = UINT64_MAX;
	if (store_sync(trace->sync, &point, point_written, trace->session) == 0)
		trace->session->sync.writing++;
	if (trace->unfinished)
		return;
	(void)store_release(trace->sync);
	store_unref(trace->sync);
	trace->sync = NULL;
}

static void make_point(struct relay_session *session)
{
	struct ctf_sync *point = &session->sync.point;
	const uint64_t time = safe_until(session, &point->streams);
	const bool moved = time > point->time;

	session->sync.due = false;
	if (moved) {
		point->time = time;
		point->number++;
	}
	for (struct relay_trace *trace = session->traces; trace; trace = trace->next)
		if (trace->sync && (moved || !trace->unfinished))
			write_point(trace, *point);
}

void relay_synchronise(struct relay *relay)
{
	for (struct relay_session *session = relay->sessions; session; session = session->next)
		if (session->sync.due && !session->sync.writing)
			make_point(session);
}

/* ---- streams begin and end ---- */

void relay_sync_rotate(struct relay_trace *trace, const struct relay_chunk *chunk)
{
	struct store *store = &trace->session->relay->store;
	char path[STORE_PATH_MAX];
	int length;

	if (!chunk || !trace->session->entry_size)
		return;
	if (trace->sync)
		(void)store_release(trace->sync);
	store_unref(trace->sync);
	length = snprintf(path, sizeof(path), "%s%s%s/%s", chunk->path, *chunk->path ? "/" : "", trace->path, CTF_SYNC_NAME);
	trace->sync = length > 0 && (size_t)length < sizeof(path)
			      ? store_create(store, path, STORE_SYNC, 0)
			      : NULL;
	if (trace->sync && trace->session->sync.point.number)
		write_point(trace, trace->session->sync.point);
}

void relay_sync_add(struct relay_stream *stream)
{
	stream->trace->unfinished++;
	stream->session->sync.unmoved += !stream->is_metadata;
	if (!stream->trace->sync)
		relay_sync_rotate(stream->trace, stream->chunk);
}

void relay_sync_close(struct relay_stream *stream)
{
	stream->closed = true;
	finish_if_done(stream);
}
