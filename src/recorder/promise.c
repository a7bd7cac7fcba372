/* SPDX-License-Identifier: Apache-2.0 */
/* See promise.h. What stands in a region is input: it is copied, and files that it names are doubted. */
#include "recorder/promise.h"

#include <stdio.h>
#include <string.h>

#include "ctf/tail.h"
#include "recorder/process.h"

static_assert(KYMO_PROMISE_HEAD_MAX >= CTF_PACKET_HEAD_MAX, "a packet's head fits");

void (*promise_reached)(enum promise_point point);

static void reach(enum promise_point point)
{
	if (promise_reached)
		promise_reached(point);
}

/* A process that has left its sinks has no region any more; snapshots are written of those, too. */
static struct kymo_promise *promise_of(const struct process *process)
{
	return process->region.base ? &region_header(&process->region)->promise : NULL;
}

static void set_state(struct kymo_promise *promise, uint32_t state)
{
	__atomic_store_n(&promise->state, state, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);	/* what follows is not stored before it */
}

/* ---- the recorder that writes ---- */

void promise_enter(struct process *process, const struct ring *ring, uint64_t to, uint64_t told, uint64_t records)
{
	struct kymo_ring *shared = ring_shared(process, ring);

	shared->promised_rpos = to;
	shared->promised_told = told;
	shared->promised_records = records;
	__atomic_store_n(&shared->promise, promise_of(process)->number, __ATOMIC_RELEASE);
	reach(PROMISE_ENTERED);
}

void promise_write(struct process *process, const struct ctf_place *place, enum kymo_promise_moves moves)
{
	struct kymo_promise *promise = promise_of(process);
	const uint32_t kept = promise ? promise->state & KYMO_PROMISE_KEPT : 0;
	int length;

	if (!promise)
		return;
	set_state(promise, kept);
	promise->moves = moves;
	promise->no_ring = process->no_ring_base + process->dropped_no_ring;
	promise->offset = place->offset;
	promise->size = place->size;
	promise->head_size = (uint32_t)place->head_size;
	if (place->head_size)
		memcpy(promise->head, place->head, place->head_size);
	length = snprintf(promise->path, sizeof promise->path, "%s/%s", place->dir, place->name);
	if (length < 0 || (size_t)length >= sizeof promise->path)
		promise->path[0] = 0;
	set_state(promise, kept | KYMO_PROMISE_WRITING);
	reach(PROMISE_OPEN);
}

void promise_written(struct process *process, bool well)
{
	struct kymo_promise *promise = promise_of(process);
	uint32_t kept;

	if (!promise || !(promise->state & KYMO_PROMISE_WRITING))
		return;
	kept = promise->state & KYMO_PROMISE_KEPT;
	if (well)
		reach(PROMISE_IN_FILE);
	if (well && promise->moves == KYMO_PROMISE_RINGS)
		kept = KYMO_PROMISE_KEPT;
	if (well && promise->moves == KYMO_PROMISE_NO_RING)
		region_header(&process->region)->no_ring_told = promise->no_ring;
	set_state(promise, kept);
	if (kept)
		reach(PROMISE_KEPT);
}

void promise_move(struct process *process, const struct ring *ring)
{
	struct kymo_ring *shared = ring_shared(process, ring);

	if (promise_dropped_since(shared->promised_told, shared->told))
		shared->told = shared->promised_told;
	/* Pairs with the producer's acquire before it enters a block again. */
	__atomic_store_n(&shared->rpos, shared->promised_rpos, __ATOMIC_RELEASE);
	reach(PROMISE_MOVED);
}

void promise_end(struct process *process)
{
	struct kymo_promise *promise = promise_of(process);

	if (!promise)
		return;
	set_state(promise, 0);
	promise->number++;
}

/* ---- the recorder that comes after ---- */

/* What becomes of the rings that have the number. */
enum verdict { STAY, MOVE, LOSE };

static void say_cut(const struct drain *drain, const char *path, uint64_t cut, int rc)
{
	if (rc < 0)
		drain_say(drain, "%s ends with half a packet, because its recorder was killed, and cannot be cut: "
			  "%s; `kymo` reads it, other readers may complain", path, strerror(-rc));
	else if (cut)
		drain_say(drain, "%s: %llu bytes of what its recorder was writing when it was killed are cut off; "
			  "what is whole stays", path, (unsigned long long)cut);
}

/* Whether the file holds what @promise says, repairing it. */
static enum ctf_tail look_at_file(const struct kymo_promise *promise, const struct drain *drain, int *rc)
{
	const struct ctf_tail_packet packet = {
		promise->path, promise->offset, promise->size, promise->head, promise->head_size,
	};
	enum ctf_tail tail;
	uint64_t cut;

	if (promise->path[0] != '/' || promise->head_size > sizeof promise->head) {
		*rc = 0;
		return CTF_TAIL_GONE;
	}
	if (!promise->head_size) {
		if (ctf_tail_metadata(promise->path, &cut) == 0)
			say_cut(drain, promise->path, cut, 0);
		return CTF_TAIL_WHOLE;
	}
	tail = ctf_tail_packet(&packet, &cut, rc);
	if (tail == CTF_TAIL_NOTHING)
		say_cut(drain, promise->path, cut, *rc);
	return tail;
}

static enum verdict judge(const struct kymo_promise *promise, const struct drain *drain,
			  struct kymo_region *header)
{
	enum ctf_tail tail;
	int rc = 0;

	if (!(promise->state & KYMO_PROMISE_WRITING))
		return promise->state & KYMO_PROMISE_KEPT ? MOVE : STAY;
	tail = look_at_file(promise, drain, &rc);
	if (tail == CTF_TAIL_WHOLE && promise->moves == KYMO_PROMISE_NO_RING)
		header->no_ring_told = promise->no_ring;
	if (promise->state & KYMO_PROMISE_KEPT)
		return MOVE;
	if (promise->moves != KYMO_PROMISE_RINGS || tail == CTF_TAIL_NOTHING)
		return STAY;
	if (tail == CTF_TAIL_WHOLE)
		return MOVE;
	drain_say(drain, "a recorder was killed while it wrote to %s, and what is there now cannot tell whether it "
		  "was written (%s); these events are counted as dropped", promise->path[0] ? promise->path :
		  "a file with a very long name", rc < 0 ? strerror(-rc) : "it is something else");
	return LOSE;
}

static void ring_resolve(struct kymo_ring *ring, enum verdict verdict)
{
	const uint64_t to = ring->promised_rpos;

	if (to < ring->rpos || to > KYMO_WORD_POS(__atomic_load_n(&ring->wpos, __ATOMIC_ACQUIRE)))
		return;			/* it went on already; or somebody else wrote there */
	if (verdict == MOVE && promise_dropped_since(ring->promised_told, ring->told))
		ring->told = ring->promised_told;
	if (verdict == LOSE && to > ring->rpos)
		ring->told -= ring->promised_records;	/* so they are what is still to be told */
	__atomic_store_n(&ring->rpos, to, __ATOMIC_RELEASE);
}

void promise_resolve(struct process *process, const struct drain *drain)
{
	struct kymo_region *header = region_header(&process->region);
	const uint32_t *page = region_page(&process->region, KYMO_RING_DIR_PAGE, 2);
	const uint32_t count = __atomic_load_n(&header->ring_count, __ATOMIC_ACQUIRE);
	struct kymo_promise promise = header->promise;
	enum verdict verdict;

	promise.path[sizeof promise.path - 1] = 0;
	verdict = judge(&promise, drain, header);
	for (uint32_t i = 0; page && verdict != STAY && i < count && i < KYMO_RINGS_MAX; i++) {
		const uint32_t at = __atomic_load_n(&page[i], __ATOMIC_ACQUIRE);
		struct kymo_ring *ring = region_page(&process->region, at, 1);

		if (at >= KYMO_FIRST_SEGMENT_PAGE && ring && ring->promise == promise.number)
			ring_resolve(ring, verdict);
	}
	promise_end(process);
}
