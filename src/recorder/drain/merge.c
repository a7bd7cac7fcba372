/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of losers: each inner node remembers the input that lost the match there, and loser[0] is
 * the winner, the input with the earliest record. When the winner's record is taken, only the
 * matches from its leaf to the root are played again: log2(count) comparisons for a record. The
 * losers on that path also say until when the winner stays first, so that a run of records of one
 * thread costs no match at all.
 */
#include "recorder/drain/merge.h"

#include <stdlib.h>
#include <string.h>

#include "abi/region.h"
#include "base/array.h"
#include "recorder/records/record_walk.h"

#define NONE UINT32_MAX		/* in the tree, until all inputs have played: wins every match */

bool merge_begin(struct merge *merge, const struct classes *classes, unsigned count)
{
	unsigned losers = merge->room;

	if (!ARRAY_FIT(merge->loser, count, losers) ||
	    !ARRAY_FIT(merge->input, count, merge->room))
		return false;
	for (unsigned i = 0; i < count; i++)
		merge->input[i] = (struct merge_input){ .ns = UINT64_MAX };
	merge->classes = classes;
	merge->count = count;
	merge->waits = false;
	return true;
}

void merge_free(struct merge *merge)
{
	free(merge->input);
	free(merge->loser);
	*merge = (struct merge){ 0 };
}

/* ---- one input ---- */

/* Reads the header of the record at in->at, and finds how long the record is. */
static inline void read_head(const struct merge *merge, struct merge_input *in)
{
	const size_t room = (size_t)(in->end - in->at);
	uint64_t ns;
	uint16_t id;
	long payload;

	in->ns = UINT64_MAX;
	if (!room)
		return;
	in->bad = true;
	if (room < KYMO_RECORD_HEADER)
		return;
	memcpy(&id, in->at, sizeof id);
	memcpy(&ns, in->at + sizeof id, sizeof ns);
	payload = classes_fixed(merge->classes, id);
	in->fixed = payload >= 0;
	if (payload == CLASSES_VARIABLE)
		payload = walk_payload(merge->classes, id, in->at + KYMO_RECORD_HEADER,
				       room - KYMO_RECORD_HEADER);
	if (payload < 0 || (size_t)payload > room - KYMO_RECORD_HEADER || ns > merge->not_after)
		return;
	if (ns < in->floor) {
		if (in->floor - ns > WALK_BACK_MAX_NS)
			return;
		ns = in->floor;
		in->moved++;
	}
	in->bad = false;
	in->floor = in->ns = ns;
	in->id = id;
	in->size = KYMO_RECORD_HEADER + (uint32_t)payload;
}

/* Finds the next record that is wanted. */
static inline void read_wanted(const struct merge *merge, struct merge_input *in)
{
	read_head(merge, in);
	if (__builtin_expect(!merge->wanted, 1))
		return;
	while (in->ns != UINT64_MAX &&
	       !merge->wanted(merge->context, (unsigned)(in - merge->input), in)) {
		in->at += in->size;
		in->left_out++;
		read_head(merge, in);
	}
}

void merge_span(struct merge *merge, unsigned index, const uint8_t *at, size_t size)
{
	struct merge_input *in = &merge->input[index];

	in->at = at;
	in->end = at + size;
	in->records = in->left_out = in->moved = 0;
	in->taken = 0;
	in->bad = false;
	read_wanted(merge, in);
}

#define STEP 32u		/* bytes that are copied, however few are needed */

/* Few payloads are longer than STEP. Where both sides have room, one copy of a constant size is
 * fastest. */
static inline void copy_payload(uint8_t *to, size_t room, const struct merge_input *in, size_t size)
{
	const uint8_t *from = in->at + KYMO_RECORD_HEADER;

	if (size <= STEP && room >= STEP && (size_t)(in->end - from) >= STEP)
		memcpy(to, from, STEP);
	else
		memcpy(to, from, size);
}

/*
 * Copies the record of @in. The bytes in shared memory may change meanwhile. The id is written as
 * it was read when the length was found, so what is written always has the length that its id says.
 */
static inline bool take(const struct merge *merge, struct merge_input *in, struct merge_out *out)
{
	const size_t payload = in->size - KYMO_RECORD_HEADER;
	uint8_t *to = out->at;

	memcpy(to, &in->id, sizeof in->id);
	memcpy(to + sizeof in->id, &in->ns, sizeof in->ns);
	to += KYMO_RECORD_HEADER;
	memcpy(to, &in->context, sizeof in->context);
	to += sizeof in->context;
	copy_payload(to, out->room - (size_t)(to - out->at), in, payload);
	if (__builtin_expect(!in->fixed, 0) &&
	    walk_payload(merge->classes, in->id, to, payload) != (long)payload)
		return false;
	to += payload;
	out->room -= (size_t)(to - out->at);
	out->at = to;
	out->records++;
	if (!in->records++)
		in->first = in->ns;
	in->last = in->ns;
	in->taken += in->size;
	in->at += in->size;
	return true;
}

/* ---- the tree of losers ---- */

static bool before(const struct merge *merge, unsigned a, unsigned b)
{
	const uint64_t one = merge->input[a].ns, other = merge->input[b].ns;

	return one < other || (one == other && a < b);
}

/* Plays the matches of @index from its leaf to the root. */
static void play(struct merge *merge, unsigned index)
{
	unsigned winner = index;

	for (unsigned node = (index + merge->count) / 2; node; node /= 2) {
		const unsigned other = merge->loser[node];

		if (winner == NONE)
			break;
		if (other == NONE || before(merge, other, winner)) {
			merge->loser[node] = winner;
			winner = other;
		}
	}
	merge->loser[0] = winner;
}

void merge_ready(struct merge *merge)
{
	for (unsigned i = 0; i < merge->count; i++)
		merge->loser[i] = NONE;
	for (unsigned i = merge->count; i-- > 0;)
		play(merge, i);
}

/* The earliest time of the other inputs. */
static uint64_t next_time(const struct merge *merge, unsigned first)
{
	uint64_t ns = UINT64_MAX;

	for (unsigned node = (first + merge->count) / 2; node; node /= 2) {
		const uint64_t other = merge->input[merge->loser[node]].ns;

		ns = other < ns ? other : ns;
	}
	return ns;
}

/* Takes records of @in as long as it stays first: a thread often has several in a row. */
static bool take_run(const struct merge *merge, struct merge_input *in, uint64_t until,
		     struct merge_out *out)
{
	do {
		if (in->size + sizeof in->context > out->room)
			return false;
		if (take(merge, in, out)) {
			read_wanted(merge, in);
		} else {
			in->ns = UINT64_MAX;
			in->bad = true;
		}
	} while (in->ns < until && in->ns <= merge->horizon);
	return true;
}

enum merge_stop merge_run(struct merge *merge, struct merge_out *out, unsigned *empty)
{
	if (merge->waits)
		play(merge, merge->loser[0]);
	merge->waits = false;
	while (merge->count) {
		const unsigned first = merge->loser[0];
		struct merge_input *in = &merge->input[first];

		if (in->ns > merge->horizon || in->ns == UINT64_MAX)
			return MERGE_DONE;
		if (!take_run(merge, in, next_time(merge, first), out))
			return MERGE_FULL;
		if (in->ns == UINT64_MAX) {
			*empty = first;
			merge->waits = true;
			return MERGE_EMPTY;
		}
		play(merge, first);
	}
	return MERGE_DONE;
}
