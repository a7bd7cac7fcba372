/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From many rings of a process to one stream, merged by time.
 *
 * Times in a stream must not go back, so no record may be written that is younger than one that can
 * still appear. This bound is the horizon. A thread that is not inside an event reads its clock
 * later than we read its ring, so what it commits from then on is not older than that moment,
 * except for ORDER_NS. A thread inside an event commits nothing older than lastts. So silent
 * threads hold nothing back. A thread that lost its processor inside an event holds the others back
 * for HOLD_NS; after that, its event comes too late, and goes to a stream of the ring's own.
 *
 *     merged_read        read wpos, lastts and nest of each ring; compute the horizon
 *     merge_all          merge.c moves records up to the horizon into the buffer ...
 *     merged_hand_over   ... which goes to the sinks as one batch; then the rings advance
 *
 * A batch consists of parts: a part is what came of one span of one ring. The filter judges a
 * record by the records of its thread around it, so it is called where records come in; a part
 * counts what was left out.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "recorder/drain/merged_internal.h"
#include "recorder/filter/filter.h"
#include "recorder/records/record_walk.h"

#define CACHE_LINE 64

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

/* ---- spans ---- */

/* The unread bytes are in the caches of other processors: fetch them before they are needed. */
static void prefetch_unread(const struct merged *m, const struct drained_process *process)
{
	for (unsigned i = 0; i < m->count; i++) {
		const struct ring *ring = &process->ring[m->cursor[i].ring];
		const uint8_t *at = ring_at(process, ring, ring->taken);

		__builtin_prefetch(
			ring_at(process, ring, ring->taken / ring->block_size * ring->block_size));
		__builtin_prefetch(at);
		__builtin_prefetch(at + CACHE_LINE);
		__builtin_prefetch((const uint8_t *)ring_shared(process, ring) +
					   offsetof(struct kymo_ring, rpos),
				   1);
	}
}

bool merged_slice(const struct drained_process *process, struct merged_cursor *cursor)
{
	uint32_t records;

	while (cursor->at < KYMO_WORD_POS(cursor->word)) {
		struct ring at = process->ring[cursor->ring];

		at.taken = cursor->at;
		at.block_records = cursor->block_records;
		cursor->wrong = block_slice(process, &at, cursor->word, cursor->lastts,
					    &cursor->span, &cursor->complete, &records);
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
static int take_late(struct drained_process *process, struct merged_cursor *cursor,
		     struct drain *drain)
{
	struct ring *ring = &process->ring[cursor->ring];

	while (merged_slice(process, cursor) && cursor->span.size >= KYMO_RECORD_HEADER &&
	       cursor->span.begin < process->merged_end) {
		struct slice late = cursor->span;
		int rc;

		ring_owner(process, ring, late.owner_seq, late.dropped);
		if (slice_is_declared_soon(process, drain, &late))
			return 0;
		late.size = walk_until(&process->classes, late.bytes, late.size,
				       process->merged_end, &late.records);
		if (late.size < cursor->span.size) {
			late.to = late.from + late.size;
			late.end = process->merged_end;
		}
		rc = slice_walk(process, ring, drain, &late);
		if (rc < 0 || ring->bad)
			return rc;
		cursor->block_records =
			late.to == cursor->span.to && cursor->complete ? 0 : UINT32_MAX;
		cursor->at = late.to;
		ring_advance(process, ring, cursor->at, cursor->block_records);
	}
	return 0;
}

/* An event whose class is not known yet: lower the horizon, so that no later event is merged before
 * it. */
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
	struct merged_cursor *cursor = &m->cursor[index];
	struct merge_input *in = &m->merge.input[index];
	const size_t size = (size_t)(in->at - cursor->span.bytes);
	const bool all = in->at == in->end;
	unsigned dropped = m->parts_room, steps = m->parts_room;

	if (!ARRAY_ROOM(m->dropped, m->parts, dropped) || !ARRAY_ROOM(m->step, m->parts, steps) ||
	    !ARRAY_ROOM(m->part, m->parts, m->parts_room))
		return false;
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
	m->step[m->parts++] =
		(struct step){ cursor->at, cursor->records, cursor->block_records, in->left_out };
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
	struct merged_cursor *cursor = &m->cursor[index];
	struct merge_input *in = &m->merge.input[index];
	struct ring *ring = &process->ring[cursor->ring];

	do {
		if (ring->bad || !merged_slice(process, cursor)) {
			merge_span(&m->merge, index, NULL, 0);
			return true;
		}
		ring_owner(process, ring, cursor->span.owner_seq, cursor->span.dropped);
		cursor->thread = ring->thread;
		in->context = (struct merge_context){ 0 };
		if (process->thread) {
			in->context.vtid = process->thread[ring->thread].tid;
			memcpy(in->context.procname, process->thread[ring->thread].name,
			       sizeof in->context.procname);
		}
		merge_span(&m->merge, index, cursor->span.bytes, cursor->span.size);
		if (in->bad && !waits_for_declaration(m, process, drain, in))
			cursor->wrong = "invalid records";
		/* Nothing in the span is wanted: read on, the next span may have records older than
		 * those of other rings. */
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

/* Refuses rings with invalid records; gives empty rings of ended threads back. */
static void conclude(struct merged *m, struct drained_process *process, struct drain *drain)
{
	for (unsigned i = 0; i < m->count; i++) {
		const struct merged_cursor *cursor = &m->cursor[i];
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
	const struct filter_one one = { in->at, (size_t)(in->end - in->at), in->size, in->ns,
					in->id };

	return filter_record(m->process->filter,
			     &m->process->ring[m->cursor[index].ring].left_out_message, &one);
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
		m->merge.input[i].floor =
			ring->prev_end > process->merged_end ? ring->prev_end : process->merged_end;
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
			rc = merged_hand_over(m, process, drain, &out);
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
	rc = merged_read(drain->merged, process, drain, clock_ns);
	if (rc <= 0)
		return rc;
	/* Declarations that these records need were written before them: the init log has them by
	 * now. */
	rc = initlog_drain(process, drain);
	if (rc == 0)
		rc = merge_all(drain->merged, process, drain);
	if (rc < 0)
		return rc;
	conclude(drain->merged, process, drain);
	process->merged_ns = drain->now_ns;
	return 0;
}
