/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of a connection: requests and replies until packets can be sent. See send.h. */
#include "relay/send/send_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* between questions about the old session, while the relay still writes it */
#define ASK_OLD_NS	10000000u
#define MS		1000000ull

static int answered(void *context, uint32_t command, void *about, struct wire_in *in,
		    struct kymo_err *err);

/* ---- life ---- */

void send_init(struct send *send, struct spool *spool, const struct send_options *options)
{
	*send = (struct send){
		.options = *options, .spool = spool, .pause_ms = SEND_PAUSE_LEAST_MS,
		.producer.ops = { answered, send, WIRE_MINOR_LEAST },
	};
	if (getrandom(send->uuid, sizeof(send->uuid), 0) != sizeof(send->uuid))
		memset(send->uuid, 0x5a, sizeof(send->uuid));
	send->uuid[6] = (send->uuid[6] & 0x0f) | 0x40;	/* a random UUID is not nil */
}

void send_free(struct send *send)
{
	for (unsigned i = 0; i < send->trace_count; i++)
		free(send->trace[i]);
	for (unsigned i = 0; i < send->stream_count; i++) {
		free(send->stream[i]->lost);
		free(send->stream[i]);
	}
	free(send->trace);
	free(send->stream);
	free(send->body);
	free(send->old_path);
	producer_free(&send->producer);
	wire_out_free(&send->piece);
	*send = (struct send){ 0 };
}

struct send_stream *send_stream_of(const struct send *send, uint32_t id)
{
	return id < send->stream_count ? send->stream[id] : NULL;
}

struct send_trace *send_trace_of(const struct send *send, uint32_t id)
{
	return id < send->trace_count ? send->trace[id] : NULL;
}

/* ---- requests ---- */

struct producer_session send_session(const struct send *send)
{
	struct producer_session session = {
		.name = send->options.session, .host = send->options.host,
		.live_timer_us = (uint32_t)(send->options.live_timer_ns / 1000),
		.number = 1, .created_s = send->created_s,
	};

	memcpy(session.uuid, send->uuid, sizeof(session.uuid));
	return session;
}

void send_create(struct send *send)
{
	const struct producer_session session = send_session(send);

	send->state = SEND_CREATE;
	send_forget_lost(send);
	producer_create_session(&send->producer, &session);
}

/* ---- begin and loss of a connection ---- */

unsigned send_pause(struct send *send)
{
	const unsigned pause_ms = send->pause_ms;

	send->pause_ms =
		2 * pause_ms < SEND_PAUSE_MOST_MS ? 2 * pause_ms : SEND_PAUSE_MOST_MS;
	return pause_ms;
}

static void look_if_proven(struct send *send, uint64_t now_ns)
{
	if (send->is_proven || (send->stored.at[SPOOL_RUN] <= send->begun_at &&
				now_ns - send->begun_ns < SEND_PAUSE_MOST_MS * MS))
		return;
	send->is_proven = true;
	send->pause_ms = SEND_PAUSE_LEAST_MS;
}

void send_begin(struct send *send, uint64_t now_s, uint64_t now_ns)
{
	send->created_s = now_s;
	send->begun_ns = now_ns;
	send->begun_at = send->stored.at[SPOOL_RUN];
	send->is_proven = false;
	send->sessions++;
	send->state = SEND_VERSION;
	producer_greet(&send->producer);
}

void send_lost(struct send *send)
{
	if (send->state >= SEND_READY)
		send_keep_old(send);
	send->state = SEND_OFFLINE;
	producer_reset(&send->producer);
	send->unannounced = 0;
	send->asking = send->counting = false;
	send->asking_streams = 0;
	send->unstored_here = (struct spool_unstored){ 0 };
	send->cookie = 0;
	send->told_ns = send->end_ns = 0;
	send->sent.at[SPOOL_FACTS] = send->stored.at[SPOOL_FACTS] = 0;
	send->sent.at[SPOOL_RUN] = send->stored.at[SPOOL_RUN];
	for (unsigned i = 0; i < send->trace_count; i++)
		send->trace[i]->at = (struct producer_stream){ 0 };
	for (unsigned i = 0; i < send->stream_count; i++) {
		struct send_stream *stream = send->stream[i];

		stream->at = (struct producer_stream){ 0 };
		stream->announced = stream->closed = stream->pending = false;
		stream->next_seq = stream->stored_seq = 0;
		stream->discarded = stream->stored_discarded;
		stream->end_ns = 0;
	}
}

void send_horizon(struct send *send, uint64_t ns, const struct send_place *place)
{
	send->horizon_ns = ns;
	send->horizon = *place;
}

void send_finish(struct send *send)
{
	send->finish = true;
}

bool send_is_all_stored(struct send *send)
{
	return send->stored.at[SPOOL_RUN] >= spool_end(send->spool, SPOOL_RUN) &&
	       send->stored.at[SPOOL_FACTS] >= spool_end(send->spool, SPOOL_FACTS);
}

/* ---- replies ---- */

/* The relay's version is good. Ask for kymo's own requests, or create the session. */
static int on_version(struct send *send, struct kymo_err *err)
{
	send->flags = 0;
	if (send->producer.minor < 12) {
		if (send->options.datagrams)
			return send_no_datagrams(err);
		send_create(send);
		return 0;
	}
	/* lttng-relayd answers with an error, and the connection goes on. */
	producer_request(&send->producer, WIRE_GET_CONFIGURATION, 8, NULL);
	wire_add(&send->producer.control, WIRE_QUERY_KYMO, 8);
	send->state = SEND_CONFIGURE;
	return 0;
}

static int on_configuration(struct send *send, struct wire_in *in, struct kymo_err *err)
{
	struct wire_configuration reply;

	if (!wire_get_configuration(in, &reply))
		return 0;
	if (reply.ret == WIRE_OK)
		send->flags = reply.flags;
	send->producer.counts = send->flags & WIRE_HAS_COUNTS;
	if (send->options.datagrams && !(send->flags & WIRE_HAS_DATAGRAMS))
		return send_no_datagrams(err);
	send->state = SEND_STORED;
	if (!send_ask_old(send))
		send_create(send);
	return 0;
}

static void ready(struct send *send)
{
	send->state = SEND_READY;
	send_promise(send);
}

static int on_session(struct send *send)
{
	send->path_is_new = true;
	if (send->options.datagrams)
		producer_request(&send->producer, WIRE_DATAGRAMS, 0, NULL);
	if (producer_has_chunks(&send->producer)) {
		producer_create_chunk(&send->producer, send->created_s);
		send->state = SEND_CHUNK;
	} else {
		ready(send);
	}
	return 0;
}

static int on_pending(struct send *send, struct send_stream *stream, struct wire_in *in,
		      struct kymo_err *err)
{
	const uint32_t pending = (uint32_t)wire_take(in, 4);

	return in->short_of ? 0 : send_answered(send, stream, pending, err);
}

static int answered(void *context, uint32_t command, void *about, struct wire_in *in,
		    struct kymo_err *err)
{
	struct send *send = context;

	switch (command) {
	case WIRE_VERSION:
		return on_version(send, err);
	case WIRE_GET_CONFIGURATION:
		return on_configuration(send, in, err);
	case WIRE_STORED:
		return send_on_stored(send, about, in);
	case WIRE_LOST:
		return send_on_lost(send, about, in, err);
	case WIRE_LOST_COUNT:
		send_on_lost_count(send, in);
		return 0;
	case WIRE_DATAGRAMS:
		return send_on_datagrams(send, in, err);
	case WIRE_CREATE_SESSION:
		return on_session(send);
	case WIRE_DATA_PENDING:
		return on_pending(send, about, in, err);
	case WIRE_CREATE_CHUNK:
		ready(send);
	}
	return 0;
}

int send_input(struct send *send, const uint8_t *bytes, size_t size, struct kymo_err *err)
{
	return producer_input(&send->producer, bytes, size, err);
}

int send_work(struct send *send, uint64_t now_ns, struct kymo_err *err)
{
	if (send->state == SEND_STORED && send->old_pending && !send->producer.queue_count &&
	    now_ns >= send->old_at) {
		send->old_at = now_ns + ASK_OLD_NS;
		(void)send_ask_old(send);
	}
	if (send->state < SEND_READY || send->state == SEND_DONE)
		return 0;
	if (send->state == SEND_READY && send_logs(send, err) < 0)
		return -1;
	if (send->state == SEND_READY)
		send_beacons(send, now_ns);
	look_if_proven(send, now_ns);
	send_ask(send, now_ns);
	send_leave(send, now_ns);
	if (send->producer.control.failed || send->producer.data.failed)
		return err_no_memory(err);
	return 0;
}
