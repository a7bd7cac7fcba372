/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a stream that read on their own: for stream_scan.c, for other threads, for copies of a trace. */
#include <stdlib.h>
#include <string.h>

#include "ctf/read/reader_impl.h"

static size_t slot_count(const struct ctf_stream *s)
{
	return SLOTS_SHARED + s->reader->trace[s->info.trace]->layout.slots_most;
}

struct ctf_stream *stream_clone(const struct ctf_stream *from)
{
	struct ctf_stream *s = malloc(sizeof *s);
	uint64_t *slot = calloc(slot_count(from), sizeof *slot);

	if (!s || !slot) {
		free(s);
		free(slot);
		return NULL;
	}
	*s = *from;
	s->window = (struct window) { .fd = -1 };
	s->context_out = (struct plan_out) { 0 };
	s->head_bytes = NULL;
	s->head_capacity = 0;
	s->batch = NULL;
	s->slot = slot;
	stream_rewind(s);
	return s;
}

void stream_clone_free(struct ctf_stream *s)
{
	if (!s)
		return;
	window_close(s);
	plan_out_free(&s->context_out);
	free(s->head_bytes);
	free(s->window.bytes);
	free(s->batch);
	free(s->slot);
	free(s);
}

bool stream_continue(struct ctf_stream *to, struct ctf_stream *from)
{
	struct ctf_stream own = *to;
	const char *name = from->context.procname;

	*to = *from;
	to->window_size = own.window_size;
	to->stop = own.stop;
	to->batch = to->next = to->batch_end = own.batch;
	to->batch_capacity = own.batch_capacity;
	to->slot = own.slot;
	memcpy(to->slot, from->slot, SLOTS_SHARED * sizeof *to->slot);
	to->window = own.window;
	to->window.used = 0;
	to->window.fd = from->window.fd;
	from->window.fd = -1;
	packed_close(to->window.packed);
	to->window.packed = from->window.packed;
	to->window.is_packed = from->window.is_packed;
	from->window.packed = NULL;
	/* Nothing of the packet is in memory: stream_more() will get it. */
	to->at = (struct cursor) { .pos = from->at.pos, .end = from->at.pos, .slot = to->slot };
	to->head_bytes = own.head_bytes;
	to->head_capacity = own.head_capacity;
	to->context_out = own.context_out;
	to->context_out.event = &to->context;
	if (name && from->packet_bytes)
		plan_text(&to->context_out, TARGET_PROCNAME, name, strlen(name), false);
	return packet_keep_head(to, from->head_bytes, from->packet_bytes ? from->packet.first_event : 0);
}
