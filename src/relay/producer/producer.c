/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of a producer, and the replies to them. See producer.h. */
#include "base/array.h"
#include "relay/producer/producer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATH_REPLY_MAX	65536u

void producer_reset(struct producer *producer)
{
	producer->control.used = producer->data.used = producer->input.used = 0;
	producer->control.failed = producer->data.failed = producer->input.failed = false;
	producer->queue_count = producer->unanswered_streams = 0;
}

void producer_free(struct producer *producer)
{
	wire_out_free(&producer->control);
	wire_out_free(&producer->data);
	wire_out_free(&producer->input);
	free(producer->queue);
	free(producer->path);
	*producer = (struct producer){ 0 };
}

/* ---- requests ---- */

void producer_request(struct producer *producer, uint32_t command, size_t size, void *about)
{
	wire_put_request(&producer->control,
			 &(struct wire_request){ .data_size = size, .cmd = command });
	if (command == WIRE_SEND_METADATA)
		return;
	if (QUEUE_ROOM(producer->queue, producer->queue_first, producer->queue_count,
		       producer->queue_room))
		producer->queue[producer->queue_first + producer->queue_count++] =
			(struct producer_request){ command, about };
	else
		producer->control.failed = true;
}

void producer_greet(struct producer *producer)
{
	producer_request(producer, WIRE_VERSION, WIRE_SIZE_version, NULL);
	wire_put_version(&producer->control, &(struct wire_version){ WIRE_MAJOR, WIRE_MINOR });
}

void producer_create_session(struct producer *producer, const struct producer_session *session)
{
	struct wire_create_session_2_11 create = {
		.name_size = (uint32_t)strlen(session->name) + 1,
		.host_size = (uint32_t)strlen(session->host) + 1,
		.base_size = 1,
		.live_timer = session->live_timer_us,
		.sessiond_session = session->number,
		.created_s = session->created_s,
	};
	struct wire_create_session_2_4 old = { .live_timer = session->live_timer_us };
	const bool says_format = producer->minor >= WIRE_MINOR_FORMAT;

	if (!producer_has_chunks(producer)) {
		(void)snprintf(old.name, sizeof(old.name), "%s", session->name);
		(void)snprintf(old.host, sizeof(old.host), "%s", session->host);
		producer_request(producer, WIRE_CREATE_SESSION, WIRE_SIZE_create_session_2_4, NULL);
		wire_put_create_session_2_4(&producer->control, &old);
		return;
	}
	memcpy(create.sessiond_uuid, session->uuid, sizeof(create.sessiond_uuid));
	producer_request(producer, WIRE_CREATE_SESSION,
			 WIRE_SIZE_create_session_2_11 + (says_format ? 4 : 0) + create.name_size +
				 create.host_size + create.base_size,
			 NULL);
	wire_put_create_session_2_11(&producer->control, &create);
	if (says_format)
		wire_add(&producer->control, session->format, 4);
	wire_add_bytes(&producer->control, session->name, create.name_size);
	wire_add_bytes(&producer->control, session->host, create.host_size);
	wire_add_bytes(&producer->control, "", create.base_size);
}

void producer_create_chunk(struct producer *producer, uint64_t created_s)
{
	const struct wire_create_chunk chunk = { .chunk = PRODUCER_CHUNK_ID,
						 .created_s = created_s };

	producer_request(producer, WIRE_CREATE_CHUNK, WIRE_SIZE_create_chunk, NULL);
	wire_put_create_chunk(&producer->control, &chunk);
}

/* Before 2.11 the producer names the trace's directory below the relay's output directory. */
static void old_path(const struct producer_session *session, const char *trace, char *path,
		     size_t size)
{
	const time_t time = (time_t)session->created_s;
	char date[32] = "";
	struct tm tm;

	if (localtime_r(&time, &tm))
		(void)strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &tm);
	(void)snprintf(path, size, "/%s/%s-%s//%s", session->host, session->name, date, trace);
}

void producer_add_stream(struct producer *producer, const struct producer_session *session,
			 const char *channel, const char *path, struct producer_stream *stream)
{
	struct wire_add_stream_2_11 add = {
		.channel_size = (uint32_t)strlen(channel) + 1,
		.path_size = (uint32_t)strlen(path) + 1,
		.chunk = PRODUCER_CHUNK_ID,
	};
	struct wire_add_stream_2_2 old = { 0 };

	stream->asked = true;
	producer->unanswered_streams++;
	if (producer_has_chunks(producer)) {
		producer_request(producer, WIRE_ADD_STREAM,
				 WIRE_SIZE_add_stream_2_11 + add.channel_size + add.path_size,
				 stream);
		wire_put_add_stream_2_11(&producer->control, &add);
		wire_add_bytes(&producer->control, channel, add.channel_size);
		wire_add_bytes(&producer->control, path, add.path_size);
		return;
	}
	(void)snprintf(old.channel, sizeof(old.channel), "%s", channel);
	old_path(session, path, old.path, sizeof(old.path));
	producer_request(producer, WIRE_ADD_STREAM, WIRE_SIZE_add_stream_2_2, stream);
	wire_put_add_stream_2_2(&producer->control, &old);
}

void producer_metadata(struct producer *producer, const struct producer_stream *stream, size_t size)
{
	producer_request(producer, WIRE_SEND_METADATA, WIRE_SIZE_metadata + size, NULL);
	wire_put_metadata(&producer->control, &(struct wire_metadata){ .stream = stream->handle });
}

void producer_data(struct producer *producer, const struct producer_stream *stream, uint64_t seq,
		   uint32_t size)
{
	wire_put_data(&producer->data,
		      &(struct wire_data){ .stream = stream->handle, .seq = seq, .size = size });
}

void producer_index(struct producer *producer, const struct producer_stream *stream, uint64_t seq,
		    const struct ctf_index_entry *entry)
{
	const bool more = producer->minor >= 8, counts = more && producer->counts;

	producer_request(producer, WIRE_SEND_INDEX,
			 WIRE_SIZE_index_2_4 + (more ? WIRE_SIZE_index_2_8 : 0) +
				 (counts ? WIRE_SIZE_index_counts : 0),
			 NULL);
	wire_put_index_2_4(&producer->control, &(struct wire_index_2_4){
		.stream = stream->handle, .seq = seq, .packet_size = entry->packet_size,
		.content_size = entry->content_size, .timestamp_begin = entry->timestamp_begin,
		.timestamp_end = entry->timestamp_end, .events_discarded = entry->events_discarded,
		.stream_class = entry->stream_id,
	});
	if (more)
		wire_put_index_2_8(&producer->control, &(struct wire_index_2_8){
			entry->stream_instance_id, entry->packet_seq_num,
		});
	if (counts)
		wire_put_index_counts(&producer->control, &(struct wire_index_counts){
								  entry->events_discarded_len,
								  entry->events,
							  });
}

void producer_stream_seq(struct producer *producer, uint32_t command,
			 const struct producer_stream *stream, uint64_t seq, void *about)
{
	producer_request(producer, command, WIRE_SIZE_stream_seq, about);
	wire_put_stream_seq(&producer->control, &(struct wire_stream_seq){ stream->handle, seq });
}

/* ---- replies: each function returns 0 when it read one or in->short_of, -1 with @err ---- */

static int refused(const char *what, uint32_t ret, struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_FAILED, "the relay refuses %s (status %" PRIu32 ")", what, ret);
}

static int on_version(struct producer *producer, struct wire_in *in, struct kymo_err *err)
{
	struct wire_version theirs;

	if (!wire_get_version(in, &theirs))
		return 0;
	if (theirs.major != WIRE_MAJOR || theirs.minor < producer->ops.minor_least)
		return err_set(err, KYMO_EXIT_FAILED, "the relay speaks version %" PRIu32 ".%" PRIu32 " of LTTng's relay protocol; "
			       "version %u.%u or newer is required", theirs.major, theirs.minor, WIRE_MAJOR,
			       producer->ops.minor_least);
	producer->minor = theirs.minor < WIRE_MINOR ? theirs.minor : WIRE_MINOR;
	return 0;
}

static int path_too_long(uint32_t size, struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_FAILED, "the relay answers with a path of %" PRIu32 " bytes", size);
}

static int on_session(struct producer *producer, struct wire_in *in, struct kymo_err *err)
{
	struct wire_session_reply reply;
	const char *path;
	uint32_t size = 0;

	if (!wire_get_session_reply(in, &reply))
		return 0;
	if (producer_has_chunks(producer))
		size = (uint32_t)wire_take(in, 4);
	if (size > PATH_REPLY_MAX)
		return path_too_long(size, err);
	path = size ? (const char *)wire_bytes(in, size) : NULL;
	if (in->short_of)
		return 0;
	if (reply.ret != WIRE_OK)
		return refused("the session, for its name or the host's", reply.ret, err);
	free(producer->path);
	producer->path = path && !path[size - 1] ? strdup(path) : NULL;
	return 0;
}

static int on_stream(struct producer *producer, struct producer_stream *stream, struct wire_in *in,
		     struct kymo_err *err)
{
	struct wire_stream_reply reply;

	if (!wire_get_stream_reply(in, &reply))
		return 0;
	if (reply.ret != WIRE_OK)
		return refused("a stream", reply.ret, err);
	producer->unanswered_streams--;
	stream->handle = reply.stream;
	stream->has_handle = true;
	return 0;
}

/* Whatever it answers, all packets are stored by now. */
static int on_closed_chunk(struct wire_in *in, struct kymo_err *err)
{
	struct wire_path_reply reply;

	if (!wire_get_path_reply(in, &reply))
		return 0;
	if (reply.path_size > PATH_REPLY_MAX)
		return path_too_long(reply.path_size, err);
	(void)wire_bytes(in, reply.path_size);
	return 0;
}

static int on_accepted(uint32_t command, struct wire_in *in, struct kymo_err *err)
{
	const uint32_t ret = (uint32_t)wire_take(in, 4);

	if (in->short_of || ret == WIRE_OK)
		return 0;
	return err_set(err, KYMO_EXIT_FAILED, "the relay refuses request %" PRIu32 " (status %" PRIu32 ")", command, ret);
}

static int on_reply(struct producer *producer, const struct producer_request *to,
		    struct wire_in *in, struct kymo_err *err)
{
	int rc = 0;

	switch (to->command) {
	case WIRE_GET_CONFIGURATION:
	case WIRE_DATA_PENDING:
	case WIRE_STORED:
	case WIRE_LOST:
	case WIRE_LOST_COUNT:
	case WIRE_DATAGRAMS:
		break;			/* the caller's to read */
	case WIRE_VERSION:
		rc = on_version(producer, in, err);
		break;
	case WIRE_CREATE_SESSION:
		rc = on_session(producer, in, err);
		break;
	case WIRE_ADD_STREAM:
		rc = on_stream(producer, to->about, in, err);
		break;
	case WIRE_CLOSE_CHUNK:
		rc = on_closed_chunk(in, err);
		break;
	default:
		rc = on_accepted(to->command, in, err);
	}
	if (rc < 0 || in->short_of)
		return rc;
	return producer->ops.answered(producer->ops.context, to->command, to->about, in, err);
}

int producer_input(struct producer *producer, const uint8_t *bytes, size_t size,
		   struct kymo_err *err)
{
	struct wire_in in;

	wire_add_bytes(&producer->input, bytes, size);
	if (producer->input.failed)
		return err_no_memory(err);
	/* Without bytes there may be no buffer. */
	if (!producer->input.used)
		return 0;
	in = (struct wire_in){ .at = producer->input.bytes,
			       .end = producer->input.bytes + producer->input.used };
	while (wire_left(&in)) {
		const uint8_t *before = in.at;
		struct producer_request to;

		if (!producer->queue_count)
			return err_set(err, KYMO_EXIT_FAILED, "the relay answers a request that was not made");
		to = producer->queue[producer->queue_first];
		if (on_reply(producer, &to, &in, err) < 0)
			return -1;
		if (in.short_of) {
			in.at = before;
			break;
		}
		producer->queue_first++;
		producer->queue_count--;
	}
	producer->input.used = wire_left(&in);
	if (producer->input.used)
		memmove(producer->input.bytes, in.at, producer->input.used);
	return 0;
}
