/* SPDX-License-Identifier: Apache-2.0 */
/* Replies about sessions and streams. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/client_internal.h"

static enum reply_result malformed(struct client_reply *reply, const char *what)
{
	return REPLY_FAILS(reply, KYMO_EXIT_INPUT, "%s is invalid", what);
}

static enum reply_result no_memory(struct client_reply *reply)
{
	(void)err_no_memory(reply->err);
	return REPLY_FAILED;
}

/* Bytes of a name in a list of 2.15; LTTng has names of 255. */
#define NAME_MAX_2_15 4096u

/* ---- sessions ---- */

static void ask_list(struct client_reply *reply)
{
	client_ask(reply->client, reply->out, WIRE_VIEWER_LIST, 0, NULL, 0);
}

enum reply_result client_on_connect(struct client_reply *reply)
{
	struct wire_connect connect;

	if (!wire_get_connect(reply->in, &connect))
		return REPLY_INCOMPLETE;
	if (connect.major != WIRE_MAJOR)
		return REPLY_FAILS(reply, KYMO_EXIT_INPUT,
				   "it speaks version %" PRIu32 ".%" PRIu32
				   " of the viewer protocol, not %u",
				   connect.major, connect.minor, WIRE_MAJOR);
	reply->client->minor = connect.minor < WIRE_MINOR ? connect.minor : WIRE_MINOR;
	reply->client->relay_tells = connect.viewer_session >> 32 == WIRE_TELLS >> 32;
	ask_list(reply);
	return REPLY_DONE;
}

/* Chooses the latest of several sessions with one name. */
static int take_session(struct client_reply *reply, const struct wire_listed_session *session)
{
	struct client *client = reply->client;
	const struct client_options *wanted = client->options;

	if (wanted->host && strcmp(wanted->host, session->host))
		return 0;
	if (!wanted->session)
		return client->sink->session(client->sink->context, session, reply->err);
	if (strcmp(wanted->session, session->name) ||
	    (client->found && session->session < client->session))
		return 0;
	client->found = true;
	client->session = session->session;
	client->live_timer_ns = (int64_t)session->live_timer * 1000;
	return 0;
}

static void begin_list(struct client *client, uint32_t count, uint32_t status)
{
	client->in_list = true;
	client->list_left = count;
	client->list_status = status;
}

static enum reply_result after_list(struct client_reply *reply)
{
	struct client *client = reply->client;

	client->in_list = false;
	if (!client->options->session) {
		client->phase = CLIENT_ENDED;
	} else if (client->found) {
		client->phase = CLIENT_ATTACHING;
		client_ask(client, reply->out, WIRE_VIEWER_CREATE, 0, NULL, 0);
	} else {
		if (!client->told)
			client_say(client, "the relay has no session %s%s%s; waiting for it", client->options->session,
				   client->options->host ? " of " : "", client->options->host ? client->options->host : "");
		client->told = client->waits = true;
		client->due_ns = client->now_ns + CLIENT_LOOK_NS;
	}
	return REPLY_DONE;
}

/*
 * The next entry of the list, in the layout of the version that both sides speak. Names that are
 * longer than those of the old layout are cut.
 */
static enum reply_result next_session(struct client_reply *reply,
				      struct wire_listed_session *session)
{
	struct wire_listed_session_2_15 head;
	const uint8_t *begin = reply->in->at;

	if (reply->client->minor < WIRE_MINOR_FORMAT) {
		if (wire_left(reply->in) < WIRE_SIZE_listed_session)
			return REPLY_INCOMPLETE;
		return wire_get_listed_session(reply->in, session) ? REPLY_DONE : malformed(reply, "the name of a session");
	}
	if (wire_left(reply->in) < WIRE_SIZE_listed_session_2_15 ||
	    !wire_get_listed_session_2_15(reply->in, &head))
		return REPLY_INCOMPLETE;
	if (head.host_size > NAME_MAX_2_15 || head.name_size > NAME_MAX_2_15)
		return malformed(reply, "the name of a session");
	if (wire_left(reply->in) < (size_t)head.host_size + head.name_size) {
		reply->in->at = begin;
		return REPLY_INCOMPLETE;
	}
	*session = (struct wire_listed_session){ head.session, head.live_timer, head.viewers, head.streams, "", "" };
	(void)snprintf(session->host, sizeof session->host, "%.*s", (int)head.host_size, (const char *)reply->in->at);
	reply->in->at += head.host_size;
	(void)snprintf(session->name, sizeof session->name, "%.*s", (int)head.name_size, (const char *)reply->in->at);
	reply->in->at += head.name_size;
	return REPLY_DONE;
}

enum reply_result client_on_list(struct client_reply *reply)
{
	struct client *client = reply->client;
	struct wire_listed_session session;

	if (!client->in_list) {
		if (wire_left(reply->in) < 4)
			return REPLY_INCOMPLETE;
		begin_list(client, (uint32_t)wire_take(reply->in, 4), 0);
		client->found = false;
		if (client->list_left > CLIENT_SESSIONS_MAX)
			return malformed(reply, "the number of its sessions");
	}
	for (; client->list_left; client->list_left--) {
		enum reply_result read = next_session(reply, &session);

		if (read != REPLY_DONE)
			return read;
		if (take_session(reply, &session) < 0)
			return REPLY_FAILED;
	}
	return after_list(reply);
}

static void ask_attach(struct client *client, uint32_t seek, struct wire_out *out)
{
	client->phase = CLIENT_ATTACHING;
	client->seek = seek;
	client_ask(client, out, WIRE_VIEWER_ATTACH, WIRE_SIZE_attach, NULL, 0);
	wire_put_attach(out, &(struct wire_attach){ client->session, 0, seek });
}

void client_attach_again(struct client *client, uint32_t seek, struct wire_out *out)
{
	client->phase = CLIENT_ATTACHING;
	client->next_seek = seek;
	client->gathers = false;
	client_ask(client, out, WIRE_VIEWER_DETACH, 8, NULL, 0);
	wire_add(out, client->session, 8);
}

enum reply_result client_on_create(struct client_reply *reply)
{
	struct client *client = reply->client;

	if (wire_left(reply->in) < 4)
		return REPLY_INCOMPLETE;
	if (wire_take(reply->in, 4) != WIRE_CREATED)
		return REPLY_FAILS(reply, KYMO_EXIT_FAILED, "the relay accepts no more viewers");
	/* After a lost connection, what was received before is known; the rest must not be
	 * missed. */
	ask_attach(client,
		   client->options->from_now && !client->streams ? WIRE_SEEK_NOW
								 : WIRE_SEEK_BEGINNING,
		   reply->out);
	return REPLY_DONE;
}

/* ---- streams ---- */

static struct live_trace *trace_of(struct client *client, const char *path)
{
	struct live_trace *trace = client->traces;

	while (trace && strcmp(trace->path, path))
		trace = trace->next;
	if (trace)
		return trace;
	trace = calloc(1, sizeof(*trace));
	if (trace)
		trace->path = strdup(path);
	if (!trace || !trace->path) {
		free(trace);
		return NULL;
	}
	trace->stale = true;
	*client->last_trace = trace;
	client->last_trace = &trace->next;
	return trace;
}

static struct live_stream *stream_new(struct client *client, struct live_trace *trace,
				      const char *channel)
{
	struct live_stream *stream = calloc(1, sizeof(*stream));

	if (stream)
		stream->channel = strdup(channel);
	if (!stream || !stream->channel) {
		free(stream);
		return NULL;
	}
	stream->trace = trace;
	/* A stream that begins while we watch is shown from its beginning. */
	if (client->options->from_now && client->phase == CLIENT_ATTACHING) {
		stream->catches = wire_is_facts(channel);
		stream->skips = !stream->catches;
	}
	*client->last_stream = stream;
	client->last_stream = &stream->next;
	client->stream_count++;
	return stream;
}

/* The stream as it was on an earlier connection, or NULL. */
static struct live_stream *stream_from_before(struct client *client, const struct live_trace *trace,
					      const char *channel)
{
	struct live_stream *stream = client->streams;

	while (stream &&
	       (stream->here || stream->trace != trace || strcmp(stream->channel, channel)))
		stream = stream->next;
	return stream;
}

static enum reply_result take_stream(struct client_reply *reply,
				     const struct wire_listed_stream *listed)
{
	struct client *client = reply->client;
	struct live_trace *trace = trace_of(client, listed->path);
	struct live_stream *stream;

	if (!trace)
		return no_memory(reply);
	if (listed->is_metadata) {
		trace->has_metadata_stream = trace->stale = true;
		trace->metadata_stream = listed->stream;
		return REPLY_DONE;
	}
	for (stream = client->streams; stream; stream = stream->next)
		if (stream->here && stream->id == listed->stream)
			return REPLY_DONE;
	stream = stream_from_before(client, trace, listed->channel);
	if (!stream && client->stream_count == CLIENT_STREAMS_MAX)
		return REPLY_FAILS(reply, KYMO_EXIT_INPUT, "the session has more than %u streams",
				   CLIENT_STREAMS_MAX);
	if (!stream)
		stream = stream_new(client, trace, listed->channel);
	if (!stream)
		return no_memory(reply);
	stream->id = listed->stream;
	stream->here = true;
	stream->state = STREAM_WAITS;
	stream->moved_ns = client->now_ns;
	stream->due_ns = 0;
	return REPLY_DONE;
}

/* Streams in the replies to ATTACH and NEW_STREAMS. */
static enum reply_result take_streams(struct client_reply *reply, uint32_t good)
{
	struct client *client = reply->client;
	struct wire_listed_stream listed;
	struct wire_status_count head;

	if (!client->in_list) {
		if (wire_left(reply->in) < WIRE_SIZE_status_count)
			return REPLY_INCOMPLETE;
		(void)wire_get_status_count(reply->in, &head);
		begin_list(client, head.status == good ? head.count : 0, head.status);
		if (client->list_left > 2 * CLIENT_STREAMS_MAX)
			return malformed(reply, "the number of its streams");
	}
	for (; client->list_left; client->list_left--) {
		if (wire_left(reply->in) < WIRE_SIZE_listed_stream)
			return REPLY_INCOMPLETE;
		if (!wire_get_listed_stream(reply->in, &listed))
			return malformed(reply, "the name of a stream");
		if (take_stream(reply, &listed) == REPLY_FAILED)
			return REPLY_FAILED;
	}
	client->in_list = false;
	return REPLY_DONE;
}

/* Why ATTACH failed. */
static enum reply_result refused(struct client_reply *reply)
{
	struct client *client = reply->client;
	const char *why = "the relay gives no reason";

	switch (client->list_status) {
	case WIRE_ATTACH_UNKNOWN:	/* it ended after it was listed */
		client->phase = CLIENT_LISTING;
		client->waits = true;
		client->due_ns = client->now_ns + CLIENT_LOOK_NS;
		return REPLY_DONE;
	case WIRE_ATTACH_ALREADY:
		why = "another viewer watches it; lttng-relayd allows one viewer at a time, kymo relay any number";
		break;
	case WIRE_ATTACH_NOT_LIVE:
		why = "it is not live; create a live session with lttng create --live";
		break;
	case WIRE_ATTACH_SEEK:
		if (client->seek == WIRE_SEEK_NOW) {
			client_attach_again(client, WIRE_SEEK_BEGINNING, reply->out);
			return REPLY_DONE;
		}
		why = "the relay cannot send it from its beginning";
		break;
	default:
		break;
	}
	return REPLY_FAILS(reply, KYMO_EXIT_FAILED, "cannot watch session %s: %s",
			   client->options->session, why);
}

enum reply_result client_on_attach(struct client_reply *reply)
{
	struct client *client = reply->client;
	const enum reply_result taken = take_streams(reply, WIRE_ATTACHED);

	if (taken != REPLY_DONE)
		return taken;
	if (client->list_status != WIRE_ATTACHED)
		return refused(reply);
	client->phase = CLIENT_RUNNING;
	client->gathers = client->seek == WIRE_SEEK_BEGINNING && client->gathers;
	client->told = false;
	client->due_ns = 0;
	return REPLY_DONE;
}

static bool all_ended(const struct client *client)
{
	for (const struct live_stream *stream = client->streams; stream; stream = stream->next)
		if (stream->here && stream->state != STREAM_ENDED)
			return false;
	return true;
}

enum reply_result client_on_new_streams(struct client_reply *reply)
{
	struct client *client = reply->client;
	const enum reply_result taken = take_streams(reply, WIRE_STREAMS_OK);

	if (taken != REPLY_DONE)
		return taken;
	client->asked_streams = client->stale_streams = false;
	if (client->list_status == WIRE_STREAMS_ERR)
		return REPLY_FAILS(reply, KYMO_EXIT_FAILED, "the relay no longer has session %s",
				   client->options->session);
	if (client->list_status == WIRE_STREAMS_HUP && all_ended(client))
		client_detach(client, reply->out);
	return REPLY_DONE;
}

enum reply_result client_on_detach(struct client_reply *reply)
{
	struct client *client = reply->client;
	uint32_t seek;

	if (wire_left(reply->in) < 4)
		return REPLY_INCOMPLETE;
	(void)wire_take(reply->in, 4);
	if (!client->next_seek) {
		client->phase = CLIENT_ENDED;
		return REPLY_DONE;
	}
	seek = client->next_seek;
	client->next_seek = 0;
	client->gathers = seek == WIRE_SEEK_BEGINNING;
	client_forget_places(client);
	ask_attach(client, seek, reply->out);
	return REPLY_DONE;
}
