/* SPDX-License-Identifier: Apache-2.0 */
/* See promise.h. A region is untrusted: its content is copied before it is used, and files that it
 * names are checked. */
#include "recorder/drain/promise.h"

#include <stdio.h>
#include <string.h>

#include "ctf/format/tail.h"
#include "ctf/write/writer.h"
#include "recorder/drain/drained_process.h"
#include "recorder/runtime/say.h"

static_assert(KYMO_PROMISE_HEAD_MAX >= CTF_PACKET_HEAD_MAX, "a packet's head fits");
static_assert(KYMO_PROMISE_PLACES >= SINKS_MAX, "a place for each");

void (*promise_reached)(enum promise_point point);

static void notify_test(enum promise_point point)
{
	if (promise_reached)
		promise_reached(point);
}

/* NULL without a region: a snapshot may also write packets of processes that have ended. */
static struct kymo_promise *promise_of(const struct drained_process *process)
{
	return process->region.base ? &region_header(&process->region)->promise : NULL;
}

static struct kymo_promise_place *places_of(const struct drained_process *process)
{
	return region_page(&process->region, KYMO_PROMISE_PAGE,
			   KYMO_FIRST_SEGMENT_PAGE - KYMO_PROMISE_PAGE);
}

static void set_state(struct kymo_promise *promise, uint64_t state)
{
	__atomic_store_n(&promise->state, state, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);	/* what follows is not stored before it */
}

/* ---- the recorder that writes ---- */

void promise_enter(struct drained_process *process, const struct ring *ring, uint64_t to,
		   uint64_t told, uint64_t records)
{
	struct kymo_ring *shared = ring_shared(process, ring);

	shared->promised_rpos = to;
	shared->promised_told = told;
	shared->promised_records = records;
	__atomic_store_n(&shared->promise, promise_of(process)->number, __ATOMIC_RELEASE);
	notify_test(PROMISE_ENTERED);
}

void promise_sinks(struct drained_process *process, uint32_t sinks)
{
	struct kymo_promise *promise = promise_of(process);

	if (promise)
		set_state(promise, KYMO_PROMISE_WANTED(0) * sinks);
}

void promise_turn(struct drained_process *process, unsigned place)
{
	process->promise_place = place;
}

void promise_turned(struct drained_process *process)
{
	struct kymo_promise *promise = promise_of(process);
	const unsigned place = process->promise_place;

	process->promise_place = 0;
	if (promise && !(promise->state & KYMO_PROMISE_BEGUN(place)))
		set_state(promise, promise->state & ~KYMO_PROMISE_WANTED(place));
}

void promise_write(struct drained_process *process, const struct ctf_place *to,
		   enum kymo_promise_moves moves)
{
	struct kymo_promise *promise = promise_of(process);
	struct kymo_promise_place *place = promise && !process->cut ? places_of(process) : NULL;
	const uint64_t begun = KYMO_PROMISE_BEGUN(process->promise_place);
	int length;

	if (!place)
		return;
	place += process->promise_place;
	set_state(promise, promise->state & ~begun);
	place->moves = moves;
	place->no_ring = process->no_ring_base + process->dropped_no_ring;
	place->offset = to->offset;
	place->size = to->size;
	place->head_size = (uint32_t)to->head_size;
	if (to->head_size)
		memcpy(place->head, to->head, to->head_size);
	length = snprintf(place->path, sizeof place->path, "%s/%s", to->dir, to->name);
	if (length < 0 || (size_t)length >= sizeof place->path)
		place->path[0] = 0;
	set_state(promise, promise->state | begun);
	notify_test(PROMISE_OPEN);
}

void promise_written(struct drained_process *process, bool well)
{
	struct kymo_promise *promise = promise_of(process);
	const uint64_t begun = KYMO_PROMISE_BEGUN(process->promise_place);
	const struct kymo_promise_place *place;

	if (!promise || !(promise->state & begun))
		return;
	place = places_of(process) + process->promise_place;
	if (well)
		notify_test(PROMISE_IN_FILE);
	if (well && place->moves == KYMO_PROMISE_NO_RING)
		region_header(&process->region)->no_ring_told = place->no_ring;
	if (!well || place->moves != KYMO_PROMISE_RINGS)
		set_state(promise, promise->state & ~begun);
}

void promise_keep(struct drained_process *process)
{
	struct kymo_promise *promise = promise_of(process);

	if (!promise || !(promise->state & KYMO_PROMISE_ALL_WANTED))
		return;
	set_state(promise, KYMO_PROMISE_KEPT);
	notify_test(PROMISE_KEPT);
}

void promise_move(struct drained_process *process, const struct ring *ring)
{
	struct kymo_ring *shared = ring_shared(process, ring);

	if (promise_dropped_since(shared->promised_told, shared->told))
		shared->told = shared->promised_told;
	/* Pairs with the producer's acquire before it enters a block again. */
	__atomic_store_n(&shared->rpos, shared->promised_rpos, __ATOMIC_RELEASE);
	notify_test(PROMISE_MOVED);
}

void promise_end(struct drained_process *process)
{
	struct kymo_promise *promise = promise_of(process);

	if (!promise)
		return;
	set_state(promise, 0);
	promise->number++;
}

/* ---- the next recorder ---- */

/* What becomes of the rings that were entered. */
enum verdict { STAY, MOVE, LOSE };

static void say_cut(const struct sayer *sayer, const char *path, uint64_t cut, int rc)
{
	if (rc < 0)
		say_text(sayer, "%s ends with half a packet because its recorder was killed, and cannot be truncated: "
			 "%s; kymo can read it, other readers may report an error", path, strerror(-rc));
	else if (cut)
		say_text(sayer, "%s: its recorder was killed while writing; %llu bytes of an incomplete write "
			 "were cut off", path, (unsigned long long)cut);
}

static struct ctf_tail_packet packet_of(const struct kymo_promise_place *place)
{
	return (struct ctf_tail_packet){ place->path, place->offset, place->size, place->head,
					 place->head_size };
}

/* Finds out whether the file has what @place says; cuts off a part of it. */
static enum ctf_tail check_file(const struct kymo_promise_place *place, const struct sayer *sayer,
				int *rc)
{
	const struct ctf_tail_packet packet = packet_of(place);
	enum ctf_tail tail;
	uint64_t cut;

	*rc = 0;
	if (place->path[0] != '/' || place->head_size > sizeof place->head)
		return CTF_TAIL_GONE;
	if (!place->head_size) {
		if (ctf_tail_metadata(place->path, &cut) == 0)
			say_cut(sayer, place->path, cut, 0);
		return CTF_TAIL_WHOLE;
	}
	tail = ctf_tail_packet(&packet, &cut, rc);
	if (tail == CTF_TAIL_NOTHING)
		say_cut(sayer, place->path, cut, *rc);
	return tail;
}

/* What was found in the files of a dead recorder. */
struct findings {
	uint32_t wanted; /* bits: sinks that were to get the packet */
	uint32_t whole,
		unknown; /* bits: sinks that have the packet; sinks for which that is unknown */
};

/* A private copy: shared memory may change. */
static void copy_place(const struct drained_process *process, unsigned index,
		       struct kymo_promise_place *copy)
{
	memcpy(copy, places_of(process) + index, sizeof *copy);
	copy->path[sizeof copy->path - 1] = 0;
}

static void check_place(struct drained_process *process, const struct sayer *sayer, unsigned index,
			struct findings *found)
{
	const bool wanted = found->wanted & 1u << index;
	struct kymo_promise_place place;
	enum ctf_tail tail;
	int rc;

	copy_place(process, index, &place);
	tail = check_file(&place, sayer, &rc);
	if (tail == CTF_TAIL_WHOLE && place.moves == KYMO_PROMISE_NO_RING)
		region_header(&process->region)->no_ring_told = place.no_ring;
	if (!wanted || place.moves != KYMO_PROMISE_RINGS || tail == CTF_TAIL_NOTHING)
		return;
	if (tail == CTF_TAIL_WHOLE) {
		found->whole |= 1u << index;
		return;
	}
	found->unknown |= 1u << index;
	say_text(sayer, "a recorder was killed while it wrote to %s, and it is unknown whether the packet "
		 "was written (%s)", place.path[0] ? place.path : "a file with a very long name",
		  rc < 0 ? strerror(-rc) : "the file was replaced");
}

/* Removes the packet from all files that have it. Return: false: some file cannot be changed, and
 * still has it. */
static bool take_back(const struct drained_process *process, const struct sayer *sayer,
		      uint32_t whole)
{
	bool done = true;

	for (unsigned i = 0; i < KYMO_PROMISE_PLACES; i++) {
		struct kymo_promise_place place;
		struct ctf_tail_packet packet;
		int rc;

		if (!(whole & 1u << i))
			continue;
		copy_place(process, i, &place);
		packet = packet_of(&place);
		rc = ctf_tail_take_back(&packet);
		if (rc == 0) {
			say_text(sayer, "%s: the last packet before its recorder was killed was removed again, because another "
				 "trace lacks it; the next traces get its events", place.path);
			continue;
		}
		say_text(sayer, "%s has the last packet before its recorder was killed, another trace lacks it, and it "
			 "cannot be removed again (%s): these events are in one of the traces only", place.path,
			  strerror(-rc));
		done = false;
	}
	return done;
}

static enum verdict judge(const struct drained_process *process, const struct sayer *sayer,
			  const struct findings *found)
{
	if (found->whole == found->wanted)
		return found->wanted ? MOVE : STAY;
	if (found->unknown && found->whole)
		return MOVE;
	if (found->unknown) {
		say_text(sayer, "the events of that packet are counted as dropped");
		return LOSE;
	}
	return take_back(process, sayer, found->whole) ? STAY : MOVE;
}

static void ring_resolve(struct kymo_ring *ring, enum verdict verdict)
{
	const uint64_t to = ring->promised_rpos;

	if (to < ring->rpos || to > KYMO_WORD_POS(__atomic_load_n(&ring->wpos, __ATOMIC_ACQUIRE)))
		return; /* the ring has advanced already, or the numbers are wrong */
	if (verdict == MOVE && promise_dropped_since(ring->promised_told, ring->told))
		ring->told = ring->promised_told;
	if (verdict == LOSE && to > ring->rpos)
		ring->told -= ring->promised_records; /* so they count as drops that are not
							 reported yet */
	__atomic_store_n(&ring->rpos, to, __ATOMIC_RELEASE);
}

void promise_resolve(struct drained_process *process, const struct sayer *sayer)
{
	struct kymo_region *header = region_header(&process->region);
	const uint32_t *page = region_page(&process->region, KYMO_RING_DIR_PAGE, 2);
	const uint32_t count = __atomic_load_n(&header->ring_count, __ATOMIC_ACQUIRE);
	const uint64_t number = header->promise.number;
	const uint64_t state = __atomic_load_n(&header->promise.state, __ATOMIC_ACQUIRE);
	struct findings found = { .wanted = (uint32_t)(state & KYMO_PROMISE_ALL_WANTED) /
					    KYMO_PROMISE_WANTED(0) };
	enum verdict verdict;

	for (unsigned i = 0; i < KYMO_PROMISE_PLACES; i++)
		if (state & KYMO_PROMISE_BEGUN(i))
			check_place(process, sayer, i, &found);
	verdict = state & KYMO_PROMISE_KEPT ? MOVE : judge(process, sayer, &found);
	for (uint32_t i = 0; page && verdict != STAY && i < count && i < KYMO_RINGS_MAX; i++) {
		const uint32_t at = __atomic_load_n(&page[i], __ATOMIC_ACQUIRE);
		struct kymo_ring *ring = region_page(&process->region, at, 1);

		if (at >= KYMO_FIRST_SEGMENT_PAGE && ring && ring->promise == number)
			ring_resolve(ring, verdict);
	}
	promise_end(process);
}
