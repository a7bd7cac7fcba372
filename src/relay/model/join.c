/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two halves of a packet: its bytes arrive on the data connection, its index on the control
 * connection, in any order. Joined, they are a packet that viewers may read once it is on disk. A
 * half whose other half does not arrive is given up after a while: an index without bytes becomes a
 * lost packet (an entry with offset -1); bytes without an index stay in the file for readers that
 * scan it. When a producer was killed between the two, its packet's own head has what the index
 * would have said.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ctf/write/writer.h"
#include "relay/model/relay_packets.h"

#define SLOW_FACTOR	10	/* a half waits so many times longer while packets arrive */

/* ---- published packets ---- */

const struct relay_part *relay_packet(const struct relay_stream *stream, uint64_t number)
{
	for (unsigned i = stream->part_count; i-- > 0;) {
		const struct relay_part *part = &stream->part[i];

		if (number >= part->first && number - part->first < part->count)
			return part;
	}
	return NULL;
}

uint64_t relay_first(const struct relay_stream *stream)
{
	return stream->part_count ? stream->part[0].first : stream->published;
}

static bool is_below(const char *file, const char *path)
{
	const size_t length = strlen(path);

	return strncmp(file, path, length) == 0 && (!file[length] || file[length] == '/');
}

void relay_drop_parts(struct relay_stream *stream, const char *path)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < stream->part_count; i++) {
		struct relay_part part = stream->part[i];

		if (is_below(part.file->path, path) && part.file != stream->file)
			store_unref(part.file);
		else
			stream->part[kept++] = part;
	}
	stream->part_count = kept;
}

static bool append(struct relay_stream *stream, struct store_file *file)
{
	struct relay_part *last = stream->part_count ? &stream->part[stream->part_count - 1] : NULL;

	if (last && last->file == file && last->first + last->count == stream->published) {
		last->count++;
		return true;
	}
	if (!ARRAY_ROOM(stream->part, stream->part_count, stream->part_room))
		return false;
	stream->part[stream->part_count++] = (struct relay_part){
		store_ref(file), stream->published, 1, file->entries,
	};
	return true;
}

struct joined_publication {
	struct relay_stream *stream;
	struct store_file *file;
	struct ctf_index_entry entry;
	uint64_t seq;
};

/* The disk did not take a packet, or its entry among the lost ones. */
static void count_unstored(struct relay_stream *stream, uint64_t events)
{
	struct relay_session *session = stream->session;

	if (wire_is_facts(stream->channel)) {
		session->unstored_facts += events;
		return;
	}
	session->unstored_packets++;
	session->unstored_events += events;
}

/* Whether a newer file has its name. */
static bool is_overwritten(const struct relay_stream *stream, const struct store_file *file)
{
	return stream->file_count && stream->opened - file->serial > stream->file_count;
}

static void on_stored(void *context, bool stored)
{
	struct joined_publication *publication = context;
	struct relay_stream *stream = publication->stream;

	stream->writing--;
	if (stored && is_overwritten(stream, publication->file)) {
		;				/* as it was asked for */
	} else if (stored && append(stream, publication->file)) {
		if (!stream->published)
			stream->begin = publication->entry.timestamp_begin;
		stream->recent[stream->published++ % RELAY_RECENT] = publication->entry;
		if (publication->entry.timestamp_end > stream->until)
			stream->until = publication->entry.timestamp_end;
	} else {
		stream->lost++;
		count_unstored(stream, publication->entry.events);
	}
	relay_changed(stream->session);
	publication->file->entries += stored;
	relay_step_done(stream, publication->seq);
	store_unref(publication->file);
	free(publication);
}

static int publish(struct relay_stream *stream, const struct relay_half *half)
{
	struct joined_publication *publication = calloc(1, sizeof(*publication));

	if (!publication)
		return -1;
	publication->stream = stream;
	publication->seq = half->seq;
	publication->entry = half->entry;
	publication->entry.offset = half->offset;
	publication->file = half->file;
	if (store_entry(half->file, &publication->entry, on_stored, publication) < 0) {
		free(publication);
		return -1;
	}
	store_ref(half->file);
	stream->writing++;
	return 0;
}

/* ---- halves ---- */

static void half_link(struct relay_stream *stream, struct relay_half *half)
{
	half->older = stream->newest;
	*(half->older ? &half->older->newer : &stream->oldest) = half;
	stream->newest = half;
}

static void half_free(struct relay_stream *stream, struct relay_half *half)
{
	*(half->older ? &half->older->newer : &stream->oldest) = half->newer;
	*(half->newer ? &half->newer->older : &stream->newest) = half->older;
	(void)map_del(&stream->halves, half->seq, 0);
	store_unref(half->file);
	free(half);
}

struct lost_note {
	struct relay_stream *stream;
	uint64_t events;
};

static void on_noted(void *context, bool stored)
{
	struct lost_note *note = context;

	note->stream->writing--;
	if (!stored)
		count_unstored(note->stream, note->events);
	free(note);
}

/* Adds a lost packet to the index of these; else it is only counted. */
static void note_lost(struct relay_stream *stream, const struct ctf_index_entry *entry)
{
	struct lost_note *note = stream->file ? malloc(sizeof(*note)) : NULL;

	if (note) {
		*note = (struct lost_note){ stream, entry->events };
		if (store_entry(stream->file, entry, on_noted, note) == 0) {
			stream->writing++;
			return;
		}
		free(note);
	}
	count_unstored(stream, entry->events);
}

static void give_up(struct relay_stream *stream, struct relay_half *half)
{
	struct relay *relay = stream->session->relay;
	char text[512];
	bool first;

	if (half->has_index) {
		half->entry.offset = UINT64_MAX;
		note_lost(stream, &half->entry);
		first = !stream->lost++;
	/* A request that waits for this packet waits no longer. */
		if ((int64_t)(half->seq - stream->data_seq) > 0 || stream->data_seq == RELAY_NO_SEQ)
			stream->data_seq = half->seq;
		(void)snprintf(text, sizeof(text), "%s: packet %" PRIu64 " of %s/%s was lost on the way: its index arrived, "
			       "its bytes did not%s", stream->session->name, half->seq, stream->trace->path, stream->channel,
			       stream->session->cookie ? "; of datagrams only the first loss is reported" : "");
		if (first || !stream->session->cookie)
			relay->say(relay->context, text);
	} else {
		(void)store_ready(half->file, half->offset, (uint64_t)half->size + half->padding);
	}
	relay_step_done(stream, half->seq);
	half_free(stream, half);
	relay_close_if_complete(stream);
}

static struct relay_half *half_of(struct relay_stream *stream, uint64_t seq)
{
	struct relay_half *half = map_get(&stream->halves, seq, 0);

	if (half)
		return half;
	if (stream->halves.count >= RELAY_HALVES_MAX)
		give_up(stream, stream->oldest);
	half = calloc(1, sizeof(*half));
	if (!half)
		return NULL;
	half->seq = seq;
	half->born_ns = stream->session->relay->now_ns();
	half->born_poll = stream->session->relay->datagram_polls;
	if (map_put(&stream->halves, seq, 0, half) < 0) {
		free(half);
		return NULL;
	}
	half_link(stream, half);
	return half;
}

static int join(struct relay_stream *stream, struct relay_half *half)
{
	const uint64_t bytes = (uint64_t)half->size + half->padding;
	struct relay *relay = stream->session->relay;
	char text[512];
	int rc;

	if (!half->has_data || !half->has_index)
		return 0;
	if (half->entry.packet_size == 8 * bytes &&
	    half->entry.content_size <= half->entry.packet_size) {
		rc = publish(stream, half);
	} else {
		stream->lost++;
		(void)snprintf(text, sizeof(text),
			       "%s: packet %" PRIu64
			       " of %s/%s is not in the index: it has %" PRIu64
			       " bytes, its index says %" PRIu64 " bits",
			       stream->session->name, half->seq, stream->trace->path,
			       stream->channel, bytes, half->entry.packet_size);
		relay->say(relay->context, text);
		rc = store_ready(half->file, half->offset, bytes);
		relay_step_done(stream, half->seq);
	}
	half_free(stream, half);
	return rc;
}

int relay_join_data(struct relay_stream *stream, uint64_t seq, uint64_t offset, uint32_t size,
		    uint32_t padding)
{
	struct relay_half *half;

	if (stream->session->snapshot)	/* no index will come */
		return 0;
	half = half_of(stream, seq);
	if (!half)
		return -1;
	if (half->has_data)
		return 0;		/* a duplicate */
	half->has_data = true;
	half->file = store_ref(stream->file);
	half->offset = offset;
	half->size = size;
	half->padding = padding;
	memcpy(half->head, stream->coming.head, sizeof(half->head));
	return join(stream, half);
}

void relay_index_rest(struct relay_stream *stream)
{
	struct relay_half *newer;

	for (struct relay_half *half = stream->oldest; half; half = newer) {
		const uint64_t bytes = 8 * ((uint64_t)half->size + half->padding);
		struct ctf_index_entry entry;

		newer = half->newer;
		if (!half->has_data || half->has_index || half->size < sizeof(half->head) ||
		    !ctf_packet_entry(half->head, &entry) || entry.packet_size != bytes ||
		    relay_step(stream, half->seq, entry.timestamp_end) < 0)
			continue;
		half->has_index = true;
		half->entry = entry;
		stream->has_class = true;
		stream->class = entry.stream_id;
		(void)join(stream, half); /* without memory, it is as before */
	}
}

int relay_index(struct relay_stream *stream, const struct wire_index_2_4 *index,
		const struct wire_index_2_8 *more, const struct wire_index_counts *counts)
{
	struct relay_half *half;

	stream->has_class = true;
	stream->class = index->stream_class;
	if (index->packet_size == 0)
		return relay_beacon(stream, index->timestamp_end);
	half = half_of(stream, index->seq);
	if (!half || (!half->has_index && relay_step(stream, index->seq, index->timestamp_end) < 0))
		return -1;
	half->has_index = true;
	half->entry = (struct ctf_index_entry){
		.packet_size = index->packet_size,
		.content_size = index->content_size,
		.timestamp_begin = index->timestamp_begin,
		.timestamp_end = index->timestamp_end,
		.events_discarded = index->events_discarded,
		.stream_id = index->stream_class,
		.stream_instance_id = more ? more->stream_instance : 0,
		.packet_seq_num = more ? more->packet_seq : UINT64_MAX,
		.events_discarded_len = counts->events_discarded_len,
		.events = counts->events,
	};
	stream->index_seq = index->seq;
	if (!half->has_data && relay_is_skipped(stream, index->seq)) {
		give_up(stream, half);
		return 0;
	}
	return join(stream, half);
}

bool relay_is_late(const struct relay_stream *stream, uint64_t poll, uint64_t *end)
{
	bool late = false;

	for (const struct relay_half *half = stream->oldest; half && half->born_poll <= poll;
	     half = half->newer) {
		if (half->has_data)
			continue;
		late = true;
		*end = half->seq + 1;
	}
	return late;
}

void relay_lose_before(struct relay_stream *stream, uint64_t seq)
{
	struct relay_half *newer;

	for (struct relay_half *half = stream->oldest; half; half = newer) {
		newer = half->newer;
		if (half->has_index && !half->has_data && (int64_t)(half->seq - seq) < 0)
			give_up(stream, half);
	}
}

void relay_give_up(struct relay_stream *stream, int64_t before_ns)
{
	while (stream->oldest && stream->oldest->born_ns <= before_ns)
		give_up(stream, stream->oldest);
}

/* Halves of this session that arrived before this time expire. While bytes of packets arrive, the
 * bytes that are missing may be behind them, on a slow network: then a half waits longer. */
static int64_t expiry(const struct relay_session *session, int64_t now)
{
	const int64_t wait = session->relay->half_expires_ns;

	return now - (session->data_ns > now - wait ? SLOW_FACTOR * wait : wait);
}

void relay_expire(struct relay *relay)
{
	const int64_t now = relay->now_ns(), limit = now - relay->half_expires_ns;
	/* Bytes that the relay itself leaves waiting are not late. */
	const bool held = relay->held_ns && relay->held_ns > limit;

	relay_tell_losses(relay);
	for (struct relay_session *session = relay->sessions; session; session = session->next)
		for (struct relay_stream *stream = session->streams; stream; stream = stream->next)
			if (stream->is_metadata && stream->stored < stream->written &&
			    stream->written_ns < limit)
				relay_show_metadata(stream);
			else if (!held && (!session->is_ours ||
					   session->cookie)) /* datagrams can be lost; bytes of our
								own connections can't */
				relay_give_up(stream, expiry(session, now));
}
