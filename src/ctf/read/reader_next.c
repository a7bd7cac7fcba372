/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The merge of all streams by time, kymo_ctf_next().
 *
 * The events of a stream are in order already. The stream with the earliest event is at the top of
 * a heap. Streams come in packets, so the next event is often of the same stream: its events are
 * given as long as they are not later than the earliest of the others (run_until), and the heap is
 * not touched meanwhile. Events of the same time come in the order of their streams.
 */
#include <string.h>

#include "base/array.h"
#include "ctf/read/stream_impl.h"

/* ---- a binary heap of streams by (key, index) ---- */

/* Which of two comes first cannot be predicted, so it is computed without a branch. Equal times are
 * rare. */
static inline bool before(const struct heap_entry *a, const struct heap_entry *b)
{
	bool first = a->key < b->key;

	if (__builtin_expect(a->key == b->key, 0))
		first = a->stream->index < b->stream->index;
	return first;
}

static inline void sift(struct kymo_ctf_reader *r, unsigned at, struct heap_entry entry)
{
	struct heap_entry *heap = r->heap;
	unsigned count = r->heap_count;

	for (;;) {
		unsigned child = 2 * at + 1;

		if (child >= count)
			break;
		/* heap_end() put an entry behind the last one that comes after all others. */
		child += before(&heap[child + 1], &heap[child]);
		if (!before(&heap[child], &entry))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = entry;
}

/* Keep an entry behind the last one, so that sift() need not ask whether there is one. */
static void heap_end(struct kymo_ctf_reader *r)
{
	static struct ctf_stream last = { .index = UINT32_MAX };

	r->heap[r->heap_count] = (struct heap_entry) { INT64_MAX, &last };
}

/* The stream with its next events; another copy of it when threads find them. NULL: it ended. */
static struct ctf_stream *refill(struct kymo_ctf_reader *r, struct ctf_stream *s)
{
	if (r->ahead)
		return ahead_next(r->ahead, s->index);
	return stream_refill(s) ? s : NULL;
}

/*
 * A stream that was not begun yet waits in the heap with the begin of its first packet: no event of
 * it is earlier. It is begun when it comes to the top, so that of very many files only those that
 * overlap in time are in memory. Threads find events of few streams ahead, and do not wait.
 */
static bool waits(const struct kymo_ctf_reader *r, const struct ctf_stream *s)
{
	return s->first_known && !s->file_index && !s->packet_offset && !s->packet_bytes &&
	       !r->growing && !r->ahead;
}

static int64_t first_key(const struct ctf_stream *s)
{
	const int64_t key = epoch_of(s->class, s->first);

	return s->class->trace->changes ? trace_aligned(s->class->trace, key) : key;
}

static void heap_add(struct kymo_ctf_reader *r, int64_t key, struct ctf_stream *s)
{
	r->heap[r->heap_count++] = (struct heap_entry){ key, s };
}

/* Of all streams that have something. */
static void heap_build(struct kymo_ctf_reader *r)
{
	if (r->threads && !r->growing && !r->ahead)
		r->ahead = ahead_start(r, r->threads);
	r->heap_count = 0;
	for (unsigned i = 0; i < r->stream_count; i++) {
		struct ctf_stream *s = r->stream[i];
		const bool found = s->next != s->batch_end;

		if (!found && waits(r, s)) {
			heap_add(r, first_key(s), s);
			continue;
		}
		s = found ? s : refill(r, s);
		if (s)
			heap_add(r, s->next->key, s);
	}
	heap_end(r);
	for (unsigned i = r->heap_count / 2; i-- > 0;)
		sift(r, i, r->heap[i]);
	r->started = true;
}

void reader_settle(struct kymo_ctf_reader *r)
{
	if (r->last)
		r->last->next++;
	r->last = NULL;
}

int reader_resume(struct kymo_ctf_reader *r, struct kymo_err *err)
{
	if (!ARRAY_ROOM(r->heap, r->stream_count, r->heap_room))
		return err_no_memory(err);
	if (r->started)
		heap_build(r);
	return 0;
}

/* The stream at the top has moved on: move it to its new place, or remove it. */
static void heap_fix(struct kymo_ctf_reader *r)
{
	struct ctf_stream *s = r->heap[0].stream;
	struct heap_entry entry;

	if (s->next == s->batch_end)
		s = refill(r, s);
	if (s) {
		sift(r, 0, (struct heap_entry) { s->next->key, s });
		return;
	}
	entry = r->heap[--r->heap_count];
	heap_end(r);
	if (r->heap_count)
		sift(r, 0, entry);
}

/* Until the top has an event. */
static void heap_begin_top(struct kymo_ctf_reader *r)
{
	while (r->heap_count && r->heap[0].key <= r->window_end &&
	       r->heap[0].stream->next == r->heap[0].stream->batch_end)
		heap_fix(r);
}

/* Up to which time the top's events come before those of all other streams. */
static int64_t run_until(const struct kymo_ctf_reader *r)
{
	const struct heap_entry *second = &r->heap[1];
	int64_t until;

	if (r->heap_count > 2 && before(&r->heap[2], second))
		second = &r->heap[2];
	if (r->heap_count < 2)
		return r->window_end;
	until = second->key;
	if (second->stream->index < r->heap[0].stream->index && until > INT64_MIN)
		until--;
	return until < r->window_end ? until : r->window_end;
}

/* ---- events ---- */

/* How far ahead of an event its stream is fetched into the cache. */
#define AHEAD_BYTES 256
#define AHEAD_RECORDS 16

/* What all events of a packet have in common lies together, from bound to class. */
#define COMMON_BEGIN offsetof(struct kymo_ctf_event, bound)
#define COMMON_END offsetof(struct kymo_ctf_event, value)

static inline void give_common(const struct ctf_stream *s, int64_t key,
			       struct kymo_ctf_event *event)
{
	memcpy((char *)event + COMMON_BEGIN, (const char *)&s->context + COMMON_BEGIN,
	       COMMON_END - COMMON_BEGIN);
	event->ns = time_limited(key);
	event->clock_ns = (uint64_t)key - (uint64_t)s->class->offset_ns;
}

static void give_loss(const struct ctf_stream *s, struct kymo_ctf_event *event)
{
	event->bound = KYMO_CTF_LOSS;
	event->class = NULL;
	event->loss_begin_ns = clock_to_ns(s->class, s->loss_begin);
	event->loss_end_ns = clock_to_ns(s->class, s->loss_end);
	event->lost = s->lost;
	event->lost_packets = s->lost_packets;
	event->lost_in_packets = s->lost_in_packets;
}

/* Values that this class does not have, or that some of its events do not have: from the packet, or
 * absent. */
static void give_packet_values(const struct ctf_stream *s, const struct event_class *class,
			       struct kymo_ctf_event *event)
{
	for (unsigned i = 0; i < KYMO_CTF_BIND_FIELDS; i++) {
		if (!((class->absent | class->maybe) >> i & 1))
			continue;
		event->value[i] = class->packet_value[i] < 0 ? (struct kymo_ctf_value) { 0 } :
				  s->packet_value[class->packet_value[i]];
	}
}

/* What give() does not do itself, so that it need not save registers. */
static __attribute__((noinline)) int give_any(struct kymo_ctf_reader *r, struct ctf_stream *s,
					      struct kymo_ctf_event *event)
{
	const struct event_record *record = s->next;
	const struct event_class *class;

	if (r->map_time)
		event->ns = time_limited(r->map_time(r->map_context, event->ns));
	if (RECORD_CLASS(record) == RECORD_LOSS) {
		give_loss(s, event);
		return 1;
	}
	class = r->class[RECORD_CLASS(record)];
	event->bound = class->bound;
	event->class = &class->pub;
	r->out.event = event;
	if (class->absent | class->maybe)
		give_packet_values(s, class, event);
	if (!class->fetches)
		record_decode(s, record, &r->out);
	else if (class->plan.wanted)
		plan_fetch(&class->plan, s->window.bytes + RECORD_POS(record) / 8, &r->out);
	return 1;
}

/*
 * Inlined into both callers: a call would cost as much as its body. Where the values are, the next
 * events of the stream are too; they were read by another thread, so they are in no near cache.
 */
static inline __attribute__((always_inline)) int
give(struct kymo_ctf_reader *r, struct ctf_stream *s, struct kymo_ctf_event *event)
{
	const struct event_record *record = s->next;
	const uint64_t body = RECORD_POS(record) / 8;
	const struct event_class *class;

	/* Numbers: what is fetched may be behind the end of both, and a loss has no bytes. */
	__builtin_prefetch((const void *)((uintptr_t)s->window.bytes + body + AHEAD_BYTES));
	__builtin_prefetch((const void *)((uintptr_t)record + AHEAD_RECORDS * sizeof(*record)));
	give_common(s, record->key, event);
	if (__builtin_expect(RECORD_CLASS(record) == RECORD_LOSS || r->map_time, 0))
		return give_any(r, s, event);
	class = r->class[RECORD_CLASS(record)];
	if (__builtin_expect(class->give != GIVE_FETCHED, 0))
		return give_any(r, s, event);
	event->bound = class->bound;
	event->class = &class->pub;
	for (unsigned left = class->absent; left; left &= left - 1)
		event->value[__builtin_ctz(left)] = (struct kymo_ctf_value){ 0 };
	plan_fetch_simple(&class->plan, s->window.bytes + body, event->value);
	return 1;
}

static __attribute__((noinline)) int next_stream(struct kymo_ctf_reader *r,
						 struct kymo_ctf_event *event)
{
	if (!r->started)
		heap_build(r);
	else if (r->last)
		heap_fix(r);
	r->last = NULL;
	heap_begin_top(r);
	if (!r->heap_count || r->heap[0].key > r->window_end)
		return 0;
	r->last = r->heap[0].stream;
	r->run_until = run_until(r);
	return give(r, r->last, event);
}

int kymo_ctf_next(struct kymo_ctf_reader *r, struct kymo_ctf_event *event, struct kymo_err *err)
{
	struct ctf_stream *s = r->last;

	(void)err;	/* damage that is found after kymo_ctf_open() is a warning */
	if (__builtin_expect(s != NULL, 1)) {
		s->next++;
		if (__builtin_expect(s->next < s->batch_end && s->next->key <= r->run_until, 1))
			return give(r, s, event);
	}
	return next_stream(r, event);
}
