/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of the last seconds, in memory.
 *
 * All packets are in one list, in the order in which they came. The first ones go when they are
 * older than the window, and when all have more bytes than the limit; one that a snapshot still has
 * to write stays, with all behind it. Facts hold for longer than a packet. So from time to time all
 * that hold are given anew, a turn; when they are complete, those of earlier turns go.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/flight/flight_internal.h"

#define TURN_BYTES	(1u << 20)	/* of new facts, and as many as were given anew */

static uint64_t cost(const struct flight_kept *kept)
{
	return sizeof *kept + kept->size;
}

struct flight_kept *flight_store_packet(struct flight_store *store, struct flight_process *process,
					const struct sink_packet *packet, uint64_t lost)
{
	struct flight_kept *kept = malloc(sizeof *kept + packet->size);

	if (!kept)
		return NULL;
	*kept = (struct flight_kept){
		.process = process,
		.ring = packet->ring,
		.thread = packet->thread,
		.begin = packet->begin,
		.end = packet->end,
		.lost = lost,
		.cpu = packet->cpu,
		.records = packet->records,
		.size = packet->size,
	};
	if (packet->size)
		memcpy(kept->bytes, packet->bytes, packet->size);
	*(store->last ? &store->last->next : &store->first) = kept;
	store->last = kept;
	store->bytes += cost(kept);
	store->came++;
	process->kept++;
	process->seen_records += packet->records;
	return kept;
}

int flight_store_facts(struct flight_store *store, struct flight_process *process,
		       const struct sink_facts *facts, uint64_t lost)
{
	const size_t offset = (facts->size + 3) / 4 * 4;
	struct flight_facts *kept =
		malloc(sizeof *kept + offset + facts->count * sizeof *facts->at);

	if (!kept)
		return -ENOMEM;
	*kept = (struct flight_facts){
		.turn = store->turn,
		.known = facts->known,
		.lost = lost,
		.count = facts->count,
		.size = facts->size,
	};
	kept->at = (uint32_t *)(kept->bytes + offset);
	if (facts->count) {
		memcpy(kept->bytes, facts->bytes, facts->size);
		memcpy(kept->at, facts->at, facts->count * sizeof *facts->at);
	}
	*(process->last_facts ? &process->last_facts->next : &process->facts) = kept;
	process->last_facts = kept;
	store->facts_bytes += facts->size;
	*(facts->known ? &store->turn_known : &store->turn_bytes) += facts->size;
	return 0;
}

static void drop_first(struct flight_store *store)
{
	struct flight_kept *kept = store->first;

	store->first = kept->next;
	if (!store->first)
		store->last = NULL;
	store->bytes -= cost(kept);
	store->gone++;
	kept->process->kept--;
	free(kept);
}

bool flight_store_trim(struct flight_store *store, uint64_t now_ns)
{
	while (store->first && store->first != store->pinned &&
	       store->first->end + store->window_ns < now_ns)
		drop_first(store);
	while (store->first && store->first != store->pinned && store->bytes > store->limit) {
		uint64_t left = now_ns > store->first->end ? now_ns - store->first->end : 0;

		if (left < store->shortest_ns)
			store->shortest_ns = left;
		drop_first(store);
	}
	return store->bytes > store->limit;
}

bool flight_store_may_turn(const struct flight_store *store)
{
	return store->gone >= store->turn_at;
}

bool flight_store_wants_turn(const struct flight_store *store)
{
	return store->turn_bytes > TURN_BYTES + store->turn_known && flight_store_may_turn(store);
}

void flight_store_turn(struct flight_store *store)
{
	store->turn++;
	store->turn_at = store->came;
	store->turn_bytes = store->turn_known = 0;
}

static void drop_first_facts(struct flight_store *store, struct flight_process *process)
{
	struct flight_facts *facts = process->facts;

	process->facts = facts->next;
	if (!process->facts)
		process->last_facts = NULL;
	store->facts_bytes -= facts->size;
	free(facts);
}

void flight_store_rebase(struct flight_store *store, struct flight_process *process)
{
	while (process->facts && process->facts->turn < store->turn)
		drop_first_facts(store, process);
	process->base = store->turn;
}

void flight_store_forget(struct flight_store *store, struct flight_process *process)
{
	while (process->facts)
		drop_first_facts(store, process);
}

void flight_store_free(struct flight_store *store)
{
	store->pinned = NULL;
	while (store->first)
		drop_first(store);
}
