/* SPDX-License-Identifier: Apache-2.0 */
/* A trace's metadata: what arrived, what is on disk, and what is whole, so that viewers may read
 * it. See relay_model.h. */
#include <stdlib.h>

#include "relay/model/relay_model.h"

void relay_metadata_again(struct relay_stream *stream)
{
	stream->received = stream->written = stream->stored = 0;
	stream->classes = 0;
	stream->declared = (struct declared){ 0 };
	stream->begun++;
}

/* A piece that the disk's thread writes. */
struct metadata_piece {
	struct relay_stream *stream;
	unsigned begun;
	uint64_t end;
	bool whole;			/* with it, the metadata so far is whole */
	uint64_t classes;
};

void relay_show_metadata(struct relay_stream *stream)
{
	stream->stored = stream->written;
	stream->classes = DECLARED_ALL;
}

void relay_end_metadata(struct relay_stream *stream)
{
	const bool cut_off = stream->session->is_ours && (!stream->closing || stream->unstored);

	if (!cut_off || !stream->stored || stream->stored >= stream->received || !stream->file) {
		relay_show_metadata(stream);
		return;
	}
	(void)store_cut(stream->file, stream->stored);
	stream->received = stream->written = stream->stored;
	stream->classes = DECLARED_ALL;
}

bool relay_is_declared(const struct relay_stream *stream)
{
	const struct relay_stream *metadata = stream->trace->metadata;
	const struct relay *relay = stream->session->relay;

	if (!metadata || !metadata->stored)
		return false;
	if (!stream->has_class || stream->class >= 64 || metadata->classes >> stream->class & 1)
		return true;
	return relay->now_ns() - metadata->written_ns >= relay->half_expires_ns;
}

static void metadata_stored(void *context, bool stored)
{
	struct metadata_piece *piece = context;
	struct relay_stream *stream = piece->stream;

	stream->writing--;
	stream->unstored |= !stored;
	if (stored && piece->begun == stream->begun) {
		stream->written = piece->end;
		stream->written_ns = stream->session->relay->now_ns();
		if (piece->whole) {
			stream->stored = piece->end;
			stream->classes = piece->classes;
			relay_changed(stream->session);
		}
	}
	free(piece);
	if (stream->closed && !stream->writing)
		relay_end_metadata(stream);
}

int relay_metadata(struct relay_stream *stream, const uint8_t *bytes, size_t size, uint32_t padding)
{
	struct metadata_piece *piece;

	if (!stream->is_metadata || !stream->file || !stream->chunk)
		return -1;
	piece = malloc(sizeof(*piece));
	if (!piece)
		return -1;
	declared_add(&stream->declared, bytes, size);
	*piece = (struct metadata_piece){
		stream, stream->begun, stream->received + size + padding,
		declared_is_whole(&stream->declared), declared_streams(&stream->declared),
	};
	if (store_write(stream->file, stream->received, bytes, size, padding, metadata_stored,
			piece) < 0) {
		free(piece);
		return -1;
	}
	stream->writing++;
	stream->received += size + padding;
	return 0;
}

void relay_reset_metadata(struct relay_stream *stream)
{
	relay_metadata_again(stream);
	if (stream->file)
		(void)store_cut(stream->file, 0);
}
