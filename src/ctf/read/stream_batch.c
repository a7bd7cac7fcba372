/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader's inner loop. It finds the events in the window, and notes the time, class and place
 * of each. The values of an event are decoded later, and only if somebody asks for them.
 *
 *   window   | header body | header body | header body ...
 *   batch    { time, class, place } { ... }        only of events that are wanted
 *
 * Why it is fast: the loop cannot go to the next event before it knows the size of this one, and
 * that size takes two loads, one after the other. But most events of a trace have one of two sizes.
 * So the size is compared with these two; the processor predicts the result, and works on the next
 * event before the loads are done.
 */
#include <string.h>

#include "ctf/read/header_fast.h"

/* What the loop needs. A copy: for the compiler, the records that the loop writes could overwrite
 * the originals. */
struct scan {
	const struct scan_entry *entry;
	uint64_t ids;
	uint32_t usual[2];		/* bytes of an event with its header */
	uint64_t offset;		/* epoch minus clock */
	uint64_t shift;
	int64_t begin;			/* of the time window */
	uint32_t all;			/* events that are not bound, too */
};

/* Keeps a branch, which the processor predicts; a conditional move would wait for the loads. */
#define GUESS(value) __asm__ volatile("" : "+r"(value))

/* @shape, @ns: constants, so that the compiler makes a loop for each. @plain: the header of
 * HEADER_PLAIN, a constant for the one that kymo writes. @ns: the clock counts nanoseconds. */
static inline __attribute__((always_inline)) void scan_loop(struct ctf_stream *s,
							    const struct scan scan,
							    const struct plain_header plain,
							    enum header_shape shape, bool ns)
{
	const uint8_t *base = s->at.base;
	uint64_t at = (s->at.pos + 7) >> 3, end = s->at.end >> 3, clock = s->clock;
	struct event_record *out = s->batch_end, *const full = s->batch + s->batch_capacity;

	if (at > end)
		return;
	while (at < end && out < full) {
		uint64_t id, next = clock;
		uint32_t header = header_decode(&plain, shape, base + at, end - at, &id, &next),
			 whole;
		struct scan_entry entry;

		if (!header || id >= scan.ids)
			break;
		entry = scan.entry[id];
		if (entry.size > end - at - header)
			break;
		clock = next;
		out->key = (int64_t)((ns ? clock : clock_to_ns(s->class, clock)) + scan.offset);
		out->what = entry.what | ((at + header) * 8 - scan.shift);
		out += (scan.all | entry.is_bound) & (out->key >= scan.begin);
		whole = header + entry.size;
		if (whole == scan.usual[0]) {
			at += scan.usual[0];
			GUESS(at);
		} else if (whole == scan.usual[1]) {
			at += scan.usual[1];
			GUESS(at);
		} else {
			at += whole;
		}
	}
	s->clock = clock;
	s->at.pos = at * 8;
	s->batch_end = out;
}

/* Events of fixed size with headers of a known shape, as far as they go. */
static void scan_fixed(struct ctf_stream *s)
{
	const struct stream_class *class = s->class;
	const struct plain_header plain = class->plain, own = { 10, 0, 2, 2 };
	const struct scan scan = {
		.entry = class->scan,
		.ids = class->by_id_count,
		.usual = { class->usual[0], class->usual[1] },
		.offset = (uint64_t) class->offset_ns,
		.shift = s->shift,
		.begin = s->reader->window_begin,
		.all = !s->reader->only_bound,
	};

	if (!class->scan)
		return;
	if (!class->counts_ns)
		scan_loop(s, scan, plain, class->shape, false);
	else if (class->shape == HEADER_PLAIN && !memcmp(&plain, &own, sizeof(own)))
		scan_loop(s, scan, own, HEADER_PLAIN, true);
	else if (class->shape == HEADER_PLAIN)
		scan_loop(s, scan, plain, HEADER_PLAIN, true);
	else if (class->shape == HEADER_LARGE)
		scan_loop(s, scan, plain, HEADER_LARGE, true);
	else
		scan_loop(s, scan, plain, HEADER_COMPACT, true);
}

static void note(struct ctf_stream *s, uint64_t body)
{
	const struct event_class *event = s->event;
	int64_t key = epoch_of(s->class, s->clock);
	uint64_t pos = s->class->shape == HEADER_GENERAL ? s->event_begin : body;

	if ((event->bound < 0 && s->reader->only_bound) || key < s->reader->window_begin)
		return;
	*s->batch_end++ = (struct event_record) { key, RECORD(event->pub.index, pos - s->shift) };
}

enum walk_result stream_event(struct ctf_stream *s, uint64_t *body)
{
	struct plan_out none = { 0 };
	uint64_t clock = s->clock;
	enum walk_result result;

	s->event_begin = s->at.pos;
	s->event = NULL;
	result = header_next(s);
	*body = s->at.pos;
	if (!result)
		result = plan_run(&s->event->plan, s->event->scope, &s->at, &none);
	if (!result)
		return WALK_OK;
	s->at.pos = s->event_begin;
	s->clock = clock;
	return result;
}

/* One event of any class and header. Return: what stopped it. */
static enum walk_result scan_one(struct ctf_stream *s)
{
	uint64_t body;
	enum walk_result result = stream_event(s, &body);

	if (!result)
		note(s, body);
	return result;
}

void batch_fill(struct ctf_stream *s)
{
	const struct event_record *full = s->batch + s->batch_capacity;

	while (s->batch_end < full) {
		enum walk_result result;

		scan_fixed(s);
		if (s->batch_end == full || s->at.pos >= s->content_end)
			return;
		result = scan_one(s);
		if (result == WALK_OK)
			continue;
		/* Give out the batch first: more of the file is loaded over what it refers to. */
		if (result == WALK_SHORT && s->batch_end > s->batch && stream_has_more(s))
			return;
		if (result == WALK_SHORT && stream_more(s))
			continue;
		stream_abandon_packet(s, result);
		return;
	}
}

uint64_t record_body(struct ctf_stream *s, const struct event_record *record, bool *readable)
{
	uint64_t pos = RECORD_POS(record) + s->shift, after = s->at.pos, clock = s->clock;

	*readable = true;
	s->event = s->reader->class[RECORD_CLASS(record)];
	if (s->class->shape != HEADER_GENERAL)
		return pos;
	/* The header may hold lengths and choices of what follows. */
	s->at.pos = pos;
	*readable = header_next(s) == WALK_OK;
	pos = s->at.pos;
	s->at.pos = after;
	s->clock = clock;
	return pos;
}

void record_decode(struct ctf_stream *s, const struct event_record *record, struct plan_out *out)
{
	uint64_t after = s->at.pos;
	bool readable;

	s->at.pos = record_body(s, record, &readable);
	/* It was decoded before, when its size was asked for. */
	if (readable)
		(void)plan_run(&s->event->plan, s->event->scope, &s->at, out);
	s->at.pos = after;
}
