/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes, packets and metadata for viewers. */
#include <stdlib.h>
#include <string.h>

#include "relay/viewer/viewer_internal.h"
#include "relay/model/relay_packets.h"

#define PIECE_MAX ((uint32_t)1 << 20)	/* of a packet or of metadata in a reply */

static struct viewer_stream *view_of(const struct viewer *viewer, uint64_t stream)
{
	return viewer->session ? map_get(&viewer->views, stream, 0) : NULL;
}

static struct viewer_stream *metadata_of(const struct viewer *viewer,
					 const struct viewer_stream *view)
{
	return view_of(viewer, view->stream->trace->metadata->id);
}

/* ---- the next packet of a stream ---- */

static uint32_t flags_of(struct viewer *viewer, const struct viewer_stream *view)
{
	const struct viewer_stream *metadata = metadata_of(viewer, view);
	uint32_t flags = 0;

	if (metadata && metadata->stream->stored > metadata->sent)
		flags |= WIRE_NEW_METADATA;
	if (viewer_has_news(viewer))
		flags |= WIRE_NEW_STREAM;
	return flags;
}

static void put_index(struct wire_out *reply, const struct ctf_index_entry *entry, uint32_t flags)
{
	const struct wire_viewer_index index = {
		entry->offset,          entry->packet_size,   entry->content_size,
		entry->timestamp_begin, entry->timestamp_end, entry->events_discarded,
		entry->stream_id,       WIRE_INDEX_OK,        flags,
	};

	wire_put_viewer_index(reply, &index);
}

static void put_status(struct wire_out *reply, uint32_t status, uint32_t flags)
{
	wire_put_viewer_index(reply,
			      &(struct wire_viewer_index){ .status = status, .flags = flags });
}

/* There is no packet, or it may not be shown yet. */
static void put_none(struct viewer *viewer, struct viewer_stream *view, struct wire_out *reply)
{
	const struct relay_stream *stream = view->stream;
	const struct viewer_stream *metadata = metadata_of(viewer, view);
	const uint32_t flags = flags_of(viewer, view);
	uint64_t until;

	if (stream->closed && !stream->writing && !stream->halves.count &&
	    view->next >= stream->published) {
		put_status(reply, WIRE_INDEX_HUP, flags);
		return;
	}
	/* Without metadata a viewer knows no clock, and can't use a time. */
	until = metadata && metadata->sent ? viewer_silent_until(viewer, view) : 0;
	view->told = until > view->told ? until : view->told;
	if (until)
		wire_put_viewer_index(reply,
				      &(struct wire_viewer_index){ .timestamp_end = until,
								   .stream_class = stream->class,
								   .status = WIRE_INDEX_INACTIVE,
								   .flags = flags });
	else
		put_status(reply, WIRE_INDEX_RETRY, flags);
}

/* The viewer gets the packet of @entry. */
static void put_packet_index(struct viewer *viewer, struct viewer_stream *view,
			     const struct ctf_index_entry *entry, struct wire_out *reply)
{
	const uint32_t flags = flags_of(viewer, view);

	if (flags & WIRE_NEW_STREAM && !viewer->knows_news) {
		viewer->knows_news = true;
		viewer->reach = viewer_reach(viewer);
	}
	put_index(reply, entry, flags);
	view->told = entry->timestamp_end > view->told ? entry->timestamp_end : view->told;
	view->next++;
}

static int begin_read(struct viewer_call *call, struct viewer_stream *view, struct store_file *file,
		      bool is_entry, uint64_t offset, uint32_t size)
{
	struct viewer *viewer = call->viewer;

	viewer->read = (struct viewer_read){
		.file = store_ref(file), .is_entry = is_entry, .offset = offset, .size = size,
		.bytes = is_entry ? NULL : malloc(size), .got = -1,
	};
	viewer->reading_for = view;
	if (is_entry || viewer->read.bytes)
		return CALL_READS;
	store_unref(file);
	viewer->read.file = NULL;
	return err_no_memory(call->err);
}

int viewer_on_next_index(struct viewer_call *call)
{
	struct viewer *viewer = call->viewer;
	struct viewer_stream *view = view_of(viewer, wire_take(call->in, 8));
	const struct relay_part *part;
	struct relay_stream *stream;

	if (!view || view->stream->is_metadata) {
		put_status(call->reply, view ? WIRE_INDEX_HUP : WIRE_INDEX_ERR, 0);
		return 0;
	}
	stream = view->stream;
	if (view->next < relay_first(stream))	/* overwritten or deleted */
		view->next = relay_first(stream);
	while (view->next < stream->published && !relay_packet(stream, view->next))
		view->next++;
	/* Not before the metadata declares the packet's class, nor before streams that may begin
	 * earlier are known. */
	if (view->next >= stream->published || !relay_is_declared(stream) ||
	    !viewer_may_show(viewer, view)) {
		put_none(viewer, view, call->reply);
		return 0;
	}
	part = relay_packet(stream, view->next);
	store_unref(view->file);
	view->file = store_ref(part->file);
	if (stream->published - view->next > RELAY_RECENT)
		return begin_read(call, view, part->file, true,
				  part->entry + view->next - part->first, 0);
	put_packet_index(viewer, view, &stream->recent[view->next % RELAY_RECENT], call->reply);
	return 0;
}

/* ---- bytes ---- */

static void put_packet(struct wire_out *reply, uint32_t status, const uint8_t *bytes, uint32_t size)
{
	wire_put_packet_reply(reply, &(struct wire_packet_reply){ status, size, 0 });
	wire_add_bytes(reply, bytes, size);
}

int viewer_on_packet(struct viewer_call *call)
{
	struct wire_get_packet request;
	struct viewer_stream *view;

	(void)wire_get_get_packet(call->in, &request);
	view = view_of(call->viewer, request.stream);
	if (!view || !view->file || !request.size || request.size > PIECE_MAX) {
		put_packet(call->reply, WIRE_PACKET_ERR, NULL, 0);
		return 0;
	}
	return begin_read(call, view, view->file, false, request.offset, request.size);
}

static void put_metadata(struct wire_out *reply, uint32_t status, const uint8_t *bytes,
			 uint32_t size)
{
	wire_put_metadata_reply(reply, &(struct wire_metadata_reply){ size, status });
	wire_add_bytes(reply, bytes, size);
}

int viewer_on_metadata(struct viewer_call *call)
{
	struct viewer_stream *view = view_of(call->viewer, wire_take(call->in, 8));
	uint64_t left;

	if (!view || !view->stream->is_metadata) {
		put_metadata(call->reply, WIRE_METADATA_ERR, NULL, 0);
		return 0;
	}
	/* After a rotation the metadata begins again: skip what was sent. */
	if (view->stream->stored <= view->sent || !view->stream->file) {
		const bool none = view->stream->closed && !view->stream->writing && !view->sent;

		put_metadata(call->reply, none ? WIRE_METADATA_ERR : WIRE_METADATA_NO_NEW, NULL, 0);
		return 0;
	}
	left = view->stream->stored - view->sent;
	return begin_read(call, view, view->stream->file, false, view->sent,
			  left < PIECE_MAX ? (uint32_t)left : PIECE_MAX);
}

void viewer_answer_read(struct viewer *viewer, struct wire_out *reply)
{
	const struct viewer_read *read = &viewer->read;
	struct viewer_stream *view = viewer->reading_for;
	const uint32_t got = read->got > 0 ? (uint32_t)read->got : 0;

	if (read->is_entry && read->got < 0) {
		put_status(reply, WIRE_INDEX_ERR, 0);
	} else if (read->is_entry) {
		put_packet_index(viewer, view, &read->entry, reply);
	} else if (!view->stream->is_metadata) {
		put_packet(reply, got == read->size ? WIRE_PACKET_OK : WIRE_PACKET_ERR, read->bytes,
			   got == read->size ? got : 0);
	} else {
		/* babeltrace2 rejects an OK reply without data. */
		put_metadata(reply, got ? WIRE_METADATA_OK : WIRE_METADATA_NO_NEW, read->bytes,
			     got);
		view->sent += got;
	}
}
