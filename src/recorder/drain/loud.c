/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/drain/loud.h"

#include <stdio.h>
#include <string.h>

#include "recorder/drain/drained_process.h"
#include "recorder/drain/slice.h"
#include "recorder/records/record_walk.h"

#define RECORDS 256 /* looked at each time */

static void count(struct loud *loud, uint16_t id)
{
	struct loud_event *place = NULL;

	loud->looked++;
	for (unsigned i = 0; i < LOUD_EVENTS; i++) {
		if (loud->event[i].count && loud->event[i].id == id) {
			loud->event[i].count++;
			return;
		}
		if (!loud->event[i].count)
			place = &loud->event[i];
	}
	if (place)
		*place = (struct loud_event){ id, 1 };
	else
		for (unsigned i = 0; i < LOUD_EVENTS; i++)
			loud->event[i].count--;
}

void loud_look(struct drained_process *process, struct ring *ring)
{
	const struct kymo_ring *shared = ring_shared(process, ring);
	const uint64_t dropped = __atomic_load_n(&shared->dropped, __ATOMIC_RELAXED);
	const uint64_t bytes = ring->room;
	struct walk_record record;
	struct slice slice;
	uint64_t word, lastts;
	uint32_t records;
	bool complete;

	if (ring->bad || dropped == ring->dropped_looked || dropped == ring->dropped_base)
		return;
	ring->dropped_looked = dropped;
	if (bytes > process->loud.ring_bytes)
		process->loud.ring_bytes = bytes;
	if (!ring_snapshot(shared, &word, &lastts) || KYMO_WORD_POS(word) <= ring->taken ||
	    block_slice(process, ring, word, lastts, &slice, &complete, &records))
		return;
	for (unsigned i = 0;
	     i < RECORDS && walk_record(&process->classes, slice.bytes, slice.size, &record); i++) {
		count(&process->loud, record.id);
		slice.bytes += record.size;
		slice.size -= record.size;
	}
}

void loud_tell(const struct drained_process *process, struct session_stats *stats)
{
	const struct loud *loud = &process->loud;
	const struct kymo_point *point = NULL;
	uint32_t most = 0;

	if (loud->ring_bytes > stats->full_ring)
		stats->full_ring = loud->ring_bytes;
	if (loud->looked <= stats->loudest_of)
		return;
	for (unsigned i = 0; i < LOUD_EVENTS; i++)
		if (loud->event[i].count > most) {
			most = loud->event[i].count;
			point = classes_get(&process->classes, loud->event[i].id);
		}
	if (!point)
		return;
	stats->loudest_of = loud->looked;
	stats->loudest_share = (unsigned)(100ull * most / loud->looked);
	(void)snprintf(stats->loudest, sizeof stats->loudest, "%s:%s", point->provider,
		       point->name);
}
