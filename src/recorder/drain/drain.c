/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a ring to the sinks.
 *
 * The bytes in a ring are those of a CTF stream, so a committed span of a block, a slice, becomes a
 * packet straight from shared memory: the recorder reads the block's header, and looks at the head
 * of each record, because an unknown event would make the whole trace unreadable for others. If
 * something is wrong, or the process is dead, the slice is copied, and what is valid of it is
 * written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/points.h"
#include "base/array.h"
#include "recorder/drain/promise.h"
#include "recorder/drain/sink_deliver.h"
#include "recorder/drain/slice.h"
#include "recorder/filter/filter.h"
#include "recorder/records/record_walk.h"

#define SNAPSHOT_TRIES	16
#define ENOUGH_BYTES	(16u << 10)	/* worth a packet: the head of one is 0.7 % of it */

static_assert(DRAIN_SCRATCH >= KYMO_BLOCK_MAX, "a slice fits");

/* ---- owners ---- */

static uint32_t account_new(struct drained_process *process, int32_t tid, const char *name)
{
	struct thread_account *account;

	if (process->thread_count == THREADS_MAX)
		return THREADS_MAX - 1;
	if (!ARRAY_ROOM(process->thread, process->thread_count, process->thread_room))
		return process->thread_count ? process->thread_count - 1 : 0;
	account = &process->thread[process->thread_count];
	*account = (struct thread_account){ .tid = tid };
	for (unsigned i = 0; i < KYMO_NAME_MAX && name[i]; i++)
		account->name[i] = (unsigned char)name[i] < ' ' ? '?' : name[i];
	return process->thread_count++;
}

/* Reads who owner number @seq is. Return: false: overwritten by later owners, or being entered at this moment. */
static bool find_owner(const struct kymo_ring *shared, uint32_t seq, struct kymo_owner *owner)
{
	const struct kymo_owner *entry = &shared->owner[seq % KYMO_OWNERS];

	if (!seq || __atomic_load_n(&entry->seq, __ATOMIC_ACQUIRE) != seq)
		return false;
	memcpy(owner, entry, sizeof *owner);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&entry->seq, __ATOMIC_RELAXED) == seq;
}

/* Drops up to the count @dropped belong to the present owner. */
static void account_drops(struct drained_process *process, struct ring *ring, uint64_t dropped)
{
	if (!promise_dropped_since(dropped, ring->dropped_seen))
		return;
	if (process->thread)
		process->thread[ring->thread].dropped += dropped - ring->dropped_seen;
	process->dropped += dropped - ring->dropped_seen;
	ring->dropped_seen = dropped;
}

/* An owner that is not known any more gets tid 0 and no name. */
void ring_owner(struct drained_process *process, struct ring *ring, uint32_t seq, uint64_t dropped)
{
	const struct kymo_ring *shared = ring_shared(process, ring);
	const uint64_t all = __atomic_load_n(&shared->dropped, __ATOMIC_RELAXED);
	struct kymo_owner owner = { 0 };

	if (ring->owner_known && seq == ring->owner_seq)
		return;
	if (ring->owner_known)
		account_drops(process, ring, promise_dropped_since(dropped, all) ? all : dropped);
	if (!find_owner(shared, seq, &owner) && seq == __atomic_load_n(&shared->owner_seq, __ATOMIC_ACQUIRE)) {
		owner.tid = shared->tid;
		memcpy(owner.name, shared->name, sizeof owner.name);
	}
	ring->owner_known = true;
	ring->owner_seq = seq;
	ring->thread = account_new(process, (int32_t)owner.tid, owner.name);
}

/* The counts come from the traced process: what grew by more than anything can is not a count. */
static void account_waits(struct drained_process *process, struct ring *ring)
{
	const struct kymo_ring *shared = ring_shared(process, ring);
	const uint64_t waits = __atomic_load_n(&shared->waits, __ATOMIC_RELAXED);
	const uint64_t waited_ns = __atomic_load_n(&shared->waited_ns, __ATOMIC_RELAXED);

	if (waits == ring->waits_seen)
		return;
	process->waits += promise_dropped_since(waits, ring->waits_seen);
	if (waited_ns - ring->waited_seen <= (uint64_t)INT64_MAX / KYMO_RINGS_MAX)
		process->waited_ns += waited_ns - ring->waited_seen;
	ring->waits_seen = waits;
	ring->waited_seen = waited_ns;
}

void ring_account(struct drained_process *process, unsigned index)
{
	struct ring *ring = &process->ring[index];
	uint64_t dropped;

	if (ring->bad)
		return;
	account_waits(process, ring);
	dropped = __atomic_load_n(&ring_shared(process, ring)->dropped, __ATOMIC_RELAXED);
	if (!promise_dropped_since(dropped, ring->dropped_seen))
		return;
	if (!ring->owner_known)		/* no record of it ever found room */
		ring_owner(process, ring, __atomic_load_n(&ring_shared(process, ring)->owner_seq,
							  __ATOMIC_ACQUIRE), dropped);
	account_drops(process, ring, dropped);
}

/* ---- slices ---- */

bool ring_snapshot(const struct kymo_ring *shared, uint64_t *word, uint64_t *lastts)
{
	for (int i = 0; i < SNAPSHOT_TRIES; i++) {
		uint32_t seq = __atomic_load_n(&shared->nseq, __ATOMIC_ACQUIRE);

		*word = __atomic_load_n(&shared->wpos, __ATOMIC_ACQUIRE);
		*lastts = __atomic_load_n(&shared->lastts, __ATOMIC_ACQUIRE);
		if (!(seq & 1) && __atomic_load_n(&shared->wpos, __ATOMIC_ACQUIRE) == *word &&
		    __atomic_load_n(&shared->nseq, __ATOMIC_ACQUIRE) == seq)
			return true;
	}
	return false;
}

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

/* Hands over what of a slice is wanted. */
static int slice_write(struct drained_process *process, struct ring *ring, struct drain *drain,
		       const struct slice *slice)
{
	struct filter_span wanted = { slice->bytes, slice->size, slice->records };
	const uint64_t left_out_message = ring->left_out_message;
	const uint32_t filtered = filter_span(process->filter, &ring->left_out_message, drain->scratch, &wanted);
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

	if (filtered && !wanted.records) {	/* nothing is written, and the ring advances */
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
		ring->left_out_message = left_out_message;	/* the filter judges them once more */
		return rc;
	}
	slice_account(process, ring, &packet);
	process->filtered += filtered;
	if (account)
		account->filtered += filtered;
	return 0;
}

static bool slice_plausible(const struct drained_process *process, const struct ring *ring,
			    const struct drain *drain, const struct slice *slice)
{
	return slice->records && slice->begin >= ring->prev_end &&
	       slice->end <= drain->now_ns + FUTURE_NS &&
	       walk_is_sound(&process->classes, slice->bytes, slice->size, slice->records,
			     slice->begin, slice->end);
}

/*
 * An event that is not declared, while part of the init log cannot be read yet: another thread is still
 * writing a record in front of the declaration.
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
	walk_records(&process->classes, drain->scratch, slice->size, ring->prev_end, drain->now_ns + FUTURE_NS, &walk);
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
		say_text(&drain->sayer, "%s: %u events of ring %u were up to 1 ms out of order; their times "
			 "were set to those of their predecessors", process->region.name, walk.moved,
			  (unsigned)(ring - process->ring));
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

		/* Full to the last byte, and the producer has not left it yet: the word still counts its records. */
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
	slice->records = *records - ring->block_records;	/* a wrong number is noticed by slice_plausible() */
	if (slice->size >= KYMO_RECORD_HEADER)
		slice->begin = walk_time(slice->bytes);
	/* The first record of the next block, if there is one, is a closer bound than lastts. */
	if (end >= next + sizeof *block + KYMO_RECORD_HEADER)
		slice->end = walk_time(ring_at(process, ring, next) + sizeof *block);
	return NULL;
}

/* Drains what is left of one block. */
static int block_drain(struct drained_process *process, struct ring *ring, struct drain *drain,
		       uint64_t word, uint64_t lastts)
{
	struct slice slice;
	const char *wrong;
	uint32_t records;
	bool complete;
	int rc = 0;

	wrong = block_slice(process, ring, word, lastts, &slice, &complete, &records);
	if (wrong) {
		process->lost_bytes += KYMO_WORD_POS(word) - ring->taken;
		ring_refuse(process, ring, drain, wrong);
		return 0;
	}
	if (slice.size) {
		ring_owner(process, ring, slice.owner_seq, slice.dropped);
		if (slice_is_declared_soon(process, drain, &slice))
			return -EAGAIN;
		if (process->alive == ALIVE_DEAD || ring->block_records == UINT32_MAX ||
		    !slice_plausible(process, ring, drain, &slice))
			rc = slice_walk(process, ring, drain, &slice);
		else
			rc = slice_write(process, ring, drain, &slice);
	}
	if (rc == -EFAULT) {		/* the region file was shortened: no sink is at fault */
		ring_refuse(process, ring, drain, "its memory is gone");
		return 0;
	}
	if (rc < 0 || ring->bad)
		return rc;
	ring_advance(process, ring, slice.to, complete ? 0 : records);
	return 0;
}

void ring_advance(struct drained_process *process, struct ring *ring, uint64_t to, uint32_t records)
{
	ring->taken = to;
	ring->block_records = records;
	/* Pairs with the producer's acquire before it enters a block again. */
	__atomic_store_n(&ring_shared(process, ring)->rpos, to, __ATOMIC_RELEASE);
}

void ring_free(struct drained_process *process, struct ring *ring)
{
	struct kymo_ring *shared = ring_shared(process, ring);
	uint32_t retired = KYMO_RING_RETIRED;

	if (__atomic_load_n(&shared->state, __ATOMIC_ACQUIRE) != KYMO_RING_RETIRED ||
	    KYMO_WORD_POS(__atomic_load_n(&shared->wpos, __ATOMIC_ACQUIRE)) != ring->taken)
		return;
	ring_account(process, (unsigned)(ring - process->ring));
	(void)__atomic_compare_exchange_n(&shared->state, &retired, KYMO_RING_FREE, false,
					  __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

bool ring_note_fill(struct ring *ring, const struct drained_process *process, struct drain *drain,
		    uint64_t unread)
{
	const uint64_t capacity = ring_expected_room(ring);
	unsigned fill = (unsigned)(unread * 256 / capacity);
	uint64_t grown = (ring->taken + unread - ring->looked) * 256 / capacity;
	uint64_t slept_ns = drain->now_ns > ring->looked_ns ? drain->now_ns - ring->looked_ns : 1;

	grown = grown * 1000000 / slept_ns;
	ring->looked = ring->taken + unread;
	ring->looked_ns = drain->now_ns;
	if (fill > drain->fullest)
		drain->fullest = fill;
	if (grown > drain->grown)
		drain->grown = grown;
	return drain->final || drain->flush || process->alive == ALIVE_DEAD || unread > capacity / 4 ||
	       __atomic_load_n(&ring_shared(process, ring)->state, __ATOMIC_RELAXED) == KYMO_RING_RETIRED;
}

/* Whether ring @index is filling up. Its byte in `stirred` is shared with other rings, so it need not be. */
static bool is_filling(struct drained_process *process, unsigned index, struct drain *drain)
{
	struct ring *ring = &process->ring[index];
	uint64_t end;

	if (ring->bad)
		return false;
	end = KYMO_WORD_POS(__atomic_load_n(&ring_shared(process, ring)->wpos, __ATOMIC_RELAXED));
	return end > ring->taken && ring_note_fill(ring, process, drain, end - ring->taken);
}

bool process_is_filling(struct drained_process *process, struct drain *drain)
{
	uint8_t *stirred = region_header(&process->region)->stirred;
	bool filling = false;

	for (unsigned i = 0; i < process->ring_count && i < KYMO_STIRS; i += sizeof(uint64_t)) {
		if (!__atomic_load_n((uint64_t *)(stirred + i), __ATOMIC_RELAXED))
			continue;
		for (unsigned j = i; j < i + sizeof(uint64_t); j++) {
			if (!__atomic_load_n(&stirred[j], __ATOMIC_RELAXED))
				continue;
			__atomic_store_n(&stirred[j], 0, __ATOMIC_SEQ_CST);	/* before wpos is read */
			for (unsigned ring = j; ring < process->ring_count; ring += KYMO_STIRS)
				filling |= is_filling(process, ring, drain);
		}
	}
	return filling;
}

static bool ring_due(struct ring *ring, const struct drained_process *process, struct drain *drain,
		     uint64_t unread)
{
	const bool urgent = ring_note_fill(ring, process, drain, unread);

	return urgent || unread >= ENOUGH_BYTES || drain->now_ns - ring->taken_ns >= drain->patience_ns;
}

int ring_drain(struct drained_process *process, unsigned index, struct drain *drain)
{
	struct ring *ring = &process->ring[index];
	const struct kymo_ring *shared = ring_shared(process, ring);
	uint64_t word, lastts, end;
	int rc = 0;

	if (ring->bad)
		return 0;
	if (!ring_snapshot(shared, &word, &lastts) && process->alive != ALIVE_DEAD)
		return 0;
	end = KYMO_WORD_POS(word);
	if (end <= ring->taken) {	/* below: wpos steps back for a moment when signal handlers trace */
		ring_free(process, ring);
		return 0;
	}
	if (end - ring->taken > ring->room) {
		ring_refuse(process, ring, drain, "more unread bytes than it has room for");
		return 0;
	}
	if (!ring_due(ring, process, drain, end - ring->taken))
		return 0;
	loud_look(process, ring);
	/* Declarations that these records need were written before them: the init log has them by now. */
	rc = initlog_drain(process, drain);
	while (rc == 0 && !ring->bad && ring->taken < end)
		rc = block_drain(process, ring, drain, word, lastts);
	if (rc == -EAGAIN)
		return 0;		/* the next round */
	if (rc == 0) {
		ring->taken_ns = drain->now_ns;
		ring_free(process, ring);
	}
	return rc;
}

/* ---- the end ---- */

/* Counts the records of a slice whose number of records is not known. */
static uint32_t slice_count(const struct drained_process *process, const struct ring *ring,
			    const struct drain *drain, const struct slice *slice)
{
	struct walk walk;

	memcpy(drain->scratch, slice->bytes, slice->size);
	walk_records(&process->classes, drain->scratch, slice->size, ring->prev_end, drain->now_ns + FUTURE_NS, &walk);
	return walk.count;
}

/* Counts the records between taken and the end, which no sink could take. */
static uint64_t ring_unread_records(const struct drained_process *process, const struct ring *ring,
				    const struct drain *drain)
{
	uint64_t word = __atomic_load_n(&ring_shared(process, ring)->wpos, __ATOMIC_ACQUIRE);
	struct ring at = *ring;
	uint64_t records = 0;

	while (at.taken < KYMO_WORD_POS(word)) {
		struct slice slice;
		uint32_t in_block;
		bool complete;

		if (block_slice(process, &at, word, 0, &slice, &complete, &in_block))
			break;
		if (at.block_records == UINT32_MAX)
			slice.records = slice_count(process, ring, drain, &slice);
		if (slice.records <= KYMO_BLOCK_MAX / KYMO_RECORD_HEADER)
			records += slice.records;
		at.taken = complete ? (at.taken / at.block_size + 1) * at.block_size :
			   KYMO_WORD_POS(word);
		at.block_records = 0;
	}
	return records;
}

void ring_finish(struct drained_process *process, unsigned index, struct drain *drain)
{
	struct ring *ring = &process->ring[index];

	if (ring->bad)
		return;
	ring_account(process, index);
	if (drain->failed)
		sinks_lose(drain, process, index, ring_unread_records(process, ring, drain));
}
