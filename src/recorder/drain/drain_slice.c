/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices: the committed spans of a block, from the ring to the sinks. A sound slice is handed over
 * as it lies in shared memory; of any other, what is valid is copied.
 */
#include <string.h>

#include "recorder/drain/promise.h"
#include "recorder/drain/sink_deliver.h"
#include "recorder/drain/slice.h"
#include "recorder/filter/filter.h"
#include "recorder/records/record_walk.h"

static_assert(DRAIN_SCRATCH >= KYMO_BLOCK_MAX, "a slice fits");

void slice_account(struct drained_process *process, struct ring *ring,
		   const struct sink_packet *packet)
{
	ring->prev_end = packet->end;
	process->recorded += packet->records;
	process->bytes += packet->size;
	if (process->thread) {
		process->thread[packet->thread].recorded += packet->records;
		process->thread[packet->thread].bytes += packet->size;
	}
}

int slice_write(struct drained_process *process, struct ring *ring, struct drain *drain,
		const struct slice *slice)
{
	struct filter_span wanted = { slice->bytes, slice->size, slice->records };
	const uint64_t left_out_message = ring->left_out_message;
	const uint32_t filtered =
		filter_span(process->filter, &ring->left_out_message, drain->scratch, &wanted);
	struct thread_account *account = process->thread ? &process->thread[ring->thread] : NULL;
	struct sink_packet packet = {
		.ring = (unsigned)(ring - process->ring),
		.thread = ring->thread,
		.account = account,
		.begin = slice->begin,
		.end = slice->end,
		.cpu = slice->cpu,
		.records = wanted.records,
		.promised = true,
		.bytes = wanted.bytes,
		.size = wanted.size,
	};
	int rc = 0;

	if (filtered && !wanted.records) { /* nothing is written, and the ring advances */
		promise_enter(process, ring, slice->to, ring_shared(process, ring)->told, 0);
	} else {
		promise_enter(process, ring, slice->to, slice->dropped, wanted.records);
		rc = sinks_packet(drain, process, &packet, slice->dropped);
	}
	if (rc == 0) {
		promise_keep(process);
		promise_move(process, ring);
	}
	promise_end(process);
	if (rc < 0) {
		ring->left_out_message = left_out_message; /* the filter judges them once more */
		return rc;
	}
	slice_account(process, ring, &packet);
	process->filtered += filtered;
	if (account)
		account->filtered += filtered;
	return 0;
}

bool slice_plausible(const struct drained_process *process, const struct ring *ring,
		     const struct drain *drain, const struct slice *slice)
{
	return slice->records && slice->begin >= ring->prev_end &&
	       slice->end <= drain->now_ns + FUTURE_NS &&
	       walk_is_sound(&process->classes, slice->bytes, slice->size, slice->records,
			     slice->begin, slice->end);
}

/*
 * An event that is not declared, while part of the init log cannot be read yet: another thread is
 * still writing a record in front of the declaration.
 */
bool slice_is_declared_soon(const struct drained_process *process, const struct drain *drain,
			    const struct slice *slice)
{
	uint16_t id;

	if (slice->size < KYMO_RECORD_HEADER || drain->final || process->alive == ALIVE_DEAD)
		return false;
	memcpy(&id, slice->bytes, sizeof id);
	return id >= KYMO_POINTS_TABLE && !classes_get(&process->classes, id) &&
	       initlog_is_pending(process, drain);
}

/* Leaves out records before process->cut_ns. Drops up to there are not part of the trace either. */
static void slice_cut(struct drained_process *process, struct ring *ring, struct slice *slice)
{
	uint32_t count;
	const size_t at =
		walk_until(&process->classes, slice->bytes, slice->size, process->cut_ns, &count);

	process->outside += count;
	slice->bytes += at;
	slice->size -= at;
	slice->records -= count;
	if (slice->records)
		slice->begin = walk_time(slice->bytes);
	sinks_forget_drops(process, (unsigned)(ring - process->ring), slice->dropped);
}

/* Records of a slice that are left out: their number comes from shared memory, so it is not more
 * than what has room. */
static uint64_t left_out(uint32_t records, const struct walk *walk, size_t size)
{
	const uint64_t most = (size - walk->good + KYMO_RECORD_HEADER - 1) / KYMO_RECORD_HEADER;
	const uint64_t told = records > walk->count ? records - walk->count : 1;

	return told < most ? told : most;
}

/* The slow path: trust nothing but the records themselves. */
int slice_walk(struct drained_process *process, struct ring *ring, struct drain *drain,
	       struct slice *slice)
{
	const uint32_t records = slice->records;
	struct walk walk;
	int rc = 0;

	drain_update_clock(drain);
	memcpy(drain->scratch, slice->bytes, slice->size);
	walk_records(&process->classes, drain->scratch, slice->size, ring->prev_end,
		     drain->now_ns + FUTURE_NS, &walk);
	if (walk.count) {
		size_t whole = slice->size;

		slice->bytes = drain->scratch;
		slice->size = walk.good;
		slice->begin = walk.first;
		slice->end = walk.last;
		slice->records = walk.count;
		if (walk.good < whole)
			slice->to = slice->from + walk.good;
		if (slice->begin < process->cut_ns)
			slice_cut(process, ring, slice);
		if (slice->records)
			rc = slice_write(process, ring, drain, slice);
		slice->size = whole;
	}
	if (rc < 0)
		return rc;
	if (walk.moved)
		say_text(&drain->sayer,
			 "%s: %u events of ring %u were up to 1 ms out of order; their times "
			 "were set to those of their predecessors",
			 process->region.name, walk.moved, (unsigned)(ring - process->ring));
	if (walk.good < slice->size) {
		process->lost_bytes += slice->size - walk.good;
		ring->left_out = true;
		sinks_lose(drain, process, (unsigned)(ring - process->ring),
			   left_out(records, &walk, slice->size));
		ring_refuse(process, ring, drain, "invalid records");
	}
	return 0;
}

const char *block_slice(const struct drained_process *process, const struct ring *ring,
			uint64_t word, uint64_t lastts, struct slice *slice, bool *complete,
			uint32_t *records)
{
	uint64_t end = KYMO_WORD_POS(word);
	uint64_t start = ring->taken / ring->block_size * ring->block_size;
	uint64_t next = start + ring->block_size;
	uint64_t from = ring->taken, stop = end;
	const struct kymo_block *block = (const void *)ring_at(process, ring, start);

	if (__atomic_load_n(&block->seq, __ATOMIC_ACQUIRE) != start / ring->block_size + 1)
		return "a block has the wrong number";
	*complete = end >= next;
	*records = KYMO_WORD_COUNT(word);
	if (*complete) {
		uint32_t used = __atomic_load_n(&block->used, __ATOMIC_ACQUIRE);

		/* Full to the last byte, and the producer has not left it yet: the word still
		 * counts its records. */
		if (end == next && !used)
			used = ring->block_size;
		else
			*records = __atomic_load_n(&block->records, __ATOMIC_RELAXED);
		if (used > ring->block_size)
			return "a block claims more bytes than it has";
		stop = start + used;
	}
	if (from < start + sizeof *block)
		from = start + sizeof *block;
	if (stop < from)
		return "a block ends before it begins";
	*slice = (struct slice){
		.bytes = ring_at(process, ring, from),
		.size = stop - from,
		.from = from,
		.to = *complete ? next : end,
		.end = lastts,
		.dropped = block->dropped_at_start,
		.cpu = block->cpu,
		.owner_seq = block->owner_seq,
	};
	slice->records =
		*records - ring->block_records; /* a wrong number is noticed by slice_plausible() */
	if (slice->size >= KYMO_RECORD_HEADER)
		slice->begin = walk_time(slice->bytes);
	/* The first record of the next block, if there is one, is a closer bound than lastts. */
	if (end >= next + sizeof *block + KYMO_RECORD_HEADER)
		slice->end = walk_time(ring_at(process, ring, next) + sizeof *block);
	return NULL;
}
