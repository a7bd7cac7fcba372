/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data port: headers, each followed by a packet. A packet is written in the pieces in which it
 * arrives; only its header is kept in memory.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "relay/ingest/ingest.h"

struct intake {
	struct relay *relay;
	struct relay_session *session;	/* of the first packet */
	struct relay_stream *stream;	/* of the packet that is arriving; NULL: none */
	uint32_t left;			/* bytes of it that have not arrived */
	uint8_t header[WIRE_SIZE_data];
	size_t used;			/* bytes of the header */
};

static int begin(struct intake *intake, struct kymo_err *err)
{
	struct wire_in in = { .at = intake->header, .end = intake->header + WIRE_SIZE_data };
	struct relay_stream *stream;
	struct wire_data data;

	(void)wire_get_data(&in, &data);
	stream = relay_find_stream(intake->relay, data.stream);
	if (!stream || stream->session->ended ||
	    (intake->session && intake->session != stream->session))
		return err_set(err, KYMO_EXIT_INPUT, "received a packet for unknown stream %" PRIu64,
			       data.stream);
	if (!intake->session) {
		relay_join_session(stream->session);
		relay_stray_ends(intake->relay);
	}
	intake->session = stream->session;
	if (relay_data_begin(stream, &data) < 0)
		return err_set(err, KYMO_EXIT_INPUT, "received a packet for stream %s/%s, which is closed or in no chunk",
			       stream->trace->path, stream->channel);
	intake->stream = stream;
	intake->left = data.size;
	intake->used = 0;
	if (!data.size && relay_data_bytes(stream, intake->header, 0) < 0)	/* padding only */
		return err_no_memory(err);
	return 0;
}

static int end(struct intake *intake, struct kymo_err *err)
{
	struct relay_stream *stream = intake->stream;

	intake->stream = NULL;
	return relay_data_end(stream) < 0 ? err_no_memory(err) : 0;
}

int intake_bytes(struct intake *intake, const uint8_t *bytes, size_t size, struct kymo_err *err)
{
	while (size) {
		size_t some;

		if (!intake->stream) {
			some = WIRE_SIZE_data - intake->used < size ? WIRE_SIZE_data - intake->used
								    : size;
			memcpy(intake->header + intake->used, bytes, some);
			intake->used += some;
			if (intake->used == WIRE_SIZE_data && begin(intake, err) < 0)
				return -1;
		} else {
			if (intake->session->cut_off)
				return err_set(err, KYMO_EXIT_INPUT, "its session continues on another connection");
			some = intake->left < size ? intake->left : size;
			intake->session->data_ns = intake->relay->now_ns();
			if (relay_data_bytes(intake->stream, bytes, some) < 0)
				return err_no_memory(err);
			intake->left -= (uint32_t)some;
		}
		bytes += some;
		size -= some;
		if (intake->stream && !intake->left && end(intake, err) < 0)
			return -1;
	}
	return 0;
}

struct intake *intake_new(struct relay *relay)
{
	struct intake *intake = calloc(1, sizeof(*intake));

	if (!intake)
		return NULL;
	intake->relay = relay;
	relay_stray_begins(relay);
	return intake;
}

void intake_free(struct intake *intake)
{
	if (!intake)
		return;
	if (intake->stream)
		relay_data_abort(intake->stream);
	if (intake->session)
		relay_leave_session(intake->session);
	else
		relay_stray_ends(intake->relay);
	free(intake);
}
