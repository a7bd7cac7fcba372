/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions and streams that a viewer is shown. */
#include <stdlib.h>
#include <string.h>

#include "relay/viewer/viewer_internal.h"

#define LISTED_MAX 256u			/* streams in one reply: 1.1 MiB */

/* ---- sessions ---- */

/* Viewers before 2.15 cannot be told that a session is CTF 2, and do not read it. */
static bool is_readable(const struct viewer *viewer, const struct relay_session *session)
{
	return session->format == WIRE_CTF_1_8 || viewer->minor >= WIRE_MINOR_FORMAT;
}

/* A live session hides ended ones of its name, and a later session hides earlier ones. */
static bool is_listed(const struct viewer *viewer, const struct relay_session *session)
{
	const struct relay *relay = viewer->relay;

	if (!is_readable(viewer, session))
		return false;
	if (!session->ended)
		return true;
	for (const struct relay_session *other = relay->sessions; other; other = other->next) {
		const bool same = strcmp(other->name, session->name) == 0 &&
				  strcmp(other->host, session->host) == 0;

		if (same && (!other->ended || other->id > session->id))
			return false;
	}
	return true;
}

static void put_session(struct wire_out *reply, const struct relay_session *session)
{
	struct wire_listed_session listed = {
		session->id, session->live_timer, session->viewers, session->stream_count, "", "",
	};

	memcpy(listed.host, session->host, strnlen(session->host, sizeof(listed.host) - 1));
	memcpy(listed.name, session->name, strnlen(session->name, sizeof(listed.name) - 1));
	wire_put_listed_session(reply, &listed);
}

static void put_session_2_15(struct wire_out *reply, const struct relay_session *session)
{
	const struct wire_listed_session_2_15 listed = {
		session->id, session->live_timer, session->viewers, session->stream_count,
		(uint32_t)strlen(session->host), (uint32_t)strlen(session->name), session->format,
	};

	wire_put_listed_session_2_15(reply, &listed);
	wire_add_bytes(reply, session->host, listed.host_size);
	wire_add_bytes(reply, session->name, listed.name_size);
}

int viewer_on_list(struct viewer_call *call)
{
	const struct viewer *viewer = call->viewer;
	const struct relay *relay = viewer->relay;
	uint32_t count = 0;

	for (const struct relay_session *session = relay->sessions; session;
	     session = session->next)
		count += is_listed(viewer, session);
	wire_add(call->reply, count, 4);
	for (const struct relay_session *session = relay->sessions; session;
	     session = session->next) {
		if (!is_listed(viewer, session))
			continue;
		if (viewer->minor >= WIRE_MINOR_FORMAT)
			put_session_2_15(call->reply, session);
		else
			put_session(call->reply, session);
	}
	return 0;
}

/* ---- streams ---- */

/* babeltrace2 stops asking, for all traces, when it gets a trace that has only metadata. */
static bool has_data(const struct viewer *viewer, const struct relay_trace *trace)
{
	for (const struct relay_stream *stream = viewer->session->streams; stream;
	     stream = stream->next)
		if (stream->trace == trace && !stream->is_metadata && stream->announced)
			return true;
	return false;
}

static bool is_news(const struct viewer *viewer, const struct relay_stream *stream)
{
	return stream->announced && stream->trace->metadata && stream->trace->metadata->announced &&
	       !map_get(&viewer->views, stream->id, 0) &&
	       (!stream->is_metadata || has_data(viewer, stream->trace));
}

static unsigned count_news(const struct viewer *viewer)
{
	unsigned count = 0;

	for (const struct relay_stream *stream = viewer->session->streams; stream;
	     stream = stream->next)
		count += is_news(viewer, stream);
	return count;
}

bool viewer_has_news(struct viewer *viewer)
{
	if (viewer->version == viewer->session->version)
		return false;
	if (count_news(viewer))
		return true;
	viewer->version = viewer->session->version;
	return false;
}

static bool is_expected(const struct viewer *viewer, const struct relay_stream *stream)
{
	const struct relay *relay = viewer->relay;

	return !stream->closed && !(stream->is_metadata && stream->announced) &&
	       !map_get(&viewer->views, stream->id, 0) && !is_news(viewer, stream) &&
	       relay->now_ns() - stream->born_ns < relay->half_expires_ns;
}

bool viewer_expects_news(const struct viewer *viewer)
{
	const struct relay_session *session = viewer->session;
	const struct relay *relay = viewer->relay;

	if (viewer->views.count >= session->stream_count ||
	    relay->now_ns() - session->newest_ns >= relay->half_expires_ns)
		return false;
	for (const struct relay_stream *stream = session->streams; stream; stream = stream->next)
		if (is_expected(viewer, stream))
			return true;
	return false;
}

uint64_t viewer_news_begin(const struct viewer *viewer)
{
	uint64_t begin = UINT64_MAX;

	for (const struct relay_stream *stream = viewer->session->streams; stream;
	     stream = stream->next) {
		if (stream->is_metadata || (stream->finished && !stream->published) ||
		    !is_news(viewer, stream))
			continue;
		if (!stream->published)
			return 0;
		if (stream->begin < begin)
			begin = stream->begin;
	}
	return begin;
}

static void put_stream(struct wire_out *reply, const struct relay_stream *stream)
{
	struct wire_listed_stream listed = {
		.stream = stream->id,
		.trace = stream->trace->id,
		.is_metadata = stream->is_metadata,
	};

	memcpy(listed.path, stream->trace->path,
	       strnlen(stream->trace->path, sizeof(listed.path) - 1));
	memcpy(listed.channel, stream->channel,
	       strnlen(stream->channel, sizeof(listed.channel) - 1));
	wire_put_listed_stream(reply, &listed);
}

/* The packet that the viewer receives first. */
static uint64_t first_packet(const struct relay_stream *stream, uint32_t seek)
{
	if (seek != WIRE_SEEK_NOW || stream->is_metadata || wire_is_facts(stream->channel))
		return 0;
	return stream->published ? stream->published - 1 : 0;
}

/* Adds the new streams to the reply. A stream without memory for its view is added another time. */
static void put_news(struct viewer *viewer, struct wire_out *reply, uint32_t status, uint32_t seek)
{
	const uint64_t reach = viewer->knows_news ? viewer->reach : viewer_reach(viewer);
	const size_t head = reply->used;
	uint32_t count = 0;

	wire_put_status_count(reply, &(struct wire_status_count){ status, 0 });
	for (struct relay_stream *stream = viewer->session->streams; stream && count < LISTED_MAX;
	     stream = stream->next) {
		struct viewer_stream *view =
			is_news(viewer, stream) ? calloc(1, sizeof(*view)) : NULL;

		if (!view)
			continue;
		view->stream = stream;
		view->next = first_packet(stream, seek);
		view->told = reach;
		if (map_put(&viewer->views, stream->id, 0, view) < 0) {
			free(view);
			continue;
		}
		put_stream(reply, stream);
		count++;
	}
	viewer->knows_news = false;
	if (reply->failed)
		return;
	reply->bytes[head + 6] = (uint8_t)(count >> 8);	/* LISTED_MAX needs two bytes */
	reply->bytes[head + 7] = (uint8_t)count;
}

static uint32_t may_attach(const struct viewer *viewer, const struct relay_session *session,
			   uint32_t seek)
{
	if (!viewer->created)
		return WIRE_ATTACH_NO_SESSION;
	if (!session)
		return WIRE_ATTACH_UNKNOWN;
	if (viewer->session)
		return WIRE_ATTACH_ALREADY;
	if (!session->live_timer && !session->ended)
		return WIRE_ATTACH_NOT_LIVE;
	return seek >= WIRE_SEEK_BEGINNING && seek <= WIRE_SEEK_NOW ? WIRE_ATTACHED
								    : WIRE_ATTACH_SEEK;
}

int viewer_on_attach(struct viewer_call *call)
{
	struct viewer *viewer = call->viewer;
	struct relay_session *session;
	struct wire_attach request;
	uint32_t status;

	(void)wire_get_attach(call->in, &request);
	session = relay_find_session(viewer->relay, request.session);
	status = may_attach(viewer, session && is_readable(viewer, session) ? session : NULL,
			    request.seek);
	if (status != WIRE_ATTACHED) {
		wire_put_status_count(call->reply, &(struct wire_status_count){ status, 0 });
		return 0;
	}
	viewer->session = session;
	viewer->version = UINT64_MAX;
	session->viewers++;
	session->users++;
	put_news(viewer, call->reply, WIRE_ATTACHED, request.seek);
	return 0;
}

static bool has_unread(const struct viewer *viewer)
{
	const struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&viewer->views, &at))) {
		const struct viewer_stream *view = slot->value;

		if (!view->stream->is_metadata && (!view->stream->closed || view->stream->writing ||
						   view->next < view->stream->published))
			return true;
	}
	return false;
}

int viewer_on_new_streams(struct viewer_call *call)
{
	struct viewer *viewer = call->viewer;
	const uint64_t id = wire_take(call->in, 8);

	if (!viewer->session || viewer->session->id != id)
		wire_put_status_count(call->reply,
				      &(struct wire_status_count){ WIRE_STREAMS_ERR, 0 });
	else if (viewer_has_news(viewer))
		put_news(viewer, call->reply, WIRE_STREAMS_OK, WIRE_SEEK_BEGINNING);
	else
		wire_put_status_count(
			call->reply,
			&(struct wire_status_count){ viewer->session->ended && !has_unread(viewer)
							     ? WIRE_STREAMS_HUP
							     : WIRE_STREAMS_NO_NEW,
						     0 });
	return 0;
}

void viewer_detach(struct viewer *viewer)
{
	const struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&viewer->views, &at))) {
		store_unref(((struct viewer_stream *)slot->value)->file);
		free(slot->value);
	}
	map_free(&viewer->views);
	if (viewer->session) {
		viewer->session->viewers--;
		viewer->session->users--;
	}
	viewer->session = NULL;
}

int viewer_on_detach(struct viewer_call *call)
{
	const uint64_t id = wire_take(call->in, 8);
	const bool attached = call->viewer->session && call->viewer->session->id == id;

	if (attached)
		viewer_detach(call->viewer);
	wire_add(call->reply, attached ? WIRE_DETACHED : WIRE_DETACH_UNKNOWN, 4);
	return 0;
}
