/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From many rings of a process to one stream, merged by time.
 *
 * Times in a stream must not go back, so no record may be written that is younger than one that can still appear.
 * This bound is the horizon. A thread that is not inside an event reads its clock later than we read its ring,
 * so what it commits from then on is not older than that moment, except for ORDER_NS. A thread inside an event commits
 * nothing older than lastts. So silent threads hold nothing back. A thread that lost its processor inside an event
 * holds the others back for HOLD_NS; after that, its event comes too late, and goes to a stream of the
 * ring's own.
 *
 *     read_rings   read wpos, lastts and nest of each ring; compute the horizon
 *     merge_all    merge.c moves records up to the horizon into the buffer ...
 *     hand_over    ... which goes to the sinks as one batch; then the rings advance
 *
 * A batch consists of parts: a part is what came of one span of one ring. The filter judges a record by the
 * records of its thread around it, so it is called where records come in; a part counts what was left out.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/now.h"
#include "recorder/drain/merge.h"
#include "recorder/drain/promise.h"
#include "recorder/drain/sink_deliver.h"
#include "recorder/drain/slice.h"
#include "recorder/filter/filter.h"
#include "recorder/records/record_walk.h"

#define ORDER_NS	100000ull	/* clocks of threads differ, stores need a moment to be seen */
#define HOLD_NS		50000000ull
#define ENOUGH_BYTES	(256u << 10)	/* worth a packet: each costs reading every ring twice, and maybe opening a stream */
#define AHEAD		4		/* rings */
#define CACHE_LINE	64
#define BUFFER_BYTES	(256u << 10)	/* of one packet at most; more than the largest record of a ring needs */

static_assert(BUFFER_BYTES > KYMO_BLOCK_MAX + sizeof(struct merge_context), "any record fits");

/* One ring with something to take. */
struct cursor {
	unsigned ring;
	uint64_t word, lastts;		/* as read from the ring */
	uint64_t at;			/* position up to which all is in a part */
	uint32_t block_records;		/* as ring.block_records, there */
	uint64_t records;		/* in the parts of this batch */
	uint64_t left_out_message;	/* ring.left_out_message, at ring.taken */
	unsigned thread;		/* account of the owner of the span */
	struct slice span;		/* what merge.c has of it; its begin moves with the part */
	bool complete;			/* the span ends its block */
	const char *wrong;		/* why the ring is to be refused; NULL: it is sound */
};

/* How far a ring advances with a part. */
struct step {
	uint64_t to;
	uint64_t records;		/* including those of the ring's earlier parts */
	uint32_t block_records;
	uint32_t left_out;		/* in the part */
};

struct merged {
	struct merge merge;
	struct drained_process *process; /* whose records are merged */
	struct cursor *cursor;
	unsigned count, room;
	struct sink_packet *part;
	uint64_t *dropped;		/* [parts] */
	struct step *step;		/* [parts] */
	unsigned parts, parts_room;
	uint64_t horizon;
	uint64_t unread;		/* bytes */
	bool due, full;			/* full: some ring is more than half full */
	uint8_t buffer[BUFFER_BYTES];
};

void merged_free(struct drain *drain)
{
	struct merged *m = drain->merged;

	if (!m)
		return;
	merge_free(&m->merge);
	free(m->cursor);
	free(m->part);
	free(m->dropped);
	free(m->step);
	free(m);
	drain->merged = NULL;
}

void merged_let_settle(struct drain *drain)
{
	if (!drain->merged)
		return;
	(void)usleep(ORDER_NS / 1000 + 1);
	drain_update_clock(drain);
}

/* Room for one more in @array of so many. */
static bool grow(void *array, unsigned count, size_t size)
{
	void *grown = realloc(*(void **)array, count * size);

	if (grown)
		*(void **)array = grown;
	return grown;
}

/* ---- reading the rings ---- */

static void lower_horizon(struct merged *m, uint64_t ns, uint64_t clock_ns)
{
	const uint64_t least = ns_before(clock_ns, HOLD_NS);

	if (ns < least)
		ns = least;
	if (ns < m->horizon)
		m->horizon = ns;
}

static int read_ring(struct merged *m, struct drained_process *process, unsigned index,
		     struct drain *drain, uint64_t clock_ns)
{
	struct ring *ring = &process->ring[index];
	const struct kymo_ring *shared = ring_shared(process, ring);
	const uint32_t nest = __atomic_load_n(&shared->nest, __ATOMIC_ACQUIRE);
	struct cursor cursor = { .ring = index, .at = ring->taken, .block_records = ring->block_records };
	uint64_t unread;

	if (!ring_snapshot(shared, &cursor.word, &cursor.lastts) && process->alive != ALIVE_DEAD) {
		lower_horizon(m, 0, clock_ns);
		return 0;
	}
	if (nest)
		lower_horizon(m, cursor.lastts, clock_ns);
	if (KYMO_WORD_POS(cursor.word) <= ring->taken) {
		ring_free(process, ring);
		return 0;
	}
	unread = KYMO_WORD_POS(cursor.word) - ring->taken;
	if (unread > ring->room) {
		ring_refuse(process, ring, drain, "more unread bytes than it has room for");
		return 0;
	}
	loud_look(process, ring);
	m->due |= ring_note_fill(ring, process, drain, unread);
	m->full |= unread > ring_expected_room(ring) / 2;
	m->unread += unread;
	if (!ARRAY_ROOM(m->cursor, m->count, m->room))
		return -ENOMEM;
	m->cursor[m->count++] = cursor;
	return 0;
}

/* Return: 1: something is to be taken now; 0: not yet; -errno. */
static int read_rings(struct merged *m, struct drained_process *process, struct drain *drain,
		      uint64_t clock_ns)
{
	m->count = 0;
	m->unread = 0;
	m->due = m->full = false;
	m->horizon = ns_before(clock_ns, ORDER_NS);
	for (unsigned i = 0; i < process->ring_count; i++) {
		int rc;

		if (i + AHEAD < process->ring_count)
			__builtin_prefetch(ring_shared(process, &process->ring[i + AHEAD]));
		rc = process->ring[i].merged && !process->ring[i].bad ?
			 read_ring(m, process, i, drain, clock_ns) : 0;

		if (rc < 0)
			return rc;
	}
	if (drain->final || process->alive == ALIVE_DEAD)
		m->horizon = UINT64_MAX - 1;
	else if (drain->flush || m->full)
		/* What comes too late goes to a stream of its own. */
		m->horizon = ns_before(clock_ns, ORDER_NS);
	return m->count && (m->due || m->unread >= ENOUGH_BYTES ||
			    drain->now_ns - process->merged_ns >= drain->patience_ns);
}

/* ---- spans ---- */

/* The unread bytes are in the caches of other processors: fetch them before they are needed. */
static void prefetch_unread(const struct merged *m, const struct drained_process *process)
{
	for (unsigned i = 0; i < m->count; i++) {
		const struct ring *ring = &process->ring[m->cursor[i].ring];
		const uint8_t *at = ring_at(process, ring, ring->taken);

		__builtin_prefetch(ring_at(process, ring, ring->taken / ring->block_size * ring->block_size));
		__builtin_prefetch(at);
		__builtin_prefetch(at + CACHE_LINE);
		__builtin_prefetch((const uint8_t *)ring_shared(process, ring) + offsetof(struct kymo_ring, rpos), 1);
	}
}

/* Finds what is left of the block at cursor->at. Return: false: nothing more, or the block is wrong. */
static bool next_slice(const struct drained_process *process, struct cursor *cursor)
{
	uint32_t records;

	while (cursor->at < KYMO_WORD_POS(cursor->word)) {
		struct ring at = process->ring[cursor->ring];

		at.taken = cursor->at;
		at.block_records = cursor->block_records;
		cursor->wrong = block_slice(process, &at, cursor->word, cursor->lastts, &cursor->span,
					    &cursor->complete, &records);
		if (cursor->wrong)
			return false;
		if (cursor->span.size)
			return true;
		cursor->at = cursor->span.to;
		cursor->block_records = 0;
	}
	return false;
}

/* Records older than what was merged before go to a stream of the ring's own. Return: 0; -errno. */
static int take_late(struct drained_process *process, struct cursor *cursor, struct drain *drain)
{
	struct ring *ring = &process->ring[cursor->ring];

	while (next_slice(process, cursor) && cursor->span.size >= KYMO_RECORD_HEADER &&
	       cursor->span.begin < process->merged_end) {
		struct slice late = cursor->span;
		int rc;

		ring_owner(process, ring, late.owner_seq, late.dropped);
		if (slice_is_declared_soon(process, drain, &late))
			return 0;
		late.size = walk_until(&process->classes, late.bytes, late.size, process->merged_end, &late.records);
		if (late.size < cursor->span.size) {
			late.to = late.from + late.size;
			late.end = process->merged_end;
		}
		rc = slice_walk(process, ring, drain, &late);
		if (rc < 0 || ring->bad)
			return rc;
		cursor->block_records = late.to == cursor->span.to && cursor->complete ? 0 : UINT32_MAX;
		cursor->at = late.to;
		ring_advance(process, ring, cursor->at, cursor->block_records);
	}
	return 0;
}

/* An event whose class is not known yet: lower the horizon, so that no later event is merged before it. */
static bool waits_for_declaration(struct merged *m, const struct drained_process *process,
				  const struct drain *drain, const struct merge_input *in)
{
	const struct slice rest = { .bytes = in->at, .size = (size_t)(in->end - in->at) };
	uint64_t ns;

	if (!slice_is_declared_soon(process, drain, &rest))
		return false;
	ns = walk_time(in->at);
	if (ns && ns - 1 < m->merge.horizon)
		m->merge.horizon = ns - 1;
	return true;
}

/* ---- batches ---- */

/* Enters what was merged of input @index since its last part. Return: false without memory. */
static bool add_part(struct merged *m, unsigned index)
{
	struct cursor *cursor = &m->cursor[index];
	struct merge_input *in = &m->merge.input[index];
	const size_t size = (size_t)(in->at - cursor->span.bytes);
	const bool all = in->at == in->end;

	if (m->parts == m->parts_room) {
		if (!grow(&m->part, m->parts + 64, sizeof *m->part) ||
		    !grow(&m->dropped, m->parts + 64, sizeof *m->dropped) ||
		    !grow(&m->step, m->parts + 64, sizeof *m->step))
			return false;
		m->parts_room += 64;
	}
	m->part[m->parts] = (struct sink_packet){
		.ring = cursor->ring, .thread = cursor->thread, .begin = in->first, .end = in->last,
		.cpu = cursor->span.cpu, .records = in->records, .promised = true,
		.bytes = cursor->span.bytes, .size = in->taken,
	};
	m->dropped[m->parts] = cursor->span.dropped;
	cursor->at = all ? cursor->span.to : cursor->span.from + size;
	if (all && cursor->complete)
		cursor->block_records = 0;
	else if (cursor->block_records != UINT32_MAX)
		cursor->block_records += in->records + in->left_out;
	cursor->records += in->records;
	m->step[m->parts++] = (struct step){ cursor->at, cursor->records, cursor->block_records, in->left_out };
	cursor->span.from += size;
	cursor->span.bytes += size;
	cursor->span.size -= size;
	in->records = in->left_out = 0;
	in->taken = 0;
	return true;
}

/* Gives input @index the next span of its ring. Return: false without memory. */
static bool next_span(struct merged *m, struct drained_process *process, struct drain *drain,
		      unsigned index)
{
	struct cursor *cursor = &m->cursor[index];
	struct merge_input *in = &m->merge.input[index];
	struct ring *ring = &process->ring[cursor->ring];

	do {
		if (ring->bad || !next_slice(process, cursor)) {
			merge_span(&m->merge, index, NULL, 0);
			return true;
		}
		ring_owner(process, ring, cursor->span.owner_seq, cursor->span.dropped);
		cursor->thread = ring->thread;
		in->context = (struct merge_context){ 0 };
		if (process->thread) {
			in->context.vtid = process->thread[ring->thread].tid;
			memcpy(in->context.procname, process->thread[ring->thread].name, sizeof in->context.procname);
		}
		merge_span(&m->merge, index, cursor->span.bytes, cursor->span.size);
		if (in->bad && !waits_for_declaration(m, process, drain, in))
			cursor->wrong = "invalid records";
		/* Nothing in the span is wanted: read on, the next span may have records older than those of other rings. */
		if (in->left_out && in->at == in->end && !add_part(m, index))
			return false;
	} while (in->at == in->end);
	return true;
}

static bool has_part(const struct merge_input *in)
{
	return in->records || in->left_out;
}

/* Fills the buffer. Return: 1: more is left; 0: nothing is left; -errno. */
static int fill(struct merged *m, struct drained_process *process, struct drain *drain,
		struct merge_out *out)
{
	enum merge_stop stop;
	unsigned empty;

	while ((stop = merge_run(&m->merge, out, &empty)) == MERGE_EMPTY) {
		const struct merge_input *in = &m->merge.input[empty];

		if (has_part(in) && !add_part(m, empty))
			return -ENOMEM;
		if (!in->bad) {
			if (!next_span(m, process, drain, empty))
				return -ENOMEM;
		} else if (!waits_for_declaration(m, process, drain, in)) {
			m->cursor[empty].wrong = "invalid records";
		}
	}
	for (unsigned i = 0; i < m->count; i++)
		if (has_part(&m->merge.input[i]) && !add_part(m, i))
			return -ENOMEM;
	return stop == MERGE_FULL;
}

/* @told: the packet reports what the rings dropped, too. */
static void promise_parts(const struct merged *m, struct drained_process *process, unsigned count,
			  bool told)
{
	for (unsigned i = 0; i < count; i++) {
		const struct ring *ring = &process->ring[m->part[i].ring];

		promise_enter(process, ring, m->step[i].to, told ? m->dropped[i] : ring_shared(process, ring)->told,
			      m->step[i].records);
	}
}

static int give_to_sinks(struct merged *m, struct drained_process *process, struct drain *drain,
			 const struct merge_out *out, unsigned *taken)
{
	struct sink_batch batch = {
		.part = m->part, .dropped = m->dropped, .count = m->parts, .cpu = m->part[0].cpu,
		.records = out->records, .bytes = m->buffer, .size = (size_t)(out->at - m->buffer),
	};
	int rc;

	batch.begin = walk_time(m->buffer);
	for (unsigned i = 0; i < m->parts; i++) {
		if (m->part[i].records && m->part[i].end > batch.end)
			batch.end = m->part[i].end;
		m->part[i].account = process->thread ? &process->thread[m->part[i].thread] : NULL;
	}
	promise_parts(m, process, m->parts, true);
	rc = sinks_batch(drain, process, &batch, taken);
	if (*taken < m->parts)		/* only sinks in memory take some parts of a batch */
		promise_parts(m, process, *taken, true);
	if (*taken)
		process->merged_end = batch.end;
	return rc;
}

static void advance(struct merged *m, struct drained_process *process, unsigned index)
{
	const struct sink_packet *part = &m->part[index];
	const struct step *step = &m->step[index];
	struct ring *ring = &process->ring[part->ring];

	promise_move(process, ring);
	if (part->records)
		slice_account(process, ring, part);
	process->filtered += step->left_out;
	if (process->thread)
		process->thread[part->thread].filtered += step->left_out;
	ring_advance(process, ring, step->to, step->block_records);
}

/* The sinks get the buffer, if it has records; the rings advance. */
static int hand_over(struct merged *m, struct drained_process *process, struct drain *drain,
		     const struct merge_out *out)
{
	unsigned taken = m->parts;
	int rc = 0;

	if (out->records)
		rc = give_to_sinks(m, process, drain, out, &taken);
	else
		promise_parts(m, process, m->parts, false);
	if (taken)
		promise_keep(process);
	for (unsigned i = 0; i < taken; i++)
		advance(m, process, i);
	promise_end(process);
	for (unsigned i = 0; i < m->count; i++) {
		struct cursor *cursor = &m->cursor[i];
		struct ring *ring = &process->ring[cursor->ring];

		cursor->records = 0;
		if (rc == 0)
			cursor->left_out_message = ring->left_out_message;
		else			/* the filter judges the records once more */
			ring->left_out_message = cursor->left_out_message;
	}
	m->parts = 0;
	return rc;
}

/* Refuses rings with invalid records; gives empty rings of ended threads back. */
static void conclude(struct merged *m, struct drained_process *process, struct drain *drain)
{
	for (unsigned i = 0; i < m->count; i++) {
		const struct cursor *cursor = &m->cursor[i];
		struct ring *ring = &process->ring[cursor->ring];

		if (cursor->wrong && !ring->bad && cursor->at == ring->taken) {
			process->lost_bytes += KYMO_WORD_POS(cursor->word) - ring->taken;
			ring_refuse(process, ring, drain, cursor->wrong);
		}
		if (!ring->bad)
			ring_free(process, ring);
	}
}

static bool record_wanted(void *context, unsigned index, const struct merge_input *in)
{
	struct merged *m = context;
	const struct filter_one one = { in->at, (size_t)(in->end - in->at), in->size, in->ns, in->id };

	return filter_record(m->process->filter, &m->process->ring[m->cursor[index].ring].left_out_message, &one);
}

static int merge_all(struct merged *m, struct drained_process *process, struct drain *drain)
{
	int more, rc = 0;

	prefetch_unread(m, process);
	if (!merge_begin(&m->merge, &process->classes, m->count))
		return -ENOMEM;
	drain_update_clock(drain);
	m->merge.horizon = m->horizon;
	m->merge.not_after = drain->now_ns + FUTURE_NS;
	m->merge.wanted = filter_begin(process->filter) ? record_wanted : NULL;
	m->merge.context = m;
	m->process = process;
	m->parts = 0;
	for (unsigned i = 0; rc == 0 && i < m->count; i++) {
		struct ring *ring = &process->ring[m->cursor[i].ring];

		rc = take_late(process, &m->cursor[i], drain);
		m->merge.input[i].floor = ring->prev_end > process->merged_end ? ring->prev_end : process->merged_end;
		m->cursor[i].left_out_message = ring->left_out_message;
		if (rc == 0 && !next_span(m, process, drain, i))
			rc = -ENOMEM;
	}
	if (rc < 0)
		return rc;
	merge_ready(&m->merge);
	do {
		struct merge_out out = { .at = m->buffer, .room = sizeof m->buffer };

		more = fill(m, process, drain, &out);
		if (more >= 0 && m->parts)
			rc = hand_over(m, process, drain, &out);
	} while (rc == 0 && more > 0);
	return rc < 0 ? rc : more;
}

int merged_drain(struct drained_process *process, struct drain *drain, uint64_t clock_ns)
{
	int rc;

	if (!drain->merged)
		drain->merged = calloc(1, sizeof *drain->merged);
	if (!drain->merged)
		return -ENOMEM;
	rc = read_rings(drain->merged, process, drain, clock_ns);
	if (rc <= 0)
		return rc;
	/* Declarations that these records need were written before them: the init log has them by now. */
	rc = initlog_drain(process, drain);
	if (rc == 0)
		rc = merge_all(drain->merged, process, drain);
	if (rc < 0)
		return rc;
	conclude(drain->merged, process, drain);
	process->merged_ns = drain->now_ns;
	return 0;
}
