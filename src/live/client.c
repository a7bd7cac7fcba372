/* SPDX-License-Identifier: Apache-2.0 */
/* The client's requests: which ones, when, and which reply comes next. See client.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"
#include "base/text.h"
#include "live/client_internal.h"

void client_say(struct client *client, const char *format, ...)
{
	char text[1024], clean[4 * sizeof(text) + 1];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	(void)text_clean(clean, sizeof(clean), text);
	client->sink->say(client->sink->context, clean);
}

/* ---- requests ---- */

void client_ask(struct client *client, struct wire_out *out, uint32_t cmd, uint64_t payload,
		void *of, uint32_t size)
{
	if (!QUEUE_ROOM(client->request, client->request_first, client->request_count,
			client->request_room)) {
		client->no_memory = true;
		return;
	}
	client->request[client->request_first + client->request_count++] =
		(struct client_request){ cmd, size, of };
	wire_put_viewer_request(out, &(struct wire_viewer_request){ payload, cmd, 0 });
}

void client_ask_streams(struct client *client, struct wire_out *out)
{
	if (client->asked_streams || client->phase != CLIENT_RUNNING)
		return;
	client_ask(client, out, WIRE_VIEWER_NEW_STREAMS, 8, NULL, 0);
	wire_add(out, client->session, 8);
	client->asked_streams = true;
}

void client_ask_metadata(struct client *client, struct live_trace *trace, struct wire_out *out)
{
	if (trace->asked || !trace->has_metadata_stream || client->phase != CLIENT_RUNNING)
		return;
	client_ask(client, out, WIRE_VIEWER_METADATA, 8, trace, 0);
	wire_add(out, trace->metadata_stream, 8);
	trace->asked = true;
}

void client_ask_index(struct client *client, struct live_stream *stream, struct wire_out *out)
{
	if (client->phase != CLIENT_RUNNING)
		return;
	client_ask(client, out, WIRE_VIEWER_NEXT_INDEX, 8, stream, 0);
	wire_add(out, stream->id, 8);
	stream->state = STREAM_ASKED;
}

/* ---- requests that are due ---- */

static int64_t poll_ns(const struct client *client)
{
	const int64_t each = client->stream_count * CLIENT_POLL_EACH_NS;
	const int64_t least = client->relay_tells ? CLIENT_TOLD_POLL_NS : CLIENT_POLL_NS;

	return each < least ? least : lesser(each, CLIENT_POLL_MOST_NS);
}

int64_t client_poll_at(const struct client *client)
{
	return client->now_ns + poll_ns(client);
}

static int64_t tick_streams(struct client *client, int64_t next, struct wire_out *out)
{
	for (struct live_stream *stream = client->streams; stream; stream = stream->next) {
		const bool retries =
			stream->state == STREAM_NEEDS_METADATA && !stream->trace->stale;

		if ((stream->state != STREAM_WAITS && !retries) || !stream->here ||
		    (client->gathers && !stream->catches))
			continue;
		if (stream->due_ns > client->now_ns)
			next = lesser(next, stream->due_ns);
		else if (retries)
			client_fetch(client, stream, out);
		else
			client_ask_index(client, stream, out);
	}
	for (struct live_trace *trace = client->traces; trace; trace = trace->next) {
		if (!trace->stale || trace->gone || trace->asked)
			continue;
		if (trace->due_ns <= client->now_ns)
			client_ask_metadata(client, trace, out);
		else
			next = lesser(next, trace->due_ns);
	}
	return next;
}

int64_t client_tick(struct client *client, int64_t now_ns, struct wire_out *out)
{
	const int64_t later = now_ns + CLIENT_LOOK_NS;
	int64_t next;

	client->now_ns = now_ns;
	if (client->phase == CLIENT_LISTING && client->waits) {
		if (client->due_ns > now_ns)
			return client->due_ns;
		client->waits = false;
		client_ask(client, out, WIRE_VIEWER_LIST, 0, NULL, 0);
	}
	if (client->phase != CLIENT_RUNNING)
		return later;
	if (client->gathers && !client->request_count && !client_catches_up(client)) {
		client_attach_again(client, WIRE_SEEK_LAST, out);
		return later;
	}
	/* Not only when the relay announces some: lttng-relayd does so only together with
	 * packets. */
	if (!client->gathers && !client->asked_streams &&
	    (client->stale_streams || client->due_ns <= now_ns)) {
		client_ask_streams(client, out);
		client->due_ns = client_poll_at(client);
	}
	next = tick_streams(client, client->asked_streams ? later : lesser(later, client->due_ns),
			    out);
	if (client->relay_tells && !client->gathers && !client->request_count)
		client_ask(client, out, WIRE_VIEWER_WAIT, 0, NULL, 0);
	return next;
}

/* Many streams are not asked more often than without news. */
static void look(struct client *client)
{
	int64_t at = client->looked_ns + client->stream_count * CLIENT_POLL_EACH_NS;

	if (at < client->now_ns)
		at = client->now_ns;
	client->looked_ns = at;
	for (struct live_stream *stream = client->streams; stream; stream = stream->next)
		if (stream->state == STREAM_WAITS)
			stream->due_ns = lesser(stream->due_ns, at);
	if (!client->stream_count)	/* others are announced with the streams that exist */
		client->due_ns = lesser(client->due_ns, at);
}

enum reply_result client_on_wait(struct client_reply *reply)
{
	struct wire_wait_reply wait;

	if (!wire_get_wait_reply(reply->in, &wait))
		return REPLY_INCOMPLETE;
	if (wait.status == WIRE_WAIT_NEWS)
		look(reply->client);
	return REPLY_DONE;
}

/* ---- replies ---- */

static enum reply_result take(struct client_reply *reply)
{
	switch (reply->request->cmd) {
	case WIRE_VIEWER_CONNECT:
		return client_on_connect(reply);
	case WIRE_VIEWER_LIST:
		return client_on_list(reply);
	case WIRE_VIEWER_CREATE:
		return client_on_create(reply);
	case WIRE_VIEWER_ATTACH:
		return client_on_attach(reply);
	case WIRE_VIEWER_NEW_STREAMS:
		return client_on_new_streams(reply);
	case WIRE_VIEWER_METADATA:
		return client_on_metadata(reply);
	case WIRE_VIEWER_NEXT_INDEX:
		return client_on_index(reply);
	case WIRE_VIEWER_PACKET:
		return client_on_packet(reply);
	case WIRE_VIEWER_WAIT:
		return client_on_wait(reply);
	default:
		return client_on_detach(reply);
	}
}

/* Reads all complete replies. Return: -1 with @err. */
static int take_all(struct client *client, struct wire_in *in, struct wire_out *out,
		    struct kymo_err *err)
{
	while (wire_left(in) && client->phase != CLIENT_ENDED) {
		const uint8_t *begin = in->at;
		enum reply_result taken;
		struct client_request request;
		struct client_reply reply = { client, &request, in, out, err };

		if (!client->request_count)
			return err_set(err, KYMO_EXIT_INPUT, "it answers a request that was not made");
		request = client->request[client->request_first];
		taken = take(&reply);
		if (taken == REPLY_FAILED)
			return -1;
		if (taken == REPLY_INCOMPLETE) {
			/* Entries of a list are read one by one; the rest of the list stays. */
			in->short_of = false;
			if (!client->in_list)
				in->at = begin;
			return 0;
		}
		client->request_first++;
		client->request_count--;
	}
	return 0;
}

int client_bytes(struct client *client, const uint8_t *bytes, size_t size, int64_t now_ns,
		 struct wire_out *out, struct kymo_err *err)
{
	struct wire_in in;
	int rc;

	client->now_ns = now_ns;
	if (!size)
		return 0;
	wire_add_bytes(&client->in, bytes, size);
	if (client->in.failed)
		return err_no_memory(err);
	in = (struct wire_in){ client->in.bytes, client->in.bytes + client->in.used, false };
	rc = take_all(client, &in, out, err);
	client->in.used = wire_left(&in);
	memmove(client->in.bytes, in.at, client->in.used);
	if (rc == 0 && (client->no_memory || out->failed))
		return err_no_memory(err);
	return rc;
}

/* ---- life ---- */

struct client *client_new(const struct client_options *options, const struct client_sink *sink)
{
	struct client *client = calloc(1, sizeof(*client));

	if (!client)
		return NULL;
	client->options = options;
	client->sink = sink;
	client->last_trace = &client->traces;
	client->last_stream = &client->streams;
	return client;
}

void client_free(struct client *client)
{
	if (!client)
		return;
	for (struct live_stream *stream = client->streams, *next; stream; stream = next) {
		next = stream->next;
		free(stream->channel);
		free(stream);
	}
	for (struct live_trace *trace = client->traces, *next; trace; trace = next) {
		next = trace->next;
		wire_out_free(&trace->metadata);
		free(trace->path);
		free(trace);
	}
	wire_out_free(&client->in);
	free(client->request);
	free(client);
}

void client_forget_places(struct client *client)
{
	client->asked_streams = client->stale_streams = false;
	for (struct live_trace *trace = client->traces; trace; trace = trace->next) {
		trace->has_metadata_stream = trace->asked = trace->stale = trace->gone = false;
		trace->again = 0;
	}
	for (struct live_stream *stream = client->streams; stream; stream = stream->next) {
		stream->here = false;
		stream->again = stream->has_place;
		if (stream->state != STREAM_ENDED)
			stream->state = STREAM_WAITS;
	}
}

void client_connected(struct client *client, int64_t now_ns, struct wire_out *out)
{
	client->phase = CLIENT_LISTING;
	client->request_count = client->in.used = 0;
	client->in_list = client->waits = client->hung_up = client->gathers = false;
	client->next_seek = 0;
	client->relay_tells = false;
	client->now_ns = now_ns;
	client_forget_places(client);
	client_ask(client, out, WIRE_VIEWER_CONNECT, WIRE_SIZE_connect, NULL, 0);
	wire_put_connect(out, &(struct wire_connect){ UINT64_MAX, WIRE_MAJOR, WIRE_MINOR, 1 });
}

void client_detach(struct client *client, struct wire_out *out)
{
	if (client->phase != CLIENT_RUNNING) {
		if (client->phase != CLIENT_DETACHING)
			client->phase = CLIENT_ENDED;
		return;
	}
	client_ask(client, out, WIRE_VIEWER_DETACH, 8, NULL, 0);
	wire_add(out, client->session, 8);
	client->phase = CLIENT_DETACHING;
}

enum client_phase client_phase(const struct client *client)
{
	return client->phase;
}

bool client_waits(const struct client *client)
{
	return client->phase == CLIENT_LISTING && client->told;
}

bool client_is_unsure(const struct client *client)
{
	return client->phase != CLIENT_RUNNING || client->stale_streams;
}

bool client_catches_up(const struct client *client)
{
	for (const struct live_stream *stream = client->streams; stream; stream = stream->next)
		if (stream->catches && stream->here && stream->state != STREAM_ENDED)
			return true;
	return client->next_seek;
}

struct live_stream *client_streams(const struct client *client)
{
	return client->streams;
}

int64_t client_live_timer_ns(const struct client *client)
{
	return client->live_timer_ns;
}
