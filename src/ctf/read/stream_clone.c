/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a stream that read on their own: for other threads, for copies of a trace, and for
 * facts of the stream. */
#include <stdlib.h>
#include <string.h>

#include "ctf/read/stream_impl.h"

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
	return packet_keep_head(to, from->head_bytes,
				from->packet_bytes ? from->packet.first_event : 0);
}

/* ---- facts ---- */

/*
 * Facts of a stream from its packets alone: their number, times and losses. Reads the packet
 * headers with a copy of the stream, so that reading is not disturbed. If there is an index, and
 * its first and last entries agree with the file, the index is used instead.
 */
static void add_packet(struct kymo_ctf_stream_info *info, const struct ctf_stream *s)
{
	const struct packet *p = &s->packet;

	if (!info->packets++ && p->has & HAS_BEGIN)
		info->begin_ns = clock_to_ns(s->class, p->begin);
	if (p->has & HAS_END)
		info->end_ns = clock_to_ns(s->class, p->end);
	info->lost += s->lost;
	info->lost_packets += s->lost_packets;
	info->lost_in_packets += s->lost_in_packets;
}

/* What is lost behind the last packet; of a stream of which everything is, also its times. */
static void add_end(struct kymo_ctf_stream_info *info, struct ctf_stream *s)
{
	if (!gone_at_end(s))
		return;
	if (!info->packets) {
		info->begin_ns = clock_to_ns(s->class, s->loss_begin);
		info->end_ns = clock_to_ns(s->class, s->loss_end);
	}
	info->lost += s->lost;
	info->lost_packets += s->lost_packets;
	info->lost_in_packets += s->lost_in_packets;
}

static void add_index(struct kymo_ctf_stream_info *info, struct ctf_stream *copy,
		      const struct packet_index *index)
{
	for (uint32_t i = 0; i < index->count; i++) {
		const struct packet_place *place = &index->place[i];
		struct packet *p = &copy->packet;

		copy->before = *p;
		p->begin = place->begin;
		p->end = place->end;
		p->discarded = place->discarded;
		if (place->discarded_len)
			p->discarded_bits = (uint32_t)place->discarded_len;
		p->seq = place->seq;
		stream_find_loss(copy);
		copy->has_before = true;
		add_packet(info, copy);
	}
	copy->before = copy->packet;
}

/* Return: false: there is no index, or it does not agree with the file, or lacks what is needed. */
static bool scan_by_index(struct kymo_ctf_stream_info *info, struct ctf_stream *copy)
{
	const uint32_t needed =
		HAS_SIZE | HAS_CONTENT | HAS_BEGIN | HAS_END | HAS_DISCARDED | HAS_SEQ;
	struct packet_index index;
	bool good;

	if (copy->file_count != 1 || !index_read(&index, copy->file[0].path, copy->file[0].size))
		return false;
	good = stream_is_at(copy, &index.place[index.count - 1]) &&
	       copy->packet.seq == index.place[index.count - 1].seq &&
	       stream_is_at(copy, &index.place[0]) && copy->packet.seq == index.place[0].seq &&
	       (copy->packet.has & needed) == needed;
	stream_rewind(copy);
	if (good)
		add_index(info, copy, &index);
	index_free(&index);
	return good;
}

/* Of @count files of @s from @first on. */
static void scan_files(const struct ctf_stream *s, uint32_t first, uint32_t count,
		       struct kymo_ctf_stream_info *info)
{
	struct ctf_stream *copy = stream_clone(s);

	if (!copy)
		return;
	copy->quiet = true;
	copy->file += first;
	copy->file_count = count;
	info->packets = info->lost = info->lost_packets = info->lost_in_packets = 0;
	if (!scan_by_index(info, copy))
		while (stream_next_packet(copy))
			add_packet(info, copy);
	add_end(info, copy);
	stream_clone_free(copy);
}

void stream_scan(struct ctf_stream *s)
{
	s->scanned = true;
	scan_files(s, 0, s->file_count, &s->info);
}

uint64_t stream_end(struct ctf_stream *s)
{
	struct stream_file *last = &s->file[s->file_count - 1];
	struct kymo_ctf_stream_info info = { 0 };

	if (!last->end_known) {
		scan_files(s, s->file_count - 1, 1, &info);
		last->end_ns = info.end_ns;
		last->end_known = true;
	}
	return last->end_ns;
}
