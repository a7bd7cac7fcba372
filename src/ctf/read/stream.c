/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stream: the packets of its files in order, and what is missing between them. Two counters in
 * the packets show loss: discarded events and the sequence number. A loss comes before the events
 * of the packet that shows it, so that an analysis knows in time that what it has begun may be
 * incomplete.
 */
#include <stdlib.h>
#include <string.h>

#include "ctf/format/bits.h"
#include "ctf/read/stream_impl.h"

#define BATCH_RECORDS 256
#define BATCH_FIRST 32 /* of a stream that has few events */
/* Clocks of CPUs differ by less. */
#define BACK_MAX_NS 1000000000
/* The least offset of a clock that counts from a machine's boot. */
#define REAL_OFFSET_NS INT64_C(1000000000000000)

uint64_t clock_scale(const struct stream_class *class, uint64_t value)
{
	uint64_t freq = class->clock.freq;

	return value / freq * 1000000000 +
	       (uint64_t)((unsigned __int128)(value % freq) * 1000000000 / freq);
}

static void warn_packet(struct ctf_stream *s, const char *what)
{
	if (!s->quiet)
		reader_warn(s->reader, "%s: packet at byte %llu: %s", s->file[s->file_index].path,
			    (unsigned long long)s->packet_offset, what);
}

/* ---- loss ---- */

static void count_discarded(struct ctf_stream *s)
{
	const struct packet *now = &s->packet, *before = &s->before;
	unsigned bits = now->discarded_bits;
	uint64_t grown;

	if (!(now->has & HAS_DISCARDED))
		return;
	if (!s->has_before) {
		/* If the trace begins with a later packet, its counter includes events before the
		 * trace. */
		if (!(now->has & HAS_SEQ) || !now->seq)
			s->lost = bits_extend(now->discarded, bits, false);
		return;
	}
	grown = bits_extend(now->discarded - before->discarded, bits, false);
	if (bits_extend(grown, bits, true) >> 63)
		warn_packet(s, "the counter of discarded events goes backwards; no loss is counted here");
	else
		s->lost = grown;
}

static void count_packets(struct ctf_stream *s)
{
	const struct packet *now = &s->packet, *before = &s->before;

	if (!s->has_before || !(now->has & before->has & HAS_SEQ))
		return;
	if (now->seq > before->seq)
		s->lost_packets = now->seq - before->seq - 1;
	else
		warn_packet(s, "the packet sequence number does not grow; no loss is counted here");
}

void stream_find_loss(struct ctf_stream *s)
{
	const struct ctf_index_entry *first;
	const uint64_t known = gone_in_front(s, &first);

	s->lost = s->lost_packets = 0;
	count_discarded(s);
	count_packets(s);
	if (first) {
		s->lost_packets++;
		s->lost += first->packet_seq_num ? 0 : first->events_discarded;
	}
	if (s->lost_packets < known)
		s->lost_packets = known;
	s->loss_begin = first                                      ? first->timestamp_begin
			: s->has_before && s->before.has & HAS_END ? s->before.end
			: s->has_before                            ? s->before.begin
								   : s->packet.begin;
	s->loss_end = s->lost && s->packet.has & HAS_END ? s->packet.end : s->packet.begin;
	if (s->loss_end < s->loss_begin)
		s->loss_end = s->loss_begin;
	s->loss_noted = !s->lost && !s->lost_packets;
}

/* ---- packets ---- */

/*
 * Warns of times that cannot be true: packets of a stream follow each other, and nothing is
 * recorded at the moment of the boot.
 */
static void check_order(struct ctf_stream *s)
{
	const struct packet *now = &s->packet, *before = &s->before;

	if (!(now->has & HAS_BEGIN))
		return;
	if (now->has & HAS_END && now->end < now->begin)
		warn_packet(s, "damaged: it ends before it begins");
	if (!now->begin && s->class->offset_ns >= REAL_OFFSET_NS)
		warn_packet(s, "damaged: it begins at the boot of the machine");
	if (s->has_before && before->has & HAS_BEGIN && now->begin < before->begin &&
	    clock_to_ns(s->class, before->begin - now->begin) > BACK_MAX_NS)
		warn_packet(s, "damaged: it begins before the packet in front of it");
}

/* Set the cursor to what the window has of the packet. */
static void see_window(struct ctf_stream *s, uint64_t have_bytes, uint64_t from)
{
	uint64_t end = (from + have_bytes) * 8;
	uint64_t content = s->class->bytewise ? bits_align(s->content_end, 8) : s->content_end;

	s->at.base = (const uint8_t *)((uintptr_t)s->window.bytes -
				       (uintptr_t)(s->window.offset - s->packet_offset));
	s->shift = (s->window.offset - s->packet_offset) * 8;
	s->at.end = end < content ? end : content;
}

static bool load_from(struct ctf_stream *s, uint64_t pos, uint64_t want)
{
	uint64_t from = pos >> 3, left = bits_align(s->content_end, 8) / 8 - from;
	int64_t have = window_need(s, s->packet_offset + from, want < left ? want : left);

	if (have < 0)
		return false;
	/* All that is in memory counts, not only what was asked for. */
	have = (int64_t)(s->window.offset + s->window.used - (s->packet_offset + from));
	see_window(s, (uint64_t)have, from);
	return true;
}

bool stream_has_more(const struct ctf_stream *s)
{
	return s->at.end < s->content_end &&
	       (s->at.end + 7) >> 3 < bits_align(s->content_end, 8) >> 3;
}

bool stream_more(struct ctf_stream *s)
{
	uint64_t from = s->event_begin >> 3;
	uint64_t have = ((s->at.end + 7) >> 3) - from;

	return stream_has_more(s) && load_from(s, s->event_begin, have + 1) &&
	       ((s->at.end + 7) >> 3) - from > have;
}

static bool next_file(struct ctf_stream *s)
{
	window_close(s);
	s->packet_offset = s->packet_bytes = 0;
	return ++s->file_index < s->file_count;
}

bool stream_is_at(struct ctf_stream *s, const struct packet_place *place)
{
	bool quiet = s->quiet, same;

	s->packet_offset = place->offset;
	s->quiet = true;
	same = !packet_open(s) && s->packet.size == place->size &&
	       s->packet.content == place->content && s->packet.begin == place->begin &&
	       s->packet.end == place->end && s->packet.discarded == place->discarded;
	s->quiet = quiet;
	return same;
}

/*
 * At the beginning of a file: skip the packets before the time window, if there is an index. Begins
 * one packet earlier, so that loss in front of the first wanted packet is found.
 */
static void seek_window(struct ctf_stream *s)
{
	struct packet_index index;
	uint32_t low = 0, high;

	if (s->reader->window_begin == INT64_MIN || s->quiet || !s->class ||
	    !index_read(&index, s->file[s->file_index].path, s->file[s->file_index].size))
		return;
	high = index.count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (epoch_of(s->class, index.place[middle].end) < s->reader->window_begin)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < 2 || !stream_is_at(s, &index.place[low - 1]))
		s->packet_offset = 0;
	index_free(&index);
}

static bool open_packet(struct ctf_stream *s)
{
	int result =
		s->packet_offset < s->file[s->file_index].size ? packet_open(s) : PACKET_NOT_YET;

	s->unusable = result < 0;
	return !result;
}

bool stream_next_packet(struct ctf_stream *s)
{
	if (s->file_index >= s->file_count)
		return false;
	if (s->packet_bytes) {
		s->before = s->packet;
		s->has_before = true;
	}
	s->packet_offset += s->packet_bytes;
	s->packet_bytes = 0;
	if (!s->packet_offset)
		seek_window(s);
	while (!open_packet(s)) {
		if (s->reader->growing && s->file_index + 1 == s->file_count && !s->unusable)
			return false;	/* the file may grow here */
		if (!next_file(s))
			return false;
		seek_window(s);
	}
	check_order(s);
	stream_find_loss(s);
	s->at.pos = s->event_begin = s->packet.first_event;
	s->at.slot = s->slot;
	if (s->packet.has & HAS_BEGIN)
		s->clock = s->packet.begin;
	if (s->packet.first_event >= s->content_end)
		s->at.end = s->at.pos;
	else if (!s->quiet && !load_from(s, s->at.pos, 1))
		s->content_end = s->at.pos;
	return true;
}

void stream_abandon_packet(struct ctf_stream *s, enum walk_result why)
{
	char text[200];

	(void)snprintf(text, sizeof text, "%s at byte %llu of it; the rest of the packet is left out",
		       why == WALK_SHORT ? "an event is cut off" : s->event ?
		       "a field of an event makes no sense" : "no event class fits the header",
		       (unsigned long long)(s->event_begin >> 3));
	if (!s->cut_off || why != WALK_SHORT)
		warn_packet(s, text);
	s->at.pos = s->at.end = s->content_end = s->event_begin;
}

/* Packets that end before the time window are not decoded. */
static bool packet_is_early(const struct ctf_stream *s)
{
	if (s->reader->window_begin == INT64_MIN || !(s->packet.has & HAS_END))
		return false;
	return trace_aligned(s->class->trace, epoch_of(s->class, s->packet.end)) <
	       s->reader->window_begin;
}

static void note_loss(struct ctf_stream *s, uint64_t clock)
{
	int64_t key = epoch_of(s->class, clock);

	s->loss_noted = true;
	if (trace_aligned(s->class->trace, key) >= s->reader->window_begin)
		*s->batch_end++ = (struct event_record) { key, RECORD(RECORD_LOSS, 0) };
}

/* The batch, which grows to BATCH_RECORDS as long as it was full, unless a size was set. What was
 * in it is over. */
static bool batch_make(struct ctf_stream *s)
{
	const bool was_full = s->batch && s->batch_end == s->batch + s->batch_capacity;

	if (!s->batch_capacity)
		s->batch_capacity = BATCH_FIRST;
	if (was_full && s->batch_capacity < BATCH_RECORDS) {
		s->batch_capacity *= 2;
		free(s->batch);
		s->batch = NULL;
	}
	if (!s->batch)
		s->batch = malloc(s->batch_capacity * sizeof *s->batch);
	if (!s->batch)
		reader_warn(s->reader, "%s: left out: out of memory", s->info.path);
	return s->batch;
}

/* The stream is at its end, or at that of what is there now: thousands may be. */
static void buffers_free(struct ctf_stream *s)
{
	window_free(s);
	free(s->batch);
	s->batch = s->next = s->batch_end = NULL;
}

bool stream_refill(struct ctf_stream *s)
{
	if (!batch_make(s))
		return false;
	s->next = s->batch_end = s->batch;
	for (bool more = true;;) {
		if (s->class && more)
			batch_fill(s);
		if (s->batch_end > s->batch) {
			if (s->class && s->class->trace->changes)
				batch_align(s);
			return true;
		}
		more = more && !(s->stop && __atomic_load_n(s->stop, __ATOMIC_RELAXED));
		if (!more || !stream_next_packet(s)) {
			if (more && gone_at_end(s)) {
				note_loss(s, s->clock > s->loss_begin ? s->clock : s->loss_begin);
				more = false;
				continue;
			}
			buffers_free(s);
			return false;
		}
		if (packet_is_early(s)) {
			s->at.pos = s->at.end = s->content_end = s->event_begin;
			s->loss_noted = true;
		}
		if (!s->loss_noted)
			note_loss(s, s->packet.has & HAS_BEGIN ? s->packet.begin : s->clock);
	}
}

void stream_rewind(struct ctf_stream *s)
{
	window_close(s);
	s->file_index = 0;
	s->packet_offset = s->packet_bytes = 0;
	s->content_end = s->at.pos = s->at.end = 0;
	s->clock = 0;
	s->has_before = false;
	s->gone_at = 0;
	s->loss_noted = true;
	s->lost = s->lost_packets = s->lost_in_packets = 0;
	s->event = NULL;
	s->next = s->batch_end = s->batch;
}
