/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets that a collector knows to be lost: entries of index/CHANNEL.lost. Between two packets of
 * a stream the sequence numbers show what is missing. Only the entries show what is missing at the
 * ends, or that a whole stream is missing.
 *
 *      0      1      2      3      4      5      6      7
 *    entry  entry  packet packet entry  packet entry  entry
 *    beginning                   number         end
 *
 * The idea: an entry stands for a packet without events. In front of the first packet the first
 * entry becomes the packet before it. Behind the last packet the last entry becomes the packet that
 * reveals the loss, and then the packet before whatever comes later. The numbers between them do
 * the rest, so nothing counts twice.
 */
#include <stdlib.h>

#include "ctf/format/bits.h"
#include "ctf/read/stream_impl.h"

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Entries without numbers, which are UINT64_MAX, go by their times. */
static int by_number(const void *a, const void *b)
{
	const struct ctf_index_entry *x = a, *y = b;
	int order = compare(x->packet_seq_num, y->packet_seq_num);

	if (!order)
		order = compare(x->timestamp_begin, y->timestamp_begin);
	return order ? order : compare(x->timestamp_end, y->timestamp_end);
}

static bool is_numbered(const struct ctf_index_entry *entry)
{
	return entry->packet_seq_num != UINT64_MAX;
}

static bool is_behind(const struct ctf_index_entry *entry, const struct packet *packet)
{
	if (is_numbered(entry) && packet->has & HAS_SEQ)
		return entry->packet_seq_num > packet->seq;
	return entry->timestamp_begin >= (packet->has & HAS_END ? packet->end : packet->begin);
}

void gone_sort(struct ctf_stream *s)
{
	uint32_t kept = 0;

	s->gone_at = 0;
	if (!s->gone_count)
		return;
	qsort(s->gone, s->gone_count, sizeof *s->gone, by_number);
	for (uint32_t i = 1; i < s->gone_count; i++) {
		const struct ctf_index_entry *last = &s->gone[kept];
		const bool again = is_numbered(last)
					   ? last->packet_seq_num == s->gone[i].packet_seq_num
					   : !by_number(last, &s->gone[i]);

		if (!again)
			s->gone[++kept] = s->gone[i];
	}
	s->gone_count = kept + 1;
}

/* Go to the first entry behind the packet before. */
static const struct ctf_index_entry *next_gone(struct ctf_stream *s)
{
	while (s->gone_at < s->gone_count && s->has_before &&
	       !is_behind(&s->gone[s->gone_at], &s->before))
		s->gone_at++;
	return s->gone_at < s->gone_count ? &s->gone[s->gone_at] : NULL;
}

/* Takes the next entry. */
static void take(struct ctf_stream *s)
{
	const uint64_t events = s->gone[s->gone_at++].events;

	s->lost_in_packets += events < UINT64_MAX - s->lost_in_packets ? events : 0;
}

static void stand_in(struct ctf_stream *s, const struct ctf_index_entry *entry)
{
	s->before = (struct packet){
		.has = HAS_BEGIN | HAS_END | HAS_DISCARDED | (is_numbered(entry) ? HAS_SEQ : 0),
		.begin = entry->timestamp_begin,
		.end = entry->timestamp_end,
		.seq = entry->packet_seq_num,
		.discarded = entry->events_discarded,
	};
	s->has_before = true;
}

uint64_t gone_in_front(struct ctf_stream *s, const struct ctf_index_entry **first)
{
	const struct ctf_index_entry *entry = next_gone(s);
	const uint32_t from = s->gone_at;

	*first = NULL;
	s->lost_in_packets = 0;
	while (s->gone_at < s->gone_count && !is_behind(&s->gone[s->gone_at], &s->packet))
		take(s);
	if (s->gone_at == from)
		return 0;
	if (!s->has_before) {
		*first = entry;
		stand_in(s, entry);
	}
	return s->gone_at - from;
}

bool gone_at_end(struct ctf_stream *s)
{
	const struct ctf_index_entry *entry = s->class ? next_gone(s) : NULL, *last;
	const unsigned bits = s->packet.discarded_bits ? s->packet.discarded_bits : 64;
	uint64_t packets, base = 0;

	if (!entry)
		return false;
	last = &s->gone[s->gone_count - 1];
	packets = s->gone_count - s->gone_at;
	if (is_numbered(last) && s->has_before && s->before.has & HAS_SEQ)
		packets = last->packet_seq_num - s->before.seq;
	else if (is_numbered(last) && !s->has_before)
		packets = last->packet_seq_num - entry->packet_seq_num + 1;
	if (s->has_before && s->before.has & HAS_DISCARDED)
		base = s->before.discarded;
	else if (entry->packet_seq_num)
		base = entry->events_discarded; /* it includes events before the trace */
	s->loss_begin =
		s->has_before && s->before.has & HAS_END ? s->before.end : entry->timestamp_begin;
	s->loss_end = last->timestamp_end > s->loss_begin ? last->timestamp_end : s->loss_begin;
	s->lost = bits_extend(last->events_discarded - base, bits, false);
	if (bits_extend(s->lost, bits, true) >> 63)
		s->lost = 0;
	s->lost_packets = packets;
	for (s->lost_in_packets = 0; s->gone_at < s->gone_count;)
		take(s);
	stand_in(s, last);
	return true;
}
